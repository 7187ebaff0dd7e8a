# Python's stacks in programs without PyTorch: of every CPython that is on the path, and of those that
# CSAN_TEST_PYTHONS names.

csan=$root/bin/csan
tests=$(dirname "$(dirname "$(realpath "$test")")")/python
says() { grep -Eq -- "$1" err; }
ended() { [ "$status" = "$1" ]; }

# One of each version; what a name leads to, which may be a script.
pythons=() versions=" "
for python in python3 python3.{8..14} ${CSAN_TEST_PYTHONS:-}; do
    found=$("$python" -c 'import platform, sys
if platform.python_implementation() == "CPython": print("%d.%d" % sys.version_info[:2], sys.executable)' 2>/dev/null) && [ "$found" ] || continue
    case $versions in *" ${found%% *} "*) continue ;; esac
    pythons+=("${found#* }") versions+="${found%% *} "
done
if [ ${#pythons[@]} = 0 ]; then
    echo "skipped $(basename "$test" .sh): there is no CPython"
    return 0
fi

race_of() { awk -v RS='============================' -v text="$1" 'index($0, text)' err; }

for python in "${pythons[@]}"; do
    version=$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
    run env CSAN_OPTIONS=halt_on_error=0 "$csan" run --device=embedded "$python" "$tests/streams.py"
    check "$version: the program runs through" eval 'ended 66 && grep -q ^done out'
    check "$version: each race is reported" says ', 7 races, 0 possible'
    check "$version: from a generator" eval 'race_of "in fills" | grep -q "yield fill(buffer, stream)  # in a generator"'
    check "$version: from a function with a name of any letters" says 'streams.py", line [0-9]+, in füllen_自$'
    check "$version: from code that was made again where other code was" eval \
        '[ "$(grep -o "made.py\", line [0-9]*" err | sort -u | tr -d "\n")" = \
"made.py\", line 112made.py\", line 12made.py\", line 122made.py\", line 132made.py\", line 22made.py\", line 32" ]'
    check "$version: from a deep recursion, its inner frames" eval '[ "$(race_of "in deep" | grep -c "in deep")" -ge 50 ]'
    check "$version: from a thread, with the memory's allocation" eval \
        'race_of "in threaded" | grep -A9 "^The memory was allocated" | grep -q "in memory"'
    check "$version: nothing of the interpreter itself" eval '! says "_PyEval|PyObject|libffi"'
    run "$csan" run --device=embedded "$python" "$tests/identity.py"
    check "$version: code made where other code was has its own lines" eval '[ "$(cat out)" = "0 0" ]'
    run "$csan" run --device=embedded "$python" "$tests/stacks.py"
    check "$version: random stacks are what the interpreter says" eval '[ "$(cat out)" = "compared 0" ]'
done

python=${pythons[0]}
run env CSAN_OPTIONS=python_stacks=0 "$csan" run --device=embedded "$python" "$tests/streams.py"
check "python_stacks=0 leaves native frames" eval 'says "#0 " && ! says "File \"" && ended 66'
run env CSAN_OPTIONS=halt_on_error=0:check=0:record=python.csan "$csan" run --device=embedded "$python" "$tests/streams.py"
run "$csan" replay python.csan
check "a recording has the lines, too" says '  File ".*streams.py", line [0-9]+, in fills$'

run env CSAN_OPTIONS=format=sarif:log_path=python.sarif "$csan" run --device=embedded "$python" "$tests/streams.py"
check "tools are led to a line of the program's" eval \
    'grep "^    \"locations\"" python.sarif* | grep -q "streams.py\"}, \"region\""'

source=$(dirname "$(dirname "$tests")")
run_foreign gcc -shared -fPIC -I"$source" -o lines.so "$source/runtime/python/lines.c"
check "lines.c stands alone" ended 0
for python in "${pythons[@]}"; do
    run_foreign "$python" "$tests/lines.py" ./lines.so
    check "$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])'): lines are the interpreter's own" \
        eval 'ended 0 && grep -q instructions out'
done
