/* The shapes of library.table, for csan's own cuBLAS. See extent.h. */
#include "runtime/device/library/extent.h"
#include "runtime/device/library/number.h"
#include "runtime/hook/library/rules.h"

#include <string.h>

void extent_evaluate(struct extent *call)
{
    if (call->function->extents)
        call->function->extents(call);
}

/* ---- Arguments ---- */

int extent_argument(const struct extent_function *function, const char *name)
{
    for (int i = 0; function->arguments[i]; i++)
        if (strcmp(function->arguments[i], name) == 0)
            return i;
    return -1;
}

int64_t extent_integer(const struct extent_function *function, const uint64_t *arguments,
                       const char *name, int64_t otherwise)
{
    const int place = extent_argument(function, name);
    if (place < 0)
        return otherwise;
    return function->kinds[place] == '4' ? (int32_t)arguments[place] : (int64_t)arguments[place];
}

uint64_t extent_argument_pointer(const struct extent *call, unsigned place)
{
    return call->arguments[place];
}

int64_t extent_argument_integer(const struct extent *call, unsigned place)
{
    return (int32_t)call->arguments[place];
}

int64_t extent_argument_long(const struct extent *call, unsigned place)
{
    return (int64_t)call->arguments[place];
}

int64_t extent_argument_size(const struct extent *call, unsigned place)
{
    return call->function->wide ? extent_argument_long(call, place)
                                : extent_argument_integer(call, place);
}

/* ---- Accesses ---- */

bool extent_begin(struct extent *call, unsigned kind, unsigned argument, struct extent_type type,
                  enum extent_when when)
{
    call->kind = kind;
    call->argument = argument;
    call->type = type;
    return when != EXTENT_NEVER && type.bytes > 0;
}

/* `bytes` bytes, `count` times, `stride` bytes apart. */
static void add(struct extent *call, uint64_t base, int64_t bytes, int64_t count, int64_t stride)
{
    if (!call->native || bytes <= 0 || count <= 0)
        return;
    const enum device_native_access access =
        call->kind == CSAN_READ ? DEVICE_NATIVE_READ : DEVICE_NATIVE_WRITE;
    const bool dense = stride == bytes;
    void *place = device_native_runs(call->native, base, (uint64_t)(dense ? bytes * count : bytes),
                                     dense ? 1 : (uint64_t)count, stride, access);
    if (!place)
        call->wrong = true;
    else if (!call->places[call->argument])
        call->places[call->argument] = place;
}

static void require(struct extent *call, bool holds)
{
    if (!call->native && !holds)
        call->wrong = true;
}

/* ---- Shapes ---- */

static int64_t in_bytes(const struct extent *call, int64_t elements)
{
    int64_t bytes;
    return __builtin_mul_overflow(elements, (int64_t)call->type.bytes, &bytes) ? INT64_MAX : bytes;
}

void extent_buffer(struct extent *call, uint64_t base, int64_t n)
{
    add(call, base, in_bytes(call, n), 1, 0);
}

void extent_vector(struct extent *call, uint64_t base, int64_t n, int64_t increment)
{
    add(call, base, call->type.bytes, n, in_bytes(call, increment < 0 ? -increment : increment));
}

void extent_vectors(struct extent *call, uint64_t base, int64_t n, int64_t increment, int64_t step,
                    int64_t batches)
{
    for (int64_t i = 0; call->native && i < batches && !call->wrong; i++)
        extent_vector(call, base + (uint64_t)in_bytes(call, i * step), n, increment);
}

void extent_matrix(struct extent *call, uint64_t base, int64_t rows, int64_t columns,
                   int64_t leading)
{
    require(call, rows >= 0 && columns >= 0 && leading >= (rows > 1 ? rows : 1));
    add(call, base, in_bytes(call, rows), columns, in_bytes(call, leading));
}

void extent_matrices(struct extent *call, uint64_t base, int64_t rows, int64_t columns,
                     int64_t leading, int64_t step, int64_t batches)
{
    require(call, batches >= 0);
    if (!call->native)
        extent_matrix(call, base, rows, columns, leading);
    for (int64_t i = 0; call->native && i < batches && !call->wrong; i++)
        extent_matrix(call, base + (uint64_t)in_bytes(call, i * step), rows, columns, leading);
}

void extent_triangle(struct extent *call, uint64_t base, int64_t n, int64_t leading)
{
    extent_matrix(call, base, n, n, leading);
}

void extent_band(struct extent *call, uint64_t base, int64_t rows, int64_t columns, int64_t leading)
{
    extent_matrix(call, base, rows, columns, leading);
}

void extent_packed(struct extent *call, uint64_t base, int64_t n)
{
    extent_buffer(call, base, n * (n + 1) / 2);
}

/* ---- Arrays of addresses, on the device ---- */

void extent_addresses(struct extent *call, uint64_t array, int64_t batches)
{
    require(call, batches >= 0);
    call->type.bytes = sizeof(uint64_t);
    call->kind = CSAN_READ;
    extent_buffer(call, array, batches);
}

/* The array itself was the access before. Its argument keeps the array's place. */
static const uint64_t *addresses_of(const struct extent *call)
{
    return call->native && !call->wrong ? call->places[call->argument] : NULL;
}

