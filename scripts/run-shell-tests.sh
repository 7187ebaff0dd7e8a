#!/bin/bash
# Runs the tests that are shell scripts, tests/shell/test_*.sh, against the build in a directory.
#
#   run-shell-tests.sh ROOT TEST...
#
# A test script is sourced by a fresh bash that has `root`, `programs` (linked with csan, static
# runtime), `plain` (not linked), a scratch directory `scratch` as its working directory, and:
#
#   run COMMAND...          runs it; leaves its exit code in $status, its output in out and err
#   run_foreign COMMAND...  the same for a program that csan is not in
#   sanitized COMMAND...    runs it with the sanitizer's run-time that this build has, if any
#   check NAME TEST...      one test: passes when the command TEST succeeds
#
# ROOT/tests/shell.count gets "passed failed".
set -u

if [ "${1:-}" = --one ]; then
    root=$2 test=$3 scratch=$4
    programs=$root/tests/programs/static plain=$root/tests/programs/plain
    unset CSAN CSAN_OPTIONS
    export CSAN_DEVICE=embedded
    # Libraries built with a sanitizer need its run-time first in every program.
    sanitizer=()
    case $root in
    */asan) sanitizer=(env "LD_PRELOAD=$(gcc -print-file-name=libasan.so)"
        "ASAN_OPTIONS=detect_leaks=0:handle_segv=0:verify_asan_link_order=0:exitcode=99") ;;
    */tsan) sanitizer=(env "LD_PRELOAD=$(gcc -print-file-name=libtsan.so)"
        "TSAN_OPTIONS=exitcode=99") ;;
    esac
    sanitized() { ${sanitizer[@]+"${sanitizer[@]}"} timeout -k 5 120 "$@" </dev/null; }
    run()
    {
        sanitized "$@" >out 2>err
        status=$?
    }
    run_foreign()
    {
        timeout -k 5 120 "$@" >out 2>err </dev/null
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

root=$(cd "$1" && pwd) || exit 2
shift
mkdir -p "$root/tests"
log=$root/tests/shell.log
for test; do
    scratch=$(mktemp -d)
    "$0" --one "$root" "$(realpath "$test")" "$scratch" 2>&1
    [ $? = 0 ] || echo "not ok $(basename "$test" .sh): the script itself failed"
    rm -rf "$scratch"
done >"$log"
grep -v '^ok ' "$log"
passed=$(grep -c '^ok ' "$log") failed=$(grep -c '^not ok ' "$log")
echo "$passed $failed" >"$root/tests/shell.count"
echo "shell tests: $passed passed, $failed failed (log: $log)"
[ "$failed" = 0 ]
