# Two processes and the memory that one of them shares: `csan merge --order` reports what nothing
# orders between them, and is silent where something does.

csan=$root/bin/csan
pair=$plain/interprocess

ended() { [ "$status" = "$1" ]; }
says() { grep -Eq -- "$1" out; }
notes() { grep -Eq -- "$1" err; }
times() { [ "$(grep -Ec -- "$2" out)" = "$1" ]; }

record()
{
    rm -f app.*.csan
    RANK=0 run "$csan" record --device=embedded -o app.%r.csan "$pair" "$1"
}
merge() { run "$csan" merge --order app.*.csan; }

# ---- What orders two processes

for mode in event synced token barrier tensor descriptor descriptor_part pool; do
    record $mode
    check "by itself each process is right ($mode)" ended 0
    merge
    check "... and the two are in order" ended 0
    check "... of which nothing is missing" notes '0 races between processes, 0 of them possible'
    check "... nor said to be unseen" times 0 'shared with other processes'
done

# ---- What does not

for mode in none early opened undeclared tensor_early descriptor_early pool_early; do
    record $mode
    check "each process of a race between two is right by itself ($mode)" ended 0
    run "$csan" merge app.*.csan
    check "... and csan merge without --order sees nothing" ended 0
    merge
    check "... which csan merge --order reports" ended 66
    check "... once" times 1 '^CSAN: data race: '
    check "... with the stream of the one" says "^(Access|Previous access) by stream 'A of rank 0'"
    check "... and of the other" says "^(Access|Previous access) by stream 'A of rank 1'"
    check "... and the stack of the one" says '#[0-9]+ (writer|tensor_sender|exporter|pool_exporter) .*interprocess\.cu:[0-9]+'
    check "... and of the other" says '#[0-9]+ (reader|tensor_receiver|importer|pool_importer) .*interprocess\.cu:[0-9]+'
    check "... and both ranks" says '^Seen by ranks 0, 1 of 2 processes'
    check "... as certain" says '^Race 1 is certain'
    check "... with a fix for two processes" says '^Fix: in rank 0, wait for the earlier access \(cudaStreamSynchronize\), then send a message that rank 1 receives'
done
run "$csan" merge --order --json=doc.json app.*.csan
check "the document names both processes" grep -Eq '"rank": ?1' doc.json

# ---- The picture: each process is a group of lanes

# prints in.py TRACE: slices with their process and lane, and arrows.
cat >trace.py <<'PYTHON'
import json, sys
events = json.load(open(sys.argv[1]))["traceEvents"]
names = {e["pid"]: e["args"]["name"] for e in events if e["name"] == "process_name"}
lanes = {(e["pid"], e["tid"]): e["args"]["name"] for e in events if e["name"] == "thread_name"}
slices = [e for e in events if e["ph"] == "X"]

def tenths(microseconds):
    return round(microseconds * 10)

def holds(slice, moment):
    return tenths(slice["ts"]) <= tenths(moment["ts"]) < tenths(slice["ts"]) + tenths(slice["dur"])

def at(end):
    [found] = [s for s in slices if (s["pid"], s["tid"]) == (end["pid"], end["tid"]) and holds(s, end)]
    return names[found["pid"]] + ": " + found["name"].split("(")[0]

for e in slices:
    print("slice:", names[e["pid"]], lanes[e["pid"], e["tid"]], e["name"])
for begin in (e for e in events if e["ph"] == "s"):
    [end] = [e for e in events if e["ph"] == "f" and e["id"] == begin["id"]]
    assert begin["ts"] < end["ts"]
    print("arrow:", begin["name"], at(begin), "->", at(end))
PYTHON
repository=$(dirname "$test")/../..
drawn() { run node "$repository/tests/shell/page_script.js" page.html; }

record early
run "$csan" report --html=page.html --dot=page.dot --perfetto=page.trace app.*.csan
check "csan report of two processes ends with 0" ended 0
check "... and says what it put in order" notes '^csan report: 2 processes in order: .* 1 races between processes'
run python3 trace.py page.trace
check "... in a trace each process has its own lanes" says '^slice: rank 0 stream A of rank 0 '
check "... the other one, too" says '^slice: rank 1 stream A of rank 1 '
check "... an arrow goes from one's record to the other's wait" \
    says '^arrow: message rank 0: record shared event -> rank 1: wait for shared event$'
check "... and the race from process to process" says '^arrow: race 1 rank 0: [a-z_]+ -> rank 1: [a-z_]+$'
check "... a wait for all lanes is one for those of its process" times 0 '^arrow: order (rank .): .* -> (rank 0: .*rank 1|rank 1: .*rank 0)'
check "in a graph each process is a cluster" eval 'grep -q "label=\"rank 0\"" page.dot && grep -q "label=\"rank 1\"" page.dot'
check "... with messages from one to the other" grep -q 'color=blue' page.dot
if command -v dot >/dev/null; then
    run dot -Tsvg page.dot
    check "... which Graphviz takes" ended 0
