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
check "csan_races_since leaves out suppressed races" printed "0 0 0"

# One race alone.
pair=$programs/suppressed_pair
run env CSAN=1 CSAN_OPTIONS=record=pair.csan "$pair"
run "$csan" report --gen-suppressions -o pair.supp pair.csan
check "--gen-suppressions writes a fingerprint" grep -Eq '^fingerprint:[0-9a-f]{16}$' pair.supp
run env CSAN=1 CSAN_OPTIONS=suppressions=pair.supp "$pair"
check "the race that it names is suppressed" ended 0
run env CSAN=1 CSAN_OPTIONS=suppressions=pair.supp "$pair" 1
check "another race of the kernel is reported" ended 66
check "... and the known one is not" says '1 race, 0 possible races, 1 suppressed'
run env CSAN=1 CSAN_OPTIONS=suppressions=pair.supp "$pair" 1 2
check "so is one of the same kernels from other lines" says '2 races, 0 possible races, 1 suppressed'
sed -n 's/^#pair:/pair:/p' pair.supp >wide.supp
run env CSAN=1 CSAN_OPTIONS=suppressions=wide.supp "$pair" 1 2
check "the pair: rule that it proposes matches without lines" says '1 race, 0 possible races, 2 suppressed'
sed -E 's/^pair:(.*) <-> (.*)$/pair:\2 <-> \1/' wide.supp >turned.supp
run env CSAN=1 CSAN_OPTIONS=suppressions=turned.supp "$pair"
check "... in the other order, too" ended 0
for line in 'pair:increment <-> fill' 'pair:fill @ ^main$ <-> ^increment(int*, int)$ @ suppressed_pair.cu'; do
    printf '%s\n' "$line" >alone.supp
    run env CSAN=1 CSAN_OPTIONS=suppressions=alone.supp "$pair" 1
    check "$line suppresses that pair alone" says '1 race, 0 possible races, 1 suppressed'
done
for line in 'pair:fill' 'pair:fill <-> ' 'fingerprint:12' 'rase:main'; do
    printf '%s\n' "$line" >alone.supp
    run "$csan" run --options=suppressions=alone.supp "$plain/suppressed_pair"
    check "$line is wrong" ended 2
    check "... and that is one line" test "$(wc -l <err)" = 1
