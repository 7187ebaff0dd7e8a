/* Calls of cuSOLVER: handles, sizes of workspaces, and the way from arguments to a launch. */
#include "runtime/device/library/solver.h"
#include "runtime/device/library/cpu.h"

#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define MAGIC 0x6373616e736f6c76ull
enum { FUNCTIONS_MOST = 128 };

struct handle {
    uint64_t magic;
    library_stream stream;
};

static struct handle *handle_of(void *handle)
{
    struct handle *known = handle;
    return known && known->magic == MAGIC ? known : NULL;
}

/* ---- Handles ---- */

LIBRARY_EXPORT int cusolverDnCreate(void **handle);
LIBRARY_EXPORT int cusolverDnCreate(void **handle)
{
    if (!handle)
        return SOLVER_INVALID_VALUE;
    if (!cpu_open(CPU_OPENBLAS, "cuSOLVER") || !library_begin())
        return SOLVER_NOT_INITIALIZED;
    struct handle *made = calloc(1, sizeof *made);
    if (!made)
        return SOLVER_ALLOC_FAILED;
    made->magic = MAGIC;
    *handle = made;
    return SOLVER_SUCCESS;
}

LIBRARY_EXPORT int cusolverDnDestroy(void *handle);
LIBRARY_EXPORT int cusolverDnDestroy(void *handle)
{
    struct handle *known = handle_of(handle);
    if (!known)
        return SOLVER_NOT_INITIALIZED;
    known->magic = 0;
    free(known);
    return SOLVER_SUCCESS;
}

LIBRARY_EXPORT int cusolverDnSetStream(void *handle, library_stream stream);
LIBRARY_EXPORT int cusolverDnSetStream(void *handle, library_stream stream)
{
    struct handle *known = handle_of(handle);
    if (known)
        known->stream = stream;
    return known ? SOLVER_SUCCESS : SOLVER_NOT_INITIALIZED;
}

LIBRARY_EXPORT int cusolverDnGetStream(void *handle, library_stream *stream);
LIBRARY_EXPORT int cusolverDnGetStream(void *handle, library_stream *stream)
{
    const struct handle *known = handle_of(handle);
    if (known)
        *stream = known->stream;
    return known ? SOLVER_SUCCESS : SOLVER_NOT_INITIALIZED;
}

/* Parameters choose algorithms, of which there is one. */
LIBRARY_EXPORT int cusolverDnCreateParams(void **parameters);
LIBRARY_EXPORT int cusolverDnCreateParams(void **parameters)
{
    *parameters = calloc(1, sizeof(uint64_t));
    return *parameters ? SOLVER_SUCCESS : SOLVER_ALLOC_FAILED;
}

LIBRARY_EXPORT int cusolverDnDestroyParams(void *parameters);
LIBRARY_EXPORT int cusolverDnDestroyParams(void *parameters)
{
    free(parameters);
    return SOLVER_SUCCESS;
}

LIBRARY_EXPORT int cusolverDnSetAdvOptions(void *parameters, int function, int algorithm);
LIBRARY_EXPORT int cusolverDnSetAdvOptions(void *parameters, int function, int algorithm)
{
    (void)function, (void)algorithm;
    return parameters ? SOLVER_SUCCESS : SOLVER_INVALID_VALUE;
}

LIBRARY_EXPORT int cusolverGetVersion(int *version);
LIBRARY_EXPORT int cusolverGetVersion(int *version)
{
    *version = library_major * 1000;
    return SOLVER_SUCCESS;
}

LIBRARY_EXPORT int cusolverGetProperty(int type, int *value);
LIBRARY_EXPORT int cusolverGetProperty(int type, int *value)
{
    if (!value || type < 0 || type > 2)
        return SOLVER_INVALID_VALUE;
    *value = type == 0 ? library_major : 0;
    return SOLVER_SUCCESS;
}

/* ---- Sizes of workspaces ----
 * LAPACK gets room of its own. Programs get a small area. Entries without prototypes: of each only
 * where the size goes is looked at. */

enum { WORKSPACE = 64 };

int cusolver_size(uint32_t place, const uint64_t *registers, const uint64_t *stack);
int cusolver_size(uint32_t place, const uint64_t *registers, const uint64_t *stack)
{
    int *size = (int *)(uintptr_t)extent_passed(registers, stack, place);
    if (!handle_of((void *)(uintptr_t)registers[0]))
        return SOLVER_NOT_INITIALIZED;
    if (!size)
        return SOLVER_INVALID_VALUE;
    *size = WORKSPACE;
    return SOLVER_SUCCESS;
}

