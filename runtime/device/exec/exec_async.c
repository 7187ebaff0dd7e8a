/* st.async and red.async (PTX ISA, there): a store or an update in shared memory of the cluster. It
 * is made at once. Its bytes are then counted at the mbarrier that waits for them. */
#include "runtime/device/exec/exec_access.h"
#include "runtime/device/exec/exec_mbarrier.h"

struct async_site {
    struct micro access; /* as st or red has it */
    struct micro barrier;
};

static int access_async(struct warp *w, const struct micro *op)
{
    const struct async_site *site = op->pointer;
    const uint32_t bytes = (uint32_t)site->access.bytes * site->access.count;
    uint8_t *barriers[WARP_LANES];
    int flow = site->access.run(w, &site->access);
    if (flow == FLOW_NEXT)
        flow = space_resolve(w, &site->barrier, barriers);
    if (flow == FLOW_NEXT)
        LANES(w, mbarrier_complete(barriers[l], bytes));
    return flow;
}

/* What was emitted last becomes the access of `[a], b, [mbarrier]`. */
static void add_barrier(struct decoder *decoder, const struct ptx_instruction *i)
{
    struct async_site *site = decoder_keep(decoder, sizeof *site);
    if (!site || decoder->failed || !decoder->code_count)
        return;
    site->access = decoder->code[decoder->code_count - 1];
    decoder->code_count--;
    access_part(decoder, &site->barrier, &i->operands[2], i->space, 8);
    site->barrier.option = ACCESS_WRITES;
    decoder_emit(decoder, access_async)->pointer = site;
}

/* Other forms have no mbarrier: they write global memory. */
static bool has_barrier(const struct ptx_instruction *i)
{
    return i->operand_count == 3 && i->operands[2].kind == PTX_OPERAND_ADDRESS &&
           (i->space == PTX_SPACE_SHARED_CLUSTER || i->space == PTX_SPACE_GENERIC);
}

void decode_store_async(struct decoder *decoder, const struct ptx_instruction *i)
{
    if (!has_barrier(i)) {
        decoder_fail(decoder);
        return;
    }
    access_decode(decoder, i, false);
    add_barrier(decoder, i);
}

void decode_reduce_async(struct decoder *decoder, const struct ptx_instruction *i)
{
    if (!has_barrier(i) || i->opcode != PTX_OP_RED || i->vector > 1) {
        decoder_fail(decoder);
        return;
    }
    atomic_decode(decoder, i);
    add_barrier(decoder, i);
}
