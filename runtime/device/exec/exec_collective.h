/* Collective instructions of a warp: see exec_collective.c. */
#ifndef RUNTIME_DEVICE_EXEC_EXEC_COLLECTIVE_H
#define RUNTIME_DEVICE_EXEC_EXEC_COLLECTIVE_H

#include "runtime/device/exec/exec_decoder.h"

/* micro.kind */
enum collective {
    COLLECTIVE_SHUFFLE,
    COLLECTIVE_VOTE,
    COLLECTIVE_MATCH,
    COLLECTIVE_REDUCE,
    COLLECTIVE_ELECT,
    COLLECTIVE_SYNC
};
/* micro.option */
enum {
    COLLECTIVE_ACTIVE = 1, /* no mask: the lanes that happen to be together */
    COLLECTIVE_RESULT = 2, /* d is written */
    COLLECTIVE_SECOND = 4  /* q too */
};

micro_run collective_run;

/* bar.warp.sync */
void collective_decode_sync(struct decoder *decoder, const struct ptx_operand *mask);

#endif