int cusolver_size_wide(uint32_t place, const uint64_t *registers, const uint64_t *stack);
int cusolver_size_wide(uint32_t place, const uint64_t *registers, const uint64_t *stack)
{
    size_t *device = (size_t *)(uintptr_t)extent_passed(registers, stack, place);
    size_t *host = (size_t *)(uintptr_t)extent_passed(registers, stack, place + 1);
    if (!handle_of((void *)(uintptr_t)registers[0]))
        return SOLVER_NOT_INITIALIZED;
    if (!device || !host)
        return SOLVER_INVALID_VALUE;
    *device = *host = WORKSPACE;
    return SOLVER_SUCCESS;
}

#define SIZE(place, name) LIBRARY_ENTRY(place, "cusolverDn" name "_bufferSize", "cusolver_size")
#define SIZE_WIDE(place, name)                                                                     \
    LIBRARY_ENTRY(place, "cusolverDn" name "_bufferSize", "cusolver_size_wide")
#define SIZES(letter, orthogonal, symmetric)                                                       \
    SIZE(5, letter "potrf")                                                                        \
    SIZE(5, letter "potri")                                                                        \
    SIZE(5, letter "getrf")                                                                        \
    SIZE(5, letter "geqrf")                                                                        \
    SIZE(3, letter "gesvd")                                                                        \
    SIZE(7, letter symmetric)                                                                      \
    SIZE(7, letter orthogonal "gqr")                                                               \
    SIZE(11, letter orthogonal "mqr")
SIZES("S", "or", "syevd")
SIZES("D", "or", "syevd")
SIZES("C", "un", "heevd")
SIZES("Z", "un", "heevd")
SIZE_WIDE(8, "Xpotrf")
SIZE_WIDE(8, "Xgetrf")
SIZE_WIDE(10, "Xgeqrf")
SIZE_WIDE(11, "Xsyevd")
SIZE_WIDE(18, "Xgesvd")

/* ---- Calls ---- */

static int check(const struct extent_function *function, const uint64_t *arguments)
{
    for (int i = 0; function->arguments[i]; i++) {
        const char *name = function->arguments[i];
        if (function->kinds[i] == 'p' || strncmp(name, "workspace", 9) == 0 ||
            strcmp(name, "jobu") == 0 || strcmp(name, "jobvt") == 0) /* characters */
            continue;
        const int64_t value = extent_integer(function, arguments, name, 0);
        if (value < 0)
            return SOLVER_INVALID_VALUE;
        const bool is_type = strncmp(name, "dataType", 8) == 0;
        if (value > INT_MAX || (is_type && value != NUMBER_32F && value != NUMBER_64F &&
                                value != NUMBER_C32F && value != NUMBER_C64F)) {
            library_lacks_of(function->symbol, "with this type or size is not supported on the "
                                               "embedded device; the call fails");
            return SOLVER_NOT_SUPPORTED;
        }
    }
    return SOLVER_SUCCESS;
}

static struct library_kernel *kernel_of(uint32_t number)
{
    static struct library_kernel kernels[FUNCTIONS_MOST];
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    struct library_kernel *kernel = &kernels[number];
    if (!__atomic_load_n(&kernel->run, __ATOMIC_ACQUIRE)) {
        pthread_mutex_lock(&lock);
        kernel->name = extent_functions[number].symbol;
        __atomic_store_n(&kernel->run, solver_run, __ATOMIC_RELEASE);
        pthread_mutex_unlock(&lock);
    }
    return kernel;
}

int cusolver_call(uint32_t number, const uint64_t *registers, const uint64_t *stack)
{
    const struct extent_function *function = &extent_functions[number];
    struct solver_job job = {.function = number};
    struct extent call = {.function = function, .arguments = job.arguments};
    for (unsigned i = 0; function->kinds[i]; i++)
        job.arguments[i] = extent_passed(registers, stack, i);
    const struct handle *handle = handle_of((void *)(uintptr_t)job.arguments[0]);
    if (!handle)
        return SOLVER_NOT_INITIALIZED;
    const int status = check(function, job.arguments);
    if (status)
        return status;
    extent_evaluate(&call);
    if (call.wrong)
        return SOLVER_INVALID_VALUE;
    return library_launch(kernel_of(number), handle->stream, &job, sizeof job)
               ? SOLVER_SUCCESS
               : SOLVER_EXECUTION_FAILED;
}
