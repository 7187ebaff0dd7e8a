# Mistakes of the person at the keyboard: a clear message, and the program runs as it would have.

says() { grep -Eqi -- "$1" err; }
no_crash() { [ "$status" -lt 128 ] && [ "$status" != 99 ]; }
ended() { [ "$status" = "$1" ]; }
printed() { [ "$(cat out)" = "$1" ]; }

run "$root/bin/csan" run ./no-such-program
check "csan run on a missing file fails" test "$status" != 0
check "csan run on a missing file names it" says 'no-such-program'

echo "not a program" >text
chmod +x text
run "$root/bin/csan" run ./text
check "csan run on a text file does not crash" no_crash
check "csan run on a text file fails" test "$status" != 0

mkdir directory
run "$root/bin/csan" run ./directory
check "csan run on a directory fails" test "$status" != 0
check "csan run on a directory does not crash" no_crash

run "$root/bin/csan" run
check "csan run without a program fails" test "$status" != 0
check "csan run without a program says how" says 'usage|program'

run "$root/bin/csan" fly
check "an unknown subcommand fails" test "$status" != 0
check "an unknown subcommand is named" says 'fly'

run "$root/bin/csan" run --device=quantum "$plain/stream_same"
check "an unknown device fails" test "$status" != 0
check "an unknown device is named" says 'quantum'

run env CSAN=1 CSAN_OPTIONS=no_such_option=1 "$programs/stream_same"
check "an unknown option leaves the program alone" printed done
check "an unknown option leaves the exit code alone" ended 0
check "an unknown option is named" says 'no_such_option'

run env CSAN=1 CSAN_OPTIONS=exitcode=abc "$programs/stream_same"
check "a wrong value leaves the program alone" printed done
check "a wrong value is named" says 'exitcode|abc'

run env CSAN=1 CSAN_OPTIONS=:::=:=x: "$programs/stream_same"
check "an option string of punctuation does not crash" no_crash
check "an option string of punctuation leaves the program alone" printed done

# The log's name ends in the process id, which stays the same through exec.
run sh -c 'ln -s /dev/full "log.$$" && CSAN=1 CSAN_OPTIONS=log_path=$PWD/log exec "$0"' \
    "$programs/stream_nonblocking_pair"
check "a full disk under log_path does not crash" no_crash
check "a full disk under log_path leaves the program alone" printed done

run env CSAN=1 CSAN_OPTIONS=log_path=/no/such/directory/log "$programs/stream_nonblocking_pair"
check "a log_path that cannot be opened is named" says '/no/such/directory'
check "a log_path that cannot be opened leaves the program alone" printed done

run env CSAN=1 CSAN_DEVICE=quantum "$programs/stream_same"
check "an unknown CSAN_DEVICE does not crash" no_crash
