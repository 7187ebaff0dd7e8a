/* The races that were found. They are de-duplicated by pair of sites, kept as struct csan_race
 * until the process ends, grouped by the missing order, and handed out. Not thread-safe: the
 * context's lock covers every user. Kept races never move, and only their group changes. */
#ifndef CSAN_DETECTOR_RACE_H
#define CSAN_DETECTOR_RACE_H

#include "csan/detector/race_record.h"

struct race_log {
    struct race_record **races;
    size_t count, capacity;
    size_t cleared;                  /* races before this index were cleared */
    size_t delivered;                /* ... were handed to the callback */
    struct race_pair *pairs;         /* uthash: pairs of sites already reported */
    uint64_t certain, possible;      /* races since the last clear */
    uint64_t errors;                 /* other findings since then */
    uint64_t grouped;                /* of them, listed below another one */
    uint64_t suppressed, duplicates; /* ever */
    uint64_t changes;                /* that may move a race to another group */
};

void race_log_clear_all(struct race_log *log); /* frees everything */

/* Reports the op's conflicts, certain ones first, and then forgets them. */
void race_log_commit(struct race_log *log, struct conflict_list *list,
                     const struct race_scene *scene);

/* The next race not yet handed out, or NULL. */
const struct csan_race *race_log_next(struct race_log *log);
/* Sets the race's group: the first race that the same missing order explains. Call it before the
 * race is reported. */
void race_log_group(struct race_log *log, const struct csan_race *race);
/* The race is suppressed, and counted apart. */
void race_log_suppress(struct race_log *log, const struct csan_race *race);
/* The race never happened. */
void race_log_withdraw(struct race_log *log, const struct csan_race *race);
/* The next race of its pair of sites is news, as if none had been. */
void race_log_renew(struct race_log *log, const struct csan_race *race);
/* How often the pair of sites occurred so far. */
uint64_t race_log_occurrences(const struct race_log *log, uint64_t number);
uint64_t race_log_mark(const struct race_log *log);
size_t race_log_since(const struct race_log *log, uint64_t mark, struct csan_race *races,
                      size_t capacity, bool errors_too);
void race_log_forget(struct race_log *log);

#endif
