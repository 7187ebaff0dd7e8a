/* See device_fault.h. */
#include "runtime/hook/host/device_fault.h"
#include "runtime/hook/interpose/driver.h"

#include <dlfcn.h>
#include <link.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <ucontext.h>
#include <unistd.h>

enum { LINE_BYTES = 512, FAULT_WRITES = 2 };

static void *(*view_of)(const void *address);

bool device_fault_possible(void)
{
    *(void **)&view_of = driver_function("device_memory_view");
    return view_of != NULL;
}

/* The file of the code, "" for the program itself; safe in a signal handler. */
static const char *file_of(uint64_t code)
{
    struct dl_find_object found;
    if (_dl_find_object((void *)(uintptr_t)code, &found) != 0 || !found.dlfo_link_map->l_name)
        return "";
    const char *slash = strrchr(found.dlfo_link_map->l_name, '/');
    return slash ? slash + 1 : found.dlfo_link_map->l_name;
}

void device_fault_explain(int number, const siginfo_t *info, const void *context)
{
    const ucontext_t *stopped = context;
    char line[LINE_BYTES];
    if (number != SIGSEGV || !view_of || !view_of(info->si_addr))
        return;
    const greg_t *registers = stopped->uc_mcontext.gregs;
    const char *file = file_of((uint64_t)registers[REG_RIP]);
    const int length = snprintf(
        line, sizeof line,
        "csan: %s %s memory of the device at %p, which the host cannot reach: copy it with "
        "cudaMemcpy, or use managed or pinned memory\n",
        file[0] ? file : "the program", registers[REG_ERR] & FAULT_WRITES ? "wrote" : "read",
        info->si_addr);
    if (length > 0 && write(STDERR_FILENO, line, (size_t)length) < 0)
        return; /* there is nobody to say it to */
}
