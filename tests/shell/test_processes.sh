# Trees of processes, and the ways in which they end: one exit code for all, and a line for what no
# process could say itself.

says() { grep -Eq -- "$1" err; }
silent_of() { ! grep -Eq -- "$1" err; }
ended() { [ "$status" = "$1" ]; }
times() { [ "$(grep -Ec -- "$2" err)" = "$1" ]; }

csan=$root/bin/csan
ends=$plain/ended_without_handlers forked=$plain/forked_child
linked=$programs/ended_without_handlers
race_py=$(dirname "$test")/fork_race.py
csan_run() { run "$csan" run --device=embedded "$@"; }

# ---- One process, however it ends

for end in _exit _Exit quick_exit exec exec_alone handler abort segv term kill; do
    csan_run "$ends" $end
    check "under csan run a race counts though the program ends by $end" ended 66
    [ $end = kill ] || check "... and is reported" times 1 '^CSAN: data race'
    check "... and what was checked is said" says 'checked 2 of 2 ops on the embedded device'
done
for end in _exit _Exit quick_exit exec exec_alone handler; do
    # With an empty environment a libcsan with a sanitizer cannot start, and an emulator finds no libraries.
    [ $end = exec_alone ] && { [ ${#sanitizer[@]} != 0 ] || [ "$processor" != "$(uname -m)" ]; } && continue
    run env CSAN=1 "$linked" $end
    check "a linked program with a race that ends by $end ends with 66" ended 66
    check "... and sums up once" times 1 '^csan: 2 ops .*checked 2 of 2 ops on the embedded device'
done
run env CSAN=1 "$linked" abort
check "a linked program that aborts ends as it does" ended 134
check "... and sums up" times 1 '^csan: 2 ops'
run env CSAN=1 "$linked" term
check "a linked program that a signal ends ends by it" ended 143
for end in _exit exec abort segv term; do
    rm -f app.csan
    run "$csan" record --device=embedded "$ends" $end
    run "$csan" replay --options=symbolize=0 app.csan
    check "a recording holds what was before $end" ended 66
done

# ---- Trees

csan_run "$forked"
check "a forked child that alone uses CUDA is checked" ended 66
csan_run "$forked" late
check "a child that was forked after CUDA was used says that it is not checked" \
    times 1 '^csan: this process was forked after its parent had used CUDA'
check "... and csan run says so" says '^csan run: 1 process was forked after the parent had used CUDA'
csan_run sh -c "$ends _exit; exit 0"
check "a shell's child counts" ended 66
csan_run sh -c "$ends kill; exit 3"
check "a child that a signal ended counts, whatever its parent ended with" ended 66
check "... and is named" says '^csan run: process [0-9]+ \(ended_without_.*\) ended before its summary'
csan_run sh -c 'exit 3'
check "without a race the code is the program's" ended 3
echo _exit >ends
csan_run sh -c "xargs -a ends $ends; true"
check "a child of xargs counts" ended 66
csan_run sh -c "$ends _exit & $plain/stream_same; wait"
check "processes are added up" says '^csan run: 2 processes used CUDA: 1 race, 0 possible races; checked [0-9]+ of [0-9]+ ops'
csan_run --options=exitcode=0 sh -c "$ends _exit; exit 4"
check "exitcode=0 leaves the program's code" ended 4
csan_run sh -c "'$csan' run '$ends' _exit; exit 0"
check "one csan run below another counts" ended 66
for how in fork spawn forkserver "pool fork"; do
    csan_run python3 "$race_py" $how
    check "a child of Python's multiprocessing by $how counts" ended 66
done
csan_run python3 "$race_py" late
check "Python's child after CUDA says that it is not checked" says 'forked after its parent had used CUDA'

# ---- What csan is not in

csan_run true
check "a program without CUDA says so" says '^csan run: no CUDA call was made, so nothing was checked$'
check "... and ends as it does" ended 0
csan_run --options=print_summary=0 true
check "... but not with print_summary=0" silent_of .
csan_run --options=check=0 "$ends" _exit
check "check=0 is said, and not that there was no CUDA call" \
    says '^csan run: checking was off \(option check=0\), so nothing was checked$'
check "... nor anything else" silent_of 'no CUDA call'
csan_run env -i "$ends" _exit
check "a cleared environment is reported" says "^csan run: 1 program was started without csan and not checked: '.*ended_without_handlers' \(its environment was cleared or changed\)"
csan_run env CSAN=0 "$ends" _exit
check "CSAN=0 is a choice, and no loss" silent_of 'without csan'
csan_run sh -c 'PATH=/nowhere; nothing 2>/dev/null; true'
check "what is not found is no loss" silent_of 'without csan'

# ---- Formats

csan_run --format=json --options=log_path=none.json true
check "a document says that there was no CUDA call" grep -q 'no CUDA call was made' none.json.*
csan_run --format=json --options=log_path=some.json "$ends" _exit
check "a document of a program that ends by _exit is whole" "$root/tests/schema_check" \
    "$(dirname "$test")/../../include/csan/csan-report.schema.json" some.json.*
check "... and says what was checked" grep -q '"checked": 2, "device": "the embedded device"' some.json.*
csan_run --format=sarif --options=log_path=some.sarif "$ends" _exit
check "SARIF says it, too" grep -q 'checked 2 of 2 ops on the embedded device' some.sarif.*

# ---- Recording

run "$csan" record -o none.csan true
check "a recording of a program without CUDA says so" says '^csan record: no CUDA call was made, so nothing was recorded'
run "$csan" replay none.csan
check "... and can be replayed" ended 0
run "$csan" record -o none.csan --device=embedded "$ends" _exit
recorded=$(sed -n 's/.*recorded \([0-9]*\) entries.*/\1/p' err)
run "$csan" info none.csan
check "record and info count alike" grep -Eq "^entries +$recorded," out
run "$csan" record -o none.csan true
run "$csan" replay none.csan
check "an earlier recording does not stay for one of nothing" ended 0

# ---- Bad surroundings

csan_run sh -c "exec 0<&- 1>&- 2>&-; exec $ends _exit"
check "a process that closed its descriptors counts" ended 66
check "... and csan run says what was checked" says 'could not write all it had to say: 1 race, 0 possible races; checked 2 of 2 ops'
run sh -c "'$csan' run --device=embedded '$ends' _exit 2>/dev/full"
check "a full disk takes nothing from the code" ended 66
cat >closer.py <<'END'
import os, sys
sys.path.insert(0, sys.argv[1])
import fork_race
fork_race.race()
os.closerange(0, 256)
os.open("victim", os.O_CREAT | os.O_RDWR)
fork_race.race(0)
END
csan_run --options=log_path=closed.log:symbolize=0 python3 closer.py "$(dirname "$race_py")"
check "the log of a process that closed it is opened again" [ "$(cat closed.log.* | grep -c '^CSAN: data race')" = 2 ]
check "... and nothing is written where it was" [ -e victim -a ! -s victim ]
run "$csan" record -o closed.csan --device=embedded python3 closer.py "$(dirname "$race_py")"
run "$csan" replay closed.csan
check "so is the recording" says '^csan: 4 ops .* 2 races'
csan_run sh -c 'i=0; while [ $i -lt 300 ]; do (exit 1) & i=$((i + 1)); done; wait; '"$ends _exit"
check "a tree of many processes has one code" ended 66

# ---- Signals and the parent

run sh -c "'$csan' run sh -c 'trap \"exit 7\" TERM; : >trapped; sleep 30 & wait' &
    for i in \$(seq 300); do [ -e trapped ] && break || sleep 0.1; done; kill \$!; wait \$!"
check "a signal sent to csan run goes to the program" ended 7
run sh -c "'$csan' run sh -c 'kill -TERM \$\$'"
check "a signal that ends the program ends csan run" ended 143
# The number is this test's own, since others may run at the same time.
naps=31.$$
# pgrep hangs with AddressSanitizer's run-time in it.
run sh -c "'$csan' run sleep $naps & sleep 1; kill -KILL \$!; wait \$!
    for i in 1 2 3 4 5 6 7 8 9 10; do LD_PRELOAD= pgrep -f '^sleep $naps' >/dev/null || exit 0; sleep 0.5; done; exit 1"
check "who kills csan run kills the program" ended 0

# ---- A launcher that kills all ranks when one of them fails, as mpirun and torchrun do

cat >launcher.sh <<'END'
for rank in 0 1 2; do (RANK=$rank exec "$@") & ranks="$ranks $!"; done
for rank in $ranks; do wait $rank || { kill $ranks 2>/dev/null; exit 1; }; done
END
csan_run sh launcher.sh "$ends" _exit
check "below a launcher each rank sums up" times 3 '^csan: 2 ops'
check "... and csan run has one code for all" ended 66
