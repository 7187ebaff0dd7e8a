# Arrays of Python over pinned, registered and managed memory, with host=guard: reports name the line that reads or writes
# too early, and the same program that waits is silent. NumPy's need NumPy, which scripts/setup.sh gets; PyTorch's and
# Numba's run where these are. tests/gpu/host_python.sh runs all of them on a GPU.
tree=$(realpath "$(dirname "$test")/../..")
export PYTHONPATH=$tree/build/numpy${PYTHONPATH:+:$PYTHONPATH}
if ! python3 -c 'import numpy' 2>/dev/null; then
    echo "skipped $(basename "$test" .sh): there is no NumPy"
    return 0
fi
# Not here: what needs kernels of NVIDIA's libraries, or a compiler of its own.
unfit='torch_read_early|torch_non_blocking_to_cpu|cupy_[a-z_]*|numba_managed_kernel'
cases=$(python3 "$tree/tests/python/host_accesses.py" --list | grep -Ev "^($unfit)\$")
CSAN_TEST_DEVICE=embedded "$tree/tests/gpu/host_python.sh" "$root" $cases >all 2>&1
grep -E '^not ok' all | sed "s/^not ok /not ok $(basename "$test" .sh): /"
sed -n 's/^ok /ok '"$(basename "$test" .sh)"': /p' all
grep -vE '^(not )?ok|^skipped' all | head -40
