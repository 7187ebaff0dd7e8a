/* Conversions among sparse formats: Csr2cscEx2, Xcoo2csr and Xcsr2coo of cuSPARSE. */
#include "runtime/device/library/sparse.h"

#include <stdlib.h>
#include <string.h>

enum { BUFFER_BYTES = 8 };

struct convert_job {
    int rows, columns, entries, base, type;
    bool with_values;
    uint64_t values, offsets, indices, to_values, to_offsets, to_indices;
};

static int *ints(struct device_native *native, uint64_t address, int count,
                 enum device_native_access access)
{
    return device_native_memory(native, address, (uint64_t)count * sizeof(int), access);
}

static bool fail(struct device_native *native)
{
    device_native_memory(native, 0, 1, DEVICE_NATIVE_READ);
    return false;
}

/* ---- Rows to columns: counts, then offsets, then entries in the order of rows ---- */

struct transposition {
    const int *offsets, *indices;
    int *to_offsets, *to_indices;
    const char *values;
    char *to_values;
};

static bool count_columns(struct device_native *native, const struct convert_job *job,
                          const struct transposition *of)
{
    memset(of->to_offsets, 0, (size_t)(job->columns + 1) * sizeof(int));
    for (int i = 0; i < job->entries; i++) {
        const int column = of->indices[i] - job->base;
        if (column < 0 || column >= job->columns)
            return fail(native);
        of->to_offsets[column + 1]++;
    }
    for (int j = 0; j < job->columns; j++)
        of->to_offsets[j + 1] += of->to_offsets[j];
    return true;
}

static bool place_entries(struct device_native *native, const struct convert_job *job,
                          const struct transposition *of, int *next)
{
    const size_t bytes = number_bytes(job->type);
    for (int row = 0; row < job->rows; row++) {
        const int first = of->offsets[row] - job->base, last = of->offsets[row + 1] - job->base;
        if (first < 0 || last > job->entries)
            return fail(native);
        for (int i = first; i < last; i++) {
            const int to = next[of->indices[i] - job->base]++;
            of->to_indices[to] = row + job->base;
            if (job->with_values)
                memcpy(of->to_values + (size_t)to * bytes, of->values + (size_t)i * bytes, bytes);
        }
    }
    return true;
}

static void run_transpose(struct device_native *native, const void *data)
{
    const struct convert_job *job = data;
    const uint64_t bytes = (uint64_t)job->entries * number_bytes(job->type);
    const struct transposition of = {
        ints(native, job->offsets, job->rows + 1, DEVICE_NATIVE_READ),
        ints(native, job->indices, job->entries, DEVICE_NATIVE_READ),
        ints(native, job->to_offsets, job->columns + 1, DEVICE_NATIVE_WRITE),
        ints(native, job->to_indices, job->entries, DEVICE_NATIVE_WRITE),
        job->with_values ? device_native_memory(native, job->values, bytes, DEVICE_NATIVE_READ)
                         : "",
        job->with_values ? device_native_memory(native, job->to_values, bytes, DEVICE_NATIVE_WRITE)
                         : NULL};
    int *next = malloc((size_t)(job->columns + 1) * sizeof *next);
    if (of.offsets && of.indices && of.to_offsets && of.to_indices && of.values &&
        (of.to_values || !job->with_values) && next && count_columns(native, job, &of)) {
        memcpy(next, of.to_offsets, (size_t)(job->columns + 1) * sizeof *next);
        if (place_entries(native, job, &of, next))
            for (int j = 0; j <= job->columns; j++)
                of.to_offsets[j] += job->base;
    }
    free(next);
}

static int launch(struct library_kernel *kernel, void *handle, const struct convert_job *job)
{
    const struct sparse_handle *known = sparse_handle(handle);
    if (!known)
        return SPARSE_NOT_INITIALIZED;
    if (job->rows < 0 || job->columns < 0 || job->entries < 0)
        return SPARSE_INVALID_VALUE;
    return library_launch(kernel, known->stream, job, sizeof *job) ? SPARSE_SUCCESS
                                                                   : SPARSE_EXECUTION_FAILED;
}

#define TRANSPOSE_PARAMETERS                                                                       \
    void *handle, int rows, int columns, int entries, const void *values, const int *offsets,      \
        const int *indices, void *to_values, int *to_offsets, int *to_indices, int type,           \
        int action, int base, int algorithm

