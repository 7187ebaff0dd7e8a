/* Products and transformations of cuBLASLt: D = epilogue(alpha op(A) op(B) + beta C). */
#include "runtime/device/library/cpu.h"
#include "runtime/device/library/lt.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct matmul_job {
    struct lt_product product;
    struct lt_layout a, b, c, d;
    uint64_t factors[2], a_data, b_data, c_data, d_data, workspace, workspace_bytes;
    _Alignas(16) unsigned char values[2][16]; /* of factors on the host */
};

struct transform_job {
    struct lt_transform transform;
    struct lt_layout a, b, c;
    uint64_t factors[2], a_data, b_data, c_data;
    _Alignas(16) unsigned char values[2][16];
};

/* ---- Checks ---- */

static bool layout_is_plain(const struct lt_layout *layout)
{
    return number_bytes((int)layout->type) && layout->plane == 0 && layout->batch_mode == 0 &&
           (layout->order == LT_COLUMNS || layout->order == LT_ROWS);
}

static bool layout_is_valid(const struct lt_layout *layout)
{
    const uint64_t inner = layout->order == LT_ROWS ? layout->columns : layout->rows;
    return layout->rows && layout->columns && layout->batches >= 1 && layout->leading > 0 &&
           (uint64_t)layout->leading >= inner;
}

/* A conjugated operand whose rows come first would need a routine that there is not. */
static bool operand_is_known(const struct lt_layout *layout, int operation)
{
    return !(layout->order == LT_ROWS && operation == OPERATION_C &&
             number_is_complex((int)layout->type));
}

static bool epilogue_is_known(uint32_t epilogue)
{
    const uint32_t activation = epilogue & (LT_RELU | LT_GELU), rest = epilogue & ~activation;
    if (activation == (LT_RELU | LT_GELU))
        return false;
    if (activation)
        return !(rest & ~(uint32_t)(LT_BIAS | LT_AUXILIARY));
    switch (rest) {
    case LT_DEFAULT:
    case LT_BIAS:
    case LT_GRADIENT_A:
    case LT_GRADIENT_B:
    case LT_AUXILIARY | LT_RELU_GRADIENT:
    case LT_AUXILIARY | LT_RELU_GRADIENT | LT_BIAS_GRADIENT:
    case LT_AUXILIARY | LT_GELU_GRADIENT:
    case LT_AUXILIARY | LT_GELU_GRADIENT | LT_BIAS_GRADIENT:
        return true;
    default:
        return false;
    }
}

/* "Requires setting CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD", for bits a multiple of 128. */
static bool auxiliary_is_valid(const struct lt_product *product, const struct lt_layout *d)
{
    const bool bits = product->epilogue & (LT_RELU | LT_RELU_GRADIENT);
    return !(product->epilogue & LT_AUXILIARY) ||
           (product->auxiliary && product->auxiliary_leading >= (int64_t)d->rows &&
            (!bits || product->auxiliary_leading % 128 == 0));
}

static bool product_is_known(const struct lt_product *product)
{
    bool known = number_bytes(product->scale_type) && product->operations[2] == OPERATION_N &&
                 product->fill_mode == 2 && !product->largest &&
                 (product->bias_type < 0 || number_bytes(product->bias_type));
    for (int i = 0; i < 4; i++)
        known &= product->scale_modes[i] == 0;
    return known;
}

static uint64_t rows_of(const struct lt_layout *layout, int operation)
{
    return operation == OPERATION_N ? layout->rows : layout->columns;
}

static uint64_t columns_of(const struct lt_layout *layout, int operation)
{
    return operation == OPERATION_N ? layout->columns : layout->rows;
}

static bool sizes_match(const struct lt_product *product, const struct lt_layout *a,
                        const struct lt_layout *b, const struct lt_layout *c,
                        const struct lt_layout *d)
{
    const int *operations = product->operations;
    return rows_of(a, operations[0]) == d->rows && columns_of(b, operations[1]) == d->columns &&
           columns_of(a, operations[0]) == rows_of(b, operations[1]) && c->rows == d->rows &&
           c->columns == d->columns;
}

