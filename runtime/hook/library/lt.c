/* cuBLASLt. Layouts of matrices, and factors and epilogues of products, are in descriptors, which
 * the library itself can read. The numbers are those of cublasLt.h. */
#include "runtime/hook/library/touch.h"
#include "csan/base/hash.h"

#include <pthread.h>
#include <stddef.h>
#include <string.h>

/* cublasLtMatrixLayoutAttribute_t, cublasLtMatmulDescAttributes_t */
enum layout_attribute { TYPE, ORDER, ROWS, COLUMNS, LEADING, BATCHES, STEP, PLANE, BATCH_MODE };
enum product_attribute {
    SCALE_TYPE = 1,
    POINTER_MODE = 2,
    EPILOGUE = 7,
    BIAS_POINTER = 8,
    BIAS_STEP = 10,
    AUXILIARY_POINTER = 11,
    AUXILIARY_LEADING = 12,
    AUXILIARY_STEP = 13,
    FIRST_SCALE_POINTER = 17, /* those of A, B, C and D */
    LAST_SCALE_POINTER = 20,
    AUXILIARY_TYPE = 22,
    BIAS_TYPE = 26,
    FIRST_SCALE_MODE = 31
};
enum { ORDER_COLUMNS = 0, ORDER_ROWS = 1 };
enum {
    MODE_UNKNOWN = -1,
    MODE_HOST,
    MODE_DEVICE,
    MODE_VECTOR,
    MODE_VECTOR_BETA_ZERO,
    MODE_VECTOR_BETA_HOST
};
enum {
    EPILOGUE_RELU = 2,
    EPILOGUE_BIAS = 4,
    EPILOGUE_RELU_GRADIENT = 8,
    EPILOGUE_BIAS_GRADIENT = 16,
    EPILOGUE_GELU_GRADIENT = 64,
    EPILOGUE_AUXILIARY = 128,
    EPILOGUE_GRADIENT_A = 256,
    EPILOGUE_GRADIENT_B = 512
};

/* False: the library does not return the attribute, for example because it does not know it. */
static bool attribute(const struct touch *call, enum library_question question, uint64_t descriptor,
                      int number, void *value, size_t bytes)
{
    size_t written = 0;
    int (*ask)(void *descriptor, int number, void *value, size_t bytes, size_t *written) =
        (int (*)(void *, int, void *, size_t, size_t *))library_ask(call->home, question);
    return ask && descriptor &&
           ask((void *)(uintptr_t)descriptor, number, value, bytes, &written) == 0;
}

static int32_t product_number(const struct touch *call, uint64_t product,
                              enum product_attribute number, int32_t otherwise)
{
    int32_t value = otherwise;
    return attribute(call, LIBRARY_LT_PRODUCT, product, number, &value, sizeof value) ? value
                                                                                      : otherwise;
}

static uint64_t product_pointer(const struct touch *call, uint64_t product,
                                enum product_attribute number)
{
    uint64_t value = 0;
    return attribute(call, LIBRARY_LT_PRODUCT, product, number, &value, sizeof value) ? value : 0;
}

/* ---- Matrices ---- */

struct layout {
    uint32_t type;
    int32_t order, batches;
    uint64_t rows, columns;
    int64_t leading, step;
};

/* False: it is of a kind whose bytes are not known. */
static bool layout_ask(const struct touch *call, uint64_t descriptor, struct layout *to)
{
    int64_t plane = 0;
    uint32_t batch_mode = 0;
    const struct {
        enum layout_attribute number;
        void *value;
        size_t bytes;
    } wanted[] = {
        {TYPE, &to->type, sizeof to->type},          {ORDER, &to->order, sizeof to->order},
        {ROWS, &to->rows, sizeof to->rows},          {COLUMNS, &to->columns, sizeof to->columns},
        {LEADING, &to->leading, sizeof to->leading}, {BATCHES, &to->batches, sizeof to->batches},
        {STEP, &to->step, sizeof to->step},          {PLANE, &plane, sizeof plane}};
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++)
        if (!attribute(call, LIBRARY_LT_LAYOUT, descriptor, wanted[i].number, wanted[i].value,
                       wanted[i].bytes))
            return false;
    /* Libraries of CUDA 12 do not know it. */
    attribute(call, LIBRARY_LT_LAYOUT, descriptor, BATCH_MODE, &batch_mode, sizeof batch_mode);
    return plane == 0 && batch_mode == 0 &&
           (to->order == ORDER_COLUMNS || to->order == ORDER_ROWS) &&
           touch_data(call, to->type).bytes > 0;
}

