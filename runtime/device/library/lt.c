/* Handles and descriptors of cuBLASLt (cuBLAS documentation, "Using the cuBLASLt API"). Algorithms
 * mean nothing here: a heuristic gives out one for every product that is supported. */
#include "runtime/device/library/attributes.h"
#include "runtime/device/library/cpu.h"
#include "runtime/device/library/lt.h"

#include <stdlib.h>
#include <string.h>

_Static_assert(sizeof(struct lt_layout) <= 64 && sizeof(struct lt_product) <= 184 &&
                   sizeof(struct lt_transform) <= 64,
               "programs may hold these themselves");

/* cublasLtMatrixLayoutAttribute_t */
static const struct attribute layout_attributes[] = {
    ATTRIBUTE(0, struct lt_layout, type),       ATTRIBUTE(1, struct lt_layout, order),
    ATTRIBUTE(2, struct lt_layout, rows),       ATTRIBUTE(3, struct lt_layout, columns),
    ATTRIBUTE(4, struct lt_layout, leading),    ATTRIBUTE(5, struct lt_layout, batches),
    ATTRIBUTE(6, struct lt_layout, step),       ATTRIBUTE(7, struct lt_layout, plane),
    ATTRIBUTE(8, struct lt_layout, batch_mode),
};

/* cublasLtMatmulDescAttributes_t */
static const struct attribute product_attributes[] = {
    ATTRIBUTE(0, struct lt_product, compute_type),
    ATTRIBUTE(1, struct lt_product, scale_type),
    ATTRIBUTE(2, struct lt_product, pointer_mode),
    ATTRIBUTE(3, struct lt_product, operations[0]),
    ATTRIBUTE(4, struct lt_product, operations[1]),
    ATTRIBUTE(5, struct lt_product, operations[2]),
    ATTRIBUTE(6, struct lt_product, fill_mode),
    ATTRIBUTE(7, struct lt_product, epilogue),
    ATTRIBUTE(8, struct lt_product, bias),
    ATTRIBUTE(10, struct lt_product, bias_step),
    ATTRIBUTE(11, struct lt_product, auxiliary),
    ATTRIBUTE(12, struct lt_product, auxiliary_leading),
    ATTRIBUTE(13, struct lt_product, auxiliary_step),
    ATTRIBUTE(14, struct lt_product, alpha_step),
    ATTRIBUTE(15, struct lt_product, sm_count),
    ATTRIBUTE(17, struct lt_product, scales[0]),
    ATTRIBUTE(18, struct lt_product, scales[1]),
    ATTRIBUTE(19, struct lt_product, scales[2]),
    ATTRIBUTE(20, struct lt_product, scales[3]),
    ATTRIBUTE(21, struct lt_product, largest),
    ATTRIBUTE(22, struct lt_product, auxiliary_type),
    ATTRIBUTE(25, struct lt_product, fast_accumulation),
    ATTRIBUTE(26, struct lt_product, bias_type),
    ATTRIBUTE(31, struct lt_product, scale_modes[0]),
    ATTRIBUTE(32, struct lt_product, scale_modes[1]),
    ATTRIBUTE(33, struct lt_product, scale_modes[2]),
    ATTRIBUTE(34, struct lt_product, scale_modes[3]),
};

/* cublasLtMatrixTransformDescAttributes_t */
static const struct attribute transform_attributes[] = {
    ATTRIBUTE(0, struct lt_transform, scale_type),
    ATTRIBUTE(1, struct lt_transform, pointer_mode),
    ATTRIBUTE(2, struct lt_transform, operations[0]),
    ATTRIBUTE(3, struct lt_transform, operations[1]),
};

/* A preference only narrows a search that there is not. */
struct preference {
    uint64_t bytes;
    uint32_t words[8];
    float waves;
};
static const struct attribute preference_attributes[] = {
    ATTRIBUTE(0, struct preference, words[0]), ATTRIBUTE(1, struct preference, bytes),
    ATTRIBUTE(3, struct preference, words[1]), ATTRIBUTE(5, struct preference, words[2]),
    ATTRIBUTE(6, struct preference, words[3]), ATTRIBUTE(7, struct preference, words[4]),
    ATTRIBUTE(8, struct preference, words[5]), ATTRIBUTE(9, struct preference, waves),
};

