# csan fix, csan run --verify-fix and option add_order: what reports propose, proved by running.

says() { grep -Eq -- "$1" err; }
prints() { grep -Eq -- "$1" out; }
prints_not() { ! prints "$1"; }
ended() { [ "$status" = "$1" ]; }

sources=$(cd "$(dirname "$test")/../.." && pwd)/tests/integration
# at FILE TAG: "FILE:LINE" of the line that ends in "at: TAG".
at() { echo "$1:$(grep -n "at: $2\$" "$sources/$1" | head -1 | cut -d: -f1)"; }

export TMPDIR=$scratch
fix() { run "$root/bin/csan" fix --runs=6 "$@"; }
verified='verified: this order alone removes race 1; nothing else is reported; outputs equal over 6 schedules; costs: '
# holds PROGRAM WORDS: its only proposal is verified, and the fix has these words.
holds()
{
    fix "$plain/$1"
    check "$1: the proposal is verified" prints "^  $verified"
    check "$1: the fix says it" prints "^  Fix: .*$2"
    check "$1: that is success" ended 0
}

# ---- Every kind of fix

holds example_error 'record an event on .* after initialize .*, make .* wait for it before scale '
check "an order's cost is reported" prints 'costs: of 1 pair of operations that could run at the same time, 1 cannot any more \(100%\)'
holds missing_wait 'make .* wait for the event recorded on .*missing_wait.cu:44\) before add '
check "an order may leave the rest as it is" prints 'costs: of 2 pairs of operations that could run at the same time, 1 cannot any more \(50%\)'
holds double_buffer 'record an event on .* after process '
holds event_recorded_too_early 'record the event on .* after fill '
holds event_wait_before_record 'make .* wait for the event recorded on '
holds rerecorded_event "record an event of its own on .*, .* after fill .*$(at rerecorded_event.cu part)\\) and make"
check "the order holds on each of the streams" prints 'costs: of 5 pairs .*, 2 cannot any more \(40%\)'
holds graph_against_stream 'record an event on .* after the graph.s launch '
holds graphs_share_scratch "after the graph's launch \\(.*$(at graphs_share_scratch.cu one)\\), make .* before the graph's launch \\(.*$(at graphs_share_scratch.cu other)\\)"
holds graph_input_overwritten "wait for the event recorded on .*$(at graph_input_overwritten.cu consumed)\\) before cudaMemcpyAsync"
holds graph_branches_no_join 'add a dependency to the graph, from the node of fill .* to the node of increment '
holds graph_explicit_no_edge "to the node of cudaGraphAddMemcpyNode1D \\(.*$(at graph_explicit_no_edge.cu copy)\\)"
holds graph_child_unordered 'add a dependency to the graph, '
holds graph_memory_freed_early 'from the node of fill .* to the node of cudaFreeAsync '
holds graph_memory_used_before 'record an event on .* after the graph.s launch '
holds host_function_unordered "make the host function's stream wait for it before the host function's call "
CSAN_OPTIONS=host=off holds fix_host_waits 'make the host wait for the event recorded on .*, with cudaEventSynchronize, before csan_host_writes '
holds free_in_use 'record an event on .* after fill .*, make .* wait for it before cudaFreeAsync '
holds fix_takes_stream "make cudaMemset \\(.*$(at fix_takes_stream.cu set)\\) in stream [A-Z] instead of the legacy default stream"
check "what takes the stream is ordered with it both ways" prints 'costs: of 9 pairs .*, 9 cannot any more'
holds fix_takes_stream_copy 'make cudaMemcpy .* in stream [A-Z] instead of the legacy default stream'
holds blas_operand_overwritten 'record an event on .* after cublasSgemm '

verified='verified, by a wait of the host right behind the first of the two: this order alone removes race 1; nothing else is reported; outputs equal over 6 schedules; costs: '
holds host_pinned_read 'synchronize the host with stream A after cudaMemcpyAsync .*, before the host.s load '

verified='verified, by a launch without programmatic stream serialization: this order alone removes race 1; nothing else is reported; outputs equal over 6 schedules; costs: '
holds pdl_chain 'call cudaGridDependencySynchronize\(\) \(griddepcontrol.wait\) in second, .* or launch it \(.*\) without programmatic'
holds programmatic_no_wait 'call cudaGridDependencySynchronize\(\) \(griddepcontrol.wait\) in copy before that access, '
verified='verified, by an event between the two: this order alone removes race 1; nothing else is reported; outputs equal over 6 schedules; costs: '
holds ptds_threads 'call cudaStreamSynchronize\(cudaStreamPerThread\) after fill .*, in the thread that made it; or record an event there'
holds annotated_pool_reuse 'give the block back to the pool only when .*\(record_stream in PyTorch\)'

