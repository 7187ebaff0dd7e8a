# Arrays of Python over pinned, registered and managed memory, with host=guard: reports name the line that reads or writes
# too early, and the same program that waits is silent. NumPy's need NumPy, which scripts/setup.sh gets; PyTorch's and
# Numba's run where these are. tests/gpu/host_python.sh runs all of them on a GPU.
tree=$(realpath "$(dirname "$test")/../..")
export PYTHONPATH=$tree/build/numpy${PYTHONPATH:+:$PYTHONPATH}
if ! python3 -c 'import numpy' 2>/dev/null; then
    echo "skipped $(basename "$test" .sh): there is no NumPy"
    return 0
fi
# A thread of OpenMP's runs no Python: the line that began its region is named.
cat >region.c <<'EOF'
#include <omp.h>
/* The second thread of a region alone touches the memory. */
int touch(const int *memory)
{
    int value = 0;
#pragma omp parallel num_threads(2)
    if (omp_get_thread_num() == 1)
        value = *(const volatile int *)memory;
    return value;
}
int touch_in_loop(const int *memory)
{
    int sum = 0;
    volatile int other = 0;
#pragma omp parallel for schedule(dynamic, 1) num_threads(2) reduction(+ : sum)
    for (int i = 0; i < 2; i++) {
        while (i == 0 && !other) /* so that each thread has one turn */
            ;
        other = 1;
        sum += omp_get_thread_num() == 1 ? *(const volatile int *)memory : 0;
    }
    return sum;
}
EOF
cat >region.py <<'EOF'
import ctypes
import sys

cuda = ctypes.CDLL(f"libcudart.so.{sys.argv[1]}")
library = ctypes.CDLL("./libregion.so")
host, device, stream = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p()
cuda.cudaMallocHost(ctypes.byref(host), ctypes.c_size_t(65536))
cuda.cudaMalloc(ctypes.byref(device), ctypes.c_size_t(65536))
cuda.cudaStreamCreateWithFlags(ctypes.byref(stream), 1)
cuda.cudaMemcpyAsync(host, device, ctypes.c_size_t(65536), 2, stream)
if sys.argv[2] == "right":
    cuda.cudaStreamSynchronize(stream)
if library[sys.argv[3]](host) != 0:  # too early
    print("wrong")
cuda.cudaStreamSynchronize(stream)
print("done")
EOF
region() { run "$root/bin/csan" run --device=embedded --options=host=guard python3 region.py 13 "$@"; }
if gcc -O1 -g -fopenmp -shared -fPIC region.c -o libregion.so 2>region.log; then
    line=$(grep -n '# too early' region.py | cut -d: -f1)
    for function in touch touch_in_loop; do
        region early $function
        check "OpenMP ($function): the report names the line of Python" eval \
            '[ "$status" = 66 ] && grep -q "^CSAN: data race: the host.s load (region.py:$line) does not wait" err && grep -qx done out'
        check "OpenMP ($function): and the thread's own frame" grep -q 'Native touch.*region.c' err
        region right $function
        check "OpenMP ($function), right: nothing is found" eval '[ "$status" = 0 ] && grep -qx done out && ! grep -q "^CSAN" err'
    done
else
    echo "# $(basename "$test" .sh): no OpenMP here: $(head -1 region.log)"
fi

# Not here: what needs kernels of NVIDIA's libraries, or a compiler of its own.
unfit='torch_read_early|torch_non_blocking_to_cpu|cupy_[a-z_]*|numba_managed_kernel'
cases=$(python3 "$tree/tests/python/host_accesses.py" --list | grep -Ev "^($unfit)\$")
CSAN_TEST_DEVICE=embedded "$tree/tests/gpu/host_python.sh" "$root" $cases >all 2>&1
grep -E '^not ok' all | sed "s/^not ok /not ok $(basename "$test" .sh): /"
sed -n 's/^ok /ok '"$(basename "$test" .sh)"': /p' all
grep -vE '^(not )?ok|^skipped' all | head -40
