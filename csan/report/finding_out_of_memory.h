/* An allocation that failed, as tools take it: struct csan_out_of_memory with its addresses
 * resolved. Owns all it points to. */
#ifndef CSAN_REPORT_FINDING_OUT_OF_MEMORY_H
#define CSAN_REPORT_FINDING_OUT_OF_MEMORY_H

#include "csan/report/race_text.h"

struct finding_out_of_memory {
    struct csan_out_of_memory numbers; /* names and frames of what is held are in `held` */
    struct finding_held {
        char *name; /* of the call, as the program wrote it */
        struct stack_frames stack;
    } held[CSAN_HELD_MAX];
};

/* NULL: there is no memory. */
struct finding_out_of_memory *finding_out_of_memory_create(const struct csan_out_of_memory *from,
                                                           struct race_words *words);
/* NULL is none. */
void finding_out_of_memory_destroy(struct finding_out_of_memory *out_of_memory);

#endif
