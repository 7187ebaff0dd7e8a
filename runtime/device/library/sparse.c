/* Handles and descriptors of cuSPARSE (cuSPARSE documentation, "cuSPARSE Generic APIs"). */
#include "runtime/device/library/sparse.h"

#include <stdlib.h>

#define MAGIC 0x6373616e73706172ull

LIBRARY_EXPORT const char csan_library_traces = 1;

struct sparse_handle *sparse_handle(void *handle)
{
    struct sparse_handle *known = handle;
    return known && known->magic == MAGIC ? known : NULL;
}

LIBRARY_EXPORT int cusparseCreate(void **handle);
LIBRARY_EXPORT int cusparseCreate(void **handle)
{
    if (!handle)
        return SPARSE_INVALID_VALUE;
    if (!library_begin())
        return SPARSE_NOT_INITIALIZED;
    struct sparse_handle *made = calloc(1, sizeof *made);
    if (!made)
        return SPARSE_ALLOC_FAILED;
    made->magic = MAGIC;
    *handle = made;
    return SPARSE_SUCCESS;
}

LIBRARY_EXPORT int cusparseDestroy(void *handle);
LIBRARY_EXPORT int cusparseDestroy(void *handle)
{
    struct sparse_handle *known = sparse_handle(handle);
    if (!known)
        return SPARSE_NOT_INITIALIZED;
    known->magic = 0;
    free(known);
    return SPARSE_SUCCESS;
}

/* cusparseSetNAME and cusparseGetNAME, of a member of the handle. */
#define HANDLE_PROPERTY(NAME, type, member)                                                        \
    LIBRARY_EXPORT int cusparseSet##NAME(void *handle, type value);                                \
    LIBRARY_EXPORT int cusparseSet##NAME(void *handle, type value)                                 \
    {                                                                                              \
        struct sparse_handle *known = sparse_handle(handle);                                       \
        if (known)                                                                                 \
            known->member = value;                                                                 \
        return known ? SPARSE_SUCCESS : SPARSE_NOT_INITIALIZED;                                    \
    }                                                                                              \
    LIBRARY_EXPORT int cusparseGet##NAME(void *handle, type *value);                               \
    LIBRARY_EXPORT int cusparseGet##NAME(void *handle, type *value)                                \
    {                                                                                              \
        const struct sparse_handle *known = sparse_handle(handle);                                 \
        if (known)                                                                                 \
            *value = known->member;                                                                \
        return known ? SPARSE_SUCCESS : SPARSE_NOT_INITIALIZED;                                    \
    }
HANDLE_PROPERTY(Stream, library_stream, stream)
HANDLE_PROPERTY(PointerMode, int, on_device)

LIBRARY_EXPORT int cusparseGetVersion(void *handle, int *version);
LIBRARY_EXPORT int cusparseGetVersion(void *handle, int *version)
{
    (void)handle;
    *version = library_major * 1000;
    return SPARSE_SUCCESS;
}

LIBRARY_EXPORT int cusparseGetProperty(int type, int *value);
LIBRARY_EXPORT int cusparseGetProperty(int type, int *value)
{
    if (!value || type < 0 || type > 2)
        return SPARSE_INVALID_VALUE;
    *value = type == 0 ? library_major : 0;
    return SPARSE_SUCCESS;
}

static const char *const names[] = {"CUSPARSE_STATUS_SUCCESS",
                                    "CUSPARSE_STATUS_NOT_INITIALIZED",
                                    "CUSPARSE_STATUS_ALLOC_FAILED",
                                    "CUSPARSE_STATUS_INVALID_VALUE",
                                    "CUSPARSE_STATUS_ARCH_MISMATCH",
                                    "CUSPARSE_STATUS_MAPPING_ERROR",
                                    "CUSPARSE_STATUS_EXECUTION_FAILED",
                                    "CUSPARSE_STATUS_INTERNAL_ERROR",
                                    "CUSPARSE_STATUS_MATRIX_TYPE_NOT_SUPPORTED",
                                    "CUSPARSE_STATUS_ZERO_PIVOT",
                                    "CUSPARSE_STATUS_NOT_SUPPORTED",
                                    "CUSPARSE_STATUS_INSUFFICIENT_RESOURCES"};
