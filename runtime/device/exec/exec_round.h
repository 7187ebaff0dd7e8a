/* A round of a block: each of its warps has one turn. */
#ifndef RUNTIME_DEVICE_EXEC_EXEC_ROUND_H
#define RUNTIME_DEVICE_EXEC_EXEC_ROUND_H

#include "runtime/device/exec/exec_engine.h"

enum { WARP_TURN = 1 << 12 /* warp instructions of a warp before the next has a turn */ };

struct round {
    struct block *block;
    int64_t budget;    /* of the block, without what the open turn used */
    struct warp *warp; /* whose turn it is, or NULL */
    uint32_t place;    /* of that in the block */
    int64_t turn;      /* what it began with */
    int64_t left;
    uint64_t progress; /* when its group began to run */
    uint64_t before;   /* progress when the round began */
    uint32_t begun, exited, blocked, running;
};

static inline void round_begin(struct round *round, uint64_t progress)
{
    round->before = progress;
    round->begun = round->exited = round->blocked = round->running = 0;
}

/* Begins the next round at once where this one is over and something was done in it: then the block
 * goes on. */
static inline void round_renew(struct round *round)
{
    const uint64_t progress = round->block->state->progress;
    if (round->begun == round->block->warp_count && round->before != progress)
        round_begin(round, progress);
}

static inline void round_place(struct round *round, uint32_t place)
{
    struct block *block = round->block;
    round->place = place;
    round->warp = &block->warps[place];
    block->next_warp = place + 1 == block->warp_count ? 0 : place + 1; /* a remainder is slow */
    round->turn = round->left = round->budget < WARP_TURN ? round->budget : WARP_TURN;
}

/* Begins the next warp's turn. False: the round is over. */
static inline bool round_open(struct round *round)
{
    struct block *block = round->block;
    round->warp = NULL;
    if (round->begun == block->warp_count || round->budget <= 0)
        return false;
    round->begun++;
    round_place(round, block->next_warp);
    return true;
}

/* The open turn and those behind it, `count` in all, are over and the next has begun: warps wait,
 * and the budget has paid. If a round began among them, progress was `before` then. */
static inline void round_skip(struct round *round, uint32_t count, uint64_t before)
{
    const uint32_t all = round->block->warp_count, place = round->place + count;
    round->begun += count;
    round->blocked += count;
    if (round->begun > all) {
        const uint32_t begun = round->begun - all;
        round_begin(round, before);
        round->begun = begun;
        round->blocked = begun - 1;
    }
    round_place(round, place >= all ? place - all : place);
}

/* Ends it, with round->left of its budget. */
static inline void round_close(struct round *round, enum warp_status status)
{
    round->budget -= round->turn - round->left;
    round->exited += status == WARP_EXITED;
    round->blocked += status == WARP_BLOCKED;
    round->running += status == WARP_RUNNING;
}

#endif