fix --options=host_order=threads "$plain/hostfunc_pageable"
check "hostfunc_pageable: the host waits before the copy" prints '^  verified, by a wait of the host: this order alone removes race 1; nothing else '
check "hostfunc_pageable: that is success" ended 0

run env CSAN_DEVICES=2 "$root/bin/csan" fix --runs=6 "$plain/devices_peer_unordered"
check "streams of two devices are ordered by an event" prints '^  verified: this order alone removes race 1; nothing else '

fix --schedule=lazy "$plain/explore_aborts"
check "a kernel that fails is no race to be fixed" prints '^csan fix: 1 race, 1 missing order;'

# ---- Several races

fix "$plain/fix_group"
check "one order is enough for two races" prints '^  verified: this order alone removes races 1, 2; nothing else is reported'
check "it goes by the newest and the oldest" prints "the event is recorded after fill \\(.*$(at fix_group.cu newest)\\) and waited for before \\(anonymous namespace\\)::take \\(.*$(at fix_group.cu oldest)\\)"
run "$root/bin/csan" run "$plain/fix_group"
check "the report says so" says "race 2, by the same missing order as race 1: .*; so the event has to be recorded after fill \\(.*$(at fix_group.cu newest)\\)"
fix "$plain/fix_group_by_turns"
check "where one is not, each has its own" prints '^  And: record an event '
check "and they hold together" prints '^  verified: these orders alone remove races 1, 2; '
run "$root/bin/csan" run "$plain/fix_group_by_turns"
check "the report says that, too" says 'race 2, by the same missing order as race 1: .*; it needs an event of its own, after fill .* and before copy '
fix "$plain/fix_two_orders"
check "two orders are tried one by one" prints '^  verified: this order alone removes race 1; no other is new \(race 2 stays\); costs: '
check "and the other" prints '^  verified: this order alone removes race 2; no other is new \(race 1 stays\); costs: '
check "and together" prints '^csan fix: 2 races, 2 missing orders; 2 proposals verified; with all of them together no race is left; outputs equal over 6 schedules; '
fix "$plain/free_async_other_stream"
check "a free behind a use is behind the allocation, too" prints '^csan fix: 2 races, 1 missing order; 1 proposal verified'
fix "$plain/fix_covers_other"
check "what another order removes is reported" prints 'removes race 1 \(and race 2\)'

# ---- Proposals that do not hold

fix "$plain/use_after_free_async"
check "what csan cannot put in is reported" prints '^  not verified: csan cannot put it in: the free has to move behind the use\.$'
check "and gives 66" ended 66
fix "$plain/fix_brings_race"
check "an order that brings a race does not hold" prints '^  not verified: another race appears: copy .* does not wait for cudaMemset '
check "an event may do it instead" prints '^  verified instead: this order alone removes race 1; nothing else is reported'
fix --options=host=off "$plain/fix_unseen_host"
check "without a race a program may still end differently" prints '^  not verified: nothing is reported, but the program does not end the same under each schedule; what differs: the standard output'
check "which gives 66, too" ended 66
fix "$plain/fix_now_and_then" once
check "a race that does not come back proves nothing" prints '^  not verified: a second run without the fix did not report the race'
fix "$plain/missing_wait_fixed"
check "a program without races has nothing to prove" prints '^csan fix: no race is reported$'
check "that is success" ended 0

# ---- Formats, and csan run --verify-fix

schema() { "$root/tests/schema_check" "$sources/../../include/csan/csan-fix.schema.json" out; }
for program in missing_wait_fixed use_after_free_async fix_brings_race fix_two_orders; do
    fix --format=json "$plain/$program"
    check "$program: one document on standard output" schema
    check "$program: it has the exit code" prints "\"exit_code\": $status}"
    check "$program: nothing is said beside" test ! -s err