static const char *const texts[] = {
    "success",          "initialization error",    "out of memory",
    "invalid value",    "architecture mismatch",   "mapping error",
    "execution failed", "internal error",          "matrix type not supported",
    "zero pivot",       "operation not supported", "insufficient resources"};

LIBRARY_EXPORT const char *cusparseGetErrorName(int status);
LIBRARY_EXPORT const char *cusparseGetErrorName(int status)
{
    const bool known = status >= 0 && (size_t)status < sizeof names / sizeof *names;
    return known ? names[status] : "unrecognized error code";
}

LIBRARY_EXPORT const char *cusparseGetErrorString(int status);
LIBRARY_EXPORT const char *cusparseGetErrorString(int status)
{
    const bool known = status >= 0 && (size_t)status < sizeof texts / sizeof *texts;
    return known ? texts[status] : "unrecognized error code";
}

/* ---- Sparse matrices ---- */

static int matrix_create(struct sparse_matrix **matrix, const struct sparse_matrix *with)
{
    if (!matrix || with->rows < 0 || with->columns < 0 || with->entries < 0)
        return SPARSE_INVALID_VALUE;
    if (!number_bytes(with->type) || with->outer_type < SPARSE_INDEX_32 ||
        with->inner_type < SPARSE_INDEX_32) {
        library_lacks("a sparse matrix with this type of values or indices");
        return SPARSE_NOT_SUPPORTED;
    }
    *matrix = malloc(sizeof **matrix);
    if (!*matrix)
        return SPARSE_ALLOC_FAILED;
    **matrix = *with;
    return SPARSE_SUCCESS;
}

#define COMPRESSED(name, which)                                                                    \
    LIBRARY_EXPORT int name(struct sparse_matrix **matrix, int64_t rows, int64_t columns,          \
                            int64_t entries, const void *outer, const void *inner,                 \
                            const void *values, int outer_type, int inner_type, int base,          \
                            int type);                                                             \
    LIBRARY_EXPORT int name(struct sparse_matrix **matrix, int64_t rows, int64_t columns,          \
                            int64_t entries, const void *outer, const void *inner,                 \
                            const void *values, int outer_type, int inner_type, int base,          \
                            int type)                                                              \
    {                                                                                              \
        const struct sparse_matrix with = {which,                                                  \
                                           rows,                                                   \
                                           columns,                                                \
                                           entries,                                                \
                                           (uintptr_t)outer,                                       \
                                           (uintptr_t)inner,                                       \
                                           (uintptr_t)values,                                      \
                                           outer_type,                                             \
                                           inner_type,                                             \
                                           base,                                                   \
                                           type};                                                  \
        return matrix_create(matrix, &with);                                                       \
    }
COMPRESSED(cusparseCreateCsr, SPARSE_CSR)
COMPRESSED(cusparseCreateConstCsr, SPARSE_CSR)
COMPRESSED(cusparseCreateCsc, SPARSE_CSC)
COMPRESSED(cusparseCreateConstCsc, SPARSE_CSC)

#define COORDINATES(name)                                                                          \
    LIBRARY_EXPORT int name(struct sparse_matrix **matrix, int64_t rows, int64_t columns,          \
                            int64_t entries, const void *outer, const void *inner,                 \
                            const void *values, int index_type, int base, int type);               \
    LIBRARY_EXPORT int name(struct sparse_matrix **matrix, int64_t rows, int64_t columns,          \
                            int64_t entries, const void *outer, const void *inner,                 \
                            const void *values, int index_type, int base, int type)                \
    {                                                                                              \
        const struct sparse_matrix with = {SPARSE_COO,                                             \
                                           rows,                                                   \
                                           columns,                                                \
                                           entries,                                                \
                                           (uintptr_t)outer,                                       \
                                           (uintptr_t)inner,                                       \
                                           (uintptr_t)values,                                      \
                                           index_type,                                             \
                                           index_type,                                             \
                                           base,                                                   \
                                           type};                                                  \
        return matrix_create(matrix, &with);                                                       \
    }
