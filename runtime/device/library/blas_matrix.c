/* What cuBLAS has and BLAS has not (cuBLAS documentation, "BLAS-like Extension"), and the rank-k
 * updates whose types differ. By elements, but for trmm. */
#include "runtime/device/library/blas.h"

#include <stdlib.h>
#include <string.h>

static double _Complex factor(const struct blas_run *run, const char *name, int type)
{
    const void *place = blas_place(run, name);
    return place ? number_read(type, place, 0) : 0;
}

static double _Complex element(int type, const void *matrix, int64_t leading, int operation,
                               int64_t i, int64_t j)
{
    if (operation == BLAS_OP_N)
        return number_read(type, matrix, i + j * leading);
    const double _Complex value = number_read(type, matrix, j + i * leading);
    return operation == BLAS_OP_C ? conj(value) : value;
}

/* C = alpha op(A) + beta op(B); C may be A or B where that is not transposed. */
static void run_add(const struct blas_run *run)
{
    const int type = blas_type(run, "");
    const int64_t m = blas_integer(run, "m", 0), n = blas_integer(run, "n", 0);
    const int64_t lda = blas_integer(run, "lda", 1), ldb = blas_integer(run, "ldb", 1);
    const int64_t ldc = blas_integer(run, "ldc", 1);
    const int with_a = (int)blas_integer(run, "transa", 0);
    const int with_b = (int)blas_integer(run, "transb", 0);
    const double _Complex alpha = factor(run, "alpha", type), beta = factor(run, "beta", type);
    const void *a = blas_place(run, "A"), *b = blas_place(run, "B");
    void *c = blas_place(run, "C");
    for (int64_t j = 0; c && j < n; j++)
        for (int64_t i = 0; i < m; i++) {
            double _Complex sum = 0;
            if (a && alpha != 0)
                sum += alpha * element(type, a, lda, with_a, i, j);
            if (b && beta != 0)
                sum += beta * element(type, b, ldb, with_b, i, j);
            number_write(type, c, i + j * ldc, sum);
        }
}

/* C = A diag(x), or diag(x) A. */
static void run_diagonal(const struct blas_run *run)
{
    const int type = blas_type(run, "");
    const int64_t m = blas_integer(run, "m", 0), n = blas_integer(run, "n", 0);
    const int64_t lda = blas_integer(run, "lda", 1), ldc = blas_integer(run, "ldc", 1);
    const int64_t incx = blas_integer(run, "incx", 1);
    const bool left = blas_integer(run, "mode", 0) == BLAS_LEFT;
    const int64_t count = left ? m : n;
    const void *a = blas_place(run, "A"), *x = blas_place(run, "x");
    void *c = blas_place(run, "C");
    for (int64_t j = 0; a && x && c && j < n; j++)
        for (int64_t i = 0; i < m; i++) {
            const int64_t k = left ? i : j;
            const double _Complex by = number_read(type, x, (incx < 0 ? k - count + 1 : k) * incx);
            number_write(type, c, i + j * ldc, by * number_read(type, a, i + j * lda));
        }
}

/* cuBLAS multiplies out of place, BLAS in place: C takes B first. */
static void run_triangular(const struct blas_run *run)
{
    typedef void trmm(const char *, const char *, const char *, const char *, const int *,
                      const int *, const void *, const void *, const int *, void *, const int *);
    const char name[] = {run->name[0], 't', 'r', 'm', 'm', 0};
    const int type = blas_type(run, "");
    const size_t bytes = number_bytes(type);
    const int m = (int)blas_integer(run, "m", 0), n = (int)blas_integer(run, "n", 0);
    const int lda = (int)blas_integer(run, "lda", 1), ldc = (int)blas_integer(run, "ldc", 1);
    const int64_t ldb = blas_integer(run, "ldb", 1);
    trmm *routine = (trmm *)blas_routine(name);
    const char *a = blas_place(run, "A"), *b = blas_place(run, "B");
    char *c = blas_place(run, "C");
    for (int64_t j = 0; c && j < n; j++) {
        if (b)
            memmove(c + (size_t)(j * ldc) * bytes, b + (size_t)(j * ldb) * bytes,
                    (size_t)m * bytes);
        else /* alpha is 0 */
            memset(c + (size_t)(j * ldc) * bytes, 0, (size_t)m * bytes);
    }
    if (routine && a && b && c)
        routine(blas_integer(run, "side", 0) == BLAS_LEFT ? "L" : "R",
                blas_integer(run, "uplo", 0) == BLAS_LOWER ? "L" : "U",
                &"NTC"[blas_integer(run, "trans", 0)], blas_integer(run, "diag", 0) ? "U" : "N", &m,
                &n, blas_place(run, "alpha"), a, &lda, c, &ldc);
}

