/* The user's cache: where csan keeps what later runs read. Nobody but the user may read or change
 * it, for what it holds is believed (and the PyTorch adapter there is code; csan_torch/adapter.py
 * keeps the same rules): directories are 0700, files 0600 and made anew with O_EXCL, no name below
 * it is followed as a link, and what another user owns is refused. */
#ifndef RUNTIME_LEARN_CACHE_H
#define RUNTIME_LEARN_CACHE_H

#include <stdbool.h>
#include <stddef.h>

/* The part's directory by csan's rule: below CSAN_CACHE, or below csan in XDG_CACHE_HOME or
 * ~/.cache. False: there is none. */
bool cache_directory(char *path, size_t bytes, const char *part);

/* Why the directory, or the one it lies in, cannot be trusted, in words, for after its name; NULL:
 * nothing is wrong, or there is none yet. What is the user's own and open to others is closed to
 * them. */
const char *cache_refusal(const char *directory);

/* Make it, and all above it that is missing. False: it is not there, or refused. */
bool cache_make(const char *directory);

/* A file of it, opened for reading. -1 with errno; EPERM: it is another user's. */
int cache_open(const char *path);
/* A new file of it, opened for writing; one that a process left which had this one's number goes.
 * -1 with errno. */
int cache_create(const char *path);
/* A file of it that processes lock, made where there is none. -1 with errno. */
int cache_open_lock(const char *path);

#endif
