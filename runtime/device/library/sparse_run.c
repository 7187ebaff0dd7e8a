/* Products and conversions of cuSPARSE, by loops over the entries. Which elements a product reads
 * depends on data, so launches are traced. Then the rows of library.table are not needed. */
#include "runtime/device/library/sparse.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

enum { BUFFER_BYTES = 8 }; /* nothing needs a buffer; programs allocate what is asked for */

struct sparse_job {
    struct sparse_matrix matrix, other;
    struct sparse_dense in, out;
    int operations[2], scale_type;
    bool on_device, with_values;
    uint64_t factors[2];
    int64_t *entries; /* of a call that waits for their number */
    _Alignas(16) unsigned char values[2][16];
};

/* ---- Memory ---- */

/* Arrays of a matrix as this process sees them. */
struct arrays {
    const struct sparse_matrix *matrix;
    void *outer, *inner, *values;
};

static size_t index_bytes(int type)
{
    return type == SPARSE_INDEX_64 ? 8 : 4;
}

static int64_t index_read(const void *array, int type, int64_t i)
{
    return type == SPARSE_INDEX_64 ? ((const int64_t *)array)[i] : ((const int32_t *)array)[i];
}

static void index_write(void *array, int type, int64_t i, int64_t value)
{
    if (type == SPARSE_INDEX_64)
        ((int64_t *)array)[i] = value;
    else
        ((int32_t *)array)[i] = (int32_t)value;
}

static int64_t outer_count(const struct sparse_matrix *matrix)
{
    return matrix->format == SPARSE_CSR   ? matrix->rows + 1
           : matrix->format == SPARSE_CSC ? matrix->columns + 1
                                          : matrix->entries;
}

/* Whole arrays. `values` may be left out. False: they are not memory of the device. */
static bool open_outer(struct device_native *native, struct arrays *to,
                       enum device_native_access access)
{
    const struct sparse_matrix *matrix = to->matrix;
    to->outer = device_native_memory(
        native, matrix->outer, (uint64_t)outer_count(matrix) * index_bytes(matrix->outer_type),
        access);
    return to->outer != NULL;
}

static bool open_entries(struct device_native *native, struct arrays *to, bool with_values,
                         enum device_native_access access)
{
    const struct sparse_matrix *matrix = to->matrix;
    const uint64_t count = (uint64_t)matrix->entries;
    to->inner = device_native_memory(native, matrix->inner, count * index_bytes(matrix->inner_type),
                                     access);
    to->values = with_values ? device_native_memory(native, matrix->values,
                                                    count * number_bytes(matrix->type), access)
                             : NULL;
    return to->inner && (to->values || !with_values);
}

/* An element of a dense matrix. */
static int64_t place(const struct sparse_dense *dense, int64_t row, int64_t column)
{
    return dense->order == SPARSE_BY_ROWS ? row * dense->leading + column
                                          : column * dense->leading + row;
}

static void *element(struct device_native *native, const struct sparse_dense *dense, int64_t row,
                     int64_t column, enum device_native_access access)
{
    const uint64_t bytes = number_bytes(dense->type);
    return device_native_memory(native, dense->values + (uint64_t)place(dense, row, column) * bytes,
                                bytes, access);
}

static char *open_dense(struct device_native *native, const struct sparse_dense *dense,
                        enum device_native_access access)
{
    const int64_t bytes = (int64_t)number_bytes(dense->type);
    const bool by_rows = dense->order == SPARSE_BY_ROWS;
    const int64_t inner = by_rows ? dense->columns : dense->rows;
    const int64_t outer = by_rows ? dense->rows : dense->columns;
    return device_native_runs(native, dense->values, (uint64_t)(inner * bytes), (uint64_t)outer,
                              dense->leading * bytes, access);
}

/* ---- Entries ---- */

struct entry {
    int64_t row, column, number;
};

/* Calls `visit` for each entry, by rows or columns; it returns false to stop. False: it did, or the
 * offsets go beyond the entries, which is an access outside of the arrays. */
