/* cp.async.bulk, cp.reduce.async.bulk and st.bulk, of global and shared memory (PTX
 * ISA 9.7.9.25.4): made at once, its bytes then counted at the mbarrier that waits for them.
 * Elements of a reduction are updated atomically, each by itself. */
#include "runtime/device/exec/exec_access.h"
#include "runtime/device/exec/exec_mbarrier.h"

enum { PIECE = 16 }; /* sizes and addresses are multiples of it */

struct bulk_site {
    struct micro from, to, barrier;
    uint32_t size;   /* slot of the bytes to copy */
    bool counts;     /* there is an mbarrier */
    bool multicast;  /* to several blocks of the cluster */
    uint32_t blocks; /* slot of the mask of these */
    bool masked;     /* .cp_mask */
    uint32_t bytes;  /* slot of the mask of each 16 bytes */
    uint8_t element_bytes;
    atomic_update *reduce; /* NULL: a copy */
};

static void move_piece(struct warp *w, const struct bulk_site *site, uint8_t *to,
                       const uint8_t *from)
{
    if (!site->reduce)
        memmove(to, from, PIECE);
    for (uint32_t at = 0; site->reduce && at < PIECE; at += site->element_bytes) {
        uint64_t value = 0;
        memcpy(&value, from + at, site->element_bytes);
        atomic_apply(to + at, site->element_bytes, site->reduce, value, 0, &w->state->progress);
    }
}

/* Of a mask's ones that follow one another, the first that is not below `from`, and how many. */
static uint32_t next_run(uint32_t mask, uint32_t from, uint32_t *count)
{
    const uint32_t rest = mask >> from << from;
    const uint32_t first = rest ? (uint32_t)__builtin_ctz(rest) : PIECE;
    *count = (uint32_t)__builtin_ctz(~(mask >> first));
    return first;
}

/* "The i-th bit in the 16-bit wide byteMask operand specifies whether the i-th byte of each 16-byte
 * wide chunk of source data is copied." */
static void move_masked(struct warp *w, const struct bulk_site *site, const struct micro *target,
                        int lane, uint8_t *to, const uint8_t *from)
{
    const uint16_t mask = ((const uint16_t *)slot(w, site->bytes))[lane];
    uint64_t addresses[WARP_LANES];
    uint32_t count;
    space_addresses(w, target, addresses);
    for (uint32_t at = next_run(mask, 0, &count); at < PIECE;
         at = next_run(mask, at + count, &count)) {
        memcpy(to + at, from + at, count);
        if (w->state->touch)
            touch_record(w->state->touch, DEVICE_TRACE_WRITE, addresses[lane] + at, count);
    }
}

enum { BY_ADDRESS = -1 };

/* Where an operand lies: as its address says, or at the same offset in another block. */
static int resolve_in(struct warp *w, const struct micro *op, int block, int lane,
                      uint8_t **pointers)
{
    uint64_t addresses[WARP_LANES];
    space_addresses(w, op, addresses);
    if (block != BY_ADDRESS)
        addresses[lane] = addresses[lane] % WINDOW_CLUSTER + (uint64_t)(block + 1) * WINDOW_CLUSTER;
    return space_resolve_at(w, op, addresses, pointers);
}

static int copy_pieces(struct warp *w, const struct bulk_site *site, int lane, uint32_t size,
                       int block)
{
    uint8_t *from[WARP_LANES], *to[WARP_LANES];
    struct micro source = site->from, target = site->to;
    int flow = FLOW_NEXT;
    for (uint32_t done = 0; done < size && flow == FLOW_NEXT; done += PIECE) {
        source.imm = site->from.imm + done;
        target.imm = site->to.imm + done;
        flow = space_resolve(w, &source, from);
        if (flow == FLOW_NEXT)
            flow = resolve_in(w, &target, block, lane, to);
        if (flow == FLOW_NEXT && site->masked)
            move_masked(w, site, &target, lane, to[lane], from[lane]);
        else if (flow == FLOW_NEXT)
            move_piece(w, site, to[lane], from[lane]);
    }
    return flow;
}

static int copy_to(struct warp *w, const struct bulk_site *site, int lane, uint32_t size, int block)
{
    uint8_t *barriers[WARP_LANES];
    int flow = copy_pieces(w, site, lane, size, block);
    if (flow != FLOW_NEXT || !site->counts)
        return flow;
    flow = resolve_in(w, &site->barrier, block, lane, barriers);
    if (flow == FLOW_NEXT)
        mbarrier_complete(barriers[lane], size);
    return flow;
}

