/* The file of a recording that is being made: found by its pattern and opened at the first block,
 * so that a process that does nothing leaves none; what it says of the process; blocks, one after
 * the other. An error is reported once, in a line, and then nothing more is written. Not
 * thread-safe: its recording calls it under a lock. */
#ifndef CSAN_RECORDING_RECORDING_FILE_H
#define CSAN_RECORDING_RECORDING_FILE_H

#include "csan/recording/recording_block.h"

struct recording_file;

/* As recording_create, which hands these on. */
struct recording_file *recording_file_create(const char *path, uint64_t replace_before,
                                             const char *facts, void (*note)(const char *line));
void recording_file_destroy(struct recording_file *file);

/* False: it cannot go on, now or since before. */
bool recording_file_put(struct recording_file *file, enum block_kind kind, const void *bytes,
                        size_t count);
/* It cannot go on, for a reason of the caller's (errno's value). */
void recording_file_fail(struct recording_file *file, int error);
bool recording_file_failed(const struct recording_file *file);

void recording_file_close(struct recording_file *file);
/* False: no block was written. */
bool recording_file_totals(const struct recording_file *file, const char **path, uint64_t *bytes);

#endif
