// A stand-in for libcublas.so.13 on the embedded device: the functions that the programs call, done
// by plain kernels. Columns come first, as in BLAS.
#include "blind.h"

#include <cublas_v2.h>

struct cublasContext {
    cudaStream_t stream;
    cublasPointerMode_t mode;
};

extern "C" {
cublasStatus_t cublasCreate_v2(cublasHandle_t *handle)
{
    *handle = new cublasContext();
    return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasDestroy_v2(cublasHandle_t handle)
{
    delete handle;
    return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasSetStream_v2(cublasHandle_t handle, cudaStream_t stream)
{
    handle->stream = stream;
    return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasSetPointerMode_v2(cublasHandle_t handle, cublasPointerMode_t mode)
{
    handle->mode = mode;
    return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasGetPointerMode_v2(cublasHandle_t handle, cublasPointerMode_t *mode)
{
    *mode = handle->mode;
    return CUBLAS_STATUS_SUCCESS;
}
}

// A scalar: a value of the host's, or an address of the device's.
struct Scalar {
    float value;
    const float *address;
    Scalar(cublasHandle_t handle, const float *p)
        : value(handle->mode == CUBLAS_POINTER_MODE_HOST ? *p : 0),
          address(handle->mode == CUBLAS_POINTER_MODE_HOST ? nullptr : p)
    {
    }
    __device__ float get() const
    {
        return address ? *blind(address, 0) : value;
    }
};

struct Operand { // (i, j) of op(matrix)
    const float *base;
    int64_t leading;
    bool transposed;
    __device__ float get(int64_t i, int64_t j) const
    {
        return *blind(base, transposed ? j + i * leading : i + j * leading);
    }
};

__global__ void gemm(int64_t m, int64_t n, int64_t k, Scalar alpha, Operand a, Operand b,
                     Scalar beta, float *c, int64_t ldc)
{
    int64_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= m * n)
        return;
    float sum = 0, *to = blind(c, i % m + i / m * ldc);
    for (int64_t l = 0; alpha.get() != 0 && l < k; l++)
        sum += a.get(i % m, l) * b.get(l, i / m);
    *to = alpha.get() * sum + (beta.get() == 0 ? 0 : beta.get() * *to);
}

static cublasStatus_t gemm_launch(cublasHandle_t handle, cublasOperation_t transa,
                                  cublasOperation_t transb, int64_t m, int64_t n, int64_t k,
                                  const float *alpha, const float *A, int64_t lda, const float *B,
                                  int64_t ldb, const float *beta, float *C, int64_t ldc)
{
    if (m < 0 || n < 0 || k < 0 || ldc < m)
        return CUBLAS_STATUS_INVALID_VALUE;
    if (m && n)
        gemm<<<blocks_for(m * n), 128, 0, handle->stream>>>(
            m, n, k, Scalar(handle, alpha), Operand{A, lda, transa != CUBLAS_OP_N},
            Operand{B, ldb, transb != CUBLAS_OP_N}, Scalar(handle, beta), C, ldc);
    return cudaGetLastError() == cudaSuccess ? CUBLAS_STATUS_SUCCESS
                                             : CUBLAS_STATUS_EXECUTION_FAILED;
}

__global__ void gemm_each(int64_t m, int64_t n, int64_t k, Scalar alpha, const float *const *a,
                          int64_t lda, const float *const *b, int64_t ldb, Scalar beta,
                          float *const *c, int64_t ldc)
{
    int64_t i = threadIdx.x, batch = blockIdx.x;
    for (; i < m * n; i += blockDim.x) {
        float sum = 0, *to = blind(c[batch], i % m + i / m * ldc);
        for (int64_t l = 0; l < k; l++)
            sum += *blind(a[batch], i % m + l * lda) * *blind(b[batch], l + i / m * ldb);
        *to = alpha.get() * sum + (beta.get() == 0 ? 0 : beta.get() * *to);
    }
}

__global__ void axpy(int64_t n, Scalar alpha, const float *x, int64_t incx, float *y, int64_t incy)
{
    int64_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        *blind(y, i * incy) += alpha.get() * *blind(x, i * incx);
}

__global__ void dot(int64_t n, const float *x, int64_t incx, const float *y, int64_t incy,
                    float *result)
{
    float sum = 0;
    for (int64_t i = 0; i < n; i++)
        sum += *blind(x, i * incx) * *blind(y, i * incy);
    *blind(result, 0) = sum;
}

// The lower or upper triangle of C := alpha A A' + beta C
__global__ void syrk(bool lower, int64_t n, int64_t k, Scalar alpha, Operand a, Scalar beta,
                     float *c, int64_t ldc)
{
    int64_t place = blockIdx.x * blockDim.x + threadIdx.x, i = place % n, j = place / n;
    if (place >= n * n || (lower ? i < j : i > j))
        return;
    float sum = 0, *to = blind(c, i + j * ldc);
    for (int64_t l = 0; l < k; l++)
        sum += a.get(i, l) * a.get(j, l);
    *to = alpha.get() * sum + (beta.get() == 0 ? 0 : beta.get() * *to);
}

extern "C" {
cublasStatus_t cublasSgemm_v2(cublasHandle_t handle, cublasOperation_t transa,
                              cublasOperation_t transb, int m, int n, int k, const float *alpha,
                              const float *A, int lda, const float *B, int ldb, const float *beta,
                              float *C, int ldc)
{
    return gemm_launch(handle, transa, transb, m, n, k, alpha, A, lda, B, ldb, beta, C, ldc);
}
cublasStatus_t cublasSgemm_v2_64(cublasHandle_t handle, cublasOperation_t transa,
                                 cublasOperation_t transb, int64_t m, int64_t n, int64_t k,
                                 const float *alpha, const float *A, int64_t lda, const float *B,
                                 int64_t ldb, const float *beta, float *C, int64_t ldc)
{
    return gemm_launch(handle, transa, transb, m, n, k, alpha, A, lda, B, ldb, beta, C, ldc);
}
cublasStatus_t cublasGemmEx(cublasHandle_t handle, cublasOperation_t transa,
                            cublasOperation_t transb, int m, int n, int k, const void *alpha,
                            const void *A, cudaDataType Atype, int lda, const void *B,
                            cudaDataType Btype, int ldb, const void *beta, void *C,
                            cudaDataType Ctype, int ldc, cublasComputeType_t computeType,
                            cublasGemmAlgo_t)
{
    if (Atype != CUDA_R_32F || Btype != CUDA_R_32F || Ctype != CUDA_R_32F ||
        computeType != CUBLAS_COMPUTE_32F)
        return CUBLAS_STATUS_NOT_SUPPORTED;
    // As the library itself does, by another of its functions.
    return cublasSgemm_v2(handle, transa, transb, m, n, k, (const float *)alpha, (const float *)A,
                          lda, (const float *)B, ldb, (const float *)beta, (float *)C, ldc);
}
cublasStatus_t cublasSgemmStridedBatched(cublasHandle_t handle, cublasOperation_t transa,
                                         cublasOperation_t transb, int m, int n, int k,
                                         const float *alpha, const float *A, int lda,
                                         long long strideA, const float *B, int ldb,
                                         long long strideB, const float *beta, float *C, int ldc,
                                         long long strideC, int batchCount)
{
    cublasStatus_t status = CUBLAS_STATUS_SUCCESS;
    for (int i = 0; i < batchCount && status == CUBLAS_STATUS_SUCCESS; i++)
        status = gemm_launch(handle, transa, transb, m, n, k, alpha, A + i * strideA, lda,
                             B + i * strideB, ldb, beta, C + i * strideC, ldc);
    return status;
}
cublasStatus_t cublasSgemmBatched(cublasHandle_t handle, cublasOperation_t transa,
                                  cublasOperation_t transb, int m, int n, int k, const float *alpha,
                                  const float *const Aarray[], int lda, const float *const Barray[],
                                  int ldb, const float *beta, float *const Carray[], int ldc,
                                  int batchCount)
{
    if (transa != CUBLAS_OP_N || transb != CUBLAS_OP_N)
        return CUBLAS_STATUS_NOT_SUPPORTED;
    gemm_each<<<batchCount, 64, 0, handle->stream>>>(m, n, k, Scalar(handle, alpha), Aarray, lda,
                                                     Barray, ldb, Scalar(handle, beta), Carray,
                                                     ldc);
    return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasSaxpy_v2(cublasHandle_t handle, int n, const float *alpha, const float *x,
                              int incx, float *y, int incy)
{
    axpy<<<blocks_for(n), 128, 0, handle->stream>>>(n, Scalar(handle, alpha), x, incx, y, incy);
    return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasSdot_v2(cublasHandle_t handle, int n, const float *x, int incx, const float *y,
                             int incy, float *result)
{
    if (handle->mode != CUBLAS_POINTER_MODE_DEVICE)
        return CUBLAS_STATUS_NOT_SUPPORTED;
    dot<<<1, 1, 0, handle->stream>>>(n, x, incx, y, incy, result);
    return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasSsyrk_v2(cublasHandle_t handle, cublasFillMode_t uplo, cublasOperation_t trans,
                              int n, int k, const float *alpha, const float *A, int lda,
                              const float *beta, float *C, int ldc)
{
    syrk<<<blocks_for((int64_t)n * n), 128, 0, handle->stream>>>(
        uplo == CUBLAS_FILL_MODE_LOWER, n, k, Scalar(handle, alpha),
        Operand{A, lda, trans != CUBLAS_OP_N}, Scalar(handle, beta), C, ldc);
    return CUBLAS_STATUS_SUCCESS;
}
}