/* What the library answered for descriptors of matrices. Nine calls ask for one, a product has four
 * and frameworks make new ones for each product. A descriptor is its 64 bytes (cublasLt.h,
 * cublasLtMatrixLayoutOpaque_t; cuBLAS documentation, "cublasLtMatrixLayoutInit()"): equal bytes
 * are equal matrices. */
enum { DESCRIPTOR_WORDS = 8, ANSWERS = 64 };
struct descriptor {
    uint64_t words[DESCRIPTOR_WORDS];
};
static struct {
    pthread_mutex_t mutex; /* only ever tried: in a forked child it may stay taken */
    struct {
        const struct library_home *home; /* NULL: there is none */
        struct descriptor descriptor;
        struct layout layout;
    } each[ANSWERS];
} answers = {.mutex = PTHREAD_MUTEX_INITIALIZER};

static size_t answer_place(const struct descriptor *descriptor)
{
    return hash_memory(descriptor, sizeof *descriptor) % ANSWERS;
}

static bool answer_recall(const struct library_home *home, const struct descriptor *descriptor,
                          struct layout *to)
{
    const size_t place = answer_place(descriptor);
    if (pthread_mutex_trylock(&answers.mutex) != 0)
        return false;
    const bool found = answers.each[place].home == home &&
                       memcmp(&answers.each[place].descriptor, descriptor, sizeof *descriptor) == 0;
    if (found)
        *to = answers.each[place].layout;
    pthread_mutex_unlock(&answers.mutex);
    return found;
}

static void answer_keep(const struct library_home *home, const struct descriptor *descriptor,
                        const struct layout *layout)
{
    const size_t place = answer_place(descriptor);
    if (pthread_mutex_trylock(&answers.mutex) != 0)
        return;
    answers.each[place].home = home;
    answers.each[place].descriptor = *descriptor;
    answers.each[place].layout = *layout;
    pthread_mutex_unlock(&answers.mutex);
}

/* False: it is of a kind whose bytes are not known. */
static bool layout_find(const struct touch *call, uint64_t address, struct layout *to)
{
    struct descriptor descriptor;
    if (!address)
        return false;
    memcpy(&descriptor, (const void *)(uintptr_t)address, sizeof descriptor);
    if (answer_recall(call->home, &descriptor, to))
        return true;
    if (!layout_ask(call, address, to))
        return false;
    answer_keep(call->home, &descriptor, to);
    return true;
}

void touch_lt_matrix(struct touch *call, uint64_t base, uint64_t descriptor)
{
    struct layout layout = {0};
    if (!layout_find(call, descriptor, &layout)) {
        call->incomplete = true;
        return;
    }
    bool by_rows = layout.order == ORDER_ROWS;
    call->type = touch_data(call, layout.type);
    touch_matrices(call, base, (int64_t)(by_rows ? layout.columns : layout.rows),
                   (int64_t)(by_rows ? layout.rows : layout.columns), layout.leading, layout.step,
                   layout.batches);
}

/* ---- Factors ---- */

/* A call has one product, of which several of its arguments ask the same. */
static const struct touch_product *product_of(struct touch *call, uint64_t product)
{
    if (!call->product.asked)
        call->product = (struct touch_product){
            .asked = true,
            .pointer_mode = product_number(call, product, POINTER_MODE, MODE_UNKNOWN),
            .scale_type = product_number(call, product, SCALE_TYPE, 0),
            .epilogue = product_number(call, product, EPILOGUE, 1)};
    return &call->product;
}

static int32_t pointer_mode(struct touch *call, uint64_t product)
{
    return product_of(call, product)->pointer_mode;
}

static struct touch_type scale_type(struct touch *call, uint64_t product)
{
    return touch_data(call, product_of(call, product)->scale_type);
}

void touch_lt_alpha(struct touch *call, uint64_t alpha, uint64_t product, uint64_t target)
{
    struct layout layout = {0};
    int32_t mode = pointer_mode(call, product);
    call->type = scale_type(call, product);
    if (mode == MODE_DEVICE)
        touch_buffer(call, alpha, 1);
    else if (mode >= MODE_VECTOR && layout_find(call, target, &layout))
        touch_buffer(call, alpha, (int64_t)layout.rows);
}

void touch_lt_beta(struct touch *call, uint64_t beta, uint64_t product)
{
    call->type = scale_type(call, product);
    if (pointer_mode(call, product) == MODE_DEVICE)
        touch_buffer(call, beta, 1);
}

