/* griddepcontrol (PTX ISA, "Parallel Synchronization and Communication Instructions"). One grid
 * lets the next one of its stream begin. One that began early waits until the previous grid has
 * ended. The driver knows which grids these are: exec_launch.previous_done. */
#include "runtime/device/exec/exec_decoder.h"

static int dependency_wait(struct warp *w, const struct micro *op)
{
    const volatile bool *done = w->state->launch.previous_done;
    if (!done || *done)
        return FLOW_NEXT;
    w->pc = (uint32_t)(op - w->frame->program->code); /* and looks again */
    return FLOW_YIELD;
}

/* "signals that specific dependents [...] can be scheduled as soon as all other CTAs of the grid
 * issue the same instruction or have completed" */
static int dependency_let(struct warp *w, const struct micro *op)
{
    (void)op;
    w->state->lets += !w->block->lets;
    w->block->lets = true;
    return FLOW_NEXT;
}

void decode_dependency(struct decoder *decoder, const struct ptx_instruction *i)
{
    decoder_order(decoder);
    decoder_emit(decoder, i->form == PTX_FORM_GRIDDEP_WAIT ? dependency_wait : dependency_let);
}

bool exec_lets(const exec_state *state)
{
    return state->lets == state->block_total;
}
