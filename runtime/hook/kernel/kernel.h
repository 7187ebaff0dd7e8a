/* From function handles to what csan knows of their kernels. A kernel is looked up once for each
 * handle, at its first launch. */
#ifndef RUNTIME_HOOK_KERNEL_KERNEL_H
#define RUNTIME_HOOK_KERNEL_KERNEL_H

#include "runtime/hook/kernel/launch_accesses.h"
#include "runtime/hook/interpose/driver.h"

/* The kernel behind a function or kernel handle; at the first launch the driver is asked and PTX is
 * read. Without the hooks' lock. Stays valid until the calling thread's next call. NULL when
 * memory is short. */
struct kernel *kernel_of(CUfunction function);

struct reads;

/* The name in sites for a kernel whose name in its module is `symbol`. */
const char *kernel_shown_name(const char *symbol);

/* Finds the driver's functions about kernels; without any lock. */
void kernel_symbols_find(void);

/* The same, if the thread launched it lately; else NULL. It also stays valid as long as the thread
 * has deferred work. */
struct kernel *kernel_recall(CUfunction function);

/* Prefetches what a launch of it will read, if the thread launched it lately. */
void kernel_prefetch(CUfunction function);

/* PTX that the program declares the function to be compiled from. Without the lock. */
void kernel_set_user_ptx(CUfunction function, const char *ptx, size_t bytes);

/* Which of its parameters, of so many words, the function's kernel reads, by the machine code that
 * it was loaded from (code_reads.h), without a lock. The caller frees it; NULL: that is not known.
 */
struct reads *kernel_code_reads(CUfunction function, const char *symbol, uint32_t words);

/* The hooks of modules, libraries and contexts call the functions below, without the lock. This
 * one: the driver returned a handle for the function of that name in a module or library. */
void kernel_seen_function(CUfunction function, void *module, const char *name);
/* A second handle for a kernel: cuKernelGetFunction. */
void kernel_seen_alias(CUfunction function, CUkernel kernel);
/* A module or library was loaded from an image or file, or returned as a part of another one. */
void kernel_seen_load(void *module, const void *data, const char *path, bool library);
void kernel_seen_module_of_library(CUmodule module, CUlibrary library);
/* The driver said where a variable of a module or library lies, in the current context. */
void kernel_seen_variable(void *module, const char *name, uint64_t base, uint64_t bytes);
/* Call these before it is unloaded, and when that succeeded or failed. */
void kernel_seen_unload(void *module);

#endif
