/* A finding that is no race, in words: what touches which memory where, in which thread of which
 * launch, and who allocated and freed it. race_text.c prints it; both sides of `words` are filled
 * in by then. Words for one finding at a time: not thread-safe. */
#ifndef CSAN_REPORT_ERROR_TEXT_H
#define CSAN_REPORT_ERROR_TEXT_H

#include "csan/report/race_text.h"

/* The headline: "illegal memory access in scatter (app.cu:31)". */
void error_sentence_add(struct text *text, struct race_words *words, const struct csan_race *race);
/* All that is below the headline. */
void error_facts_add(struct text *text, struct race_words *words, const struct csan_race *race);
/* What went wrong, and what to do, each as part of a sentence. */
void error_cause_add(struct text *text, const struct csan_race *race);
void error_fix_add(struct text *text, const struct csan_race *race);

/* "out of bounds": of enum csan_race_kind, what a person calls it. */
const char *finding_kind_words(int race_kind);

#endif
