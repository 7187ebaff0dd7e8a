/* The GPU code of a file: which programs a file holds, each with its units of PTX and its machine
 * code. Files are those that nvcc and its tools write: executables, shared libraries, objects,
 * static archives, fat binaries, cubins, PTX.
 *
 * A program is what is linked together: a translation unit, or with -rdc=true all of one device
 * link; of objects and archives, which are not linked yet, all that ask for it. */
#ifndef RUNTIME_CLI_KERNELS_KERNEL_FILE_H
#define RUNTIME_CLI_KERNELS_KERNEL_FILE_H

#include "runtime/ptx/fatbin.h"

/* Machine code for one architecture, as it lies in the file. */
struct kernel_code {
    struct fatbin_entry entry; /* plain for a file that is a cubin */
};

struct kernel_program {
    struct fatbin_text *texts; /* newest architecture first in each unit; only what units_reads
                                  says is read has its text */
    size_t text_count, text_capacity;
    struct kernel_code *codes; /* newest architecture first */
    size_t code_count, code_capacity;
    size_t other_count; /* entries that are neither, link-time code for instance */
    uint32_t unit_count;
};

/* `visit` is called for each program; `problem` with what is damaged, one line: what is sound is
 * still reported. Both stop nothing. Returns how many programs there were; -1 with `message` when
 * the file cannot be read or is none of these. */
struct kernel_file_callbacks {
    void (*visit)(void *user, const struct kernel_program *program);
    void (*problem)(void *user, const char *message);
    void *user;
};
int kernel_file_read(const char *path, const struct kernel_file_callbacks *callbacks, char *message,
                     size_t message_bytes);

#endif
