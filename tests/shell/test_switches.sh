# CSAN, CSAN_OPTIONS and csan run, as the README describes them.

says() { grep -Eqi -- "$1" err; }
silent() { [ ! -s err ]; }
ended() { [ "$status" = "$1" ]; }
printed() { [ "$(cat out)" = "$1" ]; }

run "$programs/stream_nonblocking_pair"
check "without CSAN a linked program is not checked" silent
check "without CSAN the exit code is the program's" ended 0

run env CSAN=1 "$programs/stream_nonblocking_pair"
check "CSAN=1 reports" says '^CSAN: data race: '
check "CSAN=1 names both stacks" says 'With stack trace'
check "a race ends with 66" ended 66

run "$root/bin/csan" run "$plain/stream_nonblocking_pair"
check "csan run reports" says 'CSAN: data race'
check "csan run ends with the program's code" ended 66

run env CSAN=1 CSAN_OPTIONS=exitcode=0 "$programs/stream_nonblocking_pair"
check "exitcode=0 keeps the program's own" ended 0

run env CSAN=1 CSAN_OPTIONS=help=1 "$programs/stream_same"
check "help=1 lists the options" says 'halt_on_error'
check "help=1 lists strict_free" says 'strict_free'
check "help=1 lists implicit_sync" says 'implicit_sync'
check "help=1 lets the program run" printed done

run env CSAN=1 CSAN_OPTIONS=log_path="$scratch/log.%p" "$programs/stream_nonblocking_pair"
check "log_path keeps standard error free" silent
check "log_path with %p has the report" sh -c "ls $scratch/log.[0-9]* >/dev/null && grep -q 'CSAN: data race' $scratch/log.[0-9]*"

run "$root/bin/csan" run "$plain/stream_same" with arguments
check "csan run hands arguments on" printed done

run "$root/bin/csan" run sh -c 'exit 5'
check "csan run keeps a program's exit code" ended 5

run "$root/bin/csan" run sh -c 'kill -9 $$'
check "csan run reports a signal as a shell does" ended 137

run "$root/bin/csan" --help
check "csan --help succeeds" ended 0
check "csan --help names run" sh -c "cat out err | grep -q run"

# Three schedules, one verdict.
for schedule in eager lazy random:1 random:2; do
    run env CSAN=1 CSAN_SCHEDULE=$schedule "$programs/missing_wait"
    check "missing_wait is a race under schedule $schedule" ended 66
    run env CSAN=1 CSAN_SCHEDULE=$schedule "$programs/missing_wait_fixed"
    check "missing_wait_fixed is clean under schedule $schedule" ended 0
done

# An option's value stands behind a = or a blank, in every command.
csan=$root/bin/csan
run "$csan" run --device embedded --options exitcode=7 "$plain/stream_nonblocking_pair"
check "csan run takes values behind blanks" ended 7
run "$csan" run --device embedded --schedule eager --save-schedule kept "$plain/stream_same" with arguments
check "csan run takes a schedule behind a blank" ended 0
check "... and saves it" test -s kept
run "$csan" record --device embedded --output kept.csan --options stack_depth=3 "$plain/stream_nonblocking_pair"
check "csan record takes values behind blanks" test -s kept.csan
run "$csan" record -okept2.csan "$plain/stream_nonblocking_pair"
check "csan record takes -oFILE" test -s kept2.csan
run "$csan" replay --options exitcode=8 kept.csan --format json
check "csan replay takes options behind the file, too" ended 8
run "$csan" report --format sarif --output=kept.sarif kept.csan
check "csan report takes values both ways" test -s kept.sarif
run "$csan" merge --format json -o kept.json --options exitcode=9 kept.csan
check "csan merge takes values behind blanks" ended 9
run "$csan" explore --runs 3 --timeout 20 --options report_limit=1 --format text "$plain/stream_same"
check "csan explore takes values behind blanks" ended 0
run "$csan" mutate --runs 1 --timeout 20 --schedule lazy "$plain/stream_same"
check "csan mutate takes values behind blanks" ended 0
run "$csan" kernels --kernel fill --launch grid=1,block=32,args=p0,1,4 "$plain/stream_same"
check "csan kernels takes values behind blanks" ended 0
run "$csan" help --completion bash
check "csan help takes values behind blanks" ended 0
for option in run:--device record:--output replay:--options report:--html merge:--format explore:--runs mutate:--timeout kernels:--launch help:--completion; do
    run "$csan" "${option%:*}" "${option#*:}"
    check "csan ${option%:*}: ${option#*:} lacks its value" says "'${option#*:}' lacks its value"
    check "... and that is wrong usage" ended 2
done
run "$csan" record --check=1 "$plain/stream_same"
check "an option without a value takes none" says "'--check' takes no value"

# A misspelt option proposes the nearest.
for option in run:--devise:--device record:--optoins:--options replay:--fromat:--format \
    report:--gen-supressions:--gen-suppressions merge:--ouptut:--output explore:--keeep:--keep \
    mutate:--schedul:--schedule kernels:--kernle:--kernel dump:--lanches:--launches help:--mann:--man; do
    IFS=: read -r command wrong right <<<"$option"
    run "$csan" "$command" "$wrong=x" "$plain/stream_same"
    check "csan $command $wrong proposes $right" says "there is no option '$wrong=x'; did you mean '$right'\?"
    check "... and ends with 2" ended 2