enum touch_when touch_lt_alpha_nonzero(struct touch *call, uint64_t alpha, uint64_t product)
{
    bool at_host = pointer_mode(call, product) == MODE_HOST;
    return at_host ? touch_value_nonzero(alpha, scale_type(call, product)) : TOUCH_MAYBE;
}

enum touch_when touch_lt_beta_nonzero(struct touch *call, uint64_t beta, uint64_t product)
{
    int32_t mode = pointer_mode(call, product);
    if (mode == MODE_VECTOR_BETA_ZERO)
        return TOUCH_NEVER;
    return mode == MODE_HOST || mode == MODE_VECTOR_BETA_HOST
               ? touch_value_nonzero(beta, scale_type(call, product))
               : TOUCH_MAYBE;
}

/* ---- What descriptors point to ---- */

/* A bias, or a gradient of one. */
static void touch_bias(struct touch *call, uint64_t product, const struct layout *target,
                       uint64_t elements)
{
    int64_t step = 0;
    const int32_t type = product_number(call, product, BIAS_TYPE, -1);
    attribute(call, LIBRARY_LT_PRODUCT, product, BIAS_STEP, &step, sizeof step);
    call->type = touch_data(call, type < 0 ? (int64_t)target->type : type);
    touch_vectors(call, product_pointer(call, product, BIAS_POINTER), (int64_t)elements, 1, step,
                  target->batches);
}

/* What an activation leaves for its gradient: the numbers that GELU got, or a bit for each number
 * of ReLU, where 8 elements of a column are a byte. */
static void touch_auxiliary(struct touch *call, uint64_t product, int32_t epilogue,
                            const struct layout *target)
{
    int64_t leading = 0, step = 0;
    const uint64_t base = product_pointer(call, product, AUXILIARY_POINTER);
    const int32_t type = product_number(call, product, AUXILIARY_TYPE, -1);
    const bool bits = epilogue & (EPILOGUE_RELU | EPILOGUE_RELU_GRADIENT);
    attribute(call, LIBRARY_LT_PRODUCT, product, AUXILIARY_LEADING, &leading, sizeof leading);
    attribute(call, LIBRARY_LT_PRODUCT, product, AUXILIARY_STEP, &step, sizeof step);
    if (!base || leading <= 0 || target->order != ORDER_COLUMNS) {
        call->incomplete = true;
        return;
    }
    const int64_t each = bits ? 8 : 1;
    call->type =
        bits ? touch_bytes(call, 1) : touch_data(call, type < 0 ? (int64_t)target->type : type);
    touch_matrices(call, base, ((int64_t)target->rows + each - 1) / each, (int64_t)target->columns,
                   leading / each, step / each, target->batches);
}

void touch_lt_results(struct touch *call, uint64_t product, uint64_t target)
{
    struct layout layout = {0};
    const int32_t epilogue = product_of(call, product)->epilogue;
    const int32_t gradients = EPILOGUE_RELU_GRADIENT | EPILOGUE_GELU_GRADIENT;
    if (epilogue == 1 || !layout_find(call, target, &layout))
        return;
    if (epilogue & EPILOGUE_AUXILIARY && !(epilogue & gradients))
        touch_auxiliary(call, product, epilogue, &layout);
    if (epilogue & (EPILOGUE_BIAS_GRADIENT | EPILOGUE_GRADIENT_A))
        touch_bias(call, product, &layout, layout.rows);
    if (epilogue & EPILOGUE_GRADIENT_B)
        touch_bias(call, product, &layout, layout.columns);
}

void touch_lt_additions(struct touch *call, uint64_t product, uint64_t target)
{
    struct layout layout = {0};
    int32_t epilogue = product_of(call, product)->epilogue;
    const bool found = epilogue != 1 && layout_find(call, target, &layout);
    if (found && epilogue & EPILOGUE_BIAS)
        touch_bias(call, product, &layout, layout.rows);
    if (found && epilogue & (EPILOGUE_RELU_GRADIENT | EPILOGUE_GELU_GRADIENT))
        touch_auxiliary(call, product, epilogue, &layout);
    for (int i = 0; i <= LAST_SCALE_POINTER - FIRST_SCALE_POINTER; i++) {
        uint64_t scale = product_pointer(call, product, FIRST_SCALE_POINTER + i);
        if (!scale)
            continue;
        call->type = touch_single(call);
        if (product_number(call, product, FIRST_SCALE_MODE + i, 0) == 0)
            touch_buffer(call, scale, 1);
        else
            call->incomplete = true; /* one for each block */
    }
}