/* DESCRIPTOR(the API's name, the structure, its table): create in place, set, get, destroy. */
#define DESCRIPTOR(api, type, table)                                                               \
    LIBRARY_EXPORT int api##Destroy(void *object);                                                 \
    LIBRARY_EXPORT int api##Destroy(void *object)                                                  \
    {                                                                                              \
        free(object);                                                                              \
        return BLAS_SUCCESS;                                                                       \
    }                                                                                              \
    LIBRARY_EXPORT int api##SetAttribute(void *object, int number, const void *value,              \
                                         size_t bytes);                                            \
    LIBRARY_EXPORT int api##SetAttribute(void *object, int number, const void *value,              \
                                         size_t bytes)                                             \
    {                                                                                              \
        const size_t count = sizeof table / sizeof *table;                                         \
        return attribute_set(table, count, object, number, value, bytes) ? BLAS_SUCCESS            \
                                                                         : BLAS_INVALID_VALUE;     \
    }                                                                                              \
    LIBRARY_EXPORT int api##GetAttribute(void *object, int number, void *value, size_t bytes,      \
                                         size_t *written);                                         \
    LIBRARY_EXPORT int api##GetAttribute(void *object, int number, void *value, size_t bytes,      \
                                         size_t *written)                                          \
    {                                                                                              \
        const size_t count = sizeof table / sizeof *table;                                         \
        return attribute_get(table, count, object, number, value, bytes, written)                  \
                   ? BLAS_SUCCESS                                                                  \
                   : BLAS_INVALID_VALUE;                                                           \
    }
DESCRIPTOR(cublasLtMatrixLayout, struct lt_layout, layout_attributes)
DESCRIPTOR(cublasLtMatmulDesc, struct lt_product, product_attributes)
DESCRIPTOR(cublasLtMatrixTransformDesc, struct lt_transform, transform_attributes)
DESCRIPTOR(cublasLtMatmulPreference, struct preference, preference_attributes)

/* Room for an object of the library's own; the status of having it. */
static int create(void **object, size_t bytes)
{
    *object = calloc(1, bytes);
    return *object ? BLAS_SUCCESS : BLAS_ALLOC_FAILED;
}

/* ---- Layouts ---- */

LIBRARY_EXPORT int cublasLtMatrixLayoutInit_internal(struct lt_layout *layout, size_t bytes,
                                                     int type, uint64_t rows, uint64_t columns,
                                                     int64_t leading);
LIBRARY_EXPORT int cublasLtMatrixLayoutInit_internal(struct lt_layout *layout, size_t bytes,
                                                     int type, uint64_t rows, uint64_t columns,
                                                     int64_t leading)
{
    if (!layout || bytes < sizeof *layout)
        return BLAS_INVALID_VALUE;
    *layout = (struct lt_layout){
        .type = (uint32_t)type, .rows = rows, .columns = columns, .leading = leading, .batches = 1};
    return BLAS_SUCCESS;
}

LIBRARY_EXPORT int cublasLtMatrixLayoutCreate(void **layout, int type, uint64_t rows,
                                              uint64_t columns, int64_t leading);
LIBRARY_EXPORT int cublasLtMatrixLayoutCreate(void **layout, int type, uint64_t rows,
                                              uint64_t columns, int64_t leading)
{
    const int status = layout ? create(layout, sizeof(struct lt_layout)) : BLAS_INVALID_VALUE;
    return status ? status
                  : cublasLtMatrixLayoutInit_internal(*layout, sizeof(struct lt_layout), type, rows,
                                                      columns, leading);
}

/* ---- Products ---- */

LIBRARY_EXPORT int cublasLtMatmulDescInit_internal(struct lt_product *product, size_t bytes,
                                                   int compute_type, int scale_type);