LIBRARY_EXPORT int cusparseCsr2cscEx2(TRANSPOSE_PARAMETERS, void *buffer);
LIBRARY_EXPORT int cusparseCsr2cscEx2(TRANSPOSE_PARAMETERS, void *buffer)
{
    static struct library_kernel kernel = {"cusparseCsr2cscEx2", run_transpose, true, NULL};
    const struct convert_job job = {rows,
                                    columns,
                                    entries,
                                    base,
                                    type,
                                    action == 1,
                                    (uintptr_t)values,
                                    (uintptr_t)offsets,
                                    (uintptr_t)indices,
                                    (uintptr_t)to_values,
                                    (uintptr_t)to_offsets,
                                    (uintptr_t)to_indices};
    (void)algorithm, (void)buffer;
    if (!number_bytes(type)) {
        library_lacks("cusparseCsr2cscEx2 with this type of values");
        return SPARSE_NOT_SUPPORTED;
    }
    return launch(&kernel, handle, &job);
}

LIBRARY_EXPORT int cusparseCsr2cscEx2_bufferSize(TRANSPOSE_PARAMETERS, size_t *bytes);
LIBRARY_EXPORT int cusparseCsr2cscEx2_bufferSize(TRANSPOSE_PARAMETERS, size_t *bytes)
{
    (void)rows, (void)columns, (void)entries, (void)values, (void)offsets, (void)indices;
    (void)to_values, (void)to_offsets, (void)to_indices, (void)type, (void)action, (void)base;
    (void)algorithm;
    if (!sparse_handle(handle))
        return SPARSE_NOT_INITIALIZED;
    *bytes = BUFFER_BYTES;
    return SPARSE_SUCCESS;
}

/* ---- Rows of entries to offsets, and back ---- */

static void run_to_offsets(struct device_native *native, const void *data)
{
    const struct convert_job *job = data;
    const int *rows = ints(native, job->indices, job->entries, DEVICE_NATIVE_READ);
    int *offsets = ints(native, job->to_offsets, job->rows + 1, DEVICE_NATIVE_WRITE);
    int entry = 0;
    for (int row = 0; rows && offsets && row <= job->rows; row++) {
        while (entry < job->entries && rows[entry] - job->base < row)
            entry++;
        offsets[row] = entry + job->base;
    }
}

static void run_from_offsets(struct device_native *native, const void *data)
{
    const struct convert_job *job = data;
    const int *offsets = ints(native, job->offsets, job->rows + 1, DEVICE_NATIVE_READ);
    int *rows = ints(native, job->to_indices, job->entries, DEVICE_NATIVE_WRITE);
    for (int row = 0; rows && offsets && row < job->rows; row++)
        for (int i = offsets[row] - job->base; i < offsets[row + 1] - job->base; i++) {
            if (i < 0 || i >= job->entries) {
                fail(native);
                return;
            }
            rows[i] = row + job->base;
        }
}

LIBRARY_EXPORT int cusparseXcoo2csr(void *handle, const int *rows, int entries, int count,
                                    int *offsets, int base);
LIBRARY_EXPORT int cusparseXcoo2csr(void *handle, const int *rows, int entries, int count,
                                    int *offsets, int base)
{
    static struct library_kernel kernel = {"cusparseXcoo2csr", run_to_offsets, true, NULL};
    const struct convert_job job = {.rows = count,
                                    .entries = entries,
                                    .base = base,
                                    .indices = (uintptr_t)rows,
                                    .to_offsets = (uintptr_t)offsets};
    return launch(&kernel, handle, &job);
}

LIBRARY_EXPORT int cusparseXcsr2coo(void *handle, const int *offsets, int entries, int count,
                                    int *rows, int base);
LIBRARY_EXPORT int cusparseXcsr2coo(void *handle, const int *offsets, int entries, int count,
                                    int *rows, int base)
{
    static struct library_kernel kernel = {"cusparseXcsr2coo", run_from_offsets, true, NULL};
    const struct convert_job job = {.rows = count,
                                    .entries = entries,
                                    .base = base,
                                    .offsets = (uintptr_t)offsets,
                                    .to_indices = (uintptr_t)rows};
    return launch(&kernel, handle, &job);
}
