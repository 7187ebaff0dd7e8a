// A sparse matrix times a dense one on one stream; another stream reads the result.
#include "program.h"

#include <cusparse.h>

#define SPARSE(call)                                                                               \
    do {                                                                                           \
        cusparseStatus_t status_ = (call);                                                         \
        if (status_ != CUSPARSE_STATUS_SUCCESS) {                                                  \
            fprintf(stderr, "%s:%d: %s failed: %d\n", __FILE__, __LINE__, #call, (int)status_);    \
            exit(101);                                                                             \
        }                                                                                          \
    } while (0)

enum { SIZE = 4, WIDE = 3 };

template <typename T, size_t COUNT> static T *device_copy_of(const T (&host)[COUNT])
{
    T *device = device_array<T>(COUNT);
    CHECK(cudaMemcpy(device, host, sizeof host, cudaMemcpyHostToDevice));
    return device;
}

int main()
{
    const int offsets[] = {0, 1, 2, 3, 4}, columns[] = {3, 2, 1, 0};
    const float values[] = {1, 2, 3, 4}, alpha = 2, beta = 0;
    float ones[SIZE * WIDE], result[SIZE * WIDE];
    for (float &x : ones)
        x = 1;
    cudaStream_t a = nonblocking_stream(), b = nonblocking_stream();
    float *device_values = device_copy_of(values), *in = device_copy_of(ones);
    float *out = device_array<float>(SIZE * WIDE);
    cusparseHandle_t handle;
    cusparseSpMatDescr_t matrix;
    cusparseDnMatDescr_t many, product;
    SPARSE(cusparseCreate(&handle));
    SPARSE(cusparseSetStream(handle, a));
    SPARSE(cusparseCreateCsr(&matrix, SIZE, SIZE, SIZE, device_copy_of(offsets),
                             device_copy_of(columns), device_values, CUSPARSE_INDEX_32I,
                             CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, CUDA_R_32F));
    SPARSE(cusparseCreateDnMat(&many, SIZE, WIDE, SIZE, in, CUDA_R_32F, CUSPARSE_ORDER_COL));
    SPARSE(cusparseCreateDnMat(&product, SIZE, WIDE, SIZE, out, CUDA_R_32F, CUSPARSE_ORDER_COL));
    size_t bytes = 0;
    SPARSE(cusparseSpMM_bufferSize(handle, CUSPARSE_OPERATION_NON_TRANSPOSE,
                                   CUSPARSE_OPERATION_NON_TRANSPOSE, &alpha, matrix, many, &beta,
                                   product, CUDA_R_32F, CUSPARSE_SPMM_ALG_DEFAULT, &bytes));
    char *buffer = device_array<char>(bytes + 16);
    CHECK(cudaDeviceSynchronize());
    SPARSE(cusparseSpMM(handle, CUSPARSE_OPERATION_NON_TRANSPOSE, CUSPARSE_OPERATION_NON_TRANSPOSE,
                        &alpha, matrix, many, &beta, product, CUDA_R_32F, CUSPARSE_SPMM_ALG_DEFAULT,
                        buffer));
    if (ORDERED) {
        cudaEvent_t event = event_create();
        CHECK(cudaEventRecord(event, a));
        CHECK(cudaStreamWaitEvent(b, event));
    }
    if (VALUES)
        CHECK(cudaMemsetAsync(device_values, 0, sizeof values, b));
    else
        CHECK(cudaMemcpyAsync(result, out, sizeof result, cudaMemcpyDeviceToHost, b));
    CHECK(cudaDeviceSynchronize());
    for (int i = 0; ORDERED && !VALUES && i < SIZE * WIDE; i++)
        if (result[i] != 2 * values[i % SIZE])
            printf("%d: %g\n", i, result[i]);
    printf("done\n");
    return 0;
}
