/* Whether ThreadSanitizer's run-time is in the process. It must be the first in a new thread. */
#ifndef CSAN_BASE_THREAD_SANITIZER_H
#define CSAN_BASE_THREAD_SANITIZER_H

#include <stdbool.h>
#include <stddef.h>

/* What instrumented code calls libcsan_host has, too; this only the run-time has. */
extern char __tsan_get_current_report[] __attribute__((weak));

static inline bool thread_sanitizer_is_here(void)
{
    return __tsan_get_current_report != NULL;
}

#endif
