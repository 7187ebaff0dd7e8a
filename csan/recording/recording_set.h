/* The access sets of a recording: what an op touches, with its site and level. A program launches
 * the same things again and again, so each distinct set is written once, into one of 4,096 slots,
 * and from then on is one number. A new set is written as its difference to the one that its site
 * had last, for most often only addresses have changed.
 *
 *   set    = slot * 2                 a set that was written before; or
 *            slot * 2 + 1, like + 1, [site, level, count,] accesses
 *            which goes into the slot. `like` is the slot of the set that it differs from, 0: from
 *            none; then, and else if the byte after it is 1, site, level and count are given.
 *            Slot RECORDING_SLOTS: it is kept in none.
 *   access = u8 what differs, base (difference, zigzag), bytes + 1, four bytes dim_count, kind
 *            (order in bits 4 and 5), bound and element_bytes, argument, dims: stride (zigzag)
 *            and count each
 *
 * The writer and the reader of a recording each have a table, and both change alike. */
#ifndef CSAN_RECORDING_RECORDING_SET_H
#define CSAN_RECORDING_RECORDING_SET_H

#include <csan/csan.h>
#include "csan/recording/recording_format.h"

enum {
    RECORDING_SLOTS = 4096,
    RECORDING_KEPT_ACCESSES = 1 << 20, /* in all slots together, a dimension counted as one */
    RECORDING_INDEX = 16384
};

struct recording_set {
    uint64_t hash;
    uint32_t site;
    uint16_t level;
    uint16_t next; /* of the writer: the slot that came after it last time, which in a loop does */
    size_t count, weight;         /* weight: accesses and dimensions */
    struct csan_access *accesses; /* one block with their dims */
};

struct recording_sets {
    struct recording_set slots[RECORDING_SLOTS + 1]; /* the last: the one that is kept in none */
    size_t weight;
    /* of the writer: where to find a set, and which slot is the next to be used */
    uint16_t index[RECORDING_INDEX];
    uint32_t next, newest;
    uint16_t *last; /* by site: slot + 1 of its newest set */
    size_t site_capacity;
};

struct recording_sets *recording_sets_create(void);
void recording_sets_destroy(struct recording_sets *sets);

/* Write the set. Without memory the buffer has failed. */
void recording_sets_put(struct recording_sets *sets, struct byte_buffer *buffer, uint32_t site,
                        uint32_t level, const struct csan_access *accesses, size_t count);

/* Read a set: valid until the next is read. NULL: the bytes are none, or memory is short. */
const struct recording_set *recording_sets_get(struct recording_sets *sets,
                                               struct byte_cursor *cursor);

#endif