LIBRARY_EXPORT int cublasLtMatmulDescInit_internal(struct lt_product *product, size_t bytes,
                                                   int compute_type, int scale_type)
{
    if (!product || bytes < sizeof *product)
        return BLAS_INVALID_VALUE;
    *product = (struct lt_product){.compute_type = compute_type,
                                   .scale_type = scale_type,
                                   .fill_mode = 2, /* CUBLAS_FILL_MODE_FULL */
                                   .epilogue = LT_DEFAULT,
                                   .bias_type = -1,
                                   .auxiliary_type = -1};
    return BLAS_SUCCESS;
}

LIBRARY_EXPORT int cublasLtMatmulDescCreate(void **product, int compute_type, int scale_type);
LIBRARY_EXPORT int cublasLtMatmulDescCreate(void **product, int compute_type, int scale_type)
{
    const int status = product ? create(product, sizeof(struct lt_product)) : BLAS_INVALID_VALUE;
    return status ? status
                  : cublasLtMatmulDescInit_internal(*product, sizeof(struct lt_product),
                                                    compute_type, scale_type);
}

LIBRARY_EXPORT int cublasLtMatrixTransformDescInit_internal(struct lt_transform *transform,
                                                            size_t bytes, int scale_type);
LIBRARY_EXPORT int cublasLtMatrixTransformDescInit_internal(struct lt_transform *transform,
                                                            size_t bytes, int scale_type)
{
    if (!transform || bytes < sizeof *transform)
        return BLAS_INVALID_VALUE;
    *transform = (struct lt_transform){.scale_type = scale_type};
    return BLAS_SUCCESS;
}

LIBRARY_EXPORT int cublasLtMatrixTransformDescCreate(void **transform, int scale_type);
LIBRARY_EXPORT int cublasLtMatrixTransformDescCreate(void **transform, int scale_type)
{
    const int status =
        transform ? create(transform, sizeof(struct lt_transform)) : BLAS_INVALID_VALUE;
    return status ? status
                  : cublasLtMatrixTransformDescInit_internal(
                        *transform, sizeof(struct lt_transform), scale_type);
}

/* ---- Algorithms ---- */

LIBRARY_EXPORT int cublasLtMatmulPreferenceInit_internal(struct preference *preference,
                                                         size_t bytes);
LIBRARY_EXPORT int cublasLtMatmulPreferenceInit_internal(struct preference *preference,
                                                         size_t bytes)
{
    if (!preference || bytes < sizeof *preference)
        return BLAS_INVALID_VALUE;
    memset(preference, 0, sizeof *preference);
    return BLAS_SUCCESS;
}

LIBRARY_EXPORT int cublasLtMatmulPreferenceCreate(void **preference);
LIBRARY_EXPORT int cublasLtMatmulPreferenceCreate(void **preference)
{
    return preference ? create(preference, sizeof(struct preference)) : BLAS_INVALID_VALUE;
}

/* cublasLtMatmulHeuristicResult_t */
struct heuristic {
    uint64_t algorithm[8];
    size_t workspace;
    int status;
    float waves;
    int reserved[4];
};

LIBRARY_EXPORT int cublasLtMatmulAlgoGetHeuristic(
    void *handle, const struct lt_product *product, const struct lt_layout *a,
    const struct lt_layout *b, const struct lt_layout *c, const struct lt_layout *d,
    const void *preference, int wanted, struct heuristic *results, int *count);
LIBRARY_EXPORT int cublasLtMatmulAlgoGetHeuristic(void *handle, const struct lt_product *product,
                                                  const struct lt_layout *a,
                                                  const struct lt_layout *b,
                                                  const struct lt_layout *c,
                                                  const struct lt_layout *d, const void *preference,
                                                  int wanted, struct heuristic *results, int *count)
{
    (void)handle, (void)preference;
    if (!product || !a || !b || !c || !d || !results || !count || wanted < 1)
        return BLAS_INVALID_VALUE;
    const int status = lt_check(product, a, b, c, d);
    results[0] = (struct heuristic){.status = status, .waves = 1};
    *count = status ? 0 : 1;
    return status;
}