/* ---- Rank-k updates of a triangle ---- */

struct update {
    int a_type, c_type, scale, beta_scale;
    bool hermitian;
    const void *a, *b;
    int64_t lda, ldb;
};

static double _Complex product(const struct blas_run *run, const struct update *update, int64_t i,
                               int64_t j)
{
    const bool plain = blas_integer(run, "trans", 0) == BLAS_OP_N;
    const int64_t k = blas_integer(run, "k", 0);
    double _Complex sum = 0;
    for (int64_t l = 0; l < k; l++) {
        double _Complex left = number_read(update->a_type, update->a,
                                           plain ? i + l * update->lda : l + i * update->lda);
        double _Complex right = number_read(update->a_type, update->b,
                                            plain ? j + l * update->ldb : l + j * update->ldb);
        if (update->hermitian && plain)
            right = conj(right);
        else if (update->hermitian)
            left = conj(left);
        sum += left * right;
    }
    return sum;
}

static void update_triangle(const struct blas_run *run, const struct update *update)
{
    const int64_t n = blas_integer(run, "n", 0), ldc = blas_integer(run, "ldc", 1);
    const bool lower = blas_integer(run, "uplo", 0) == BLAS_LOWER;
    const double _Complex alpha = factor(run, "alpha", update->scale);
    const double _Complex beta = factor(run, "beta", update->beta_scale);
    void *c = blas_place(run, "C");
    for (int64_t j = 0; c && j < n; j++)
        for (int64_t i = lower ? j : 0; lower ? i < n : i <= j; i++) {
            double _Complex value =
                update->a && update->b && alpha != 0 ? alpha * product(run, update, i, j) : 0;
            if (beta != 0)
                value += beta * number_read(update->c_type, c, i + j * ldc);
            if (update->hermitian && i == j)
                value = creal(value);
            number_write(update->c_type, c, i + j * ldc, value);
        }
}

/* syrkx, herkx: B has A's shape; beta of herkx is real. */
static void run_update_by_two(const struct blas_run *run)
{
    const int type = blas_type(run, "");
    const bool hermitian = strstr(run->name, "herkx") != NULL;
    const int real = type == NUMBER_C64F ? NUMBER_64F : NUMBER_32F;
    const struct update update = {type,
                                  type,
                                  type,
                                  hermitian ? real : type,
                                  hermitian,
                                  blas_place(run, "A"),
                                  blas_place(run, "B"),
                                  blas_integer(run, "lda", 1),
                                  blas_integer(run, "ldb", 1)};
    update_triangle(run, &update);
}

/* cublasCsyrkEx, cublasCherkEx and their 3m forms. */
static void run_update_of_types(const struct blas_run *run)
{
    const bool hermitian = strstr(run->name, "herk") != NULL;
    const int scale = hermitian ? NUMBER_32F : NUMBER_C32F;
    const struct update update = {blas_type(run, "Atype"),
                                  blas_type(run, "Ctype"),
                                  scale,
                                  scale,
                                  hermitian,
                                  blas_place(run, "A"),
                                  blas_place(run, "A"),
                                  blas_integer(run, "lda", 1),
                                  blas_integer(run, "lda", 1)};
    update_triangle(run, &update);
}

bool blas_matrix(const struct blas_run *run)
{
    static const struct {
        const char *part;
        void (*run)(const struct blas_run *run);
    } routines[] = {
        {"geam", run_add},
        {"dgmm", run_diagonal},
        {"trmm", run_triangular},
        {"syrkx", run_update_by_two},
        {"herkx", run_update_by_two},
        {"syrkex", run_update_of_types},
        {"herkex", run_update_of_types},
        {"syrk3mex", run_update_of_types},
        {"herk3mex", run_update_of_types},
    };
    for (size_t i = 0; i < sizeof routines / sizeof *routines; i++)
        if (strcmp(run->name + 1, routines[i].part) == 0) {
            routines[i].run(run);
            return true;
        }
    return false;
}
