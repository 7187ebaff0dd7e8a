#!/bin/bash
# On a GPU: programs that are right, with host=guard. Each prints what it prints without csan, ends in time, and nothing
# is found: PyTorch, Triton, CuPy, Numba's own tests of pinned and managed memory; on two GPUs copies between them and NCCL.
# Then the programs of tests/integration whose names begin with host_, where CSAN_ROOT has them built.
#
#   [CSAN_TEST_HOST=content] host_guard.sh CSAN_ROOT
#
# CSAN_TEST_HOST: another value of option host. What is not installed is skipped. The last line is "host_guard: N passed, N failed".
set -u
root=$(cd "${1:?where csan is installed}" && pwd)
here=$(cd "$(dirname "$0")" && pwd)
tree=$(cd "$here/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
passed=0 failed=0

has() { python3 -c "$1" >/dev/null 2>&1; }
check()
{
    local what=$1
    shift
    if "$@"; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "not ok $what"
        diff "$work/plain" "$work/out" | head -10
        grep -E '^(CSAN|csan|Fatal|Segm|Traceback|[A-Za-z.]*Error)' "$work/err" | head -25
    fi
}

# unharmed NAME COMMAND...: the same output and exit code, no finding; says what was guarded.
unharmed()
{
    local name=$1 code began
    shift
    timeout 300 "$@" >"$work/plain" 2>/dev/null </dev/null
    code=$?
    began=$SECONDS
    timeout 300 "$root/bin/csan" run --device=gpu --options=host="${CSAN_TEST_HOST:-guard}" "$@" >"$work/out" 2>"$work/err" </dev/null
    status=$?
    check "$name: ends with $code, as without csan" [ $status = $code ]
    check "$name: prints the same" cmp -s "$work/plain" "$work/out"
    check "$name: nothing is found" eval '! grep -qE "^CSAN(:| detected)" "$work/err"'
    echo "$name: $((SECONDS - began)) s; $(grep -oE 'host memory: .*' "$work/err" | tr '\n' ';')"
}

if has 'import torch; assert torch.cuda.is_available()'; then
    unharmed pytorch python3 "$here/pytorch_unharmed.py"
    unharmed pytorch_silent python3 "$here/torch_silent.py"
    has 'import triton' && unharmed triton python3 "$here/triton_unharmed.py"
else
    echo "skipped PyTorch: it is not here, or sees no GPU"
fi
if has 'import cupy; assert cupy.cuda.runtime.getDeviceCount() > 0'; then
    unharmed cupy python3 "$here/cupy_unharmed.py"
    unharmed cupy_host python3 "$here/host_guard_cupy.py"
else
    echo "skipped CuPy: it is not here, or sees no GPU"
fi
if has 'import numba.cuda.tests; from numba import cuda; assert cuda.is_available()'; then
    for name in pinned host_alloc managed_alloc cuda_memory cuda_ndarray streams events; do
        if timeout 200 python3 -m unittest "numba.cuda.tests.cudadrv.test_$name" >/dev/null 2>&1; then
            unharmed "numba_$name" python3 -m unittest "numba.cuda.tests.cudadrv.test_$name"
        else
            echo "skipped numba_$name: it fails without csan"
        fi
    done
else
    echo "skipped Numba: it is not here, or sees no GPU"
fi
if has 'import torch; assert torch.cuda.device_count() > 1'; then
    unharmed two_gpus python3 "$tree/tests/torch/programs/two_gpus.py"
    unharmed nccl python3 "$here/host_guard_nccl.py"
else
    echo "skipped two GPUs: there are fewer"
fi
if [ -d "$root/tests/programs/run" ] || [ -d "$root/tests/programs/plain" ]; then
    names=$(cd "$tree/tests/integration" && ls host_*.cu | sed 's/\.cu$//')
    "$tree/scripts/run-integration" --root "$root" --device gpu --only "$(echo $names)" "$tree/tests/integration" >"$work/programs" 2>&1
    grep -E '^not ok' "$work/programs"
    passed=$((passed + $(grep -c '^ok' "$work/programs"))) failed=$((failed + $(grep -c '^not ok' "$work/programs")))
    tail -1 "$work/programs"
    "$tree/scripts/compare-guard" --root "$root" --device gpu --jobs 8 "$tree/tests/integration/guard_differences" \
        "$tree/tests/integration" >"$work/compared" 2>&1
    check "the other programs do the same with host=guard" eval '! grep "^not ok" "$work/compared" && tail -1 "$work/compared"'
else
    echo "skipped the programs of tests/integration: they are not built in $root"
fi
echo "host_guard: $passed passed, $failed failed"
[ $failed = 0 ]
