/* The machine code of the images a program gives to the driver, for the launches of a process in
 * which nobody traces any: a source of traces has its own (trace_source.h). Read at the first
 * question, for most images are of kernels of which nothing is known.
 *
 * An image that stays (image_place.h) is read where it is, of any other a copy is. Thread-safe: a
 * lock for each. */
#ifndef RUNTIME_HOOK_IMAGE_CODE_H
#define RUNTIME_HOOK_IMAGE_CODE_H

#include "runtime/learn/reads.h"
#include "runtime/sass/map_uses.h"

struct image_code;

/* Of a load call's image or file. NULL: it is no machine code, or memory is short, the driver
 * compiles PTX instead (CUDA_FORCE_PTX_JIT; options of single calls are not looked at), or it is
 * one too many: the copies of all images have IMAGE_CODE_MOST bytes at most. The caller releases
 * it. */
#define IMAGE_CODE_MOST ((size_t)64 << 20)
struct image_code *image_code_of_data(const void *data);
struct image_code *image_code_of_file(const char *path);
struct image_code *image_code_retain(struct image_code *code); /* either may be NULL */
void image_code_release(struct image_code *code);

/* As machine_code_reads and machine_code_maps have it, of the code that the driver takes for a
 * device of that compute capability, times ten: that of the same major number, and of the newest
 * minor one that the device has (CUDA C++ Programming Guide, "Binary Compatibility"); of several
 * such what is for that architecture alone, then what is for its family: PyTorch has kernels for
 * sm_90 and sm_90a in one image, and they do something in the latter only. All devices that a
 * process asks for are alike: what was read for one is told of that one alone. `maps` has room for
 * MAP_USES_MOST; returns how many there are. Nothing is told where the image has that code of that
 * kernel twice, or none, as where the driver compiles its PTX. */
struct reads *image_code_reads(struct image_code *code, uint32_t architecture, const char *kernel,
                               uint32_t words);
uint32_t image_code_maps(struct image_code *code, uint32_t architecture, const char *kernel,
                         struct map_use *maps);

#endif
