/* What a launch reads of its parameters, for tests. */
#ifndef TESTS_UNIT_SASS_READS_CASE_H
#define TESTS_UNIT_SASS_READS_CASE_H

#include "runtime/sass/reads.h"

#include <string.h>

static inline void reads_cleared(const struct reads *reads, const struct reads_launch *launch,
                                 void *parameters)
{
    uint32_t read[READS_WORDS_MOST / 32];
    reads_by_regions(reads, launch, read);
    reads_clear_others(reads, launch, read, parameters);
}

/* Sets the bits of the words of which any byte is read, and clears the others of reads_chunks(). */
static inline void reads_given(const struct reads *reads, const struct reads_launch *launch,
                               uint32_t *read)
{
    static uint32_t given[READS_WORDS_MOST], left[READS_WORDS_MOST];
    struct reads_launch whole = *launch;
    memset(given, 0, sizeof given);
    if (launch->bytes)
        memcpy(given, launch->parameters, launch->bytes);
    memset(left, 0xff, sizeof left);
    whole.parameters = given;
    whole.bytes = reads->words * 4;
    reads_cleared(reads, &whole, left);
    memset(read, 0, reads_chunks(reads->words) * sizeof *read);
    for (uint32_t i = 0; i < reads->words; i++)
        read[i / 32] |= (uint32_t)(left[i] != 0) << i % 32;
}

#endif
