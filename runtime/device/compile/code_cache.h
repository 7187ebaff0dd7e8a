/* Compiled kernels on disk, below the user's cache (runtime/learn/cache.h), for later runs. */
#ifndef RUNTIME_DEVICE_COMPILE_CODE_CACHE_H
#define RUNTIME_DEVICE_COMPILE_CODE_CACHE_H

#include "runtime/device/exec/exec_compiled.h"

#include <stdbool.h>
#include <stddef.h>

enum { CODE_CACHE_FILES = 512, CODE_CACHE_BYTES = 64 << 20 };

/* The directory, made where there is none. False: there can be none, or it cannot be trusted. */
bool code_cache_open(char *directory, size_t bytes);

/* Loads `name`.so. NULL: it is not there, or cannot be trusted. *handle is for dlclose. */
compiled_run *code_cache_load(const char *directory, const char *name, void **handle);

/* Whether `name`.suffix was there. It is removed. */
bool code_cache_take(const char *directory, const char *name, const char *suffix);

/* Removes what was not used for longest, until no more than CODE_CACHE_FILES files with
 * CODE_CACHE_BYTES bytes are left; and what compilers left behind that were killed. */
void code_cache_trim(const char *directory);

#endif