static bool visit_entries(struct device_native *native, const struct arrays *arrays,
                          bool (*visit)(void *user, const struct entry *entry), void *user)
{
    const struct sparse_matrix *matrix = arrays->matrix;
    const bool by_rows = matrix->format != SPARSE_CSC;
    const int64_t lines = matrix->format == SPARSE_COO ? 1 : outer_count(matrix) - 1;
    for (int64_t line = 0; line < lines; line++) {
        int64_t first = 0, last = matrix->entries;
        if (matrix->format != SPARSE_COO) {
            first = index_read(arrays->outer, matrix->outer_type, line) - matrix->base;
            last = index_read(arrays->outer, matrix->outer_type, line + 1) - matrix->base;
        }
        if (first < 0 || last > matrix->entries)
            return device_native_memory(native, 0, 1, DEVICE_NATIVE_READ) != NULL;
        for (int64_t i = first; i < last; i++) {
            const int64_t inner = index_read(arrays->inner, matrix->inner_type, i) - matrix->base;
            const int64_t outer =
                matrix->format == SPARSE_COO
                    ? index_read(arrays->outer, matrix->outer_type, i) - matrix->base
                    : line;
            const struct entry entry = {by_rows ? outer : inner, by_rows ? inner : outer, i};
            if (!visit(user, &entry))
                return false;
        }
    }
    return true;
}

/* ---- Products: C = alpha op(A) op(B) + beta C ---- */

struct product {
    const struct sparse_job *job;
    const struct arrays *arrays;
    struct device_native *native;
    double _Complex *sums; /* of C, by columns */
};

static bool multiply_entry(void *user, const struct entry *entry)
{
    const struct product *product = user;
    const struct sparse_job *job = product->job;
    const bool plain = job->operations[0] == SPARSE_PLAIN;
    const int64_t row = plain ? entry->row : entry->column;
    const int64_t inner = plain ? entry->column : entry->row;
    double _Complex value = number_read(job->matrix.type, product->arrays->values, entry->number);
    if (job->operations[0] == SPARSE_CONJUGATED)
        value = conj(value);
    for (int64_t j = 0; j < job->out.columns; j++) {
        const bool as_is = job->operations[1] == SPARSE_PLAIN;
        const int64_t b_row = as_is ? inner : j, b_column = as_is ? j : inner;
        const bool inside = row >= 0 && row < job->out.rows && b_row >= 0 && b_row < job->in.rows &&
                            b_column >= 0 && b_column < job->in.columns;
        const void *b =
            inside ? element(product->native, &job->in, b_row, b_column, DEVICE_NATIVE_READ)
                   : device_native_memory(product->native, 0, 1, DEVICE_NATIVE_READ);
        if (!b)
            return false;
        const double _Complex factor = number_read(job->in.type, b, 0);
        product->sums[row + j * job->out.rows] +=
            value * (job->operations[1] == SPARSE_CONJUGATED ? conj(factor) : factor);
    }
    return true;
}

static double _Complex factor(struct device_native *native, const struct sparse_job *job, int which)
{
    const void *value = job->values[which];
    if (job->on_device)
        value = device_native_memory(native, job->factors[which], number_bytes(job->scale_type),
                                     DEVICE_NATIVE_READ);
    return value ? number_read(job->scale_type, value, 0) : 0;
}

static void write_sums(const struct product *product, double _Complex alpha, double _Complex beta)
{
    const struct sparse_dense *out = &product->job->out;
    char *c = beta != 0 ? open_dense(product->native, out, DEVICE_NATIVE_READ) : NULL;
    char *written = open_dense(product->native, out, DEVICE_NATIVE_WRITE);
    if (!written || (beta != 0 && !c))
        return;
    for (int64_t j = 0; j < out->columns; j++)
        for (int64_t i = 0; i < out->rows; i++) {
            const int64_t at = place(out, i, j);
            double _Complex value = alpha * product->sums[i + j * out->rows];
            if (beta != 0)
                value += beta * number_read(out->type, c, at);
            number_write(out->type, written, at, value);
        }
}

