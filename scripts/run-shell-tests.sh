#!/bin/bash
# Runs the tests that are shell scripts, tests/shell/test_*.sh, against the build in a directory.
#
#   run-shell-tests.sh [--jobs N] ROOT TEST...
#
# --jobs: so many scripts at once, begun in the order given.
#
# A test script is sourced by a fresh bash that has `root`, `programs` (linked with csan, static
# runtime), `plain` (not linked), a scratch directory `scratch` as its working directory, and:
#
#   cuda, cuda_lib          the CUDA Toolkit, and its folder with libcudart
#   nvcc                    its compiler; as gcc and g++ on PATH it compiles for the processor of ROOT
#   program_kernels         the object with the kernels of tests/integration/program.h
#   processor               of ROOT, as uname -m names it
#   for_programs TOOL       whether this machine has it and it works on programs of ROOT, as debuggers do
#
#   run COMMAND...          runs it; leaves its exit code in $status, its output in out and err
#   run_foreign COMMAND...  the same for a program that csan is not in
#   sanitized COMMAND...    runs it with the sanitizer's run-time that this build has, if any
#   check NAME TEST...      one test: passes when the command TEST succeeds
#
# ROOT/tests/shell.log gets what the scripts print, ROOT/tests/shell.count "passed failed", and
# ROOT/tests/shell.times the seconds of each: real, user and system.
set -u
TIMEFORMAT='%R %U %S'

# script_run ROOT TEST PARTS: in a scratch directory of its own; PARTS/NAME gets what it prints.
script_run()
{
    local name scratch said
    name=$(basename "$2" .sh)
    scratch=$(mktemp -d)
    {
        time "$0" --sourced "$1" "$2" "$scratch" >"$3/$name" 2>&1 ||
            echo "not ok $name: the script itself failed" >>"$3/$name"
    } 2>"$3/$name.time"
    rm -rf "$scratch"
    # In one piece, since others print, too.
    said=$(grep -v '^ok ' "$3/$name" && echo x)
    printf '%s%s: %s passed, %s failed\n' "${said%x}" "$name" "$(grep -c '^ok ' "$3/$name")" \
        "$(grep -c '^not ok ' "$3/$name")"
}

if [ "${1:-}" = --one ]; then
    script_run "$2" "$4" "$3"
    exit 0
fi

if [ "${1:-}" = --sourced ]; then
    root=$2 test=$3 scratch=$4
    programs=$root/tests/programs/static plain=$root/tests/programs/plain
    unset CSAN CSAN_OPTIONS
    export CSAN_DEVICE=embedded
    build=$(realpath "$(dirname "$0")/../build")
    cuda=$(sed -n 's/^CUDA_HOME := //p' "$build/config.mk") nvcc=$cuda/bin/nvcc
    cuda_lib=$(sed -n 's/^CUDA_LIB := //p' "$build/config.mk")
    program_kernels=$build/obj/cuda/units/program_kernels.o
    processor=$(uname -m)
    for_programs() { [ "$processor" = "$(uname -m)" ] && command -v "$1" >/dev/null; }
    # scripts/test-aarch64 says what stands for these.
    [ -z "${CSAN_TEST_TOOLS:-}" ] || . "$CSAN_TEST_TOOLS/tools.sh"
    # Libraries built with a sanitizer need its run-time first in every program.
    sanitizer=()
    case $root in
    */asan) sanitizer=(env "LD_PRELOAD=$(gcc -print-file-name=libasan.so)"
        "ASAN_OPTIONS=detect_leaks=0:handle_segv=0:verify_asan_link_order=0:exitcode=99") ;;
    */tsan) sanitizer=(env "LD_PRELOAD=$(gcc -print-file-name=libtsan.so)"
        "TSAN_OPTIONS=exitcode=99:suppressions=$(realpath "$(dirname "$0")/../tests/tsan.supp")") ;;
    esac
    limit=120
    [ -z "${CSAN_TEST_TOOLS:-}" ] || limit=600 # an emulator is five times slower, and more
    sanitized() { ${sanitizer[@]+"${sanitizer[@]}"} timeout -k 5 $limit "$@" </dev/null; }
    run()
    {
        sanitized "$@" >out 2>err
        status=$?
    }
    run_foreign()
    {
        timeout -k 5 $limit "$@" >out 2>err </dev/null
        status=$?
    }
    check()
    {
        local name=$1
        shift
        if "$@"; then
            echo "ok $(basename "$test" .sh): $name"
        else
            echo "not ok $(basename "$test" .sh): $name"
            echo "    failed: $*"
            for file in out err; do
                [ -s $file ] && sed "s/^/    $file: /" $file | head -12
            done
        fi
    }
    cd "$scratch" || exit 1
    . "$test"
    exit 0
fi

jobs=1
[ "${1:-}" = --jobs ] && { jobs=$2; shift 2; }
root=$(cd "$1" && pwd) || exit 2
shift
log=$root/tests/shell.log parts=$root/tests/shell.parts
rm -rf "$parts"
mkdir -p "$parts"
realpath -z "$@" | xargs -0 -r -P "$jobs" -n 1 "$0" --one "$root" "$parts"
for test; do
    name=$(basename "$test" .sh)
    cat "$parts/$name" || echo "not ok $name: it was not run"
done >"$log"
for test; do
    name=$(basename "$test" .sh)
    echo "$(cat "$parts/$name.time") $name"
done >"$root/tests/shell.times"
rm -rf "$parts"
passed=$(grep -c '^ok ' "$log") failed=$(grep -c '^not ok ' "$log")
echo "$passed $failed" >"$root/tests/shell.count"
echo "shell tests: $passed passed, $failed failed (log: $log)"
[ "$failed" = 0 ]
