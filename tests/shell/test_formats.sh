# Reports for tools: JSON and SARIF, of live runs, replays and csan report; csan merge.

says() { grep -Eq -- "$1" err; }
has() { grep -Eq -- "$2" "$1"; }
ended() { [ "$status" = "$1" ]; }
csan=$root/bin/csan program=$programs/stream_nonblocking_pair
source=$(dirname "$test")/../..
good_json() { "$root/tests/schema_check" "$source/include/csan/csan-report.schema.json" "$@"; }
good_sarif() { "$root/tests/schema_check" "$source/tests/data/schema/sarif.json" "$@"; }
kernels='"name": "fill\(int\*, int, int\)"'

# Live.
run env CSAN=1 CSAN_OPTIONS=format=json:log_path=live.%p.json "$program"
check "a run with format=json ends as any other" ended 66
check "it prints nothing else" test ! -s err
mv live.*.json live.json
check "its file is as the schema says" good_json live.json
check "its file has the race" has live.json "$kernels"
check "its file has the summary" has live.json '"races": 1, "possible": 0'
run env CSAN=1 CSAN_OPTIONS=format=sarif:log_path=live.%p.sarif "$program"
mv live.*.sarif live.sarif
check "SARIF is as its standard says" good_sarif live.sarif
check "SARIF has the race's place" has live.sarif '"uri": "[^"]*tests/integration/program.h"'
check "a certain race is an error there" has live.sarif '"ruleId": "csan/data", "ruleIndex": 0, "level": "error"'
check "a run that came to its end was successful" has live.sarif '"executionSuccessful": true'
run env CSAN=1 CSAN_OPTIONS=format=json:log_path=stdout "$program"
sed '/^done$/d' out >piped.json
check "a document on standard output comes whole, at the end" good_json piped.json
run env CSAN=1 CSAN_OPTIONS=format=json:log_path=clean.%p.json "$programs/stream_same"
mv clean.*.json clean.json
check "a clean run has a document, too" good_json clean.json
check "... without races" has clean.json '"races": 0, "possible": 0'
run env CSAN=1 CSAN_OPTIONS=format=json:log_path=halted.%p.json:halt_on_error=1 "$program"
mv halted.*.json halted.json
check "a program that is halted leaves a whole document" good_json halted.json
check "... which says that it did not come to its end" has halted.json '"summary": null'
check "... and has the race" has halted.json "$kernels"
run env CSAN=1 CSAN_OPTIONS=format=json:log_path=/no/such/directory/x "$program"
check "a document that cannot be written is named" says '/no/such/directory/x'
check "... and comes on standard error" has err '"format": "csan-report"'
run env CSAN=1 CSAN_OPTIONS=format=xml "$program"
check "an unknown format is said" says 'format=xml: write one of text|json|sarif'
run "$csan" run --format=sarif --options=log_path=asked.sarif.%p "$plain/example_error"
check "csan run --format ends as any other" ended 66
mv asked.sarif.* asked.sarif
check "... and writes that" good_sarif asked.sarif
run "$csan" run --format=xml "$plain/example_error"
check "csan run refuses other formats" ended 2
check "... and names those there are" says "no format 'xml'; write text, json or sarif"

# What is wrong is found.
sed 's/"kind": "data"/"kind": "date"/' live.json >wrong.json
check "the schema is one: a wrong value" sh -c "! '$root/tests/schema_check' '$source/include/csan/csan-report.schema.json' wrong.json 2>/dev/null"
sed 's/"seen_by"/"seenby"/' live.json >wrong.json
check "the schema is one: a missing key" sh -c "! '$root/tests/schema_check' '$source/include/csan/csan-report.schema.json' wrong.json 2>/dev/null"
sed 's/"startLine"/"line"/' live.sarif >wrong.sarif
check "SARIF's rules are some" sh -c "! '$root/tests/schema_check' '$source/tests/data/schema/sarif.json' wrong.sarif 2>/dev/null"

# Recorded.
for rank in 0 1 3; do
    RANK=$rank run env CSAN=1 CSAN_OPTIONS=record=rank.%r.csan "$program"
    check "rank $rank has its own recording" test -s rank.$rank.csan
done
run "$csan" replay --format=json rank.0.csan
check "a replay in JSON ends with 66" ended 66
cp out replay.json
check "a replay writes JSON" good_json replay.json
check "... of the recorded process" has replay.json '"rank": 0, .*"file": "rank.0.csan"'
run "$csan" replay --format=sarif rank.0.csan
cp out replay.sarif
check "a replay writes SARIF" good_sarif replay.sarif
run "$csan" replay --format=yaml rank.0.csan
check "a replay refuses other formats" ended 2
run "$csan" report --format=json -o report.json rank.0.csan
check "csan report ends with 0" ended 0
check "csan report writes JSON" good_json report.json
run "$csan" report --format=sarif report.json
cp out report.sarif
check "csan report reads JSON and writes SARIF" good_sarif report.sarif
run "$csan" report rank.0.csan
cp out report.txt
run "$csan" replay rank.0.csan
apart='^The calls of the two accesses came [0-9.]* [num]*s apart, by the host.s clock\.$'
check "csan report prints what a replay prints, and how far apart the calls were" \
    sh -c "grep -v '^csan: ' report.txt | grep -v \"$apart\" >a; grep -v '^csan: ' err >b; cmp a b"
