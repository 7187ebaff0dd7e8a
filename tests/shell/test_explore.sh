# csan explore: the samples, and programs made for what it has to distinguish.

says() { grep -Eq -- "$1" out; }
complains() { grep -Eq -- "$1" err; }
ended() { [ "$status" = "$1" ]; }
count() { [ "$(grep -Ec -- "$1" out)" = "$2" ]; }
no_rest() { ! ls -d "$scratch"/csan-explore-* >/dev/null 2>&1; }

export TMPDIR=$scratch
csan=$root/bin/csan

# The racy samples are confirmed, the fixed ones end equal. `make explore-samples` does a thousand.
for sample in example_error missing_wait double_buffer free_in_use; do
    run "$csan" explore --runs=100 --until=confirmed "$plain/$sample"
    check "$sample leaves nothing behind" no_rest
    cp out report
    for number in 1 2; do
        named=$(sed -n 's/^    csan run \(.*\)/\1/p' report | sed -n ${number}p)
        # shellcheck disable=SC2086
        run "$csan" run $named
        check "$sample's schedule $number can be run by its name" ended 66
    done
    run "$csan" explore --runs=100 --until=confirmed --keep="$sample" "$plain/$sample"
    check "$sample has a race" ended 66
    check "$sample is confirmed" says '1 race, 1 confirmed'
    for number in 1 2; do
        replay=$(sed -n 's/^    csan run \(.*\)/\1/p' out | sed -n ${number}p)
        cp out report
        # shellcheck disable=SC2086
        run "$csan" run $replay
        check "$sample's schedule $number replays" ended 66
        check "$sample's schedule $number replays as it was" sh -c "! grep -q '^csan device' err"
        cp report out
    done
    run "$csan" explore --runs=30 "$plain/${sample}_fixed"
    check "${sample}_fixed ends equal" says '^csan explore: 30 schedules, 1 different result; 0 races'
    check "${sample}_fixed is a success" ended 0
    check "${sample}_fixed leaves nothing behind" no_rest
done

# Linked with csan, both ways.
run "$csan" explore --until=confirmed "$programs/missing_wait"
check "a program linked with csan is explored" says '1 race, 1 confirmed'

run "$csan" explore --runs=20 "$plain/explore_two_races"
check "two races are confirmed" says '2 races, 2 confirmed'
check "each of them alone" count '^CONFIRMED .* differ in this one alone' 2

# Of races that one missing order explains csan run prints a report of the first one only.
run "$csan" explore --runs=2 "$plain/fix_group"
# line TAG: the number of the line that ends in "at: TAG".
line() { grep -n "at: $1\$" "$(dirname "$test")/../integration/fix_group.cu" | cut -d: -f1; }
for sides in "1 oldest first" "2 last newest"; do
    # shellcheck disable=SC2086
    set -- $sides
    sed -n "/^CSAN: data race/h;/^CSAN: data race/!H;/^Race $1 is certain/{g;p}" out >report
    check "race $1 of a group has a report" grep -q "^Race $1 is certain" report
    check "race $1 has a report of its own lines" grep -q \
        "^CSAN: data race: .*fix_group.cu:$(line "$2")) does not wait for fill (.*fix_group.cu:$(line "$3"))" report
done
check "the schedule that showed a race is named" count '^First reported with --schedule=eager\.$' 2
check "each is judged behind its report" eval '[ "$(grep -Eo "^Race [0-9] is certain|^[A-Za-z ]+\(race [0-9]\)" out | grep -o "[0-9]" | tr -d "\n")" = 1122 ]'

run "$csan" explore --runs=2 "$plain/explore_two_races"
check "while no run distinguishes them, they are confirmed together" \
    count '^CONFIRMED .* together with race' 2

run "$csan" explore --until=confirmed "$plain/device_variable"
check "an update that is lost between a load and its store is found" says '1 race, 1 confirmed'

run "$csan" explore --runs=5 "$plain/malloc_async_other_stream"
check "a race of the first op is reported" says '1 race, 0 confirmed'
check "an allocation is no work that could run later" says '^not confirmed .* no run had'

run "$csan" explore --runs=20 "$plain/threads_eight"
check "several host threads without a race end equal" ended 0
check "that they are several is said" says 'several host threads enqueue work'

