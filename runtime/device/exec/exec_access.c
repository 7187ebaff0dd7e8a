/* Loads, stores and asynchronous copies (PTX ISA 9.7.9.8 to 9.7.9.25). Asynchronous copies are made
 * at once: a program that is correct with any timing is correct with this one. */
#include "runtime/device/exec/exec_decoder.h"
#include "runtime/device/exec/exec_access.h"
#include "runtime/device/exec/exec_lowering.h"

/* ---- between memory and slots --------------------------------------------------------------- */

#define COPY_IN(name, memory_type, register_type)                                                  \
    static void name(struct warp *w, const struct micro *op, uint8_t *const *pointers)             \
    {                                                                                              \
        for (uint32_t k = 0; k < op->count; k++) {                                                 \
            register_type *d = slot(w, op->count == 1 ? op->d : op->slots[k]);                     \
            LANES(w, {                                                                             \
                memory_type value;                                                                 \
                memcpy(&value, pointers[l] + k * sizeof value, sizeof value);                      \
                d[l] = (register_type)value;                                                       \
            });                                                                                    \
        }                                                                                          \
    }
#define COPY_OUT(name, memory_type, register_type)                                                 \
    static void name(struct warp *w, const struct micro *op, uint8_t *const *pointers)             \
    {                                                                                              \
        for (uint32_t k = 0; k < op->count; k++) {                                                 \
            const register_type *d = slot(w, op->count == 1 ? op->d : op->slots[k]);               \
            LANES(w, {                                                                             \
                memory_type value = (memory_type)d[l];                                             \
                memcpy(pointers[l] + k * sizeof value, &value, sizeof value);                      \
            });                                                                                    \
        }                                                                                          \
    }
