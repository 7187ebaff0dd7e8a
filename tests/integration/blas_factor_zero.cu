// verdict: none
// library: cublas
// Operands whose factor is zero are not looked at.
#include "blas.h"

int main()
{
    cudaStream_t a = nonblocking_stream(), b = nonblocking_stream();
    cublasHandle_t handle = blas_on(a);
    float *A = matrix_zeroed(32, 32), *B = matrix_zeroed(32, 32), *C = matrix_zeroed(32, 32);
    BLAS(cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, 32, 32, 32, &zero, A, 32, B, 32, &one, C,
                     32));
    launch_fill(b, (int *)A);
    return finish();
}
