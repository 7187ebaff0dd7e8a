// A sparse matrix times a vector on one stream; another one overwrites one element of the vector,
// which the product reads or not.
#include "program.h"

#include <cusparse.h>

int main()
{
    enum { SIZE = 4 };
    const int offsets[] = {0, 1, 2, 3, 3}, columns[] = {0, 1, 2};
    const float values[] = {1, 2, 3}, ones[] = {1, 1, 1, 1}, alpha = 1, beta = 0;
    cudaStream_t a = nonblocking_stream(), b = nonblocking_stream();
    int *device_offsets = device_array<int>(SIZE + 1), *device_columns = device_array<int>(3);
    float *device_values = device_array<float>(3), *x = device_array<float>(SIZE);
    float *y = device_array<float>(SIZE);
    cusparseHandle_t handle;
    cusparseSpMatDescr_t matrix;
    cusparseDnVecDescr_t in, out;
    CHECK(cudaMemcpy(device_offsets, offsets, sizeof offsets, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(device_columns, columns, sizeof columns, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(device_values, values, sizeof values, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(x, ones, sizeof ones, cudaMemcpyHostToDevice));
    if (cusparseCreate(&handle) || cusparseSetStream(handle, a) ||
        cusparseCreateCsr(&matrix, SIZE, SIZE, 3, device_offsets, device_columns, device_values,
                          CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO,
                          CUDA_R_32F) ||
        cusparseCreateDnVec(&in, SIZE, x, CUDA_R_32F) ||
        cusparseCreateDnVec(&out, SIZE, y, CUDA_R_32F))
        return 101;
    size_t bytes = 0;
    if (cusparseSpMV_bufferSize(handle, CUSPARSE_OPERATION_NON_TRANSPOSE, &alpha, matrix, in, &beta,
                                out, CUDA_R_32F, CUSPARSE_SPMV_ALG_DEFAULT, &bytes))
        return 103;
    char *buffer = device_array<char>(bytes + 16);
    CHECK(cudaDeviceSynchronize());
    if (cusparseSpMV(handle, CUSPARSE_OPERATION_NON_TRANSPOSE, &alpha, matrix, in, &beta, out,
                     CUDA_R_32F, CUSPARSE_SPMV_ALG_DEFAULT, buffer))
        return 102;
    CHECK(cudaMemsetAsync(x + ELEMENT, 0, sizeof *x, b));
    CHECK(cudaDeviceSynchronize());
    printf("done\n");
    return 0;
}
