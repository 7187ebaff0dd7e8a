/* What a function of machine code writes, of what is followed through calls: from its
 * first instruction on, and in what it calls, up to its return. What it does not write is behind a
 * call as it was before. Thread-safe. */
#ifndef RUNTIME_SASS_CLOBBERS_H
#define RUNTIME_SASS_CLOBBERS_H

#include "runtime/sass/step.h"

struct clobbers {
    bool registers[REGISTERS], barriers[STEP_BARRIERS];
    uint8_t predicates; /* of threads: a bit for each */
};

/* Of the function that begins at that one of the `count` instructions; beyond them: of none. Adds
 * to `work` a unit for each tenth of a microsecond or so that it takes; with more than `most` it
 * ends, and not all that is written is found. False: memory is short. */
bool clobbers_read(struct clobbers *callee, const struct step *steps, uint32_t count,
                   uint32_t place, uint32_t *work, uint32_t most);

#endif