run "$csan" explore --runs=60 "$plain/explore_one_behind_other"
check "of two races the one that matters is confirmed" says '2 races, 1 confirmed'
check "the other one is not" count '^not confirmed .* which ended equal' 1

run "$csan" explore --runs=30 "$plain/explore_equal_writes"
check "a race that changes nothing is not confirmed" says '1 race, 0 confirmed'
check "but is a race" ended 66

run "$csan" explore --runs=30 "$plain/explore_aborts"
check "a race that makes the program fail is confirmed" says '1 race, 1 confirmed'
check "and the exit statuses are reported" says 'the exit status: 0 and 101'
check "what its failure cut off is not held against csan" ended 66

run "$csan" explore --runs=10 --options=host=off "$plain/explore_unseen_load"
check "a difference that csan did not report is reported" says '^NOT REPORTED'
check "with its own exit code" ended 67
check "and with both schedules" count '^    csan run --device=embedded --schedule=[a-z]+' 2

run "$csan" explore --runs=10 "$plain/explore_unseen_load"
check "where pages are guarded it is a race, and confirmed" says '1 race, 1 confirmed'
check "what differs is what the program printed" says 'What differs: the standard output'
check "with the exit code of races" ended 66
run "$csan" explore --runs=10 "$plain/host_pinned_write"
check "so is a store of the host's" says '1 race, 1 confirmed'
run "$csan" explore --runs=10 --options=host=content "$plain/host_pinned_write"
check "and one that only the content of memory shows" says '1 race, 1 confirmed'
check "by two schedules" count '^    csan run --device=embedded --schedule=[a-z]+' 2
run "$csan" explore --runs=10 --options=host=content "$plain/explore_equal_source"
check "one whose effect another copy takes back is none that matters" says '^not confirmed .*which ended equal'
check "but is a race, and all that is found" eval 'ended 66 && says "1 race, 0 confirmed"'
run "$csan" explore --runs=10 "$plain/host_pinned_write_ordered"
check "and one behind a wait is nothing" ended 0

run "$csan" explore --runs=10 "$plain/explore_unsteady"
check "a program that differs by itself is not csan's fault" ended 0
check "and that is said" says '1 part of the results differs even when the same schedule is replayed'

run "$csan" explore --runs=40 "$plain/explore_asks"
check "a program that asks whether work is done goes different ways" says 'takes 2 different ways'
check "a race on one of them is reported and confirmed" says '1 race, 1 confirmed'
check "that the ways differ is not held against csan" ended 66

run "$csan" explore --runs=10 "$plain/explore_polls"
check "a program that prints which way it went does not end with 0" ended 67
check "that it went another way is reported" says '^WENT ANOTHER WAY'
check "with both schedules" count '^    csan run --device=embedded --schedule=[a-z]+' 2

echo 'race:main' >all.supp
run "$csan" explore --runs=10 --options=suppressions=all.supp "$plain/missing_wait"
check "a suppressed race still explains what differs" ended 0
check "it is counted apart" says '0 races, 0 confirmed, 1 suppressed or known'

# As one document.
schema() { "$root/tests/schema_check" "$(dirname "$test")/../../include/csan/csan-explore.schema.json" out; }
for program in missing_wait explore_two_races explore_polls explore_unseen_load stream_same; do
    run "$csan" explore --runs=10 --options=host=off --format=json "$plain/$program"
    cp out document
    check "$program: one document on standard output" schema
    check "$program: it has the exit code" says "\"exit_code\": $status}"
    check "$program: nothing is said beside" test ! -s err
done
run "$csan" explore --runs=10 --format=json "$plain/missing_wait"
check "a document has the race" says '"kind": "data", "certain": true, "suppressed": false, "confirmed": true'
check "and the commands that show it" says '"file": null, "command": "csan run --device=embedded --schedule=eager -- '
check "and the schedule that showed it first" says '"schedule": "eager"'
run "$csan" explore --runs=10 --keep=files --format=json "$plain/missing_wait"
cp out document
check "a document may name files" schema
check "that are kept" says '"file": "/[^"]*/files/[0-9]+.schedule", "command": "csan run --device=embedded --schedule=replay:/'
run "$csan" explore --format=xml "$plain/missing_wait"
check "other formats are refused" complains "no format 'xml'; write text or json"

