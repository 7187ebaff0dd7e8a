/* See exec_round.h. Warps of a compiled kernel that wait for one another at barriers have their
 * turns one after the other in the compiled code (compiled_turns), with the result that single
 * turns have. */
#include "runtime/device/exec/exec_round.h"
#include "runtime/device/exec/exec_lockstep.h"

/* The open turn and those behind it, up to one that is still open then. False: none is. */
static bool run_turn(struct round *round, enum warp_status *status)
{
    const struct compiled *together = round->block->lockstep.form;
    const struct compiled *form = together             ? together
                                  : round->warp->alive ? warp_take_alone(round->warp)
                                                       : NULL;
    const int flow = form ? compiled_turns(round, form) : COMPILED_NOBODY;
    if (!round->warp)
        return false;
    *status = flow != COMPILED_NOBODY
                  ? warp_go_on(round->warp, (enum flow)flow, round->progress, &round->left)
              : round->warp->alive ? warp_run(round->warp, &round->left)
                                   : WARP_EXITED;
    return true;
}

static enum turn result(const struct round *round)
{
    const uint32_t count = round->block->warp_count;
    if (round->exited == count)
        return TURN_FINISHED;
    /* A warp that another one let go may not have had a turn since. */
    if (round->running || round->budget <= 0 || round->before != round->block->state->progress)
        return TURN_MORE;
    return round->exited + round->blocked == count ? TURN_BLOCKED : TURN_IDLE;
}

enum turn round_run(struct block *block, int64_t *budget)
{
    struct round round = {.block = block, .budget = *budget, .before = block->state->progress};
    enum warp_status status = WARP_RUNNING;
    while (status != WARP_FAULT && round_open(&round))
        if (run_turn(&round, &status))
            round_close(&round, status);
    *budget = round.budget;
    return status == WARP_FAULT ? TURN_FAULT : result(&round);
}
