/* See exec_lowering.h. */
#include "runtime/device/exec/exec_lowering.h"

/* The linker names the ends of the section. */
extern const struct lowering *const __start_csan_lowering[], *const __stop_csan_lowering[];

const struct lowering *lowering_find(lowering_handler *handler)
{
    const size_t count = ((uintptr_t)__stop_csan_lowering - (uintptr_t)__start_csan_lowering) /
                         sizeof *__start_csan_lowering;
    for (size_t i = 0; i < count; i++)
        if (__start_csan_lowering[i]->handler == handler)
            return __start_csan_lowering[i];
    return NULL;
}
