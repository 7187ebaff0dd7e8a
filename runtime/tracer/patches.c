/* The patches. See patches.h. */
#include "runtime/tracer/patches.h"

#include <stddef.h>

/* patch.cu as a fat binary, put in by the assembler. */
__asm__(".section .rodata\n"
        ".balign 64\n"
        "csan_tracer_patches:\n"
        ".incbin \"" TRACER_PATCHES "\"\n"
        ".previous\n");
extern const char csan_tracer_patches[] __attribute__((visibility("hidden")));

static const struct {
    Sanitizer_InstructionId instruction;
    const char *patch;
} patches[] = {
    {SANITIZER_INSTRUCTION_GLOBAL_MEMORY_ACCESS, "csan_patch_access"},
    {SANITIZER_INSTRUCTION_MEMCPY_ASYNC, "csan_patch_copy"},
    {SANITIZER_INSTRUCTION_BULK_COPY_GLOBAL_TO_SHARED, "csan_patch_bulk_read"},
    {SANITIZER_INSTRUCTION_BULK_COPY_SHARED_TO_GLOBAL, "csan_patch_bulk_write"},
    {SANITIZER_INSTRUCTION_BULK_REDUCTION_SHARED_TO_GLOBAL, "csan_patch_bulk_reduce"},
};

SanitizerResult patches_load(const struct sanitizer_api *api, CUcontext context)
{
    return api->add_patches(csan_tracer_patches, context);
}

SanitizerResult patches_put(const struct sanitizer_api *api, CUmodule module)
{
    for (size_t i = 0; i < sizeof patches / sizeof *patches; i++) {
        SanitizerResult result =
            api->patch_instructions(patches[i].instruction, module, patches[i].patch);
        if (result != SANITIZER_SUCCESS)
            return result;
    }
    return api->patch_module(module);
}
