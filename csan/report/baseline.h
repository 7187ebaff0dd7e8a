/* A baseline: the fingerprints of races that were known before, so that a report names only new
 * ones. It is a set of numbers. The report uses it under its lock.
 *
 * libcsan reads a baseline inside the checked program, when the program starts. So the file is read
 * in pieces of fixed size, only the fingerprints are kept, and their number is limited. A recording
 * would have to be replayed first: csan run does that, and passes the fingerprints in the
 * environment variable CSAN_BASELINE, "PATH\nFINGERPRINT FINGERPRINT ...". */
#ifndef CSAN_REPORT_BASELINE_H
#define CSAN_REPORT_BASELINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct baseline;

/* An empty one. NULL: no memory. */
struct baseline *baseline_create(void);
void baseline_free(struct baseline *baseline);

/* False: there is no memory, or there are too many (2^20). */
bool baseline_add(struct baseline *baseline, uint64_t fingerprint);
bool baseline_has(struct baseline *baseline, uint64_t fingerprint);

/* Reads the file of option baseline=PATH: a report in JSON, or the part of CSAN_BASELINE for this
 * path. NULL: `message` says what is wrong with the file, in one line that begins with its name. */
struct baseline *baseline_read(const char *path, char *message, size_t message_bytes);

/* Whether the file is a recording. */
bool baseline_is_recording(const char *path);

/* The value of CSAN_BASELINE for this path; free() it. NULL: no memory, or it is longer than the
 * system lets a variable be. */
char *baseline_to_environment(struct baseline *baseline, const char *path);

#endif
