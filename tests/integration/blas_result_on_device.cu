// verdict: race
// library: cublas
// expect: writing to argument\(s\) result
// expect: cublasSdot
// Another stream reads the result early.
#include "blas.h"

int main()
{
    cudaStream_t a = nonblocking_stream(), b = nonblocking_stream();
    cublasHandle_t handle = blas_on(a);
    float *result = matrix_zeroed(1, 1), *to = matrix_zeroed(1, 1), *x = matrix_zeroed(32, 1);
    BLAS(cublasSetPointerMode(handle, CUBLAS_POINTER_MODE_DEVICE));
    BLAS(cublasSdot(handle, 32, x, 1, x, 1, result));
    CHECK(cudaMemcpyAsync(to, result, sizeof *to, cudaMemcpyDeviceToDevice, b));
    return finish();
}