int lt_check(const struct lt_product *product, const struct lt_layout *a, const struct lt_layout *b,
             const struct lt_layout *c, const struct lt_layout *d)
{
    const char *why = NULL;
    if (!layout_is_plain(a) || !layout_is_plain(b) || !layout_is_plain(c) || !layout_is_plain(d))
        why = "a product of cuBLASLt with this type or order of elements";
    else if (!epilogue_is_known(product->epilogue))
        why = "an epilogue of cuBLASLt other than bias, ReLU, GELU and their gradients";
    else if (product->epilogue & LT_AUXILIARY && d->order != LT_COLUMNS)
        why = "an auxiliary matrix of cuBLASLt whose rows come first";
    else if (!product_is_known(product) || !operand_is_known(a, product->operations[0]) ||
             !operand_is_known(b, product->operations[1]))
        why = "a product of cuBLASLt with these attributes";
    if (why) {
        library_lacks(why);
        return BLAS_NOT_SUPPORTED;
    }
    /* NVIDIA's library has sums of A where it is not transposed, and of B where it is. */
    if ((product->epilogue & LT_GRADIENT_A && product->operations[0] != OPERATION_N) ||
        (product->epilogue & LT_GRADIENT_B && product->operations[1] == OPERATION_N))
        return BLAS_NOT_SUPPORTED;
    return layout_is_valid(a) && layout_is_valid(b) && layout_is_valid(c) && layout_is_valid(d) &&
                   auxiliary_is_valid(product, d) && sizes_match(product, a, b, c, d)
               ? BLAS_SUCCESS
               : BLAS_INVALID_VALUE;
}

/* ---- Memory ---- */

/* Where a matrix is, all batches of it; NULL: it is not the device's. */
static char *place(struct device_native *native, const struct lt_layout *layout, uint64_t data,
                   enum device_native_access access)
{
    const uint64_t bytes = number_bytes((int)layout->type);
    const bool by_rows = layout->order == LT_ROWS;
    const uint64_t inner = by_rows ? layout->columns : layout->rows;
    const uint64_t outer = by_rows ? layout->rows : layout->columns;
    char *first = NULL;
    for (int i = 0; i < layout->batches; i++) {
        char *found =
            device_native_runs(native, data + (uint64_t)(i * layout->step) * bytes, inner * bytes,
                               outer, layout->leading * (int64_t)bytes, access);
        if (!found)
            return NULL;
        first = first ? first : found;
    }
    return first;
}

static char *batch_of(char *data, const struct lt_layout *layout, int batch)
{
    return data + batch * (layout->batches > 1 ? layout->step : 0) *
                      (int64_t)number_bytes((int)layout->type);
}

static int64_t element(const struct lt_layout *layout, uint64_t row, uint64_t column)
{
    return layout->order == LT_ROWS ? (int64_t)row * layout->leading + (int64_t)column
                                    : (int64_t)column * layout->leading + (int64_t)row;
}

/* An operand of BLAS: a matrix whose rows come first is a transposed one. */
static struct operand operand(const struct lt_layout *layout, void *data, int operation)
{
    if (layout->order == LT_ROWS)
        operation = operation == OPERATION_N ? OPERATION_T : OPERATION_N;
    return (struct operand){data, (int)layout->type, layout->leading, operation};
}

/* ---- Products ---- */

struct epilogue {
    uint32_t kind;
    const char *alphas; /* one for each row, or NULL */
    const char *bias;   /* or NULL */
    int bias_type, scale_type;
    int64_t bias_step, alpha_step;
    char *auxiliary; /* bits of ReLU, numbers of GELU; or NULL */
    int auxiliary_type;
    int64_t auxiliary_leading, auxiliary_step;
    char *gradient; /* of the bias, or NULL */
    double _Complex beta;
    double scale;
};

/* GELU by tanh. */
static double activate(uint32_t kind, double x)
{
    if (kind & LT_RELU)
        return x > 0 ? x : 0;
    if (kind & LT_GELU)
        return 0.5 * x * (1 + tanh(0.7978845608028654 * (x + 0.044715 * x * x * x)));
    return x;
}

static double gelu_gradient(double x)
{
    const double slope = 0.7978845608028654, bend = 0.044715;
    const double t = tanh(slope * (x + bend * x * x * x));
    return 0.5 * (1 + t) + 0.5 * x * (1 - t * t) * slope * (1 + 3 * bend * x * x);
}

