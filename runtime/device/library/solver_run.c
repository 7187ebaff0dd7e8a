/* The routines of LAPACK behind cuSOLVER. All arguments of LAPACK are addresses, and the names of a
 * call's arguments are those of library.table. */
#include "runtime/device/library/cpu.h"
#include "runtime/device/library/lu.h"
#include "runtime/device/library/solver.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct run {
    const struct extent_function *function;
    const uint64_t *arguments;
    struct extent *extent;
    char letter;    /* s, d, c, z */
    int numbers[8]; /* by the order of `sizes` */
    int info;
    bool lacks;    /* a routine that OpenBLAS does not have */
    void *work[3]; /* numbers, real numbers, integers */
    int work_count, real_count, integer_count;
};
enum { M, N, K, RIGHT_SIDES, LDA, LDB, LDC, SIZES };
static const char *const sizes[SIZES] = {"m", "n", "k", "nrhs", "lda", "ldb", "ldc"};

typedef void routine(void *, void *, void *, void *, void *, void *, void *, void *, void *, void *,
                     void *, void *, void *, void *, void *, size_t, size_t, size_t);

/* ---- Arguments ---- */

static int64_t integer(const struct run *run, const char *name)
{
    return extent_integer(run->function, run->arguments, name, 0);
}

static void *place(const struct run *run, const char *name)
{
    static uint64_t nothing[2]; /* what a routine does not access */
    const int argument = extent_argument(run->function, name);
    void *found = argument < 0 ? NULL : run->extent->places[argument];
    return found ? found : nothing;
}

/* "If devIpiv is null, no pivoting is performed" (cuSOLVER documentation, getrf). */
static void *pivots_given(const struct run *run)
{
    const int argument = extent_argument(run->function, "devIpiv");
    return argument < 0 || !run->arguments[argument] ? NULL : place(run, "devIpiv");
}

static bool is_complex(const struct run *run)
{
    return run->letter == 'c' || run->letter == 'z';
}

static size_t element_bytes(const struct run *run)
{
    return (run->letter == 's' || run->letter == 'c' ? 4 : 8) * (is_complex(run) ? 2 : 1);
}

/* Calls LAPACK's routine of the type, with up to 15 addresses. */
static void call(struct run *run, const char *name, void **a)
{
    char symbol[16];
    snprintf(symbol, sizeof symbol, "%c%s_", run->letter, name);
    routine *found = (routine *)cpu_function(CPU_OPENBLAS, symbol);
    if (found) /* the lengths of characters come last */
        found(a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8], a[9], a[10], a[11], a[12],
              a[13], a[14], 1, 1, 1);
    else
        run->lacks = true;
}
#define CALL(run, name, ...) call(run, name, (void *[15]){__VA_ARGS__})

static char *uplo(const struct run *run)
{
    static char letters[] = {'L', 'U'};
    return &letters[integer(run, "uplo") == 1];
}

/* Enough for every routine here (LAPACK, dsyevd, zheevd, dgesvd: LWORK and others). */
static bool work_make(struct run *run)
{
    const size_t n =
        (size_t)(run->numbers[M] > run->numbers[N] ? run->numbers[M] : run->numbers[N]);
    const bool is_eigen = extent_argument(run->function, "jobz") >= 0;
    run->work_count = (int)(is_eigen ? 1 + 6 * n + 2 * n * n : 64 * n + 64);
    run->real_count = (int)(is_eigen ? 1 + 5 * n + 2 * n * n : 5 * n + 1);
    run->integer_count = (int)(3 + 5 * n);
    run->work[0] = malloc((size_t)run->work_count * element_bytes(run));
    run->work[1] = malloc((size_t)run->real_count * 8);
    run->work[2] = malloc((size_t)run->integer_count * sizeof(int));
    return run->work[0] && run->work[1] && run->work[2];
}

/* ---- Routines ---- */

static void run_potrf(struct run *run)
{
    CALL(run, "potrf", uplo(run), &run->numbers[N], place(run, "A"), &run->numbers[LDA],
         &run->info);
}

static void run_potri(struct run *run)
{
    CALL(run, "potri", uplo(run), &run->numbers[N], place(run, "A"), &run->numbers[LDA],
         &run->info);
}

static void run_potrs(struct run *run)
{
    CALL(run, "potrs", uplo(run), &run->numbers[N], &run->numbers[RIGHT_SIDES], place(run, "A"),
         &run->numbers[LDA], place(run, "B"), &run->numbers[LDB], &run->info);
}

/* The X forms have pivots of 64 bits. */
static int pivot_type(const struct run *run)
{
    return extent_argument(run->function, "params") >= 0 ? NUMBER_64I : NUMBER_32I;
}

static int number_type_of(const struct run *run)
{
    return number_of_letter((char)toupper(run->letter));
}

static void run_getrf(struct run *run)
{
    const int count = run->numbers[M] < run->numbers[N] ? run->numbers[M] : run->numbers[N];
    int *pivots = run->work[2];
    void *given = pivots_given(run);
    if (!given) {
        run->info = lu_factor_plainly(number_type_of(run), place(run, "A"), run->numbers[M],
                                      run->numbers[N], run->numbers[LDA]);
        return;
    }
    CALL(run, "getrf", &run->numbers[M], &run->numbers[N], place(run, "A"), &run->numbers[LDA],
         pivots, &run->info);
    for (int i = 0; i < count; i++)
        number_write(pivot_type(run), given, i, pivots[i]);
}