static void run_product(struct device_native *native, const void *data)
{
    const struct sparse_job *job = data;
    struct arrays arrays = {.matrix = &job->matrix};
    struct product product = {job, &arrays, native, NULL};
    const double _Complex alpha = factor(native, job, 0), beta = factor(native, job, 1);
    product.sums = calloc((size_t)(job->out.rows * job->out.columns + 1), sizeof *product.sums);
    bool whole = product.sums != NULL;
    if (whole && alpha != 0)
        whole = open_outer(native, &arrays, DEVICE_NATIVE_READ) &&
                open_entries(native, &arrays, true, DEVICE_NATIVE_READ) &&
                visit_entries(native, &arrays, multiply_entry, &product);
    if (whole)
        write_sums(&product, alpha, beta);
    free(product.sums);
}

static int product_check(const struct sparse_job *job, const void *alpha, const void *beta)
{
    const int a = job->operations[0], b = job->operations[1];
    const int64_t rows = a == SPARSE_PLAIN ? job->matrix.rows : job->matrix.columns;
    const int64_t inner = a == SPARSE_PLAIN ? job->matrix.columns : job->matrix.rows;
    const int64_t b_rows = b == SPARSE_PLAIN ? job->in.rows : job->in.columns;
    const int64_t b_columns = b == SPARSE_PLAIN ? job->in.columns : job->in.rows;
    if (!alpha || !beta || a < 0 || a > 2 || b < 0 || b > 2 || rows != job->out.rows ||
        inner != b_rows || b_columns != job->out.columns)
        return SPARSE_INVALID_VALUE;
    if (!number_bytes(job->scale_type) || job->in.batches > 1 || job->out.batches > 1) {
        library_lacks("a product of cuSPARSE of this type, or in batches");
        return SPARSE_NOT_SUPPORTED;
    }
    return SPARSE_SUCCESS;
}

static int product_launch(struct library_kernel *kernel, void *handle, const int operations[2],
                          const void *alpha, const struct sparse_matrix *a,
                          const struct sparse_dense *b, const void *beta, struct sparse_dense *c,
                          int scale_type)
{
    const struct sparse_handle *known = sparse_handle(handle);
    if (!known)
        return SPARSE_NOT_INITIALIZED;
    if (!a || !b || !c)
        return SPARSE_INVALID_VALUE;
    struct sparse_job job = {.matrix = *a,
                             .in = *b,
                             .out = *c,
                             .operations = {operations[0], operations[1]},
                             .scale_type = scale_type,
                             .on_device = known->on_device == 1,
                             .factors = {(uintptr_t)alpha, (uintptr_t)beta}};
    const int status = product_check(&job, alpha, beta);
    if (status)
        return status;
    if (!job.on_device) {
        memcpy(job.values[0], alpha, number_bytes(scale_type));
        memcpy(job.values[1], beta, number_bytes(scale_type));
    }
    return library_launch(kernel, known->stream, &job, sizeof job) ? SPARSE_SUCCESS
                                                                   : SPARSE_EXECUTION_FAILED;
}

#define SPMV_PARAMETERS                                                                            \
    void *handle, int operation, const void *alpha, const struct sparse_matrix *a,                 \
        const struct sparse_dense *x, const void *beta, struct sparse_dense *y, int type,          \
        int algorithm

LIBRARY_EXPORT int cusparseSpMV(SPMV_PARAMETERS, void *buffer);
LIBRARY_EXPORT int cusparseSpMV(SPMV_PARAMETERS, void *buffer)
{
    static struct library_kernel kernel = {"cusparseSpMV", run_product, true, NULL};
    (void)algorithm, (void)buffer;
    return product_launch(&kernel, handle, (int[]){operation, SPARSE_PLAIN}, alpha, a, x, beta, y,
                          type);
}

