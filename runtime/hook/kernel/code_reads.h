/* Which of its parameters a kernel reads, by the machine code in the image that it came from: for a
 * process without a tracer, which would know. Of an image that stays where it is (image_place.h);
 * others are gone. */
#ifndef RUNTIME_HOOK_KERNEL_CODE_READS_H
#define RUNTIME_HOOK_KERNEL_CODE_READS_H

#include "runtime/sass/reads.h"

#include <stdint.h>

/* `image`: a container of a fat binary, a wrapper with one, or a cubin. `architecture`: 90 for a
 * device of compute capability 9.0. `symbol`: the kernel's name in its module, which has so many
 * words (four bytes) of parameters. The caller frees it. NULL: it may read all of them, or it is
 * not known which code the device runs. Unpacks that code at each call. Any thread, no lock. */
struct reads *code_reads_find(const void *image, uint32_t architecture, const char *symbol,
                              uint32_t words);

#endif
