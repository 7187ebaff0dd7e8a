/* The baseline that a command compares with (option baseline, --baseline): a report in JSON or a
 * recording. One that cannot be used is named in one line on standard error, and the command goes
 * on as without: then everything is reported. */
#ifndef RUNTIME_CLI_FINDINGS_BASELINE_FILE_H
#define RUNTIME_CLI_FINDINGS_BASELINE_FILE_H

#include <stdbool.h>

struct baseline;

/* NULL: `path` is "", or the file cannot be used, which is said. */
struct baseline *baseline_file_read(const char *command, const char *path);

/* For a program that is about to be started with option baseline=PATH: it reads JSON itself, but
 * gets the fingerprints of a recording by its environment. False: the file cannot be used, which is
 * said. */
bool baseline_file_hand_over(const char *command, const char *path);

/* "baseline='PATH'", to be added to CSAN_OPTIONS; NULL: the path cannot be written so. free() it.
 */
char *baseline_file_option(const char *path);

#endif