static int buffer_size(void *handle, size_t *bytes)
{
    if (!sparse_handle(handle))
        return SPARSE_NOT_INITIALIZED;
    if (!bytes)
        return SPARSE_INVALID_VALUE;
    *bytes = BUFFER_BYTES;
    return SPARSE_SUCCESS;
}

static int prepared(void *handle)
{
    return sparse_handle(handle) ? SPARSE_SUCCESS : SPARSE_NOT_INITIALIZED;
}

LIBRARY_EXPORT int cusparseSpMV_bufferSize(SPMV_PARAMETERS, size_t *bytes);
LIBRARY_EXPORT int cusparseSpMV_bufferSize(SPMV_PARAMETERS, size_t *bytes)
{
    (void)operation, (void)alpha, (void)a, (void)x, (void)beta, (void)y, (void)type;
    (void)algorithm;
    return buffer_size(handle, bytes);
}
LIBRARY_EXPORT int cusparseSpMV_preprocess(SPMV_PARAMETERS, void *buffer);
LIBRARY_EXPORT int cusparseSpMV_preprocess(SPMV_PARAMETERS, void *buffer)
{
    (void)operation, (void)alpha, (void)a, (void)x, (void)beta, (void)y, (void)type;
    (void)algorithm, (void)buffer;
    return prepared(handle);
}

#define SPMM_PARAMETERS                                                                            \
    void *handle, int operation_a, int operation_b, const void *alpha,                             \
        const struct sparse_matrix *a, const struct sparse_dense *b, const void *beta,             \
        struct sparse_dense *c, int type, int algorithm

LIBRARY_EXPORT int cusparseSpMM(SPMM_PARAMETERS, void *buffer);
LIBRARY_EXPORT int cusparseSpMM(SPMM_PARAMETERS, void *buffer)
{
    static struct library_kernel kernel = {"cusparseSpMM", run_product, true, NULL};
    (void)algorithm, (void)buffer;
    return product_launch(&kernel, handle, (int[]){operation_a, operation_b}, alpha, a, b, beta, c,
                          type);
}
LIBRARY_EXPORT int cusparseSpMM_bufferSize(SPMM_PARAMETERS, size_t *bytes);
LIBRARY_EXPORT int cusparseSpMM_bufferSize(SPMM_PARAMETERS, size_t *bytes)
{
    (void)operation_a, (void)operation_b, (void)alpha, (void)a, (void)b, (void)beta, (void)c;
    (void)type, (void)algorithm;
    return buffer_size(handle, bytes);
}
LIBRARY_EXPORT int cusparseSpMM_preprocess(SPMM_PARAMETERS, void *buffer);
LIBRARY_EXPORT int cusparseSpMM_preprocess(SPMM_PARAMETERS, void *buffer)
{
    (void)operation_a, (void)operation_b, (void)alpha, (void)a, (void)b, (void)beta, (void)c;
    (void)type, (void)algorithm, (void)buffer;
    return prepared(handle);
}

/* ---- Dense to sparse: the analysis writes the offsets, the conversion the entries ---- */

/* A dense matrix line by line, as a sparse format has its entries: columns for CSC, else rows. */
struct dense_lines {
    const struct sparse_dense *dense;
    const char *values;
    bool by_columns;
    int64_t count, length;
};

static bool dense_lines_open(struct dense_lines *lines, struct device_native *native,
                             const struct sparse_job *job)
{
    const struct sparse_dense *dense = &job->in;
    const bool by_columns = job->matrix.format == SPARSE_CSC;
    *lines = (struct dense_lines){.dense = dense,
                                  .values = open_dense(native, dense, DEVICE_NATIVE_READ),
                                  .by_columns = by_columns,
                                  .count = by_columns ? dense->columns : dense->rows,
                                  .length = by_columns ? dense->rows : dense->columns};
    return lines->values != NULL;
}

