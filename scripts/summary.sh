#!/bin/bash
# summary.sh DIR: adds up the *.count files that the parts of the tests left in DIR, prints
# "N passed, N failed" and fails when a test failed or none ran.
set -u
passed=0 failed=0
for count in "$1"/*.count; do
    read -r ok bad <"$count" || continue
    passed=$((passed + ok)) failed=$((failed + bad))
done
echo "$passed passed, $failed failed"
[ "$failed" = 0 ] && [ "$passed" -gt 0 ]
