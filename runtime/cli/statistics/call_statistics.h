/* The calls of a recording by kind and by the device that they are for, for csan info --statistics.
 */
#ifndef RUNTIME_CLI_STATISTICS_CALL_STATISTICS_H
#define RUNTIME_CLI_STATISTICS_CALL_STATISTICS_H

#include "csan/base/text.h"
#include "csan/recording/recording_read.h"

enum call_kind {
    CALL_KERNEL, /* each kernel of a graph's launch, too */
    CALL_COPY,
    CALL_SET,
    CALL_LIBRARY, /* and what the program declares */
    CALL_HOST_FUNCTION,
    CALL_HOST_ACCESS, /* loads and stores of the host that csan saw or that the program declared */
    CALL_GRAPH_LAUNCH,
    CALL_ALLOCATION,
    CALL_HOST_ALLOCATION, /* pinned or registered */
    CALL_FREE,
    CALL_BLOCK, /* of a pool, given out */
    CALL_BLOCK_FREE,
    CALL_RECORD,
    CALL_STREAM_WAIT,
    CALL_HOST_WAIT,
    CALL_KINDS
};

struct call_statistics;

/* NULL: memory is short. */
struct call_statistics *call_statistics_create(void);
void call_statistics_destroy(struct call_statistics *statistics);

void call_statistics_take(struct call_statistics *statistics, const struct recorded *recorded);

/* How many calls of a kind were for a device: CUDA's number of it, and one; 0: not known. */
uint64_t call_statistics_count(const struct call_statistics *statistics, enum call_kind kind,
                               uint64_t device);

/* The table, after a blank line; as the member "calls", with the comma behind it. */
void call_statistics_print(const struct call_statistics *statistics);
void call_statistics_json(const struct call_statistics *statistics, struct text *text);

#endif
