# A fixed batch of random kernels (tests/fuzz/kernels/fixed.cu) for each compiler generation: what
# the analysis derives for every launch must hold what the embedded device saw. `make fuzz` plays new
# ones.

batches=$(dirname "$(dirname "$(realpath "$test")")")/../build/data/fuzz

for architecture in 75 90 100; do
    run "$root/tests/fuzz/fuzz_kernels" --launches 2400 --keep kept "$batches/fixed.sm_$architecture.ptx"
    check "120 kernels for compute_$architecture have right sets" [ "$status" = 0 ]
done

run "$root/tests/fuzz/fuzz_kernels" --launches 360 --spoil --keep kept "$batches/fixed.sm_90.ptx"
check "a set that lacks a range is found out" [ "$status" = 1 ]
check "and leaves the kernel to look at" sh -c 'ls kept/1-k*.cu kept/1-k*.ptx kept/1-k*.spec >/dev/null'
