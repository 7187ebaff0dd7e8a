// verdict: none
// libraries: cublas
// Two handles, each with half of a workspace. A third had all of it before its stream was set,
// which gave it the default workspace again.
#include "blas.h"

int main()
{
    cublasHandle_t handles[] = {blas_on(nonblocking_stream()), blas_on(nonblocking_stream()),
                                blas_on(nonblocking_stream())};
    float *own[9];
    for (float *&matrix : own)
        matrix = matrix_zeroed(32, 32);
    const size_t bytes = 2 << 20;
    char *workspace = (char *)matrix_zeroed(1024, 1024);
    for (int i = 0; i < 2; i++)
        BLAS(cublasSetWorkspace(handles[i], workspace + (size_t)i * bytes, bytes));
    BLAS(cublasSetWorkspace(handles[2], workspace, 2 * bytes));
    BLAS(cublasSetStream(handles[2], nonblocking_stream()));
    for (int i = 0; i < 3; i++)
        BLAS(cublasSgemm(handles[i], CUBLAS_OP_N, CUBLAS_OP_N, 32, 32, 32, &one, own[3 * i], 32,
                         own[3 * i + 1], 32, &zero, own[3 * i + 2], 32));
    return finish();
}
