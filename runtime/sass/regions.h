/* What a launch reads (reads.h), made of the blocks of a kernel's code and of the words that each
 * reads. Control leaves some blocks by a condition, or a block reads more by one. Blocks between
 * those are put together. */
#ifndef RUNTIME_SASS_REGIONS_H
#define RUNTIME_SASS_REGIONS_H

#include "runtime/sass/reads.h"
#include "runtime/sass/flow.h"

/* Instructions that a condition guards: regions of their own. */
struct regions_guarded {
    uint16_t condition;
    bool holds;
};

enum { REGIONS_GUARDED_MOST = 64 };

struct regions_of {
    const struct flow *flow;
    uint32_t words, lesser_count, table_count, condition_count;
    const struct reads_lesser *lessers;
    const struct reads_table *tables;
    const struct reads_condition *conditions;
    /* By block: the one that the guard of its last instruction is, plus one; 0: that is not known,
     * or does not decide alone. */
    const uint16_t *decided_by;
    const uint32_t *read; /* of each block reads_chunks(words), a bit for each word */
    uint32_t guarded_count;
    const struct regions_guarded *guarded;
    const uint32_t *guarded_read; /* of each of these, likewise */
    const uint64_t *guarded_in;   /* by block: which of these it has, a bit for each */
};

/* The caller frees it. Blocks that control does not come to count for each launch. Adds to `work`
 * as flow_find does. NULL: there are no tables and each launch reads the same, or it would take too
 * much: a launch more than some microseconds to be asked, this more than `most` or more memory than
 * there is. */
struct reads *regions_find(const struct regions_of *of, uint32_t *work, uint32_t most);

#endif
