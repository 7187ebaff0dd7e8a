/* Collects what a call touches; arguments; shapes. See touch.h. */
#include "runtime/hook/library/touch.h"
#include "runtime/hook/state/known_contents.h"

#include <stdlib.h>
#include <string.h>

/* ---- Gathering ---- */

void touch_collect(struct touch *call, const struct library_function *function,
                   struct library_home *home, const uint64_t *registers, const uint64_t *stack)
{
    call->function = function;
    call->home = home;
    call->registers = registers;
    call->stack = stack;
    call->count = 0;
    call->room = TOUCH_INLINE;
    call->accesses = call->inline_accesses;
    call->dims = call->inline_dims;
    call->incomplete = call->reads_content = false;
    call->made = call->made_bytes = 0;
    call->pointer_mode = -1;
    call->product.asked = false;
    if (function->touch)
        function->touch(call);
    for (size_t i = 0; i < call->count; i++)
        call->accesses[i].dims = call->dims[i];
}

void touch_release(struct touch *call)
{
    if (call->accesses != call->inline_accesses)
        free(call->accesses);
    if (call->dims != call->inline_dims)
        free(call->dims);
}

/* Room for one more range; false when memory is short. */
static bool grow(struct touch *call)
{
    if (call->count < call->room)
        return true;
    size_t room = call->room * 2;
    bool first = call->accesses == call->inline_accesses;
    void *accesses = realloc(first ? NULL : call->accesses, room * sizeof *call->accesses);
    if (!accesses)
        return false;
    if (first)
        memcpy(accesses, call->inline_accesses, sizeof call->inline_accesses);
    call->accesses = accesses;
    first = call->dims == call->inline_dims;
    void *dims = realloc(first ? NULL : call->dims, room * sizeof *call->dims);
    if (!dims)
        return false;
    if (first)
        memcpy(dims, call->inline_dims, sizeof call->inline_dims);
    call->dims = dims;
    call->room = room;
    return true;
}

bool touch_begin(struct touch *call, uint8_t kind, uint16_t argument, struct touch_type type,
                 enum touch_when when)
{
    call->kind = kind;
    call->argument = argument;
    call->type = type;
    call->bound = when == TOUCH_MAYBE    ? CSAN_BOUND_GUARD
                  : when == TOUCH_PARTLY ? CSAN_BOUND_SHAPE
                                         : CSAN_EXACT;
    return when != TOUCH_NEVER && type.bytes > 0;
}

/* Whether the range ends within the address space. */
static bool fits(uint64_t base, uint64_t bytes, const struct csan_dim *dims, size_t dim_count)
{
    uint64_t end;
    if (__builtin_add_overflow(base, bytes, &end))
        return false;
    for (size_t i = 0; i < dim_count; i++) {
        int64_t reach;
        if (dims[i].count - 1 > INT64_MAX ||
            __builtin_mul_overflow((int64_t)(dims[i].count - 1), dims[i].stride, &reach))
            return false;
        if (reach < 0 ? (uint64_t)-reach > base
                      : __builtin_add_overflow(end, (uint64_t)reach, &end))
            return false;
    }
    return true;
}

/* Dims without a second element or step are none; runs without gaps become longer elements. */
void touch_add(struct touch *call, uint64_t base, uint64_t bytes, const struct csan_dim *dims,
               size_t dim_count)
{
    if (!base || !bytes || !fits(base, bytes, dims, dim_count) || !grow(call))
        return;
    struct csan_dim *kept = call->dims[call->count];
    uint8_t count = 0;
    for (size_t i = 0; i < dim_count; i++) {
        if (dims[i].count == 0)
            return;
        if (dims[i].count == 1 || dims[i].stride == 0)
            continue;
        if (count == 0 && dims[i].stride == (int64_t)bytes)
            bytes *= dims[i].count;
        else
            kept[count++] = dims[i];
    }
    call->accesses[call->count++] = (struct csan_access){.base = base,
                                                         .bytes = bytes,
                                                         .dim_count = count,
                                                         .kind = call->kind,
                                                         .bound = call->bound,
                                                         .argument = call->argument};
}

/* ---- Arguments ---- */

uint64_t touch_argument_pointer(const struct touch *call, unsigned place)
{
    return place < TOUCH_REGISTERS ? call->registers[place] : call->stack[place - TOUCH_REGISTERS];
}

int64_t touch_argument_integer(const struct touch *call, unsigned place)
{
    return (int32_t)touch_argument_pointer(call, place);
}

int64_t touch_argument_long(const struct touch *call, unsigned place)
{
    return (int64_t)touch_argument_pointer(call, place);
}

int64_t touch_argument_size(const struct touch *call, unsigned place)
{
    return call->function->wide ? touch_argument_long(call, place)
                                : touch_argument_integer(call, place);
}

/* ---- Shapes ---- */

static int64_t in_bytes(const struct touch *call, int64_t elements)
{
    int64_t bytes;
    /* What does not fit is left out by touch_add. */
    return __builtin_mul_overflow(elements, (int64_t)call->type.bytes, &bytes) ? INT64_MAX : bytes;
}

static struct csan_dim dim(const struct touch *call, int64_t step, int64_t count)
{
    return (struct csan_dim){in_bytes(call, step), count > 0 ? (uint64_t)count : 0};
}

