/* The memory of a race in words: who allocated it, or which variable of the program it is, and
 * which of its bytes both accesses touch. Words for one race at a time: not thread-safe. */
#ifndef CSAN_REPORT_RACE_MEMORY_H
#define CSAN_REPORT_RACE_MEMORY_H

#include "csan/report/race_text.h"

/* "memory allocated at app.cu:12", "the __constant__ variable 'taps' (64 bytes, of app)": for the
 * headline. */
void race_memory_name_add(struct text *text, struct race_words *words,
                          const struct csan_race *race);
/* The stack of the allocation, or which variable it is: whole lines. */
void race_allocation_add(struct text *text, struct race_words *words, const struct csan_race *race);
/* Which bytes both touch, and those of the other lanes (csan_race.also): whole lines. */
void race_overlap_add(struct text *text, const struct csan_race *race);

/* The variable as in the source, "__constant__ taps", and its module as reports show it. Both are
 * "" if the memory is no variable. */
void race_variable(struct race_words *words, const struct csan_race *race, char *variable,
                   size_t variable_bytes, char *module, size_t module_bytes);

#endif
