# Triton's kernels for sm_90 on the embedded device: products by warp groups, tensor descriptors of
# the host's and of the kernel's own, attention and its gradients, compared with NumPy's results. Needs
# a Python with PyTorch, Triton and NumPy: python3, or the one that CSAN_TORCH_PYTHON names.

python=${CSAN_TORCH_PYTHON:-python3}
csan=$root/bin/csan
sources=$(dirname "$(dirname "$(realpath "$test")")")/torch
if ! "$python" -c 'import torch, numpy, triton.tools.tensor_descriptor' 2>/dev/null; then
    echo "skipped $(basename "$test" .sh): $python has no PyTorch with Triton and NumPy (set CSAN_TORCH_PYTHON)"
    return 0
fi
export CSAN_MACHINE_CODE=skip TRITON_LIBCUDA_PATH=$root/lib/csan/embedded TRITON_CACHE_DIR=$PWD/triton
run "$csan" run --device=embedded --options=verify_ranges=1 "$python" "$sources/triton_kernels.py"
check "every kernel ran to its end" [ "$status" = 0 ]
check "every result is NumPy's" [ "$(grep -vc '^ok ' out)" = 0 ]
check "there are as many as there should be" [ "$(grep -c '^ok ' out)" -ge 45 ]
check "what kernels touch is what their PTX says" grep -q "ranges: attend_backward: 1 launches, 0 incomplete, 0 not judged, pointers: 9 exact" err
check "no race was reported" grep -q ', 0 races, 0 possible races' err
