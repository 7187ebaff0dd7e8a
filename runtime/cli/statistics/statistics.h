/* What the ops of a recording are and touch, by their name, for csan info --statistics. */
#ifndef RUNTIME_CLI_STATISTICS_STATISTICS_H
#define RUNTIME_CLI_STATISTICS_STATISTICS_H

#include "csan/base/text.h"
#include "csan/recording/recording_read.h"

struct statistics;

/* NULL: memory is short. */
struct statistics *statistics_create(void);
void statistics_destroy(struct statistics *statistics);
/* Each entry of the recording, in order. */
void statistics_take(struct statistics *statistics, const struct recorded *recorded);
/* A table on standard output: ops by name, the most frequent first, with the mean bytes that each
 * reads and writes; then how many ops touch how much. Bounds count whole. */
void statistics_print(struct statistics *statistics);
/* The same as the members "names" and "op_bytes" of a document. */
void statistics_json(struct statistics *statistics, struct text *text);

#endif
