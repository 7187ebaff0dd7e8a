// verdict: none
// library: cublasLt
// Two streams have the upper and the lower half of the rows of one matrix.
#include "blas_descriptors.h"

int main()
{
    cudaStream_t a = nonblocking_stream(), b = nonblocking_stream();
    float *A = matrix_zeroed(PART, SIDE), *B = matrix_zeroed(SIDE, SIDE);
    float *D = matrix_zeroed(SIDE, SIDE), *bias = matrix_zeroed(SIDE, 1);
    product_with_bias(A, B, D, bias, a);
    product_with_bias(A, B, D + PART, bias, b);
    return finish();
}
