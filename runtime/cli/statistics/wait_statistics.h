/* The waits of a recording, for csan info --statistics: how many of each kind, how many ordered
 * nothing (csan/replay/waits.h), and as advice those places of the source whose waits all ordered
 * nothing. A place of the source may have several sites, by different ways that lead there: it is
 * advice only if none of them is needed. */
#ifndef RUNTIME_CLI_STATISTICS_WAIT_STATISTICS_H
#define RUNTIME_CLI_STATISTICS_WAIT_STATISTICS_H

#include "csan/base/text.h"
#include "csan/recording/recording_read.h"

struct wait_statistics;

/* `reader`: of the recording, for its facts. NULL: memory is short. */
struct wait_statistics *wait_statistics_create(const struct recording_reader *reader);
void wait_statistics_destroy(struct wait_statistics *statistics);
/* Each entry of the recording, in order. */
void wait_statistics_take(struct wait_statistics *statistics, const struct recorded *recorded);
/* After the last entry: on standard output, or as the members "waits" and "advice". Waits are
 * looked up in the source meanwhile, which may take seconds. */
void wait_statistics_print(struct wait_statistics *statistics);
void wait_statistics_json(struct wait_statistics *statistics, struct text *text);

#endif
