/* The PTX of machine code that a compiler in this process made (NVRTC, nvJitLink). A program that
 * takes only the cubin from it loads that, and the PTX would be lost: with it a kernel's accesses
 * are known by ranges, and the embedded device can run the kernel at all. So the PTX is kept under
 * the identity of the cubin's bytes. Thread-safe. */
#ifndef RUNTIME_HOOK_KERNEL_COMPILED_PTX_H
#define RUNTIME_HOOK_KERNEL_COMPILED_PTX_H

#include <stdbool.h>
#include <stddef.h>

/* Both together; beyond that, the oldest ones go. */
enum { COMPILED_PTX_TEXTS = 4096, COMPILED_PTX_BYTES = 256 << 20 };

/* A cubin of `bytes` bytes was compiled to that PTX, which is copied. The same cubin once more: the
 * newer PTX counts. Without memory it is lost. */
void compiled_ptx_keep(const void *cubin, size_t bytes, const char *ptx, size_t ptx_bytes);

/* The same of a cubin that was linked of several units: `image` has the PTX of each, in a form that
 * fatbin_texts reads (cubin_of_texts). */
void compiled_ptx_keep_image(const void *cubin, size_t bytes, const void *image,
                             size_t image_bytes);

/* Whether any PTX is kept at all. */
bool compiled_ptx_is_used(void);

/* A copy of the PTX of a cubin, *bytes without its final NUL, or of the image of its units; free()
 * it. NULL: there is none, or memory is short. `cubin` is a whole ELF file, whose size is in its
 * headers. */
char *compiled_ptx_find(const void *cubin, size_t *bytes);

#endif
