#!/bin/bash
# Instructions that the embedded device took from the figures and tables of the PTX ISA: wgmma, mma.sp,
# tensor copies in im2col mode, tensor maps that kernels make, and reductions by bulk copies. The programs that check them there are
# run on the GPU, without csan, and on the embedded device: both must find the numbers that a loop gives.
#
#   matrices.sh CSAN_ROOT   CSAN_ROOT: an installed tree, or a build
#
# Prints what was wrong and "N passed, N failed". Exit code 1 if any failed. Needs nvcc, and a GPU of
# compute capability 9.0.
set -u
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$1" && pwd) || exit 2
nvcc=$(command -v nvcc || echo "${CUDA_HOME:-/usr/local/cuda}/bin/nvcc")
if [ ! -x "$nvcc" ] || ! "$here/../../scripts/gpu-present"; then
    echo "skipped matrices: no nvcc, or no GPU"
    exit 0
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
libraries=$(dirname "$nvcc")/../lib64${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
passed=0 failed=0

# judge NAME COMMAND...: it must print "done" and succeed.
judge()
{
    local name=$1
    shift
    if "$@" >"$work/out" 2>"$work/err" && [ "$(cat "$work/out")" = done ]; then
        passed=$((passed + 1))
        return
    fi
    failed=$((failed + 1))
    echo "not ok $name"
    sed 's/^/    /' "$work/err" | tail -40
}

for name in cluster_async_numbers cluster_bulk_numbers wgmma_numbers mma_sparse_numbers tensor_im2col_numbers tensor_made_numbers tensor_reduce_numbers; do
    flags=$(sed -n 's|^// flags: ||p' "$here/../integration/$name.cu")
    # shellcheck disable=SC2086
    if ! "$nvcc" -cudart shared -std=c++14 ${flags:--arch=sm_90} -I"$root/include" -I"$here/../../include" \
        "$here/../integration/$name.cu" -o "$work/$name" -lcuda; then
        failed=$((failed + 2))
        continue
    fi
    judge "$name on the GPU" env CSAN=0 LD_LIBRARY_PATH="$libraries" "$work/$name"
    judge "$name on the embedded device" "$root/bin/csan" run --device=embedded "$work/$name"
done
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
