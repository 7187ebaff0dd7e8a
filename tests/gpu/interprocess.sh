#!/bin/bash
# Two processes that share memory of a GPU, by handles, descriptors and pools, recorded and put
# together by csan merge --order: the modes of the program interprocess. With two GPUs and NCCL also
# those of nccl_processes and nccl_windows, whose signals need NCCL 2.29.
#
#   interprocess.sh ROOT   ROOT holds bin/csan and tests/programs
#
# CSAN_DEVICE is the device (gpu), PYTHON the one whose NCCL is taken (python3). Prints "ok NAME" or "not ok NAME" for each mode, then totals; 1 if one failed.
set -u
root=$(cd "$1" && pwd) device=${CSAN_DEVICE:-gpu}
csan=$root/bin/csan programs=$root/tests/programs/plain
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
cd "$place" || exit 2
passed=0 failed=0

# try PROGRAM MODE STATUS WORDS: `csan merge` ends with STATUS, and its output or errors hold WORDS.
try()
{
    rm -f app.*.csan
    RANK=0 timeout 120 "$csan" record --device="$device" -o app.%r.csan "$programs/$1" "$2" >run 2>&1 </dev/null
    local status=$?
    timeout 120 "$csan" merge --order app.*.csan >out 2>&1
    local merged=$?
    if [ $status = 0 ] && [ $merged = "$3" ] && grep -Eq -- "$4" out && ! grep -q 'do not say which it is' run; then
        passed=$((passed + 1))
        echo "ok $1 $2"
    else
        failed=$((failed + 1))
        echo "not ok $1 $2 (ended with $status, csan merge with $merged)"
        tail -15 run out | sed 's/^/    /'
    fi
}

right() { try "$1" "$2" 0 ': 0 races between processes, 0 of them possible$'; }
racy() { try "$1" "$2" 66 '^Race 1 is certain'; }

for mode in event synced token barrier tensor descriptor pool; do
    right interprocess $mode
done
for mode in none early opened undeclared tensor_early descriptor_early pool_early; do
    racy interprocess $mode
done

nccl=$(${PYTHON:-python3} -c 'import nvidia.nccl; print(list(nvidia.nccl.__path__)[0] + "/lib")' 2>/dev/null)
gpus=$(nvidia-smi -L 2>/dev/null | wc -l)
if [ "$device" = embedded ] || { [ "$gpus" -ge 2 ] && [ -n "$nccl" ]; }; then
    [ "$device" = embedded ] || export LD_LIBRARY_PATH=$nccl${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
    for mode in all_reduce split ahead broadcast exchange send graph; do
        right nccl_processes $mode
    done
    for mode in broadcast_of_reader written_behind none graph_behind; do
        racy nccl_processes $mode
    done
    if [ "$device" = embedded ] || grep -q ncclPutSignal "$nccl"/libnccl.so.2; then
        for mode in waited two_puts reused bare_signal other_part second_window deregistered kernel; do
            right nccl_windows $mode
        done
        for mode in no_wait one_of_two signal_first other_window kernel_early; do
            racy nccl_windows $mode
        done
    else
        echo "skipped: nccl_windows needs NCCL 2.29"
    fi
else
    echo "skipped: NCCL needs two GPUs and its library"
fi
echo "$passed passed, $failed failed"
[ $failed = 0 ]
