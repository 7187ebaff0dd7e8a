/* Machine code of an image, asked which parameters a kernel reads. See code_reads.h. */
#include "runtime/hook/kernel/code_reads.h"
#include "runtime/ptx/fatbin.h"
#include "runtime/sass/machine_code.h"

#include <stdlib.h>
#include <string.h>

enum { MESSAGE_BYTES = 256 };

/* The code that the device runs: the newest of its major version that is not newer than itself
 * (CUDA C++ Programming Guide, "Binary Compatibility"). */
struct choice {
    uint32_t architecture;
    struct fatbin_entry entry; /* of the newest */
    uint32_t count;            /* entries of that architecture: sm_90 and sm_90a look alike */
};

static bool choose(void *user, const struct fatbin_entry *entry)
{
    struct choice *choice = user;
    if (entry->kind != FATBIN_ELF || entry->arch / 10 != choice->architecture / 10 ||
        entry->arch > choice->architecture || (choice->count && entry->arch < choice->entry.arch))
        return true;
    choice->count = choice->count && entry->arch == choice->entry.arch ? choice->count + 1 : 1;
    choice->entry = *entry;
    return true;
}

static struct reads *cubin_reads(const void *cubin, size_t bytes, const char *symbol,
                                 uint32_t words)
{
    struct machine_code *code = machine_code_read_kernel(cubin, bytes, symbol);
    struct reads *reads = code ? machine_code_reads(code, symbol, words) : NULL;
    machine_code_free(code);
    return reads;
}

static struct reads *container_reads(const void *container, uint32_t architecture,
                                     const char *symbol, uint32_t words)
{
    struct choice choice = {.architecture = architecture};
    char message[MESSAGE_BYTES];
    size_t bytes = 0;
    if (fatbin_entries(container, 0, choose, &choice, message, sizeof message) != 0 ||
        choice.count != 1)
        return NULL;
    void *cubin = fatbin_unpack(&choice.entry, &bytes, message, sizeof message);
    struct reads *reads = cubin ? cubin_reads(cubin, bytes, symbol, words) : NULL;
    free(cubin);
    return reads;
}

struct reads *code_reads_find(const void *image, uint32_t architecture, const char *symbol,
                              uint32_t words)
{
    struct fatbin_wrapper wrapper;
    switch (fatbin_classify(image)) {
    case FATBIN_IMAGE_CONTAINER:
        return container_reads(image, architecture, symbol, words);
    case FATBIN_IMAGE_ELF:
        return cubin_reads(image, fatbin_image_bytes(image), symbol, words);
    case FATBIN_IMAGE_WRAPPER: /* of version 2: units that are linked to other code */
        memcpy(&wrapper, image, sizeof wrapper);
        return wrapper.version == 1 && wrapper.data
                   ? container_reads(wrapper.data, architecture, symbol, words)
                   : NULL;
    default:
        return NULL;
    }
}
