/* cuSPARSE's generic API. Where matrices and vectors lie is in descriptors, which the library
 * itself can read. The numbers are those of cusparse.h.
 *
 * The elements of a dense operand that a product reads depend on the sparse one's indices, which
 * are on the device: a bound. So are offsets of rows and columns, since a preparation may have read
 * them before, and buffers, of which the library may use less than it asked for. */
#include "runtime/hook/library/touch.h"

#include <stddef.h>
#include <string.h>

enum { FORMAT_CSR = 1, FORMAT_CSC = 2, FORMAT_COO = 3 }; /* cusparseFormat_t */
enum { INDEX_16U = 1, INDEX_32I = 2, INDEX_64I = 3 };    /* cusparseIndexType_t */
enum { ORDER_COLUMNS = 1 };                              /* cusparseOrder_t */
enum { CALL_ARGUMENTS = 15 };

struct sparse_matrix {
    int64_t rows, columns, entries;
    void *outer, *inner, *values; /* offsets or rows; columns or rows; entries */
    int32_t format, outer_type, inner_type, base, type;
};

static void *descriptor_of(uint64_t argument)
{
    return (void *)(uintptr_t)argument;
}

/* Of one batch alone: how far apart more of them lie cannot be asked. */
static bool is_single(const struct touch *call, uint64_t descriptor)
{
    int32_t batches = 0;
    int (*ask)(void *descriptor, int32_t *count) =
        (int (*)(void *, int32_t *))library_ask(call->home, LIBRARY_SPARSE_BATCHES);
    return ask && ask(descriptor_of(descriptor), &batches) == 0 && batches <= 1;
}

static bool compressed_find(const struct touch *call, enum library_question question,
                            uint64_t descriptor, struct sparse_matrix *to)
{
    int (*get)(void *descriptor, int64_t *rows, int64_t *columns, int64_t *entries, void **outer,
               void **inner, void **values, int32_t *outer_type, int32_t *inner_type, int32_t *base,
               int32_t *type) =
        (int (*)(void *, int64_t *, int64_t *, int64_t *, void **, void **, void **, int32_t *,
                 int32_t *, int32_t *, int32_t *))library_ask(call->home, question);
    return get && get(descriptor_of(descriptor), &to->rows, &to->columns, &to->entries, &to->outer,
                      &to->inner, &to->values, &to->outer_type, &to->inner_type, &to->base,
                      &to->type) == 0;
}

static bool coordinates_find(const struct touch *call, uint64_t descriptor,
                             struct sparse_matrix *to)
{
    int (*get)(void *descriptor, int64_t *rows, int64_t *columns, int64_t *entries, void **outer,
               void **inner, void **values, int32_t *index_type, int32_t *base, int32_t *type) =
        (int (*)(void *, int64_t *, int64_t *, int64_t *, void **, void **, void **, int32_t *,
                 int32_t *, int32_t *))library_ask(call->home, LIBRARY_SPARSE_COO);
    const bool got =
        get && get(descriptor_of(descriptor), &to->rows, &to->columns, &to->entries, &to->outer,
                   &to->inner, &to->values, &to->outer_type, &to->base, &to->type) == 0;
    to->inner_type = to->outer_type;
    return got;
}

/* False: it is of a format whose bytes are not known; the call is then incomplete. */
static bool matrix_find(struct touch *call, uint64_t descriptor, struct sparse_matrix *to)
{
    int (*format)(void *descriptor, int32_t *format) =
        (int (*)(void *, int32_t *))library_ask(call->home, LIBRARY_SPARSE_FORMAT);
    bool found = format && descriptor && format(descriptor_of(descriptor), &to->format) == 0 &&
                 is_single(call, descriptor);
    if (found && to->format == FORMAT_CSR)
        found = compressed_find(call, LIBRARY_SPARSE_CSR, descriptor, to);
    else if (found && to->format == FORMAT_CSC)
        found = compressed_find(call, LIBRARY_SPARSE_CSC, descriptor, to);
    else
        found = found && to->format == FORMAT_COO && coordinates_find(call, descriptor, to);
    call->incomplete |= !found;
    return found;
}

/* ---- Shapes ---- */

static void add_indices(struct touch *call, const void *base, int64_t count, int32_t type)
{
    static const uint8_t bytes[] = {[INDEX_16U] = 2, [INDEX_32I] = 4, [INDEX_64I] = 8};
    if (type < INDEX_16U || type > INDEX_64I) {
        call->incomplete = true;
        return;
    }
    call->type = touch_bytes(call, bytes[type]);
    touch_buffer(call, (uintptr_t)base, count);
}

static void add_offsets(struct touch *call, const struct sparse_matrix *matrix)
{
    const uint8_t bound = call->bound;
    if (matrix->format == FORMAT_COO)
        return;
    if (bound == CSAN_EXACT)
        call->bound = CSAN_BOUND_SHAPE;
    add_indices(call, matrix->outer,
                (matrix->format == FORMAT_CSR ? matrix->rows : matrix->columns) + 1,
                matrix->outer_type);
    call->bound = bound;
}

