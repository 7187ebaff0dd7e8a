/* See exec_lowering.h. */
#include "runtime/device/exec/exec_lowering.h"

/* The linker names the ends of the section. */
extern const struct lowering *const __start_csan_lowering[], *const __stop_csan_lowering[];

const struct lowering *lowering_find(lowering_handler *handler)
{
    for (const struct lowering *const *at = __start_csan_lowering; at < __stop_csan_lowering; at++)
        if ((*at)->handler == handler)
            return *at;
    return NULL;
}