check "... which every race has" test "$(grep -c "$apart" report.txt)" = "$(grep -c '^CSAN: ' report.txt)"
fingerprint() { grep -o '"fingerprint": "[0-9a-f]*"' "$1"; }
check "a race has one fingerprint, live and replayed" test "$(fingerprint live.json)" = "$(fingerprint replay.json)"
run "$csan" report --gen-suppressions -o gen.supp rank.0.csan
run "$csan" replay --options=suppressions=gen.supp rank.0.csan
check "what --gen-suppressions writes suppresses" ended 0
run "$csan" report -o /no/such/directory/x rank.0.csan
check "an output that cannot be written ends with 2" ended 2
check "... and is named" says '/no/such/directory/x'
head -c 900 rank.0.csan >cut.csan
run "$csan" report --format=json cut.csan
check "csan report of a recording that is cut off ends with 2" ended 2
head -c 900 live.json >cut.json
run "$csan" report cut.json
check "csan report of a document that is cut off ends with 2" ended 2
check "... and says where" says 'cut.json: line 4, byte [0-9]+'
echo '{"a": 1}' >foreign.json
run "$csan" report foreign.json
check "foreign JSON is said" says 'no report of csan'
sed 's/"version": 1,/"version": 9,/' live.json >newer.json
run "$csan" report newer.json
check "a newer report is said" says 'newer csan'

# All that was asked for, in one call, and never over what is read.
run "$csan" report --format=json -o all.json --sarif=all.sarif --text all.txt --html=all.html --dot=all.dot --perfetto=all.trace rank.0.csan
check "csan report writes several outputs" ended 0
check "... JSON" good_json all.json
check "... SARIF" good_sarif all.sarif
check "... text" cmp -s all.txt report.txt
check "... a page, a graph and a trace" test -s all.html -a -s all.dot -a -s all.trace
check "... and nothing on standard output" test ! -s out
run "$csan" report --html=page.html --format=text rank.0.csan
check "a format without a file goes to standard output, beside others" cmp -s out report.txt
run "$csan" report --format=sarif --format=json -o one.json rank.0.csan
check "two formats and one file: the first has it" good_sarif one.json
cp out two.json
check "... the other is on standard output" good_json two.json
run "$csan" report --format=sarif --format=json rank.0.csan
check "two formats for standard output are refused" ended 2
check "... and it says what to write" says 'two outputs for standard output; give each a file, as with --json=FILE'
run "$csan" report --json=x.out --sarif=./x.out rank.0.csan
check "two outputs for one file are refused" ended 2
ln -s rank.0.csan link.csan
cp rank.0.csan before.csan
for output in rank.0.csan ./rank.0.csan link.csan; do
    run "$csan" report --html=$output rank.0.csan
    check "csan report does not write over what it reads: $output" ended 2
    check "... says so" says "'$output' is read, so it is not written over"
    run "$csan" merge -o $output live.json rank.0.csan
    check "nor does csan merge: $output" ended 2
done
run "$csan" report --json=live.json --baseline=live.json rank.0.csan
check "nor over a baseline" ended 2
check "and the recording is as it was" cmp -s rank.0.csan before.csan
check "so is the report" good_json live.json

# Many ranks.
run env RANK=4 CSAN=1 CSAN_OPTIONS=format=json:log_path=rank.%r.json "$program"
RANK=5 run env CSAN=1 CSAN_OPTIONS=record=rank.%r.csan "$programs/halves_overlapping"
run "$csan" merge rank.*.csan rank.4.json
check "csan merge ends with 66" ended 66
check "csan merge has a race once" test "$(grep -c '^CSAN: data race' out)" = 2
check "... with its ranks" has out '^Seen by ranks 0, 1, 3, 4 of 5 processes\.$'
check "... and one that a single rank saw" has out '^Seen by rank 5 of 5 processes\.$'
check "... numbered anew" has out '^Race 2 is certain'
check "... and adds up" has out '^csan: [0-9]+ ops of 5 processes, 2 races, 0 possible races'
run "$csan" merge --format=json -o merged.json rank.*.csan rank.4.json
check "csan merge writes JSON" good_json merged.json
check "... with the processes of each race" has merged.json '"seen_by": \[0, 1, 2, 4\]'
run "$csan" merge --format=sarif merged.json
cp out merged.sarif
check "csan merge reads what it wrote" good_sarif merged.sarif
check "SARIF has a result for each race" test "$(grep -c '"ruleId"' merged.sarif)" = 2
run "$csan" merge clean.json
check "csan merge of a clean run ends with 0" ended 0
run "$csan" merge --format=json clean.json missing.csan
check "csan merge that lacks a file has no summary" has out '"summary": null'
run "$csan" merge rank.0.csan cut.json missing.csan
check "csan merge with bad files ends with 2" ended 2
check "... names each" says 'missing.csan'
check "... and merges the others" has out '^CSAN: data race'

for launcher in OMPI_COMM_WORLD_RANK PMI_RANK SLURM_PROCID; do
    run env $launcher=7 CSAN=1 CSAN_OPTIONS=format=json:log_path=$launcher.%r.%h.json "$program"
    check "%r is $launcher, %h the machine" test -s "$launcher.7.$(hostname).json"
done

# Commands that read a program's reports have them in words, whatever is set.
run env CSAN_OPTIONS=format=json "$csan" explore --runs=5 "$plain/missing_wait"
check "csan explore does not mind format=json" ended 66
run env CSAN_OPTIONS=format=json "$csan" mutate "$plain/missing_wait_fixed"
check "csan mutate does not mind format=json" has out 'needed; without it a race'
