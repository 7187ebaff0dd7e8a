// A product by cuBLASLt with a bias, of a part of a matrix.
#pragma once

#include "blas.h"

#include <cublasLt.h>

enum { SIDE = 64, PART = 32 };

// D's first PART rows := A * B + bias for each column.
static inline void product_with_bias(const float *A, const float *B, float *D, const float *bias,
                                     cudaStream_t stream)
{
    cublasLtHandle_t handle;
    cublasLtMatmulDesc_t product;
    cublasLtMatrixLayout_t a, b, d;
    cublasLtEpilogue_t epilogue = CUBLASLT_EPILOGUE_BIAS;
    BLAS(cublasLtCreate(&handle));
    BLAS(cublasLtMatmulDescCreate(&product, CUBLAS_COMPUTE_32F, CUDA_R_32F));
    BLAS(cublasLtMatmulDescSetAttribute(product, CUBLASLT_MATMUL_DESC_EPILOGUE, &epilogue,
                                        sizeof epilogue));
    BLAS(cublasLtMatmulDescSetAttribute(product, CUBLASLT_MATMUL_DESC_BIAS_POINTER, &bias,
                                        sizeof bias));
    BLAS(cublasLtMatrixLayoutCreate(&a, CUDA_R_32F, PART, SIDE, PART));
    BLAS(cublasLtMatrixLayoutCreate(&b, CUDA_R_32F, SIDE, SIDE, SIDE));
    BLAS(cublasLtMatrixLayoutCreate(&d, CUDA_R_32F, PART, SIDE, SIDE));
    BLAS(cublasLtMatmul(handle, product, &one, A, a, B, b, &zero, D, d, D, d, nullptr, nullptr, 0,
                        stream));
}
