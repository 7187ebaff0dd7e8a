/* The baseline that a command compares with (option baseline, --baseline): a report in JSON or a
 * recording. If it cannot be used, one line on standard error names it, and the command goes on
 * without it and reports everything. */
#ifndef RUNTIME_CLI_FINDINGS_BASELINE_FILE_H
#define RUNTIME_CLI_FINDINGS_BASELINE_FILE_H

#include <stdbool.h>

struct baseline;

/* NULL: `path` is "", or the file cannot be used, which is said. */
struct baseline *baseline_file_read(const char *command, const char *path);

/* For a program that is about to be started with option baseline=PATH. The program itself reads
 * JSON, but gets the fingerprints of a recording through its environment. False: the file cannot be
 * used, which is said. */
bool baseline_file_hand_over(const char *command, const char *path);

/* "baseline='PATH'", to be added to CSAN_OPTIONS; free() it. NULL: the path cannot be written in
 * this form. */
char *baseline_file_option(const char *path);

#endif
