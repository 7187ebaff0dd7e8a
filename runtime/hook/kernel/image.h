/* The PTX of the images that a program passes to the driver. It is found when a module or library
 * is loaded, and read when a kernel of it is first launched.
 *
 * An image among a loaded object's constants (image_place.h) stays where it is. For any other image
 * the PTX is unpacked at once. A cubin has PTX only if it was made with line information
 * (runtime/ptx/cubin_text.h). Reference counts are atomic; image_function, image_variable and
 * image_mentions need one caller at a time. */
#ifndef RUNTIME_HOOK_KERNEL_IMAGE_H
#define RUNTIME_HOOK_KERNEL_IMAGE_H

#include "runtime/ptx/ir.h"

struct image;
struct image_place;

/* For a load call's image or file. `place`: where it stays; NULL: it may disappear. NULL if it has
 * no PTX that csan can read, or memory is short. The caller releases it. */
struct image *image_of_data(const void *data, const struct image_place *place);
struct image *image_of_file(const char *path);
/* From a copy of PTX text. NULL if memory is short or the text is no PTX. */
struct image *image_of_text(const char *text, size_t bytes);
struct image *image_retain(struct image *image);
void image_release(struct image *image);

/* The architecture of the device that runs its kernels: 90 for compute capability 9.0; 0: the
 * embedded device, or not known. Call it before what follows; only the first call counts. */
void image_set_device(struct image *image, uint32_t architecture);
/* Whether the device runs other code than was compiled from the PTX: the image has machine code for
 * it, and PTX of another architecture. Known once a kernel was asked for. */
bool image_is_foreign(const struct image *image);

/* The definition of the kernel of that name, or NULL. Valid as long as the image. A later call may
 * return another, equal one. */
const struct ptx_function *image_function(struct image *image, const char *name);

/* After a kernel was asked for: what could not be read, "PTX line 3: ...", for that kernel if it
 * failed; "" if all that was wanted so far could be read. Lives as long as the image. */
const char *image_problem(const struct image *image);

/* The kind of the variable of that name, by its declaration; UNKNOWN if there is no declaration, or
 * no PTX. Unpacks the text and finds where its kernels lie, but does not read it as a whole.
 * `image` may be NULL. */
enum image_variable {
    IMAGE_VARIABLE_UNKNOWN,
    IMAGE_VARIABLE_CONSTANT,
    IMAGE_VARIABLE_DEVICE,
    IMAGE_VARIABLE_MANAGED
};
enum image_variable image_variable(struct image *image, const char *name);

/* Whether its PTX contains the name at all, or was read as a whole because a kernel of it was asked
 * for. To look for the name is much cheaper than to read the PTX. */
bool image_mentions(struct image *image, const char *name);

#endif
