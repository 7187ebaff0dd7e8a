/* Whose code it is that accesses the host's memory, by the file that holds the instruction. Safe in
 * signal handlers (dl_find_object). */
#ifndef RUNTIME_HOOK_HOST_CODE_OWNER_H
#define RUNTIME_HOOK_HOST_CODE_OWNER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The file's name without its folder. "" is the program itself; NULL: code that no file holds, as a
 * compiler's at run time. */
const char *code_file(uint64_t address);

/* Whether the access at `pc` is the program's: not one of drivers, CUDA's libraries, transports or
 * csan. memcpy and its kind are the caller's, who is found by `caller`, the word on top of the
 * stack. What the C library does inside, as realloc, may hold its locks, which csan would want. */
bool code_is_the_programs(uint64_t pc, uint64_t caller);

/* Whether the C library accesses memory within a function of its own, such as fputs or getdelim.
 * memcpy and its kind, which `caller` calls, do not count, unless the C library is the caller. */
bool code_is_in_c_library(uint64_t pc, uint64_t caller);

/* Whether a call with this stack was made by one of those. The CUDA runtime and the driver are in
 * front of who called them. */
bool code_is_a_librarys(const void *const *frames, size_t count);

/* Whether the calling thread is one of NCCL's, by its name: NCCL may be part of another library. */
bool code_runs_for_nccl(void);

#endif
