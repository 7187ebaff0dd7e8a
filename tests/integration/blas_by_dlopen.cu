// verdict: race
// library: cublas
// expect: cublasSgemm
// expect: writing to argument\(s\) C
// The library is opened, and its functions are looked up, as CuPy does.
#include "blas.h"

#include <dlfcn.h>

static void *library;
template <typename Function> static Function *found(Function *, const char *name)
{
    return (Function *)dlsym(library, name);
}
#define FOUND(function, name) found((decltype(&function))nullptr, name)

int main()
{
    cudaStream_t a = nonblocking_stream(), b = nonblocking_stream();
    library = dlopen("libcublas.so.13", RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        fprintf(stderr, "%s\n", dlerror());
        return 1;
    }
    cublasHandle_t handle;
    BLAS(FOUND(cublasCreate_v2, "cublasCreate_v2")(&handle));
    BLAS(FOUND(cublasSetStream_v2, "cublasSetStream_v2")(handle, a));
    float *A = matrix_zeroed(32, 32), *C = matrix_zeroed(32, 32);
    BLAS(FOUND(cublasSgemm_v2, "cublasSgemm_v2")(handle, CUBLAS_OP_N, CUBLAS_OP_N, 32, 32, 32, &one,
                                                 A, 32, A, 32, &zero, C, 32));
    launch_fill(b, (int *)C);
    return finish();
}
