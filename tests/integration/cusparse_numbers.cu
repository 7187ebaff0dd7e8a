// verdict: none
// libraries: cusparse
// options: host=off
// Products and conversions of cuSPARSE in its formats, against loops on the host.
#include "numbers.h"

#include <cusparse.h>

#define SPARSE(call)                                                                               \
    do {                                                                                           \
        cusparseStatus_t status_ = (call);                                                         \
        if (status_ != CUSPARSE_STATUS_SUCCESS) {                                                  \
            fprintf(stderr, "%s:%d: %s failed: %d\n", __FILE__, __LINE__, #call, (int)status_);    \
            exit(101);                                                                             \
        }                                                                                          \
    } while (0)

enum { ROWS = 20, COLUMNS = 14, WIDE = 5 };

static cusparseHandle_t handle;

// The same matrix in all formats; a quarter of its elements are there.
struct Matrix {
    std::vector<float> dense; // by columns
    cusparseSpMatDescr_t csr, csc, coo;
    int entries;
};

static Matrix matrix_make()
{
    Matrix out;
    out.dense.assign(ROWS * COLUMNS, 0);
    for (float &x : out.dense)
        x = numbers_next() > 0.5 ? (float)numbers_next() : 0;
    float *dense = device_array<float>(ROWS * COLUMNS);
    CHECK(cudaMemcpy(dense, out.dense.data(), sizeof(float) * ROWS * COLUMNS,
                     cudaMemcpyHostToDevice));
    cusparseDnMatDescr_t from;
    SPARSE(cusparseCreateDnMat(&from, ROWS, COLUMNS, ROWS, dense, CUDA_R_32F, CUSPARSE_ORDER_COL));
    int *row_offsets = device_array<int>(ROWS + 1),
        *column_offsets = device_array<int>(COLUMNS + 1);
    SPARSE(cusparseCreateCsr(&out.csr, ROWS, COLUMNS, 0, row_offsets, nullptr, nullptr,
                             CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO,
                             CUDA_R_32F));
    size_t bytes = 0;
    void *buffer;
    SPARSE(cusparseDenseToSparse_bufferSize(handle, from, out.csr,
                                            CUSPARSE_DENSETOSPARSE_ALG_DEFAULT, &bytes));
    CHECK(cudaMalloc(&buffer, bytes ? bytes : 1));
    SPARSE(cusparseDenseToSparse_analysis(handle, from, out.csr, CUSPARSE_DENSETOSPARSE_ALG_DEFAULT,
                                          buffer));
    int64_t rows, columns, entries;
    SPARSE(cusparseSpMatGetSize(out.csr, &rows, &columns, &entries));
    out.entries = (int)entries;
    int *column_indices = device_array<int>(entries), *row_indices = device_array<int>(entries);
    int *all_rows = device_array<int>(entries);
    float *values = device_array<float>(entries), *csc_values = device_array<float>(entries);
    SPARSE(cusparseCsrSetPointers(out.csr, row_offsets, column_indices, values));
    SPARSE(cusparseDenseToSparse_convert(handle, from, out.csr, CUSPARSE_DENSETOSPARSE_ALG_DEFAULT,
                                         buffer));
    SPARSE(cusparseCsr2cscEx2(handle, ROWS, COLUMNS, out.entries, values, row_offsets,
                              column_indices, csc_values, column_offsets, row_indices, CUDA_R_32F,
                              CUSPARSE_ACTION_NUMERIC, CUSPARSE_INDEX_BASE_ZERO,
                              CUSPARSE_CSR2CSC_ALG_DEFAULT, buffer));
    SPARSE(cusparseXcsr2coo(handle, row_offsets, out.entries, ROWS, all_rows,
                            CUSPARSE_INDEX_BASE_ZERO));
    std::vector<int> before(ROWS + 1), after(ROWS + 1);
    CHECK(cudaMemcpy(before.data(), row_offsets, sizeof(int) * (ROWS + 1), cudaMemcpyDeviceToHost));
    SPARSE(cusparseXcoo2csr(handle, all_rows, out.entries, ROWS, row_offsets,
                            CUSPARSE_INDEX_BASE_ZERO));
    CHECK(cudaMemcpy(after.data(), row_offsets, sizeof(int) * (ROWS + 1), cudaMemcpyDeviceToHost));
    if (before != after)
        numbers_wrong++;
    SPARSE(cusparseCreateCsc(&out.csc, ROWS, COLUMNS, entries, column_offsets, row_indices,
                             csc_values, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I,
                             CUSPARSE_INDEX_BASE_ZERO, CUDA_R_32F));
    SPARSE(cusparseCreateCoo(&out.coo, ROWS, COLUMNS, entries, all_rows, column_indices, values,
                             CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, CUDA_R_32F));
    return out;
}

static std::vector<float> product(const Matrix &matrix, bool transposed, int columns, float alpha,
                                  const std::vector<float> &in, float beta, std::vector<float> out)
{
    const int m = transposed ? COLUMNS : ROWS, k = transposed ? ROWS : COLUMNS;
    for (int j = 0; j < columns; j++)
        for (int i = 0; i < m; i++) {
            double sum = 0;
            for (int l = 0; l < k; l++)
                sum += (double)matrix.dense[transposed ? l + i * ROWS : i + l * ROWS] *
                       (double)in[l + j * k];
            out[i + j * m] = (float)(alpha * sum + beta * (double)out[i + j * m]);
        }
    return out;
}

static void products(const Matrix &matrix, cusparseSpMatDescr_t sparse, bool transposed)
{
    const int m = transposed ? COLUMNS : ROWS, k = transposed ? ROWS : COLUMNS;
    const float alpha = 1.5f, beta = -0.5f;
    const cusparseOperation_t operation =
        transposed ? CUSPARSE_OPERATION_TRANSPOSE : CUSPARSE_OPERATION_NON_TRANSPOSE;
    Both<float> x(k), y(m), b(k * WIDE), c(m * WIDE);
    cusparseDnVecDescr_t from, to;
    cusparseDnMatDescr_t many, result;
    size_t bytes = 0;
    void *buffer;
    SPARSE(cusparseCreateDnVec(&from, k, x.device, CUDA_R_32F));
    SPARSE(cusparseCreateDnVec(&to, m, y.device, CUDA_R_32F));
    SPARSE(cusparseSpMV_bufferSize(handle, operation, &alpha, sparse, from, &beta, to, CUDA_R_32F,
                                   CUSPARSE_SPMV_ALG_DEFAULT, &bytes));
    CHECK(cudaMalloc(&buffer, bytes ? bytes : 1));
    SPARSE(cusparseSpMV(handle, operation, &alpha, sparse, from, &beta, to, CUDA_R_32F,
                        CUSPARSE_SPMV_ALG_DEFAULT, buffer));
    numbers_compare("SpMV", y.get(), product(matrix, transposed, 1, alpha, x.host, beta, y.host),
                    1e-5);
    SPARSE(cusparseCreateDnMat(&many, k, WIDE, k, b.device, CUDA_R_32F, CUSPARSE_ORDER_COL));
    SPARSE(cusparseCreateDnMat(&result, m, WIDE, m, c.device, CUDA_R_32F, CUSPARSE_ORDER_COL));
    SPARSE(cusparseSpMM_bufferSize(handle, operation, CUSPARSE_OPERATION_NON_TRANSPOSE, &alpha,
                                   sparse, many, &beta, result, CUDA_R_32F,
                                   CUSPARSE_SPMM_ALG_DEFAULT, &bytes));
    CHECK(cudaFree(buffer));
    CHECK(cudaMalloc(&buffer, bytes ? bytes : 1));
    SPARSE(cusparseSpMM(handle, operation, CUSPARSE_OPERATION_NON_TRANSPOSE, &alpha, sparse, many,
                        &beta, result, CUDA_R_32F, CUSPARSE_SPMM_ALG_DEFAULT, buffer));
    numbers_compare("SpMM", c.get(), product(matrix, transposed, WIDE, alpha, b.host, beta, c.host),
                    1e-5);
    SPARSE(cusparseDestroyDnVec(from));
    SPARSE(cusparseDestroyDnVec(to));
    SPARSE(cusparseDestroyDnMat(many));
    SPARSE(cusparseDestroyDnMat(result));
}

int main()
{
    SPARSE(cusparseCreate(&handle));
    Matrix matrix = matrix_make();
    for (cusparseSpMatDescr_t sparse : {matrix.csr, matrix.csc, matrix.coo}) {
        products(matrix, sparse, false);
        products(matrix, sparse, true);
        Both<float> dense(ROWS * COLUMNS);
        cusparseDnMatDescr_t to;
        size_t bytes = 0;
        void *buffer;
        SPARSE(cusparseCreateDnMat(&to, ROWS, COLUMNS, ROWS, dense.device, CUDA_R_32F,
                                   CUSPARSE_ORDER_COL));
        SPARSE(cusparseSparseToDense_bufferSize(handle, sparse, to,
                                                CUSPARSE_SPARSETODENSE_ALG_DEFAULT, &bytes));
        CHECK(cudaMalloc(&buffer, bytes ? bytes : 1));
        SPARSE(
            cusparseSparseToDense(handle, sparse, to, CUSPARSE_SPARSETODENSE_ALG_DEFAULT, buffer));
        numbers_compare("sparse to dense", dense.get(), matrix.dense, 0);
    }
    SPARSE(cusparseDestroy(handle));
    return numbers_end();
}
