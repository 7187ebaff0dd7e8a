// verdict: none
// library: cublas
// Two products on two streams, side by side in one matrix.
#include "blas.h"

int main()
{
    enum { M = 64, K = 32, PANEL = 8 };
    cudaStream_t a = nonblocking_stream(), b = nonblocking_stream();
    cublasHandle_t first = blas_on(a), second = blas_on(b);
    float *A = matrix_zeroed(M, K), *B = matrix_zeroed(K, 2 * PANEL),
          *C = matrix_zeroed(M, 2 * PANEL);
    BLAS(cublasSgemm(first, CUBLAS_OP_N, CUBLAS_OP_N, M, PANEL, K, &one, A, M, B, K, &zero, C, M));
    BLAS(cublasSgemm(second, CUBLAS_OP_N, CUBLAS_OP_N, M, PANEL, K, &one, A, M, B, K, &zero,
                     C + M * PANEL, M));
    return finish();
}