static double _Complex dense_lines_value(const struct dense_lines *lines, int64_t line, int64_t at)
{
    return number_read(lines->dense->type, lines->values,
                       lines->by_columns ? place(lines->dense, at, line)
                                         : place(lines->dense, line, at));
}

static void run_count(struct device_native *native, const void *data)
{
    const struct sparse_job *job = data;
    const struct sparse_matrix *matrix = &job->matrix;
    struct arrays arrays = {.matrix = matrix};
    struct dense_lines dense;
    const bool offsets = matrix->format != SPARSE_COO;
    int64_t count = 0;
    if (!dense_lines_open(&dense, native, job) ||
        (offsets && !open_outer(native, &arrays, DEVICE_NATIVE_WRITE)))
        return;
    for (int64_t i = 0; i < dense.count; i++) {
        if (offsets)
            index_write(arrays.outer, matrix->outer_type, i, count + matrix->base);
        for (int64_t j = 0; j < dense.length; j++)
            count += dense_lines_value(&dense, i, j) != 0;
    }
    if (offsets)
        index_write(arrays.outer, matrix->outer_type, dense.count, count + matrix->base);
    *job->entries = count;
}

static void run_to_sparse(struct device_native *native, const void *data)
{
    const struct sparse_job *job = data;
    const struct sparse_matrix *matrix = &job->matrix;
    struct arrays arrays = {.matrix = matrix};
    struct dense_lines dense;
    if (!dense_lines_open(&dense, native, job) ||
        !open_entries(native, &arrays, true, DEVICE_NATIVE_WRITE) ||
        (matrix->format == SPARSE_COO && !open_outer(native, &arrays, DEVICE_NATIVE_WRITE)))
        return;
    int64_t count = 0;
    for (int64_t i = 0; i < dense.count; i++)
        for (int64_t j = 0; j < dense.length; j++) {
            const double _Complex value = dense_lines_value(&dense, i, j);
            if (value == 0 || count == matrix->entries)
                continue;
            if (matrix->format == SPARSE_COO)
                index_write(arrays.outer, matrix->outer_type, count, i + matrix->base);
            index_write(arrays.inner, matrix->inner_type, count, j + matrix->base);
            number_write(matrix->type, arrays.values, count++, value);
        }
}

static void zero(const struct sparse_dense *dense, char *values)
{
    const bool by_rows = dense->order == SPARSE_BY_ROWS;
    const size_t bytes = number_bytes(dense->type);
    const int64_t outer = by_rows ? dense->rows : dense->columns;
    for (int64_t i = 0; i < outer; i++)
        memset(values + (size_t)(i * dense->leading) * bytes, 0,
               (size_t)(by_rows ? dense->columns : dense->rows) * bytes);
}

struct scatter {
    const struct sparse_job *job;
    const struct arrays *arrays;
    char *dense;
};

static bool scatter_entry(void *user, const struct entry *entry)
{
    const struct scatter *scatter = user;
    const struct sparse_dense *out = &scatter->job->out;
    if (entry->row >= 0 && entry->row < out->rows && entry->column >= 0 &&
        entry->column < out->columns)
        number_write(
            out->type, scatter->dense, place(out, entry->row, entry->column),
            number_read(scatter->job->matrix.type, scatter->arrays->values, entry->number));
    return true;
}

static void run_to_dense(struct device_native *native, const void *data)
{
    const struct sparse_job *job = data;
    struct arrays arrays = {.matrix = &job->matrix};
    struct scatter scatter = {job, &arrays, open_dense(native, &job->out, DEVICE_NATIVE_WRITE)};
    if (!scatter.dense || !open_outer(native, &arrays, DEVICE_NATIVE_READ) ||
        !open_entries(native, &arrays, true, DEVICE_NATIVE_READ))
        return;
    zero(&job->out, scatter.dense);
    visit_entries(native, &arrays, scatter_entry, &scatter);
}