/* ReLU's auxiliary has a bit for each number, which is set if the number was above 0. */
static double finish_relu(const struct epilogue *by, int64_t at, double value)
{
    char *byte = by->auxiliary + at / 8;
    const int bit = 1 << at % 8;
    if (by->kind & LT_RELU_GRADIENT)
        return *byte & bit ? value : 0;
    *byte = (char)(value > 0 ? *byte | bit : *byte & ~bit);
    return activate(by->kind, value);
}

static double finish_gelu(const struct epilogue *by, int64_t at, double value)
{
    if (by->kind & LT_GELU_GRADIENT)
        return value * gelu_gradient(creal(number_read(by->auxiliary_type, by->auxiliary, at)));
    number_write(by->auxiliary_type, by->auxiliary, at, value);
    return activate(by->kind, value);
}

/* An activation or its gradient, of the element at (i, j). */
static double _Complex finish_element(const struct epilogue *by, uint64_t i, uint64_t j, int batch,
                                      double _Complex value)
{
    if (!(by->kind & (LT_RELU | LT_GELU | LT_AUXILIARY)))
        return value;
    if (!by->auxiliary)
        return activate(by->kind, creal(value));
    const int64_t at = (int64_t)i + (int64_t)j * by->auxiliary_leading + batch * by->auxiliary_step;
    return by->kind & (LT_RELU | LT_RELU_GRADIENT) ? finish_relu(by, at, creal(value))
                                                   : finish_gelu(by, at, creal(value));
}

/* Row by row, so that a row's sum is at hand. */
static void finish(const struct matmul_job *job, const struct epilogue *by, const void *products,
                   int type, char *c, char *d, int batch)
{
    for (uint64_t i = 0; i < job->d.rows; i++) {
        double _Complex sum = 0;
        for (uint64_t j = 0; j < job->d.columns; j++) {
            double _Complex value = number_read(type, products, (int64_t)(i + j * job->d.rows));
            if (by->alphas)
                value *=
                    number_read(by->scale_type, by->alphas, (int64_t)i + batch * by->alpha_step);
            if (c)
                value += by->beta * number_read((int)job->c.type, c, element(&job->c, i, j));
            if (by->bias)
                value += number_read(by->bias_type, by->bias, (int64_t)i + batch * by->bias_step);
            value = finish_element(by, i, j, batch, value);
            sum += value;
            number_write((int)job->d.type, d, element(&job->d, i, j), by->scale * value);
        }
        if (by->kind & LT_BIAS_GRADIENT)
            number_write(by->bias_type, by->gradient, (int64_t)i + batch * by->bias_step, sum);
    }
}

/* BGRADA and BGRADB: sums of an operand along k. */
static void sum_operand(const struct epilogue *by, const struct lt_layout *layout, const char *data,
                        bool along_columns, int batch)
{
    const uint64_t lines = along_columns ? layout->rows : layout->columns;
    const uint64_t length = along_columns ? layout->columns : layout->rows;
    for (uint64_t i = 0; i < lines; i++) {
        double _Complex sum = 0;
        for (uint64_t k = 0; k < length; k++)
            sum += number_read((int)layout->type, data,
                               along_columns ? element(layout, i, k) : element(layout, k, i));
        number_write(by->bias_type, by->gradient, (int64_t)i + batch * by->bias_step, sum);
    }
}

/* A factor's value; of a vector of them 1. */
static double _Complex factor(struct device_native *native, const struct matmul_job *job, int which)
{
    const int mode = job->product.pointer_mode, type = job->product.scale_type;
    const void *value = job->values[which];
    if (mode == LT_VECTOR_BETA_ZERO && which == 1)
        return 0;
    if (mode >= LT_VECTOR && which == 0)
        return 1;
    if (mode == LT_DEVICE || mode == LT_VECTOR)
        value = device_native_memory(native, job->factors[which], number_bytes(type),
                                     DEVICE_NATIVE_READ);
    return value ? number_read(type, value, 0) : 0;
}

/* The product of the factors that belong to operands, such as those of 8-bit numbers. */
static double scales(struct device_native *native, const struct matmul_job *job, int first,
                     int last)
{
    double product = 1;
    for (int i = first; i <= last; i++) {
        const float *scale =
            job->product.scales[i]
                ? device_native_memory(native, job->product.scales[i], 4, DEVICE_NATIVE_READ)
                : NULL;
        product *= scale ? (double)*scale : 1;
    }
    return product;
}

