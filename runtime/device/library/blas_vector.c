/* Level 1 with a type for each argument (the Ex forms): by elements, in doubles. */
#include "runtime/device/library/blas.h"

#include <math.h>
#include <string.h>

/* A vector as BLAS counts it: a negative increment begins at its end. */
struct vector {
    void *data;
    int type;
    int64_t n, increment;
};

static struct vector vector(const struct blas_run *run, const char *name)
{
    const char type[] = {name[0], 'T', 'y', 'p', 'e', 0};
    const char increment[] = {'i', 'n', 'c', name[0], 0};
    return (struct vector){blas_place(run, name), blas_type(run, type), blas_integer(run, "n", 0),
                           blas_integer(run, increment, 1)};
}

static int64_t place(const struct vector *v, int64_t i)
{
    return (v->increment < 0 ? i - v->n + 1 : i) * v->increment;
}

static double _Complex get(const struct vector *v, int64_t i)
{
    return number_read(v->type, v->data, place(v, i));
}

static void set(const struct vector *v, int64_t i, double _Complex value)
{
    number_write(v->type, v->data, place(v, i), value);
}

static void write_result(const struct blas_run *run, double _Complex value)
{
    void *result = blas_place(run, "result");
    if (result)
        number_write(blas_type(run, "resultType"), result, 0, value);
}

/* ---- Reductions ---- */

static void run_extreme(const struct blas_run *run, bool largest)
{
    const struct vector x = vector(run, "x");
    double best = largest ? -1 : INFINITY;
    int64_t found = 0;
    for (int64_t i = 0; x.data && i < x.n && x.increment > 0; i++) {
        const double _Complex value = get(&x, i);
        const double size = fabs(creal(value)) + fabs(cimag(value));
        if (largest ? size > best : size < best) {
            best = size;
            found = i + 1;
        }
    }
    void *result = blas_place(run, "result");
    if (result)
        number_write(run->function->wide ? NUMBER_64I : NUMBER_32I, result, 0, (double)found);
}

static void run_largest(const struct blas_run *run)
{
    run_extreme(run, true);
}

static void run_smallest(const struct blas_run *run)
{
    run_extreme(run, false);
}

static void run_norm(const struct blas_run *run)
{
    const struct vector x = vector(run, "x");
    double sum = 0;
    for (int64_t i = 0; x.data && i < x.n && x.increment > 0; i++)
        sum = hypot(sum, cabs(get(&x, i)));
    write_result(run, sum);
}

static void run_sum(const struct blas_run *run)
{
    const struct vector x = vector(run, "x");
    double sum = 0;
    for (int64_t i = 0; x.data && i < x.n && x.increment > 0; i++)
        sum += fabs(creal(get(&x, i))) + fabs(cimag(get(&x, i)));
    write_result(run, sum);
}

static void run_dot(const struct blas_run *run)
{
    const struct vector x = vector(run, "x"), y = vector(run, "y");
    const bool conjugates = strcmp(run->name, "dotcex") == 0;
    double _Complex sum = 0;
    for (int64_t i = 0; x.data && y.data && i < x.n; i++)
        sum += (conjugates ? conj(get(&x, i)) : get(&x, i)) * get(&y, i);
    write_result(run, sum);
}

/* ---- Updates ---- */

static void run_scale(const struct blas_run *run)
{
    const struct vector x = vector(run, "x");
    const double _Complex alpha =
        number_read(blas_type(run, "alphaType"), blas_place(run, "alpha"), 0);
    for (int64_t i = 0; x.data && i < x.n; i++)
        set(&x, i, alpha * get(&x, i));
}

static void run_axpy(const struct blas_run *run)
{
    const struct vector x = vector(run, "x"), y = vector(run, "y");
    const double _Complex alpha =
        number_read(blas_type(run, "alphaType"), blas_place(run, "alpha"), 0);
    for (int64_t i = 0; x.data && y.data && i < x.n; i++)
        set(&y, i, alpha * get(&x, i) + get(&y, i));
}

static void run_copy(const struct blas_run *run)
{
    const struct vector x = vector(run, "x"), y = vector(run, "y");
    for (int64_t i = 0; x.data && y.data && i < x.n; i++)
        set(&y, i, get(&x, i));
}

static void run_swap(const struct blas_run *run)
{
    const struct vector x = vector(run, "x"), y = vector(run, "y");
    for (int64_t i = 0; x.data && y.data && i < x.n; i++) {
        const double _Complex value = get(&x, i);
        set(&x, i, get(&y, i));
        set(&y, i, value);
    }
}

static void run_rotate(const struct blas_run *run)
{
    const struct vector x = vector(run, "x"), y = vector(run, "y");
    const int type = blas_type(run, "csType");
    const int real = type == NUMBER_C32F ? NUMBER_32F : type == NUMBER_C64F ? NUMBER_64F : type;
    const double c = creal(number_read(real, blas_place(run, "c"), 0));
    const double _Complex s = number_read(type, blas_place(run, "s"), 0);
    for (int64_t i = 0; x.data && y.data && i < x.n; i++) {
        const double _Complex old_x = get(&x, i), old_y = get(&y, i);
        set(&x, i, c * old_x + s * old_y);
        set(&y, i, c * old_y - conj(s) * old_x);
    }
}

bool blas_vector(const struct blas_run *run)
{
    static const struct {
        const char *name;
        void (*run)(const struct blas_run *run);
    } routines[] = {
        {"iamaxex", run_largest}, {"iaminex", run_smallest}, {"nrm2ex", run_norm},
        {"asumex", run_sum},      {"dotex", run_dot},        {"dotcex", run_dot},
        {"scalex", run_scale},    {"axpyex", run_axpy},      {"copyex", run_copy},
        {"swapex", run_swap},     {"rotex", run_rotate},
    };
    for (size_t i = 0; i < sizeof routines / sizeof *routines; i++)
        if (strcmp(run->name, routines[i].name) == 0) {
            routines[i].run(run);
            return true;
        }
    return false;
}
