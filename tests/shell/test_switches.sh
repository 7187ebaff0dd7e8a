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
check "csan run tells of a signal as a shell does" ended 137

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