static int copy_lane(struct warp *w, const struct micro *op, int lane)
{
    const struct bulk_site *site = op->pointer;
    uint32_t size = ((const uint32_t *)slot(w, site->size))[lane];
    int flow = FLOW_NEXT;
    if (size % PIECE)
        return fault_raise(w, op, 1u << lane, EXEC_FAULT_ILLEGAL_INSTRUCTION, size);
    if (!site->multicast)
        return copy_to(w, site, lane, size, BY_ADDRESS);
    const uint16_t blocks = ((const uint16_t *)slot(w, site->blocks))[lane];
    for (int block = 0; blocks >> block && flow == FLOW_NEXT; block++)
        if (blocks >> block & 1)
            flow = copy_to(w, site, lane, size, block);
    return flow;
}

static int copy_bulk(struct warp *w, const struct micro *op)
{
    return access_by_lanes(w, op, copy_lane);
}

/* ---- st.bulk --------------------------------------------------------------------------------- */

enum { ZEROES = 8 }; /* sizes and addresses are multiples of it */

struct zero_site {
    struct micro to;
    uint32_t size; /* slot of 64 bits */
};

static int zero_lane(struct warp *w, const struct micro *op, int lane)
{
    const struct zero_site *site = op->pointer;
    const uint64_t size = ((const uint64_t *)slot(w, site->size))[lane];
    uint8_t *to[WARP_LANES];
    struct micro target = site->to;
    int flow = FLOW_NEXT;
    if (size % ZEROES)
        return fault_raise(w, op, 1u << lane, EXEC_FAULT_ILLEGAL_INSTRUCTION, size);
    for (uint64_t done = 0; done < size && flow == FLOW_NEXT; done += ZEROES) {
        target.imm = site->to.imm + (int64_t)done;
        flow = space_resolve(w, &target, to);
        if (flow == FLOW_NEXT)
            memset(to[lane], 0, ZEROES);
    }
    return flow;
}

static int store_zeroes(struct warp *w, const struct micro *op)
{
    return access_by_lanes(w, op, zero_lane);
}

/* "st.bulk.weak.shared::cta [a], size, 0" */
void decode_store_bulk(struct decoder *decoder, const struct ptx_instruction *i)
{
    struct zero_site *site = decoder_keep(decoder, sizeof *site);
    if (!site || i->operand_count != 3 || i->operands[2].kind != PTX_OPERAND_IMMEDIATE ||
        i->operands[2].imm) {
        decoder_fail(decoder);
        return;
    }
    access_part(decoder, &site->to, &i->operands[0], i->space, ZEROES);
    site->to.option |= ACCESS_WRITES;
    site->to.touch = 1u << DEVICE_TRACE_WRITE;
    site->size = decoder_source(decoder, &i->operands[1], 64);
    decoder_emit(decoder, store_zeroes)->pointer = site;
}

/* ---- decoding -------------------------------------------------------------------------------- */

void decode_bulk(struct decoder *decoder, const struct ptx_instruction *i)
{
    struct bulk_site *site = decoder_keep(decoder, sizeof *site);
    bool counts = i->operand_count > 3 && i->operands[3].kind == PTX_OPERAND_ADDRESS;
    bool reduces = i->form == PTX_FORM_CP_REDUCE_ASYNC_BULK;
    bool to_shared = i->space == PTX_SPACE_SHARED || i->space == PTX_SPACE_SHARED_CLUSTER;
    const bool multicast = strstr(i->mnemonic, ".multicast::cluster") != NULL;
    const bool masked = strstr(i->mnemonic, ".cp_mask") != NULL;
    if (!site || i->operand_count < 3 || counts != to_shared ||
        (multicast && (!counts || i->operand_count < 5)) ||
        (masked && (to_shared || i->operand_count < 4))) {
        decoder_fail(decoder);
        return;
    }
    site->multicast = multicast;
    if (multicast)
        site->blocks = decoder_source(decoder, &i->operands[4], 16);
    site->masked = masked;
    if (masked) /* behind a cache policy, if there is one */
        site->bytes = decoder_source(decoder, &i->operands[i->operand_count - 1], 16);
    access_part(decoder, &site->to, &i->operands[0], i->space, PIECE);
    access_part(decoder, &site->from, &i->operands[1], i->space2, PIECE);
    site->to.option |= ACCESS_WRITES;
    if (!masked)
        site->to.touch = 1u << (reduces ? DEVICE_TRACE_ATOMIC : DEVICE_TRACE_WRITE);
    site->from.touch = 1u << DEVICE_TRACE_READ;
    site->size = decoder_source(decoder, &i->operands[2], 32);
    site->counts = counts;
    if (reduces) {
        site->element_bytes = (uint8_t)(ptx_type_bits(i->type) / 8);
        site->reduce = atomic_update_of(i->atomic, i->type, i->space);
        decoder_order(decoder);
        if (!site->reduce)
            decoder_fail(decoder);
    }
    if (counts)
        access_part(decoder, &site->barrier, &i->operands[3], PTX_SPACE_SHARED, 8);
    site->barrier.option = ACCESS_WRITES;
    decoder_emit(decoder, copy_bulk)->pointer = site;
}
