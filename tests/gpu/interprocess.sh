#!/bin/bash
# Two processes that share memory of a GPU, by handles, descriptors and pools, recorded and put
# together by csan merge --order: the modes of the program interprocess. With two GPUs and NCCL also
# those of nccl_processes and nccl_windows, whose signals need NCCL 2.29.
#
#   interprocess.sh ROOT [NCCL]   ROOT holds bin/csan and tests/programs
#
# CSAN_DEVICE is the device (gpu), PYTHON the one whose NCCL is taken (python3), JOBS how many modes run
# at once (4). NCCL is a folder with another libnccl.so.2, which is taken as well, first. Prints "ok NAME" or
# "not ok NAME" for each mode, then totals; 1 if one failed.
set -u
root=$(cd "$1" && pwd) other=${2:+$(cd "$2" && pwd)} device=${CSAN_DEVICE:-gpu}
csan=$root/bin/csan programs=$root/tests/programs/plain
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
cd "$place" || exit 2
mkdir ends

# try PROGRAM MODE STATUS WORDS: `csan merge` ends with STATUS, and its output or errors hold WORDS. Each
# in a folder of its own, some at once; a mode that waits for ever ends after a minute.
tries=0
try()
{
    while [ "$(jobs -r | wc -l)" -ge "${JOBS:-4}" ]; do
        wait -n
    done
    tries=$((tries + 1))
    try_one "$tries" "$@" &
}

try_one()
{
    local number status merged
    number=$(printf %03d "$1")
    shift
    mkdir "$number" && cd "$number" || exit 2
    RANK=0 timeout 60 "$csan" record --device="$device" -o app.%r.csan "$programs/$1" "$2" >run 2>&1 </dev/null
    status=$?
    timeout 60 "$csan" merge --order app.*.csan >out 2>&1
    merged=$?
    if [ $status = 0 ] && [ $merged = "$3" ] && grep -Eq -- "$4" out && ! grep -q 'do not say which it is' run; then
        echo "ok $1 $2"
    else
        echo "not ok $1 $2 (ended with $status, csan merge with $merged)"
        tail -n 15 run out | sed 's/^/    /'
    fi >"../ends/$number"
    cat "../ends/$number"
}

right() { try "$1" "$2" 0 ': 0 races between processes, 0 of them possible$'; }
racy() { try "$1" "$2" 66 '^Race 1 is certain'; }

for mode in event synced token barrier tensor descriptor descriptor_part pool; do
    right interprocess $mode
done
for mode in none early opened undeclared tensor_early descriptor_early pool_early; do
    racy interprocess $mode
done

processes()
{
    for mode in all_reduce split ahead broadcast exchange send graph registered; do
        right nccl_processes $mode
    done
    for mode in broadcast_of_reader written_behind none graph_behind registered_behind; do
        racy nccl_processes $mode
    done
}

windows()
{
    for mode in waited two_puts reused bare_signal_same_index other_part second_window deregistered kernel; do
        right nccl_windows $mode
    done
    for mode in no_wait one_of_two signal_first_same_index other_window kernel_early; do
        racy nccl_windows $mode
    done
}

# use FOLDER: the programs take the NCCL there.
use()
{
    export LD_LIBRARY_PATH=$1${own_path:+:$own_path}
    grep -aoEm1 'NCCL version [0-9.]+' "$1/libnccl.so.2" | head -1
}

own_path=${LD_LIBRARY_PATH:-}
nccl=$(${PYTHON:-python3} -c 'import nvidia.nccl; print(list(nvidia.nccl.__path__)[0] + "/lib")' 2>/dev/null)
gpus=$(nvidia-smi -L 2>/dev/null | wc -l)
if [ "$device" = embedded ]; then
    processes
    windows
elif [ "$gpus" -ge 2 ] && [ -n "$nccl$other" ]; then
    for folder in ${other:+"$other"} ${nccl:+"$nccl"}; do
        use "$folder"
        if grep -q ncclPutSignal "$folder/libnccl.so.2"; then
            windows
        else
            echo "skipped: nccl_windows needs NCCL 2.29"
        fi
        processes
    done
else
    echo "skipped: NCCL needs two GPUs and its library"
fi
wait
passed=$(cat ends/* | grep -c '^ok')
failed=$((tries - passed))
echo "$passed passed, $failed failed"
[ $failed = 0 ]
