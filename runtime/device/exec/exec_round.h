/* A round of a block: each of its warps has one turn. */
#ifndef RUNTIME_DEVICE_EXEC_EXEC_ROUND_H
#define RUNTIME_DEVICE_EXEC_EXEC_ROUND_H

#include "runtime/device/exec/exec_engine.h"

enum { WARP_TURN = 1 << 12 /* warp instructions of a warp before the next has a turn */ };

struct round {
    struct block *block;
    int64_t budget;    /* of the block, without what the open turn used */
    struct warp *warp; /* whose turn it is, or NULL */
    int64_t turn;      /* what it began with */
    int64_t left;
    uint64_t progress; /* when its group began to run */
    uint32_t begun, exited, blocked, running;
};

/* Begins the next warp's turn. False: the round is over. */
static inline bool round_open(struct round *round)
{
    struct block *block = round->block;
    round->warp = NULL;
    if (round->begun == block->warp_count || round->budget <= 0)
        return false;
    round->begun++;
    round->warp = &block->warps[block->next_warp];
    if (++block->next_warp == block->warp_count) /* a remainder would be slow */
        block->next_warp = 0;
    round->turn = round->left = round->budget < WARP_TURN ? round->budget : WARP_TURN;
    return true;
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
