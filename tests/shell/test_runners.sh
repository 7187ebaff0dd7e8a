# The scripts that run the tests: what they count, and what a name stands for.

tree=$(realpath "$(dirname "$test")/../..")
ended() { [ "$status" = "$1" ]; }
printed() { grep -qx -- "$1" out; }

# ---- Unit tests: programs that print as cmocka's do

mkdir unit
program() { printf '#!/bin/sh\n%s\n' "$2" >"unit/$1" && chmod +x "unit/$1"; }
program good 'echo "[       OK ] a"; echo "[       OK ] b"'
program bad 'echo "[       OK ] a"; echo "[  FAILED  ] b"; echo "[  FAILED  ] 1 test(s)"; exit 1'
program crashes 'echo "[       OK ] a"; kill -SEGV $$'
program leaks 'echo "[       OK ] a"; exit 23'
counts() { [ "$(cat "$1.count")" = "$2" ]; }
for jobs in 1 3; do
    run_foreign "$tree/scripts/run-tests.sh" --jobs $jobs unit.log unit/good
    check "unit tests that pass, $jobs at once" ended 0
    check "they are counted, $jobs at once" counts unit "2 0"
    run_foreign "$tree/scripts/run-tests.sh" --jobs $jobs unit.log unit/good unit/bad unit/crashes unit/leaks
    check "unit tests that fail, $jobs at once" ended 1
    check "a failure and two programs that end badly are failures, $jobs at once" counts unit "5 3"
    check "a program that crashes is named, $jobs at once" printed 'not ok crashes: ended with status 139'
    check "... and one that fails behind its tests, $jobs at once" printed 'not ok leaks: ended with status 23'
    check "the log is in the order of the programs, $jobs at once" \
        [ "$(sed -n 's/^== //p' unit.log | tr '\n' ' ')" = "unit/good unit/bad unit/crashes unit/leaks " ]
done
run_foreign "$tree/scripts/run-tests.sh" unit.log unit/absent
check "a program that is not there is a failure" counts unit "0 1"

# ---- Shell tests

mkdir -p root/tests
echo 'check "one is one" [ 1 = 1 ]' >test_good.sh
printf 'check "one is one" [ 1 = 1 ]\ncheck "one is two" [ 1 = 2 ]\n' >test_bad.sh
printf 'check "one is one" [ 1 = 1 ]\nexit 3\n' >test_ends.sh
for jobs in 1 3; do
    run_foreign "$tree/scripts/run-shell-tests.sh" --jobs $jobs root test_good.sh
    check "a shell test that passes, $jobs at once" ended 0
    run_foreign "$tree/scripts/run-shell-tests.sh" --jobs $jobs root test_good.sh test_bad.sh test_ends.sh
    check "shell tests that fail, $jobs at once" ended 1
    check "a check and a script that ends are failures, $jobs at once" counts root/tests/shell "3 2"
    check "what fails is named, $jobs at once" printed 'not ok test_bad: one is two'
    check "... the script, too, $jobs at once" printed 'not ok test_ends: the script itself failed'
    check "what passes is in the log alone, $jobs at once" eval '! printed "ok test_good: one is one"'
done

# ---- The sum

mkdir sum
echo "3 0" >sum/a.count
echo "4 0" >sum/b.count
run_foreign "$tree/scripts/summary.sh" sum
check "the sum" printed '7 passed, 0 failed'
check "the sum of what passes is no failure" ended 0
run_foreign "$tree/scripts/summary.sh" sum a b
check "parts that are named and counted add nothing" printed '7 passed, 0 failed'
run_foreign "$tree/scripts/summary.sh" sum a b absent
check "a part that left no count is a failure" eval 'ended 1 && printed "7 passed, 1 failed"'
check "it is named" printed 'not ok absent: it did not count its tests'
echo "0 1" >sum/c.count
run_foreign "$tree/scripts/summary.sh" sum
check "the sum of what fails is a failure" ended 1
run_foreign "$tree/scripts/summary.sh" root
check "so is nothing at all" ended 1

# ---- Names

named() { run_foreign "$tree/scripts/tests-named" "$1"; }
named queue
check "a unit test has its name without test_" printed 'unit test_queue'
named test_queue
check "... and with it" printed 'unit test_queue'
named one_processor_puts_nothing_off
check "a test in it is its name, too" printed 'unit test_hook_deferred_run'
named detector
check "a room is all its tests" [ "$(grep -c '^unit ' out)" = "$(ls "$tree"/tests/unit/detector/test_*.c | wc -l)" ]
named parity
check "PyTorch's verdicts are a unit test" printed 'unit test_parity'
named runners
check "a shell test" [ "$(cat out)" = "shell test_runners" ]
named event_wait_chain
check "a program" [ "$(cat out)" = "program event_wait_chain" ]
named missing_wait
check "a sample" [ "$(cat out)" = "program missing_wait" ]
named butterfly
check "a classic leads to the test that runs all" [ "$(cat out)" = "shell test_classics" ]
named all-streams-blocking
check "a mutant" [ "$(cat out)" = "mutant all-streams-blocking" ]
named "event recorded before A"
check "a litmus rule" [ "$(cat out)" = "rule event recorded before A" ]
named 'event_*_orders'
check "a pattern" [ "$(cat out | tr '\n' ' ')" = \
    "program event_elapsed_time_orders program event_query_orders program event_synchronize_orders program event_wait_orders " ]
named event_wait
check "what names begin with" [ "$(grep -c '^program event_wait_' out)" -ge 5 ]
named event_wait_chian
check "a name that nothing has is an error" ended 1
check "it is said" grep -qx 'no test is named event_wait_chian' err
check "a near name is suggested" grep -qx '    event_wait_chain' err
run_foreign env -u MAKEFLAGS -u MAKELEVEL make -C "$tree" --no-print-directory -s test T=event_wait_chian
check "make test says so, too" grep -qx '    event_wait_chain' err
check "... and fails" ended 2
named learn_
check "a beginning may end in '_'" grep -qx 'program learn_rows' out

# ---- What a shell test is given

# files_of TEST: what make test T=TEST builds for it.
files_of()
{
    printf 'include Makefile\nprint: ; @printf "%%s\\n" $(shell_files)\n' >print.mk
    run_foreign env -u MAKEFLAGS -u MAKELEVEL make -C "$tree" --no-print-directory -s -f "$scratch/print.mk" T="$1" print
}
files_of test_mutate
check "a program that a test names" grep -q '/plain/needless_wait$' out
check "... and one whose name it puts together" grep -q '/plain/double_buffer_fixed$' out
