/* Which of its parameters a kernel reads, by its machine code: as earlier processes of this program
 * found it, or looked up here. */
#ifndef RUNTIME_HOOK_OBSERVE_KERNEL_READS_H
#define RUNTIME_HOOK_OBSERVE_KERNEL_READS_H

#include "runtime/hook/kernel/kernel.h"
#include "runtime/learn/programs.h"
#include "runtime/sass/reads.h"

#include <stdint.h>

/* What is found is kept for the program from here on, and what was kept for it is used. */
void kernel_reads_keep(const struct learn_program *program);

/* Of a kernel with parameters of so many words. The caller frees it. NULL: it may read all. */
struct reads *kernel_reads_find(const struct kernel *kernel, CUfunction function, uint32_t words);

/* At the process's end: writes what is kept. */
void kernel_reads_finish(void);

#endif
