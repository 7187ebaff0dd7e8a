# Suppressions, of a live run and of a replay.

says() { grep -Eq -- "$1" err; }
silent_of() { ! grep -Eq -- "$1" err; }
ended() { [ "$status" = "$1" ]; }
printed() { [ "$(cat out)" = "$1" ]; }
csan=$root/bin/csan program=$programs/stream_nonblocking_pair

echo "# what is known
kernel:nothing_like_it
kernel:^fill(int*, int, int)\$" >kernel.supp
run env CSAN=1 CSAN_OPTIONS=suppressions=kernel.supp "$program"
check "a suppressed race is not reported" silent_of 'CSAN: data race'
check "a suppressed race is no failure" ended 0
check "a suppressed race is counted apart" says '0 races, 0 possible races, 1 suppressed \(suppressions\)'
check "what matched is printed with its count" says '^  1 kernel:\^fill'
check "what did not match is not printed" silent_of nothing_like_it

run env CSAN=1 CSAN_OPTIONS=suppressions=kernel.supp:print_suppressions=0 "$program"
check "print_suppressions=0 prints none" silent_of '^  1 kernel'

for line in 'race:^main$' 'race:stream_nonblocking_pair.cu' 'race_top:launch_fill' 'lib:*/stream_nonblocking_pair$' \
    'race:fill' 'kernel:^_Z4fillPiii$'; do
    echo "$line" >one.supp
    run env CSAN=1 CSAN_OPTIONS=suppressions=one.supp "$program"
    check "$line suppresses" ended 0
done
for line in 'race:other.cu' 'race_top:^main$' 'kernel:main' 'lib:libother' 'thread:main'; do
    echo "$line" >one.supp
    run env CSAN=1 CSAN_OPTIONS=suppressions=one.supp "$program"
    check "$line does not" ended 66
done

echo 'race:^main$' >one.supp
run env CSAN=1 CSAN_OPTIONS=suppressions=one.supp:halt_on_error=1 "$program"
check "a suppressed race does not halt" printed done
run env CSAN=1 CSAN_OPTIONS=suppressions=one.supp "$programs/races_from_code"
check "csan_races_since does not tell of suppressed races" printed "0 0 0"

# From a recording.
run env CSAN=1 CSAN_OPTIONS=record=app.csan "$program"
run "$csan" replay --options=suppressions=kernel.supp app.csan
check "a replay suppresses, too" ended 0
check "a replay counts them" says '1 suppressed'
run env CSAN_OPTIONS=suppressions=one.supp "$csan" replay app.csan
check "a replay takes CSAN_OPTIONS" ended 0
run "$csan" replay app.csan
check "without suppressions it has the race" ended 66

# What is wrong is said once, with file and line.
printf 'race:main\nraec:main\n' >bad.supp
run "$csan" run --options=suppressions=bad.supp "$plain/stream_nonblocking_pair"
check "csan run ends with 2 at a bad line" ended 2
check "csan run names file and line" says 'bad.supp, line 2: there is no such type'
check "csan run does not start the program" test ! -s out
run "$csan" replay --options=suppressions=bad.supp app.csan
check "csan replay ends with 2 at a bad line" ended 2
check "csan replay names file and line" says 'bad.supp, line 2'
run "$csan" replay --options=suppressions=missing.supp app.csan
check "a file that is not there ends a replay with 2" ended 2
check "a file that is not there is named" says 'missing.supp: No such file'
run env CSAN=1 CSAN_OPTIONS=suppressions=bad.supp "$program"
check "a linked program goes on at a bad line" printed done
check "a linked program says it once" test "$(grep -c 'bad.supp, line 2' err)" = 1
check "the good lines hold" ended 0
run env CSAN=1 CSAN_OPTIONS=suppressions=missing.supp "$program"
check "a linked program goes on without the file" ended 66
check "... and says so" says 'missing.supp'
run "$csan" run --options=supressions=one.supp "$plain/stream_nonblocking_pair"
check "csan run ends with 2 at a misspelt option" ended 2
check "csan run proposes the nearest" says "did you mean 'suppressions'"