/* Gradients of a bias, and what activations leave. */
static bool gradients_find(struct device_native *native, const struct matmul_job *job,
                           struct epilogue *by)
{
    const struct lt_product *product = &job->product;
    const uint32_t gradients = LT_BIAS_GRADIENT | LT_GRADIENT_A | LT_GRADIENT_B;
    const uint64_t bytes = number_bytes(by->bias_type);
    const uint64_t lines = by->kind & LT_GRADIENT_B ? job->d.columns : job->d.rows;
    if (by->kind & gradients)
        by->gradient = device_native_runs(native, product->bias, lines * bytes,
                                          product->bias_step ? (uint64_t)job->d.batches : 1,
                                          product->bias_step * (int64_t)bytes, DEVICE_NATIVE_WRITE);
    if (!(by->kind & LT_AUXILIARY))
        return by->gradient || !(by->kind & gradients);
    by->auxiliary_type = product->auxiliary_type < 0 ? (int)job->d.type : product->auxiliary_type;
    by->auxiliary_leading = product->auxiliary_leading;
    by->auxiliary_step = product->auxiliary_step;
    const bool bits = by->kind & (LT_RELU | LT_RELU_GRADIENT);
    const int64_t each = bits ? 8 : 1, size = bits ? 1 : (int64_t)number_bytes(by->auxiliary_type);
    for (int i = job->d.batches - 1; i >= 0; i--) {
        by->auxiliary = device_native_runs(
            native, product->auxiliary + (uint64_t)(i * by->auxiliary_step / each * size),
            ((job->d.rows + (uint64_t)each - 1) / (uint64_t)each) * (uint64_t)size, job->d.columns,
            by->auxiliary_leading / each * size, DEVICE_NATIVE_WRITE);
        if (!by->auxiliary)
            return false;
    }
    return by->gradient || !(by->kind & gradients);
}

static bool epilogue_find(struct device_native *native, const struct matmul_job *job,
                          struct epilogue *by)
{
    const struct lt_product *product = &job->product;
    by->kind = product->epilogue;
    by->scale_type = product->scale_type;
    by->bias_type = product->bias_type < 0 ? (int)job->d.type : product->bias_type;
    by->bias_step = product->bias_step;
    by->alpha_step = product->alpha_step;
    by->beta = factor(native, job, 1) * scales(native, job, 2, 2);
    by->scale = scales(native, job, 3, 3);
    if (product->pointer_mode >= LT_VECTOR)
        by->alphas =
            device_native_memory(native, job->factors[0],
                                 job->d.rows * number_bytes(by->scale_type), DEVICE_NATIVE_READ);
    if (product->epilogue & LT_BIAS)
        by->bias = device_native_runs(
            native, product->bias, job->d.rows * number_bytes(by->bias_type),
            product->bias_step ? (uint64_t)job->d.batches : 1,
            product->bias_step * (int64_t)number_bytes(by->bias_type), DEVICE_NATIVE_READ);
    return (product->pointer_mode < LT_VECTOR || by->alphas) &&
           (!(product->epilogue & LT_BIAS) || by->bias) && gradients_find(native, job, by);
}

