#!/bin/bash
# On a GPU: kernels that fail where they are hard to identify (a child of another kernel, a node of a graph, a module that goes,
# two devices at once), and programs that want GPU core dumps of their own or handle SIGABRT. What calls return, and how the
# program ends, is what it is without csan; csan's report names the kernel.
#
#   failure_cases.sh CSAN_ROOT
set -u
root=$(cd "$1" && pwd) || exit 2
here=$(cd "$(dirname "$0")" && pwd)
source=$here/failure_cases.cu
if ! command -v nvcc >/dev/null || ! nvidia-smi >/dev/null 2>&1; then
    echo "skipped failure_cases: no GPU, or no nvcc"
    exit 0
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
unset CUDA_ENABLE_COREDUMP_ON_EXCEPTION CUDA_COREDUMP_FILE CUDA_COREDUMP_GENERATION_FLAGS
gpus=$(nvidia-smi --query-gpu=name --format=csv,noheader | wc -l)
capability=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader | head -1 | tr -d .)
flags="-g -lineinfo -arch=sm_$capability -std=c++17 -cudart shared"
# shellcheck disable=SC2086
nvcc $flags "$source" -o failure_cases -lcuda || exit 1
# shellcheck disable=SC2086
nvcc $flags -rdc=true -DCHILD "$source" -o failure_child -lcudadevrt -lcuda || exit 1
nvcc -fatbin -lineinfo -gencode "arch=compute_$capability,code=[sm_$capability,compute_$capability]" -std=c++17 \
    "$here/failure.cu" -o failure.fatbin 2>/dev/null || exit 1
passed=0 failed=0

line_of() { grep -n -- "// $1\$" "$source" | head -1 | cut -d: -f1; }

check()
{
    local what=$1
    shift
    if "$@"; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "not ok $what"
        diff plain.out csan.out | head -8
        head -40 csan.err
    fi
}

# plays COMMAND...: once without csan and once with, each in a folder of its own. Leaves plain.out, plain.code, csan.out,
# csan.err, csan.code.
plays()
{
    local begin
    rm -rf plain csan
    mkdir plain csan
    (cd plain && timeout -k 5 60 "$@" >../plain.out 2>../plain.err)
    echo $? >plain.code
    begin=$SECONDS
    (cd csan && CSAN_OPTIONS=access=ptx timeout -k 5 60 "$root/bin/csan" run "$@" >../csan.out 2>../csan.err)
    echo $? >csan.code
    echo "# $*: $(cat plain.code) without csan, $(cat csan.code) with it, $((SECONDS - begin)) s"
}

# With a finding csan run ends with 66, however the program ended: 124 would be a program that hangs.
ends_alike() { [ "$(cat csan.code)" = "$(cat plain.code)" ] || [ "$(cat csan.code)" = 66 ]; }

# behaves WHAT: as without csan.
behaves()
{
    check "$1: what calls return" cmp -s plain.out csan.out
    check "$1: how the program ends (124: it hung)" ends_alike
}
says() { grep -Eq -- "$1" csan.err; }
reports() { [ "$(grep -cE '^CSAN: (misaligned|illegal|trap|shared)' csan.err)" = "$1" ]; }

plays "$work/failure_cases" node
behaves "a graph's node"
check "a graph's node: once" reports 1
check "a graph's node: its kernel" says '^  kernel reads\('
check "a graph's node: thread and line" says "^  block \(0,0,0\), thread \(5,0,0\) of grid 2 x block 32, at .*failure_cases.cu:$(grep -n 'void reads' "$source" | cut -d: -f1)"
check "a graph's node: where it was made" says "failure_cases.cu:$(line_of node)"
check "a graph's node: where the graph was launched" says "failure_cases.cu:$(line_of graph)"

plays "$work/failure_cases" module "$work/failure.fatbin"
behaves "a module that goes"
check "a module that goes: once" reports 1
check "a module that goes: the launch" says "^CSAN: misaligned memory access in misaligned( .*)? \(.*failure_cases.cu:$(line_of module)\)"
check "a module that goes: thread" says '^  block \(0,0,0\), thread \(3,0,0\) of grid 1 x block 32'

