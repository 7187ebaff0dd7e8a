/* Grouped products of cuBLAS (cuBLAS documentation, "cublas<t>gemmGroupedBatched()" and
 * "cublasGemmGroupedBatchedEx()"): groups of products, each group with sizes of its own. A group is
 * a launch, so that no group is too many for one job. Which matrices a launch touches it finds on
 * the device, where their addresses are. Beside that, the hooks know it by the rows of
 * library.table, if they know the addresses. */
#include "runtime/device/library/blas.h"
#include "runtime/device/library/multiply.h"

#include <limits.h>
#include <string.h>

/* The arguments of a call, as the host has them. `wide`: integers have 64 bits. */
struct grouped_call {
    const char *symbol;
    void *handle;
    const int *operation_a, *operation_b;
    const void *m, *n, *k, *alpha, *beta, *lda, *ldb, *ldc, *sizes;
    const uint64_t *a, *b, *c; /* on the device */
    int type_a, type_b, type_c, scale_type;
    int64_t groups;
    bool wide;
};

/* One group. */
struct grouped_job {
    int64_t m, n, k, count;
    struct operand a, b, c; /* without data */
    uint64_t a_addresses, b_addresses, c_addresses;
    double alpha, beta;
};
_Static_assert(sizeof(struct grouped_job) <= DEVICE_NATIVE_JOB_BYTES, "a job is one parameter");

/* ---- the run -------------------------------------------------------------------------------- */

/* A matrix of which `rows` elements a column are touched; NULL: it is not the device's. */
static void *matrix(struct device_native *native, const struct operand *operand, uint64_t address,
                    int64_t rows, int64_t columns, enum device_native_access access)
{
    const int64_t bytes = (int64_t)number_bytes(operand->type);
    const bool turned = operand->operation != OPERATION_N;
    return device_native_runs(native, address, (uint64_t)((turned ? columns : rows) * bytes),
                              (uint64_t)(turned ? rows : columns), operand->leading * bytes,
                              access);
}

static bool multiply_one(struct device_native *native, const struct grouped_job *job,
                         const uint64_t *addresses[3], int64_t i)
{
    struct operand a = job->a, b = job->b, c = job->c;
    const bool reads = job->alpha != 0 && job->k > 0;
    a.data = reads ? matrix(native, &a, addresses[0][i], job->m, job->k, DEVICE_NATIVE_READ) : NULL;
    b.data = reads ? matrix(native, &b, addresses[1][i], job->k, job->n, DEVICE_NATIVE_READ) : NULL;
    if (reads && (!a.data || !b.data))
        return false;
    if (job->beta != 0 && !matrix(native, &c, addresses[2][i], job->m, job->n, DEVICE_NATIVE_READ))
        return false;
    c.data = matrix(native, &c, addresses[2][i], job->m, job->n, DEVICE_NATIVE_WRITE);
    return c.data &&
           multiply(job->m, job->n, reads ? job->k : 0, job->alpha, &a, &b, job->beta, &c);
}

static void run_group(struct device_native *native, const void *data)
{
    const struct grouped_job *job = data;
    const uint64_t places[3] = {job->a_addresses, job->b_addresses, job->c_addresses};
    const uint64_t *addresses[3];
    for (int i = 0; i < 3; i++)
        if (!(addresses[i] = device_native_memory(
                  native, places[i], (uint64_t)job->count * sizeof(uint64_t), DEVICE_NATIVE_READ)))
            return;
    for (int64_t i = 0; i < job->count; i++)
        if (!multiply_one(native, job, addresses, i))
            return;
}

/* ---- the call ------------------------------------------------------------------------------- */

static int64_t integer(const struct grouped_call *call, const void *array, int64_t i)
{
    return call->wide ? ((const int64_t *)array)[i] : ((const int *)array)[i];
}

static bool group_read(const struct grouped_call *call, int64_t i, int64_t first,
                       struct grouped_job *job)
{
    *job = (struct grouped_job){
        .m = integer(call, call->m, i),
        .n = integer(call, call->n, i),
        .k = integer(call, call->k, i),
        .count = integer(call, call->sizes, i),
        .a = {NULL, call->type_a, integer(call, call->lda, i), call->operation_a[i]},
        .b = {NULL, call->type_b, integer(call, call->ldb, i), call->operation_b[i]},
        .c = {NULL, call->type_c, integer(call, call->ldc, i), OPERATION_N},
        .a_addresses = (uintptr_t)(call->a + first),
        .b_addresses = (uintptr_t)(call->b + first),
        .c_addresses = (uintptr_t)(call->c + first),
        .alpha = creal(number_read(call->scale_type, call->alpha, i)),
        .beta = creal(number_read(call->scale_type, call->beta, i))};
    const int64_t rows_a = job->a.operation == OPERATION_N ? job->m : job->k;
    const int64_t rows_b = job->b.operation == OPERATION_N ? job->k : job->n;
    const int64_t sizes[] = {job->m, job->n, job->k, job->count};
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++)
        if (sizes[k] < 0 || sizes[k] > INT_MAX)
            return false;
    return job->a.operation >= 0 && job->a.operation <= OPERATION_C && job->b.operation >= 0 &&
           job->b.operation <= OPERATION_C && job->a.leading >= (rows_a > 1 ? rows_a : 1) &&
           job->b.leading >= (rows_b > 1 ? rows_b : 1) &&
           job->c.leading >= (job->m > 1 ? job->m : 1);
}

