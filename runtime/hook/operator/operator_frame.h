/* A thread's running operators, as a stack of frames, and the memory that was made since the
 * outermost one began. Such memory is the operator's output, or is used by it. Only
 * operator_stack.c, which begins and ends them, and operator_work.c, which asks them about a piece
 * of work, include this. */
#ifndef RUNTIME_HOOK_OPERATOR_OPERATOR_FRAME_H
#define RUNTIME_HOOK_OPERATOR_OPERATOR_FRAME_H

#include "csan/base/array.h"
#include "runtime/hook/operator/operator_ops.h"
#include "runtime/hook/operator/operator_stack.h"
#include "runtime/hook/operator/operator_summary.h"

enum { FRAMES_MAX = 64, NO_FRAME = -1 };

struct access_list {
    const struct csan_access *items;
    size_t count;
};

/* An operator that runs. */
struct frame {
    const struct csan_operator *what;
    struct access_list accesses, host;  /* the caller's arrays */
    size_t made;                        /* how much memory the thread had made when it began, */
    uint64_t launches;                  /* and how many launches */
    csan_lane lane;                     /* of its first launch; CSAN_NO_LANE: none yet */
    CUstream stream;                    /* the same where that is captured */
    uint64_t id;                        /* if it has captured something; else 0 */
    uint64_t indices;                   /* number of index_range_note; 0: none */
    const struct callsite_stack *stack; /* of a library's call; or */
    csan_site site;                     /* of such a call's launches: it was deferred */
    bool library, apart, complete, traced;
    struct operator_ops ops;
    struct operator_summary_frame summary;
};

/* Memory made while operators run; bytes 0: given back since. */
struct made {
    uint64_t base, bytes;
};

struct operators {
    struct frame frames[FRAMES_MAX];
    int depth;  /* may go beyond FRAMES_MAX: those are not kept */
    int naming; /* the frame that names launches, or NO_FRAME */
    uint64_t launches;
    struct made *made;
    size_t made_count, made_room;
    struct csan_access *scratch; /* for the list of one launch */
    size_t scratch_room;
    struct csan_access *kept; /* of a deferred call */
};

static inline struct frame *frame_top(struct operators *own)
{
    return &own->frames[(own->depth < FRAMES_MAX ? own->depth : FRAMES_MAX) - 1];
}

static inline struct frame *frame_naming(struct operators *own)
{
    return own->naming == NO_FRAME ? frame_top(own) : &own->frames[own->naming];
}

/* Room for a list of one launch; NULL when memory is short. */
static inline struct csan_access *operators_scratch(struct operators *own, size_t count)
{
    return array_reserve(&own->scratch, count, &own->scratch_room, 16, SIZE_MAX,
                         sizeof *own->scratch)
               ? own->scratch
               : NULL;
}

static inline struct operator_summary_list summary_list(struct access_list list)
{
    return (struct operator_summary_list){list.items, list.count};
}

#endif
