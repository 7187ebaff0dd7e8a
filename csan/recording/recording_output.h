/* The file of a recording that is being made. It is opened at the first block, so a process that
 * does nothing leaves no file. It gets what is known of the process, and then the blocks. An error
 * is reported in one line, and nothing more is written after it. Not thread-safe: its recording
 * calls it under a lock. */
#ifndef CSAN_RECORDING_RECORDING_OUTPUT_H
#define CSAN_RECORDING_RECORDING_OUTPUT_H

#include "csan/recording/recording_block.h"

struct recording_output;

/* Arguments as those of recording_create. */
struct recording_output *recording_output_create(const char *path, uint64_t replace_before,
                                                 const char *facts, void (*note)(const char *line));
void recording_output_destroy(struct recording_output *file);

/* False: writing failed, now or earlier. */
bool recording_output_put(struct recording_output *file, enum block_kind kind, const void *bytes,
                          size_t count);
/* Ends the output for a reason of the caller's (errno's value). */
void recording_output_fail(struct recording_output *file, int error);
bool recording_output_failed(const struct recording_output *file);

void recording_output_close(struct recording_output *file);
/* False: no block was written. */
bool recording_output_totals(const struct recording_output *file, const char **path,
                             uint64_t *bytes);

#endif
