/* What a kernel's machine code does with its parameters: which of them a launch reads, and which
 * are tensor maps. Keys of launches are made by it, so what was learned of a kernel is found by
 * nobody who has it otherwise: it is kept along with that, and is the same for a process that
 * cannot look at the code (CUDA Sanitizer API: it hands out what was loaded to its only
 * subscriber). */
#ifndef RUNTIME_LEARN_PARAMETER_USES_H
#define RUNTIME_LEARN_PARAMETER_USES_H

#include "csan/recording/recording_format.h"
#include "runtime/sass/map_use.h"
#include "runtime/sass/reads.h"

#include <stdbool.h>
#include <stdint.h>

/* All zero: it reads any parameter, and no map is known. */
struct parameter_uses {
    struct reads *reads; /* owned; NULL: it may read all of them */
    uint32_t map_count;
    struct map_use maps[MAP_USES_MOST]; /* that it copies through, and traces do not show */
};

/* Frees what it owns, and makes it zeros. */
void parameter_uses_clear(struct parameter_uses *uses);
/* False, and nothing is copied: memory is short. */
bool parameter_uses_copy(struct parameter_uses *to, const struct parameter_uses *from);
/* Takes over what it does not know itself; returns whether there was any. */
bool parameter_uses_fill(struct parameter_uses *uses, const struct parameter_uses *from);
/* Whether a kernel that has so many words (four bytes) of parameters may do that. */
bool parameter_uses_fit(const struct parameter_uses *uses, uint32_t words);

/* As bytes, for a file: counts, each as LEB128. */
void parameter_uses_put(struct byte_buffer *buffer, const struct parameter_uses *uses);
/* Into zeros; what makes no sense is taken for the cursor's failure. */
void parameter_uses_take(struct byte_cursor *cursor, struct parameter_uses *uses);

#endif
