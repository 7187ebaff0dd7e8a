# Recordings at the command line: made, replayed with other options, described; named by rank; of
# programs that are killed; and files that are none, are damaged or cannot be written.

says() { grep -Eq -- "$1" err; }
prints() { grep -Eq -- "$1" out; }
ended() { [ "$status" = "$1" ]; }
reports() { grep -c '^CSAN: data race' "$1"; }

csan=$root/bin/csan
record() { run "$csan" record --device=embedded "$@"; }
replay() { run "$csan" replay --options=symbolize=0 "$@"; }

record -o racy.csan "$plain/example_error"
check "recording ends as the program does" ended 0
check "recording reports nothing" bash -c '! grep -q "CSAN: data race" err'
check "recording says where to" says 'recorded [0-9]+ entries in [0-9]+ bytes: csan replay .*racy.csan'
replay racy.csan
check "a replay finds the race" ended 66
check "a replay reports it" says '^CSAN: data race'
check "a replay has the summary" says '^csan: 2 ops \(2 ranges\), 1 race, 0 possible races'
run "$csan" replay --options=exitcode=9:report_limit=0:color=always racy.csan
check "a replay takes options of its own" ended 9
check "a replay names the source" says 'example_error.cu:40'
echo 'race:scale' >quiet
run "$csan" replay --options=suppressions=quiet racy.csan
check "a replay takes suppressions" ended 0
check "a replay counts what is suppressed" says '1 suppressed'
run "$csan" replay --options=exitcoed=9 racy.csan
check "an option misspelt ends with 2" ended 2
check "an option misspelt is reported" says "did you mean 'exitcode'"

record --check -o racy.csan "$plain/example_error"
check "a program that is checked, too, ends with its code" ended 66
check "a recording of before is replaced" bash -c '! ls racy.csan.* 2>/dev/null'
record -o fixed.csan "$plain/example_error_fixed"
replay fixed.csan
check "the replay of the fix finds nothing" ended 0

mkdir elsewhere
record -o there.%r.csan env RANK=3 sh -c 'cd elsewhere; exec "$1"' sh "$plain/example_error"
check "a program that starts elsewhere has its recording where it was asked for" [ -s there.3.csan ]
record -o there.3.csan sh -c 'cd elsewhere; exec "$1"' sh "$plain/example_error_fixed"
replay there.3.csan
check "... and replaces that of an earlier run" ended 0

run "$csan" info racy.csan
check "info ends with 0" ended 0
check "info says the command" prints "^command +.*/example_error"
check "info counts the ops" prints '^ops +2 \(2 ranges\)'
run "$csan" info --statistics racy.csan
check "info --statistics has the ops by name, with their bytes" eval 'ended 0 && prints "^ +1 +16384 +16384  scale"'
check "and how many touch how much" prints '^ +1  less than 32 KiB$'
run "$csan" dump racy.csan
check "dump ends with 0" ended 0
check "dump prints an op with its site" prints '^#[0-9]+ op lane [0-9]+ ranges site [0-9]+ "initialize\(float\*, int\)"'
check "dump prints what it touches" prints '^    write 0x[0-9a-f]+ \+ 16384'

# Ranks and processes.
RANK=3 record -o 'rank.%r.csan' "$plain/example_error"
check "a rank has a file of its own" [ -s rank.3.csan ]
record -o two.csan sh -c "$plain/example_error; $plain/example_error_fixed"
check "of two processes the first has the name" [ -s two.csan ]
check "of two processes the second adds its number" bash -c 'ls two.csan.[0-9]*'
check "the shell that ran them, which did nothing, has none" eval '[ "$(ls two.csan* | wc -l)" = 2 ]'
replay two.csan
check "the first of two processes is the first" ended 66

# A build that is not the one recorded is not asked for lines.
cp "$plain/example_error" program
record -o other.csan ./program
cp "$plain/example_error_fixed" program
run "$csan" replay other.csan
check "another build is reported" says "program' is another build than the one that was recorded"
check "another build's lines are not taken" bash -c '! grep -q "example_error.*cu:" err'

# Bad input: one line with file and byte, exit code 2, and what could be read.
head -c 100 racy.csan >cut
replay cut
check "a recording cut off in its facts ends with 2" ended 2
check "a recording cut off is reported" says '^csan replay: cut: byte [0-9]+: the recording is cut off in block 0'
bytes=$(stat -c %s racy.csan)
head -c $((bytes - 5)) racy.csan >cut
replay cut
check "a recording cut off at its end ends with 2" ended 2
check "a recording cut off at its end has its races" says '^CSAN: data race'
check "a recording cut off at its end is reported" says '^csan replay: cut: byte [0-9]+: '
for command in replay info dump; do
    run "$csan" $command "$plain/example_error"
    check "$command of a program ends with 2" ended 2
    check "$command of a program says so" says "^csan $command: .*example_error: byte 0: it is no csan recording"
    run "$csan" $command absent.csan
    check "$command of nothing ends with 2" ended 2
    check "$command of nothing says so" says "^csan $command: absent.csan: No such file"
done
{ head -c 8 racy.csan; printf '\002'; tail -c +10 racy.csan; } >newer
replay newer
check "a damaged head is reported" says 'newer: byte 0: the head of the recording is damaged'
check "a damaged head ends with 2" ended 2

echo text >mine
record -o mine "$plain/example_error"
check "another file is not written over" says "'mine' is there and is no recording"
check "another file that is there ends with 2" ended 2
check "another file is as it was" [ "$(cat mine)" = text ]
record -o absent/x.csan "$plain/example_error"
check "a directory that is not there ends with 2" ended 2
check "a directory that is not there is reported" says "cannot write 'absent/x.csan'"
record -o /proc/x.csan "$plain/example_error"
check "a file system that takes no files ends with 2" ended 2
check "a file system that takes no files is reported" says "^csan record: cannot write '/proc/x.csan'"
run env CSAN=1 CSAN_OPTIONS="record=absent/x.csan:symbolize=0" "$programs/example_error"
check "a recording that cannot be written does no harm" ended 66
check "a recording that cannot be written is reported" says "cannot open recording '.*absent/x.csan'"

# What is printed may not arrive.
for command in dump info "report --format=json" "replay --format=json" "replay --options=log_path=stdout" merge; do
    run sh -c '"$0" "$@" >/dev/full' "$csan" $command racy.csan
    check "$command to a full disk ends with 2" ended 2
    check "$command to a full disk says so" says 'cannot write .*standard output.*: No space left on device'
done
run "$csan" replay --options=log_path=absent/x racy.csan
check "a log that cannot be opened ends a replay with 2" ended 2
check "a log that cannot be opened is reported" says 'cannot open log_path file absent/x'
check "... and the races are reported on standard error" says '^CSAN: data race'
