// verdict: race
// library: cublas
// expect: cublasSgemm
// expect: writing to argument\(s\) C
// expect: Overlap: 256 bytes, 1792 to 2047
// Two products on two streams; the second one's first column is the first one's last.
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
                     C + M * (PANEL - 1), M));
    return finish();
}
