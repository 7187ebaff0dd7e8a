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
    [found] = [s for s in slices if s["tid"] == end["tid"] and s["ts"] == end["ts"]]
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

# ---- time

cat >made.py <<'PYTHON'
import json, sqlite3, sys
trace = json.load(open("wait.json"))
base = trace["baseTimeNanoseconds"]
[slice] = [e for e in trace["traceEvents"] if e["ph"] == "X" and e["name"].startswith("add")]
at = base + int(slice["ts"] * 1000)  # when add was called, in nanoseconds since 1970

# PyTorch's: an operator around the call, by a base of its own; and as before PyTorch 2.3, since 1970.
own = at - 5_000_000_000
event = {"ph": "X", "cat": "cpu_op", "name": "aten::add", "pid": 7, "tid": 7, "dur": 20}
document = {"displayTimeUnit": "ms", "baseTimeNanoseconds": own, "traceEvents": [event | {"ts": 5e6 - 10}]}
json.dump(document, open("profiler.json", "w"))
document = {"traceEvents": [event | {"ts": at / 1000 - 10}]}
json.dump(document, open("older.json", "w"))
json.dump({"traceEvents": [event | {"ts": 3}]}, open("timeless.json", "w"))

# Nsight Systems': a session that began two seconds before, with a kernel, a call and a copy.
database = sqlite3.connect("nsight.sqlite")
database.executescript(f"""
    CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT NOT NULL);
    CREATE TABLE TARGET_INFO_SESSION_START_TIME (utcEpochNs INTEGER, utcTime TEXT, localTime TEXT);
    CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INT, end INT, deviceId INT, streamId INT, correlationId INT, demangledName INT, shortName INT);
    CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INT, end INT, globalTid INT, correlationId INT, nameId INT);
    CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (start INT, end INT, deviceId INT, streamId INT, bytes INT, copyKind INT);
    INSERT INTO StringIds VALUES (1, 'add(float*)'), (2, 'cudaLaunchKernel');
    INSERT INTO TARGET_INFO_SESSION_START_TIME VALUES ({at - 2_000_000_000}, '', '');
    INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (2000004000, 2000009500, 1, 13, 1, 1, 1);
    INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (1999999000, 2000001000, {(1 << 48) + (4321 << 24) + 4322}, 1, 2);
    INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES (2000010000, 2000011000, 1, 13, 4096, 1);
""")
database.commit()
PYTHON
cat >beside.py <<'PYTHON'
import json, sys
trace = json.load(open(sys.argv[1]))
slices = [e for e in trace["traceEvents"] if e["ph"] == "X"]
names = {e["pid"]: e["args"]["name"] for e in trace["traceEvents"] if e["name"] == "process_name"}
[add] = [e for e in slices if e["name"].startswith("add(") and e["cat"] == "op"]
for e in slices:
    if e["cat"] not in ("op", "order"):
        print(f"{e['name']}: {e['ts'] - add['ts']:.1f} for {e['dur']:g} in {e['pid']}/{e['tid']}")
print("processes:", ", ".join(names.values()))
PYTHON
run python3 -c 'import json, time; print(time.time() - json.load(open("wait.json"))["baseTimeNanoseconds"] / 1e9)'
check "a trace says when its first call was" sh -c "awk '{ exit !(\$1 >= 0 && \$1 < 300) }' out"
check "... and who wrote it" has wait.json "csan: calls by the host's clock"
run python3 made.py
for one in profiler older; do
    run "$csan" report wait.csan --perfetto both.json --with $one.json
    check "a trace of PyTorch's profiler is drawn beside ($one)" ended 0
    run python3 beside.py both.json
    check "... and csan's lanes come below it" has both.json '"pid": 1000000001, "name": "process_sort_index", "args": \{"sort_index": 1000000001\}'
    check "... at its time" has out '^aten::add: -10\.[0-4] for 20 in 7/7$|^aten::add: -9\.[6-9] for 20 in 7/7$'
