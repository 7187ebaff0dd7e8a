/* atom and red (PTX ISA 9.7.13.4 and .5). Updates are atomic against the host and other launches
 * too: memory may be pinned or managed. */
#include "runtime/device/exec/exec_access.h"
#include "runtime/device/exec/exec_lowering.h"
#include "runtime/device/exec/exec_half.h"

typedef atomic_update update;

#define UPDATE(name, type, expression)                                                             \
    static uint64_t name(uint64_t old_bits, uint64_t b_bits, uint64_t c_bits)                      \
    {                                                                                              \
        type a, b, c;                                                                              \
        memcpy(&a, &old_bits, sizeof a);                                                           \
        memcpy(&b, &b_bits, sizeof b);                                                             \
        memcpy(&c, &c_bits, sizeof c);                                                             \
        (void)a, (void)b, (void)c;                                                                 \
        type result = (type)(expression);                                                          \
        uint64_t bits = 0;                                                                         \
        memcpy(&bits, &result, sizeof result);                                                     \
        return bits;                                                                               \
    }

UPDATE(add_32, uint32_t, a + b)
UPDATE(add_64, uint64_t, a + b)
UPDATE(min_s32, int32_t, a < b ? a : b)
UPDATE(min_u32, uint32_t, a < b ? a : b)
UPDATE(min_s64, int64_t, a < b ? a : b)
UPDATE(min_u64, uint64_t, a < b ? a : b)
UPDATE(max_s32, int32_t, a > b ? a : b)
UPDATE(max_u32, uint32_t, a > b ? a : b)
UPDATE(max_s64, int64_t, a > b ? a : b)
UPDATE(max_u64, uint64_t, a > b ? a : b)
UPDATE(inc_u32, uint32_t, a >= b ? 0 : a + 1)
UPDATE(dec_u32, uint32_t, a == 0 || a > b ? b : a - 1)
UPDATE(and_64, uint64_t, a &b)
UPDATE(or_64, uint64_t, a | b)
UPDATE(xor_64, uint64_t, a ^ b)
UPDATE(exchange, uint64_t, b)
UPDATE(add_f64, double, a + b)
UPDATE(cas_16, uint16_t, a == b ? c : a)
UPDATE(cas_32, uint32_t, a == b ? c : a)
UPDATE(cas_64, uint64_t, a == b ? c : a)
UPDATE(add_f32, float, half_canonical(a + b))
UPDATE(add_f32_flush, float, half_canonical(half_flush(half_flush(a) + half_flush(b))))

static uint64_t add_f16(uint64_t a, uint64_t b, uint64_t c)
{
    (void)c;
    return half_from_float(half_to_float((uint16_t)a) + half_to_float((uint16_t)b));
}
static uint64_t add_bf16(uint64_t a, uint64_t b, uint64_t c)
{
    (void)c;
    return bfloat_from_double((double)bfloat_to_float((uint16_t)a) +
                              (double)bfloat_to_float((uint16_t)b));
}
/* min and max of halves: NaN gives way to a number */
static uint64_t order_f16(uint64_t a, uint64_t b, bool maximum, float (*widen)(uint16_t))
{
    float x = widen((uint16_t)a), y = widen((uint16_t)b);
    if (x != x)
        return y != y ? 0x7fff : (uint16_t)b;
    if (y != y)
        return (uint16_t)a;
    if (x == y) /* -0 < +0 */
        return maximum ? (uint16_t)(a & b) : (uint16_t)(a | b);
    return (x < y) == maximum ? (uint16_t)b : (uint16_t)a;
}
static uint64_t min_f16(uint64_t a, uint64_t b, uint64_t c)
{
    (void)c;
    return order_f16(a, b, false, half_to_float);
}
static uint64_t max_f16(uint64_t a, uint64_t b, uint64_t c)
{
    (void)c;
    return order_f16(a, b, true, half_to_float);
}
static uint64_t min_bf16(uint64_t a, uint64_t b, uint64_t c)
{
    (void)c;
    return order_f16(a, b, false, bfloat_to_float);
}
static uint64_t max_bf16(uint64_t a, uint64_t b, uint64_t c)
{
    (void)c;
    return order_f16(a, b, true, bfloat_to_float);
}

