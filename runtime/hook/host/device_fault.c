/* See device_fault.h. */
#include "runtime/hook/host/device_fault.h"
#include "runtime/hook/host/code_owner.h"
#include "runtime/hook/host/stopped.h"
#include "runtime/hook/interpose/driver.h"

#include <stdio.h>
#include <ucontext.h>
#include <unistd.h>

enum { LINE_BYTES = 512 };

static void *(*view_of)(const void *address);

bool device_fault_possible(void)
{
    *(void **)&view_of = driver_function("device_memory_view");
    return view_of != NULL;
}

void device_fault_explain(int number, const siginfo_t *info, const void *context)
{
    const ucontext_t *stopped = context;
    char line[LINE_BYTES];
    if (number != SIGSEGV || !view_of || !view_of(info->si_addr))
        return;
    const char *file = code_file(stopped_pc(stopped));
    const int length = snprintf(
        line, sizeof line,
        "csan: %s %s memory of the device at %p, which the host cannot reach: copy it with "
        "cudaMemcpy, or use managed or pinned memory\n",
        file && *file ? file : "the program", stopped_by_write(stopped) ? "wrote" : "read",
        info->si_addr);
    if (length > 0 && write(STDERR_FILENO, line, (size_t)length) < 0)
        return; /* there is nobody to say it to */
}