COORDINATES(cusparseCreateCoo)
COORDINATES(cusparseCreateConstCoo)

LIBRARY_EXPORT int cusparseDestroySpMat(struct sparse_matrix *matrix);
LIBRARY_EXPORT int cusparseDestroySpMat(struct sparse_matrix *matrix)
{
    free(matrix);
    return SPARSE_SUCCESS;
}

#define SET_POINTERS(name)                                                                         \
    LIBRARY_EXPORT int name(struct sparse_matrix *matrix, void *outer, void *inner, void *values); \
    LIBRARY_EXPORT int name(struct sparse_matrix *matrix, void *outer, void *inner, void *values)  \
    {                                                                                              \
        if (!matrix)                                                                               \
            return SPARSE_INVALID_VALUE;                                                           \
        matrix->outer = (uintptr_t)outer;                                                          \
        matrix->inner = (uintptr_t)inner;                                                          \
        matrix->values = (uintptr_t)values;                                                        \
        return SPARSE_SUCCESS;                                                                     \
    }
SET_POINTERS(cusparseCsrSetPointers)
SET_POINTERS(cusparseCscSetPointers)
SET_POINTERS(cusparseCooSetPointers)

LIBRARY_EXPORT int cusparseSpMatGetSize(const struct sparse_matrix *matrix, int64_t *rows,
                                        int64_t *columns, int64_t *entries);
LIBRARY_EXPORT int cusparseSpMatGetSize(const struct sparse_matrix *matrix, int64_t *rows,
                                        int64_t *columns, int64_t *entries)
{
    if (!matrix)
        return SPARSE_INVALID_VALUE;
    *rows = matrix->rows;
    *columns = matrix->columns;
    *entries = matrix->entries;
    return SPARSE_SUCCESS;
}

LIBRARY_EXPORT int cusparseSpMatGetFormat(const struct sparse_matrix *matrix, int *format);
LIBRARY_EXPORT int cusparseSpMatGetFormat(const struct sparse_matrix *matrix, int *format)
{
    if (!matrix)
        return SPARSE_INVALID_VALUE;
    *format = (int)matrix->format;
    return SPARSE_SUCCESS;
}

LIBRARY_EXPORT int cusparseSpMatGetIndexBase(const struct sparse_matrix *matrix, int *base);
LIBRARY_EXPORT int cusparseSpMatGetIndexBase(const struct sparse_matrix *matrix, int *base)
{
    if (!matrix)
        return SPARSE_INVALID_VALUE;
    *base = matrix->base;
    return SPARSE_SUCCESS;
}

LIBRARY_EXPORT int cusparseSpMatGetValues(const struct sparse_matrix *matrix, void **values);
LIBRARY_EXPORT int cusparseSpMatGetValues(const struct sparse_matrix *matrix, void **values)
{
    if (!matrix)
        return SPARSE_INVALID_VALUE;
    *values = (void *)(uintptr_t)matrix->values;
    return SPARSE_SUCCESS;
}

LIBRARY_EXPORT int cusparseSpMatSetValues(struct sparse_matrix *matrix, void *values);
LIBRARY_EXPORT int cusparseSpMatSetValues(struct sparse_matrix *matrix, void *values)
{
    if (!matrix)
        return SPARSE_INVALID_VALUE;
    matrix->values = (uintptr_t)values;
    return SPARSE_SUCCESS;
}

static int matrix_get(const struct sparse_matrix *matrix, enum sparse_format format, int64_t *rows,
                      int64_t *columns, int64_t *entries, void **outer, void **inner, void **values,
                      int *outer_type, int *inner_type, int *base, int *type)
{
    const int status = cusparseSpMatGetSize(matrix, rows, columns, entries);
    if (status || matrix->format != format)
        return status ? status : SPARSE_INVALID_VALUE;
    *outer = (void *)(uintptr_t)matrix->outer;
    *inner = (void *)(uintptr_t)matrix->inner;
    *values = (void *)(uintptr_t)matrix->values;
    *outer_type = matrix->outer_type;
    *inner_type = matrix->inner_type;
    *base = matrix->base;
    *type = matrix->type;
    return SPARSE_SUCCESS;
}

