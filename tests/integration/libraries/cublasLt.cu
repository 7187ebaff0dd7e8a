// A stand-in for libcublasLt.so.13 on the embedded device: products of single-precision matrices
// whose columns come first, with a bias or without.
#include "blind.h"

#include <cstring>
#include <cublasLt.h>

struct Attributes {
    uint64_t values[40];
};

__global__ void product(int m, int n, int k, float alpha, const float *a, int64_t lda,
                        const float *b, int64_t ldb, float beta, const float *c, int64_t ldc,
                        float *d, int64_t ldd, const float *bias)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= m * n)
        return;
    float sum = 0;
    for (int l = 0; l < k; l++)
        sum += *blind(a, i % m + l * lda) * *blind(b, l + i / m * ldb);
    sum = alpha * sum + (beta == 0 ? 0 : beta * *blind(c, i % m + i / m * ldc));
    *blind(d, i % m + i / m * ldd) = sum + (bias ? *blind(bias, i % m) : 0);
}

static uint64_t value(const void *of, int number)
{
    return ((const Attributes *)of)->values[number];
}

extern "C" {
cublasStatus_t cublasLtCreate(cublasLtHandle_t *handle)
{
    *handle = nullptr;
    return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t *layout, cudaDataType type,
                                          uint64_t rows, uint64_t columns, int64_t leading)
{
    *layout = (cublasLtMatrixLayout_t) new Attributes{
        {(uint64_t)type, 0, rows, columns, (uint64_t)leading, 1}};
    return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulDescCreate(cublasLtMatmulDesc_t *product, cublasComputeType_t compute,
                                        cudaDataType_t scale)
{
    Attributes *attributes = new Attributes{{(uint64_t)compute, (uint64_t)scale}};
    attributes->values[CUBLASLT_MATMUL_DESC_EPILOGUE] = CUBLASLT_EPILOGUE_DEFAULT;
    attributes->values[CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE] = (uint64_t)-1;
    *product = (cublasLtMatmulDesc_t)attributes;
    return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc_t product,
                                              cublasLtMatmulDescAttributes_t number,
                                              const void *from, size_t bytes)
{
    memcpy(&((Attributes *)product)->values[number], from, bytes);
    return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulDescGetAttribute(cublasLtMatmulDesc_t product,
                                              cublasLtMatmulDescAttributes_t number, void *to,
                                              size_t bytes, size_t *)
{
    memcpy(to, &((Attributes *)product)->values[number], bytes);
    return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatrixLayoutGetAttribute(cublasLtMatrixLayout_t layout,
                                                cublasLtMatrixLayoutAttribute_t number, void *to,
                                                size_t bytes, size_t *)
{
    memcpy(to, &((Attributes *)layout)->values[number], bytes);
    return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmul(cublasLtHandle_t, cublasLtMatmulDesc_t computeDesc, const void *alpha,
                              const void *A, cublasLtMatrixLayout_t Adesc, const void *B,
                              cublasLtMatrixLayout_t Bdesc, const void *beta, const void *C,
                              cublasLtMatrixLayout_t Cdesc, void *D, cublasLtMatrixLayout_t Ddesc,
                              const cublasLtMatmulAlgo_t *, void *, size_t, cudaStream_t stream)
{
    int m = (int)value(Ddesc, CUBLASLT_MATRIX_LAYOUT_ROWS);
    int n = (int)value(Ddesc, CUBLASLT_MATRIX_LAYOUT_COLS);
    bool biased = value(computeDesc, CUBLASLT_MATMUL_DESC_EPILOGUE) == CUBLASLT_EPILOGUE_BIAS;
    product<<<blocks_for(m * n), 128, 0, stream>>>(
        m, n, (int)value(Adesc, CUBLASLT_MATRIX_LAYOUT_COLS), *(const float *)alpha,
        (const float *)A, (int64_t)value(Adesc, CUBLASLT_MATRIX_LAYOUT_LD), (const float *)B,
        (int64_t)value(Bdesc, CUBLASLT_MATRIX_LAYOUT_LD), *(const float *)beta, (const float *)C,
        (int64_t)value(Cdesc, CUBLASLT_MATRIX_LAYOUT_LD), (float *)D,
        (int64_t)value(Ddesc, CUBLASLT_MATRIX_LAYOUT_LD),
        biased ? (const float *)value(computeDesc, CUBLASLT_MATMUL_DESC_BIAS_POINTER) : nullptr);
    return CUBLAS_STATUS_SUCCESS;
}
}