static void run_matmul(struct device_native *native, const void *data)
{
    const struct matmul_job *job = data;
    const struct lt_product *product = &job->product;
    const int type = multiply_type((int)job->a.type, (int)job->b.type, (int)job->d.type);
    struct epilogue by = {0};
    const double _Complex alpha = factor(native, job, 0) * scales(native, job, 0, 1);
    const bool reads = alpha != 0 || product->epilogue & (LT_GRADIENT_A | LT_GRADIENT_B);
    if (!epilogue_find(native, job, &by))
        return;
    char *a = reads ? place(native, &job->a, job->a_data, DEVICE_NATIVE_READ) : NULL;
    char *b = reads ? place(native, &job->b, job->b_data, DEVICE_NATIVE_READ) : NULL;
    char *c = by.beta != 0 ? place(native, &job->c, job->c_data, DEVICE_NATIVE_READ) : NULL;
    char *d = place(native, &job->d, job->d_data, DEVICE_NATIVE_WRITE);
    if ((reads && (!a || !b)) || (by.beta != 0 && !c) || !d)
        return;
    void *products = calloc(job->d.rows * job->d.columns, number_bytes(type));
    const struct operand result = {products, type, (int64_t)job->d.rows, OPERATION_N};
    const int64_t inner = (int64_t)columns_of(&job->a, product->operations[0]);
    bool whole = products != NULL;
    for (int i = 0; whole && i < job->d.batches; i++) {
        const struct operand left =
            operand(&job->a, a ? batch_of(a, &job->a, i) : NULL, product->operations[0]);
        const struct operand right =
            operand(&job->b, b ? batch_of(b, &job->b, i) : NULL, product->operations[1]);
        whole = multiply((int64_t)job->d.rows, (int64_t)job->d.columns, reads ? inner : 0, alpha,
                         &left, &right, 0, &result);
        if (whole)
            finish(job, &by, products, type, c ? batch_of(c, &job->c, i) : NULL,
                   batch_of(d, &job->d, i), i);
        if (whole && a && by.kind & LT_GRADIENT_A)
            sum_operand(&by, &job->a, batch_of(a, &job->a, i),
                        product->operations[0] == OPERATION_N, i);
        if (whole && b && by.kind & LT_GRADIENT_B)
            sum_operand(&by, &job->b, batch_of(b, &job->b, i),
                        product->operations[1] != OPERATION_N, i);
    }
    free(products);
    if (!whole)
        device_native_memory(native, 0, 1, DEVICE_NATIVE_WRITE);
}

static bool factors_copy(const void *alpha, const void *beta, int mode, size_t bytes,
                         unsigned char values[2][16], uint64_t factors[2])
{
    const bool alpha_on_host = mode == LT_HOST;
    const bool beta_on_host = mode == LT_HOST || mode == LT_VECTOR_BETA_HOST;
    factors[0] = (uintptr_t)alpha;
    factors[1] = (uintptr_t)beta;
    if (!alpha || (!beta && mode != LT_VECTOR_BETA_ZERO) || bytes > 16)
        return false;
    if (alpha_on_host)
        memcpy(values[0], alpha, bytes);
    if (beta_on_host)
        memcpy(values[1], beta, bytes);
    return true;
}

LIBRARY_EXPORT int cublasLtMatmul(void *handle, const struct lt_product *product, const void *alpha,
                                  const void *a, const struct lt_layout *a_layout, const void *b,
                                  const struct lt_layout *b_layout, const void *beta, const void *c,
                                  const struct lt_layout *c_layout, void *d,
                                  const struct lt_layout *d_layout, const void *algorithm,
                                  void *workspace, size_t workspace_bytes, library_stream stream);
LIBRARY_EXPORT int cublasLtMatmul(void *handle, const struct lt_product *product, const void *alpha,
                                  const void *a, const struct lt_layout *a_layout, const void *b,
                                  const struct lt_layout *b_layout, const void *beta, const void *c,
                                  const struct lt_layout *c_layout, void *d,
                                  const struct lt_layout *d_layout, const void *algorithm,
                                  void *workspace, size_t workspace_bytes, library_stream stream)
{
    static struct library_kernel kernel = {.name = "cublasLtMatmul", .run = run_matmul};
    (void)algorithm;
    if (!handle || !cpu_open(CPU_OPENBLAS, "cuBLASLt"))
        return BLAS_NOT_INITIALIZED;
    if (!product || !a_layout || !b_layout || !d_layout || !a || !b || !d)
        return BLAS_INVALID_VALUE;
    struct matmul_job job = {*product,
                             *a_layout,
                             *b_layout,
                             c_layout ? *c_layout : *d_layout,
                             *d_layout,
                             {0},
                             (uintptr_t)a,
                             (uintptr_t)b,
                             (uintptr_t)c,
                             (uintptr_t)d,
                             (uintptr_t)workspace,
                             workspace_bytes,
                             {{0}}};
    const int status = lt_check(product, &job.a, &job.b, &job.c, &job.d);
    if (status)
        return status;
    if (!factors_copy(alpha, beta, product->pointer_mode, number_bytes(product->scale_type),
                      job.values, job.factors))
        return BLAS_INVALID_VALUE;
    return library_launch(&kernel, stream, &job, sizeof job) ? BLAS_SUCCESS : BLAS_EXECUTION_FAILED;
}

/* ---- Transformations: C = alpha op(A) + beta op(B) ---- */

