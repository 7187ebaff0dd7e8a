/* Handles of cuBLAS, their settings, and the copy helpers (cuBLAS documentation, "cuBLAS Helper
 * Function Reference"). */
#include "runtime/device/library/blas.h"
#include "runtime/device/library/cpu.h"

#include <stdlib.h>
#include <string.h>

#define MAGIC 0x6373616e626c6173ull

struct blas_handle *blas_handle(const void *handle)
{
    struct blas_handle *known = (struct blas_handle *)handle;
    return known && known->magic == MAGIC ? known : NULL;
}

LIBRARY_EXPORT int cublasCreate_v2(void **handle);
LIBRARY_EXPORT int cublasCreate_v2(void **handle)
{
    if (!handle)
        return BLAS_INVALID_VALUE;
    *handle = NULL;
    if (!cpu_open(CPU_OPENBLAS, "cuBLAS") || !library_begin())
        return BLAS_NOT_INITIALIZED;
    struct blas_handle *made = calloc(1, sizeof *made);
    if (!made)
        return BLAS_ALLOC_FAILED;
    made->magic = MAGIC;
    *handle = made;
    return BLAS_SUCCESS;
}

/* Work that is pending owns all it needs: nobody waits. */
LIBRARY_EXPORT int cublasDestroy_v2(void *handle);
LIBRARY_EXPORT int cublasDestroy_v2(void *handle)
{
    struct blas_handle *known = blas_handle(handle);
    if (!known)
        return BLAS_NOT_INITIALIZED;
    known->magic = 0;
    free(known);
    return BLAS_SUCCESS;
}

/* ---- Settings ---- */

/* setting,TYPE,NAME,FIELD: a setter and a getter. */
#define SETTING(type, set, get, field)                                                             \
    LIBRARY_EXPORT int set(void *handle, type value);                                              \
    LIBRARY_EXPORT int set(void *handle, type value)                                               \
    {                                                                                              \
        struct blas_handle *known = blas_handle(handle);                                           \
        if (known)                                                                                 \
            known->field = value;                                                                  \
        return known ? BLAS_SUCCESS : BLAS_NOT_INITIALIZED;                                        \
    }                                                                                              \
    LIBRARY_EXPORT int get(void *handle, type *value);                                             \
    LIBRARY_EXPORT int get(void *handle, type *value)                                              \
    {                                                                                              \
        const struct blas_handle *known = blas_handle(handle);                                     \
        if (known && value)                                                                        \
            *value = known->field;                                                                 \
        return !known ? BLAS_NOT_INITIALIZED : value ? BLAS_SUCCESS : BLAS_INVALID_VALUE;          \
    }
SETTING(library_stream, cublasSetStream_v2, cublasGetStream_v2, stream)
SETTING(int, cublasSetPointerMode_v2, cublasGetPointerMode_v2, pointer_mode)
SETTING(int, cublasSetAtomicsMode, cublasGetAtomicsMode, atomics_mode)
SETTING(int, cublasSetMathMode, cublasGetMathMode, math_mode)
SETTING(int, cublasSetSmCountTarget, cublasGetSmCountTarget, sm_count)

/* Nothing needs one. */
LIBRARY_EXPORT int cublasSetWorkspace_v2(void *handle, void *workspace, size_t bytes);
LIBRARY_EXPORT int cublasSetWorkspace_v2(void *handle, void *workspace, size_t bytes)
{
    struct blas_handle *known = blas_handle(handle);
    if (!known)
        return BLAS_NOT_INITIALIZED;
    if ((uintptr_t)workspace % 256)
        return BLAS_INVALID_VALUE;
    known->workspace = (uintptr_t)workspace;
    known->workspace_bytes = bytes;
    return BLAS_SUCCESS;
}

/* ---- Versions and names ---- */

LIBRARY_EXPORT int cublasGetVersion_v2(void *handle, int *version);
LIBRARY_EXPORT int cublasGetVersion_v2(void *handle, int *version)
{
    (void)handle;
    if (!version)
        return BLAS_INVALID_VALUE;
    *version = library_major * 10000;
    return BLAS_SUCCESS;
}

LIBRARY_EXPORT int cublasGetProperty(int type, int *value);
LIBRARY_EXPORT int cublasGetProperty(int type, int *value)
{
    if (!value || type < 0 || type > 2)
        return BLAS_INVALID_VALUE;
    *value = type == 0 ? library_major : 0; /* libraryPropertyType: major, minor, patch level */
    return BLAS_SUCCESS;
}

LIBRARY_EXPORT size_t cublasGetCudartVersion(void);
LIBRARY_EXPORT size_t cublasGetCudartVersion(void)
{
    return (size_t)library_major * 1000;
}

LIBRARY_EXPORT const char *cublasGetStatusName(int status);
LIBRARY_EXPORT const char *cublasGetStatusName(int status)
{
    return blas_status_name(status);
}

LIBRARY_EXPORT const char *cublasGetStatusString(int status);
LIBRARY_EXPORT const char *cublasGetStatusString(int status)
{
    return blas_status_text(status);
}

/* There is no log: the settings are taken and mean nothing. */
LIBRARY_EXPORT int cublasLoggerConfigure(int on, int to_output, int to_error, const char *file);
LIBRARY_EXPORT int cublasLoggerConfigure(int on, int to_output, int to_error, const char *file)
{
    (void)on, (void)to_output, (void)to_error, (void)file;
    return BLAS_SUCCESS;
}

/* ---- Copy helpers ---- */

/* Vectors: n, elemSize, x, incx, y, incy; matrices: rows, cols, elemSize, A, lda, B, ldb; and a
 * stream behind each of the asynchronous ones. Copies go by the kinds of memory. */
int blas_copy_helper(const struct extent_function *function, const uint64_t *arguments)
{
    const bool is_matrix = strstr(function->symbol, "Matrix") != NULL;
    const bool is_async = strstr(function->symbol, "Async") != NULL;
    const unsigned first = is_matrix ? 3 : 2;
    int64_t numbers[7];
    for (unsigned i = 0; i < first + 4; i++)
        numbers[i] = function->wide ? (int64_t)arguments[i] : (int32_t)arguments[i];
    const int64_t rows = is_matrix ? numbers[0] : 1;
    const int64_t columns = is_matrix ? numbers[1] : numbers[0];
    const int64_t bytes = numbers[first - 1];
    const int64_t from = numbers[first + 1], to = numbers[first + 3];
    if (rows < 0 || columns < 0 || bytes <= 0 || from < rows || to < rows || from <= 0 || to <= 0)
        return BLAS_INVALID_VALUE;
    if (!library_begin())
        return BLAS_NOT_INITIALIZED;
    const library_stream stream = is_async ? (void *)(uintptr_t)arguments[first + 4] : NULL;
    return library_copy(arguments[first + 2], (size_t)(to * bytes), arguments[first],
                        (size_t)(from * bytes), (size_t)(rows * bytes), (size_t)columns, stream,
                        !is_async)
               ? BLAS_SUCCESS
               : BLAS_MAPPING_ERROR;
}
