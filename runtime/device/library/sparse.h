/* csan's own cuSPARSE: descriptors (sparse.c), and products and conversions (sparse_run.c). */
#ifndef RUNTIME_DEVICE_LIBRARY_SPARSE_H
#define RUNTIME_DEVICE_LIBRARY_SPARSE_H

#include "runtime/device/library/number.h"
#include "runtime/device/library/work.h"

/* cusparseStatus_t */
enum {
    SPARSE_SUCCESS = 0,
    SPARSE_NOT_INITIALIZED = 1,
    SPARSE_ALLOC_FAILED = 2,
    SPARSE_INVALID_VALUE = 3,
    SPARSE_EXECUTION_FAILED = 6,
    SPARSE_NOT_SUPPORTED = 10
};

enum sparse_format { SPARSE_CSR = 1, SPARSE_CSC = 2, SPARSE_COO = 3 };
enum { SPARSE_INDEX_32 = 2, SPARSE_INDEX_64 = 3 };
enum { SPARSE_BY_COLUMNS = 1, SPARSE_BY_ROWS = 2 };
enum { SPARSE_PLAIN = 0, SPARSE_TRANSPOSED = 1, SPARSE_CONJUGATED = 2 };

struct sparse_handle {
    uint64_t magic;
    library_stream stream;
    int on_device; /* pointer mode */
};

/* `outer`: offsets of rows (CSR) or columns (CSC), or the rows of entries (COO). */
struct sparse_matrix {
    enum sparse_format format;
    int64_t rows, columns, entries;
    uint64_t outer, inner, values;
    int outer_type, inner_type, base, type;
};

/* A matrix, or a vector of one column. */
struct sparse_dense {
    int64_t rows, columns, leading, step;
    uint64_t values;
    int type, order, batches;
};

/* NULL: it is no handle. */
struct sparse_handle *sparse_handle(void *handle);

#endif
