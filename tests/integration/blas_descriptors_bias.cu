// verdict: race
// library: cublasLt
// expect: cublasLtMatmul
// expect: reading from argument\(s\) computeDesc
// expect: Overlap: 128 bytes
// The bias that the descriptor points to is overwritten early.
#include "blas_descriptors.h"

int main()
{
    cudaStream_t a = nonblocking_stream(), b = nonblocking_stream();
    float *A = matrix_zeroed(PART, SIDE), *B = matrix_zeroed(SIDE, SIDE);
    float *D = matrix_zeroed(SIDE, SIDE), *bias = matrix_zeroed(SIDE, 1);
    product_with_bias(A, B, D, bias, a);
    CHECK(cudaMemsetAsync(bias, 0, SIDE * sizeof *bias, b));
    return finish();
}
