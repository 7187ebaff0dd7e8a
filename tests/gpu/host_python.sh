#!/bin/bash
# On a GPU: arrays of NumPy, PyTorch, CuPy and Numba over pinned, registered and managed memory that the host reads or
# writes too early. With host=guard csan names the Python line; the same program that waits is silent.
#
#   host_python.sh CSAN_ROOT [CASE...]
#
# What is not installed is skipped. The last line is "host_python: N passed, N failed".
set -u
root=$(cd "${1:?where csan is installed}" && pwd)
shift
here=$(cd "$(dirname "$0")" && pwd)
program=$here/../python/host_accesses.py
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
passed=0 failed=0
device=${CSAN_TEST_DEVICE:-gpu}
# Numba's compiler does not work with every NumPy.
compiles() { [ "$1" != numba_managed_kernel ] || python3 "$program" "$1" right >/dev/null 2>&1; }
cases=$(for name in ${*:-$(python3 "$program" --list)}; do compiles "$name" && echo "$name"; done)
[ -n "$cases" ] || { echo "skipped host_python: no NumPy"; exit 0; }
for name in $(sed -n 's/^def \(\(numpy\|torch\|cupy\|numba\)_[a-z_]*\)().*/\1/p' "$program"); do
    case " $(echo $cases) " in *" $name "*) ;; *) echo "skipped $name: not asked for, or its package is not here or does not work here" ;; esac
done

line_of() { awk -v name="$1" '$0 ~ "^def " name "\\(" { inside = 1 } inside && /# too early/ { print NR; exit }' "$program"; }
taken() { timeout 200 "$root/bin/csan" run --device="$device" --options=host=guard python3 "$program" "$@" >"$work/out" 2>"$work/err"; }

check()
{
    local what=$1
    shift
    if "$@"; then
        passed=$((passed + 1))
        echo "ok $what"
    else
        failed=$((failed + 1))
        echo "not ok $what"
        cat "$work/out"
        grep -v '^    ' "$work/err" | head -25
    fi
}

# The line in the headline, or, as PyTorch's own sanitizer writes, as the innermost frame of the access.
names_line()
{
    grep -qE "^CSAN: data race: .*host_accesses.py:$1\) does not wait for " "$work/err" ||
        sed -n '/^Access by the host/,/^Previous access/p' "$work/err" | grep -qE "host_accesses.py\", line $1, in "
}

for name in $cases; do
    taken "$name"
    check "$name: ends with 66" [ $? = 66 ]
    check "$name: the report names the access" names_line "$(line_of "$name")"
    check "$name: one report" [ "$(grep -cE '^CSAN(:| detected)' "$work/err")" = 1 ]
    taken "$name" right
    check "$name, right: ends well" [ $? = 0 ]
    check "$name, right: nothing is found" eval 'grep -qx done "$work/out" && ! grep -qE "^CSAN(:| detected)" "$work/err"'
done
echo "host_python: $passed passed, $failed failed"
[ $failed = 0 ]
