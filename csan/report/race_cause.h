/* Why a race is one, and what orders its two accesses: two sentences of a report, without their
 * last stop. Words for one race at a time: not thread-safe. */
#ifndef CSAN_REPORT_RACE_CAUSE_H
#define CSAN_REPORT_RACE_CAUSE_H

#include "csan/report/race_text.h"

/* Both sides of `words` are this race's, as race_text_add leaves them. */
void race_cause_add(struct text *text, struct race_words *words, const struct csan_race *race);
void race_fix_add(struct text *text, struct race_words *words, const struct csan_race *race);
/* What the order that its group's first race lacks has to be, so that this race is gone, too;
 * nothing where that race's fix does it as it is said. */
void race_group_fix_add(struct text *text, const struct race_words *words,
                        const struct csan_race *race);

#endif
