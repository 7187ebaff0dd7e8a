/* Finds out whether an image lies where nobody changes it while it is loaded: among the constants
 * of a loaded object, as images do that nvcc embeds. Such an image need not be read at once. Any
 * other must be, because the program may change or free it as soon as the call that loads it
 * returns. */
#ifndef RUNTIME_HOOK_KERNEL_IMAGE_PLACE_H
#define RUNTIME_HOOK_KERNEL_IMAGE_PLACE_H

#include "runtime/ptx/fatbin.h"

/* One piece of memory, that may be copied. */
struct image_place {
    const void *image; /* NULL: `wrapper`, which was copied: wrappers are no constants */
    struct fatbin_wrapper wrapper; /* to a container among an object's constants */
    uint64_t object; /* distinguishes it from what is loaded at the same address later */
};

/* False: it lies elsewhere. *file, unless `file` is NULL, becomes the executable or library that
 * contains the image, in a string that the caller frees; NULL: none does. Any thread may call it.
 * It takes no lock of the loader that is held while constructors run. The loaded objects are walked
 * once. */
bool image_place_find(struct image_place *place, const void *image, char **file);

/* The image, as long as its object is loaded and `place` is there; NULL: its object is gone. */
const void *image_place_image(const struct image_place *place);

#endif
