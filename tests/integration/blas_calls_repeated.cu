// verdict: race
// library: cublas
// expect: cublasSgemm
// expect: reading from argument\(s\) A
// expect: writing to argument\(s\) C
// Products by turns on two streams, from the same places each time; the last is not waited for.
#include "blas.h"

int main()
{
    enum { SIDE = 32, ROUNDS = 12 };
    cudaStream_t a = nonblocking_stream(), b = nonblocking_stream();
    cudaEvent_t made = event_create(), used = event_create();
    cublasHandle_t first = blas_on(a), second = blas_on(b);
    float *A = matrix_zeroed(SIDE, SIDE), *C = matrix_zeroed(SIDE, SIDE),
          *D = matrix_zeroed(SIDE, SIDE);
    for (int i = 0; i < ROUNDS; i++) {
        BLAS(cublasSgemm(first, CUBLAS_OP_N, CUBLAS_OP_N, SIDE, SIDE, SIDE, &one, A, SIDE, A, SIDE,
                         &zero, C, SIDE));
        CHECK(cudaEventRecord(made, a));
        if (i < ROUNDS - 1)
            CHECK(cudaStreamWaitEvent(b, made));
        BLAS(cublasSgemm(second, CUBLAS_OP_N, CUBLAS_OP_N, SIDE, SIDE, SIDE, &one, C, SIDE, A, SIDE,
                         &zero, D, SIDE));
        CHECK(cudaEventRecord(used, b));
        CHECK(cudaStreamWaitEvent(a, used));
    }
    return finish();
}
