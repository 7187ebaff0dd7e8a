#!/bin/bash
# What cuBLAS, cuFFT and NCCL touch is known when Python programs call them on a GPU: a result that
# another stream reads early is a race, named as the program would name it, and with an event none.
# (Programs that are linked with the libraries are among the integration programs.)
#
#   libraries.sh ROOT     ROOT holds bin/csan
#
# Prints "ok NAME" or "not ok NAME: why"; skips what is not installed. Exit code 1 if any failed.
set -u
csan=$(cd "$1" && pwd)/bin/csan
program=$(cd "$(dirname "$0")" && pwd)/library_race.py
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
failed=0

# check WHAT NAMED REJECTED: a race whose report matches NAMED and not REJECTED; none when fixed.
check()
{
    local what=$1 named=$2 rejected=$3 errors=$scratch/$1 races
    timeout 180 "$csan" run --device=gpu python3 "$program" "$what" >/dev/null 2>"$errors" </dev/null
    if ! grep -q -E '^CSAN(:| detected a) (possible )?data race' "$errors"; then
        echo "not ok $what: no race was reported"; tail -5 "$errors"; failed=1
    elif ! grep -Eq -- "$named" "$errors" || grep -Eq -- "$rejected" "$errors"; then
        echo "not ok $what: the report lacks /$named/ or has /$rejected/"; head -40 "$errors"; failed=1
    else
        echo "ok $what ($(grep '^csan: [0-9]* op' "$errors"))"
    fi
    timeout 180 "$csan" run --device=gpu python3 "$program" "$what" fixed >/dev/null 2>"$errors" </dev/null
    races=$(grep -o '[0-9]* races\?, [0-9]* possible' "$errors" | tail -1)
    if [[ $races == "0 races, 0 possible" ]]; then
        echo "ok $what fixed"
    else
        echo "not ok $what fixed: '$races'"; head -40 "$errors"; failed=1
    fi
}

if python3 -c 'import torch; assert torch.cuda.is_available()' 2>/dev/null; then
    check blas 'aten::mm' 'cublas'
    check fft 'aten::' 'cufft'
    if python3 -c 'import torch.cuda.nccl as n; n.version()' 2>/dev/null; then
        check nccl 'ncclAllReduce' 'no such report'
    else
        echo "skipped nccl: this PyTorch has none"
    fi
else
    echo "skipped cuBLAS, cuFFT and NCCL in PyTorch: no PyTorch that sees a GPU"
fi
if python3 -c 'import cupy; assert cupy.cuda.runtime.getDeviceCount() > 0' 2>/dev/null; then
    check cupy 'cublas' 'no such report'
else
    echo "skipped cuBLAS in CuPy: no CuPy that sees a GPU"
fi
exit $failed
