/* What reads_by_regions() said of launches before: it follows from a few words of the parameters,
 * those that conditions compare, and most launches of a kernel have what others had there. */
#ifndef RUNTIME_SASS_READS_MEMO_H
#define RUNTIME_SASS_READS_MEMO_H

#include "runtime/sass/reads.h"

enum { READS_DECIDERS_MOST = 16, READS_REMEMBERED = 8 };

struct reads_memo {
    const struct reads *reads; /* there as long as this is */
    uint32_t decider_count;
    uint16_t deciders[READS_DECIDERS_MOST]; /* words */
    uint8_t states[READS_REMEMBERED];       /* atomic; of the first ones, for good */
    uint32_t *room; /* for each what the deciders have, then what is read; the caller's */
};

/* Words of `room`. */
static inline size_t reads_memo_room(const struct reads *reads)
{
    return READS_REMEMBERED * (READS_DECIDERS_MOST + (size_t)reads_chunks(reads->words));
}

/* Bytes for each; the first is at `room`. */
static inline size_t reads_memo_each(const struct reads_memo *memo)
{
    return (memo->decider_count + reads_chunks(memo->reads->words)) * sizeof(uint32_t);
}

/* Into any memory. */
void reads_memo_open(struct reads_memo *memo, const struct reads *reads, uint32_t *room);
/* As reads_by_regions(). Thread-safe. */
void reads_memo_find(struct reads_memo *memo, const struct reads_launch *launch, uint32_t *read);
/* Marks the bytes of the parameters that the launch reads, or that decide what it reads: they
 * become 0xff, the others 0. Another launch of that grid which has the same there reads the same.
 * Thread-safe. */
void reads_memo_mark(struct reads_memo *memo, const struct reads_launch *launch, uint8_t *marks);
/* Whether a word of the parameters may decide which others are read. */
bool reads_memo_decides(const struct reads_memo *memo, uint32_t word);

#endif
