/* The host's C compiler, in a process of its own. */
#ifndef RUNTIME_DEVICE_COMPILE_HOST_COMPILER_H
#define RUNTIME_DEVICE_COMPILE_HOST_COMPILER_H

#include <stdbool.h>
#include <stdint.h>

/* Whether there is one (cc, gcc or clang on PATH). Its path is valid for ever; `mark` differs
 * between compilers, and between processors, which its code is for. NULL: none. */
const char *host_compiler_find(uint64_t *mark);

/* How much it optimizes, before it is looked for: "-O1" if nobody says. For tests, which have much
 * to compile. The text is kept. */
void host_compiler_set_level(const char *flag);

/* Starts it on `text` and returns at once. When it is done, `name`.so appears in the directory, or
 * else an empty `work`.failed. No other job may have `work`, even after it is done. The compiler is
 * no child of this process, so that the program's own children are left alone. It has none of the
 * program's descriptors. False: it cannot be started. */
bool host_compiler_start(const char *compiler, const char *directory, const char *work,
                         const char *name, const char *text, unsigned long bytes);

#endif
