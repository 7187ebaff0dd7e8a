/* What a module's machine code says of its kernels that neither their PTX nor the Sanitizer API
 * does.
 *
 * Which of them have accesses to global memory that no patch is called for: copies, stores and
 * reductions through tensor maps, textures and surfaces, multicast loads. What is traced of a
 * kernel with one is not all.
 *
 * Which of its parameters a kernel reads at all. A structure that is passed by value has padding.
 * As a rule it has members, too, that this kernel does not look at, or not where another member
 * says so. What is there changes from launch to launch without meaning anything. */
#ifndef RUNTIME_SASS_MACHINE_CODE_H
#define RUNTIME_SASS_MACHINE_CODE_H

#include "runtime/sass/reads.h"
#include "runtime/sass/map_uses.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct machine_code;

/* Reads a cubin, which is not kept. NULL: memory is short. Of one that cannot be read no kernel is
 * known. NULL is taken below for such a one. */
struct machine_code *machine_code_read(const void *cubin, size_t bytes);
/* The same of that kernel alone, and what it may call: a library's cubin has hundreds of others. */
struct machine_code *machine_code_read_kernel(const void *cubin, size_t bytes, const char *kernel);
void machine_code_free(struct machine_code *code);

/* Whether the kernel of that name, or a function it may call, has accesses that no patch sees and
 * machine_code_maps does not list. True if that is not known. The first of these calls for a kernel
 * analyzes its code; not thread-safe. */
bool machine_code_is_blind(struct machine_code *code, const char *kernel);

/* The tensor maps that the kernel copies through, by their offset in the parameters: as long as
 * `code` is there. NULL: there are none, or some are not known. */
const struct map_uses *machine_code_maps(struct machine_code *code, const char *kernel);

/* Which of its parameters, of that many words, a launch of the kernel may read; the caller frees
 * it. Looks at the code where it is the first to be asked; not thread-safe. NULL: it may read all,
 * its parameters are not so many, or memory is short. */
struct reads *machine_code_reads(struct machine_code *code, const char *kernel, uint32_t words);

#endif