done
run "$csan" info --nothing-like-it kept.csan
check "an option like none proposes none" says "no option '--nothing-like-it'; .csan info --help"
run "$csan" help explroe
check "csan help proposes the nearest command" says "did you mean 'explore'"

# check=0 checks nothing, and fails for nothing.
for options in check=0 check=0:halt_on_error=1 check=0:fail_on=possible:abort_on_error=1; do
    run "$csan" run --options $options "$plain/stream_nonblocking_pair"
    check "csan run --options $options ends as the program" ended 0
    check "... reports nothing" sh -c "! grep -qE '^CSAN: |CSAN detected' err"
    check "... says that nothing is checked" test "$(grep -c '^csan: check=0, and no record=FILE: nothing is checked or recorded$' err)" = 1
done
run env CSAN=1 CSAN_OPTIONS=check=0 "$programs/stream_nonblocking_pair"
check "so does a linked program" ended 0
run env CSAN=1 CSAN_OPTIONS=check=0 "$programs/races_from_code"
check "and csan_races_since has none" sh -c "! grep -q '[1-9]' out"
run env CSAN=1 CSAN_OPTIONS=check=0:record=only.csan "$programs/stream_nonblocking_pair"
check "with record= it records" test -s only.csan
check "... and ends as the program" ended 0
run env CSAN=1 CSAN_OPTIONS=check=0:record=/no/such/folder/x "$programs/stream_nonblocking_pair"
check "where nothing can be recorded, nothing is checked" ended 0
run "$csan" run --options=check=0 --format=json "$plain/stream_nonblocking_pair"
check "a document says that nothing was checked" sh -c "grep -q 'nothing is checked' err && grep -q '\"summary\": null' err"
run env CSAN_OPTIONS=check=0 "$csan" replay only.csan
check "csan replay looks for races all the same" ended 66
run env CSAN_OPTIONS=check=0:record=unwanted.csan "$csan" explore --runs=5 "$plain/missing_wait"
check "so does csan explore" ended 66
run env CSAN_OPTIONS=check=0:record=unwanted.csan "$csan" mutate "$plain/missing_wait_fixed"
check "so does csan mutate" grep -q ': 2 places needed' out
check "and neither records" test ! -e unwanted.csan
if command -v python3 >/dev/null; then
    switched_off='from csan_torch.options import switched_off as off; print(off("check"), off("operators"))'
    run_foreign env PYTHONPATH="$root/lib/csan/python" CSAN_OPTIONS=log_path=check=1:check=1:check=0 python3 -c "$switched_off"
    check "the adapter of PyTorch reads check=0, too" printed "True False"
    run_foreign env PYTHONPATH="$root/lib/csan/python" CSAN_OPTIONS=check=0:check=1,operators=no python3 -c "$switched_off"
    check "... and the last one counts" printed "False True"
fi

# abort_on_error: abort() where the exit code would be set.
run env CSAN=1 CSAN_OPTIONS=abort_on_error=1 "$programs/stream_nonblocking_pair"
check "abort_on_error=1 aborts at exit" ended 134
check "... after what the program printed" printed done
check "... and after the summary" says '^csan: .* 1 race'
run env CSAN=1 CSAN_OPTIONS=abort_on_error=1:halt_on_error=1 "$programs/stream_nonblocking_pair"
check "with halt_on_error=1 at the first report" ended 134
check "... before the program ends" printed ""
check "... and after the report" says '^CSAN: data race'
run env CSAN=1 CSAN_OPTIONS=abort_on_error=1:exitcode=0 "$programs/stream_nonblocking_pair"
check "exitcode=0 aborts nothing" ended 0
run env CSAN=1 CSAN_OPTIONS=abort_on_error=1 "$programs/stream_same"
check "no race, no abort" ended 0
run env CSAN=1 CSAN_OPTIONS=abort_on_error=1:suppressions=known.supp:format=json:log_path=aborted.json.%p "$programs/stream_nonblocking_pair"
check "a document is whole before the abort" sh -c "grep -q '\"races\": 1' aborted.json.*"

# A debugger stops at each report.
check "libcsan exports csan_on_report" sh -c "nm -D '$root/lib/libcsan.so.0' | grep -q ' T csan_on_report\$'"
if for_programs gdb && [ ${#sanitizer[@]} = 0 ]; then
    run_foreign env CSAN=1 CSAN_OPTIONS=deferred_limit=0 gdb -nx -batch -iex 'set debuginfod enabled off' -ex 'set breakpoint pending on' -ex 'break csan_on_report' -ex run -ex 'print race->current.name' -ex backtrace \
        "$programs/stream_nonblocking_pair"
    if grep -q 'ptrace: Operation not permitted' err; then
        echo "skipped: gdb may not trace here"
    else
        check "gdb stops at csan_on_report" grep -q 'csan_on_report (race=' out
        check "... which has the race" grep -q '^\$1 = .*fill' out
        check "... inside of the program's call" grep -q ' main .*stream_nonblocking_pair.cu' out
    fi
else
    echo "skipped: no gdb stops at csan_on_report"
fi
