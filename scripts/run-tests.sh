#!/bin/bash
# Runs unit tests (cmocka programs) and counts their tests.
#
#   run-tests.sh [--jobs N] LOG TEST...
#
# LOG gets everything the tests print, program by program; LOG with .log replaced by .count gets
# "passed failed". Only failures and one line per program go to the terminal. A program that crashes,
# or ends with a failure that it did not print, counts as one more failure. --jobs: so many programs
# at once, begun in the order given. LOG with .log replaced by .times gets the seconds of each: real,
# user and system.
#
# Each program has a cache of its own: what csan keeps in the user's has no part in a test.
set -u
TIMEFORMAT='%R %U %S'

# run_one PARTS TEST: PARTS/NAME gets what it prints, PARTS/NAME.count "passed failed".
run_one()
{
    local test=$2 part=$1/$(basename "$2") output status ok bad said limit=300
    case $test in */asan/* | */tsan/* | */qemu/*) limit=1200 ;; esac # these are five times slower, and more
    {
        time CSAN_CACHE=$part.cache timeout -k 5 $limit "$test" >"$part.output" 2>&1 </dev/null
        status=$?
    } 2>"$part.time"
    output=$(cat "$part.output")
    printf '== %s\n%s\n' "$test" "$output" >"$part"
    ok=$(grep -c '^\[       OK \] ' <<<"$output")
    bad=$(grep '^\[  FAILED  \] ' <<<"$output" | grep -v 'test(s)' | sort -u | grep -c .)
    said=
    if [ $status != 0 ] && [ "$bad" = 0 ]; then
        bad=1
        said="not ok $(basename "$test"): ended with status $status"$'\n'$(tail -15 <<<"$output")$'\n'
    elif [ "$bad" != 0 ]; then
        said=$(grep -E '^\[  (ERROR|FAILED)|^\[   LINE|error:' <<<"$output" | sort -u | head -40)$'\n'
    fi
    # In one piece, since others print, too.
    printf '%s%s: %s passed, %s failed\n' "$said" "$(basename "$test")" "$ok" "$bad"
    echo "$ok $bad" >"$part.count"
    rm -rf "$part.cache"
}

if [ "${1:-}" = --one ]; then
    run_one "$2" "$3"
    exit 0
fi

jobs=1
[ "${1:-}" = --jobs ] && { jobs=$2; shift 2; }
log=$1
shift
parts=${log%.log}.parts
rm -rf "$parts"
mkdir -p "$parts"
printf '%s\0' "$@" | xargs -0 -r -P "$jobs" -n 1 "$0" --one "$parts"
passed=0 failed=0
: >"$log"
: >"${log%.log}.times"
for test; do
    part=$parts/$(basename "$test")
    read -r ok bad <"$part.count" || { echo "not ok $(basename "$test"): it was not run"; ok=0 bad=1; }
    cat "$part" >>"$log"
    echo "$(cat "$part.time") $(basename "$test")" >>"${log%.log}.times"
    passed=$((passed + ok)) failed=$((failed + bad))
done
rm -rf "$parts"
echo "$passed $failed" >"${log%.log}.count"
[ "$failed" = 0 ]