fi
if command -v node >/dev/null; then
    drawn
    check "on the page each process has a band over its lanes" eval 'says "^g rank 0$" && says "^g rank 1$"'
    check "... lanes stand below it without its name" says '^g stream A of rank 0, created at .*[0-9]stream A'
    check "... the record and the wait are there" says '^g\.sync .* of rank 1: wait for shared event, from .* of rank 0'
    check "... both accesses, with their lines" eval \
        'says "^g\.access stream A of rank 0: .*program.h:[0-9]+" && says "^g\.access stream A of rank 1: .*program.h:[0-9]+"'
    check "... and a word for such arrows" says 'message, collective call or shared event'
fi

# Races within a process are drawn in its group, and are no others than csan replay finds.
rm -f app.*.csan
for rank in 0 1; do
    RANK=$rank run "$csan" record --device=embedded -o app.%r.csan "$plain/halves_overlapping"
done
run "$csan" report --html=page.html --format=text app.*.csan
check "the same race of two processes is one" times 1 '^CSAN: data race'
check "... seen by both" says '^Seen by ranks 0, 1 of 2 processes'
if command -v node >/dev/null; then
    drawn
    check "... and drawn with the lanes of one" eval \
        'says "^g rank 0$" && [ "$(grep -c "^g\.access stream [AB] of rank 0: " out)" = 2 ]'
fi
run "$csan" report --format=json -o two.json app.0.csan app.1.csan
run "$csan" report --html=page.html two.json app.1.csan
check "a report in JSON and a recording make one page" ended 0

# ---- What is missing

record event
rm app.0.csan
merge
check "one recording alone has no order" ended 2
check "... which is said" notes '--order needs the recordings of at least two processes'

record killed
merge
check "the recording of a process that was killed is merged up to its end" ended 2
check "... and what is in order there is not reported" times 0 '^CSAN: data race'
check "... the message names the process" notes '^csan merge: rank 0: app\.0\.csan: byte [0-9]+: the recording stops'

# What orders the two is cut off: the race that seems to be there is called possible.
record token
head -c 2100 app.0.csan >short && mv short app.0.csan
merge
check "a message that is missing makes no certain race" times 0 '^Race [0-9]+ is certain'

# Recordings of two runs do not belong together: their handles and messages differ.
record token
mv app.0.csan other.0.csan
record token
run timeout 60 "$csan" merge --order other.0.csan app.1.csan
check "recordings that do not belong together end without a certain race" \
    times 0 '^Race [0-9]+ is certain'
check "... the message says which message is missing" \
    notes '^csan merge: rank 1 received a message that no recording sends: races .* possible ones$'
record barrier
run timeout 60 "$csan" merge --order other.0.csan app.1.csan
check "... and which barrier" notes 'rank 1 left a collective call or barrier that not all of its processes'

# ---- A process that another one starts

for how in spawn fork vfork; do
    rm -f app.*.csan
    run "$csan" record --device=embedded -o app.%p.csan "$plain/parent_child" $how
    check "a process that uses the memory of the one that started it ($how)" eval 'ended 0 && says "^right$"'
    merge
    check "... is no wait for an event" notes ' 0 waits for shared events'
    check "... knows what that one had waited for" eval 'ended 0 && notes " 0 races between processes, 0 of them possible$"'
    rm -f app.*.csan
    run "$csan" record --device=embedded -o app.%p.csan "$plain/parent_child" $how early
    merge
    check "... and not what was waited for later" eval 'ended 66 && says "^Race 1 is certain"'
done

# ---- Ranks of NCCL

pair=$plain/nccl_processes
for mode in all_reduce split ahead broadcast reduce exchange send graph graph_two_calls graph_inside graph_second\
    registered; do
    record $mode
    check "each rank of NCCL is right by itself ($mode)" ended 0
    merge
    check "... and the two are in order" ended 0
    check "... of which nothing is missing" notes '0 races between processes, 0 of them possible'
done
for mode in broadcast_of_reader reduce_to_writer written_behind none graph_reduce_to_writer graph_behind graph_first\
    graph_again registered_behind; do
    record $mode
    check "each rank is right by itself where NCCL orders nothing ($mode)" ended 0
    merge
    check "... which is reported" ended 66
    check "... as certain" says '^Race 1 is certain'
    check "... with both ranks" says '^Seen by ranks 0, 1 of 2 processes'
done

# ---- Windows of NCCL

pair=$plain/nccl_windows
for mode in waited two_puts reused bare_signal bare_signal_same_index other_part group second_window deregistered kernel; do
    record $mode
    check "each rank with a window is right by itself ($mode)" ended 0
    merge
    check "... and the two are in order" ended 0
    check "... of which nothing is missing" notes '0 races between processes, 0 of them possible'
done
for mode in no_wait one_of_two reused_early signal_of_reader signal_first signal_first_same_index other_window; do
    record $mode
    check "each rank is right by itself where no signal orders a put ($mode)" ended 0
    merge
    check "... which is reported" ended 66
    check "... as certain" says '^Race 1 is certain'
    check "... with both ranks" says '^Seen by ranks 0, 1 of 2 processes'
    check "... and the call that puts" says "^ncclPutSignal$"
    check "... and how its signal helps" says '^Fix: if the put is to come first, wait for its signal in rank 1 '
done
record kernel_early
merge
check "a kernel that uses another rank's window is compared" says '^Race 1 is certain'
check "... with both ranks" says '^Seen by ranks 0, 1 of 2 processes'
record captured
merge
check "a put in a graph is not followed" says '^Race 1 is possible'