done
check "csan fix writes JSON" python3 -c 'import json, sys
d = json.load(open("out"))
assert d["format"] == "csan-fix" and d["command"][0].endswith("/fix_two_orders") and d["races"] == 2
assert all(o["detail"] is None for o in d["orders"]) and [o["verdict"] for o in d["orders"]] == ["verified"] * 2
assert [o["left"] for o in d["orders"]] == [[2], [1]] and d["unordered"] == 5
assert d["together"]["left"] == [] and d["together"]["schedules"] == 6'
run "$root/bin/csan" run --verify-fix "$plain/missing_wait"
check "csan run --verify-fix proves what it reported" says '^  verified: this order alone removes race 1; '
check "behind the report" test "$(grep -n '^csan: 3 ops' err | cut -d: -f1)" -lt "$(grep -n '^  verified' err | cut -d: -f1)"
check "its output is the program's" test "$(cat out)" = done
check "its exit code is the run's" ended 66
run "$root/bin/csan" run --verify-fix "$plain/use_after_free_async"
check "also where a proposal does not hold" ended 66
run "$root/bin/csan" run --verify-fix "$plain/exit_code_own"
check "and where the program has its own" ended "$(sed -n 's|^// race-exit: ||p' "$sources/exit_code_own.cu" | grep . || echo 66)"

run "$root/bin/csan" run --verify-fix sh -c "grep SigBlk /proc/self/status >>masks; exec '$plain/missing_wait'"
check "its trials may be interrupted" sh -c '[ "$(wc -l <masks)" -gt 3 ] && [ "$(sort -u masks | wc -l)" = 1 ]'

# ---- The option by itself

run "$root/bin/csan" run --format=json --options=count_unordered=1 "$plain/example_error"
order=$(python3 -c 'import json; p = json.load(open("err"))["races"][0]["proposal"]; print(p["from"] + "-" + p["to"])')
check "a report has the order by places" test "${#order}" = 33
run "$root/bin/csan" run --options="count_unordered=1:add_order='$order'" "$plain/example_error"
check "an order that is put in removes the race" ended 0
check "the library says what came of it" says "^csan: add_order $order: recorded 1, waited 1, edges 0, "
check "and how much may run at the same time" says ', 0 pairs of ops that nothing orders'
run "$root/bin/csan" run --device=embedded --schedule=lazy --options=add_order="$order" "$programs/example_error"
check "a place is of one build" ended 66
# first_order PROGRAM
first_order()
{
    run "$root/bin/csan" run --format=json "$plain/$1"
    python3 -c 'import json; p = json.load(open("err"))["races"][0]["proposal"]; print(p["from"] + "-" + p["to"])'
}
order=$(first_order fix_streams_end)
run "$root/bin/csan" run --options="add_order='$order'" "$plain/fix_streams_end"
check "an order holds for streams that ended, however many" ended 0
check "of which few events are kept" says "^csan: add_order $order: recorded 100, waited ([1-9]|1[0-9]), .* failed 0"
run env CSAN=1 CSAN_OPTIONS=add_order=nonsense "$programs/example_error"
check "what is no order is refused" says "add_order: 'nonsense' is no order: write FROM-TO"
check "and costs nothing else" ended 66

# ---- Wrong use, and being stopped

run "$root/bin/csan" fix --help
check "csan fix --help has the exit codes" prints '^Exit code: 0 '
run "$root/bin/csan" fix --runs=0 "$plain/missing_wait"
check "wrong options are usage" ended 2
fix --device=gpu --schedule=lazy "$plain/missing_wait"
check "a schedule for a GPU is refused" ended 2
check "and why is said" says 'a GPU chooses its own schedule; add --device=embedded'
fix sh -c 'exit 0'
check "a program without CUDA cannot be tried" ended 1
fix sh -c "'$plain/missing_wait'; '$plain/missing_wait'"
check "nor one of several processes" says '2 processes of the program use CUDA'
fix --timeout=1 sh -c 'sleep 20'
check "nor one that does not end" says 'did not end within 1 s'
run timeout --preserve-status --signal=TERM 5 "$root/bin/csan" fix --runs=1000000 "$plain/fix_two_orders"
check "SIGTERM ends csan fix" ended 143
check "and what is known is reported" prints '^csan fix: interrupted; this is what was found so far$'
check "with the races" prints '^  verified: this order alone removes race 1; '
check "nothing is left behind" sh -c '! ls -d "$TMPDIR"/csan-fix-* 2>/dev/null | grep -q .'
