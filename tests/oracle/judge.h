/* Judges what csan reported of a play. Every reported race must be one by brute force, and every
 * byte that races by brute force must have a report. */
#ifndef ORACLE_JUDGE_H
#define ORACLE_JUDGE_H

#include "world.h"

enum { JUDGE_TEXT = 512 };

/* False with a sentence in `text` (JUDGE_TEXT bytes) when csan and brute force disagree. */
bool judge_play(const struct program *program, const struct play *play, bool traced,
                enum waits waits, char *text);

/* Whether the newest play had a race that no guard reported; guards may leave some out. */
bool judge_left_out(void);

/* How many of its reports are of stores that only the content of memory showed. */
uint64_t judge_changes(void);

#endif