/* A launch between a dense and a sparse matrix of the same shape. */
static int convert(struct library_kernel *kernel, void *handle, const struct sparse_matrix *matrix,
                   const struct sparse_dense *dense, int64_t *entries)
{
    const struct sparse_handle *known = sparse_handle(handle);
    if (!known)
        return SPARSE_NOT_INITIALIZED;
    if (!matrix || !dense || matrix->rows != dense->rows || matrix->columns != dense->columns)
        return SPARSE_INVALID_VALUE;
    const struct sparse_job job = {
        .matrix = *matrix, .in = *dense, .out = *dense, .entries = entries};
    if (entries && library_is_captured(known->stream))
        return SPARSE_NOT_SUPPORTED;
    const bool done = library_launch(kernel, known->stream, &job, sizeof job) &&
                      (!entries || library_wait(known->stream));
    return done ? SPARSE_SUCCESS : SPARSE_EXECUTION_FAILED;
}

LIBRARY_EXPORT int cusparseDenseToSparse_bufferSize(void *handle, const struct sparse_dense *dense,
                                                    struct sparse_matrix *matrix, int algorithm,
                                                    size_t *bytes);
LIBRARY_EXPORT int cusparseDenseToSparse_bufferSize(void *handle, const struct sparse_dense *dense,
                                                    struct sparse_matrix *matrix, int algorithm,
                                                    size_t *bytes)
{
    (void)dense, (void)matrix, (void)algorithm;
    return buffer_size(handle, bytes);
}

/* "The function cusparseSpMatGetSize" then gives the number of entries: the call waits for it. */
LIBRARY_EXPORT int cusparseDenseToSparse_analysis(void *handle, const struct sparse_dense *dense,
                                                  struct sparse_matrix *matrix, int algorithm,
                                                  void *buffer);
LIBRARY_EXPORT int cusparseDenseToSparse_analysis(void *handle, const struct sparse_dense *dense,
                                                  struct sparse_matrix *matrix, int algorithm,
                                                  void *buffer)
{
    static struct library_kernel kernel = {"cusparseDenseToSparse_analysis", run_count, true, NULL};
    int64_t entries = 0;
    (void)algorithm, (void)buffer;
    const int status = convert(&kernel, handle, matrix, dense, &entries);
    if (!status)
        matrix->entries = entries;
    return status;
}

LIBRARY_EXPORT int cusparseDenseToSparse_convert(void *handle, const struct sparse_dense *dense,
                                                 struct sparse_matrix *matrix, int algorithm,
                                                 void *buffer);
LIBRARY_EXPORT int cusparseDenseToSparse_convert(void *handle, const struct sparse_dense *dense,
                                                 struct sparse_matrix *matrix, int algorithm,
                                                 void *buffer)
{
    static struct library_kernel kernel = {"cusparseDenseToSparse_convert", run_to_sparse, true,
                                           NULL};
    (void)algorithm, (void)buffer;
    return convert(&kernel, handle, matrix, dense, NULL);
}

LIBRARY_EXPORT int cusparseSparseToDense_bufferSize(void *handle,
                                                    const struct sparse_matrix *matrix,
                                                    struct sparse_dense *dense, int algorithm,
                                                    size_t *bytes);
LIBRARY_EXPORT int cusparseSparseToDense_bufferSize(void *handle,
                                                    const struct sparse_matrix *matrix,
                                                    struct sparse_dense *dense, int algorithm,
                                                    size_t *bytes)
{
    (void)dense, (void)matrix, (void)algorithm;
    return buffer_size(handle, bytes);
}

LIBRARY_EXPORT int cusparseSparseToDense(void *handle, const struct sparse_matrix *matrix,
                                         struct sparse_dense *dense, int algorithm, void *buffer);
LIBRARY_EXPORT int cusparseSparseToDense(void *handle, const struct sparse_matrix *matrix,
                                         struct sparse_dense *dense, int algorithm, void *buffer)
{
    static struct library_kernel kernel = {"cusparseSparseToDense", run_to_dense, true, NULL};
    (void)algorithm, (void)buffer;
    return convert(&kernel, handle, matrix, dense, NULL);
}
