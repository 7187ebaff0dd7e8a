/* See cache.h. */
#include "runtime/learn/cache.h"
#include "csan/base/environment.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { OTHERS = S_IRWXG | S_IRWXO, OTHERS_WRITE = S_IWGRP | S_IWOTH };

bool cache_directory(char *path, size_t bytes, const char *part)
{
    const char *named = environment_get_text("CSAN_CACHE"),
               *shared = environment_get_text("XDG_CACHE_HOME"),
               *home = environment_get_text("HOME");
    int length = -1;
    if (named)
        length = snprintf(path, bytes, "%s/%s", named, part);
    else if (shared && *shared == '/') /* XDG Base Directory Specification: others are ignored */
        length = snprintf(path, bytes, "%s/csan/%s", shared, part);
    else if (home)
        length = snprintf(path, bytes, "%s/.cache/csan/%s", home, part);
    return length > 0 && (size_t)length < bytes;
}

/* A directory named by the user may hold other things, which others may read; in one like /tmp,
 * with the sticky bit, nobody can put their own in the place of ours (inode(7)). */
static const char *root_refusal(const char *root)
{
    struct stat link, status;
    if (lstat(root, &link) != 0 || stat(root, &status) != 0)
        return NULL;
    if (!S_ISDIR(status.st_mode))
        return "is no directory";
    if (status.st_uid == 0 && (status.st_mode & S_ISVTX))
        return NULL;
    if (link.st_uid != geteuid() || status.st_uid != geteuid())
        return "is another user's";
    const char *slash = strrchr(root, '/');
    const bool own = strcmp(slash ? slash + 1 : root, "csan") == 0;
    if (own && (status.st_mode & OTHERS))
        return chmod(root, 0700) == 0 ? NULL : "is open to other users";
    return status.st_mode & OTHERS_WRITE ? "can be written by other users" : NULL;
}

static const char *part_refusal(const char *directory)
{
    struct stat status;
    const char *refusal = NULL;
    int file = open(directory, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (file < 0)
        return errno == ENOENT                      ? NULL
               : errno == ELOOP || errno == ENOTDIR ? "is a link or a file"
                                                    : "cannot be opened";
    if (fstat(file, &status) != 0 || status.st_uid != geteuid())
        refusal = "is another user's";
    else if ((status.st_mode & OTHERS) && fchmod(file, 0700) != 0)
        refusal = "is open to other users";
    close(file);
    return refusal;
}

const char *cache_refusal(const char *directory)
{
    char root[PATH_MAX];
    const char *slash = strrchr(directory, '/');
    const int error = errno;
    const char *refusal = NULL;
    if (slash && slash > directory) {
        snprintf(root, sizeof root, "%.*s", (int)(slash - directory), directory);
        refusal = root_refusal(root);
    }
    if (!refusal)
        refusal = part_refusal(directory);
    errno = error;
    return refusal;
}

bool cache_make(const char *directory)
{
    char part[PATH_MAX];
    for (const char *slash = strchr(directory + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        snprintf(part, sizeof part, "%.*s", (int)(slash - directory), directory);
        mkdir(part, 0700);
    }
    mkdir(directory, 0700);
    return access(directory, W_OK | X_OK) == 0 && !cache_refusal(directory);
}

int cache_open(const char *path)
{
    struct stat status;
    int file =
        open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK); /* a pipe nobody waits for */
    if (file >= 0 && (fstat(file, &status) != 0 || status.st_uid != geteuid())) {
        close(file);
        errno = EPERM;
        return -1;
    }
    return file;
}

int cache_create(const char *path)
{
    const int flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
    int file = open(path, flags, 0600);
    if (file < 0 && errno == EEXIST && unlink(path) == 0)
        file = open(path, flags, 0600);
    return file;
}

int cache_open_lock(const char *path)
{
    return open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
}
