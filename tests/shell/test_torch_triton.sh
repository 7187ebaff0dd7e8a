# Kernels of Triton and of torch.compile on the embedded device: their machine code keeps its PTX,
# which both the device and the ranges come from; without line information it is given. Needs a
# Python with PyTorch and Triton: python3, or the one that CSAN_TORCH_PYTHON names.

python=${CSAN_TORCH_PYTHON:-python3}
csan=$root/bin/csan
sources=$(dirname "$(dirname "$(realpath "$test")")")/torch
if ! "$python" -c 'import torch, triton' 2>/dev/null; then
    echo "skipped $(basename "$test" .sh): $python has no PyTorch with Triton (set CSAN_TORCH_PYTHON)"
    return 0
fi
export CSAN_MACHINE_CODE=skip TRITON_LIBCUDA_PATH=$root/lib/csan/embedded
export TRITON_CACHE_DIR=$PWD/triton TORCHINDUCTOR_CACHE_DIR=$PWD/inductor TORCHINDUCTOR_COMPILE_THREADS=1
sums() { run "$csan" run --device=embedded "$python" "$sources/triton_streams.py" "$@"; }
certain_race() { grep -q ', 1 race, 0 possible races' err && grep -q 'both accesses are exact' err; }
right_without_a_race() { grep -qx done out && grep -q ', 0 races, 0 possible races' err; }

for maker in triton compile; do
    sums $maker race
    check "$maker: the race is found" certain_race
    sums $maker event
    check "$maker: an event orders it" right_without_a_race
    sums $maker halves
    check "$maker: halves do not overlap" right_without_a_race
done
check "the kernels are known by ranges" grep -Eq '[0-9]+ ranges' err
export TRITON_DISABLE_LINE_INFO=1
for maker in triton compile; do
    sums $maker race
    check "$maker: the race is found without line information" certain_race
done
