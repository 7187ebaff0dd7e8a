# Findings that are no races, in every form that csan writes: JSON, SARIF, the page, graph and trace,
# suppressions and a baseline, merged; and again from a recording.

says() { grep -Eq -- "$1" err; }
has() { grep -Eq -- "$2" "$1"; }
lacks() { ! grep -Eq -- "$2" "$1"; }
ended() { [ "$status" = "$1" ]; }
csan=$root/bin/csan
source=$(cd "$(dirname "$test")/../.." && pwd)
good_json() { "$root/tests/schema_check" "$source/include/csan/csan-report.schema.json" "$@"; }
good_sarif() { "$root/tests/schema_check" "$source/tests/data/schema/sarif.json" "$@"; }
# The text that a page's script makes, where there is node to run it.
page="node $source/tests/shell/page_script.js"
line() { grep -n "at: $2\$" "$source/tests/integration/$1.cu" | cut -d: -f1; }

# Live. The device works by itself once the program has called nothing for a while: later, if it is lazy. So a
# slow machine does not choose which call reports.
for name in launch_past_end kernel_misaligned; do
    for form in json sarif; do
        run env CSAN=1 CSAN_SCHEDULE=lazy CSAN_OPTIONS=format=$form:log_path=$name.$form "$programs/$name"
        check "$name in $form ends with 66" ended 66
        mv $name.$form.* $name.$form
    done
    check "$name: JSON is as the schema says" good_json $name.json
    check "$name: SARIF is as its standard says" good_sarif $name.sarif
done
check "JSON: the class of a finding" has launch_past_end.json '"finding": "out_of_bounds", "kind": "out-of-bounds", "certain": true'
check "JSON: where the bytes are" has launch_past_end.json '"where": "behind", "distance": 0'
check "JSON: a kernel that failed" has kernel_misaligned.json '"finding": "device_exception"'
check "JSON: what it met" has kernel_misaligned.json '"exception": "misaligned memory access", "code": "CUDA_ERROR_MISALIGNED_ADDRESS"'
check "JSON: the thread" has kernel_misaligned.json '"grid": \[2, 1, 1\], "block_size": \[32, 1, 1\], "block": \[1, 0, 0\], "thread": \[3, 0, 0\], "threads": 1'
check "JSON: the line" has kernel_misaligned.json "\"place\": \"[^\"]*kernel_misaligned.cu:$(line kernel_misaligned line)\""
check "JSON: the reporting call" has kernel_misaligned.json '"reported_by": \{"name": "cudaDeviceSynchronize"'
check "JSON: how much came between" has kernel_misaligned.json '"launches_since": 1'
check "JSON: the summary counts them" has launch_past_end.json '"races": 0, "possible": 0, "errors": 2'
check "SARIF: a rule for it" has launch_past_end.sarif '"ruleId": "csan/out-of-bounds", "ruleIndex": 6, "level": "error"'
check "SARIF: the headline" has kernel_misaligned.sarif '"text": "Misaligned memory access in misaligned \('
check "SARIF: the line that failed" has kernel_misaligned.sarif "kernel_misaligned.cu\"}, \"region\": {\"startLine\": $(line kernel_misaligned line)}}.*Instruction that failed"
check "SARIF: the reporting call" has kernel_misaligned.sarif '"Call that reported it: cudaDeviceSynchronize"'

# Read again, merged, beside a baseline.
run "$csan" report --format=json -o again.json kernel_misaligned.json
check "csan report reads it" ended 0
errors_of() { sed -n '/"error": {/,/"accesses"/p' "$1"; }
check "... whole" has again.json '"error": \{'
check "... as it was written" cmp -s <(errors_of again.json) <(errors_of kernel_misaligned.json)
run "$csan" merge --format=json -o merged.json kernel_misaligned.json launch_past_end.json again.json
check "csan merge ends with 66" ended 66
check "... and has each once" test "$(grep -c '"number": ' merged.json)" = 3
check "... by the schema" good_json merged.json
run "$csan" merge --baseline=launch_past_end.json merged.json
check "what the baseline has is left out" has out '^csan: .* 1 other finding, 2 known \(baseline\)'
run env CSAN=1 CSAN_OPTIONS=baseline=kernel_misaligned.json "$programs/kernel_misaligned"
check "a run beside its own baseline is clean" ended 0
run "$csan" report --gen-suppressions -o gen.supp kernel_misaligned.json
run env CSAN=1 CSAN_OPTIONS=suppressions=gen.supp "$programs/kernel_misaligned"
check "what --gen-suppressions writes suppresses" ended 0
check "... and proposes a rule that outlives an edit" has gen.supp '^#error:device_exception \^misaligned\(char\*\)\$$'
run env CSAN=1 CSAN_OPTIONS=suppressions=gen.supp "$programs/launch_past_end"
check "... but no other finding" ended 66
echo 'error:device_exception fill' >kind.supp
run env CSAN=1 CSAN_OPTIONS=suppressions=kind.supp "$programs/launch_past_end"
check "a rule for a kind suppresses that kind" lacks err '^CSAN: illegal memory access'
check "... and no other" has err '^CSAN: out of bounds'
check "... and is counted" has err '^  1 error:device_exception fill'
echo 'error:out_of_bound' >wrong.supp
run env CSAN=1 CSAN_OPTIONS=suppressions=wrong.supp "$programs/launch_past_end"
check "a kind that there is not is said" says 'no such kind \(write out_of_bounds, .*error:out_of_bound'
run env CSAN=1 CSAN_OPTIONS=fail_on=possible "$programs/kernel_misaligned"
check "findings fail whatever fail_on says" ended 66