for end in abort _exit; do
    run "$csan" explore --runs=12 "$plain/explore_ends_early" $end
    check "a program may end by $end" ended 0
    check "which hides no memory" eval '! says "does not end by exit"'
done
run "$csan" explore --runs=12 "$plain/explore_ends_early" kill
check "what a program loses by SIGKILL is no difference" ended 0
check "that SIGKILL hides memory is said" says 'does not end by exit'

# Files: only its own are touched, and wherever they lie, the commands it prints work.
check "no run before left anything behind" no_rest
mkdir full
echo mine >full/1.schedule
run "$csan" explore --runs=3 --keep=full "$plain/stream_same"
check "--keep takes no directory that has something in it" ended 2
check "and says why" complains "'full': it is not empty"
check "and leaves what is there" grep -q mine full/1.schedule
mkdir kept
run "$csan" explore --runs=3 --keep=kept "$plain/stream_same"
check "--keep leaves its directory when there is nothing to keep" sh -c '[ -z "$(ls kept)" ] && [ -d kept ]'
run "$csan" explore --until=confirmed --keep=kept "$plain/missing_wait"
check "--keep keeps the schedules there" sh -c '[ "$(ls kept | wc -l)" = 2 ]'
run "$csan" explore --until=confirmed --keep=new "$plain/missing_wait"
check "--keep makes its directory" sh -c '[ "$(ls new | wc -l)" = 2 ]'

mkdir 'a b:c' "it's"
run env TMPDIR='a b:c' "$csan" explore --until=confirmed --keep='a b:c/kept' "$plain/missing_wait"
check "TMPDIR may be relative and have blanks and colons" says '^CSAN: data race'
check "and files go nowhere else" sh -c '! ls | grep -q "^a\."'
replay=$(sed -n 's/^    csan run //p' out | head -1)
eval "run '$csan' run $replay"
check "the printed command can be given to a shell" ended 66
run env TMPDIR="it's" "$csan" explore "$plain/missing_wait"
check "a path that cannot be passed on is reported" complains 'set TMPDIR to another directory'
run env TMPDIR=absent "$csan" explore "$plain/missing_wait"
check "a TMPDIR that is absent is reported" complains "'absent': No such file"
check "and ends with 126" ended 126

run "$csan" explore --runs=3 sh -c "'$plain/missing_wait'; true"
check "a program started by a shell is explored, and its race put into words" says '^CSAN: data race'
check "and nothing is left of it" no_rest
run "$csan" explore --runs=3 sh -c "'$plain/stream_same'; '$plain/missing_wait'"
check "two processes that use CUDA cannot be distinguished" complains '2 processes of the program use CUDA'
check "and nothing is left of them" no_rest

# Interrupted while a run is under way: the run ends, the rest is reported, nothing is left.
for program in "stream_same" "explore_forever yes"; do
    # shellcheck disable=SC2086
    run timeout --preserve-status --signal=TERM 1 "$csan" explore --runs=100000 "$plain"/$program
    check "SIGTERM ends the exploration of $program" ended 143
    check "and what was learned of $program is reported" says '^csan explore: interrupted'
    check "and nothing of $program is left" no_rest
    check "nor does $program run on" sh -c "! pgrep -f '^$plain/$program'"
done

run env CSAN_DEVICE=gpu "$csan" explore "$plain/stream_same"
check "a GPU is refused" complains 'on the embedded device only'

run "$csan" explore --timeout=1 "$plain/explore_forever" yes
check "a program that takes too long is reported" complains 'took longer than 1 seconds'
check "and ends the exploration" ended 126
run "$csan" explore sh -c 'echo reason >&2; kill -SEGV $$'
check "how it ended is reported" complains "it ended by signal 11"
check "and what it said" complains "^    reason"
run "$csan" explore true
check "a program without GPU work is reported" complains 'used no CUDA device'
run "$csan" explore --runs=0 "$plain/missing_wait"
check "--runs=0 is wrong" ended 2
run "$csan" explore --frobnicate "$plain/missing_wait"
check "an option that is not there is reported" complains "there is no option '--frobnicate'"
run "$csan" explore /nonexistent/program
check "a program that is not there ends with 127" ended 127
run "$csan" explore --help
check "--help has the exit codes" says '67'
run "$csan" explore
check "no program is wrong usage" ended 2
