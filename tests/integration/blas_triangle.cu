// verdict: possible
// library: cublas
// expect: cublasSsyrk
// expect: writing to argument\(s\) C
// Of the rectangle around a triangle csan does not know which half is written.
#include "blas.h"

int main()
{
    enum { N = 32 };
    cudaStream_t a = nonblocking_stream(), b = nonblocking_stream();
    cublasHandle_t handle = blas_on(a);
    float *A = matrix_zeroed(N, N), *C = matrix_zeroed(N, N);
    BLAS(cublasSsyrk(handle, CUBLAS_FILL_MODE_LOWER, CUBLAS_OP_N, N, N, &one, A, N, &zero, C, N));
    CHECK(cudaMemsetAsync(C + N, 0, sizeof(float), b)); // in the upper half
    return finish();
}
