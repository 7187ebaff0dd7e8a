// verdict: race
// library: cublas
// expect: cublasGemmEx
// expect: writing to argument\(s\) C
// reject: cublasSgemm
// A function of the library does its work by another one: the program called the first.
#include "blas.h"

int main()
{
    cudaStream_t a = nonblocking_stream(), b = nonblocking_stream();
    cublasHandle_t handle = blas_on(a);
    float *A = matrix_zeroed(32, 32), *C = matrix_zeroed(32, 32);
    BLAS(cublasGemmEx(handle, CUBLAS_OP_N, CUBLAS_OP_N, 32, 32, 32, &one, A, CUDA_R_32F, 32, A,
                      CUDA_R_32F, 32, &zero, C, CUDA_R_32F, 32, CUBLAS_COMPUTE_32F,
                      CUBLAS_GEMM_DEFAULT));
    launch_fill(b, (int *)C);
    return finish();
}
