/* Products of matrices: gemm in all its forms, and what runs in batches. */
#include "runtime/device/library/blas.h"
#include "runtime/device/library/multiply.h"

#include <string.h>

/* ---- gemm's forms ---- */

/* The type of alpha and beta: see extent_scale. */
static int scale_type(const struct blas_run *run, int result)
{
    const int compute = (int)blas_integer(run, "computeType", -1);
    if (compute == -1) {
        const int type = number_of_letter(run->function->letter);
        const bool mixed = strncmp(run->name, "hs", 2) == 0 || strncmp(run->name, "ts", 2) == 0;
        return mixed ? NUMBER_32F : type;
    }
    const bool complex = number_is_complex(result);
    switch (compute) {
    case 64:
    case 65:
        return NUMBER_16F;
    case 70:
    case 71:
        return complex ? NUMBER_C64F : NUMBER_64F;
    case 72:
    case 73:
        return result == NUMBER_32I ? NUMBER_32I : NUMBER_32F;
    default:
        return complex ? NUMBER_C32F : NUMBER_32F;
    }
}

static double _Complex factor(const struct blas_run *run, const char *name, int type)
{
    const void *place = blas_place(run, name);
    return place ? number_read(type, place, 0) : 0;
}

static void out_of_memory(const struct blas_run *run)
{
    library_lacks_of(run->function->symbol, "found too little memory; the launch fails");
    device_native_memory(run->native, 0, 1, DEVICE_NATIVE_WRITE);
}

static void product_gemm(const struct blas_run *run)
{
    struct operand a = {NULL, blas_type(run, "Atype"), blas_integer(run, "lda", 1),
                        (int)blas_integer(run, "transa", 0)};
    struct operand b = {NULL, blas_type(run, "Btype"), blas_integer(run, "ldb", 1),
                        (int)blas_integer(run, "transb", 0)};
    struct operand c = {NULL, blas_type(run, "Ctype"), blas_integer(run, "ldc", 1), 0};
    const int64_t m = blas_integer(run, "m", 0), n = blas_integer(run, "n", 0);
    const int64_t batches = blas_integer(run, "batchCount", 1);
    const int scale = scale_type(run, c.type);
    const double _Complex alpha = factor(run, "alpha", scale), beta = factor(run, "beta", scale);
    for (int64_t i = 0; i < batches && m && n; i++) {
        const bool is_read = alpha != 0 && blas_integer(run, "k", 0) > 0;
        a.data = is_read ? blas_batch(run, "A", a.type, i) : NULL;
        b.data = is_read ? blas_batch(run, "B", b.type, i) : NULL;
        c.data = blas_batch(run, "C", c.type, i);
        if (!multiply(m, n, is_read ? blas_integer(run, "k", 0) : 0, alpha, &a, &b, beta, &c)) {
            out_of_memory(run);
            return;
        }
    }
}

/* ---- gemv in batches ---- */

/* The types of matrix, vector and result; HSS has a result of another type. */
static void types_of_gemv(const struct blas_run *run, int *type, int *result)
{
    *type = run->name[0] == 't' ? NUMBER_16BF : number_of_letter(run->function->letter);
    *result = run->name[1] == 's' && run->name[2] == 's' ? NUMBER_32F : *type;
}

/* One element of y at a time, in doubles. */
static void multiply_vector(const struct blas_run *run, int type, int result, int64_t batch)
{
    const int64_t m = blas_integer(run, "m", 0), n = blas_integer(run, "n", 0);
    const int64_t lda = blas_integer(run, "lda", 1);
    const int64_t incx = blas_integer(run, "incx", 1), incy = blas_integer(run, "incy", 1);
    const int operation = (int)blas_integer(run, "trans", 0);
    const int scale = scale_type(run, result);
    const double _Complex alpha = factor(run, "alpha", scale), beta = factor(run, "beta", scale);
    const int64_t rows = operation == BLAS_OP_N ? m : n, columns = operation == BLAS_OP_N ? n : m;
    const void *a = alpha != 0 ? blas_batch(run, "A", type, batch) : NULL;
    const void *x = alpha != 0 ? blas_batch(run, "x", type, batch) : NULL;
    void *y = blas_batch(run, "y", result, batch);
    for (int64_t i = 0; y && i < rows; i++) {
        double _Complex sum = 0;
        for (int64_t j = 0; a && x && j < columns; j++) {
            double _Complex value =
                number_read(type, a, operation == BLAS_OP_N ? i + j * lda : j + i * lda);
            value = operation == BLAS_OP_C ? conj(value) : value;
            sum += value * number_read(type, x, (incx < 0 ? j - columns + 1 : j) * incx);
        }
        const int64_t place = (incy < 0 ? i - rows + 1 : i) * incy;
        const double _Complex old = beta != 0 ? beta * number_read(result, y, place) : 0;
        number_write(result, y, place, alpha * sum + old);
    }
}

static void product_gemv(const struct blas_run *run)
{
    int type, result;
    types_of_gemv(run, &type, &result);
    for (int64_t i = 0; i < blas_integer(run, "batchCount", 1); i++)
        multiply_vector(run, type, result, i);
}

bool blas_product(const struct blas_run *run)
{
    if (strstr(run->name, "gemm"))
        product_gemm(run);
    else if (strstr(run->name, "gemv") && strstr(run->name, "batched"))
        product_gemv(run);
    else if (strstr(run->name, "trsmbatched")) {
        const char routine[] = {run->name[0], 't', 'r', 's', 'm', 0};
        for (int64_t i = 0; i < blas_integer(run, "batchCount", 0); i++)
            if (!blas_fortran(run, routine, i))
                return false;
    } else
        return false;
    return true;
}