/* Pivots that exchange nothing stand for none. */
static void run_getrs(struct run *run)
{
    int *pivots = run->work[2];
    const void *given = pivots_given(run);
    const int64_t operation = integer(run, "trans");
    for (int i = 0; i < run->numbers[N]; i++)
        pivots[i] = given ? (int)creal(number_read(pivot_type(run), given, i)) : i + 1;
    char letter = operation == 0 ? 'N' : operation == 1 ? 'T' : 'C';
    CALL(run, "getrs", &letter, &run->numbers[N], &run->numbers[RIGHT_SIDES], place(run, "A"),
         &run->numbers[LDA], pivots, place(run, "B"), &run->numbers[LDB], &run->info);
}

static void run_geqrf(struct run *run)
{
    CALL(run, "geqrf", &run->numbers[M], &run->numbers[N], place(run, "A"), &run->numbers[LDA],
         place(run, "TAU"), run->work[0], &run->work_count, &run->info);
}

static void run_mqr(struct run *run)
{
    const int64_t operation = integer(run, "trans");
    char side = integer(run, "side") == 0 ? 'L' : 'R';
    char letter = operation == 0 ? 'N' : is_complex(run) ? 'C' : 'T';
    CALL(run, is_complex(run) ? "unmqr" : "ormqr", &side, &letter, &run->numbers[M],
         &run->numbers[N], &run->numbers[K], place(run, "A"), &run->numbers[LDA], place(run, "tau"),
         place(run, "C"), &run->numbers[LDC], run->work[0], &run->work_count, &run->info);
}

static void run_gqr(struct run *run)
{
    CALL(run, is_complex(run) ? "ungqr" : "orgqr", &run->numbers[M], &run->numbers[N],
         &run->numbers[K], place(run, "A"), &run->numbers[LDA], place(run, "tau"), run->work[0],
         &run->work_count, &run->info);
}

static void run_evd(struct run *run)
{
    char job = integer(run, "jobz") ? 'V' : 'N';
    if (is_complex(run))
        CALL(run, "heevd", &job, uplo(run), &run->numbers[N], place(run, "A"), &run->numbers[LDA],
             place(run, "W"), run->work[0], &run->work_count, run->work[1], &run->real_count,
             run->work[2], &run->integer_count, &run->info);
    else
        CALL(run, "syevd", &job, uplo(run), &run->numbers[N], place(run, "A"), &run->numbers[LDA],
             place(run, "W"), run->work[0], &run->work_count, run->work[2], &run->integer_count,
             &run->info);
}

static void run_svd(struct run *run)
{
    char jobs[] = {(char)integer(run, "jobu"), (char)integer(run, "jobvt")};
    int ldu = (int)integer(run, "ldu"), ldvt = (int)integer(run, "ldvt");
    CALL(run, "gesvd", &jobs[0], &jobs[1], &run->numbers[M], &run->numbers[N], place(run, "A"),
         &run->numbers[LDA], place(run, "S"), place(run, "U"), &ldu, place(run, "VT"), &ldvt,
         run->work[0], &run->work_count, is_complex(run) ? run->work[1] : &run->info, &run->info);
}

/* ---- The run ---- */

static const struct {
    const char *name;
    void (*run)(struct run *run);
} routines[] = {
    {"potrf", run_potrf}, {"potri", run_potri}, {"potrs", run_potrs}, {"getrf", run_getrf},
    {"getrs", run_getrs}, {"geqrf", run_geqrf}, {"mqr", run_mqr},     {"gqr", run_gqr},
    {"evd", run_evd},     {"gesvd", run_svd},
};

static char letter_of(const struct extent_function *function, const uint64_t *arguments)
{
    switch (extent_integer(function, arguments, "dataTypeA", -1)) {
    case NUMBER_32F:
        return 's';
    case NUMBER_64F:
        return 'd';
    case NUMBER_C32F:
        return 'c';
    case NUMBER_C64F:
        return 'z';
    default:
        return (char)tolower(function->letter);
    }
}

/* False: LAPACK's routine is not there. */
static bool routine_run(struct run *run)
{
    for (size_t i = 0; i < sizeof routines / sizeof *routines; i++) {
        if (!strstr(run->function->symbol, routines[i].name))
            continue;
        routines[i].run(run);
        number_write(NUMBER_32I, place(run, "devInfo"), 0, run->info);
        break;
    }
    return !run->lacks;
}

void solver_run(struct device_native *native, const void *data)
{
    const struct solver_job *job = data;
    const struct extent_function *function = &extent_functions[job->function];
    struct extent extent = {.function = function, .arguments = job->arguments, .native = native};
    struct run run = {.function = function,
                      .arguments = job->arguments,
                      .extent = &extent,
                      .letter = letter_of(function, job->arguments)};
    extent_evaluate(&extent);
    if (extent.wrong)
        return;
    for (int i = 0; i < SIZES; i++)
        run.numbers[i] = (int)integer(&run, sizes[i]);
    const bool whole = work_make(&run) && routine_run(&run);
    if (run.lacks)
        library_lacks(function->symbol);
    if (!whole)
        device_native_memory(native, 0, 1, DEVICE_NATIVE_WRITE);
    for (int i = 0; i < 3; i++)
        free(run.work[i]);
}
