/* Which message each receive has, and which receive a send waits for, as the recordings of several
 * processes say. Messages of a channel come in the order of sends, to receives in the order in
 * which those were posted. A process's receives have numbers in that order; what the recording says
 * of them comes later, and in any order. */
#ifndef CSAN_REPLAY_RECEIVES_H
#define CSAN_REPLAY_RECEIVES_H

#include "csan/recording/recording_read.h"
#include "csan/replay/channel.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct receive;
struct posted;

/* Of one process. All zero: none yet. */
struct receives {
    struct receive *items; /* CSAN_LINK_TAKE and CSAN_LINK_LOOK, as they come */
    size_t count, capacity;
    struct posted *posted; /* CSAN_LINK_POST */
    size_t posted_count, posted_capacity;
    size_t ended;  /* receives that are over */
    uint64_t last; /* the highest number of a receive */
    bool passed;   /* one was over before one that might have had its message */
};

/* A TAKE, LOOK or POST. `source`: its number among what others may wait for. False: memory is
 * short. */
bool receives_take(struct receives *receives, const struct recorded *recorded, uint32_t source);
/* After the last. By number of TAKE or LOOK: which message of its channel it is, from 1; the
 * caller's. NULL: memory is short. */
uint32_t *receives_number(struct receives *receives);
/* Then: where the receive of that message was posted (a `source`). False: it is not there. */
bool receives_find(const struct receives *receives, uint64_t key, uint32_t message,
                   uint32_t *source);
/* A receive is not there that may have had another one's message. */
bool receives_uncertain(const struct receives *receives);
void receives_clear(struct receives *receives);

/* ---- Sends that wait for their receive ---- */

struct synchronous_send {
    uint64_t key;
    uint32_t message; /* of the channel, from 1 */
};

/* Of all processes: how many messages each channel has. */
struct sends {
    struct channel *channels;
};

/* Of one process: those that wait, by their number. */
struct synchronous_sends {
    struct synchronous_send *items;
    size_t capacity;
};

/* A NEXT. False: memory is short. */
bool sends_take(struct sends *sends, struct synchronous_sends *synchronous,
                const struct recorded *recorded);
/* NULL: there is none with that number. */
const struct synchronous_send *synchronous_sends_find(const struct synchronous_sends *synchronous,
                                                      uint64_t number);
void sends_clear(struct sends *sends);
void synchronous_sends_clear(struct synchronous_sends *synchronous);

#endif
