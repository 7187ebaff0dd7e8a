/* What a replay keeps: what the numbers of a recording stand for, in each of its branches. For
 * replay*.c. */
#ifndef CSAN_REPLAY_REPLAY_STATE_H
#define CSAN_REPLAY_REPLAY_STATE_H

#include "csan/detector/context.h"
#include "csan/replay/replay_define.h"

#include <stdbool.h>
#include <uthash.h>

enum object_kind { OBJECT_NONE, OBJECT_SNAPSHOT, OBJECT_EVENT, OBJECT_FREE };

/* One that a number stands for, and whose it is. */
struct object {
    void *handle;
    uint32_t context;
    enum object_kind kind;
};

/* By number, each kind in a table of its own. */
struct objects {
    struct object *items;
    size_t capacity;
};

struct numbers {
    uint32_t *items;
    size_t capacity;
};

struct branch {
    csan_context *context;
    bool live;
    struct numbers lanes; /* + 1; 0: there is no such lane */
};

struct ticket {
    struct ticket_key {
        uint64_t number, context;
    } key;
    uint64_t own;
    UT_hash_handle hh;
};

struct call_name {
    struct call_name *next;
    char text[];
};

struct replay {
    struct branch *branches; /* the first is the whole */
    size_t branch_capacity;
    struct branch *current;
    uint32_t context; /* its number */
    uint64_t now;
    uint64_t wall_offset; /* from `now` to nanoseconds since 1970; 0: not known */
    struct objects snapshots, events, frees;
    struct ticket *tickets;       /* uthash */
    struct call_name *call_names; /* utlist */
    struct replay_definitions definitions;
    struct range_path *ranges; /* as NVTX has them now; or NULL */
};

/* ---- replay_numbers.c ---- */

/* NULL, or why there can be no such one. */
const char *replay_object_add(struct replay *replay, struct objects *objects, uint64_t number,
                              enum object_kind kind, void *handle);
/* The live one of that number, in this context; NULL: none. */
struct object *replay_object_of(const struct replay *replay, const struct objects *objects,
                                uint64_t number);
void replay_object_end(struct replay *replay, struct object *object);
/* False: there is no such lane. */
bool replay_lane_of(const struct replay *replay, uint64_t number, csan_lane *lane);
void replay_branch_end(struct replay *replay, uint32_t number);

/* ---- replay.c ---- */

void replay_ranges_end(struct replay *replay);

#endif
