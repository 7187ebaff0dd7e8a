#include "log.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* ---- the path */

/* /dev/null and its like take what several processes write, and have no neighbours. */
static bool is_device(const char *path)
{
    struct stat what;
    return stat(path, &what) == 0 && !S_ISREG(what.st_mode) && !S_ISDIR(what.st_mode);
}

/* Replace each %p by the process id and each %% by %. */
static void path_expand(char *path, size_t bytes, const char *pattern)
{
    char process[16];
    bool used = false;
    size_t length = 0;
    snprintf(process, sizeof(process), "%d", (int)getpid());
    for (; *pattern && length + sizeof(process) < bytes; pattern++) {
        bool is_process = pattern[0] == '%' && pattern[1] == 'p';
        if (is_process || (pattern[0] == '%' && pattern[1] == '%'))
            pattern++;
        used |= is_process;
        if (is_process)
            length = (size_t)(stpcpy(path + length, process) - path);
        else
            path[length++] = *pattern;
    }
    path[length] = '\0';
    if (!used && !is_device(path))
        snprintf(path + length, bytes - length, ".%s", process);
}

void log_init(struct log *log, const char *log_path)
{
    *log = (struct log){.descriptor = STDERR_FILENO};
    if (strcmp(log_path, "stdout") == 0)
        log->descriptor = STDOUT_FILENO;
    else if (strcmp(log_path, "stderr") != 0 && log_path[0]) {
        log->descriptor = -1;
        path_expand(log->path, sizeof(log->path), log_path);
    }
}

void log_close(struct log *log)
{
    if (log->owned)
        close(log->descriptor);
    *log = (struct log){.descriptor = STDERR_FILENO};
}

/* ---- writing */

/* Signals that a failed write sends, held back from the program for the time of the write. */
struct held_signals {
    sigset_t signals, pending, before;
};

static void signals_hold(struct held_signals *held)
{
    sigemptyset(&held->signals);
    sigaddset(&held->signals, SIGPIPE);
    sigaddset(&held->signals, SIGXFSZ);
    sigpending(&held->pending);
    pthread_sigmask(SIG_BLOCK, &held->signals, &held->before);
}

/* Take back the signals that the write sent, but not those that were pending before. */
static void signals_release(struct held_signals *held)
{
    const struct timespec now = {0, 0};
    const int numbers[] = {SIGPIPE, SIGXFSZ};
    for (int i = 0; i < 2; i++) {
        sigset_t one;
        sigemptyset(&one);
        sigaddset(&one, numbers[i]);
        if (!sigismember(&held->pending, numbers[i]))
            sigtimedwait(&one, NULL, &now);
    }
    pthread_sigmask(SIG_SETMASK, &held->before, NULL);
}

/* 0, or the error. A reader who does not read for a second loses the rest. */
static int write_all(int descriptor, const char *text, size_t bytes)
{
    enum { PATIENCE_MS = 1000 };
    while (bytes > 0) {
        ssize_t written = write(descriptor, text, bytes);
        if (written > 0) {
            text += written;
            bytes -= (size_t)written;
        } else if (written == 0) {
            return EIO;
        } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
            struct pollfd room = {.fd = descriptor, .events = POLLOUT};
            int ready = poll(&room, 1, PATIENCE_MS);
            if (ready == 0)
                return EAGAIN;
            if (ready < 0 && errno != EINTR)
                return errno;
        } else if (errno != EINTR) {
            return errno;
        }
    }
    return 0;
}

/* The program may have closed its standard descriptors: its next open must not meet our file there,
 * and its prints must not land in it. */
static int open_aside(const char *path)
{
    int descriptor = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOCTTY, 0666);
    if (descriptor < 0 || descriptor > STDERR_FILENO)
        return descriptor;
    int moved = fcntl(descriptor, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    int error = errno;
    close(descriptor);
    errno = error;
    return moved;
}

/* Say why, once, and go on with standard error. */
static void fall_back(struct log *log, const char *what, int error)
{
    char message[sizeof(log->path) + 256];
    char reason[128];
    int length = snprintf(message, sizeof(message),
                          "csan: cannot %s log_path file %s: %s; reports go to standard error\n",
                          what, log->path, strerror_r(error, reason, sizeof(reason)));
    log_close(log);
    write_all(STDERR_FILENO, message,
              (size_t)length < sizeof(message) ? (size_t)length : sizeof(message) - 1);
}

void log_write(struct log *log, const char *text, size_t bytes)
{
    struct held_signals held;
    signals_hold(&held);
    if (log->descriptor < 0) {
        log->descriptor = open_aside(log->path);
        log->owned = log->descriptor >= 0;
        if (!log->owned)
            fall_back(log, "open", errno);
    }
    int error = write_all(log->descriptor, text, bytes);
    if (error && log->owned) {
        fall_back(log, "write", error);
        write_all(log->descriptor, text, bytes);
    }
    signals_release(&held);
}

bool log_is_terminal(const struct log *log)
{
    return log->descriptor >= 0 && !log->owned && isatty(log->descriptor);
}