#define GET_COMPRESSED(name, which)                                                                \
    LIBRARY_EXPORT int name(const struct sparse_matrix *matrix, int64_t *rows, int64_t *columns,   \
                            int64_t *entries, void **outer, void **inner, void **values,           \
                            int *outer_type, int *inner_type, int *base, int *type);               \
    LIBRARY_EXPORT int name(const struct sparse_matrix *matrix, int64_t *rows, int64_t *columns,   \
                            int64_t *entries, void **outer, void **inner, void **values,           \
                            int *outer_type, int *inner_type, int *base, int *type)                \
    {                                                                                              \
        return matrix_get(matrix, which, rows, columns, entries, outer, inner, values, outer_type, \
                          inner_type, base, type);                                                 \
    }
GET_COMPRESSED(cusparseCsrGet, SPARSE_CSR)
GET_COMPRESSED(cusparseConstCsrGet, SPARSE_CSR)
GET_COMPRESSED(cusparseCscGet, SPARSE_CSC)
GET_COMPRESSED(cusparseConstCscGet, SPARSE_CSC)

#define GET_COORDINATES(name)                                                                      \
    LIBRARY_EXPORT int name(const struct sparse_matrix *matrix, int64_t *rows, int64_t *columns,   \
                            int64_t *entries, void **outer, void **inner, void **values,           \
                            int *index_type, int *base, int *type);                                \
    LIBRARY_EXPORT int name(const struct sparse_matrix *matrix, int64_t *rows, int64_t *columns,   \
                            int64_t *entries, void **outer, void **inner, void **values,           \
                            int *index_type, int *base, int *type)                                 \
    {                                                                                              \
        int inner_type;                                                                            \
        return matrix_get(matrix, SPARSE_COO, rows, columns, entries, outer, inner, values,        \
                          index_type, &inner_type, base, type);                                    \
    }
GET_COORDINATES(cusparseCooGet)
GET_COORDINATES(cusparseConstCooGet)

/* There are no batches of sparse matrices. */
LIBRARY_EXPORT int cusparseSpMatGetStridedBatch(const struct sparse_matrix *matrix, int *batches);
LIBRARY_EXPORT int cusparseSpMatGetStridedBatch(const struct sparse_matrix *matrix, int *batches)
{
    if (!matrix)
        return SPARSE_INVALID_VALUE;
    *batches = 1;
    return SPARSE_SUCCESS;
}

/* ---- Dense vectors and matrices ---- */

static int dense_create(struct sparse_dense **dense, const struct sparse_dense *with)
{
    if (!dense || with->rows < 0 || with->columns < 0)
        return SPARSE_INVALID_VALUE;
    if (!number_bytes(with->type)) {
        library_lacks("a dense matrix of cuSPARSE with this type of values");
        return SPARSE_NOT_SUPPORTED;
    }
    *dense = malloc(sizeof **dense);
    if (!*dense)
        return SPARSE_ALLOC_FAILED;
    **dense = *with;
    return SPARSE_SUCCESS;
}

#define VECTOR(name)                                                                               \
    LIBRARY_EXPORT int name(struct sparse_dense **vector, int64_t size, const void *values,        \
                            int type);                                                             \
    LIBRARY_EXPORT int name(struct sparse_dense **vector, int64_t size, const void *values,        \
                            int type)                                                              \
    {                                                                                              \
        const struct sparse_dense with = {                                                         \
            size, 1, size, 0, (uintptr_t)values, type, SPARSE_BY_COLUMNS, 1};                      \
        return dense_create(vector, &with);                                                        \
    }
VECTOR(cusparseCreateDnVec)
VECTOR(cusparseCreateConstDnVec)

#define MATRIX(name)                                                                               \
    LIBRARY_EXPORT int name(struct sparse_dense **matrix, int64_t rows, int64_t columns,           \
                            int64_t leading, const void *values, int type, int order);             \
    LIBRARY_EXPORT int name(struct sparse_dense **matrix, int64_t rows, int64_t columns,           \
                            int64_t leading, const void *values, int type, int order)              \
    {                                                                                              \
        const struct sparse_dense with = {rows, columns, leading, 0, (uintptr_t)values,            \
                                          type, order,   1};                                       \
        if (leading < (order == SPARSE_BY_ROWS ? columns : rows))                                  \
            return SPARSE_INVALID_VALUE;                                                           \
        return dense_create(matrix, &with);                                                        \
    }
