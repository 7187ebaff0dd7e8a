# What traced launches touched, printed without addresses (csan dump --launches), and the script that
# compares it from run to run: it must see launches that touch other bytes, ranges that are wrong, and
# programs that end otherwise; not the order of launches, nor of atomic operations' kinds.

says() { grep -Eq -- "$1" err; }
prints() { grep -Pq -- "$1" out; }
ended() { [ "$status" = "$1" ]; }
csan=$root/bin/csan compare=$(dirname "$test")/../../scripts/compare-traces

run env CSAN=1 CSAN_OPTIONS=access=exact:record=scatter.csan "$programs/range_scatter"
run "$csan" dump --launches scatter.csan
check "dump --launches ends with 0" ended 0
check "it names memory by its bytes and its turn" \
    prints '^fill\(int\*, int, int\)\ttouched 4096#3: 0-2047; \twrite 4096#3: 0-2047; $'
check "it has each launch" [ "$(wc -l <out)" = 4 ]
run env CSAN=1 CSAN_OPTIONS=access=ptx:record=ptx.csan "$programs/range_scatter"
run "$csan" dump --launches ptx.csan
check "launches that were not traced are left out" [ ! -s out ]
run "$csan" dump --launches "$programs/range_scatter"
check "it takes no program" ended 2

# Profilers want a GPU's interface for tools, which the embedded device does not have.
lacks() { ! says "$1"; }
run env CSAN=1 CUDA_INJECTION64_PATH=profiler.so "$programs/range_scatter"
check "launches are traced beside a profiler" says '^csan: .* traced'
check "nothing is missed" lacks 'could not be traced'

# Programs that run another one when it is the embedded device's turn, which comes with schedule lazy.
mkdir -p fake/bin fake/tests/programs/static sources
printf '#!/bin/sh\nexec "%s" "$@"\n' "$csan" >fake/bin/csan
program() # NAME WHEN-LAZY ELSE
{
    echo '// no directive' >"sources/$1.cu"
    printf '#!/bin/sh\ncase $CSAN_SCHEDULE in\nlazy) %s ;;\n*) %s ;;\nesac\n' "$2" "$3" \
        >"fake/tests/programs/static/$1"
}
program same "exec $programs/range_scatter" "exec $programs/range_scatter"
program fewer "$programs/range_scatter" "exec $programs/example_error"
program other "exec $programs/example_error_fixed" "exec $programs/atomic_and_atomic"
program wrong "exec $programs/same" "echo 'csan: ranges are wrong: kernel k: why' >&2; exit 70"
program dies "exec $programs/example_error" 'kill -9 $$'
program alone 'exit 1' "CSAN_DEVICE=embedded exec $programs/range_scatter"
sed -i '1i // skip: embedded' sources/alone.cu
program silent "exec $programs/example_error" 'exit 0'
chmod +x fake/bin/csan fake/tests/programs/static/*
echo "other differs It is made so." >list

run "$compare" --root fake --only same /dev/null sources
check "what is the same is so" ended 0
check "all of it is compared" prints '^traces: 4 of 4 launches compared, 4 of 4 judged by their ranges, 3 learned sets; 1 programs, none compared of 0, 0 not'
run "$compare" --root fake list sources
check "what differs fails" ended 1
check "other launches are seen" prints '^not ok fewer: .*found '
check "a difference that is listed is not" prints '^ok other: differs, as listed'
check "wrong ranges are seen" prints '^not ok wrong: kernel k: why'
check "a killed program is seen" prints '^not ok dies: ended with status 137'
check "a program without a recording is seen" prints '^not ok silent: left no recording'
check "the others are right" [ "$(grep -c '^not ok' out)" = 4 ]

run "$compare" --root fake --device gpu --only alone list sources
check "what only a GPU runs is judged alone" ended 0
check "it is compared with itself" prints '^traces: 4 of 4 launches compared, 4 of 4 judged by'

# By machine code an atomic operation of a block's may be a load and a store, or the other way round.
line() { printf 'k()\ttouched 64#1: 0-%s; \t%s\n' "$1" "$2"; }
eval "$(sed -n '/^\(launches\|learned\)_differ()/,/^}/p' "$compare")"
differ() { launches_differ wanted found >out; [ -s out ]; }
agree() { ! differ; }
line 3 'read 64#1: 0-3; write 64#1: 0-3; ' >wanted
line 3 'atomic 64#1: 0-3; ' >found
check "atomic operations may be recorded otherwise" agree
line 7 'atomic 64#1: 0-7; ' >found
check "at other bytes they differ" differ
line 3 'write 64#1: 0-3; ' >found
check "a load is no store" differ
printf 'k()\tbounded\twrite 64#1: 0-63; \n' >found
check "a bound is not compared" agree

# What was learned: of one launch there may be several sets, and each must be known.
learned() { printf 'k()\tgrid %s\t%s\t%s\n' "$1" "$2" "$3"; }
differ() { learned_differ wanted found >out; [ -s out ]; }
{
    learned 1 exact 'reads 4 bytes at +0; '
    learned 1 exact 'reads 8 bytes at +0; '
    learned 2 exact 'reads 8 bytes at +0; '
} >wanted
learned 1 being 'reads 8 bytes at +0; ' >found
check "a set that is known is so" agree
learned 2 exact 'reads 4 bytes at +0; ' >found
check "that of another launch is not" differ
learned 1 exact 'writes 4 bytes at +0; ' >found
check "that of another kind is not" differ
learned 1 exact 'updates 4 bytes at +0; ' >found
check "but that of an atomic operation is" agree
learned 1 bounded 'writes at most all; ' >found
check "what depends on data is not compared" agree

# Where a program makes graphs, a GPU learns of more: of their nodes.
echo 'cudaGraphLaunch(exec, stream);' >makes_graphs.cu
learned 3 being 'writes 4 bytes at +0; ' >found
check "what only one side learned of differs" differ
differ() { learned_differ wanted found makes_graphs.cu >out; [ -s out ]; }
check "but not of a program that makes graphs" agree
echo 'cuGraphLaunch(exec, stream);' >makes_graphs.cu
check "by whichever API" agree
learned 2 exact 'reads 4 bytes at +0; ' >found
check "of what both learned it does" differ