#define PAIR(name, single)                                                                         \
    static uint64_t name(uint64_t a, uint64_t b, uint64_t c)                                       \
    {                                                                                              \
        return single(a, b, c) | single(a >> 16, b >> 16, c) << 16;                                \
    }
PAIR(add_f16x2, add_f16)
PAIR(add_bf16x2, add_bf16)
PAIR(min_f16x2, min_f16)
PAIR(max_f16x2, max_f16)
PAIR(min_bf16x2, min_bf16)
PAIR(max_bf16x2, max_bf16)

static const struct {
    uint8_t operation, type;
    update *run;
} updates[] = {
    {PTX_ATOMIC_ADD, PTX_U32, add_32},      {PTX_ATOMIC_ADD, PTX_S32, add_32},
    {PTX_ATOMIC_ADD, PTX_U64, add_64},      {PTX_ATOMIC_ADD, PTX_S64, add_64},
    {PTX_ATOMIC_ADD, PTX_F32, add_f32},     {PTX_ATOMIC_ADD, PTX_F64, add_f64},
    {PTX_ATOMIC_ADD, PTX_F16, add_f16},     {PTX_ATOMIC_ADD, PTX_BF16, add_bf16},
    {PTX_ATOMIC_ADD, PTX_F16X2, add_f16x2}, {PTX_ATOMIC_ADD, PTX_BF16X2, add_bf16x2},
    {PTX_ATOMIC_MIN, PTX_S32, min_s32},     {PTX_ATOMIC_MIN, PTX_U32, min_u32},
    {PTX_ATOMIC_MIN, PTX_S64, min_s64},     {PTX_ATOMIC_MIN, PTX_U64, min_u64},
    {PTX_ATOMIC_MIN, PTX_F16, min_f16},     {PTX_ATOMIC_MIN, PTX_BF16, min_bf16},
    {PTX_ATOMIC_MIN, PTX_F16X2, min_f16x2}, {PTX_ATOMIC_MIN, PTX_BF16X2, min_bf16x2},
    {PTX_ATOMIC_MAX, PTX_S32, max_s32},     {PTX_ATOMIC_MAX, PTX_U32, max_u32},
    {PTX_ATOMIC_MAX, PTX_S64, max_s64},     {PTX_ATOMIC_MAX, PTX_U64, max_u64},
    {PTX_ATOMIC_MAX, PTX_F16, max_f16},     {PTX_ATOMIC_MAX, PTX_BF16, max_bf16},
    {PTX_ATOMIC_MAX, PTX_F16X2, max_f16x2}, {PTX_ATOMIC_MAX, PTX_BF16X2, max_bf16x2},
    {PTX_ATOMIC_INC, PTX_U32, inc_u32},     {PTX_ATOMIC_DEC, PTX_U32, dec_u32},
    {PTX_ATOMIC_AND, PTX_B32, and_64},      {PTX_ATOMIC_AND, PTX_B64, and_64},
    {PTX_ATOMIC_OR, PTX_B32, or_64},        {PTX_ATOMIC_OR, PTX_B64, or_64},
    {PTX_ATOMIC_XOR, PTX_B32, xor_64},      {PTX_ATOMIC_XOR, PTX_B64, xor_64},
    {PTX_ATOMIC_EXCH, PTX_B16, exchange},   {PTX_ATOMIC_EXCH, PTX_B32, exchange},
    {PTX_ATOMIC_EXCH, PTX_B64, exchange},   {PTX_ATOMIC_CAS, PTX_B16, cas_16},
    {PTX_ATOMIC_CAS, PTX_B32, cas_32},      {PTX_ATOMIC_CAS, PTX_B64, cas_64},
};

