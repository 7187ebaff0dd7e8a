#!/bin/bash
# Which products cuBLASLt has, by epilogue, type and transposition: csan's own library must refuse
# what NVIDIA's refuses on this GPU. What csan's own refuses besides is counted, and no error.
#
#   epilogues.sh CSAN_ROOT   CSAN_ROOT: an installed tree, or a build
#
# Prints "not ok PRODUCT: why" and "N passed, N failed". Exit code 1 if any failed. Needs nvcc.
set -u
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$1" && pwd) || exit 2
nvcc=$(command -v nvcc || echo "${CUDA_HOME:-/usr/local/cuda}/bin/nvcc")
if [ ! -x "$nvcc" ] || ! "$here/../../scripts/gpu-present"; then
    echo "skipped epilogues: no nvcc, or no GPU"
    exit 0
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
libraries=$(dirname "$nvcc")/../lib64${CSAN_TEST_LIBRARIES:+:$CSAN_TEST_LIBRARIES}
"$nvcc" -cudart shared -std=c++14 "$here/epilogues.cu" -o "$work/epilogues" -lcublasLt || exit 1
LD_LIBRARY_PATH=$libraries "$work/epilogues" >"$work/gpu" || { cat "$work/gpu"; exit 1; }
"$root/bin/csan" run --device=embedded "$work/epilogues" >"$work/embedded" 2>"$work/said" || { cat "$work/said"; exit 1; }
paste -d' ' "$work/gpu" "$work/embedded" | awk '
    { passed++ }
    $4 != 0 && $8 == 0 { print "not ok " $1 " " $2 " " $3 ": a GPU answers " $4 ", csan has it"; passed--; failed++ }
    $4 == 0 && $8 != 0 { lacking++ }
    END { print passed + 0 " passed, " failed + 0 " failed; " lacking + 0 " of these csan does not have"; exit failed > 0 }'
