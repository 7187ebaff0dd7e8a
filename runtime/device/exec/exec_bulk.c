/* cp.async.bulk and cp.reduce.async.bulk between global and shared memory (PTX ISA 9.7.9.25.4):
 * made at once, its bytes then counted at the mbarrier that waits for them. Elements of a reduction
 * are updated atomically, each by itself. */
#include "runtime/device/exec/exec_access.h"
#include "runtime/device/exec/exec_mbarrier.h"

enum { PIECE = 16 }; /* sizes and addresses are multiples of it */

struct bulk_site {
    struct micro from, to, barrier;
    uint32_t size; /* slot of the bytes to copy */
    bool counts;   /* there is an mbarrier */
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

static int copy_pieces(struct warp *w, const struct bulk_site *site, int lane, uint32_t size)
{
    uint8_t *from[WARP_LANES], *to[WARP_LANES];
    struct micro source = site->from, target = site->to;
    int flow = FLOW_NEXT;
    for (uint32_t done = 0; done < size && flow == FLOW_NEXT; done += PIECE) {
        source.imm = site->from.imm + done;
        target.imm = site->to.imm + done;
        flow = space_resolve(w, &source, from);
        if (flow == FLOW_NEXT)
            flow = space_resolve(w, &target, to);
        if (flow == FLOW_NEXT)
            move_piece(w, site, to[lane], from[lane]);
    }
    return flow;
}

static int copy_lane(struct warp *w, const struct micro *op, int lane)
{
    const struct bulk_site *site = op->pointer;
    uint32_t size = ((const uint32_t *)slot(w, site->size))[lane];
    uint8_t *barriers[WARP_LANES];
    if (size % PIECE)
        return fault_raise(w, op, 1u << lane, EXEC_FAULT_ILLEGAL_INSTRUCTION, size);
    int flow = copy_pieces(w, site, lane, size);
    if (flow != FLOW_NEXT || !site->counts)
        return flow;
    flow = space_resolve(w, &site->barrier, barriers);
    if (flow == FLOW_NEXT)
        mbarrier_complete(barriers[lane], size);
    return flow;
}

static int copy_bulk(struct warp *w, const struct micro *op)
{
    return access_by_lanes(w, op, copy_lane);
}

static void place(struct decoder *decoder, struct micro *op, const struct ptx_operand *address,
                  uint8_t space, uint8_t bytes)
{
    struct access_place where;
    access_place(decoder, address, space, &where);
    access_fill(op, &where);
    op->instruction = decoder->instruction_index;
    op->bytes = bytes;
    op->count = 1;
}

void decode_bulk(struct decoder *decoder, const struct ptx_instruction *i)
{
    struct bulk_site *site = decoder_keep(decoder, sizeof *site);
    bool counts = i->operand_count > 3 && i->operands[3].kind == PTX_OPERAND_ADDRESS;
    bool reduces = i->form == PTX_FORM_CP_REDUCE_ASYNC_BULK;
    bool to_shared = i->space == PTX_SPACE_SHARED || i->space == PTX_SPACE_SHARED_CLUSTER;
    if (!site || i->operand_count < 3 || counts != to_shared) {
        decoder_fail(decoder);
        return;
    }
    place(decoder, &site->to, &i->operands[0], i->space, PIECE);
    place(decoder, &site->from, &i->operands[1], i->space2, PIECE);
    site->to.option |= ACCESS_WRITES;
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
        place(decoder, &site->barrier, &i->operands[3], PTX_SPACE_SHARED, 8);
    site->barrier.option = ACCESS_WRITES;
    decoder_emit(decoder, copy_bulk)->pointer = site;
}
