// verdict: possible
// libraries: cublas
// expect: cublasSgemm
// expect: writing to argument\(s\) handle
// Two handles with one workspace, on two streams. Each has operands of its own.
#include "blas.h"

int main()
{
    cublasHandle_t handles[] = {blas_on(nonblocking_stream()), blas_on(nonblocking_stream())};
    float *own[6];
    for (float *&matrix : own)
        matrix = matrix_zeroed(32, 32);
    const size_t bytes = 4 << 20;
    float *workspace = matrix_zeroed(1024, 1024);
    for (int i = 0; i < 2; i++)
        BLAS(cublasSetWorkspace(handles[i], workspace, bytes));
    for (int i = 0; i < 2; i++)
        BLAS(cublasSgemm(handles[i], CUBLAS_OP_N, CUBLAS_OP_N, 32, 32, 32, &one, own[3 * i], 32,
                         own[3 * i + 1], 32, &zero, own[3 * i + 2], 32));
    return finish();
}