done
check "the nearest type is proposed" says "did you mean 'race'"
for library in suppressed_pair:0 libc.so:66; do
    echo "called_from_lib:${library%:*}" >alone.supp
    run env CSAN=1 CSAN_OPTIONS=suppressions=alone.supp "$pair"
    check "called_from_lib is what called CUDA: $library" ended ${library#*:}
done

# The rules for MPI libraries, by what the library's file is called.
mpi_rules=$(dirname "$test")/../../scripts/package/mpi.supp
mkdir libmpi-tests
for name in libmpi.so.40 libmpich.so.12 libopen-pal.so.40 libmca_common_cuda.so.40 mca_btl_smcuda.so libucp.so.0 \
    libuct.so.0 libuct_cuda.so.0 libucm_cuda.so.0 libfabric.so.1 libpsm2.so.2; do
    cp "$pair" $name
    run env CSAN=1 CSAN_OPTIONS="suppressions=$mpi_rules" LD_LIBRARY_PATH="$root/lib" ./$name
    check "mpi.supp suppresses what $name calls" ended 0
    rm $name
done
for name in libmpi-tests/app libmpi_app.so app_mca_; do
    cp "$pair" $name
    run env CSAN=1 CSAN_OPTIONS="suppressions=$mpi_rules" LD_LIBRARY_PATH="$root/lib" ./$name
    check "... and not what $name calls" ended 66
    rm $name
done

# A baseline.
run env CSAN=1 CSAN_OPTIONS=format=json:log_path=base.%p.json "$pair"
mv base.*.json base.json
mkdir elsewhere
for baseline in base.json pair.csan; do
    run "$csan" run --baseline=$baseline "$plain/suppressed_pair"
    check "csan run --baseline=$baseline knows the race" ended 0
    check "... and counts it" says '0 races, 0 possible races, 1 known \(baseline\)'
    run "$csan" run --baseline $baseline "$plain/suppressed_pair" 1
    check "... and reports what is new" ended 66
    check "... alone" test "$(grep -c '^CSAN: data race' err)" = 1
done
run sh -c 'cd elsewhere && CSAN=1 CSAN_OPTIONS=baseline=../base.json exec "$0"' "$pair"
check "a linked program reads a baseline, from any folder" ended 0
run env CSAN=1 CSAN_OPTIONS=baseline=base.json:halt_on_error=1 "$pair"
check "a known race does not halt" printed done
run env CSAN=1 CSAN_OPTIONS=record=both.csan "$pair" 1
for baseline in base.json pair.csan; do
    run "$csan" replay --baseline=$baseline both.csan
    check "csan replay --baseline=$baseline has what is new" says '1 race, 0 possible races, 1 known'
    check "... and ends with 66" ended 66
    run "$csan" report --baseline=$baseline both.csan
    check "csan report --baseline=$baseline has what is new" grep -q '1 race, 0 possible races, 1 known' out
    run "$csan" merge --baseline $baseline both.csan pair.csan
    check "csan merge --baseline $baseline has what is new" grep -q '1 race, 0 possible races, 1 known' out
    run "$csan" merge --options=baseline=$baseline pair.csan base.json
    check "... and ends with 0 where nothing is" ended 0
done
run env CSAN=1 CSAN_OPTIONS=baseline=base.json:format=json:log_path=next.%p.json "$pair" 1
mv next.*.json next.json
check "JSON counts what was known" grep -q '"suppressed": 0, "known": 1' next.json
run "$csan" merge --baseline=base.json next.json pair.csan
check "a race that a report and the baseline know is counted once" grep -q '1 race, 0 possible races, 1 known' out
run "$csan" merge next.json pair.csan
check "a race that another file reports is none that is known" grep -q '2 races, 0 possible races; ' out
run env CSAN=1 CSAN_OPTIONS=baseline=next.json "$pair" 1
check "a report made beside a baseline is a whole baseline" ended 0
run env CSAN=1 CSAN_OPTIONS=baseline=base.json:format=sarif:log_path=next.%p.sarif "$pair" 1
mv next.*.sarif next.sarif
check "SARIF marks what is new" test "$(grep -c '"baselineState": "new"' next.sarif)" = 1
check "SARIF keeps what is known" test "$(grep -c '"baselineState": "unchanged"' next.sarif)" = 1
check "that is as its standard says" "$root/tests/schema_check" "$(dirname "$test")/../data/schema/sarif.json" next.sarif
run "$csan" report --baseline=base.json --sarif=again.sarif --json=again.json both.csan
check "csan report says the same in SARIF" test "$(grep -c '"baselineState"' again.sarif)" = 2
check "... and in JSON" grep -q '"suppressed": 0, "known": 1' again.json

# A baseline that cannot be used costs a line, and nothing else.
head -c 300 base.json >cut.json
head -c 100 pair.csan >cut.csan
sed 's/"fingerprint_version": [0-9]*/"fingerprint_version": 1/' base.json >old.json
sed 's/"version": 1/"version": 9/' base.json >newer.json
: >empty.json
for baseline in missing cut.json cut.csan old.json newer.json empty.json elsewhere next.sarif; do
    run "$csan" run --baseline=$baseline "$plain/suppressed_pair"
    check "csan run goes on without $baseline" ended 66
    check "... says so in one line" test "$(grep -c 'the baseline is not used, so every race is reported: .' err)" = 1
    check "... that names it" says "not used.*$baseline"
    run "$csan" replay --baseline=$baseline pair.csan
    check "csan replay goes on without $baseline" ended 66
    check "... says so in one line" test "$(grep -c 'the baseline is not used' err)" = 1
    run "$csan" merge --baseline=$baseline pair.csan
    check "csan merge goes on without $baseline" ended 66
    check "... says that alone" test "$(wc -l <err)" = 1
done
run env CSAN=1 CSAN_OPTIONS=baseline=pair.csan "$pair"
check "a linked program cannot read a recording" says 'make a report of it: csan report --format=json'

# From a recording.
run env CSAN=1 CSAN_OPTIONS=record=app.csan "$program"
run "$csan" replay --options=suppressions=kernel.supp app.csan
check "a replay suppresses, too" ended 0
check "a replay counts them" says '1 suppressed'
run env CSAN_OPTIONS=suppressions=one.supp "$csan" replay app.csan
check "a replay takes CSAN_OPTIONS" ended 0
run "$csan" replay app.csan
check "without suppressions it has the race" ended 66

# What is no regular file is refused, and does not stop the program.
mkfifo pipe.supp
for path in pipe.supp /dev/zero elsewhere; do
    run "$csan" run --options=suppressions=$path "$plain/stream_nonblocking_pair"
    check "csan run refuses $path as suppressions" ended 2
    run env CSAN=1 CSAN_OPTIONS=suppressions=$path "$program"
    check "a linked program goes on without $path" ended 66
    check "... and says why" says "$path: it is (no regular file|a directory)"
done

# What is wrong is said once, with file and line.
printf 'race:main\nraec:main\n' >bad.supp
run "$csan" run --options=suppressions=bad.supp "$plain/stream_nonblocking_pair"
check "csan run ends with 2 at a bad line" ended 2
check "csan run names file and line" says 'bad.supp, line 2: there is no such type .did you mean .race.'
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
