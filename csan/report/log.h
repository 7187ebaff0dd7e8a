/* Where csan's messages go: standard error, standard output, or the file of option log_path.
 *
 * The log lives in another program's process and uses write(2). It opens its file at the first
 * message, and never uses descriptors 0 to 2. No SIGPIPE or SIGXFSZ reaches the program. If the
 * file cannot be opened or written, the log says so once and goes on to standard error. Not
 * thread-safe; the report's lock covers it. */
#ifndef CSAN_REPORT_LOG_H
#define CSAN_REPORT_LOG_H

#include "csan/options.h"
#include "csan/base/output.h"

#include <stdbool.h>

enum { LOG_PATH_BYTES = OPTION_TEXT_MAX * 8 }; /* room for many %p */

struct log {
    char path[LOG_PATH_BYTES]; /* "" for standard error and output */
    int descriptor;            /* of a stream; -1: there is a file */
    bool opened;               /* the file was, once */
    struct output_file file;
    int error; /* errno's value of the first write or open that failed; 0: none */
};

/* `log_path` as the option has it: "stderr", "stdout", or a path for output_path_expand; where that
 * may name another process's file too, ".PID" is appended. */
void log_init(struct log *log, const char *log_path);
/* The file's name, as log_init makes it. */
void log_path_expand(char *path, size_t bytes, const char *pattern);
void log_close(struct log *log);
/* With control characters as text_add_shown writes them. */
void log_write(struct log *log, const char *text, size_t bytes);
/* Says on standard error that the stream cannot be written, unless it is standard error itself. */
void log_stream_say(int descriptor, int error);
bool log_is_terminal(const struct log *log);

#endif
