/* See shared_file.h. */
#include "runtime/device/memory/shared_file.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FIRST_DESCRIPTOR = 512, STAT_BYTES = 1024, FIELDS_TO_START = 19 };

static const char magic[] = "csanIPC";

int shared_file_create(const char *name, uint64_t bytes)
{
    int low = memfd_create(name, MFD_CLOEXEC);
    int file = low < 0 ? -1 : fcntl(low, F_DUPFD_CLOEXEC, FIRST_DESCRIPTOR);
    if (file < 0)
        file = low; /* few descriptors are allowed */
    else
        close(low);
    if (file >= 0 && ftruncate(file, (off_t)bytes) != 0) {
        close(file);
        return -1;
    }
    return file;
}

/* Field 22 of /proc/PID/stat. The name, in parentheses, may hold anything. 0: there is no such
 * process, or it is only waited for. */
static uint64_t started_of(int32_t process)
{
    char path[64], text[STAT_BYTES];
    snprintf(path, sizeof path, "/proc/%d/stat", process);
    int file = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t length = file >= 0 ? read(file, text, sizeof text - 1) : -1;
    if (file >= 0)
        close(file);
    if (length <= 0)
        return 0;
    text[length] = 0;
    const char *at = strrchr(text, ')');
    if (!at || at[1] != ' ' || at[2] == 'Z' || at[2] == 'X')
        return 0;
    at += 2;
    for (int i = 0; i < FIELDS_TO_START && at; i++) {
        at = strchr(at, ' ');
        at = at ? at + 1 : NULL;
    }
    return at ? strtoull(at, NULL, 10) : 0;
}

uint64_t shared_process_started(void)
{
    static uint64_t started;
    static pid_t of;
    if (of != getpid()) {
        of = getpid();
        started = started_of(of);
    }
    return started;
}

bool shared_process_lives(int32_t process, uint64_t started)
{
    return process > 0 && started && started_of(process) == started;
}

struct shared_handle shared_handle_of(enum shared_kind kind, int file)
{
    struct stat status = {0};
    struct shared_handle handle = {.kind = (uint8_t)kind,
                                   .process = getpid(),
                                   .file = file,
                                   .started = shared_process_started()};
    memcpy(handle.magic, magic, sizeof handle.magic);
    fstat(file, &status);
    handle.inode = status.st_ino;
    return handle;
}

bool shared_handle_is(const struct shared_handle *handle, enum shared_kind kind)
{
    return memcmp(handle->magic, magic, sizeof handle->magic) == 0 && handle->kind == kind;
}

bool shared_handle_is_own(const struct shared_handle *handle)
{
    return handle->process == getpid() && handle->started == shared_process_started();
}

int shared_handle_open(const struct shared_handle *handle)
{
    char path[64];
    struct stat status;
    if (!shared_process_lives(handle->process, handle->started))
        return -1;
    snprintf(path, sizeof path, "/proc/%d/fd/%d", handle->process, handle->file);
    int file = open(path, O_RDWR | O_CLOEXEC);
    if (file >= 0 && (fstat(file, &status) != 0 || status.st_ino != handle->inode)) {
        close(file);
        return -1;
    }
    return file;
}
