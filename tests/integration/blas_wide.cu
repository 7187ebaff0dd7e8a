// verdict: race
// library: cublas
// expect: cublasSgemm_64
// expect: Overlap: 128 bytes, 3968 to 4095
// Sizes of 64 bits; the last column of C.
#include "blas.h"

int main()
{
    cudaStream_t a = nonblocking_stream(), b = nonblocking_stream();
    cublasHandle_t handle = blas_on(a);
    float *A = matrix_zeroed(32, 32), *C = matrix_zeroed(32, 32);
    int64_t n = 32;
    BLAS(cublasSgemm_64(handle, CUBLAS_OP_N, CUBLAS_OP_N, n, n, n, &one, A, n, A, n, &zero, C, n));
    CHECK(cudaMemsetAsync(C + 31 * 32, 0, 128, b));
    return finish();
}
