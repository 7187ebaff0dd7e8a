/* The identity of an image of kernels, in this process and the next: a hash of its bytes. A large
 * image among a loaded object's constants would have to be read from the disk for that. Instead,
 * the object's build id and the image's offset in it stand for the bytes. */
#ifndef RUNTIME_HOOK_KERNEL_IDENTITY_H
#define RUNTIME_HOOK_KERNEL_IDENTITY_H

#include "runtime/learn/learner.h"

#include <stdbool.h>

/* Of a load call's image; `limit`: bytes of it, 0: not known. Zeros: it is nothing csan knows. */
struct learn_image identity_of_data(const void *data, size_t limit);
struct learn_image identity_of_file(const char *path);

/* For code of that image on that device: another architecture is another machine code. */
struct learn_image identity_on_device(struct learn_image image, const char *source, int major,
                                      int minor);

static inline bool identity_is_known(struct learn_image image)
{
    return image.words[0] || image.words[1];
}

#endif