LIBRARY_EXPORT int cublasLtMatmulAlgoGetIds(void *handle, int compute, int scale, int a, int b,
                                            int c, int d, int wanted, int *ids, int *count);
LIBRARY_EXPORT int cublasLtMatmulAlgoGetIds(void *handle, int compute, int scale, int a, int b,
                                            int c, int d, int wanted, int *ids, int *count)
{
    (void)handle, (void)compute, (void)scale, (void)a, (void)b, (void)c, (void)d;
    if (!ids || !count || wanted < 1)
        return BLAS_INVALID_VALUE;
    ids[0] = 0;
    *count = 1;
    return BLAS_SUCCESS;
}

LIBRARY_EXPORT int cublasLtMatmulAlgoInit(void *handle, int compute, int scale, int a, int b, int c,
                                          int d, int id, uint64_t algorithm[8]);
LIBRARY_EXPORT int cublasLtMatmulAlgoInit(void *handle, int compute, int scale, int a, int b, int c,
                                          int d, int id, uint64_t algorithm[8])
{
    (void)handle, (void)compute, (void)scale, (void)a, (void)b, (void)c, (void)d;
    if (!algorithm || id != 0)
        return BLAS_INVALID_VALUE;
    memset(algorithm, 0, 8 * sizeof *algorithm);
    return BLAS_SUCCESS;
}

LIBRARY_EXPORT int cublasLtMatmulAlgoCheck(void *handle, const struct lt_product *product,
                                           const struct lt_layout *a, const struct lt_layout *b,
                                           const struct lt_layout *c, const struct lt_layout *d,
                                           const void *algorithm, struct heuristic *result);
LIBRARY_EXPORT int cublasLtMatmulAlgoCheck(void *handle, const struct lt_product *product,
                                           const struct lt_layout *a, const struct lt_layout *b,
                                           const struct lt_layout *c, const struct lt_layout *d,
                                           const void *algorithm, struct heuristic *result)
{
    int count;
    (void)algorithm;
    return cublasLtMatmulAlgoGetHeuristic(handle, product, a, b, c, d, NULL, 1, result, &count);
}

/* ---- Handles ---- */

struct lt_handle {
    int unused;
};

LIBRARY_EXPORT int cublasLtCreate(void **handle);
LIBRARY_EXPORT int cublasLtCreate(void **handle)
{
    if (!handle)
        return BLAS_INVALID_VALUE;
    if (!cpu_open(CPU_OPENBLAS, "cuBLASLt") || !library_begin())
        return BLAS_NOT_INITIALIZED;
    return create(handle, sizeof(struct lt_handle));
}

LIBRARY_EXPORT int cublasLtDestroy(void *handle);
LIBRARY_EXPORT int cublasLtDestroy(void *handle)
{
    free(handle);
    return BLAS_SUCCESS;
}

LIBRARY_EXPORT size_t cublasLtGetVersion(void);
LIBRARY_EXPORT size_t cublasLtGetVersion(void)
{
    return (size_t)library_major * 10000;
}

LIBRARY_EXPORT size_t cublasLtGetCudartVersion(void);
LIBRARY_EXPORT size_t cublasLtGetCudartVersion(void)
{
    return (size_t)library_major * 1000;
}

LIBRARY_EXPORT int cublasLtGetProperty(int type, int *value);
LIBRARY_EXPORT int cublasLtGetProperty(int type, int *value)
{
    if (!value || type < 0 || type > 2)
        return BLAS_INVALID_VALUE;
    *value = type == 0 ? library_major : 0;
    return BLAS_SUCCESS;
}

LIBRARY_EXPORT const char *cublasLtGetStatusName(int status);
LIBRARY_EXPORT const char *cublasLtGetStatusName(int status)
{
    return blas_status_name(status);
}

LIBRARY_EXPORT const char *cublasLtGetStatusString(int status);
LIBRARY_EXPORT const char *cublasLtGetStatusString(int status)
{
    return blas_status_text(status);
}
