# Schedules of the embedded device: chosen, saved, replayed, and damaged.

says() { grep -Eq -- "$1" err; }
silent() { ! grep -q '^csan device:' err; }
ended() { [ "$status" = "$1" ]; }
same_steps() { diff <(grep -v '^#' "$1") <(grep -v '^#' "$2") >/dev/null; }

csan=$root/bin/csan
on() { run "$csan" run --device=embedded --options=symbolize=0:print_summary=0 "$@"; }

on --schedule=eagre "$plain/stream_same"
check "a wrong schedule ends with 2" ended 2
check "a wrong schedule lists the right ones" says 'eagre.*eager, lazy, random:SEED, reverse'
on --schedule=replay:absent "$plain/stream_same"
check "a schedule that is not there is reported" says "cannot read the schedule '$scratch/absent'"
run env CSAN=1 CSAN_SCHEDULE=eagre CSAN_OPTIONS=print_summary=0 "$programs/stream_same"
check "a wrong CSAN_SCHEDULE is reported, and the program runs" says 'eagre is none of'
check "a wrong CSAN_SCHEDULE does no harm" ended 0

run "$csan" run --device=gpu --schedule=lazy "$plain/stream_same"
check "a schedule for a GPU is refused" says "a GPU chooses its own schedule"
run env CSAN_SCHEDULE=lazy "$csan" run --device=gpu "$plain/stream_same"
check "a schedule in the environment means nothing to a GPU" bash -c '! grep -q schedule err'

# What is recorded is replayed in another process: the same steps in the same order, the same
# results, byte for byte.
programs_tried="double_buffer missing_wait free_in_use kernel_reduction host_function_in_chain
    pool_reuse_other_stream event_query_orders range_gemm_chained explore_two_races
    fork_child_off"
for program in $programs_tried; do
    for schedule in random:1 random:2 random:77 lazy reverse eager hold:2-3:5; do
        CSAN_OUTCOME=first.outcome on --schedule=$schedule --save-schedule=first "$plain/$program"
        cp out first.out
        was=$status
        CSAN_OUTCOME=again.outcome on --schedule=replay:first --save-schedule=again "$plain/$program"
        check "$program under $schedule replays without a word" silent
        check "$program under $schedule replays step by step" same_steps first again
        check "$program under $schedule ends as before" ended "$was"
        check "$program under $schedule prints the same" cmp -s out first.out
        check "$program under $schedule leaves the same" cmp -s first.outcome again.outcome
    done
done

on --schedule=random:3 --save-schedule=whole "$plain/double_buffer"
lines=$(wc -l <whole)

head -n 8 whole >cut
on --schedule=replay:cut "$plain/double_buffer"
check "a schedule that is cut off is reported" says "'$scratch/cut' is cut off"
check "what it lacks runs eagerly" says 'used up; going on eagerly'
check "a schedule that is cut off does no harm" ended 66

head -c $(($(head -n 8 whole | wc -c) - 3)) whole >cut
on --schedule=replay:cut "$plain/double_buffer"
check "a schedule cut off within a line is reported" says "'$scratch/cut' is cut off"

sed '7s/^/x/' whole >damaged
on --schedule=replay:damaged "$plain/double_buffer"
check "a damaged schedule is reported, with the line" says "'$scratch/damaged' is damaged: line 7"
check "a damaged schedule does no harm" ended 66

sed "${lines}s/.*/end 99/" whole >damaged
on --schedule=replay:damaged "$plain/double_buffer"
check "a schedule that lost steps is reported" says "'$scratch/damaged' is damaged: line $lines"

sed '7d' whole | sed "s/^end \(.*\)/end $(($(sed -n 's/^end //p' whole) - 1))/" >wrong
on --schedule=replay:wrong "$plain/double_buffer"
check "a step that is missing is reported" says 'replay: .* going on eagerly|replay: the program ended'
check "a step that is missing does no harm" ended 66

echo 'csan schedule 2' >other
on --schedule=replay:other "$plain/double_buffer"
check "another version is reported" says 'another version'
for text in '' 'hello' "$(printf '\1\2\3')"; do
    printf '%s' "$text" >other
    on --schedule=replay:other "$plain/double_buffer"
    check "no schedule at all ('$text') is reported" says 'is no recorded schedule'
    check "no schedule at all ('$text') does no harm" ended 66
done
head -c 3000 /dev/urandom >noise
(head -n 4 whole; cat noise) >other
on --schedule=replay:other "$plain/double_buffer"
check "noise after a good beginning does no harm" ended 66

(head -n 6 whole; printf '\0\n') >other
on --schedule=replay:other "$plain/double_buffer"
check "a line that begins with a 0 byte is reported" says "'$scratch/other' is damaged: line 7"

on --schedule=replay:whole "$plain/missing_wait"
check "another program's schedule is reported" says 'replay: '
check "another program's schedule does no harm" ended 66

on --schedule=eager --save-schedule=absent/file "$plain/stream_same"
check "a schedule that cannot be saved is reported" says "cannot save the schedule in '$scratch/absent/file'"
check "a schedule that cannot be saved does no harm" ended 0

# Work that is left for the idle device: the program looks at memory and calls nothing.
on --schedule=lazy --save-schedule=idle "$plain/schedule_idle"
check "an idle program sees the work done" ended 0
check "what ran meanwhile is recorded as such" grep -q 'idle$' idle
on --schedule=replay:idle --save-schedule=again "$plain/schedule_idle"
check "it is replayed, too" ended 0
check "without a word" silent
check "and step by step" same_steps idle again
# The program may be at the next occasion before the idle device has made a step.
on --schedule=eager --save-schedule=first "$plain/double_buffer"
awk '/^[0-9]+ [0-9]+ [0-9]+$/ && !done { $0 = $0 " idle"; done = 1 } 1' first >early
on --schedule=replay:early --save-schedule=again "$plain/double_buffer"
check "a step of the idle device that the program is too early for is made" silent
check "and recorded where it was" same_steps early again