static void add_entries(struct touch *call, const struct sparse_matrix *matrix)
{
    if (matrix->format == FORMAT_COO)
        add_indices(call, matrix->outer, matrix->entries, matrix->outer_type);
    add_indices(call, matrix->inner, matrix->entries, matrix->inner_type);
    call->type = touch_data(call, matrix->type);
    call->incomplete |= call->type.bytes == 0;
    touch_buffer(call, (uintptr_t)matrix->values, matrix->entries);
}

void touch_sparse_offsets(struct touch *call, uint64_t descriptor)
{
    struct sparse_matrix matrix = {0};
    if (matrix_find(call, descriptor, &matrix))
        add_offsets(call, &matrix);
}

void touch_sparse_entries(struct touch *call, uint64_t descriptor)
{
    struct sparse_matrix matrix = {0};
    if (matrix_find(call, descriptor, &matrix))
        add_entries(call, &matrix);
}

void touch_sparse_matrix(struct touch *call, uint64_t descriptor)
{
    struct sparse_matrix matrix = {0};
    if (!matrix_find(call, descriptor, &matrix))
        return;
    add_offsets(call, &matrix);
    add_entries(call, &matrix);
}

void touch_dense_vector(struct touch *call, uint64_t descriptor)
{
    int64_t size = 0;
    void *values = NULL;
    int32_t type = -1;
    int (*get)(void *descriptor, int64_t *size, void **values, int32_t *type) =
        (int (*)(void *, int64_t *, void **, int32_t *))library_ask(call->home,
                                                                    LIBRARY_DENSE_VECTOR);
    if (!get || !descriptor || get(descriptor_of(descriptor), &size, &values, &type) != 0 ||
        touch_data(call, type).bytes == 0) {
        call->incomplete = true;
        return;
    }
    call->type = touch_data(call, type);
    touch_buffer(call, (uintptr_t)values, size);
}

void touch_dense_matrix(struct touch *call, uint64_t descriptor)
{
    int64_t rows = 0, columns = 0, leading = 0, step = 0;
    void *values = NULL;
    int32_t type = -1, order = 0, batches = 1;
    int (*get)(void *descriptor, int64_t *rows, int64_t *columns, int64_t *leading, void **values,
               int32_t *type, int32_t *order) =
        (int (*)(void *, int64_t *, int64_t *, int64_t *, void **, int32_t *,
                 int32_t *))library_ask(call->home, LIBRARY_DENSE_MATRIX);
    int (*ask_batches)(void *descriptor, int32_t *batches, int64_t *step) =
        (int (*)(void *, int32_t *, int64_t *))library_ask(call->home, LIBRARY_DENSE_BATCHES);
    if (!get || !ask_batches || !descriptor ||
        get(descriptor_of(descriptor), &rows, &columns, &leading, &values, &type, &order) != 0 ||
        ask_batches(descriptor_of(descriptor), &batches, &step) != 0 ||
        touch_data(call, type).bytes == 0) {
        call->incomplete = true;
        return;
    }
    const bool by_columns = order == ORDER_COLUMNS;
    call->type = touch_data(call, type);
    touch_matrices(call, (uintptr_t)values, by_columns ? rows : columns,
                   by_columns ? columns : rows, leading, step, batches > 1 ? batches : 1);
}

/* ---- Buffers: as many bytes as the library asks for, given the same arguments ---- */

void touch_sparse_buffer(struct touch *call, uint64_t buffer)
{
    static const struct {
        const char *symbol; /* its beginning */
        enum library_question question;
    } sizes[] = {{"cusparseSpMV", LIBRARY_SPMV_BYTES},
                 {"cusparseSpMM", LIBRARY_SPMM_BYTES},
                 {"cusparseCsr2csc", LIBRARY_CSR2CSC_BYTES},
                 {"cusparseDenseToSparse", LIBRARY_TO_SPARSE_BYTES},
                 {"cusparseSparseToDense", LIBRARY_TO_DENSE_BYTES}};
    uint64_t a[CALL_ARGUMENTS] = {0};
    const unsigned count = call->function->operation.argument_count;
    size_t bytes = 0, i = 0;
    const size_t known = sizeof sizes / sizeof *sizes;
    while (i < known &&
           strncmp(call->function->symbol, sizes[i].symbol, strlen(sizes[i].symbol)) != 0)
        i++;
    if (!buffer || i == known || count > CALL_ARGUMENTS)
        return;
    for (unsigned k = 0; k + 1 < count; k++)
        a[k] = touch_argument_pointer(call, k);
    a[count - 1] = (uintptr_t)&bytes;
    /* Words behind those that the function has are not looked at. */
    int (*ask)(uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t,
               uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t) =
        (int (*)(uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t,
                 uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t,
                 uint64_t))library_ask(call->home, sizes[i].question);
    if (!ask || ask(a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8], a[9], a[10], a[11], a[12],
                    a[13], a[14]) != 0) {
        call->incomplete = true;
        return;
    }
    touch_buffer(call, buffer, (int64_t)bytes);
}

enum touch_when touch_sparse_factor(struct touch *call, uint64_t scalar, struct touch_type type)
{
    return touch_nonzero(call, scalar, type) == TOUCH_ALWAYS ? TOUCH_ALWAYS : TOUCH_MAYBE;
}
