/* A block whose warps go from barrier to barrier together. Each warp has all its lanes in one
 * group, and either is ready at `pc` or waits at the barrier `next`: so a word says for all of them
 * what groups and barriers say otherwise, and a warp that comes to a barrier writes one bit. It
 * lasts while compiled code runs the block's turns; lockstep_settle puts down what came of it
 * before anybody else looks at groups or barriers. */
#ifndef RUNTIME_DEVICE_EXEC_EXEC_LOCKSTEP_H
#define RUNTIME_DEVICE_EXEC_EXEC_LOCKSTEP_H

#include "runtime/device/exec/exec_engine.h"

/* Begins, if all warps of the block have just been let go at a barrier: they are ready at the pc,
 * in the program of the last one to come, whose compiled form is `form`. */
void lockstep_begin(struct warp *last, uint32_t pc, const struct compiled *form);
/* Ends, if it has begun. */
void lockstep_settle(struct block *block);

static inline bool lockstep_waits(const struct lockstep *lockstep, uint32_t warp)
{
    return lockstep->came >> warp & 1;
}

/* The warp comes to barrier `pc`, number `id`. False: another barrier than the others did, or one
 * that not only whole warps come to. */
static inline bool lockstep_comes(struct block *block, uint32_t warp, uint32_t pc, uint32_t id)
{
    struct lockstep *lockstep = &block->lockstep;
    const struct barrier *barrier = &block->barriers[id];
    if (lockstep->came ? lockstep->next != pc : barrier->arrivals || barrier->expected)
        return false;
    lockstep->next = pc;
    lockstep->barrier = (uint8_t)id;
    lockstep->came |= 1u << warp;
    return true;
}

/* Whether all have come: then they go on. */
static inline bool lockstep_opens(struct block *block)
{
    struct lockstep *lockstep = &block->lockstep;
    if (lockstep->came != lockstep->all)
        return false;
    lockstep->came = 0;
    lockstep->pc = lockstep->next + 1;
    block->state->progress++;
    return true;
}

#endif
