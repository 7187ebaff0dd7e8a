/* Which registers, predicates and barriers a function of machine code may write, itself or in
 * functions it calls. Everything else is the same after a call as before it. Thread-safe. */
#ifndef RUNTIME_SASS_CLOBBERS_H
#define RUNTIME_SASS_CLOBBERS_H

#include "runtime/sass/step.h"

struct clobbers {
    bool registers[REGISTERS], barriers[STEP_BARRIERS];
    uint8_t predicates; /* of threads: a bit for each */
};

/* Reads the function that begins at instruction `entry` of `count`; there is none beyond them. Adds
 * to `work` about one unit for each tenth of a microsecond. It stops at more than `most`, with an
 * incomplete result. False: memory is short. */
bool clobbers_read(struct clobbers *clobbers, const struct step *steps, uint32_t count,
                   uint32_t entry, uint32_t *work, uint32_t most);

#endif
