/* The PTX of the images a program gives to the driver: found when a module or library is loaded,
 * read when a kernel of it is launched for the first time.
 *
 * An image among a loaded object's constants (image_place.h) stays where it is. Of any other the
 * PTX is unpacked at once; a cubin has some only if it was made with line information
 * (runtime/ptx/cubin_text.h). Reference counts are atomic; image_function,
 * image_variable and image_mentions want one caller at a time. */
#ifndef RUNTIME_HOOK_KERNEL_IMAGE_H
#define RUNTIME_HOOK_KERNEL_IMAGE_H

#include "runtime/ptx/ir.h"

struct image;
struct image_place;

/* Made for a load call's image or file. `place`: where it stays; NULL: it may go. NULL when it has
 * no PTX that csan can read or memory is short. The caller releases it. */
struct image *image_of_data(const void *data, const struct image_place *place);
struct image *image_of_file(const char *path);
/* Made of a copy of PTX text. NULL when memory is short or it is none. */
struct image *image_of_text(const char *text, size_t bytes);
struct image *image_retain(struct image *image);
void image_release(struct image *image);

/* The definition of the kernel of that name, or NULL. It stays valid while the image does; a later
 * call may give out another of the same. */
const struct ptx_function *image_function(struct image *image, const char *name);

/* Once a kernel was asked for: what could not be read, "PTX line 3: ...", of that kernel if it was
 * it; "" when all that was wanted so far could be. It lives as long as the image. */
const char *image_problem(const struct image *image);

/* What kind of variable the name is, by its declaration; UNKNOWN where there is none, or no PTX.
 * The text is unpacked, and where its kernels lie is found, but it is not read as a whole. `image`
 * may be NULL. */
enum image_variable {
    IMAGE_VARIABLE_UNKNOWN,
    IMAGE_VARIABLE_CONSTANT,
    IMAGE_VARIABLE_DEVICE,
    IMAGE_VARIABLE_MANAGED
};
enum image_variable image_variable(struct image *image, const char *name);

/* Whether its PTX has the name at all, or a kernel of it was asked for and it was read as a whole:
 * looking is much cheaper than reading. */
bool image_mentions(struct image *image, const char *name);

#endif