void extent_vector_each(struct extent *call, uint64_t array, int64_t batches, int64_t n,
                        int64_t increment)
{
    const uint64_t *addresses = addresses_of(call);
    (void)array;
    for (int64_t i = 0; addresses && i < batches && !call->wrong; i++)
        extent_vector(call, addresses[i], n, increment);
}

void extent_matrix_each(struct extent *call, uint64_t array, int64_t batches, int64_t rows,
                        int64_t columns, int64_t leading)
{
    const uint64_t *addresses = addresses_of(call);
    (void)array;
    require(call, rows >= 0 && columns >= 0 && leading >= (rows > 1 ? rows : 1));
    for (int64_t i = 0; addresses && i < batches && !call->wrong; i++)
        extent_matrix(call, addresses[i], rows, columns, leading);
}

void extent_triangle_each(struct extent *call, uint64_t array, int64_t batches, int64_t n,
                          int64_t leading)
{
    extent_matrix_each(call, array, batches, n, n, leading);
}

/* ---- Scalars ---- */

void extent_scalars(struct extent *call, uint64_t pointer, int64_t n)
{
    const int64_t bytes = in_bytes(call, n);
    if (call->on_device) {
        extent_buffer(call, pointer, n);
        return;
    }
    unsigned char *value = call->scalars->values[call->argument];
    call->places[call->argument] = value;
    if (call->kind != CSAN_READ)
        call->written[call->argument] = (uint32_t)bytes;
    if (call->native)
        return;
    require(call, pointer && bytes <= EXTENT_SCALAR_BYTES);
    if (call->kind != CSAN_WRITE && !call->wrong)
        memcpy(value, (const void *)(uintptr_t)pointer, (size_t)bytes);
}

void extent_scalar(struct extent *call, uint64_t pointer)
{
    extent_scalars(call, pointer, 1);
}

/* The argument whose value is that pointer. */
enum extent_when extent_nonzero(const struct extent *call, uint64_t scalar, struct extent_type type)
{
    unsigned char zero[16] = {0}, value[16] = {0};
    const void *place = NULL;
    for (int i = 0; call->function->arguments[i] && !place; i++)
        if (call->arguments[i] == scalar && call->function->kinds[i] == 'p')
            place = call->places[i];
    if (!place || type.bytes > sizeof value)
        return EXTENT_ALWAYS;
    memcpy(value, place, type.bytes);
    for (uint32_t end = type.part; !type.integer && end <= type.bytes; end += type.part)
        value[end - 1] &= 0x7f;
    return memcmp(value, zero, type.bytes) == 0 ? EXTENT_NEVER : EXTENT_ALWAYS;
}

/* ---- Types: as in runtime/hook/library/blas.c ---- */

static struct extent_type type_of(int number)
{
    const uint32_t bytes = (uint32_t)number_bytes(number);
    return (struct extent_type){bytes, number_is_complex(number) ? bytes / 2 : bytes,
                                number_is_integer(number)};
}

struct extent_type extent_element(const struct extent *call)
{
    return type_of(number_of_letter(call->function->letter));
}

struct extent_type extent_real(const struct extent *call)
{
    const uint32_t part = extent_element(call).part;
    return (struct extent_type){part, part, false};
}

struct extent_type extent_single(const struct extent *call)
{
    (void)call;
    return type_of(NUMBER_32F);
}

struct extent_type extent_index(const struct extent *call)
{
    return type_of(call->function->wide ? NUMBER_64I : NUMBER_32I);
}

struct extent_type extent_bytes(const struct extent *call, int64_t bytes)
{
    (void)call;
    return (struct extent_type){bytes > 0 && bytes <= UINT32_MAX ? (uint32_t)bytes : 0, 1, true};
}

struct extent_type extent_data(const struct extent *call, int64_t cuda_data_type)
{
    (void)call;
    return type_of((int)cuda_data_type);
}

struct extent_type extent_real_part(const struct extent *call, int64_t cuda_data_type)
{
    const uint32_t part = extent_data(call, cuda_data_type).part;
    return (struct extent_type){part, part, false};
}

struct extent_type extent_scale(const struct extent *call, int64_t compute_type,
                                int64_t cuda_data_type)
{
    (void)call;
    const bool complex = number_is_complex((int)cuda_data_type);
    switch (compute_type) {
    case 64: /* CUBLAS_COMPUTE_16F */
    case 65:
        return type_of(NUMBER_16F);
    case 70: /* 64F */
    case 71:
        return type_of(complex ? NUMBER_C64F : NUMBER_64F);
    case 72: /* 32I */
    case 73:
        return type_of(cuda_data_type == NUMBER_32I ? NUMBER_32I : NUMBER_32F);
    default:
        return type_of(complex ? NUMBER_C32F : NUMBER_32F);
    }
}

/* ---- Shapes' numbers ---- */

LIBRARY_RULES(extent, EXTENT)

enum extent_when extent_partly(const struct extent *call)
{
    (void)call;
    return EXTENT_ALWAYS;
}

enum extent_when extent_with_diagonal(const struct extent *call, int64_t diagonal)
{
    (void)call, (void)diagonal;
    return EXTENT_ALWAYS;
}
