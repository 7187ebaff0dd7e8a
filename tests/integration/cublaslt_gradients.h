// Products of cuBLASLt whose epilogue leaves or takes what a gradient needs.
#pragma once

#include "numbers.h"

#include <cublasLt.h>

#define LT(call)                                                                                   \
    do {                                                                                           \
        cublasStatus_t status_ = (call);                                                           \
        if (status_ != CUBLAS_STATUS_SUCCESS) {                                                    \
            fprintf(stderr, "%s:%d: %s failed: %d\n", __FILE__, __LINE__, #call, (int)status_);    \
            exit(101);                                                                             \
        }                                                                                          \
    } while (0)

enum { ROWS = 128, COLUMNS = 24, DEPTH = 32, WORKSPACE = 8 << 20 };

// `turned`: B lies transposed, as its sums need it; `a_turned`: A does, for which it has no sums.
struct Product {
    cublasLtHandle_t handle;
    cublasLtEpilogue_t epilogue;
    cublasLtMatmulDesc_t described;
    cublasLtMatrixLayout_t layouts[3];
    Product(cublasLtHandle_t own, cublasLtEpilogue_t ends_with, bool turned = false,
            bool a_turned = false)
        : handle(own), epilogue(ends_with)
    {
        const int shapes[3][2] = {{a_turned ? DEPTH : ROWS, a_turned ? ROWS : DEPTH},
                                  {turned ? COLUMNS : DEPTH, turned ? DEPTH : COLUMNS},
                                  {ROWS, COLUMNS}};
        LT(cublasLtMatmulDescCreate(&described, CUBLAS_COMPUTE_32F, CUDA_R_32F));
        set(CUBLASLT_MATMUL_DESC_EPILOGUE, epilogue);
        set(CUBLASLT_MATMUL_DESC_TRANSA, a_turned ? CUBLAS_OP_T : CUBLAS_OP_N);
        set(CUBLASLT_MATMUL_DESC_TRANSB, turned ? CUBLAS_OP_T : CUBLAS_OP_N);
        for (int i = 0; i < 3; i++)
            LT(cublasLtMatrixLayoutCreate(&layouts[i], CUDA_R_32F, shapes[i][0], shapes[i][1],
                                          shapes[i][0]));
    }
    template <typename T> void set(cublasLtMatmulDescAttributes_t attribute, const T &value)
    {
        LT(cublasLtMatmulDescSetAttribute(described, attribute, &value, sizeof value));
    }
    void auxiliary(void *memory)
    {
        set(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER, memory);
        set(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD, (int64_t)ROWS);
    }
    void bias(void *memory)
    {
        set(CUBLASLT_MATMUL_DESC_BIAS_POINTER, memory);
    }
    // Says which epilogue cannot be had, and goes on.
    bool works(const char *what, cublasStatus_t status) const
    {
        if (status == CUBLAS_STATUS_SUCCESS)
            return true;
        fprintf(stderr, "epilogue %d: %s failed: %d\n", (int)epilogue, what, (int)status);
        numbers_wrong++;
        return false;
    }
    cublasStatus_t suggestion(cublasLtMatmulHeuristicResult_t &heuristic) const
    {
        cublasLtMatmulPreference_t preference;
        int found = 0;
        const size_t bytes = WORKSPACE;
        LT(cublasLtMatmulPreferenceCreate(&preference));
        LT(cublasLtMatmulPreferenceSetAttribute(
            preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &bytes, sizeof bytes));
        cublasStatus_t status =
            cublasLtMatmulAlgoGetHeuristic(handle, described, layouts[0], layouts[1], layouts[2],
                                           layouts[2], preference, 1, &heuristic, &found);
        LT(cublasLtMatmulPreferenceDestroy(preference));
        return status == CUBLAS_STATUS_SUCCESS && !found ? CUBLAS_STATUS_NOT_SUPPORTED : status;
    }
    // D = epilogue(A B), with the algorithm that the library suggests.
    void run(const float *a, const float *b, float *d, cudaStream_t stream)
    {
        const float alpha = 1, beta = 0;
        cublasLtMatmulHeuristicResult_t heuristic;
        static char *workspace = device_array<char>(WORKSPACE);
        if (works("cublasLtMatmulAlgoGetHeuristic", suggestion(heuristic)))
            works("cublasLtMatmul", cublasLtMatmul(handle, described, &alpha, a, layouts[0], b,
                                                   layouts[1], &beta, d, layouts[2], d, layouts[2],
                                                   &heuristic.algo, workspace, WORKSPACE, stream));
    }
};
