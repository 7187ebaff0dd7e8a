/* NVRTC: the PTX of what it compiled to machine code. With a real architecture ("-arch=sm_90") a
 * program asks for the cubin; the library has the PTX, too (NVRTC documentation, nvrtcGetPTX). */
#include "runtime/hook/kernel/compiled_ptx.h"
#include "runtime/hook/library/touch.h"

#include <stdlib.h>

enum { SUCCESS = 0 };

typedef int get_size(void *program, size_t *bytes);
typedef int get_text(void *program, char *text);

/* nvrtcGetCUBIN(program, cubin) */
void compiler_cubin(struct touch *call, int result)
{
    void *const program = (void *)touch_argument_pointer(call, 0);
    const void *const cubin = (const void *)touch_argument_pointer(call, 1);
    get_size *const cubin_size = (get_size *)library_ask(call->home, LIBRARY_CUBIN_BYTES);
    get_size *const ptx_size = (get_size *)library_ask(call->home, LIBRARY_PTX_BYTES);
    get_text *const ptx = (get_text *)library_ask(call->home, LIBRARY_PTX);
    size_t bytes = 0, text_bytes = 0;
    if (result != SUCCESS || !cubin_size || !ptx_size || !ptx ||
        cubin_size(program, &bytes) != SUCCESS || ptx_size(program, &text_bytes) != SUCCESS ||
        text_bytes > COMPILED_PTX_BYTES)
        return;
    char *text = malloc(text_bytes + 1);
    if (text && text_bytes > 1 && ptx(program, text) == SUCCESS)
        compiled_ptx_keep(cubin, bytes, text, text_bytes);
    free(text);
}