void touch_buffer(struct touch *call, uint64_t base, int64_t n)
{
    if (n > 0)
        touch_add(call, base, (uint64_t)in_bytes(call, n), NULL, 0);
}

void touch_vectors(struct touch *call, uint64_t base, int64_t n, int64_t increment, int64_t step,
                   int64_t batches)
{
    struct csan_dim dims[] = {dim(call, increment < 0 ? -increment : increment, n),
                              dim(call, step, batches)};
    touch_add(call, base, call->type.bytes, dims, 2);
}

void touch_vector(struct touch *call, uint64_t base, int64_t n, int64_t increment)
{
    touch_vectors(call, base, n, increment, 0, 1);
}

void touch_matrices(struct touch *call, uint64_t base, int64_t rows, int64_t columns,
                    int64_t leading, int64_t step, int64_t batches)
{
    struct csan_dim dims[] = {dim(call, leading, columns), dim(call, step, batches)};
    if (rows > 0)
        touch_add(call, base, (uint64_t)in_bytes(call, rows), dims, 2);
}

void touch_matrix(struct touch *call, uint64_t base, int64_t rows, int64_t columns, int64_t leading)
{
    touch_matrices(call, base, rows, columns, leading, 0, 1);
}

/* The access at hand becomes a bound. */
static void touch_within(struct touch *call)
{
    if (call->bound == CSAN_EXACT)
        call->bound = CSAN_BOUND_SHAPE;
}

void touch_triangle(struct touch *call, uint64_t base, int64_t n, int64_t leading)
{
    touch_within(call);
    touch_matrix(call, base, n, n, leading);
}

void touch_band(struct touch *call, uint64_t base, int64_t rows, int64_t columns, int64_t leading)
{
    touch_within(call); /* its corners hold nothing */
    touch_matrix(call, base, rows, columns, leading);
}

void touch_packed(struct touch *call, uint64_t base, int64_t n)
{
    int64_t twice;
    if (n > 0 && !__builtin_mul_overflow(n, n + 1, &twice))
        touch_buffer(call, base, twice / 2);
}

/* ---- Arrays of addresses ---- */

void touch_addresses(struct touch *call, uint64_t array, int64_t batches)
{
    if (batches > 0)
        touch_add(call, array, (uint64_t)batches * sizeof(uint64_t), NULL, 0);
}

/* The address in the array; false, and the call is incomplete, when it is not known. */
static bool address_at(struct touch *call, uint64_t array, int64_t place, uint64_t *address)
{
    call->reads_content = true;
    bool known =
        known_contents_read(array + (uint64_t)place * sizeof *address, sizeof *address, address);
    call->incomplete |= !known;
    return known;
}

void touch_vector_each(struct touch *call, uint64_t array, int64_t batches, int64_t n,
                       int64_t increment)
{
    uint64_t address;
    for (int64_t i = 0; i < batches && address_at(call, array, i, &address); i++)
        touch_vector(call, address, n, increment);
}

void touch_matrix_each(struct touch *call, uint64_t array, int64_t batches, int64_t rows,
                       int64_t columns, int64_t leading)
{
    uint64_t address;
    for (int64_t i = 0; i < batches && address_at(call, array, i, &address); i++)
        touch_matrix(call, address, rows, columns, leading);
}

void touch_triangle_each(struct touch *call, uint64_t array, int64_t batches, int64_t n,
                         int64_t leading)
{
    uint64_t address;
    for (int64_t i = 0; i < batches && address_at(call, array, i, &address); i++)
        touch_triangle(call, address, n, leading);
}

/* ---- Groups ---- */

/* Number i of an array of the library's int, on the host. */
static int64_t number_at(const struct touch *call, uint64_t array, int64_t i)
{
    return call->function->wide ? ((const int64_t *)(uintptr_t)array)[i]
                                : ((const int32_t *)(uintptr_t)array)[i];
}

void touch_group_addresses(struct touch *call, uint64_t array, int64_t groups, uint64_t sizes)
{
    int64_t count = 0;
    for (int64_t i = 0; sizes && i < groups; i++) {
        const int64_t size = number_at(call, sizes, i);
        count += size > 0 ? size : 0;
    }
    touch_addresses(call, array, count);
}

void touch_group_matrices(struct touch *call, uint64_t array, int64_t groups, uint64_t sizes,
                          uint64_t factors, int64_t compute_type, uint64_t operations,
                          uint64_t rows, uint64_t columns, uint64_t leading)
{
    const struct touch_type factor = touch_scale(call, compute_type, 0);
    uint64_t first = array;
    if (!sizes || !rows || !columns || !leading)
        return;
    for (int64_t i = 0; i < groups; i++) {
        const int64_t size = number_at(call, sizes, i);
        const bool turned = operations && ((const int32_t *)(uintptr_t)operations)[i] != 0;
        const uint64_t own = factors ? factors + (uint64_t)i * factor.bytes : 0;
        if (size <= 0)
            continue;
        if (!own || touch_value_nonzero(own, factor) != TOUCH_NEVER)
            touch_matrix_each(call, first, size, number_at(call, turned ? columns : rows, i),
                              number_at(call, turned ? rows : columns, i),
                              number_at(call, leading, i));
        first += (uint64_t)size * sizeof(uint64_t);
    }
}