atomic_update *atomic_update_of(uint8_t operation, uint8_t type, uint8_t space)
{
    for (size_t k = 0; k < sizeof updates / sizeof *updates; k++)
        if (updates[k].operation == operation && updates[k].type == type)
            return updates[k].run == add_f32 && space != PTX_SPACE_SHARED ? add_f32_flush
                                                                          : updates[k].run;
    return NULL;
}

static update *find_update(const struct ptx_instruction *i)
{
    return atomic_update_of(i->atomic, i->type, i->space);
}

/* The host's atomics, by width; returns the old value and says whether it changed. */
#define APPLY(bits)                                                                                \
    static uint64_t apply_##bits(uint8_t *pointer, update *run, uint64_t b, uint64_t c,            \
                                 uint64_t *progress)                                               \
    {                                                                                              \
        uint##bits##_t *p = (uint##bits##_t *)(void *)pointer, wanted;                             \
        uint##bits##_t old = __atomic_load_n(p, __ATOMIC_SEQ_CST);                                 \
        do                                                                                         \
            wanted = (uint##bits##_t)run(old, b, c);                                               \
        while (!__atomic_compare_exchange_n(p, &old, wanted, false, __ATOMIC_SEQ_CST,              \
                                            __ATOMIC_SEQ_CST));                                    \
        *progress += old != wanted;                                                                \
        return old;                                                                                \
    }
APPLY(16)
APPLY(32)
APPLY(64)

uint64_t atomic_apply(uint8_t *pointer, uint32_t bytes, atomic_update *run, uint64_t b, uint64_t c,
                      uint64_t *progress)
{
    return bytes == 2   ? apply_16(pointer, run, b, c, progress)
           : bytes == 4 ? apply_32(pointer, run, b, c, progress)
                        : apply_64(pointer, run, b, c, progress);
}

static uint64_t lane_value(const struct warp *w, uint32_t offset, uint32_t bytes, int l)
{
    uint64_t value = 0;
    memcpy(&value, (uint8_t *)slot(w, offset) + (size_t)l * bytes, bytes);
    return value;
}

static int atomic_run(struct warp *w, const struct micro *op)
{
    uint8_t *pointers[WARP_LANES];
    int flow = space_resolve(w, op, pointers);
    if (flow != FLOW_NEXT)
        return flow;
    update *run = (update *)(uintptr_t)op->pointer;
    uint64_t *progress = &w->state->progress;
    for (uint32_t m = w->mask; m; m &= m - 1) {
        int l = __builtin_ctz(m);
        uint64_t b = lane_value(w, op->b, op->bytes, l), c = lane_value(w, op->c, op->bytes, l);
        uint64_t old = atomic_apply(pointers[l], op->bytes, run, b, c, progress);
        if (op->width2)
            memcpy((uint8_t *)slot(w, op->d) + (size_t)l * op->bytes, &old, op->bytes);
    }
    return FLOW_NEXT;
}

LOWERING(atomic_run, LOWERING_ATOMIC, NULL, NULL, NULL, NULL, NULL)

/* .v2, .v4, .v8: each element is updated atomically, the vector is not. */
struct vector_site {
    update *run;
    uint32_t from[8], to[8]; /* slots */
};

static void update_element(struct warp *w, const struct micro *op, uint8_t *const *pointers,
                           uint32_t k)
{
    const struct vector_site *site = op->pointer;
    for (uint32_t m = w->mask; m; m &= m - 1) {
        int l = __builtin_ctz(m);
        uint8_t *pointer = pointers[l] + (size_t)k * op->bytes;
        uint64_t b = lane_value(w, site->from[k], op->bytes, l), *progress = &w->state->progress;
        uint64_t old = atomic_apply(pointer, op->bytes, site->run, b, 0, progress);
        if (op->width2)
            memcpy((uint8_t *)slot(w, site->to[k]) + (size_t)l * op->bytes, &old, op->bytes);
    }
}

static int atomic_vector(struct warp *w, const struct micro *op)
{
    uint8_t *pointers[WARP_LANES];
    int flow = space_resolve(w, op, pointers);
    for (uint32_t k = 0; flow == FLOW_NEXT && k < op->count; k++)
        update_element(w, op, pointers, k);
    return flow;
}

/* 128 bits: exch and cas only. */
/* Both processors have the instruction; their compilers have to be asked for it. */
#if defined(__x86_64__)
__attribute__((target("cx16")))
#elif defined(__aarch64__)
__attribute__((target("+lse")))
#endif
static int
atomic_128(struct warp *w, const struct micro *op)
{
    uint8_t *pointers[WARP_LANES];
    int flow = space_resolve(w, op, pointers);
    for (uint32_t m = flow == FLOW_NEXT ? w->mask : 0; m; m &= m - 1) {
        int l = __builtin_ctz(m);
        unsigned __int128 *p = (unsigned __int128 *)(void *)pointers[l], b, c, old, seen;
        memcpy(&b, (uint8_t *)slot(w, op->b) + (size_t)l * 16, 16);
        memcpy(&c, (uint8_t *)slot(w, op->c) + (size_t)l * 16, 16);
        memcpy(&seen, p, 16);
        do {
            old = seen;
            unsigned __int128 wanted = op->kind == PTX_ATOMIC_EXCH ? b : old == b ? c : old;
            seen = __sync_val_compare_and_swap(p, old, wanted);
            w->state->progress += old != wanted;
        } while (seen != old);
        if (op->width2)
            memcpy((uint8_t *)slot(w, op->d) + (size_t)l * 16, &old, 16);
    }
    return flow;
}

static bool names_register(const struct ptx_operand *operand, uint32_t reg)
{
    bool base = operand->kind == PTX_OPERAND_REGISTER ||
                (operand->kind == PTX_OPERAND_ADDRESS && operand->base == PTX_OPERAND_REGISTER);
    if (base && operand->reg == reg)
        return true;
    for (uint32_t k = 0; operand->elements && k < operand->count; k++)
        if (names_register(&operand->elements[k], reg))
            return true;
    return false;
}

/* Does the function name the register anywhere but as this instruction's destination? */
static bool is_named_again(const struct ptx_function *f, const struct ptx_instruction *definition,
                           uint32_t reg)
{
    for (uint32_t k = 0; k < f->return_count; k++)
        if (f->returns[k].reg == reg)
            return true;
    for (uint32_t n = 0; n < f->instruction_count; n++) {
        const struct ptx_instruction *i = &f->instructions[n];
        for (uint32_t k = i == definition; k < i->operand_count; k++)
            if (names_register(&i->operands[k], reg))
                return true;
        for (uint32_t k = 0; i->call && k < i->call->argument_count; k++)
            if (names_register(&i->call->arguments[k], reg))
                return true;
        if (i->guard == reg)
            return true;
    }
    return false;
}

/* nvcc writes atom, and a register that nothing reads, where red would do. */
static bool result_is_seen(const struct decoder *decoder, const struct ptx_instruction *i)
{
    return i->opcode == PTX_OP_ATOM && i->operands[0].kind != PTX_OPERAND_SINK &&
           (i->operands[0].kind != PTX_OPERAND_REGISTER ||
            is_named_again(decoder->function, i, i->operands[0].reg));
}

/* Whole numbers come to the same whoever is first, as long as nobody looks on the way; inside of a
 * block the order is fixed. */
static bool depends_on_order(const struct decoder *decoder, const struct ptx_instruction *i)
{
    if (i->space == PTX_SPACE_SHARED || decoder->program->ordered)
        return false;
    return result_is_seen(decoder, i) || ptx_type_is_float(i->type) || i->atomic < PTX_ATOMIC_ADD ||
           i->atomic > PTX_ATOMIC_XOR;
}

/* Atomic only among the threads of its scope: .cta protects nothing from other kernels. */
static uint8_t kinds_of_touch(const struct ptx_instruction *i)
{
    bool narrow = i->scope == PTX_SCOPE_CTA || i->scope == PTX_SCOPE_CLUSTER;
    return narrow ? 1u << DEVICE_TRACE_READ | 1u << DEVICE_TRACE_WRITE : 1u << DEVICE_TRACE_ATOMIC;
}

static bool is_vector_of(const struct ptx_operand *operand, uint32_t count)
{
    return operand->kind == PTX_OPERAND_VECTOR && operand->count == count;
}

static void decode_vector(struct decoder *decoder, const struct ptx_instruction *i)
{
    bool returns = i->opcode == PTX_OP_ATOM;
    uint32_t bits = ptx_type_bits(i->type), at = returns ? 1 : 0, count = i->vector;
    struct vector_site *site = decoder_keep(decoder, sizeof *site);
    update *run = find_update(i);
    if (!site || !run || bits > 32 || count > 8 || i->async || i->operand_count < at + 2 ||
        !is_vector_of(&i->operands[at + 1], count) ||
        (returns && !is_vector_of(&i->operands[0], count))) {
        decoder_fail(decoder);
        return;
    }
    decoder_order(decoder);
    site->run = run;
    struct access_place place;
    access_place(decoder, &i->operands[at], i->space, &place);
    for (uint32_t k = 0; k < count; k++) {
        site->from[k] = decoder_source(decoder, &i->operands[at + 1].elements[k], bits);
        if (returns)
            site->to[k] = decoder_destination(decoder, &i->operands[0].elements[k], bits);
    }
    struct micro *op = decoder_emit(decoder, atomic_vector);
    access_fill(op, &place);
    op->width2 = returns;
    op->bytes = (uint8_t)(bits / 8);
    op->count = (uint8_t)count;
    op->pointer = site;
    op->option |= ACCESS_WRITES | ACCESS_UPDATES | ACCESS_STRONG;
    op->touch = kinds_of_touch(i);
}

void atomic_decode(struct decoder *decoder, const struct ptx_instruction *i)
{
    bool returns = i->opcode == PTX_OP_ATOM;
    uint32_t bits = ptx_type_bits(i->type), at = returns ? 1 : 0;
    bool wide = bits == 128 && (i->atomic == PTX_ATOMIC_EXCH || i->atomic == PTX_ATOMIC_CAS);
    update *run = find_update(i);
    uint32_t sources = i->atomic == PTX_ATOMIC_CAS ? 2 : 1;
    if ((!run && !wide) || i->operand_count < at + 1 + sources) {
        decoder_fail(decoder);
        return;
    }
    if (depends_on_order(decoder, i))
        decoder_order(decoder);
    struct access_place place;
    access_place(decoder, &i->operands[at], i->space, &place);
    uint32_t b = decoder_source(decoder, &i->operands[at + 1], bits);
    uint32_t c = sources == 2 ? decoder_source(decoder, &i->operands[at + 2], bits) : b;
    uint32_t d = returns ? decoder_destination(decoder, &i->operands[0], bits) : 0;
    struct micro *op = decoder_emit(decoder, wide ? atomic_128 : atomic_run);
    access_fill(op, &place);
    op->b = b;
    op->c = c;
    op->d = d;
    op->width2 = returns;
    op->kind = i->atomic;
    op->bytes = (uint8_t)(bits / 8);
    op->count = 1;
    op->pointer = (const void *)(uintptr_t)run;
    op->option |= ACCESS_WRITES | ACCESS_UPDATES | ACCESS_STRONG;
    op->touch = kinds_of_touch(i);
}

void decode_atom(struct decoder *decoder, const struct ptx_instruction *i)
{
    if (i->async)
        decode_reduce_async(decoder, i);
    else if (i->vector > 1)
        decode_vector(decoder, i);
    else
        atomic_decode(decoder, i);
}
