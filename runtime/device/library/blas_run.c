/* A job of cuBLAS when its turn has come: checks what it accesses, and finds the routine. */
#include "runtime/device/library/blas.h"
#include "runtime/device/library/cpu.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

/* ---- Arguments ---- */

int64_t blas_integer(const struct blas_run *run, const char *name, int64_t otherwise)
{
    return extent_integer(run->function, run->arguments, name, otherwise);
}

void *blas_place(const struct blas_run *run, const char *name)
{
    const int place = extent_argument(run->function, name);
    return place < 0 ? NULL : run->extent->places[place];
}

int blas_type(const struct blas_run *run, const char *type_name)
{
    return (int)blas_integer(run, type_name, number_of_letter(run->function->letter));
}

void *blas_batch(const struct blas_run *run, const char *operand, int type, int64_t i)
{
    char name[32];
    char *single = blas_place(run, operand);
    snprintf(name, sizeof name, "%sarray", operand);
    const uint64_t *addresses = blas_place(run, name);
    if (addresses)
        return device_native_memory(run->native, addresses[i], 1, DEVICE_NATIVE_READ);
    snprintf(name, sizeof name, "stride%s", operand);
    const int64_t step = blas_integer(run, name, 0);
    return single ? single + i * step * (int64_t)number_bytes(type) : NULL;
}

void *blas_routine(const char *name)
{
    char symbol[64];
    snprintf(symbol, sizeof symbol, "%s_", name);
    return cpu_function(CPU_OPENBLAS, symbol);
}

/* ---- Fortran's way of a call ---- */

/* All arguments are addresses. More of them than a routine has do no harm (System V ABI). */
enum { FORTRAN_ARGUMENTS = 18 };
typedef void fortran(void *, void *, void *, void *, void *, void *, void *, void *, void *, void *,
                     void *, void *, void *, void *, void *, void *, void *, void *);
typedef float fortran_float(void *, void *, void *, void *, void *);
typedef double fortran_double(void *, void *, void *, void *, void *);
typedef int fortran_integer(void *, void *, void *);

struct fortran_call {
    void *arguments[FORTRAN_ARGUMENTS];
    int integers[FORTRAN_ARGUMENTS];
    char letters[FORTRAN_ARGUMENTS];
    int count;
};

static char letter_of(const char *name, int64_t value)
{
    if (strncmp(name, "trans", 5) == 0)
        return "NTC"[value];
    if (strcmp(name, "uplo") == 0)
        return value == BLAS_LOWER ? 'L' : 'U';
    if (strcmp(name, "side") == 0)
        return value == BLAS_LEFT ? 'L' : 'R';
    if (strcmp(name, "diag") == 0)
        return value ? 'U' : 'N';
    return 0;
}

static bool is_scalar(const struct blas_run *run, int place)
{
    const char *at = (const char *)run->extent->places[place];
    const char *scalars = (const char *)run->extent->scalars;
    return at >= scalars && at < scalars + sizeof *run->extent->scalars;
}

static void add_argument(struct fortran_call *call, const struct blas_run *run, int place,
                         int64_t batch)
{
    const char *name = run->function->arguments[place];
    const int k = call->count++;
    if (run->function->kinds[place] == 'p') {
        uint64_t *array = run->extent->places[place];
        const bool batched = batch >= 0 && !is_scalar(run, place) && strcmp(name, "alpha") != 0;
        call->arguments[k] = batched && array ? device_native_memory(run->native, array[batch], 1,
                                                                     DEVICE_NATIVE_READ)
                                              : array;
        return;
    }
    const int64_t value = blas_integer(run, name, 0);
    call->integers[k] = (int)value;
    call->letters[k] = letter_of(name, value);
    call->arguments[k] = call->letters[k] ? (void *)&call->letters[k] : &call->integers[k];
}

static struct fortran_call *fill(struct fortran_call *call, const struct blas_run *run,
                                 int64_t batch)
{
    for (int i = 1; run->function->arguments[i]; i++) {
        if (strcmp(run->function->arguments[i], "result") != 0 &&
            strcmp(run->function->arguments[i], "batchCount") != 0)
            add_argument(call, run, i, batch);
    }
    for (int i = call->count; i < FORTRAN_ARGUMENTS; i++) /* e.g. LAPACK's INFO */
        call->arguments[i] = &call->integers[i];
    return call;
}

