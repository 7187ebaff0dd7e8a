// Prints which products cuBLASLt has: a line for each epilogue, type and transposition, with the
// status of its heuristic. Nothing runs.
#include <cublasLt.h>
#include <cuda_runtime.h>

#include <stdio.h>
#include <stdlib.h>

enum { ROWS = 128, COLUMNS = 24, DEPTH = 32 };

#define LT(call)                                                                                   \
    do {                                                                                           \
        cublasStatus_t status_ = (call);                                                           \
        if (status_ != CUBLAS_STATUS_SUCCESS) {                                                    \
            fprintf(stderr, "%s:%d: %s failed: %d\n", __FILE__, __LINE__, #call, (int)status_);    \
            exit(101);                                                                             \
        }                                                                                          \
    } while (0)

template <typename T>
static void set(cublasLtMatmulDesc_t product, cublasLtMatmulDescAttributes_t attribute,
                const T &value)
{
    LT(cublasLtMatmulDescSetAttribute(product, attribute, &value, sizeof value));
}

static int status_of(cublasLtHandle_t handle, cublasLtEpilogue_t epilogue, cudaDataType_t type,
                     cublasOperation_t a, cublasOperation_t b, void *memory)
{
    const bool is_double = type == CUDA_R_64F;
    const int shapes[3][2] = {
        {a == CUBLAS_OP_N ? ROWS : DEPTH, a == CUBLAS_OP_N ? DEPTH : ROWS},
        {b == CUBLAS_OP_N ? DEPTH : COLUMNS, b == CUBLAS_OP_N ? COLUMNS : DEPTH},
        {ROWS, COLUMNS}};
    cublasLtMatmulDesc_t product;
    cublasLtMatrixLayout_t layouts[3];
    cublasLtMatmulPreference_t preference;
    cublasLtMatmulHeuristicResult_t result;
    const size_t workspace = 8 << 20;
    int found = 0;
    LT(cublasLtMatmulDescCreate(&product, is_double ? CUBLAS_COMPUTE_64F : CUBLAS_COMPUTE_32F,
                                is_double ? CUDA_R_64F : CUDA_R_32F));
    set(product, CUBLASLT_MATMUL_DESC_TRANSA, a);
    set(product, CUBLASLT_MATMUL_DESC_TRANSB, b);
    set(product, CUBLASLT_MATMUL_DESC_EPILOGUE, epilogue);
    set(product, CUBLASLT_MATMUL_DESC_BIAS_POINTER, memory);
    set(product, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER, memory);
    set(product, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD, (int64_t)ROWS);
    for (int i = 0; i < 3; i++)
        LT(cublasLtMatrixLayoutCreate(&layouts[i], type, shapes[i][0], shapes[i][1], shapes[i][0]));
    LT(cublasLtMatmulPreferenceCreate(&preference));
    LT(cublasLtMatmulPreferenceSetAttribute(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES,
                                            &workspace, sizeof workspace));
    const int status =
        cublasLtMatmulAlgoGetHeuristic(handle, product, layouts[0], layouts[1], layouts[2],
                                       layouts[2], preference, 1, &result, &found);
    return status || found ? status : CUBLAS_STATUS_NOT_SUPPORTED;
}

int main()
{
    static const struct {
        const char *name;
        cublasLtEpilogue_t epilogue;
    } epilogues[] = {{"DEFAULT", CUBLASLT_EPILOGUE_DEFAULT},
                     {"BIAS", CUBLASLT_EPILOGUE_BIAS},
                     {"RELU", CUBLASLT_EPILOGUE_RELU},
                     {"RELU_BIAS", CUBLASLT_EPILOGUE_RELU_BIAS},
                     {"RELU_AUX", CUBLASLT_EPILOGUE_RELU_AUX},
                     {"RELU_AUX_BIAS", CUBLASLT_EPILOGUE_RELU_AUX_BIAS},
                     {"DRELU", CUBLASLT_EPILOGUE_DRELU},
                     {"DRELU_BGRAD", CUBLASLT_EPILOGUE_DRELU_BGRAD},
                     {"GELU", CUBLASLT_EPILOGUE_GELU},
                     {"GELU_BIAS", CUBLASLT_EPILOGUE_GELU_BIAS},
                     {"GELU_AUX", CUBLASLT_EPILOGUE_GELU_AUX},
                     {"GELU_AUX_BIAS", CUBLASLT_EPILOGUE_GELU_AUX_BIAS},
                     {"DGELU", CUBLASLT_EPILOGUE_DGELU},
                     {"DGELU_BGRAD", CUBLASLT_EPILOGUE_DGELU_BGRAD},
                     {"BGRADA", CUBLASLT_EPILOGUE_BGRADA},
                     {"BGRADB", CUBLASLT_EPILOGUE_BGRADB}};
    static const struct {
        const char *name;
        cudaDataType_t type;
    } types[] = {{"floats", CUDA_R_32F},
                 {"doubles", CUDA_R_64F},
                 {"halves", CUDA_R_16F},
                 {"bfloat16", CUDA_R_16BF}};
    static const cublasOperation_t operations[] = {CUBLAS_OP_N, CUBLAS_OP_T};
    cublasLtHandle_t handle;
    void *memory;
    if (cudaMalloc(&memory, 1 << 20) != cudaSuccess)
        return 1;
    LT(cublasLtCreate(&handle));
    for (const auto &by : epilogues)
        for (const auto &of : types)
            for (cublasOperation_t a : operations)
                for (cublasOperation_t b : operations)
                    printf("%s %s %c%c %d\n", by.name, of.name, a == CUBLAS_OP_N ? 'N' : 'T',
                           b == CUBLAS_OP_N ? 'N' : 'T',
                           status_of(handle, by.epilogue, of.type, a, b, memory));
    return 0;
}
