/* libFuzzer: learned sets, as the cache keeps them. An input is a whole file, if it begins like
 * one; else an image, in a file made round it, since the checksum lets no mutated image through. */
#include "runtime/learn/learned_file.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

static void take(const uint8_t *data, size_t bytes)
{
    struct image_state *image = learned_file_take(data, bytes);
    if (image)
        image_clear(image);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    size_t file_bytes = 0;
    take(data, bytes);
    uint8_t *file = learned_file_pack(data, bytes, &file_bytes);
    if (!file)
        abort();
    take(file, file_bytes);
    free(file);
    return 0;
}
