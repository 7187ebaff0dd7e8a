# Fault injection (options drop_sync and list_syncs) and csan mutate.

says() { grep -Eq -- "$1" err; }
says_not() { ! says "$1"; }
prints() { grep -Eq -- "$1" out; }
prints_not() { ! prints "$1"; }
ended() { [ "$status" = "$1" ]; }

# line SOURCE TAG: the number of the line of the program that ends in "at: TAG".
sources=$(cd "$(dirname "$test")/../.." && pwd)
line() { grep -n "at: $2\$" "$sources"/{tests/integration,samples}/"$1" 2>/dev/null | head -1 | sed -E 's/^[^:]*:([0-9]+):.*/\1/'; }
# needed SOURCE TAG: what is said of the synchronization at that line, and that a race follows.
needed() { grep -A1 -E "^sync [0-9]+: .*$1:$(line "$1" "$2")(\$|,)" out | grep -q 'needed; without it a race: '; }
unseen() { grep -A1 -E "^sync [0-9]+: .*$1:$(line "$1" "$2")\$" out | grep -Eq '^    needed by no access that csan sees$'; }

# The wait that the fixed sample has and the racy one has not.
fix_needed()
{
    local at
    at=$(grep -nE 'WaitEvent\(.*// (the fix|wait before|the owner waits)' "$sources/samples/$1" | cut -d: -f1)
    [ -n "$at" ] && grep -A1 -E "^sync [0-9]+: event wait at .*$1:$at(\$|,)" out |
        grep -q 'needed; without it a race: '
}

# ---- Numbers

run "$root/bin/csan" run --options=list_syncs=1 "$plain/synchronizations_runtime"
check "list_syncs=1 leaves a clean program clean" ended 0
check "list_syncs=1 counts what synchronizes and nothing else" \
    test "$(grep -c '^csan: sync [0-9]' err)" = 8
kinds=$(sed -nE 's/^csan: sync ([0-9]+): ([a-z ]+) at .*/\1 \2/p' err | tr '\n' ',')
check "list_syncs=1 numbers them in the program's order" test "$kinds" = \
    "1 event wait,2 event synchronize,3 stream synchronize,4 device synchronize,5 stream synchronize,6 event wait,7 stream synchronize,8 device synchronize,"
check "list_syncs=1 says where" says "^csan: sync 1: event wait at main .*synchronizations_runtime.cu:$(line synchronizations_runtime.cu wait)\$"
check "list_syncs=1 says through which functions" says '^csan: sync 8: device synchronize at finish .* < main '

run "$root/bin/csan" run --options=list_syncs=1 "$plain/double_buffer_fixed"
check "list_syncs=1 names a place again by its first number" says '^csan: sync 4: as sync 2$'

run "$root/bin/csan" run --options=list_syncs=1:symbolize=0 "$plain/threads_eight"
check "numbers of eight threads have no gap" test \
    "$(sed -nE 's/^csan: sync ([0-9]+): .*/\1/p' err | tr '\n' ' ')" = "$(seq 321 | tr '\n' ' ')"

# ---- Left out

for k in 1 2 3 4 5 6 7; do
    run "$root/bin/csan" run --options=drop_sync=$k "$plain/synchronizations_runtime"
    check "without synchronization $k of the runtime API there is a race" ended 66
    check "and it is named" says "^csan: sync $k is dropped: "
    check "and the race is reported in one line" says '^csan: race: increment writing to .*, not ordered after '
done
for k in 1 2 3 4 5; do
    run "$root/bin/csan" run --options=drop_sync=$k "$plain/synchronizations_driver"
    check "without synchronization $k of the driver API there is a race" ended 66
done
for schedule in eager lazy random:3; do
    run env CSAN=1 CSAN_SCHEDULE=$schedule CSAN_OPTIONS=drop_sync=2 "$programs/missing_wait_fixed"
    check "a linked program without its wait has a race under schedule $schedule" ended 66
    run env CSAN=1 CSAN_SCHEDULE=$schedule CSAN_OPTIONS=drop_sync=3 "$programs/missing_wait_fixed"
    check "and without its last synchronization none" ended 0
done

run "$root/bin/csan" run --options=drop_sync=8 "$plain/synchronizations_runtime"
check "the last number is one" says '^csan: sync 8 is dropped: device synchronize$'
check "and where it is is said" says '^csan: sync 8 was dropped at finish .* < main '
run "$root/bin/csan" run --options=drop_sync=9 "$plain/synchronizations_runtime"
check "a number too many is said" says '^csan: drop_sync=9: nothing was dropped, since the program made 8 synchronizations '
check "and changes nothing" ended 0
run "$root/bin/csan" run --options=drop_sync=-1 "$plain/synchronizations_runtime"
check "a number below is wrong" says 'drop_sync=-1: write a whole number'

# The device really runs on: the host reads before the copy has come.
run env CSAN_DEVICE_IDLE_MS=3000 "$root/bin/csan" run --schedule=lazy --options=drop_sync=10 "$plain/synchronization_for_the_host"
check "what is left out is left out on the device too" test "$(cat out)" = wrong

# ---- csan mutate

run "$root/bin/csan" mutate --help
check "csan mutate --help succeeds" ended 0
check "csan mutate --help has the exit codes" prints '^Exit code: 0 '

