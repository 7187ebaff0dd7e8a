# csan's own CUDA libraries on the embedded device: their symbols, and what they say of what is missing.

libraries=$root/lib/csan/embedded/libraries
tree=$(realpath "$(dirname "$test")/../..")
says() { grep -Eq -- "$1" err; }
says_once() { [ "$(grep -Ec -- "$1" err)" = 1 ]; }
ended() { [ "$status" = "$1" ]; }

# Every function that the table names for this version of CUDA is there, under the library's version.
# complete FILE NAME CUDA_VERSION
complete()
{
    local soname
    soname=$(basename "$1")
    nm -D --defined-only "$1" | awk -v v="$soname" '$2 == "T" && $3 ~ ("@@" v "$") { sub(/@.*/, "", $3); print $3 }' | sort -u >have
    awk -v c="$3" '!/^#/ && ($2 == "" || $2 == c) { print $1 }' "$tree/runtime/device/library/symbols/$2" | sort -u >wanted
    comm -23 wanted have >lacking
    [ -s wanted ] && [ ! -s lacking ] || { cat lacking; return 1; }
}
has_soname() { readelf -d "$1" | grep -q "SONAME.*\[$(basename "$1")\]"; }
needs_little()
{
    ! readelf -d "$1" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' |
        grep -Evq '^(libc|libm|libdl|libpthread|ld-linux-x86-64|ld-linux-aarch64|libcuda|lib[at]san|libubsan)\.so'
}
for library in "$libraries"/lib*.so.*; do
    name=$(basename "$library")
    base=${name#lib}
    base=${base%%.so*}
    case $name in
    libcufft.so.11 | libcusolver.so.11 | libcublas.so.12 | libcublasLt.so.12) cuda=12 ;;
    *) cuda=13 ;;
    esac
    check "$name has every function of NVIDIA's, under its version" complete "$library" "$base" $cuda
    check "$name has its soname" has_soname "$library"
    check "$name needs the C library and the driver only" needs_little "$library"
done

# Without OpenBLAS: a file of its name that cannot be loaded comes first.
mkdir empty
: >empty/libopenblas.so.0
if [ -e "$plain/cublas_pointer_modes" ]; then
    run env LD_LIBRARY_PATH="$scratch/empty" "$root/bin/csan" run --device=embedded "$plain/cublas_pointer_modes"
    check "without OpenBLAS a line says what to install" \
        says_once '^csan device: cuBLAS needs OpenBLAS .*apt-get install libopenblas0'
    check "and cublasCreate fails" ended 101
else
    echo "skipped: the toolkit has no headers of cuBLAS"
fi

# What is not built says so once, and returns CUBLAS_STATUS_NOT_SUPPORTED.
cat >missing.c <<'END'
extern int cublasXtCreate(void **handle);
int main(void)
{
    void *handle;
    cublasXtCreate(&handle);
    return cublasXtCreate(&handle);
}
END
gcc missing.c -o missing -L"$libraries" -l:libcublas.so.13 -Wl,-rpath-link="$root/lib/csan/embedded"
run "$root/bin/csan" run --device=embedded ./missing
check "a function that is not built is named once" says_once '^csan device: cublasXtCreate is not supported'
check "and returns NOT_SUPPORTED" ended 15

# Memory that no allocation holds: the kernel fails, as on a GPU.
cat >outside.c <<'END'
#include <stddef.h>
extern int cublasCreate_v2(void **), cublasSscal_v2(void *, int, const float *, float *, int);
extern int cuCtxSynchronize(void), cuMemAlloc_v2(unsigned long long *, size_t);
int main(void)
{
    void *handle;
    float two = 2;
    unsigned long long memory;
    return cublasCreate_v2(&handle) || cuMemAlloc_v2(&memory, 100) ||
           cublasSscal_v2(handle, 100, &two, (float *)memory, 1) || cuCtxSynchronize() != 700;
}
END
for major in 13 12; do
    gcc outside.c -o outside -L"$libraries" -l:libcublas.so.$major "$root/lib/csan/embedded/libcuda.so.1"
    run "$root/bin/csan" run --device=embedded ./outside
    check "a call that leaves its allocation fails as an illegal address (CUDA $major)" ended 66
    check "and findings say which call and which memory" says 'illegal memory access in cublasSscal'
    check "and that it is out of bounds" says 'out of bounds: cublasSscal'
done
