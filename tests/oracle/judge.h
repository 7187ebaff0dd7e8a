/* Judges what csan said of a play: every race it reported must be one by brute force, and no byte
 * that races by brute force may be without a report. */
#ifndef ORACLE_JUDGE_H
#define ORACLE_JUDGE_H

#include "world.h"

enum { JUDGE_TEXT = 512 };

/* False with a sentence in `text` (JUDGE_TEXT bytes) when csan and brute force disagree. */
bool judge_play(const struct program *program, const struct play *play, bool traced,
                enum waits waits, char *text);

/* Whether the newest play had a race that no guard reported, as guards may leave some out. */
bool judge_left_out(void);

#endif
