#!/bin/bash
# Processes that share memory of a GPU, recorded and put together by csan merge --order: PyTorch's
# multiprocessing, and with two GPUs torch.distributed by NCCL.
#
#   ranks.sh CSAN_ROOT [PYTHON]
#
# PYTHON has torch; without it these are skipped.
set -u
root=$(cd "$1" && pwd) python=${2:-python3} here=$(cd "$(dirname "$0")" && pwd)
csan=$root/bin/csan
"$python" -c 'import torch, sys; sys.exit(not torch.cuda.is_available())' 2>/dev/null ||
    { echo "skipped: $python has no torch with a GPU"; exit 0; }
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
cd "$place" || exit 2
passed=0 failed=0

check()
{
    local name=$1
    shift
    if "$@"; then
        passed=$((passed + 1))
        echo "ok $name"
    else
        failed=$((failed + 1))
        echo "not ok $name (ended with $status)"
        tail -30 out | sed 's/^/    out: /'
        tail -20 err | sed 's/^/    err: /'
    fi
}
ended() { [ "$status" = "$1" ]; }

# record MODE: a recording of each process that used CUDA.
record()
{
    rm -f app.*.csan
    timeout 300 "$csan" record -o app.%p.csan "$python" "$here/ranks_torch.py" "$1" >out 2>err </dev/null
    status=$?
}
run()
{
    timeout 300 "$@" >out 2>err </dev/null
    status=$?
}
merge()
{
    timeout 120 "$csan" merge --order app.*.csan >out 2>err
    status=$?
}
files() { [ "$(ls app.*.csan | wc -l)" -ge 2 ]; }

record tensor
check "a tensor goes from one process to another" grep -qx right out
check "... and each has a recording" files
merge
check "... in order: PyTorch's event is followed" ended 0
check "... of which nothing is missing" grep -Eq ' [1-9][0-9]* openings of shared memory: 0 races between processes' err

record rewritten
merge
check "a tensor that is written again while the other may read it is reported" ended 66
check "... as certain" grep -q '^Race [0-9]* is certain' out
check "... with both processes' stacks in Python" eval '[ "$(grep -c "ranks_torch.py" out)" -ge 2 ]'

run "$csan" report --html=page.html app.*.csan
check "csan report draws both processes" eval '[ "$status" = 0 ] && grep -q "\"groups\": \[\"process " page.html'

# A store of torch.distributed between what the one writes and the other reads.
for form in "set" "set racy" "barrier"; do
    rm -f app.*.csan
    run "$csan" record -o app.%r.csan "$python" "$here/../python/store_order.py" $form
    check "two processes share memory and a store runs ($form)" grep -qx right out
    timeout 120 "$csan" merge --order app.0.csan app.1.csan >out 2>err
    status=$?
    if [ "$form" = "set racy" ]; then
        check "... what is waited for behind the store's call is reported" eval '[ "$status" = 66 ] && grep -q "^Race 1 is certain" out'
    else
        check "... in order" eval '[ "$status" = 0 ] && grep -q " 0 races between processes, 0 of them possible" err'
    fi
done

if [ "$("$python" -c 'import torch; print(torch.cuda.device_count())')" -ge 2 ]; then
    for mode in collectives ddp; do
        record $mode
        check "two processes of torch.distributed are right ($mode)" grep -qx right out
        merge
        check "... and in order" ended 0
        check "... with calls of NCCL that meet" grep -Eq ' [1-9][0-9]* ends of collective calls' err
        check "... of which nothing is missing" eval '! grep -Eq "possible ones|wait for messages" err'
    done
else
    echo "skipped: torch.distributed by NCCL needs two GPUs"
fi
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
