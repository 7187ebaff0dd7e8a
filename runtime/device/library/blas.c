/* The way of a call of cuBLAS: from its arguments to its launch. See blas.h. */
#include "runtime/device/library/blas.h"

#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

_Static_assert(sizeof(struct blas_job) <= DEVICE_NATIVE_JOB_BYTES, "a job is one parameter");

/* ---- Checks ---- */

static bool enumeration_is_valid(const char *name, int64_t value)
{
    if (strncmp(name, "trans", 5) == 0)
        return value >= 0 && value <= 2;
    if (strcmp(name, "uplo") == 0 || strcmp(name, "side") == 0 || strcmp(name, "diag") == 0 ||
        strcmp(name, "mode") == 0)
        return value == 0 || value == 1;
    return true;
}

static bool size_is_valid(const char *name, int64_t value)
{
    static const char *const sizes[] = {"m",  "n",          "k",         "kl",
                                        "ku", "batchCount", "batchSize", "nrhs"};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        if (strcmp(name, sizes[i]) == 0)
            return value >= 0;
    return true;
}

/* cuBLAS documentation: "CUBLAS_STATUS_INVALID_VALUE: if m, n < 0, ...". */
static int check(const struct extent_function *function, const uint64_t *arguments)
{
    for (int i = 0; function->arguments[i]; i++) {
        const char *name = function->arguments[i];
        if (function->kinds[i] == 'p')
            continue;
        const int64_t value = extent_integer(function, arguments, name, 0);
        if (!enumeration_is_valid(name, value) || !size_is_valid(name, value))
            return BLAS_INVALID_VALUE;
        if (function->wide && strncmp(name, "stride", 6) != 0 &&
            (value > INT_MAX || value < INT_MIN)) {
            library_lacks_of(function->symbol,
                             "with a size above 2147483647 is not supported on the embedded "
                             "device; the call fails");
            return BLAS_NOT_SUPPORTED;
        }
    }
    return BLAS_SUCCESS;
}

static bool is_type(const char *name)
{
    const size_t length = strlen(name);
    return length > 4 && strcasecmp(name + length - 4, "type") == 0 &&
           strcmp(name, "computeType") != 0 && strncasecmp(name, "execution", 9) != 0;
}

/* Types that csan's library does not compute with. */
static int check_types(const struct extent_function *function, const uint64_t *arguments)
{
    for (int i = 0; function->arguments[i]; i++) {
        const char *name = function->arguments[i];
        if (is_type(name) && !number_bytes((int)extent_integer(function, arguments, name, 0))) {
            library_lacks_of(function->symbol,
                             "with this type of elements is not supported on the embedded device; "
                             "the call fails");
            return BLAS_NOT_SUPPORTED;
        }
    }
    return BLAS_SUCCESS;
}

/* What no routine does. */
static int check_routine(const struct extent_function *function)
{
    static const char *const names[] = {"cublasRotgEx", "cublasRotmEx", "cublasRotmgEx"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strncmp(function->symbol, names[i], strlen(names[i])) == 0) {
            library_lacks(names[i]);
            return BLAS_NOT_SUPPORTED;
        }
    return BLAS_SUCCESS;
}

/* ---- Kernels, one a function, so that reports name them ---- */

static struct library_kernel *kernel_of(uint32_t number)
{
    static struct library_kernel kernels[2048];
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    struct library_kernel *kernel = &kernels[number];
    if (!__atomic_load_n(&kernel->run, __ATOMIC_ACQUIRE)) {
        pthread_mutex_lock(&lock);
        kernel->name = extent_functions[number].symbol;
        __atomic_store_n(&kernel->run, blas_run_job, __ATOMIC_RELEASE);
        pthread_mutex_unlock(&lock);
    }
    return kernel;
}

/* ---- The call ---- */

static void collect(const char *kinds, const uint64_t *registers, const uint64_t *stack,
                    uint64_t *arguments)
{
    for (size_t i = 0; kinds[i]; i++)
        arguments[i] = extent_passed(registers, stack, i);
}

static bool has_results(const struct extent *call)
{
    for (int i = 0; i < EXTENT_ARGUMENTS; i++)
        if (call->written[i])
            return true;
    return false;
}

/* Results on the host: the call waits for them (cuBLAS documentation, "Scalar Parameters"). */
static int launch_and_wait(struct blas_job *job, const struct extent *call, library_stream stream)
{
    struct extent_scalars results = job->scalars;
    if (library_is_captured(stream)) {
        library_lacks_of(call->function->symbol,
                         "with a result on the host cannot be captured; set "
                         "CUBLAS_POINTER_MODE_DEVICE");
        return BLAS_NOT_SUPPORTED;
    }
    job->results = &results;
    if (!library_launch(kernel_of(job->function), stream, job, sizeof *job) ||
        !library_wait(stream))
        return BLAS_EXECUTION_FAILED;
    for (int i = 0; i < EXTENT_ARGUMENTS; i++)
        if (call->written[i])
            memcpy((void *)(uintptr_t)job->arguments[i], results.values[i], call->written[i]);
    return BLAS_SUCCESS;
}

static int enqueue(struct blas_job *job, const struct extent_function *function,
                   const struct blas_handle *handle)
{
    struct extent call = {.function = function,
                          .arguments = job->arguments,
                          .on_device = job->on_device,
                          .scalars = &job->scalars};
    extent_evaluate(&call);
    if (call.wrong)
        return BLAS_INVALID_VALUE;
    if (has_results(&call))
        return launch_and_wait(job, &call, handle->stream);
    return library_launch(kernel_of(job->function), handle->stream, job, sizeof *job)
               ? BLAS_SUCCESS
               : BLAS_EXECUTION_FAILED;
}

int cublas_call(uint32_t number, const uint64_t *registers, const uint64_t *stack)
{
    const struct extent_function *function = &extent_functions[number];
    struct blas_job job = {.function = number};
    collect(function->kinds, registers, stack, job.arguments);
    if (strcmp(function->arguments[0], "handle") != 0)
        return blas_copy_helper(function, job.arguments);
    const struct blas_handle *handle = blas_handle((void *)(uintptr_t)job.arguments[0]);
    if (!handle)
        return BLAS_NOT_INITIALIZED;
    int status = check(function, job.arguments);
    if (!status)
        status = check_types(function, job.arguments);
    if (!status)
        status = check_routine(function);
    job.on_device = handle->pointer_mode == 1;
    return status ? status : enqueue(&job, function, handle);
}