done
run "$csan" report wait.csan --perfetto both.json --with nsight.sqlite
if [ "$status" != 0 ] && says 'no libsqlite3'; then
    echo "# test_report_graph: no SQLite here: no export of Nsight Systems is read"
else
    check "an export of Nsight Systems, too" ended 0
    run python3 beside.py both.json
    check "... kernels" has out '^add\(float\*\): [34]\.[0-9] for 5\.5 in 2000000001/13$'
    check "... calls of their threads" has out '^cudaLaunchKernel: -[01]\.[0-9] for 2 in 4321/4322$'
    check "... copies" has out '^copy of 4096 bytes: (9|10)\.[0-9] for 1 in 2000000001/13$'
    check "... on a device that is named" has out '^processes: csan: .*, GPU 1 \(Nsight Systems\)$'

    # Copies of it in which something is wrong. A page is damaged where a table begins, or where the
    # list of tables is; the list of tables begins behind the database's header of 100 bytes.
    cat >wrong.py <<'PYTHON'
import shutil, sqlite3

def wrong(name, *statements):
    shutil.copy("nsight.sqlite", name)
    database = sqlite3.connect(name)
    for statement in statements:
        database.execute(statement)
    database.commit()

def damaged(name, table):
    shutil.copy("nsight.sqlite", name)
    database = sqlite3.connect(name)
    [bytes] = database.execute("PRAGMA page_size").fetchone()
    page = 1
    if table:
        [page] = database.execute("SELECT rootpage FROM sqlite_master WHERE name = ?", [table]).fetchone()
    database.close()
    with open(name, "r+b") as file:
        file.seek((page - 1) * bytes + (100 if page == 1 else 0))
        file.write(b"\377" * 8)

wrong("startless.sqlite", "DROP TABLE TARGET_INFO_SESSION_START_TIME")
wrong("empty.sqlite", *("DELETE FROM CUPTI_ACTIVITY_KIND_" + kind for kind in ("KERNEL", "RUNTIME", "MEMCPY")))
wrong("older.sqlite", "CREATE TABLE NVTX_EVENTS (start INT, end INT, globalTid INT, text TEXT)")
wrong("nameless.sqlite", "DROP TABLE StringIds")
damaged("kernels.sqlite", "CUPTI_ACTIVITY_KIND_KERNEL")
damaged("copies.sqlite", "CUPTI_ACTIVITY_KIND_MEMCPY")
damaged("start.sqlite", "TARGET_INFO_SESSION_START_TIME")
damaged("list.sqlite", None)
PYTHON
    run python3 wrong.py
    for one in "startless:does not say when its session began \(TARGET_INFO_SESSION_START_TIME\)" \
        "empty:has no kernel, copy, call or range .* nsys export --type sqlite" "kernels:malformed" "copies:malformed" \
        "start:malformed" "list:malformed"; do
        run "$csan" report wait.csan --perfetto x.json --with "${one%%:*}.sqlite"
        check "an export with something wrong is refused (${one%%:*})" ended 2
        check "... and why" says "--with='${one%%:*}.sqlite': .*${one#*:}"
    done
    run "$csan" report wait.csan --perfetto both.json --with older.sqlite
    check "an export whose table lacks a column is drawn without it" ended 0
    check "... which is said" says "--with='older.sqlite': its table NVTX_EVENTS is left out: no such column: textId"
    run python3 beside.py both.json
    check "... with its other tables" has out '^copy of 4096 bytes: '
    run "$csan" report wait.csan --perfetto both.json --with nameless.sqlite
    check "without the table of names, too" ended 0
    check "... each table with names is named" test "$(grep -c 'KIND_[KR].* is left out: no such table: StringIds' err)" = 2
    run "$csan" report wait.csan --perfetto both.json --with nsight.sqlite
    check "a table that is not there is no word worth" sh -c '! grep -q "left out" err'
