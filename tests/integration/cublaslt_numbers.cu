// verdict: none
// libraries: cublasLt
// options: host=off
// Products of cuBLASLt with bias and activation, of floats and halves, in both orders, in batches.
#include "numbers.h"

#include <cublasLt.h>
#include <cuda_fp16.h>

#define LT(call)                                                                                   \
    do {                                                                                           \
        cublasStatus_t status_ = (call);                                                           \
        if (status_ != CUBLAS_STATUS_SUCCESS) {                                                    \
            fprintf(stderr, "%s:%d: %s failed: %d\n", __FILE__, __LINE__, #call, (int)status_);    \
            exit(101);                                                                             \
        }                                                                                          \
    } while (0)

enum { M = 24, NN = 16, K = 32, BATCHES = 2 };

static double activate(cublasLtEpilogue_t epilogue, double x)
{
    if (epilogue == CUBLASLT_EPILOGUE_RELU_BIAS || epilogue == CUBLASLT_EPILOGUE_RELU)
        return x > 0 ? x : 0;
    if (epilogue == CUBLASLT_EPILOGUE_GELU_BIAS || epilogue == CUBLASLT_EPILOGUE_GELU)
        return 0.5 * x * (1 + std::tanh(0.7978845608028654 * (x + 0.044715 * x * x * x)));
    return x;
}

template <typename T>
static void product(cublasLtHandle_t handle, const char *what, cudaDataType type,
                    cublasLtEpilogue_t epilogue, bool rows_first, double tolerance)
{
    std::vector<T> a(M * K * BATCHES), b(K * NN * BATCHES), c(M * NN * BATCHES), bias(M), got(c);
    for (std::vector<T> *v : {&a, &b, &c, &bias})
        for (T &x : *v)
            x = (T)(float)numbers_next();
    float alpha = 0.75f, beta = 0.5f;
    std::vector<double> wanted(c.size()), result(c.size());
    const bool with_bias = (epilogue & CUBLASLT_EPILOGUE_BIAS) != 0;
    for (int batch = 0; batch < BATCHES; batch++)
        for (int i = 0; i < M; i++)
            for (int j = 0; j < NN; j++) {
                double sum = 0;
                for (int k = 0; k < K; k++) // A is transposed
                    sum += (double)(float)a[batch * M * K + (rows_first ? k * M + i : k + i * K)] *
                           (double)(float)b[batch * K * NN + (rows_first ? k * NN + j : k + j * K)];
                int at = batch * M * NN + (rows_first ? i * NN + j : i + j * M);
                double x = alpha * sum + beta * (double)(float)c[at];
                wanted[at] = activate(epilogue, x + (with_bias ? (double)(float)bias[i] : 0));
            }
    T *da = device_array<T>(a.size()), *db = device_array<T>(b.size());
    T *dc = device_array<T>(c.size()), *dd = device_array<T>(c.size());
    T *dbias = device_array<T>(M);
    CHECK(cudaMemcpy(da, a.data(), a.size() * sizeof(T), cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(db, b.data(), b.size() * sizeof(T), cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(dc, c.data(), c.size() * sizeof(T), cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(dbias, bias.data(), bias.size() * sizeof(T), cudaMemcpyHostToDevice));
    CHECK(cudaDeviceSynchronize());

    cublasLtMatmulDesc_t described;
    cublasOperation_t transposed = CUBLAS_OP_T;
    LT(cublasLtMatmulDescCreate(&described, CUBLAS_COMPUTE_32F, CUDA_R_32F));
    LT(cublasLtMatmulDescSetAttribute(described, CUBLASLT_MATMUL_DESC_TRANSA, &transposed,
                                      sizeof transposed));
    LT(cublasLtMatmulDescSetAttribute(described, CUBLASLT_MATMUL_DESC_EPILOGUE, &epilogue,
                                      sizeof epilogue));
    if (with_bias)
        LT(cublasLtMatmulDescSetAttribute(described, CUBLASLT_MATMUL_DESC_BIAS_POINTER, &dbias,
                                          sizeof dbias));
    cublasLtMatrixLayout_t layouts[3];
    const int shapes[3][3] = {{K, M, M * K}, {K, NN, K * NN}, {M, NN, M * NN}};
    for (int i = 0; i < 3; i++) {
        int32_t batches = BATCHES;
        int64_t step = shapes[i][2];
        cublasLtOrder_t order = rows_first ? CUBLASLT_ORDER_ROW : CUBLASLT_ORDER_COL;
        LT(cublasLtMatrixLayoutCreate(&layouts[i], type, shapes[i][0], shapes[i][1],
                                      rows_first ? shapes[i][1] : shapes[i][0]));
        LT(cublasLtMatrixLayoutSetAttribute(layouts[i], CUBLASLT_MATRIX_LAYOUT_ORDER, &order,
                                            sizeof order));
        LT(cublasLtMatrixLayoutSetAttribute(layouts[i], CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT,
                                            &batches, sizeof batches));
        LT(cublasLtMatrixLayoutSetAttribute(layouts[i], CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET,
                                            &step, sizeof step));
    }
    cublasLtMatmulPreference_t preference;
    cublasLtMatmulHeuristicResult_t heuristic;
    int found = 0;
    LT(cublasLtMatmulPreferenceCreate(&preference));
    LT(cublasLtMatmulAlgoGetHeuristic(handle, described, layouts[0], layouts[1], layouts[2],
                                      layouts[2], preference, 1, &heuristic, &found));
    LT(cublasLtMatmul(handle, described, &alpha, da, layouts[0], db, layouts[1], &beta, dc,
                      layouts[2], dd, layouts[2], &heuristic.algo, nullptr, 0, 0));
    CHECK(cudaMemcpy(got.data(), dd, got.size() * sizeof(T), cudaMemcpyDeviceToHost));
    for (size_t i = 0; i < got.size(); i++)
        result[i] = (double)(float)got[i];
    numbers_compare(what, result, wanted, tolerance);
    LT(cublasLtMatmulDescDestroy(described));
    LT(cublasLtMatmulPreferenceDestroy(preference));
    for (cublasLtMatrixLayout_t layout : layouts)
        LT(cublasLtMatrixLayoutDestroy(layout));
}

int main()
{
    cublasLtHandle_t handle;
    LT(cublasLtCreate(&handle));
    product<float>(handle, "plain", CUDA_R_32F, CUBLASLT_EPILOGUE_DEFAULT, false, 1e-5);
    product<float>(handle, "bias", CUDA_R_32F, CUBLASLT_EPILOGUE_BIAS, false, 1e-5);
    product<float>(handle, "ReLU and bias", CUDA_R_32F, CUBLASLT_EPILOGUE_RELU_BIAS, false, 1e-5);
    product<float>(handle, "GELU and bias", CUDA_R_32F, CUBLASLT_EPILOGUE_GELU_BIAS, false, 1e-3);
    product<float>(handle, "rows first", CUDA_R_32F, CUBLASLT_EPILOGUE_DEFAULT, true, 1e-5);
    product<__half>(handle, "halves", CUDA_R_16F, CUBLASLT_EPILOGUE_RELU_BIAS, false, 1e-3);
    LT(cublasLtDestroy(handle));
    return numbers_end();
}
