// verdict: none
// libraries: cublas
// options: host=off
// Products of halves, bfloat16 and integers, and vectors with a type of their own.
#include "numbers.h"

#include "blas.h"

#include <cuda_bf16.h>
#include <cuda_fp16.h>

enum { ROWS = 16, COLUMNS = 12, INNER = 20 };

template <typename T> static std::vector<T> small_numbers(size_t n)
{
    std::vector<T> out(n);
    for (T &x : out)
        x = (T)(float)((int)(numbers_next() * 8));
    return out;
}

template <typename T> static T *on_device(const std::vector<T> &host)
{
    T *p = device_array<T>(host.size());
    CHECK(cudaMemcpy(p, host.data(), host.size() * sizeof(T), cudaMemcpyHostToDevice));
    return p;
}

// Small integers: every type holds the result exactly, but for halves of it.
template <typename A, typename C, typename S>
static void product(cublasHandle_t handle, const char *what, cudaDataType type_a,
                    cudaDataType type_c, cublasComputeType_t compute, S alpha, S beta)
{
    std::vector<A> a = small_numbers<A>(ROWS * INNER), b = small_numbers<A>(COLUMNS * INNER);
    std::vector<C> c = small_numbers<C>(ROWS * COLUMNS), got(c.size());
    A *da = on_device(a), *db = on_device(b);
    C *dc = on_device(c);
    std::vector<double> wanted(c.size()), result(c.size());
    for (int j = 0; j < COLUMNS; j++)
        for (int i = 0; i < ROWS; i++) {
            double sum = 0;
            for (int k = 0; k < INNER; k++)
                sum += (double)(float)a[k + i * INNER] * (double)(float)b[k + j * INNER];
            wanted[i + j * ROWS] =
                (double)(float)alpha * sum + (double)(float)beta * (double)(float)c[i + j * ROWS];
        }
    BLAS(cublasGemmEx(handle, CUBLAS_OP_T, CUBLAS_OP_N, ROWS, COLUMNS, INNER, &alpha, da, type_a,
                      INNER, db, type_a, INNER, &beta, dc, type_c, ROWS, compute,
                      CUBLAS_GEMM_DEFAULT));
    CHECK(cudaMemcpy(got.data(), dc, got.size() * sizeof(C), cudaMemcpyDeviceToHost));
    for (size_t i = 0; i < got.size(); i++)
        result[i] = (double)(float)got[i];
    numbers_compare(what, result, wanted, type_c == CUDA_R_16BF ? 4e-3 : 5e-4);
    BLAS(cublasGemmStridedBatchedEx(handle, CUBLAS_OP_T, CUBLAS_OP_N, ROWS, COLUMNS, INNER, &alpha,
                                    da, type_a, INNER, 0, db, type_a, INNER, 0, &beta, dc, type_c,
                                    ROWS, ROWS * COLUMNS, 1, compute, CUBLAS_GEMM_DEFAULT));
    CHECK(cudaDeviceSynchronize());
}

static void vectors(cublasHandle_t handle)
{
    const int n = 50;
    std::vector<__half> x = small_numbers<__half>(n), y = small_numbers<__half>(n);
    __half *dx = on_device(x), *dy = on_device(y), result;
    float alpha = 0.5f;
    double dot = 0, norm = 0;
    std::vector<double> wanted(n), got(n);
    for (int i = 0; i < n; i++) {
        dot += (double)(float)x[i] * (double)(float)y[i];
        norm += (double)(float)x[i] * (double)(float)x[i];
        wanted[i] = (double)(float)y[i] + 0.5 * (double)(float)x[i];
    }
    BLAS(cublasDotEx(handle, n, dx, CUDA_R_16F, 1, dy, CUDA_R_16F, 1, &result, CUDA_R_16F,
                     CUDA_R_32F));
    numbers_compare<double>("dotEx", {(double)(float)result}, {dot}, 1e-3);
    BLAS(cublasNrm2Ex(handle, n, dx, CUDA_R_16F, 1, &result, CUDA_R_16F, CUDA_R_32F));
    numbers_compare<double>("nrm2Ex", {(double)(float)result}, {std::sqrt(norm)}, 1e-3);
    BLAS(cublasAxpyEx(handle, n, &alpha, CUDA_R_32F, dx, CUDA_R_16F, 1, dy, CUDA_R_16F, 1,
                      CUDA_R_32F));
    BLAS(cublasScalEx(handle, n, &alpha, CUDA_R_32F, dy, CUDA_R_16F, 1, CUDA_R_32F));
    CHECK(cudaMemcpy(y.data(), dy, n * sizeof(__half), cudaMemcpyDeviceToHost));
    for (int i = 0; i < n; i++)
        got[i] = 2 * (double)(float)y[i];
    numbers_compare("axpyEx, scalEx", got, wanted, 1e-3);
}

int main()
{
    cublasHandle_t handle;
    BLAS(cublasCreate(&handle));
    product<__half, __half, float>(handle, "half", CUDA_R_16F, CUDA_R_16F, CUBLAS_COMPUTE_32F, 0.5f,
                                   2);
    product<__half, __half, __half>(handle, "half in half", CUDA_R_16F, CUDA_R_16F,
                                    CUBLAS_COMPUTE_16F, __half(1.0f), __half(0.0f));
    product<__half, float, float>(handle, "half to float", CUDA_R_16F, CUDA_R_32F,
                                  CUBLAS_COMPUTE_32F, 1, 1);
    product<__nv_bfloat16, __nv_bfloat16, float>(handle, "bfloat16", CUDA_R_16BF, CUDA_R_16BF,
                                                 CUBLAS_COMPUTE_32F, 1, -1);
    product<__nv_bfloat16, float, float>(handle, "bfloat16 to float", CUDA_R_16BF, CUDA_R_32F,
                                         CUBLAS_COMPUTE_32F, 1, 0);
    product<int8_t, int, int>(handle, "int8", CUDA_R_8I, CUDA_R_32I, CUBLAS_COMPUTE_32I, 1, 0);
    product<float, float, float>(handle, "float", CUDA_R_32F, CUDA_R_32F, CUBLAS_COMPUTE_32F, 1, 3);
    product<double, double, double>(handle, "double", CUDA_R_64F, CUDA_R_64F, CUBLAS_COMPUTE_64F, 1,
                                    3);
    vectors(handle);
    return numbers_end();
}
