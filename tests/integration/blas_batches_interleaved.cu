// verdict: none
// library: cublas
// Two streams have the even and the odd matrices of one array.
#include "blas.h"

int main()
{
    enum { N = 16, SIZE = N * N, BATCHES = 4 };
    cudaStream_t a = nonblocking_stream(), b = nonblocking_stream();
    cublasHandle_t even = blas_on(a), odd = blas_on(b);
    float *A = matrix_zeroed(N, N), *C = matrix_zeroed(N, 2 * BATCHES * N);
    BLAS(cublasSgemmStridedBatched(even, CUBLAS_OP_N, CUBLAS_OP_N, N, N, N, &one, A, N, 0, A, N, 0,
                                   &zero, C, N, 2 * SIZE, BATCHES));
    BLAS(cublasSgemmStridedBatched(odd, CUBLAS_OP_N, CUBLAS_OP_N, N, N, N, &one, A, N, 0, A, N, 0,
                                   &zero, C + SIZE, N, 2 * SIZE, BATCHES));
    return finish();
}
