/* An allocation that failed for want of memory, in words: what filled the device. For error_text.
 */
#ifndef CSAN_REPORT_OUT_OF_MEMORY_TEXT_H
#define CSAN_REPORT_OUT_OF_MEMORY_TEXT_H

#include "csan/report/race_text.h"

/* "asked for 1.5 GiB, of which 12.0 MiB were free" */
void out_of_memory_asked_add(struct text *text, const struct csan_out_of_memory *out_of_memory);
/* Lines of two blanks and more: who holds how much. */
void out_of_memory_facts_add(struct text *text, struct race_words *words,
                             const struct csan_out_of_memory *out_of_memory);
/* Half sentences. */
void out_of_memory_cause_add(struct text *text, const struct csan_out_of_memory *out_of_memory);
void out_of_memory_fix_add(struct text *text, const struct csan_out_of_memory *out_of_memory);

#endif
