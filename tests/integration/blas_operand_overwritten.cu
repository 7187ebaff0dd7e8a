// verdict: race
// library: cublas
// expect: reading from argument\(s\) A
// expect: cublasSgemm
// expect: Overlap: 4096 bytes
// The product may still read A.
#include "blas.h"

int main()
{
    cudaStream_t a = nonblocking_stream(), b = nonblocking_stream();
    cublasHandle_t handle = blas_on(a);
    float *A = matrix_zeroed(32, 32), *B = matrix_zeroed(32, 32), *C = matrix_zeroed(32, 32);
    BLAS(cublasSgemm(handle, CUBLAS_OP_T, CUBLAS_OP_N, 32, 32, 32, &one, A, 32, B, 32, &zero, C,
                     32));
    launch_fill(b, (int *)A);
    return finish();
}
