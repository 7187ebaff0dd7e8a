/* Machine code for learning. See learning_code.h. */
#include "runtime/hook/learning_code.h"
#include "runtime/hook/architecture.h"
#include "runtime/hook/image_code.h"
#include "runtime/hook/kernel.h"
#include "runtime/hook/trace.h"

static void image_ask(struct learning_code *code, CUfunction function, const char *kernel,
                      uint32_t words)
{
    int major, minor;
    struct image_code *image = kernel_code(function);
    architecture_current(&major, &minor);
    const uint32_t architecture = (uint32_t)major * 10 + (uint32_t)minor;
    if (image && architecture) {
        code->reads = image_code_reads(image, architecture, kernel, words);
        code->map_count = image_code_maps(image, architecture, kernel, code->maps);
    }
    image_code_release(image);
}

void learning_code_ask(struct learning_code *code, CUfunction function, const char *kernel,
                       uint32_t words)
{
    code->reads = NULL;
    code->map_count = 0;
    if (!architecture_is_one())
        return;
    if (trace_is_sourceless()) {
        image_ask(code, function, kernel, words);
        return;
    }
    code->reads = trace_reads(function, kernel, words);
    code->map_count = trace_maps(function, kernel, code->maps);
}