MATRIX(cusparseCreateDnMat)
MATRIX(cusparseCreateConstDnMat)

#define DENSE(destroy, get, set)                                                                   \
    LIBRARY_EXPORT int destroy(struct sparse_dense *dense);                                        \
    LIBRARY_EXPORT int destroy(struct sparse_dense *dense)                                         \
    {                                                                                              \
        free(dense);                                                                               \
        return SPARSE_SUCCESS;                                                                     \
    }                                                                                              \
    LIBRARY_EXPORT int get(const struct sparse_dense *dense, void **values);                       \
    LIBRARY_EXPORT int get(const struct sparse_dense *dense, void **values)                        \
    {                                                                                              \
        if (!dense)                                                                                \
            return SPARSE_INVALID_VALUE;                                                           \
        *values = (void *)(uintptr_t)dense->values;                                                \
        return SPARSE_SUCCESS;                                                                     \
    }                                                                                              \
    LIBRARY_EXPORT int set(struct sparse_dense *dense, void *values);                              \
    LIBRARY_EXPORT int set(struct sparse_dense *dense, void *values)                               \
    {                                                                                              \
        if (!dense)                                                                                \
            return SPARSE_INVALID_VALUE;                                                           \
        dense->values = (uintptr_t)values;                                                         \
        return SPARSE_SUCCESS;                                                                     \
    }
#define GET_VECTOR(name)                                                                           \
    LIBRARY_EXPORT int name(const struct sparse_dense *vector, int64_t *size, void **values,       \
                            int *type);                                                            \
    LIBRARY_EXPORT int name(const struct sparse_dense *vector, int64_t *size, void **values,       \
                            int *type)                                                             \
    {                                                                                              \
        if (!vector)                                                                               \
            return SPARSE_INVALID_VALUE;                                                           \
        *size = vector->rows;                                                                      \
        *values = (void *)(uintptr_t)vector->values;                                               \
        *type = vector->type;                                                                      \
        return SPARSE_SUCCESS;                                                                     \
    }
GET_VECTOR(cusparseDnVecGet)
GET_VECTOR(cusparseConstDnVecGet)

#define GET_MATRIX(name)                                                                           \
    LIBRARY_EXPORT int name(const struct sparse_dense *matrix, int64_t *rows, int64_t *columns,    \
                            int64_t *leading, void **values, int *type, int *order);               \
    LIBRARY_EXPORT int name(const struct sparse_dense *matrix, int64_t *rows, int64_t *columns,    \
                            int64_t *leading, void **values, int *type, int *order)                \
    {                                                                                              \
        if (!matrix)                                                                               \
            return SPARSE_INVALID_VALUE;                                                           \
        *rows = matrix->rows;                                                                      \
        *columns = matrix->columns;                                                                \
        *leading = matrix->leading;                                                                \
        *values = (void *)(uintptr_t)matrix->values;                                               \
        *type = matrix->type;                                                                      \
        *order = matrix->order;                                                                    \
        return SPARSE_SUCCESS;                                                                     \
    }
GET_MATRIX(cusparseDnMatGet)
GET_MATRIX(cusparseConstDnMatGet)

DENSE(cusparseDestroyDnVec, cusparseDnVecGetValues, cusparseDnVecSetValues)
DENSE(cusparseDestroyDnMat, cusparseDnMatGetValues, cusparseDnMatSetValues)

LIBRARY_EXPORT int cusparseDnMatGetStridedBatch(const struct sparse_dense *matrix, int *batches,
                                                int64_t *step);
LIBRARY_EXPORT int cusparseDnMatGetStridedBatch(const struct sparse_dense *matrix, int *batches,
                                                int64_t *step)
{
    if (!matrix)
        return SPARSE_INVALID_VALUE;
    *batches = matrix->batches;
    *step = matrix->step;
    return SPARSE_SUCCESS;
}
