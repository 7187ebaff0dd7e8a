// verdict: race
// library: cublas
// expect: reading from argument\(s\) alpha
// expect: cublasSaxpy
// expect: Overlap: 4 bytes
// In device pointer mode the factor is read when the kernel runs.
#include "blas.h"

int main()
{
    cudaStream_t a = nonblocking_stream(), b = nonblocking_stream();
    cublasHandle_t handle = blas_on(a);
    float *factor = matrix_zeroed(1, 1), *x = matrix_zeroed(32, 1), *y = matrix_zeroed(32, 1);
    BLAS(cublasSetPointerMode(handle, CUBLAS_POINTER_MODE_DEVICE));
    CHECK(cudaMemsetAsync(factor, 0, sizeof *factor, b));
    BLAS(cublasSaxpy(handle, 32, factor, x, 1, y, 1));
    return finish();
}
