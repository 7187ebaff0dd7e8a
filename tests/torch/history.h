/* Every access that a program made to a tensor, whole, and what orders it: it checks verdicts.
 *
 * Nothing is ever forgotten here, so it knows all pairs that race. From that it says which of them
 * PyTorch's handler looks at (the last write, or the reads since, of the tensor's present life) and
 * demands that PyTorch's verdict is exactly those; and that csan's holds
 *
 *   - no pair that is ordered,
 *   - every pair that PyTorch has, or in its place a later access that was ordered after it,
 *   - the first race on each piece of memory.
 *
 * What csan says more is counted by why PyTorch misses it. At most HISTORY_STREAMS streams are
 * used. */
#ifndef CSAN_TESTS_TORCH_HISTORY_H
#define CSAN_TESTS_TORCH_HISTORY_H

#include "call.h"

enum { HISTORY_STREAMS = 64 };

/* Where csan's verdict on a touch is not PyTorch's, and why. */
enum difference {
    /* csan checks the last write also once there were reads, PyTorch only the reads */
    DIFFERENCE_WRITE_BEFORE_READS,
    /* a write that raced made PyTorch forget what it raced with; csan keeps the reads */
    DIFFERENCE_BEFORE_RACING_WRITE,
    /* a freed tensor's memory goes to a new one: PyTorch forgets the former owner */
    DIFFERENCE_REUSE,
    /* csan names the last of reads that are ordered one after the other, PyTorch all of them */
    DIFFERENCE_READ_STANDS_FOR_READ,
    DIFFERENCES
};

struct tally {
    uint64_t launches, touches;
    uint64_t racing;           /* touches that PyTorch reports */
    uint64_t more;             /* touches that csan reports and PyTorch does not */
    uint64_t why[DIFFERENCES]; /* touches, or for READ_STANDS_FOR_READ those with the same
                                  tensor but fewer streams */
};

struct history;
struct history *history_create(void);
void history_destroy(struct history *history);

/* Take a call that is no launch. */
void history_call(struct history *history, const struct call *call);

/* Checks both verdicts on a launch, then takes the launch. False, and why in `message`, when one is
 * wrong. */
bool history_check(struct history *history, const struct call *call, const struct named *named,
                   size_t named_count, const struct reported *reported, size_t reported_count,
                   struct tally *tally, char *message, size_t message_bytes);

#endif