for sample in example_error:1 double_buffer:3 missing_wait:2 free_in_use:2; do
    name=${sample%:*}_fixed
    run "$root/bin/csan" mutate "$plain/$name"
    check "csan mutate of $name ends well" ended 0
    check "csan mutate of $name finds all that are needed" prints ": ${sample#*:} places? needed, 1 needed by no access that csan sees"
    check "csan mutate of $name finds its fix" fix_needed $name.cu
done
run "$root/bin/csan" mutate "$plain/double_buffer_fixed"
check "a wait in a loop is reported once" prints '^sync 2: event wait at .*, 6 times$'
check "waits for events never recorded are distinguished" prints '^    2 of 6 \(sync 2, 4\): needed by no access that csan sees$'
check "from those that are needed" prints '^    4 of 6 \(sync 6, 8, 10, 12\): needed; without it a race: '

run "$root/bin/csan" mutate "$plain/needless_wait"
check "csan mutate names the needless wait" unseen needless_wait.cu needless
check "csan mutate finds its first wait needed" needed needless_wait.cu filter
check "csan mutate finds its second wait needed" needed needless_wait.cu scale
check "csan mutate finds the host's wait needed" needed needless_wait.cu host
check "csan mutate never calls one redundant" prints_not 'redundant|needless$|useless|superfluous'
check "csan mutate says that the CPU may read" prints '^\(The CPU may read what those wait for: '

run "$root/bin/csan" mutate "$plain/synchronization_for_the_host"
check "what only the host needs is needed by its loads" prints "needed; without it a race: the host's load "
run "$root/bin/csan" mutate --options=host=off "$plain/synchronization_for_the_host"
check "what only the host needs shows in the output" prints "needed by no access that csan sees, but without it the program's output is another"
check "a place needed now and then is listed so" prints '^    3 of 6 \(sync 2, 5, 8\): needed; '

run "$root/bin/csan" mutate --runs=2 "$plain/synchronization_for_the_host"
check "--runs bounds the runs" prints '^10 synchronizations at 3 places, 2 left out'
check "--runs says what was not tried" prints ', 6 times \(1 tried\)$'

seconds=2
[ "$processor" = "$(uname -m)" ] || seconds=30 # an emulated program takes so long
run "$root/bin/csan" mutate --timeout=$seconds --options=host=off "$plain/mutate_fails"
check "a run that ends by a signal is reported" prints 'but without it the program ends by signal 6$'
check "a run that ends with a code is reported" prints 'but without it the program ends with exit code 3$'
check "a run that does not end is ended, and reported" prints "but without it the program did not end within $seconds s\$"

run "$root/bin/csan" mutate "$plain/missing_wait"
check "races that the program has are reported first" prints '^The program has 1 race as it is'
check "and give 66" ended 66
check "and are not blamed on a synchronization" prints ': 1 place needed, 1 needed by no access'

# As one document.
schema() { "$root/tests/schema_check" "$sources/include/csan/csan-mutate.schema.json" out; }
for program in missing_wait missing_wait_fixed double_buffer_fixed; do
    run "$root/bin/csan" mutate --format=json "$plain/$program"
    check "$program: one document on standard output" schema
    check "$program: it has the exit code" prints "\"exit_code\": $status}"
    check "$program: nothing is said beside" test ! -s err
done
check "a document has each synchronization of a place" prints '"number": 6, "finding": "needed", "race": "'
run "$root/bin/csan" mutate --format json --runs=2 "$plain/synchronization_for_the_host"
check "a document says what was not tried" prints '"finding": "not-tried", "race": null, "end": null'
run "$root/bin/csan" mutate --format=json --timeout=$seconds --options=host=off "$plain/mutate_fails"
check "a document says how a run ended" prints '"finding": "fails", "race": null, "end": "with exit code 3"'

run "$root/bin/csan" mutate "$plain/stream_same" --argument
check "a program is found and run" ended 0
run "$root/bin/csan" mutate sh -c 'exit 0'
check "a program without synchronizations cannot be tried" ended 1
check "and why is said" says 'makes no synchronization'
run "$root/bin/csan" mutate sh -c "'$plain/stream_same'; '$plain/stream_same'"
check "two processes that use CUDA cannot be distinguished" says '2 processes of the program use CUDA'
run "$root/bin/csan" mutate --timeout=1 sh -c 'sleep 20'
check "a program that does not end cannot be tried" says 'did not end within 1 s'
run "$root/bin/csan" mutate --runs=0 "$plain/stream_same"
check "wrong options are usage" ended 2
run timeout --preserve-status --signal=TERM 3 "$root/bin/csan" mutate --runs=100000 "$plain/streams_thousand"
check "SIGTERM ends csan mutate" ended 143
mkdir 'a b:c'
run env TMPDIR='a b:c' "$root/bin/csan" mutate "$plain/missing_wait_fixed"
check "TMPDIR may be relative and have blanks and colons" prints ': 2 places needed'
run env TMPDIR=absent "$root/bin/csan" mutate "$plain/missing_wait_fixed"
check "a TMPDIR that is absent is reported" says "'absent': No such file"
check "and ends with 126" ended 126
run env CSAN_DEVICE=gpu "$root/bin/csan" mutate "$plain/stream_same"
check "a GPU is refused" says 'on the embedded device only'
check "and is wrong usage" ended 2
check "nothing is left behind" sh -c '! ls -d "${TMPDIR:-/tmp}"/csan-mutate-* 2>/dev/null | grep -q .'
