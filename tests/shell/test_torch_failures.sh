# The kernels of tests/gpu/failure.cu that fail, in a program of PyTorch on the embedded device: what PyTorch raises is what
# it raises without csan, and the report has all that failure_table.sh says. Needs a Python with PyTorch: python3, or the one
# that CSAN_TORCH_PYTHON names.

python=${CSAN_TORCH_PYTHON:-python3}
csan=$root/bin/csan
sources=$(cd "$(dirname "$test")/../gpu" && pwd)
if ! "$python" -c 'import torch' 2>/dev/null; then
    echo "skipped $(basename "$test" .sh): $python has no PyTorch (set CSAN_TORCH_PYTHON)"
    return 0
fi
. "$sources/failure_table.sh"
says() { grep -Eq -- "$1" err; }
"$nvcc" -fatbin -lineinfo -gencode arch=compute_90,code=[sm_90,compute_90] -std=c++17 "$sources/failure.cu" -o failure.fatbin
export CSAN_MACHINE_CODE=skip
with() { run "$csan" run --device=embedded --options="$1" "$python" "$sources/torch_kinds.py" failure.fatbin "$2"; }

for kind in none $(failure_table | cut -d'|' -f1); do
    with errors=off "$kind"
    cp out expected
    with halt_on_error=0 "$kind"
    check "$kind: PyTorch raises what it raises without" cmp -s out expected
    if [ "$kind" = none ]; then
        check "a program that is right gets no report" eval '! says "^CSAN" && grep -q "^synchronize well" out'
        continue
    fi
    check "$kind: an exception" grep -q '^synchronize AcceleratorError CUDA error: \|^synchronize RuntimeError CUDA error: ' out
    while IFS='|' read -r name pattern; do
        check "$kind: $name" says "$pattern"
    done < <(torch_lines "$kind" embedded)
done
