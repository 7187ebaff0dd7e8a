/* What a kernel's machine code says of its parameters: by the source of traces, which has the code
 * that the driver loaded; where there is none, by the image (trace_is_sourceless). */
#ifndef RUNTIME_HOOK_LEARNING_CODE_H
#define RUNTIME_HOOK_LEARNING_CODE_H

#include "runtime/hook/driver.h"
#include "runtime/learn/reads.h"
#include "runtime/sass/map_uses.h"

struct learning_code {
    struct reads *reads; /* what a launch may read; NULL: all of them */
    uint32_t map_count;  /* tensor maps that it copies through, and the source does not see */
    struct map_use maps[MAP_USES_MOST];
};

/* Of the kernel of that name, which has so many words of parameters. The caller frees `reads`.
 * Without a lock. Nothing is said where devices are of several architectures. */
void learning_code_ask(struct learning_code *code, CUfunction function, const char *kernel,
                       uint32_t words);

#endif
