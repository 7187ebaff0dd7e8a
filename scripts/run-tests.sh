#!/bin/bash
# Runs unit tests (cmocka programs) one after the other and counts their tests.
#
#   run-tests.sh LOG TEST...
#
# LOG gets everything the tests print; LOG with .log replaced by .count gets "passed failed". Only
# failures and one line per program go to the terminal. A program that crashes, or ends with a
# failure that it did not print, counts as one more failure.
set -u
log=$1
shift
mkdir -p "$(dirname "$log")"
: >"$log"
passed=0 failed=0
for test; do
    output=$(timeout -k 5 300 "$test" 2>&1 </dev/null)
    status=$?
    printf '== %s\n%s\n' "$test" "$output" >>"$log"
    ok=$(grep -c '^\[       OK \] ' <<<"$output")
    bad=$(grep '^\[  FAILED  \] ' <<<"$output" | grep -v 'test(s)' | sort -u | grep -c .)
    if [ $status != 0 ] && [ "$bad" = 0 ]; then
        bad=$(grep '^\[  FAILED  \] ' <<<"$output" | grep -v 'test(s)' | sort -u | grep -c .)
        echo "not ok $(basename "$test"): ended with status $status"
        tail -15 <<<"$output"
    elif [ "$bad" != 0 ]; then
        grep -E '^\[  (ERROR|FAILED)|^\[   LINE|error:' <<<"$output" | sort -u | head -40
    fi
    echo "$(basename "$test"): $ok passed, $bad failed"
    passed=$((passed + ok)) failed=$((failed + bad))
done
echo "$passed $failed" >"${log%.log}.count"
[ "$failed" = 0 ]
