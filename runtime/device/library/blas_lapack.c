/* Factors, solutions and inverses of small matrices in batches (cuBLAS documentation, "BLAS-like
 * Extension"), by LAPACK's routines, and without pivots by those of lu.h. */
#include "runtime/device/library/blas.h"
#include "runtime/device/library/lu.h"

#include <stdlib.h>
#include <string.h>

/* One matrix of a batch. */
struct task {
    const struct blas_run *run;
    int64_t batch;
    int type, n, lda;
    size_t bytes; /* of an element */
    int *pivots;  /* NULL: none */
    int *info;    /* NULL: nobody asks */
};

static void *matrix_of(const struct task *task, const char *array)
{
    const uint64_t *addresses = blas_place(task->run, array);
    return addresses ? device_native_memory(task->run->native, addresses[task->batch], 1,
                                            DEVICE_NATIVE_READ)
                     : NULL;
}

static void *routine(const struct task *task, const char *stem)
{
    char name[16] = {task->run->name[0]};
    strncpy(name + 1, stem, sizeof name - 2);
    return blas_routine(name);
}

static int factor(const struct task *task, void *a, int lda, int *pivots)
{
    typedef void getrf(const int *, const int *, void *, const int *, int *, int *);
    getrf *found = (getrf *)routine(task, "getrf");
    int info = 0;
    if (!pivots)
        return lu_factor_plainly(task->type, a, task->n, task->n, lda);
    if (found)
        found(&task->n, &task->n, a, &lda, pivots, &info);
    return info;
}

/* Pivots that exchange nothing stand for none. */
static void solve(const struct task *task, char operation, int columns, const void *a, int lda,
                  const int *pivots, void *b, int ldb)
{
    typedef void getrs(const char *, const int *, const int *, const void *, const int *,
                       const int *, void *, const int *, int *, size_t);
    getrs *found = (getrs *)routine(task, "getrs");
    int *plain = pivots ? NULL : malloc(((size_t)task->n + 1) * sizeof *plain);
    int info = 0;
    for (int i = 0; plain && i < task->n; i++)
        plain[i] = i + 1;
    if (found && (pivots || plain))
        found(&operation, &task->n, &columns, a, &lda, pivots ? pivots : plain, b, &ldb, &info, 1);
    free(plain);
}

static void invert(const struct task *task, const void *factors, int lda, const int *pivots)
{
    char *c = matrix_of(task, "Carray");
    const int ldc = (int)blas_integer(task->run, "ldc", 1);
    for (int j = 0; c && j < task->n; j++) {
        memset(c + (size_t)j * (size_t)ldc * task->bytes, 0, (size_t)task->n * task->bytes);
        number_write(task->type, c, j + (int64_t)j * ldc, 1);
    }
    if (c)
        solve(task, 'N', task->n, factors, lda, pivots, c, ldc);
}

/* ---- The functions ---- */

static void run_factor(const struct task *task)
{
    void *a = matrix_of(task, "Aarray");
    const int info = a ? factor(task, a, task->lda, task->pivots) : 0;
    if (task->info)
        *task->info = info;
}

/* A zero on the diagonal of the factors: there is no inverse. */
static int first_zero(const struct task *task, const void *a)
{
    for (int i = 0; i < task->n; i++)
        if (number_read(task->type, a, i + (int64_t)i * task->lda) == 0)
            return i + 1;
    return 0;
}

static void run_inverse_of_factors(const struct task *task)
{
    const void *a = matrix_of(task, "Aarray");
    const int info = a ? first_zero(task, a) : 0;
    if (a && !info)
        invert(task, a, task->lda, task->pivots);
    if (task->info)
        *task->info = info;
}

static void run_solve(const struct task *task)
{
    const void *a = matrix_of(task, "Aarray");
    void *b = matrix_of(task, "Barray");
    if (a && b)
        solve(task, "NTC"[blas_integer(task->run, "trans", 0)],
              (int)blas_integer(task->run, "nrhs", 0), a, task -> lda, task -> pivots, b,
              (int)blas_integer(task->run, "ldb", 1));
}

static void run_inverse(const struct task *task)
{
    const size_t column = (size_t)task->n * task->bytes;
    const char *a = matrix_of(task, "Aarray");
    char *copy = malloc((size_t)task->n * column + 1);
    int *pivots = malloc(((size_t)task->n + 1) * sizeof *pivots);
    int info = 0;
    for (int j = 0; a && copy && j < task->n; j++)
        memcpy(copy + (size_t)j * column, a + (size_t)j * (size_t)task->lda * task->bytes, column);
    if (a && copy && pivots && task->n) {
        info = factor(task, copy, task->n, pivots);
        if (!info)
            invert(task, copy, task->n, pivots);
    }
    if (task->info)
        *task->info = info;
    free(copy);
    free(pivots);
}

static void run_orthogonal(const struct task *task)
{
    typedef void geqrf(const int *, const int *, void *, const int *, void *, void *, const int *,
                       int *);
    geqrf *found = (geqrf *)routine(task, "geqrf");
    const int m = (int)blas_integer(task->run, "m", 0), work_count = 64 * (task->n + 1);
    void *work = malloc((size_t)work_count * task->bytes);
    void *a = matrix_of(task, "Aarray"), *tau = matrix_of(task, "TauArray");
    int info = 0;
    if (found && work && a && tau)
        found(&m, &task->n, a, &task->lda, tau, work, &work_count, &info);
    free(work);
}

bool blas_lapack(const struct blas_run *run)
{
    static const struct {
        const char *name;
        void (*run)(const struct task *task);
    } routines[] = {{"getrfbatched", run_factor},
                    {"getribatched", run_inverse_of_factors},
                    {"getrsbatched", run_solve},
                    {"matinvbatched", run_inverse},
                    {"geqrfbatched", run_orthogonal}};
    const int type = number_of_letter(run->function->letter);
    struct task task = {run,
                        0,
                        type,
                        (int)blas_integer(run, "n", 0),
                        (int)blas_integer(run, "lda", 1),
                        number_bytes(type),
                        NULL,
                        NULL};
    int *pivots = blas_place(run, "P"), *infos = blas_place(run, "info");
    for (size_t i = 0; i < sizeof routines / sizeof *routines; i++) {
        if (strcmp(run->name + 1, routines[i].name) != 0)
            continue;
        for (; task.batch < blas_integer(run, "batchSize", 0); task.batch++) {
            task.pivots = pivots ? pivots + task.batch * task.n : NULL;
            task.info = infos ? infos + task.batch : NULL;
            routines[i].run(&task);
        }
        return true;
    }
    return false;
}
