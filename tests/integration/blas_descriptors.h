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

// Two products with the same descriptors, whose rows are changed between. Beside the second one the
// lower half of D's rows is set on another stream.
static inline void products_of_rows(uint64_t first_rows, uint64_t second_rows)
{
    cudaStream_t stream = nonblocking_stream(), other = nonblocking_stream();
    float *A = matrix_zeroed(SIDE, SIDE), *B = matrix_zeroed(SIDE, SIDE);
    float *D = matrix_zeroed(SIDE, SIDE);
    cublasLtHandle_t handle;
    cublasLtMatmulDesc_t product;
    cublasLtMatrixLayout_t a, b, d;
    BLAS(cublasLtCreate(&handle));
    BLAS(cublasLtMatmulDescCreate(&product, CUBLAS_COMPUTE_32F, CUDA_R_32F));
    BLAS(cublasLtMatrixLayoutCreate(&a, CUDA_R_32F, SIDE, SIDE, SIDE));
    BLAS(cublasLtMatrixLayoutCreate(&b, CUDA_R_32F, SIDE, SIDE, SIDE));
    BLAS(cublasLtMatrixLayoutCreate(&d, CUDA_R_32F, SIDE, SIDE, SIDE));
    for (uint64_t rows : {first_rows, second_rows}) {
        for (cublasLtMatrixLayout_t layout : {a, d})
            BLAS(cublasLtMatrixLayoutSetAttribute(layout, CUBLASLT_MATRIX_LAYOUT_ROWS, &rows,
                                                  sizeof rows));
        BLAS(cublasLtMatmul(handle, product, &one, A, a, B, b, &zero, D, d, D, d, nullptr, nullptr,
                            0, stream));
        if (rows == second_rows)
            CHECK(cudaMemset2DAsync(D + PART, SIDE * sizeof *D, 0, PART * sizeof *D, SIDE, other));
        CHECK(cudaDeviceSynchronize());
    }
}
