/* What a launch reads (learn/reads.h), of the blocks of a kernel's code, the words that each reads,
 * and the conditions by which control leaves some: blocks between those are put together. */
#ifndef RUNTIME_SASS_REGIONS_H
#define RUNTIME_SASS_REGIONS_H

#include "runtime/learn/reads.h"
#include "runtime/sass/flow.h"

struct regions_of {
    const struct flow *flow;
    uint32_t words, lesser_count, condition_count;
    const struct reads_lesser *lessers;
    const struct reads_condition *conditions;
    /* By block: the one that the guard of its last instruction is, plus one; 0: that is not known,
     * or does not decide alone. */
    const uint16_t *decided_by;
    const uint32_t *read; /* of each block reads_chunks(words), a bit for each word */
};

/* The caller frees it. Blocks that control does not come to count for each launch. Adds to `work`
 * as flow_find does. NULL: each launch reads the same, a launch could take more than some
 * microseconds to be asked, it would take more than `most`, or memory is short. */
struct reads *regions_find(const struct regions_of *of, uint32_t *work, uint32_t most);

#endif
