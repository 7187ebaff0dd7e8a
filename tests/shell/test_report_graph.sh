# csan report --dot and --perfetto: the order around races as a graph, a recording as a trace.

says() { grep -Eq -- "$1" err; }
has() { grep -Eq -- "$2" "$1"; }
ended() { [ "$status" = "$1" ]; }
csan=$root/bin/csan

run "$csan" record -o wait.csan -- "$programs/missing_wait"
run "$csan" report wait.csan --dot wait.dot
check "csan report --dot ends with 0" ended 0
node() { sed -n "s/^ *\(r1_[0-9]*\) \[label=\"$1.*/\1/p" wait.dot; }
check "the missing order is dashed, from the earlier access to the later" \
    has wait.dot "$(node produce) -> $(node add) \[color=red, style=dashed"
check "a wait comes after the record of its event" \
    has wait.dot "$(node 'record event 1') -> $(node 'wait for event 1') \[color=darkgreen"
check "a lane has its own order" has wait.dot "$(node 'wait for event 1') -> $(node add) \[color=gray"
check "no wait is on the earlier access's event" \
    sh -c "! grep -q '$(node 'record event 2') -> $(node 'wait for event 1')' wait.dot"
if command -v dot >/dev/null; then
    run dot -Tsvg wait.dot
    check "Graphviz takes it" ended 0
    check "... with a word for the missing edge" has out '>missing<'
else
    echo "# test_report_graph: no dot here: the graph is not drawn"
fi

run "$csan" report wait.csan --perfetto wait.json
check "csan report --perfetto ends with 0" ended 0
cat >trace.py <<'PYTHON'
import json, sys
events = json.load(open(sys.argv[1]))["traceEvents"]
lanes = {e["tid"]: e["args"]["name"] for e in events if e["name"] == "thread_name"}
slices = [e for e in events if e["ph"] == "X"]

def slice_at(end):
    [found] = [s for s in slices if s["tid"] == end["tid"] and s["ts"] <= end["ts"] < s["ts"] + s["dur"]]
    return found["name"].split("(")[0]

for e in slices:
    assert e["tid"] in lanes
    print("slice:", e["name"], lanes[e["tid"]])
for begin in (e for e in events if e["ph"] == "s"):
    [end] = [e for e in events if e["ph"] == "f" and e["id"] == begin["id"]]
    assert begin["ts"] < end["ts"] and begin["cat"] == end["cat"] and end["bp"] == "e"
    print("flow:", begin["name"], slice_at(begin), slice_at(end))
PYTHON
run python3 trace.py wait.json
check "the trace is as its format says" ended 0
check "ops are on their streams" test "$(grep -c '^slice: \(produce\|add\)(.* stream [ABC]$' out)" = 3
check "memory is the host's" has out '^slice: cuMemAlloc the host'
check "an arrow goes from an event's record to its wait" has out '^flow: order record event wait for event'
check "an arrow joins the two accesses" has out '^flow: race 1 produce add'

run "$csan" report --format=json -o wait.report wait.csan
run "$csan" report --dot x.dot wait.report
check "a graph of a report is refused" ended 2
check "... which is said" says 'made of a recording'
run "$csan" report wait.csan --perfetto /no/such/directory/x
check "a trace that cannot be written ends with 2" ended 2
run "$csan" record -o clean.csan -- "$programs/example_error_fixed"
run "$csan" report --dot clean.dot clean.csan
check "without races there is an empty graph" has clean.dot '^digraph races'
run "$csan" report --perfetto clean.json clean.csan
run python3 trace.py clean.json
check "... and a whole trace" has out '^flow: order record event wait for event'
