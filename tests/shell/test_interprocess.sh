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

for mode in event synced token barrier tensor descriptor; do
    record $mode
    check "by itself each process is right ($mode)" ended 0
    merge
    check "... and the two are in order" ended 0
    check "... of which nothing is missing" notes '0 races between processes, 0 of them possible'
    check "... nor said to be unseen" times 0 'shared with other processes'
done

# ---- What does not

for mode in none early opened undeclared tensor_early descriptor_early; do
    record $mode
    check "each process of a race between two is right by itself ($mode)" ended 0
    run "$csan" merge app.*.csan
    check "... and csan merge without --order sees nothing" ended 0
    merge
    check "... which csan merge --order reports" ended 66
    check "... once" times 1 '^CSAN: data race: '
    check "... with the stream of the one" says "^(Access|Previous access) by stream 'A of rank 0'"
    check "... and of the other" says "^(Access|Previous access) by stream 'A of rank 1'"
    check "... and the stack of the one" says '#[0-9]+ (writer|tensor_sender|exporter) .*interprocess\.cu:[0-9]+'
    check "... and of the other" says '#[0-9]+ (reader|tensor_receiver|importer) .*interprocess\.cu:[0-9]+'
    check "... and both ranks" says '^Seen by ranks 0, 1 of 2 processes'
    check "... as certain" says '^Race 1 is certain'
    check "... with a fix for two processes" says '^Fix: in rank [01], record an event that both have'
done
run "$csan" merge --order --json=doc.json app.*.csan
check "the document names both processes" grep -Eq '"rank": ?1' doc.json

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

# ---- Ranks of NCCL

pair=$plain/nccl_processes
for mode in all_reduce split ahead broadcast reduce exchange send; do
    record $mode
    check "each rank of NCCL is right by itself ($mode)" ended 0
    merge
    check "... and the two are in order" ended 0
    check "... of which nothing is missing" notes '0 races between processes, 0 of them possible'
done
for mode in broadcast_of_reader reduce_to_writer written_behind none; do
    record $mode
    check "each rank is right by itself where NCCL orders nothing ($mode)" ended 0
    merge
    check "... which is reported" ended 66
    check "... as certain" says '^Race 1 is certain'
    check "... with both ranks" says '^Seen by ranks 0, 1 of 2 processes'
done
