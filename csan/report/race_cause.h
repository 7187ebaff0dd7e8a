/* The cause of a race, and what would order its two accesses: two sentences of a report, without
 * the final full stop. Words for one race at a time: not thread-safe. */
#ifndef CSAN_REPORT_RACE_CAUSE_H
#define CSAN_REPORT_RACE_CAUSE_H

#include "csan/report/race_text.h"

/* Both sides of `words` belong to this race, as race_text_add leaves them. */
void race_cause_add(struct text *text, struct race_words *words, const struct csan_race *race);
void race_fix_add(struct text *text, struct race_words *words, const struct csan_race *race);
/* What else the fix of its group's first race must do so that this race is gone, too. Nothing if
 * that fix is enough as it stands. */
void race_group_fix_add(struct text *text, const struct race_words *words,
                        const struct csan_race *race);

#endif
