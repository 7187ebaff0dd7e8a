/* The GPU code of a file: which programs it holds, each with its units of PTX and its machine code.
 * Files are those that nvcc and its tools write: executables, shared libraries, objects, static
 * archives, fat binaries, cubins, PTX.
 *
 * A program is what is linked together: one translation unit, or with -rdc=true all units of one
 * device link. Objects and archives are not linked yet, so all of their units that are made for
 * linking count as one. */
#ifndef RUNTIME_CLI_KERNELS_KERNEL_FILE_H
#define RUNTIME_CLI_KERNELS_KERNEL_FILE_H

#include "runtime/ptx/fatbin.h"

/* Machine code for one architecture, at its place in the file. */
struct kernel_code {
    struct fatbin_entry entry; /* plain for a file that is a cubin */
};

struct kernel_program {
    struct fatbin_text *texts; /* newest architecture first in each unit; only units that
                                  units_reads accepts have their text */
    size_t text_count, text_capacity;
    struct kernel_code *codes; /* newest architecture first */
    size_t code_count, code_capacity;
    size_t other_count; /* entries that are neither, such as link-time code */
    uint32_t unit_count;
};

/* Calls `visit` for each program, and `problem` with one line for each damaged part; sound parts
 * are still reported. Returns how many programs there were; -1 with `message` if the file cannot be
 * read or is none of these kinds. */
struct kernel_file_callbacks {
    void (*visit)(void *user, const struct kernel_program *program);
    void (*problem)(void *user, const char *message);
    void *user;
};
int kernel_file_read(const char *path, const struct kernel_file_callbacks *callbacks, char *message,
                     size_t message_bytes);

#endif
