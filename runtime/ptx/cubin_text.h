/* The PTX that a cubin was assembled from, where the cubin carries it. ptxas -lineinfo or -g (which
 * nvcc -lineinfo and -G pass on, and Triton always passes) keeps the text beside the machine code,
 * for the profiler's and the debugger's views of it. It is the proof of what the code was made
 * from, as no file beside the cubin can be. */
#ifndef RUNTIME_PTX_CUBIN_TEXT_H
#define RUNTIME_PTX_CUBIN_TEXT_H

#include <stdbool.h>
#include <stddef.h>

/* Calls `visit` with the text of each unit: malloc'd, `bytes` long and NUL-terminated, the caller's
 * to free. Lines are those of the original, comments and debug information left blank. `limit` as
 * in fatbin_entries. Stops early when visit returns false. False: memory is short. A cubin without
 * texts, or one that is damaged, has none. */
bool cubin_texts(const void *cubin, size_t limit,
                 bool (*visit)(void *user, char *text, size_t bytes), void *user);

#endif
