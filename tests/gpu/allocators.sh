#!/bin/bash
# On a GPU: the memory pools of CuPy, RMM, Numba, PyTorch and JAX (tests/python/pools.py). A block that a second stream still
# uses when the pool gives it out again is reported, and the same program that waits is silent. Neighbouring blocks that two
# streams use are silent, and possible races where csan does not follow the pool. There a reuse may be hidden: the program
# and its twin get the same report.
#
#   allocators.sh CSAN_ROOT [CASE...]
#
# What is not installed is skipped. PYTHON names another interpreter than python3. WHEELS names a folder of wheels that pip
# installs for this run alone, without the network and without what they need. With CSAN_TEST_DEVICE=embedded, so is skipped
# what does not start there. The last line is "allocators: N passed, N failed".
set -u
root=$(cd "${1:?where csan is installed}" && pwd)
shift
here=$(cd "$(dirname "$0")" && pwd)
program=$here/../python/pools.py
python=${PYTHON:-python3}
device=${CSAN_TEST_DEVICE:-gpu}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
passed=0 failed=0
# Kernels of CuPy then come as PTX, which the embedded device can run.
[ "$device" = gpu ] || export CUPY_COMPILE_WITH_PTX=1 CSAN_MACHINE_CODE=skip

if [ -n "${WHEELS:-}" ]; then
    "$python" -m pip install -q --no-index --no-deps --no-compile --target "$work/site" "$WHEELS"/*.whl || exit 1
    export PYTHONPATH=$work/site${PYTHONPATH:+:$PYTHONPATH}
fi
found=$("$python" "$program" --list) || exit 1
cases=${*:-$found}
for name in $(sed -n 's/^def \(\(cupy\|rmm\|numba\|torch\|jax\)_[a-z_]*\)():.*/\1/p' "$program"); do
    case " $(echo $found) " in *" $name "*) ;; *) echo "skipped $name: $python has not its packages" ;; esac
done

# taken OPTIONS CASE [right]
taken()
{
    local options=$1
    shift
    timeout 300 "$root/bin/csan" run --device="$device" --options="$options" "$python" $isolated "$program" "$@" >"$work/out" 2>"$work/err"
}
isolated=

# The same with the pool not followed. csan_torch comes by PYTHONPATH.
taken_unfollowed()
{
    [[ $2 != torch_* ]] || isolated=-I
    taken "$1:python_pools=0" "${@:2}"
    isolated=
}
headlines() { grep -E '^(CSAN|Cause:)' "$work/err" | sed 's/stream [0-9]*/stream/g; s/pointer [0-9]*//'; }

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
        grep -v '^    ' "$work/err" | head -40
    fi
}

reports() { grep -cE '^CSAN(:| detected)' "$work/err"; }
possible() { sed -n 's/^csan: .*, \([0-9]*\) possible race.*/\1/p' "$work/err" | head -1; }
starts_here() { ! grep -qE 'cudaErrorSymbolNotFound|No visible GPU devices|Unable to load cu' "$work/err"; }
# CuPy's and RMM's pools say so; JAX's memory is freed for its own stream.
reason() { [[ $1 == jax_* ]] && echo 'CSAN: ' || echo '^Cause: memory reused while stream [^ ]* still uses it'; }

for name in $cases; do
    taken trace=0 "$name" right
    status=$?
    if [ "$device" = embedded ] && ! starts_here; then
        echo "skipped $name: its package does not start on the embedded device (CUDA runtime linked statically)"
        continue
    fi
    check "$name, right: ends well" eval '[ $status = 0 ] && grep -qx done "$work/out"'
    check "$name, right: nothing is found" [ "$(reports)" = 0 ]
    case $name in
    *_apart)
        check "$name: no possible race" [ "$(possible)" = 0 ]
        XLA_PYTHON_CLIENT_ALLOCATOR=default taken trace=0:python_pools=0 "$name"
        # A GPU's machine code says exactly what CuPy's kernels touch, and the embedded device's PTX does not.
        if [[ $name == cupy_* && $device != gpu ]]; then
            check "$name: possible where the pool is not followed" [ "$(possible)" != 0 ]
        else
            echo "# $name: $(possible) possible races where the pool is not followed"
        fi
        ;;
    *_hidden)
        taken trace=0:fail_on=possible "$name"
        check "$name: ends with 66" [ $? = 66 ]
        check "$name: the report says why" grep -q "$(reason "$name")" "$work/err"
        check "$name: one report" [ "$(reports)" = 1 ]
        taken_unfollowed trace=0 "$name" right
        headlines >"$work/twin"
        taken_unfollowed trace=0 "$name"
        check "$name: hidden where the pool is not followed: the twin has the same report" \
            eval '[ "$(reports)" = 1 ] && ! grep -q "memory reused" "$work/err" && cmp -s "$work/twin" <(headlines)'
        ;;
    *)
        taken trace=0 "$name"
        check "$name: ends with 66" [ $? = 66 ]
        check "$name: the report says why" grep -q "$(reason "$name")" "$work/err"
        # What JAX frees early is found at the free, and where it is used again.
        [[ $name == jax_* ]] || check "$name: one report" [ "$(reports)" = 1 ]
        taken trace=0:python_pools=0 "$name"
        echo "# $name: without python_pools: $(sed -n 's/^Cause: //p' "$work/err" | head -1)$(grep -o '[0-9]* races*, [0-9]* possible races*' "$work/err" | tail -1)"
        ;;
    esac
done
echo "allocators: $passed passed, $failed failed"
[ $failed = 0 ]
