/* See code_cache.h. */
#include "runtime/device/compile/code_cache.h"
#include "runtime/learn/cache.h"

#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { LEFT_BEHIND = 600 /* seconds */ };

bool code_cache_open(char *directory, size_t bytes)
{
    char part[32];
    snprintf(part, sizeof part, "kernels-%d", COMPILED_INTERFACE);
    return cache_directory(directory, bytes, part) && cache_make(directory);
}

bool code_cache_take(const char *directory, const char *name, const char *suffix)
{
    char path[PATH_MAX];
    return (size_t)snprintf(path, sizeof path, "%s/%s.%s", directory, name, suffix) < sizeof path &&
           unlink(path) == 0;
}

/* Only the user can put another file into the directory between this and dlopen, which takes paths
 * alone: two files under one path, as in /proc/self/fd, would be one library for it. */
static bool is_trusted(const char *path)
{
    struct stat status;
    int file = cache_open(path);
    if (file < 0)
        return false;
    const bool trusted = fstat(file, &status) == 0 && S_ISREG(status.st_mode) &&
                         !(status.st_mode & (S_IWGRP | S_IWOTH));
    if (trusted)
        futimens(file, NULL); /* it was used now */
    close(file);
    return trusted;
}

compiled_run *code_cache_load(const char *directory, const char *name, void **handle)
{
    char path[PATH_MAX];
    compiled_run *run = NULL;
    if ((size_t)snprintf(path, sizeof path, "%s/%s.so", directory, name) >= sizeof path)
        return NULL;
    *handle = is_trusted(path) ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
    if (!*handle)
        return NULL;
    *(void **)&run = dlsym(*handle, "csan_kernel");
    const char *own = dlsym(*handle, "csan_kernel_name");
    if (run && own && !strcmp(own, name))
        return run;
    dlclose(*handle);
    return NULL;
}

/* ---- trimming ------------------------------------------------------------------------------- */

struct entry {
    char name[80];
    uint64_t bytes;
    time_t used;
};

static int compare_entries(const void *left, const void *right)
{
    const struct entry *a = left, *b = right;
    return (a->used < b->used) - (a->used > b->used); /* the newest first */
}

static bool ends_with(const char *name, const char *suffix)
{
    const size_t length = strlen(name), bytes = strlen(suffix);
    return length > bytes && !strcmp(name + length - bytes, suffix);
}

static size_t read_entries(int directory, DIR *stream, struct entry *entries, size_t most)
{
    const time_t now = time(NULL);
    size_t count = 0;
    for (const struct dirent *each; count < most && (each = readdir(stream));) {
        struct stat status;
        if (strlen(each->d_name) >= sizeof entries->name ||
            fstatat(directory, each->d_name, &status, AT_SYMLINK_NOFOLLOW) != 0 ||
            !S_ISREG(status.st_mode))
            continue;
        const bool code = ends_with(each->d_name, ".so");
        if (!code && now - status.st_mtime > LEFT_BEHIND)
            unlinkat(directory, each->d_name, 0);
        if (!code)
            continue;
        struct entry *entry = &entries[count++];
        snprintf(entry->name, sizeof entry->name, "%s", each->d_name);
        entry->bytes = (uint64_t)status.st_size;
        entry->used = status.st_mtime;
    }
    return count;
}

void code_cache_trim(const char *directory)
{
    const size_t most = 4 * CODE_CACHE_FILES;
    DIR *stream = opendir(directory);
    struct entry *entries = stream ? calloc(most, sizeof *entries) : NULL;
    const size_t count = entries ? read_entries(dirfd(stream), stream, entries, most) : 0;
    uint64_t bytes = 0;
    if (count)
        qsort(entries, count, sizeof *entries, compare_entries);
    for (size_t k = 0; k < count; k++) {
        bytes += entries[k].bytes;
        if (k >= CODE_CACHE_FILES || bytes > CODE_CACHE_BYTES)
            unlinkat(dirfd(stream), entries[k].name, 0);
    }
    free(entries);
    if (stream)
        closedir(stream);
}
