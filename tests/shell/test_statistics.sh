# csan info --statistics: what a recording has, counted, and its needless waits; as text and as JSON.

prints() { grep -Eq -- "$1" out; }
ended() { [ "$status" = "$1" ]; }
csan=$root/bin/csan
sources=$(dirname "$test")/../..
schema() { "$root/tests/schema_check" "$sources/include/csan/csan-info.schema.json" "$@"; }
# The lines that the program marks, and those that are advice.
marked() { printf 'none '; grep -n 'needless$' "$sources/tests/integration/$1.cu" | grep -v '^[0-9]*://' | cut -d: -f1 | sort -n | tr '\n' ' '; }
advised() { python3 -c 'import json, sys
print("none", *sorted(a["line"] for a in json.load(open(sys.argv[1]))["advice"] if a["needless"]), end=" ")' "$1"; }

for program in waits_needless waits_needed; do
    run "$csan" record --device=embedded -o "$program.csan" "$plain/$program"
    check "$program is recorded" ended 0
    run "$csan" info --format=json "$program.csan"
    cp out "$program.json"
    check "$program: a document" ended 0
    check "... as the schema says" schema "$program.json"
    check "... that advises the marked lines ($(marked $program)), and no others" [ "$(advised "$program.json")" = "$(marked $program)" ]
done

run "$csan" info --statistics waits_needless.csan
check "calls by kind and device: kernels" prints '^ +9  0        kernels$'
check "... waits" prints '^ +12  0        waits of the host$'
check "... and what is of no device" prints '^ +3  -        accesses of the host$'
check "ops by name, with means" prints '^ +3 +0 +4096  fill\(int\*, int, int\)$'
check "a histogram of their bytes" prints '^ +[0-9]+  less than 32 KiB$'
check "waits by kind: of streams" prints '^ +15 +9  a stream waits for an event$'
check "... of the host, for a stream" prints '^ +6 +6  the host waits for a stream$'
check "... for the device" prints '^ +3 +0  the host waits for a device$'
check "... in copies" prints '^ +3 +0  the host waits in a copy or set$'
check "the most frequent needless wait, with its line" prints '^ +3  event wait at main .*waits_needless.cu:[0-9]+$'
check "... and which wait has ordered it" prints 'the wait at main .*waits_needless.cu:[0-9]+ has ordered that before'
check "... or that it is its own stream's" prints 'recorded in the stream that waits'
check "what csan cannot know is said" prints '^A wait may also be there for an error code, a clock or another process'
check "and what tries the others" prints 'csan mutate'
run "$csan" info waits_needless.csan
check "without --statistics there is none of it" bash -c '! grep -q "Needless" out'

# Two devices: each call counts for its own.
run env CSAN_DEVICES=2 "$csan" record --device=embedded -o devices.csan "$plain/devices_event_orders"
run "$csan" info --format=json devices.csan
cp out devices.json
check "two devices: as the schema says" schema devices.json
counted() { python3 -c 'import json, sys
print(" ".join(sorted("%s:%s:%d" % (c["kind"], c["device"], c["calls"]) for c in json.load(open(sys.argv[1]))["calls"])))' "$1"; }
check "... with their calls" [ "$(counted devices.json)" = "allocation:0:1 allocation:1:1 host-wait:0:1 host-wait:1:1 kernel:0:1 kernel:1:1 record:0:1 stream-wait:1:1" ]

# What is as it has to be.
run "$csan" record --device=embedded -o fixed.csan "$plain/missing_wait_fixed"
run "$csan" info --statistics fixed.csan
check "a program without needless waits" prints '^No needless waits'

# Recordings of before: no step says who waited.
run "$csan" info --format=json "$sources/tests/data/recording/format_1.11.csan"
cp out old.json
check "an older recording is described" schema old.json
check "... without advice" [ "$(advised old.json)" = "none " ]

# A recording that is cut off.
head -c $(($(wc -c <waits_needless.csan) - 60)) waits_needless.csan >cut.csan
run "$csan" info --format=json cut.csan
check "a recording that is cut off ends with 2" ended 2
check "... and its document says so" prints '"complete": false'

run "$csan" info --format=xml fixed.csan
check "no other formats" ended 2