fi
head -c 3000 nsight.sqlite >cut.sqlite
gzip -k profiler.json
printf '{"type":"String","id":"1","value":"a"}\n{"type":"String","id":"2","value":"b"}\n' >lines.json
for one in lines.json:sqlite "timeless.json:no baseTimeNanoseconds" "wait.csan:line 1|JSON|expected" "cut.sqlite:session|open|damaged|SQLite" \
    "profiler.json.gz:gunzip" "/no/such/file:No such file"; do
    run "$csan" report wait.csan --perfetto x.json --with "${one%%:*}"
    check "${one%%:*} is refused" ended 2
    check "... and why" says "--with='.*${one%%:*}': .*(${one#*:})"
done
check "... and nothing was written" [ ! -e x.json ]

names() { python3 -c 'import json, sys
print(*sorted(e["name"].split("(")[0] for e in json.load(open(sys.argv[1]))["traceEvents"] if e["ph"] == "X"))' "$1"; }
run "$csan" record -o operator.csan -- "$programs/operator_output"
run "$csan" report operator.csan --perfetto operator.json
check "an operator has its short name" has operator.json '"name": "demo::like", .*"operator": "demo::like\(Tensor self\) -> Tensor"'
run "$csan" record -o elapsed.csan -- "$programs/event_elapsed_time_orders"
run "$csan" report elapsed.csan --perfetto elapsed.json
cat >spans.py <<'PYTHON'
import json, sys
events = [e for e in json.load(open(sys.argv[1]))["traceEvents"] if e.get("cat") == "device"]
begin, end = events
assert (begin["ph"], end["ph"], begin["id"], begin["tid"]) == ("b", "e", end["id"], end["tid"])
took = end["args"]["milliseconds"]
assert 0 <= took < 60000 and abs(end["ts"] - begin["ts"] - took * 1000) <= 0.2
records = {e["ts"]: e["tid"] for e in json.load(open(sys.argv[1]))["traceEvents"] if e["name"] == "record event"}
print("of its stream" if records[begin["ts"]] == begin["tid"] else records, begin["name"])
PYTHON
run python3 spans.py elapsed.json
check "what the device took between two records" has out "^of its stream event [0-9]+ to event [0-9]+, by the device's clock"
run "$csan" replay elapsed.csan
check "a recording with such times is replayed" ended 0
run "$csan" report wait.csan --perfetto part.json --stream 'stream C'
check "one stream" test "$(names part.json)" = "add wait for event"
run "$csan" report wait.csan --perfetto part.json --stream 'stream C' --stream 'stream A'
check "two streams" test "$(names part.json)" = "add produce record event wait for event"
run "$csan" report wait.csan --perfetto part.json --from 3600
check "nothing is an hour later" test "$(names part.json)" = ""
run "$csan" report wait.csan --perfetto part.json --from 0 --to 3600
check "all is within it" test "$(names part.json)" = "$(names wait.json)"
run "$csan" report wait.csan --perfetto part.json --race 1
check "what is around a race" test "$(names part.json)" = "$(names wait.json)"
run "$csan" report wait.csan --perfetto part.json --race 2
check "there is no second one" ended 2
check "... and it says so" says 'no report has that number'
run "$csan" report wait.csan --perfetto part.json --from soon
check "a time is a number" ended 2
run "$csan" report wait.csan --stream A
check "a stream is chosen for a trace alone" says 'are for --perfetto'

# A recording of format 1.11, without times: samples/missing_wait.cu.
old=$(dirname "$test")/../data/recording/format_1.11.csan
run "$csan" replay "$old"
check "a recording without times is replayed" says 'add .* does not wait for produce'
run "$csan" report "$old" --text old.txt --perfetto old.json
check "... and reported" ended 0
check "... without a word on time" sh -c '! grep -q apart old.txt'
check "its trace shows the order alone" has old.json 'csan: order, not time'
run python3 trace.py old.json
check "... with its arrows" has out '^flow: race 1 produce add'
run "$csan" report "$old" --perfetto x.json --with profiler.json
check "no other trace can be drawn beside it" says 'the recording has no times'
