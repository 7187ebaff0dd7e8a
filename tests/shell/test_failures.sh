# Kernels that fail, by kind, linked and under csan run: the report has kernel, line, thread, address and
# memory, and the program gets what it gets without csan.

says() { grep -Eq -- "$1" err; }
ended() { [ "$status" = "$1" ]; }

csan=$root/bin/csan
nvcc=$(sed -n 's/^CUDA_HOME := //p' "$root/config.mk" "$root/../config.mk" 2>/dev/null | head -1)/bin/nvcc
source=$(dirname "$test")/../gpu/failure.cu
flags="-g -lineinfo -arch=sm_90 -std=c++17 -cudart shared"
"$nvcc" $flags "$source" -o failure
"$nvcc" $flags "$source" -o failure_linked -L "$root/lib" -Xlinker -rpath="$root/lib" \
    -Xlinker --no-as-needed -lcsan
line_of() { grep -nF -- "$1" "$source" | head -1 | cut -d: -f1; }

run_linked() { run env CSAN=1 LD_LIBRARY_PATH="$root/lib/csan/embedded" "$@"; }
run_under() { run "$csan" run --device=embedded "$@"; }

# KIND, what it is called, the launch's text in the source, the kernel's, "block thread", the line about the
# address
table()
{
    cat <<'ROWS'
far|illegal address|"far")|void write_at|(1,0,0), thread (13,0,0)|writing 4 bytes at 0x
null|illegal address|"null")|void read_at|(0,0,0), thread (40,0,0)|reading 4 bytes at 0x10
host|illegal address|"host")|void read_at|(0,0,0), thread (40,0,0)|reading 4 bytes at 0x
freed|illegal address|"freed")|void write_at|(1,0,0), thread (13,0,0)|writing 4 bytes at 0x[0-9a-f]+, at byte 20 of the 67108864 bytes allocated at .*failure.cu
atomic|illegal address|"atomic")||(0,0,0), thread (5,0,0)|atomically updating 4 bytes at 0x
misaligned|misaligned address|"misaligned")|void misaligned|(0,0,0), thread (3,0,0)|writing 4 bytes at 0x[0-9a-f]+, at byte 2 of the 1024 bytes allocated at .*failure.cu
trap|trap|"trap")|void trapped|(1,0,0), thread (9,0,0)|
assert|assertion failed|"assert")|void asserts(int|(0,0,0), thread (6,0,0)|
stack|stack overflow|"stack")|int deep|(0,0,0), thread (0,0,0)|
ROWS
}

while IFS='|' read -r kind what launch kernel thread access; do
    run_under --options=errors=off ./failure "$kind" stream
    cp out expected
    check "$kind: errors=off says nothing of it" [ -z "$(grep CSAN: err)" ]
    for way in under linked; do
        program=./failure
        [ $way = linked ] && program=./failure_linked
        run_$way $program "$kind" stream
        check "$kind, $way: it is a finding" ended 66
        check "$kind, $way: the program gets what it gets without" cmp -s out expected
        check "$kind, $way: what it is, and the launch" says \
            "^CSAN: $what.* in .*\(.*failure.cu:$(line_of "$launch")\)"
        place="failure.cu:$(line_of "$kernel")"
        [ -z "$kernel" ] && place='device_atomic_functions.hpp:[0-9]+'
        check "$kind, $way: thread and line" says \
            "block ${thread//[()]/.} of grid .*, at .*$place"
        check "$kind, $way: the access" [ -z "$access" -o -n "$(grep -E "^  $access" err)" ]
        check "$kind, $way: the call that reported it" says \
            '^Reported to the program as CUDA_ERROR_[A-Z_]+ by cudaStreamSynchronize, .*failure.cu:'
        check "$kind, $way: once" [ "$(grep -cE "^CSAN: $what" err)" = 1 ]
    done
done < <(table)

# An assertion says its expression; without line information it says its own file and line, too.
"$nvcc" -arch=sm_90 -std=c++17 -cudart shared "$source" -o failure_no_lines
run_under ./failure_no_lines assert stream
check "an assertion's expression" says '^  Assertion `n < 3. failed\.$'
check "... and its place, where the code has no lines" says \
    "thread .6,0,0. of grid 1 x block 32, at .*failure.cu:$(line_of "void asserts(int")"

# Which call reports it is the program's affair.
for call in device event copy query later launches free; do
    run_under --options=errors=off ./failure trap $call
    cp out expected
    run_under ./failure trap $call
    check "$call: the program gets what it gets without" cmp -s out expected
    check "$call: reported" says '^CSAN: trap in trapped'
done
run_under ./failure none stream
check "a program that is right gets no report" ended 0

# Two kernels that fail: the first.
run_under ./failure trap none
check "no call returned it: it is reported at the end" says '^CSAN: trap in trapped'
