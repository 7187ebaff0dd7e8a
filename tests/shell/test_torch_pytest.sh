# pytest --csan over the PyTorch samples: the racy ones fail, their twins pass. Needs a Python with PyTorch: python3, or
# the one that CSAN_TORCH_PYTHON names.

python=${CSAN_TORCH_PYTHON:-python3}
tree=$(realpath "$(dirname "$test")/../..")
if ! "$python" -c 'import torch' 2>/dev/null; then
    echo "skipped $(basename "$test" .sh): $python has no PyTorch (set CSAN_TORCH_PYTHON)"
    return 0
fi
if [ ! -d "$tree/build/pytest" ]; then
    echo "skipped $(basename "$test" .sh): there is no build/pytest (scripts/setup.sh)"
    return 0
fi
cp -r "$tree/runtime/wheel/csan" .
printf '[pytest]\naddopts = -p csan.pytest_plugin\n' >pytest.ini
run env -u CSAN_DEVICE PYTHONPATH="$scratch:$tree/build/pytest" CSAN_COMMAND="$root/bin/csan" CSAN_MACHINE_CODE=skip \
    CSAN_SAMPLES="$tree/samples/torch" "$python" -m pytest -c pytest.ini -p no:cacheprovider -v --csan \
    --csan-device=embedded "$tree/tests/torch/pytest"
check "pytest fails" [ "$status" = 1 ]
for sample in "$tree"/samples/torch/*_fixed.py; do
    name=$(basename "$sample" _fixed.py)
    case $name in allreduce* | triton*) continue ;; esac
    check "$name fails" grep -q "test_sample\[$name\] FAILED" out
    check "${name}_fixed passes" grep -q "test_sample\[${name}_fixed\] PASSED" out
done
