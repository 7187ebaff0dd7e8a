/* libFuzzer: GPU core dumps. An input is a whole dump. */
#include "runtime/coredump/coredump.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

static void take(const uint8_t *data, size_t bytes)
{
    static struct coredump_fault faults[COREDUMP_FAULTS_MOST];
    struct coredump dump;
    char message[128];
    size_t image_bytes;
    if (!coredump_open(&dump, data, bytes, message, sizeof message))
        return;
    const size_t count = coredump_faults(&dump, faults);
    for (size_t i = 0; i < count; i++) {
        coredump_image(&dump, faults[i].grid.module, &image_bytes);
        coredump_image_at(&dump, faults[i].pc, &image_bytes);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    take(data, bytes);
    return 0;
}
