// verdict: none
// library: cublas
// The other stream waits for the product.
#include "blas.h"

int main()
{
    cudaStream_t a = nonblocking_stream(), b = nonblocking_stream();
    cudaEvent_t done = event_create();
    cublasHandle_t handle = blas_on(a);
    float *A = matrix_zeroed(32, 32), *B = matrix_zeroed(32, 32), *C = matrix_zeroed(32, 32);
    BLAS(cublasSgemm(handle, CUBLAS_OP_T, CUBLAS_OP_N, 32, 32, 32, &one, A, 32, B, 32, &zero, C,
                     32));
    CHECK(cudaEventRecord(done, a));
    CHECK(cudaStreamWaitEvent(b, done, 0));
    launch_fill(b, (int *)A);
    launch_fill(b, (int *)C);
    return finish();
}
