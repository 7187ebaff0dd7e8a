#include "csan/report/log.h"
#include "csan/base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* /dev/null and its like take what several processes write, and have no neighbours. */
static bool is_device(const char *path)
{
    struct stat what;
    return stat(path, &what) == 0 && !S_ISREG(what.st_mode) && !S_ISDIR(what.st_mode);
}

/* Of each process its own file. */
void log_path_expand(char *path, size_t bytes, const char *pattern)
{
    if (output_path_expand(path, bytes, pattern) || is_device(path))
        return;
    size_t length = strlen(path);
    snprintf(path + length, bytes - length, ".%d", (int)getpid());
}

void log_init(struct log *log, const char *log_path)
{
    *log = (struct log){.descriptor = STDERR_FILENO, .file = {.descriptor = -1}};
    if (strcmp(log_path, "stdout") == 0)
        log->descriptor = STDOUT_FILENO;
    else if (strcmp(log_path, "stderr") != 0 && log_path[0]) {
        log->descriptor = -1;
        log_path_expand(log->path, sizeof(log->path), log_path);
    }
}

void log_close(struct log *log)
{
    output_file_close(&log->file);
    *log = (struct log){.descriptor = STDERR_FILENO, .file = {.descriptor = -1}};
}

/* ---- writing */

/* Say why, once, and go on with standard error. */
static void fall_back(struct log *log, const char *what, int error)
{
    char message[sizeof(log->path) + 256];
    char reason[128];
    int length = snprintf(message, sizeof(message),
                          "csan: cannot %s log_path file %s: %s; reports go to standard error\n",
                          what, log->path, strerror_r(error, reason, sizeof(reason)));
    log_close(log);
    log->error = error;
    output_write(STDERR_FILENO, message,
                 (size_t)length < sizeof(message) ? (size_t)length : sizeof(message) - 1);
}

void log_stream_say(int descriptor, int error)
{
    char message[256], reason[128];
    int length = snprintf(message, sizeof message, "csan: cannot write standard output: %s\n",
                          strerror_r(error, reason, sizeof reason));
    if (descriptor == STDOUT_FILENO)
        output_write(STDERR_FILENO, message, (size_t)length);
}

static int file_write(struct log *log, const char *text, size_t bytes)
{
    return output_file_write(&log->file, log->path, O_APPEND, -1, text, bytes);
}

static void write_shown(struct log *log, const char *text, size_t bytes)
{
    int error = 0;
    if (log->descriptor < 0) {
        error = log->opened ? 0 : output_file_open(&log->file, log->path, O_APPEND);
        log->opened = true;
        if (error)
            fall_back(log, "open", error);
        else if ((error = file_write(log, text, bytes)) != 0)
            fall_back(log, "write", error);
        else
            return;
    }
    error = output_write(log->descriptor, text, bytes);
    if (error && !log->error) {
        log->error = error;
        log_stream_say(log->descriptor, error);
    }
}

/* What cannot be copied for want of memory is not shown. */
void log_write(struct log *log, const char *text, size_t bytes)
{
    struct text shown = {0};
    text_add_shown(&shown, text, bytes);
    if (shown.data)
        write_shown(log, shown.data, shown.length);
    text_free(&shown);
}

bool log_is_terminal(const struct log *log)
{
    return log->descriptor >= 0 && isatty(log->descriptor);
}
