/* libFuzzer: GPU core dumps, and the assertions in the code that they hold. An input is a whole
 * dump. */
#include "runtime/coredump/coredump.h"
#include "runtime/sass/assertion.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

static void take_assertion(const struct coredump *dump, const struct coredump_fault *fault)
{
    struct elf_file image;
    struct elf_section code;
    struct assertion assertion;
    char message[128];
    size_t bytes;
    const uint64_t pc = fault->lanes[fault->present ? __builtin_ctz(fault->present) : 0].pc;
    const uint8_t *data = coredump_image_at(dump, pc, &bytes);
    if (data && elf_file_open(&image, data, bytes, message, sizeof message) &&
        coredump_code_at(&image, pc, &code))
        assertion_find(&assertion, &image, &code, pc, fault->sm_major * 10 + fault->sm_minor);
}

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
        take_assertion(&dump, &faults[i]);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    take(data, bytes);
    return 0;
}