# Recorded, with a look at it and without.
for name in launch_past_end kernel_misaligned; do
    run env CSAN=1 CSAN_OPTIONS=record=$name.live.csan "$programs/$name"
    grep -v '^csan' err >live
    run "$csan" replay $name.live.csan
    check "$name: its replay ends with 66" ended 66
    check "$name: its replay says the same" cmp -s live <(grep -v '^csan: [0-9]' err)
    run "$csan" record -o $name.csan "$plain/$name"
    check "$name: what is only recorded is not reported" lacks err '^CSAN:'
    run "$csan" report --format=json -o $name.recorded.json $name.csan
    check "$name: csan report finds it in the recording" good_json $name.recorded.json
    check "$name: with the thread" cmp -s <(grep -o '"thread": .*, "threads"' $name.json) <(grep -o '"thread": .*, "threads"' $name.recorded.json)
done
check "csan dump names it" sh -c "'$csan' dump kernel_misaligned.csan | grep -q '^finding lane 1 .*\"exception misaligned memory access\"'"
run "$csan" report --html=recorded.html --dot=recorded.dot --perfetto=recorded.json kernel_misaligned.csan
check "a page, a graph and a trace are made of it" ended 0
check "the graph has the launch alone" has recorded.dot 'label="misaligned\(char\*\).*color=red'
check "... and no order that is missing" lacks recorded.dot missing

# No order mends them.
run "$csan" explore --runs=4 "$plain/kernel_misaligned"
check "csan explore counts it" has out '0 races, 0 confirmed; 1 other finding, no race, which csan run reports'
run "$csan" explore --runs=4 --format=json "$plain/kernel_misaligned"
cp out explored.json
check "... in JSON, too" "$root/tests/schema_check" "$source/include/csan/csan-explore.schema.json" explored.json
run "$csan" fix --runs=2 "$plain/kernel_misaligned"
check "so does csan fix" has out '^csan fix: no race is reported; 1 other finding, no race'
run "$csan" fix --runs=2 --format=json "$plain/kernel_misaligned"
cp out fixed.json
check "... in JSON, too" "$root/tests/schema_check" "$source/include/csan/csan-fix.schema.json" fixed.json

# Drawn.
run "$csan" report --html=page.html merged.json
check "a page is made of it" ended 0
if command -v node >/dev/null; then
    run $page page.html '#race-1'
    check "the page's script runs" ended 0
    cp out page.text
    check "it counts them" has page.text '^== shown 3 of 3 findings$'
    check "it has the headline" has page.text '^h2 Finding 1: misaligned memory access in misaligned \(kernel_misaligned.cu:[0-9]+\)$'
    check "... and what is known" has page.text '^tr Thread: block \(1,0,0\), thread \(3,0,0\)$'
    check "... the reporting call" has page.text '^tr Reported by: cudaDeviceSynchronize, kernel_misaligned.cu:[0-9]+, 1 launch later$'
    check "... the line that failed" has page.text '^▶ +[0-9]+ +\*\(int \*\)\(p \+ 6\) = 1; // at: line'
    check "... the launch" has page.text '^h4 Launched: misaligned$'
    check "... where the memory is from" has page.text '^h4 The memory was allocated$'
    run $page recorded.html
    check "its launch is drawn, on its stream" has out '^g.access stream A: misaligned\(char\*\)'
    check "... with what came after it" has out '^g.op stream A: fill\(int\*, int, int\)'
    check "... and no order that is missing" lacks out 'missing'
    run $page page.html '#race-2'
    check "another one, too" has out '^tr Which is: behind the end of an allocation of 4096 bytes'
    check "... and no access before" lacks out 'Earlier|Previous'
else
    echo "# test_errors: no node here: the page's script is not run"
fi