/* No group runs unless all are right. */
static int groups_run(const struct grouped_call *call, struct library_kernel *kernel,
                      const struct blas_handle *handle, bool launches)
{
    int64_t first = 0;
    for (int64_t i = 0; i < call->groups; i++) {
        struct grouped_job job;
        if (!group_read(call, i, first, &job))
            return BLAS_INVALID_VALUE;
        first += job.count;
        if (launches && job.count && job.m && job.n &&
            !library_launch(kernel, handle->stream, &job, sizeof job))
            return BLAS_EXECUTION_FAILED;
    }
    return BLAS_SUCCESS;
}

static int grouped(const struct grouped_call *call, struct library_kernel *kernel)
{
    const struct blas_handle *handle = blas_handle(call->handle);
    const void *given[] = {call->operation_a, call->operation_b, call->m,   call->n,   call->k,
                           call->alpha,       call->beta,        call->lda, call->ldb, call->ldc,
                           call->sizes,       call->a,           call->b,   call->c};
    if (!handle)
        return BLAS_NOT_INITIALIZED;
    for (size_t i = 0; call->groups && i < sizeof given / sizeof *given; i++)
        if (!given[i])
            return BLAS_INVALID_VALUE;
    if (call->groups < 0)
        return BLAS_INVALID_VALUE;
    const int types[] = {call->type_a, call->type_b, call->type_c};
    bool known = handle->pointer_mode == 0;
    for (int i = 0; i < 3; i++)
        known &= number_bytes(types[i]) && !number_is_complex(types[i]);
    if (!known) {
        library_lacks_of(call->symbol, "wants factors on the host and matrices of real numbers; "
                                       "the call fails");
        return BLAS_NOT_SUPPORTED;
    }
    const int status = groups_run(call, kernel, handle, false);
    return status ? status : groups_run(call, kernel, handle, true);
}

/* The type of alpha and beta, by cublasComputeType_t. */
static int scale_of(int compute_type)
{
    return compute_type == 70 || compute_type == 71   ? NUMBER_64F
           : compute_type == 64 || compute_type == 65 ? NUMBER_16F
                                                      : NUMBER_32F;
}

/* plain,SYMBOL,NUMBER,INTEGER,WIDE: all matrices of one type. */
#define PLAIN(symbol_, number, integer_type, wide_)                                                \
    LIBRARY_EXPORT int symbol_(                                                                    \
        void *handle, const int *ta, const int *tb, const integer_type *m, const integer_type *n,  \
        const integer_type *k, const void *alpha, const uint64_t *a, const integer_type *lda,      \
        const uint64_t *b, const integer_type *ldb, const void *beta, const uint64_t *c,           \
        const integer_type *ldc, integer_type groups, const integer_type *sizes);                  \
    int symbol_(void *handle, const int *ta, const int *tb, const integer_type *m,                 \
                const integer_type *n, const integer_type *k, const void *alpha,                   \
                const uint64_t *a, const integer_type *lda, const uint64_t *b,                     \
                const integer_type *ldb, const void *beta, const uint64_t *c,                      \
                const integer_type *ldc, integer_type groups, const integer_type *sizes)           \
    {                                                                                              \
        static struct library_kernel kernel = {#symbol_, run_group, true, NULL};                   \
        const struct grouped_call call = {                                                         \
            #symbol_, handle, ta, tb, m, n,      k,      alpha,  beta,   lda,    ldb,              \
            ldc,      sizes,  a,  b,  c, number, number, number, number, groups, wide_};           \
        return grouped(&call, &kernel);                                                            \
    }
PLAIN(cublasSgemmGroupedBatched, NUMBER_32F, int, false)
PLAIN(cublasSgemmGroupedBatched_64, NUMBER_32F, int64_t, true)
PLAIN(cublasDgemmGroupedBatched, NUMBER_64F, int, false)
PLAIN(cublasDgemmGroupedBatched_64, NUMBER_64F, int64_t, true)

/* The same with a type for each matrix. */
#define EXTENDED(symbol_, integer_type, wide_)                                                     \
    LIBRARY_EXPORT int symbol_(                                                                    \
        void *handle, const int *ta, const int *tb, const integer_type *m, const integer_type *n,  \
        const integer_type *k, const void *alpha, const uint64_t *a, int type_a,                   \
        const integer_type *lda, const uint64_t *b, int type_b, const integer_type *ldb,           \
        const void *beta, const uint64_t *c, int type_c, const integer_type *ldc,                  \
        integer_type groups, const integer_type *sizes, int compute_type);                         \
    int symbol_(void *handle, const int *ta, const int *tb, const integer_type *m,                 \
                const integer_type *n, const integer_type *k, const void *alpha,                   \
                const uint64_t *a, int type_a, const integer_type *lda, const uint64_t *b,         \
                int type_b, const integer_type *ldb, const void *beta, const uint64_t *c,          \
                int type_c, const integer_type *ldc, integer_type groups,                          \
                const integer_type *sizes, int compute_type)                                       \
    {                                                                                              \
        static struct library_kernel kernel = {#symbol_, run_group, true, NULL};                   \
        const struct grouped_call call = {                                                         \
            #symbol_, handle, ta,    tb, m, n, k,      alpha,  beta,   lda,                        \
            ldb,      ldc,    sizes, a,  b, c, type_a, type_b, type_c, scale_of(compute_type),     \
            groups,   wide_};                                                                      \
        return grouped(&call, &kernel);                                                            \
    }
EXTENDED(cublasGemmGroupedBatchedEx, int, false)
EXTENDED(cublasGemmGroupedBatchedEx_64, int64_t, true)