plays "$work/failure_child" child
behaves "a child kernel"
check "a child kernel: once" reports 1
check "a child kernel: it, or the one that launched it" says '^CSAN: misaligned memory access in (child|parent)'
check "a child kernel: thread" says '^  block \(0,0,0\), thread \(6,0,0\) of grid 1 x block 32'

plays "$work/failure_cases" handler
behaves "a handler of SIGABRT"
check "a handler of SIGABRT: it is not called" [ "$(grep -c handler csan.out)" = 0 ]
check "a handler of SIGABRT: the report" says "^CSAN: misaligned memory access in misaligned( .*)? \(.*failure_cases.cu:$(line_of plain)\)"

# The user's own dumps.
export CUDA_ENABLE_COREDUMP_ON_EXCEPTION=1 CUDA_ENABLE_LIGHTWEIGHT_COREDUMP=1 CUDA_COREDUMP_FILE="core.%p"
names_the_thread() { says '^CSAN: misaligned memory access in misaligned' && says '^  block \(0,0,0\), thread \(3,0,0\) of grid 1 x block 32'; }
dumped() { [ "$(find "$1" -name 'core*' -size +1k | wc -l)" = 1 ]; }
plays "$work/failure_cases" plain
behaves "the user's dump"
check "the user's dump: it is written without csan" dumped plain
check "the user's dump: and with it" dumped csan
check "the user's dump: csan has read it" names_the_thread
plays "$work/failure_cases" handler
behaves "the user's dump and a handler"
check "the user's dump and a handler: it is called" grep -q "program's own handler" csan.out
check "the user's dump and a handler: csan has read it" names_the_thread
export CUDA_COREDUMP_GENERATION_FLAGS=skip_abort,skip_global_memory,skip_shared_memory,skip_local_memory
plays "$work/failure_cases" plain
check "the user's dump, and no abort: how the program ends" ends_alike
check "the user's dump, and no abort: it is written" dumped csan
check "the user's dump, and no abort: csan has read it" names_the_thread
unset CUDA_COREDUMP_GENERATION_FLAGS
unset CUDA_COREDUMP_FILE
plays "$work/failure_cases" plain
behaves "the user's dump by its usual name"
check "the user's dump by its usual name: csan has read it" names_the_thread
find csan plain -name '*core*' | sed 's/^/#   /'
mkfifo pipe
cat pipe >got &
CUDA_COREDUMP_FILE=$work/pipe CSAN_OPTIONS=access=ptx timeout -k 5 60 "$root/bin/csan" run "$work/failure_cases" plain >csan.out 2>csan.err
exec 3<>pipe # ends the reader, whoever wrote
exec 3>&-
wait
check "a pipe of the user's has the dump" [ "$(stat -c %s got)" -gt 1000 ]
check "a pipe of the user's: the launch is not named wrongly" eval '! says "in misaligned" || says "failure_cases.cu:$(line_of plain)"'
unset CUDA_ENABLE_COREDUMP_ON_EXCEPTION CUDA_ENABLE_LIGHTWEIGHT_COREDUMP

if [ "$gpus" -ge 2 ]; then
    plays "$work/failure_cases" two_devices
    # Once both have failed, the driver answers with the error of either device.
    sed -i 's/71[69]/error/g' plain.out csan.out
    behaves "two devices at once"
    check "two devices at once: the first" says "^CSAN: misaligned memory access in misaligned( .*)? \(.*failure_cases.cu:$(line_of 'device 0')\)"
    check "two devices at once: the second" says "^CSAN: trap in trapped( .*)? \(.*failure_cases.cu:$(line_of 'device 1')\)"
    check "two devices at once: both threads" eval 'says "thread \(3,0,0\) of grid 1 x block 32" && says "thread \(4,0,0\) of grid 1 x block 32"'
    plays "$work/failure_cases" one_of_two
    behaves "one device of two"
    check "one device of two: once" reports 1
else
    echo "skipped two devices: there is one GPU"
fi
echo "failure_cases: $passed passed, $failed failed"
[ $failed = 0 ]
