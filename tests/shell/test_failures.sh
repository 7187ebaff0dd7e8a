# Kernels that fail, by kind, linked and under csan run: the report has kernel, line, thread, address and
# memory, and the program gets what it gets without csan.

says() { grep -Eq -- "$1" err; }
ended() { [ "$status" = "$1" ]; }

csan=$root/bin/csan
source=$(dirname "$test")/../gpu/failure.cu
flags="-g -lineinfo -arch=sm_90 -std=c++17 -cudart shared"
"$nvcc" $flags "$source" -o failure
"$nvcc" $flags "$source" -o failure_linked -L "$root/lib" -Xlinker -rpath="$root/lib" \
    -Xlinker --no-as-needed -lcsan
line_of() { grep -nF -- "$1" "$source" | head -1 | cut -d: -f1; }

run_linked() { run env CSAN=1 LD_LIBRARY_PATH="$root/lib/csan/embedded" "$@"; }
run_under() { run "$csan" run --device=embedded "$@"; }

# Of each kind, all that failure_table.sh says.
. "$(dirname "$source")/failure_table.sh"
for kind in $(failure_table | cut -d'|' -f1); do
    launch=failure.cu:$(line_of "\"$kind\")")
    run_under --options=errors=off ./failure "$kind" stream
    cp out expected
    check "$kind: errors=off says nothing of it" [ -z "$(grep CSAN: err)" ]
    for way in under linked; do
        program=./failure
        [ $way = linked ] && program=./failure_linked
        run_$way $program "$kind" stream
        check "$kind, $way: it is a finding" ended 66
        check "$kind, $way: the program gets what it gets without" cmp -s out expected
        while IFS='|' read -r name pattern; do
            check "$kind, $way: $name" says "$pattern"
        done < <(failure_lines "$kind" embedded "$launch" "failure.cu:$(line_of 'cudaMalloc(&p')" "$launch")
        check "$kind, $way: the call and its line" says \
            '^Reported to the program as CUDA_ERROR_[A-Z_]+ by cudaStreamSynchronize, .*failure.cu:'
        check "$kind, $way: once" [ "$(grep -c '^Reported to the program' err)" = 1 ]
    done
done

# Without line information an assertion says its own file and line.
"$nvcc" -arch=sm_90 -std=c++17 -cudart shared "$source" -o failure_no_lines
run_under ./failure_no_lines assert stream
check "an assertion's expression, where the code has no lines" says '^  Assertion `n < 3. failed\.$'
check "... and its place, where the code has no lines" says \
    "thread .6,0,0. of grid 1 x block 32, at .*failure.cu:$(line_of "void asserts(")"

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

# Where they are hard to identify: a node of a graph, a module that goes, two devices at once.
cases=$(dirname "$source")/failure_cases.cu
case_line() { grep -n -- "// $1\$" "$cases" | head -1 | cut -d: -f1; }
"$nvcc" $flags "$cases" -o failure_cases -lcuda
"$nvcc" -fatbin -lineinfo -gencode arch=compute_90,code=[sm_90,compute_90] -std=c++17 "$source" -o failure.fatbin
run_under ./failure_cases node
check "a graph's node: its kernel" says '^  kernel reads\('
check "a graph's node: its thread" says '^  block \(0,0,0\), thread \(5,0,0\) of grid 2 x block 32'
check "a graph's node: where it was made" says "failure_cases.cu:$(case_line node)"
run_under ./failure_cases module failure.fatbin
check "a module that goes: the launch" says "^CSAN: misaligned .*failure_cases.cu:$(case_line module)\)"
run_under ./failure_cases handler
check "a handler of SIGABRT is not called" [ "$(grep -c handler out)" = 0 ]
export CSAN_DEVICES=2
for turn in 1 2 3 4; do
    run_under ./failure_cases two_devices
    check "two devices at once, $turn: what each gets" [ "$(cat out)" = 'device 0: 716 716 716
device 1: 719 719 719' ]
    check "two devices at once, $turn: the first" says "^CSAN: misaligned .*failure_cases.cu:$(case_line 'device 0')\)"
    check "two devices at once, $turn: the second" says "^CSAN: trap .*failure_cases.cu:$(case_line 'device 1')\)"
done
run_under ./failure_cases one_of_two
check "one device of two: the other goes on" [ "$(tail -1 out)" = 'other copy 0' ]
unset CSAN_DEVICES

# Two kernels that fail: the first.
run_under ./failure trap none
check "no call returned it: it is reported at the end" says '^CSAN: trap in trapped'
