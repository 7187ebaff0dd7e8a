/* The identity of an image of kernels, the same in later processes: a hash of its bytes. A large
 * image among a loaded object's constants would have to be read from the disk for that. Such an
 * image is identified by the object's build id and the image's offset in it. */
#ifndef RUNTIME_HOOK_KERNEL_IDENTITY_H
#define RUNTIME_HOOK_KERNEL_IDENTITY_H

#include "runtime/learn/learner.h"

#include <stdbool.h>

/* For the image of a load call; `limit`: bytes of it, 0: not known. Zeros: csan cannot identify it.
 */
struct learn_image identity_of_data(const void *data, size_t limit);
struct learn_image identity_of_file(const char *path);

/* For the code of that image on that device: another architecture has other machine code. */
struct learn_image identity_on_device(struct learn_image image, const char *source, int major,
                                      int minor);

static inline bool identity_is_known(struct learn_image image)
{
    return image.words[0] || image.words[1];
}

#endif
