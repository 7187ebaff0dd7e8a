/* What kernels' machine code reads of their parameters, kept for later processes of a program:
 * looking at the code takes milliseconds a kernel, for it is unpacked with all that lies beside it.
 *
 *   reads-PROGRAM-VERSION.learned-reads = as learned_file.h packs it:
 *       csan's version, kernels, each: the kernel's two words, words of its parameters, how often
 *       in a row the file was written by a process that did not ask for it, uses of its parameters
 *       (parameter_uses.h)
 *
 * The files lie beside the learned sets and within their limit. The last process to end wins. A
 * file that is damaged, or another version's, counts as none.
 *
 * Bounded: beyond KEPT_READS_BYTES nothing is added. What was written KEPT_READS_IDLE times without
 * being asked for is not written again.
 *
 * Not thread-safe. */
#ifndef RUNTIME_LEARN_KEPT_READS_H
#define RUNTIME_LEARN_KEPT_READS_H

#include "runtime/learn/parameter_uses.h"
#include "runtime/learn/programs.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { KEPT_READS_BYTES = 8 << 20, KEPT_READS_IDLE = 16 };

/* A kernel on a device's architecture: another image, name or architecture has other words. */
struct kept_reads_kernel {
    uint64_t words[2];
    uint64_t parameter_words;
};

struct kept_reads;
/* NULL when memory is short. */
struct kept_reads *kept_reads_create(void);
void kept_reads_destroy(struct kept_reads *kept);

/* False: nobody looked at its code. Else a copy, which the caller frees; NULL: it may read all of
 * its parameters. */
bool kept_reads_find(struct kept_reads *kept, const struct kept_reads_kernel *kernel,
                     struct reads **reads);
/* Of a kernel that is not there yet; `reads` is copied. */
void kept_reads_add(struct kept_reads *kept, const struct kept_reads_kernel *kernel,
                    const struct reads *reads);

/* Adds what the program's file has. */
void kept_reads_read(struct kept_reads *kept, const struct learner_options *options,
                     const struct learn_program *program);
/* If something was added since, or had no room. False: it could not be written. */
bool kept_reads_write(struct kept_reads *kept, const struct learner_options *options,
                      const struct learn_program *program);

#endif
