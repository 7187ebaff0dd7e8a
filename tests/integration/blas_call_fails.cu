// verdict: none
// library: cublas
// output: -
// A call that fails touches nothing, and the program sees the library's own error.
#include "blas.h"

int main()
{
    cudaStream_t a = nonblocking_stream(), b = nonblocking_stream();
    cublasHandle_t handle = blas_on(a);
    float *A = matrix_zeroed(32, 32), *C = matrix_zeroed(32, 32);
    cublasStatus_t status =
        cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, 32, 32, 32, &one, A, 32, A, 32, &zero, C, 31);
    if (status != CUBLAS_STATUS_INVALID_VALUE)
        printf("the library said %d\n", (int)status);
    launch_fill(b, (int *)C);
    return finish();
}
