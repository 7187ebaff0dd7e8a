// verdict: race
// library: cublas
// expect: fill\(int
// expect: writing to argument\(s\) C
// Products and launches in turns on one stream, again and again: each call's launches are its own.
// The last launch is on another stream.
#include "blas.h"

int main()
{
    enum { SIDE = 32, ROUNDS = 12 };
    cudaStream_t a = nonblocking_stream(), b = nonblocking_stream();
    cublasHandle_t handle = blas_on(a);
    float *A = matrix_zeroed(SIDE, SIDE), *B = matrix_zeroed(SIDE, SIDE),
          *C = matrix_zeroed(SIDE, SIDE);
    for (int i = 0; i < ROUNDS; i++) {
        BLAS(cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, SIDE, SIDE, SIDE, &one, A, SIDE, B, SIDE,
                         &zero, C, SIDE));
        launch_fill(a, (int *)B, 1, SIDE * SIDE);
        BLAS(cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, SIDE, SIDE, SIDE, &one, A, SIDE, C, SIDE,
                         &zero, B, SIDE));
        launch_fill(i < ROUNDS - 1 ? a : b, (int *)C, 1, SIDE * SIDE);
    }
    return finish();
}
