/* See output.h. */
#include "csan/base/output.h"
#include "csan/base/environment.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* ---- the path */

/* torchrun, Open MPI, MPICH and its like, Slurm. */
const char *output_rank(void)
{
    static const char *const names[] = {"RANK", "OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK",
                                        "SLURM_PROCID"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        const char *value = environment_get(names[i]);
        if (value && *value && strspn(value, "0123456789") == strlen(value))
            return value;
    }
    return NULL;
}

bool output_path_expand(char *path, size_t bytes, const char *pattern)
{
    char process[16], machine[256] = "";
    const char *rank = output_rank();
    bool process_named = false;
    size_t length = 0;
    snprintf(process, sizeof(process), "%d", (int)getpid());
    gethostname(machine, sizeof(machine) - 1);
    path[0] = '\0';
    for (; *pattern && length + 1 < bytes; pattern++) {
        char one[2] = {pattern[0], '\0'};
        const char *part = one;
        if (pattern[0] == '%' && pattern[1] && strchr("phr%", pattern[1])) {
            pattern++;
            part = *pattern == 'p'   ? process
                   : *pattern == 'h' ? machine
                   : *pattern == 'r' ? rank
                                     : "%";
            part = part ? part : "0";
            process_named |= *pattern == 'p' || (*pattern == 'r' && rank);
        }
        int added = snprintf(path + length, bytes - length, "%s", part);
        length += (size_t)added < bytes - length ? (size_t)added : bytes - length - 1;
    }
    return process_named;
}

/* ---- opening and writing */

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

/* What is still to be written, and where: -1 is the file's own position. */
struct remaining {
    const char *bytes;
    size_t count;
    off_t at;
};

static ssize_t write_some(int descriptor, const struct remaining *left)
{
    return left->at < 0 ? write(descriptor, left->bytes, left->count)
                        : pwrite(descriptor, left->bytes, left->count, left->at);
}

/* 0, or the error. A reader who does not read for a second loses the rest. */
static int write_all(int descriptor, struct remaining *left)
{
    enum { PATIENCE_MS = 1000 };
    while (left->count > 0) {
        ssize_t written = write_some(descriptor, left);
        if (written > 0) {
            left->bytes += written;
            left->count -= (size_t)written;
            left->at += left->at < 0 ? 0 : written;
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

/* Another thread of the program may close all descriptors at any time, also between two of our
 * calls. That often in a row is no accident. */
enum { CLOSED_TRIES = 64 };

/* The program may have closed its standard descriptors. Its next open must not get our file's
 * descriptor, and its prints must not land in our file. */
static int open_apart(const char *path, int flags)
{
    int descriptor = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY | flags, 0666);
    if (descriptor < 0 || descriptor > STDERR_FILENO)
        return descriptor;
    int moved = fcntl(descriptor, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    int error = errno;
    close(descriptor);
    errno = error;
    return moved;
}

static bool is_same(const struct output_file *file, int descriptor)
{
    struct stat status;
    return descriptor >= 0 && fstat(descriptor, &status) == 0 && status.st_dev == file->device &&
           status.st_ino == file->inode;
}

int output_file_open(struct output_file *file, const char *path, int flags)
{
    struct stat status = {0};
    int tries = CLOSED_TRIES, opened;
    do {
        file->descriptor = open_apart(path, O_CREAT | flags);
        opened = file->descriptor < 0 ? -1 : fstat(file->descriptor, &status);
        flags &= ~O_EXCL; /* the file that was just made */
    } while (opened < 0 && errno == EBADF && --tries);
    if (opened < 0)
        return errno;
    file->device = status.st_dev;
    file->inode = status.st_ino;
    return 0;
}

int output_file_keep(struct output_file *file, const char *path, int flags)
{
    if (is_same(file, file->descriptor))
        return 0;
    file->descriptor = open_apart(path, flags);
    if (file->descriptor < 0)
        return errno;
    errno = 0;
    if (is_same(file, file->descriptor))
        return 0;
    if (errno) /* closed since: no other file's */
        return errno;
    close(file->descriptor); /* another file has the name now */
    file->descriptor = -1;
    return ENOENT;
}

void output_file_close(struct output_file *file)
{
    if (is_same(file, file->descriptor))
        close(file->descriptor);
    file->descriptor = -1;
}

static int write_held(int descriptor, struct remaining *left)
{
    struct held_signals held;
    signals_hold(&held);
    int error = write_all(descriptor, left);
    signals_release(&held);
    return error;
}

int output_write(int descriptor, const void *bytes, size_t count)
{
    return write_held(descriptor, &(struct remaining){bytes, count, -1});
}

int output_file_write(struct output_file *file, const char *path, int flags, off_t at,
                      const void *bytes, size_t count)
{
    struct remaining left = {bytes, count, at};
    int tries = CLOSED_TRIES, error;
    do {
        error = output_file_keep(file, path, flags);
        error = error ? error : write_held(file->descriptor, &left);
    } while (error == EBADF && --tries);
    return error;
}
