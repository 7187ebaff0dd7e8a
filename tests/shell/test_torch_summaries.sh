# Steps of PyTorch's models on the embedded device with operators from summaries: a first process comes to rest, a second
# begins so. Needs a Python with PyTorch: python3, or the one that CSAN_TORCH_PYTHON names.

python=${CSAN_TORCH_PYTHON:-python3}
script=$(dirname "$(dirname "$(realpath "$test")")")/gpu/torch_summaries.sh
if ! "$python" -c 'import torch' 2>/dev/null; then
    echo "skipped $(basename "$test" .sh): $python has no PyTorch (set CSAN_TORCH_PYTHON)"
    return 0
fi
CSAN_TEST_DEVICE=embedded CSAN_TORCH_PYTHON=$python "$script" "$root" steps >steps.log 2>&1
for model in pointwise tokens; do
    for process in first second; do
        check "$model, $process process: operators rest" grep -qx "ok rest $model, $process process" steps.log
    done
done