typedef unsigned __int128 wide;
#define COPY_PAIR(size, width)                                                                     \
    COPY_IN(in_u##size##_##width, uint##size##_t, uint##width##_t)                                 \
    COPY_IN(in_s##size##_##width, int##size##_t, int##width##_t)                                   \
    COPY_OUT(out_##size##_##width, uint##size##_t, uint##width##_t)
COPY_PAIR(8, 16)
COPY_PAIR(8, 32)
COPY_PAIR(8, 64)
COPY_PAIR(16, 16)
COPY_PAIR(16, 32)
COPY_PAIR(16, 64)
COPY_PAIR(32, 32)
COPY_PAIR(32, 64)
COPY_PAIR(64, 64)
COPY_IN(in_128, wide, wide)
COPY_OUT(out_128, wide, wide)

/* [log2 of the bytes in memory][log2 of the register's bytes - 1] */
static micro_copy *const copies_in[2][4][3] = {
    {{in_u8_16, in_u8_32, in_u8_64},
     {in_u16_16, in_u16_32, in_u16_64},
     {NULL, in_u32_32, in_u32_64},
     {NULL, NULL, in_u64_64}},
    {{in_s8_16, in_s8_32, in_s8_64},
     {in_s16_16, in_s16_32, in_s16_64},
     {NULL, in_s32_32, in_s32_64},
     {NULL, NULL, in_s64_64}},
};
static micro_copy *const copies_out[4][3] = {{out_8_16, out_8_32, out_8_64},
                                             {out_16_16, out_16_32, out_16_64},
                                             {NULL, out_32_32, out_32_64},
                                             {NULL, NULL, out_64_64}};

static micro_copy *find_copy(bool load, uint32_t memory_bits, uint32_t register_bits, bool sign)
{
    if (memory_bits == 128 && register_bits == 128)
        return load ? in_128 : out_128;
    if (memory_bits < 8 || memory_bits > 64 || register_bits < 16 || register_bits > 64)
        return NULL;
    unsigned m = (unsigned)__builtin_ctz(memory_bits) - 3;
    unsigned r = (unsigned)__builtin_ctz(register_bits) - 4;
    return load ? copies_in[sign][m][r] : copies_out[m][r];
}

enum { CACHE_LINE = 64 };

/* Lanes one behind the other, each with one element as wide as its register. */
static void copy_run(struct warp *w, const struct micro *op, const struct access_pattern *pattern)
{
    uint8_t *lanes = (uint8_t *)slot(w, op->d) + (size_t)pattern->first * op->bytes;
    const size_t bytes = (size_t)pattern->count * op->bytes;
    const bool store = op->option & ACCESS_WRITES;
    uint8_t *to = store ? pattern->host : lanes;
    const uint8_t *from = store ? lanes : pattern->host;
    if (bytes == WARP_FULL_SLOT_BYTES)
        memcpy(to, from, WARP_FULL_SLOT_BYTES);
    else
        memcpy(to, from, bytes);
    if (!store) { /* the next warp most often wants what comes next */
        __builtin_prefetch(from + bytes);
        __builtin_prefetch(from + bytes + CACHE_LINE);
    }
}

int access_run(struct warp *w, const struct micro *op)
{
    uint64_t addresses[WARP_LANES];
    uint8_t *pointers[WARP_LANES];
    struct access_pattern pattern;
    space_addresses(w, op, addresses);
    if (space_pattern(w, op, addresses, &pattern)) {
        if (pattern.step && op->count == 1 && op->bytes == op->width2) {
            copy_run(w, op, &pattern);
            return FLOW_NEXT;
        }
        for (uint32_t k = 0; k < pattern.count; k++)
            pointers[pattern.first + k] = pattern.host + (size_t)k * pattern.step;
    } else {
        int flow = space_resolve_at(w, op, addresses, pointers);
        if (flow != FLOW_NEXT)
            return flow;
    }
    op->copy(w, op, pointers);
    return FLOW_NEXT;
}

LOWERING(access_run, LOWERING_ACCESS, NULL, NULL, NULL, NULL, NULL)

/* A kernel's parameter at a place known now: one value for all lanes. */
static int load_param(struct warp *w, const struct micro *op)
{
    uint8_t *pointers[WARP_LANES];
    for (int l = 0; l < WARP_LANES; l++)
        pointers[l] = w->state->params + op->imm;
    op->copy(w, op, pointers);
    return FLOW_NEXT;
}

LOWERING(load_param, LOWERING_PARAM, NULL, NULL, NULL, NULL, NULL)

/* ---- addresses ----------------------------------------------------------------------------- */

void access_place(struct decoder *decoder, const struct ptx_operand *address, uint8_t space,
                  struct access_place *place)
{
    *place = (struct access_place){.space = space, .width = 8};
    struct ptx_operand base = *address;
    base.elements = NULL;
    base.count = 0;
    uint32_t bits = 64;
    if (address->kind != PTX_OPERAND_ADDRESS) {
        decoder_fail(decoder);
    } else if (address->base == PTX_OPERAND_REGISTER) {
        base.kind = PTX_OPERAND_REGISTER;
        place->slot = decoder_any_source(decoder, &base, 64, &bits);
        place->imm = address->imm;
    } else if (address->base == PTX_OPERAND_SYMBOL) {
        base.kind = PTX_OPERAND_SYMBOL;
        place->slot = decode_address_of(decoder, &base, 64);
        if (space == PTX_SPACE_GENERIC && address->variable)
            place->space = address->variable->space;
    } else {
        place->slot = decoder_constant(decoder, 64, (uint64_t)address->imm);
    }
    if (bits != 32 && bits != 64)
        decoder_fail(decoder);
    place->width = (uint8_t)(bits / 8);
}

/* Strong accesses at a scope that other kernels share are atomic; .cta protects nothing there. */
bool access_is_strong(const struct ptx_instruction *i)
{
    switch (i->semantics) {
    case PTX_SEM_VOLATILE:
    case PTX_SEM_MMIO:
        return true;
    case PTX_SEM_RELAXED:
    case PTX_SEM_ACQUIRE:
    case PTX_SEM_RELEASE:
    case PTX_SEM_ACQ_REL:
    case PTX_SEM_SC:
        return i->scope == PTX_SCOPE_GPU || i->scope == PTX_SCOPE_SYS || i->scope == PTX_SCOPE_NONE;
    default:
        return false;
    }
}

void access_fill(struct micro *op, const struct access_place *place)
{
    op->a = place->slot;
    op->imm = place->imm;
    op->space = place->space;
    op->width = place->width;
    if (place->space == PTX_SPACE_GLOBAL || place->space == PTX_SPACE_GENERIC ||
        place->space == PTX_SPACE_CONST)
        op->option |= ACCESS_RECORDED;
}

void access_part(struct decoder *decoder, struct micro *op, const struct ptx_operand *address,
                 uint8_t space, uint8_t bytes)
{
    struct access_place where;
    access_place(decoder, address, space, &where);
    access_fill(op, &where);
    op->instruction = decoder->instruction_index;
    op->bytes = bytes;
    op->count = 1;
}

/* ---- ld, st -------------------------------------------------------------------------------- */

/* Slots of the elements; all of one width, which is returned. */
static uint32_t place_elements(struct decoder *decoder, const struct ptx_instruction *i,
                               const struct ptx_operand *value, bool load, uint32_t *slots)
{
    uint32_t bits = ptx_type_bits(i->type), common = 0;
    bool vector = value->kind == PTX_OPERAND_VECTOR;
    uint32_t count = i->vector;
    if ((vector ? value->count : 1) != count)
        decoder_fail(decoder);
    for (uint32_t k = 0; k < count && !decoder->failed; k++) {
        const struct ptx_operand *element = vector ? &value->elements[k] : value;
        uint32_t wanted = common ? common : bits, found;
        slots[k] = load ? decoder_any_destination(decoder, element, wanted, &found)
                        : decoder_any_source(decoder, element, wanted, &found);
        if (common && found != common)
            decoder_fail(decoder);
        common = found;
    }
    return common;
}

static bool is_kernel_param(const struct decoder *decoder, const struct ptx_operand *address,
                            uint8_t space)
{
    return space == PTX_SPACE_PARAM && address->base == PTX_OPERAND_SYMBOL && address->variable &&
           decoder->function->is_entry &&
           address->variable->offset < decoder->function->param_bytes;
}

void access_decode(struct decoder *decoder, const struct ptx_instruction *i, bool load)
{
    const struct ptx_operand *value = &i->operands[load ? 0 : 1];
    const struct ptx_operand *address = &i->operands[load ? 1 : 0];
    uint32_t bits = ptx_type_bits(i->type);
    uint32_t *slots = decoder_keep(decoder, 9 * sizeof *slots);
    if (!slots || bits < 8 || i->vector > 8) {
        decoder_fail(decoder);
        return;
    }
    struct access_place place;
    access_place(decoder, address, i->space, &place);
    uint32_t register_bits = place_elements(decoder, i, value, load, slots);
    micro_copy *copy = find_copy(load, bits, register_bits, ptx_type_is_signed(i->type));
    if (!copy || (!load && (i->space == PTX_SPACE_CONST))) {
        decoder_fail(decoder);
        return;
    }
    struct micro *op = decoder_emit(decoder, access_run);
    access_fill(op, &place);
    op->copy = copy;
    op->slots = slots;
    op->d = slots[0];
    op->bytes = (uint8_t)(bits / 8);
    op->count = i->vector;
    op->width2 = (uint8_t)(register_bits / 8);
    bool strong = access_is_strong(i);
    if (strong && (place.space == PTX_SPACE_GLOBAL || place.space == PTX_SPACE_GENERIC))
        decoder_order(decoder);
    op->touch = (uint8_t)(1u << (strong ? DEVICE_TRACE_ATOMIC
                                 : load ? DEVICE_TRACE_READ
                                        : DEVICE_TRACE_WRITE));
    if (!load)
        op->option |= ACCESS_WRITES;
    if (load && (i->semantics > PTX_SEM_WEAK))
        op->option |= ACCESS_STRONG;
    uint64_t end = address->variable ? address->variable->offset + (uint64_t)address->imm : 0;
    if (load && is_kernel_param(decoder, address, i->space) && address->imm >= 0 &&
        end + (uint64_t)op->bytes * op->count <= decoder->function->param_bytes) {
        op->run = load_param;
        op->imm = (int64_t)end;
    }
}

void decode_ld(struct decoder *decoder, const struct ptx_instruction *i)
{
    if (i->async)
        decoder_fail(decoder);
    else
        access_decode(decoder, i, true);
}

void decode_st(struct decoder *decoder, const struct ptx_instruction *i)
{
    if (i->async)
        decode_store_async(decoder, i);
    else if (!strncmp(i->mnemonic, "st.bulk.", strlen("st.bulk.")))
        decode_store_bulk(decoder, i);
    else
        access_decode(decoder, i, false);
}

/* ---- cp.async ------------------------------------------------------------------------------ */

struct copy_site {
    struct micro from, to;
    bool partial; /* slot `size`: how many bytes are really read; the rest is zero */
    uint32_t size, size_width;
    bool unless; /* slot `size` is a predicate: read nothing where it is true */
};

static uint64_t copy_bytes(struct warp *w, const struct copy_site *site, int lane)
{
    uint32_t all = site->to.bytes;
    if (site->unless)
        return *(uint32_t *)slot(w, site->size) >> lane & 1 ? 0 : all;
    if (!site->partial)
        return all;
    uint64_t bytes = site->size_width == 4 ? ((uint32_t *)slot(w, site->size))[lane]
                                           : ((uint64_t *)slot(w, site->size))[lane];
    return bytes < all ? bytes : all;
}

static int copy_lane(struct warp *w, const struct micro *op, int lane)
{
    const struct copy_site *site = op->pointer;
    uint8_t *from[WARP_LANES], *to[WARP_LANES], bytes[16] = {0};
    struct micro source = site->from;
    uint64_t count = copy_bytes(w, site, lane);
    int flow = FLOW_NEXT;
    /* A part may be of any length: read in bytes that need no alignment. */
    source.bytes = count == site->to.bytes ? (uint8_t)count : 1;
    for (uint64_t done = 0; done < count && flow == FLOW_NEXT; done += source.bytes) {
        source.imm = site->from.imm + (int64_t)done;
        flow = space_resolve(w, &source, from);
        if (flow == FLOW_NEXT)
            memcpy(bytes + done, from[lane], source.bytes);
    }
    if (flow == FLOW_NEXT)
        flow = space_resolve(w, &site->to, to);
    if (flow == FLOW_NEXT)
        memcpy(to[lane], bytes, site->to.bytes);
    return flow;
}

int access_by_lanes(struct warp *w, const struct micro *op, access_of_lane *of_lane)
{
    const uint32_t mask = w->mask;
    int flow = FLOW_NEXT;
    for (uint32_t m = mask; m && flow == FLOW_NEXT; m &= m - 1) {
        w->mask = m & -m;
        flow = of_lane(w, op, __builtin_ctz(m));
    }
    w->mask = mask;
    return flow;
}

static int copy_async(struct warp *w, const struct micro *op)
{
    const struct copy_site *site = op->pointer;
    uint8_t *from[WARP_LANES], *to[WARP_LANES];
    if (site->partial || site->unless)
        return access_by_lanes(w, op, copy_lane);
    int flow = space_resolve(w, &site->from, from);
    if (flow == FLOW_NEXT)
        flow = space_resolve(w, &site->to, to);
    if (flow == FLOW_NEXT)
        LANES(w, memmove(to[l], from[l], site->to.bytes));
    return flow;
}

static void decode_copy(struct decoder *decoder, const struct ptx_instruction *i)
{
    struct copy_site *site = decoder_keep(decoder, sizeof *site);
    const struct ptx_operand *size = &i->operands[2];
    if (!site || i->operand_count < 3 || size->kind != PTX_OPERAND_IMMEDIATE ||
        (size->imm != 4 && size->imm != 8 && size->imm != 16)) {
        decoder_fail(decoder);
        return;
    }
    access_part(decoder, &site->to, &i->operands[0], PTX_SPACE_SHARED, (uint8_t)size->imm);
    access_part(decoder, &site->from, &i->operands[1], PTX_SPACE_GLOBAL, (uint8_t)size->imm);
    site->to.option |= ACCESS_WRITES;
    site->from.touch = 1u << DEVICE_TRACE_READ;
    const struct ptx_operand *limit = i->operand_count > 3 ? &i->operands[3] : NULL;
    if (limit) {
        uint32_t bits;
        site->size = decoder_any_source(decoder, limit, 32, &bits);
        site->size_width = bits / 8;
        site->unless = bits == 1;
        /* a 64-bit register in the fourth place is a cache policy */
        site->partial = bits == 32;
    }
    decoder_emit(decoder, copy_async)->pointer = site;
}

void decode_cp(struct decoder *decoder, const struct ptx_instruction *i)
{
    if (!strncmp(i->mnemonic, "cp.async.bulk.prefetch.", strlen("cp.async.bulk.prefetch.")))
        return; /* there is no cache */
    switch (i->form) {
    case PTX_FORM_CP_ASYNC:
        decode_copy(decoder, i);
        return;
    case PTX_FORM_CP_ASYNC_BULK:
    case PTX_FORM_CP_REDUCE_ASYNC_BULK:
        decode_bulk(decoder, i);
        return;
    case PTX_FORM_CP_ASYNC_BULK_TENSOR:
    case PTX_FORM_CP_REDUCE_ASYNC_BULK_TENSOR:
        decode_bulk_tensor(decoder, i);
        return;
    case PTX_FORM_CP_ASYNC_COMMIT:
    case PTX_FORM_CP_ASYNC_WAIT_GROUP:
    case PTX_FORM_CP_ASYNC_WAIT_ALL:
    case PTX_FORM_CP_ASYNC_BULK_COMMIT:
    case PTX_FORM_CP_ASYNC_BULK_WAIT_GROUP:
        return; /* every copy is done already */
    case PTX_FORM_CP_ASYNC_MBARRIER_ARRIVE:
        decode_mbarrier(decoder, i);
        return;
    case PTX_FORM_CP_OTHER:
        if (!strncmp(i->mnemonic, "cp.async.bulk.global.", strlen("cp.async.bulk.global.")) &&
            strstr(i->mnemonic, ".cp_mask")) {
            decode_bulk(decoder, i);
            return;
        }
        decoder_fail(decoder);
        return;
    default:
        decoder_fail(decoder);
    }
}