static double _Complex transformed(const struct lt_layout *layout, const char *data, int operation,
                                   uint64_t i, uint64_t j)
{
    const int64_t at = operation == OPERATION_N ? element(layout, i, j) : element(layout, j, i);
    const double _Complex value = number_read((int)layout->type, data, at);
    return operation == OPERATION_C ? conj(value) : value;
}

static double _Complex transform_factor(struct device_native *native,
                                        const struct transform_job *job, int which)
{
    const int type = job->transform.scale_type;
    const void *value = job->values[which];
    if (job->transform.pointer_mode != LT_HOST)
        value = device_native_memory(native, job->factors[which], number_bytes(type),
                                     DEVICE_NATIVE_READ);
    return value ? number_read(type, value, 0) : 0;
}

static void run_transform(struct device_native *native, const void *data)
{
    const struct transform_job *job = data;
    const double _Complex alpha = transform_factor(native, job, 0);
    const double _Complex beta = job->b_data ? transform_factor(native, job, 1) : 0;
    char *a = alpha != 0 ? place(native, &job->a, job->a_data, DEVICE_NATIVE_READ) : NULL;
    char *b = beta != 0 ? place(native, &job->b, job->b_data, DEVICE_NATIVE_READ) : NULL;
    char *c = place(native, &job->c, job->c_data, DEVICE_NATIVE_WRITE);
    if ((alpha != 0 && !a) || (beta != 0 && !b) || !c)
        return;
    const int *operations = job->transform.operations;
    for (int batch = 0; batch < job->c.batches; batch++)
        for (uint64_t j = 0; j < job->c.columns; j++)
            for (uint64_t i = 0; i < job->c.rows; i++) {
                double _Complex value = 0;
                if (a)
                    value += alpha *
                             transformed(&job->a, batch_of(a, &job->a, batch), operations[0], i, j);
                if (b)
                    value += beta *
                             transformed(&job->b, batch_of(b, &job->b, batch), operations[1], i, j);
                number_write((int)job->c.type, batch_of(c, &job->c, batch), element(&job->c, i, j),
                             value);
            }
}

LIBRARY_EXPORT int cublasLtMatrixTransform(void *handle, const struct lt_transform *transform,
                                           const void *alpha, const void *a,
                                           const struct lt_layout *a_layout, const void *beta,
                                           const void *b, const struct lt_layout *b_layout, void *c,
                                           const struct lt_layout *c_layout, library_stream stream);
LIBRARY_EXPORT int cublasLtMatrixTransform(void *handle, const struct lt_transform *transform,
                                           const void *alpha, const void *a,
                                           const struct lt_layout *a_layout, const void *beta,
                                           const void *b, const struct lt_layout *b_layout, void *c,
                                           const struct lt_layout *c_layout, library_stream stream)
{
    static struct library_kernel kernel = {
        .name = "cublasLtMatrixTransform", .run = run_transform, .traced = true};
    if (!handle)
        return BLAS_NOT_INITIALIZED;
    if (!transform || !a || !a_layout || !c || !c_layout || (b && !b_layout) || !alpha)
        return BLAS_INVALID_VALUE;
    struct transform_job job = {.transform = *transform,
                                .a = *a_layout,
                                .b = b ? *b_layout : *a_layout,
                                .c = *c_layout,
                                .a_data = (uintptr_t)a,
                                .b_data = (uintptr_t)b,
                                .c_data = (uintptr_t)c};
    if (!layout_is_plain(&job.a) || !layout_is_plain(&job.b) || !layout_is_plain(&job.c) ||
        !number_bytes(transform->scale_type)) {
        library_lacks("a transformation of cuBLASLt with this type or order of elements");
        return BLAS_NOT_SUPPORTED;
    }
    if (rows_of(&job.a, transform->operations[0]) != job.c.rows ||
        columns_of(&job.a, transform->operations[0]) != job.c.columns ||
        (b && (rows_of(&job.b, transform->operations[1]) != job.c.rows ||
               columns_of(&job.b, transform->operations[1]) != job.c.columns)) ||
        !factors_copy(alpha, beta ? beta : alpha, transform->pointer_mode,
                      number_bytes(transform->scale_type), job.values, job.factors))
        return BLAS_INVALID_VALUE;
    return library_launch(&kernel, stream, &job, sizeof job) ? BLAS_SUCCESS : BLAS_EXECUTION_FAILED;
}
