/* Races whose report lacks an operator, because operators rested when an access was enqueued
 * (operator/operator_summary.h): what launched had no summary with a name, or it was part of a
 * backward pass, whose forward call nobody noted. The same holds for the memory's allocation.
 *
 * Such a race is held, and operators are followed again. If the same two places race once more, the
 * report of that race takes the place of the held one, which never happened then. If they do not,
 * the held one is reported as it is, with a line that says so: after some launches of operators,
 * after some seconds, or at the end of the process. */
#ifndef RUNTIME_HOOK_RUN_HELD_RACE_H
#define RUNTIME_HOOK_RUN_HELD_RACE_H

#include <csan/csan.h>

#include <stdbool.h>

/* The detector found the race. True: it is held, and nothing else is to be done. Called for one
 * race at a time. */
bool held_race_take(const struct csan_race *race);
/* Hands those out that have waited long enough, or with `all` every one. Without locks of hooks. */
void held_race_release(bool all, void (*report)(const struct csan_race *race));

#endif
