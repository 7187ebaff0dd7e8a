# PyTorch's operators followed by a dispatch mode, on the embedded device: with csan's hooks where the
# adapter cannot be built, and without them. Needs a Python with PyTorch: python3, or the one that
# CSAN_TORCH_PYTHON names.

python=${CSAN_TORCH_PYTHON:-python3}
top=$(dirname "$(dirname "$(dirname "$(realpath "$test")")")")
if ! "$python" -c 'import torch' 2>/dev/null; then
    echo "skipped $(basename "$test" .sh): $python has no PyTorch (set CSAN_TORCH_PYTHON)"
    return 0
fi
export CSAN_MACHINE_CODE=skip CXX=$PWD/no-compiler PYTHONDONTWRITEBYTECODE=1

hooked() { run "$root/bin/csan" run --device=embedded "$python" "$@"; }
# The embedded device, with csan's hooks switched off.
traced()
{
    run env CSAN=0 LD_PRELOAD="$root/lib/libcsan.so.0 $root/lib/libcsan_rt.so.0" \
        LD_LIBRARY_PATH="$root/lib/csan/embedded" CSAN_LIBRARY="$root/lib/libcsan.so.0" \
        PYTHONPATH="$root/lib/csan/python" "$python" -c 'import csan_torch, runpy, sys
csan_torch.enable()
runpy.run_path(sys.argv[1], run_name="__main__")' "$@"
}
sample() { echo "$top/samples/torch/$1.py"; }
clean() { [ "$status" = 0 ] && ! grep -q 'CSAN detected' err; }
# raised CODE: under csan run a race has the exit code, whatever the program ended with
raised() { grep -q 'CUDASanitizerErrors: detected 1 errors' err && [ "$status" = "$1" ]; }
# report_has SAMPLE LINE TEXT: a stack with that line, after TEXT
report_has() { grep -A 8 -e "$3" err | grep -q "$1.py\", line $2, in"; }

for name in example_error overlapping_view missing_record_stream non_blocking_copy; do
    run "$python" "$top/tests/torch/check_samples.py" --device=embedded "$root/bin/csan" \
        "$top/samples/torch" $name
    check "hooks: $name is reported with its lines, its fix is not" [ "$status" = 0 ]
done
hooked "$(sample example_error)"
check "hooks: says that it is the slow way" grep -q 'followed by a dispatch mode instead' err
check "hooks: names argument and output" grep -qx 'writing to argument(s) self, out, and to the output' err
check "hooks: the program gets PyTorch's exception" raised 66
hooked "$top/tests/torch/dispatch_raises.py"
check "hooks: the exception can be caught" grep -qx 'raised 1' out
CSAN_OPTIONS=halt_on_error=0 hooked "$top/tests/torch/dispatch_raises.py"
check "hooks: halt_on_error=0 goes on" grep -qx 'raised 0' out
check "hooks: and the exit code says so" [ "$status" = 66 ]
hooked "$top/tests/torch/dispatch_kinds.py"
check "hooks: calls of every kind" grep -qx done out
check "hooks: and no race" clean

traced "$(sample example_error)"
check "trace: says what it cannot see" grep -q "only PyTorch's own operators" err
check "trace: the race is found" report_has example_error 8 'during kernel:'
check "trace: the previous access" report_has example_error 5 '^Previous access'
check "trace: the allocation" report_has example_error 5 '^Tensor was allocated'
check "trace: names argument and output" grep -qx 'writing to argument(s) self, out, and to the output' err
check "trace: the program gets PyTorch's exception" raised 1
for name in example_error_fixed overlapping_view missing_record_stream_fixed; do
    traced "$(sample $name)"
    check "trace: $name is clean, as for PyTorch" clean
done
traced "$top/tests/torch/dispatch_raises.py"
check "trace: the exception can be caught" grep -Eqx 'raised [12]' out
CSAN_OPTIONS=halt_on_error=0 traced "$top/tests/torch/dispatch_raises.py"
check "trace: halt_on_error=0 goes on" grep -qx 'raised 0' out
check "trace: having printed the race" grep -q 'CSAN detected' err
traced "$top/tests/torch/dispatch_kinds.py"
check "trace: calls of every kind" grep -qx done out
check "trace: and no race" clean