bool blas_fortran(const struct blas_run *run, const char *name, int64_t batch)
{
    struct fortran_call call = {0};
    fortran *routine = (fortran *)blas_routine(name);
    if (!routine)
        return false;
    void **a = fill(&call, run, batch)->arguments;
    routine(a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8], a[9], a[10], a[11], a[12], a[13],
            a[14], a[15], a[16], a[17]);
    return true;
}

/* ---- Functions with a result ---- */

static void result_write(const struct blas_run *run, double value)
{
    const bool is_double = run->function->letter == 'D' || run->function->letter == 'Z';
    void *result = blas_place(run, "result");
    if (result)
        number_write(is_double ? NUMBER_64F : NUMBER_32F, result, 0, value);
}

/* Products of complex vectors return by memory in C's form, and not in one way in Fortran's. */
static bool dot_complex(const struct blas_run *run)
{
    char symbol[64];
    void (*routine)(int, const void *, int, const void *, int, void *);
    snprintf(symbol, sizeof symbol, "cblas_%s_sub", run->name);
    *(void **)&routine = cpu_function(CPU_OPENBLAS, symbol);
    void *result = blas_place(run, "result");
    if (!routine || !result)
        return false;
    memset(result, 0, number_bytes(number_of_letter(run->function->letter)));
    routine((int)blas_integer(run, "n", 0), blas_place(run, "x"), (int)blas_integer(run, "incx", 1),
            blas_place(run, "y"), (int)blas_integer(run, "incy", 1), result);
    return true;
}

static bool reduce(const struct blas_run *run)
{
    struct fortran_call call = {0};
    const bool is_index = run->name[0] == 'i';
    const bool is_double = run->function->letter == 'D' || run->function->letter == 'Z';
    void *routine = blas_routine(run->name);
    void *result = blas_place(run, "result");
    if (!routine || !result)
        return false;
    void **a = fill(&call, run, -1)->arguments;
    if (is_index)
        number_write(run->function->wide ? NUMBER_64I : NUMBER_32I, result, 0,
                     ((fortran_integer *)routine)(a[0], a[1], a[2]));
    else if (is_double)
        result_write(run, ((fortran_double *)routine)(a[0], a[1], a[2], a[3], a[4]));
    else
        result_write(run, (double)((fortran_float *)routine)(a[0], a[1], a[2], a[3], a[4]));
    return true;
}

static bool with_result(const struct blas_run *run)
{
    const char *dot = strstr(run->name, "dot");
    if (extent_argument(run->function, "result") < 0)
        return false;
    return dot && dot[3] ? dot_complex(run) : reduce(run);
}

/* ---- The run ---- */

/* "cublasSgemm_v2_64" into "sgemm". */
static void name_of(const char *symbol, char *name, size_t bytes)
{
    size_t length = 0;
    for (const char *at = symbol + strlen("cublas"); *at && *at != '_' && length + 1 < bytes; at++)
        name[length++] = (char)tolower((unsigned char)*at);
    name[length] = '\0';
}

static void dispatch(const struct blas_run *run)
{
    if (!blas_product(run) && !blas_vector(run) && !blas_matrix(run) && !blas_lapack(run) &&
        !with_result(run) && !blas_fortran(run, run->name, -1))
        library_lacks(run->function->symbol);
}

void blas_run_job(struct device_native *native, const void *data)
{
    const struct blas_job *job = data;
    struct extent_scalars scalars = job->scalars;
    struct extent call = {.function = &extent_functions[job->function],
                          .arguments = job->arguments,
                          .on_device = job->on_device,
                          .scalars = &scalars,
                          .native = native};
    struct blas_run run = {call.function, job->arguments, &call, native, ""};
    name_of(call.function->symbol, run.name, sizeof run.name);
    extent_evaluate(&call);
    if (call.wrong)
        return;
    dispatch(&run);
    if (job->results)
        *job->results = scalars;
}
