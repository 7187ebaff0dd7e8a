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

# Every command that reads a file, and every file that is none for it: one line, and exit code 2.
csan=$root/bin/csan
one_line() { [ "$(wc -l <err)" = 1 ]; }
run env CSAN=1 CSAN_OPTIONS=record=good.csan "$programs/stream_nonblocking_pair"
run "$csan" report --json=good.json good.csan
: >empty
head -c 700 good.csan >cut.csan
head -c 700 good.json >cut.json
{ head -c 8 good.csan; printf '\377\0\0\0'; tail -c +13 good.csan; } >newer.csan
sed 's/"version": 1/"version": 9/' good.json >newer.json
mkfifo pipe
install -m 000 good.csan locked.csan
for command in replay info dump "dump --entries" "dump --launches" report merge; do
    for file in missing empty directory text cut.csan newer.csan; do
        # shellcheck disable=SC2086
        run "$csan" $command $file
        check "csan $command $file ends with 2" ended 2
        case $command in
        replay) check "... says why in one line" test "$(grep -vc '^csan: ' err)" = 1 ;;
        *) check "... says why in one line" one_line ;;
        esac
        check "... and names it" says "^csan ${command%% *}: .*$file"
    done
done
for command in replay info dump; do
    run "$csan" $command good.json
    check "csan $command of a report says who reads it" says 'csan report and csan merge read reports in JSON'
    run "$csan" $command pipe
    check "csan $command of a pipe does not wait for it" ended 2
done
for file in cut.json newer.json text; do
    run "$csan" report $file
    check "csan report $file ends with 2" ended 2
    check "... in one line" one_line
done
check "csan report names what it reads" says 'neither a recording .csan record. nor a report of csan.s in JSON'
if [ "$(id -u)" != 0 ]; then
    for command in replay info dump report merge; do
        run "$csan" $command locked.csan
        check "csan $command of a file that may not be read ends with 2" ended 2
        check "... and says so" says 'locked.csan.*Permission denied'
    done
fi
cp "$(dirname "$test")/../integration/stream_same.cu" app.cu
run "$csan" kernels app.cu
check "csan kernels of source ends with 1" ended 1
check "... says that it is source, and what to do" says 'app.cu: it is source code; compile it .nvcc -c app.cu -o app.o'
check "... in one line" one_line
