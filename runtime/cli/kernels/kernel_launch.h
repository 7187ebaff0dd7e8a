/* A launch as it is written on the command line,
 *
 *   grid=X[,Y[,Z]],block=X[,Y[,Z]],shared=BYTES,cluster=X[,Y[,Z]],args=A,B,...
 *
 * and the bytes of its parameters. An argument is
 *
 *   1000  -5  0x7f00  0b101  017   an integer of the parameter's size
 *   2.5  1e-3  2f                  a float of the parameter's size
 *   p0  p0+128                     a pointer by a name that the answer uses
 *   hex:00ff12...                  the bytes as they lie in memory
 *   {A,B,...}                      a struct: members one after the other, each aligned to its size:
 *                                  integers 4 bytes (8 with a trailing l), floats 8 (4 with f),
 *                                  names 8
 *   ?                              not known */
#ifndef RUNTIME_CLI_KERNELS_KERNEL_LAUNCH_H
#define RUNTIME_CLI_KERNELS_KERNEL_LAUNCH_H

#include "runtime/ptx/ir.h"

struct launch_name; /* a pointer by name */

struct kernel_launch {
    uint32_t grid[3], block[3], cluster[3], shared;
    char *text;       /* of the arguments, cut into words */
    char **arguments; /* one word each */
    uint32_t argument_count;
    /* Bound to a kernel: */
    uint8_t *bytes;          /* the parameter buffer */
    const void **parameters; /* for each parameter its bytes; NULL: not known */
    struct launch_name *names;
    size_t name_count;
};

/* False: `message` says what is wrong and what to write. */
bool launch_parse(struct kernel_launch *launch, const char *text, char *message,
                  size_t message_bytes);
/* Makes the parameters for this kernel, and forgets an earlier binding. Without `args` none of them
 * is known. */
bool launch_bind(struct kernel_launch *launch, const struct ptx_function *function, char *message,
                 size_t message_bytes);
/* The name of the pointer at that byte of the parameters, and what was added to it; NULL: it is a
 * number. */
const char *launch_name_at(const struct kernel_launch *launch, uint32_t param_offset,
                           uint64_t *added);
/* The eight bytes there; false: not known. */
bool launch_pointer_at(const struct kernel_launch *launch, const struct ptx_function *function,
                       uint32_t param_index, uint32_t param_offset, uint64_t *value);
void launch_release(struct kernel_launch *launch);

#endif
