#!/bin/bash
# summary.sh DIR [PART...]: adds up the *.count files that the parts of the tests left in DIR, prints
# "N passed, N failed" and fails when a test failed or none ran. A PART that left no count is a failure.
set -u
passed=0 failed=0
dir=$1
shift
for count in "$dir"/*.count; do
    read -r ok bad <"$count" || continue
    passed=$((passed + ok)) failed=$((failed + bad))
done
for part; do
    [ -s "$dir/$part.count" ] && continue
    echo "not ok $part: it did not count its tests"
    failed=$((failed + 1))
done
echo "$passed passed, $failed failed"
[ "$failed" = 0 ] && [ "$passed" -gt 0 ]
