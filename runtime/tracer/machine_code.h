/* What a module's machine code says of its kernels that the Sanitizer API does not: which of them
 * have accesses to global memory that no patch is called for. Copies, stores and reductions through
 * tensor maps, textures and surfaces are such; what is traced of a kernel with one is not all. */
#ifndef RUNTIME_TRACER_MACHINE_CODE_H
#define RUNTIME_TRACER_MACHINE_CODE_H

#include <stdbool.h>
#include <stddef.h>

struct machine_code;

/* Reads a cubin, which is not kept. NULL: all that its kernels touch is seen, as far as can be
 * told. Where the cubin cannot be read, or memory is short, no kernel of it is. */
struct machine_code *machine_code_read(const void *cubin, size_t bytes);
void machine_code_free(struct machine_code *code);

/* Whether the kernel of that (mangled) name has, or may call what has, such accesses. */
bool machine_code_is_blind(const struct machine_code *code, const char *kernel);

#endif
