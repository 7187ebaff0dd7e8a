/* The host's own loads and stores (option host): memory that an op of the device may still touch is
 * guarded, and an access of the host that meets it becomes one of the detector's, as
 * csan_host_reads and csan_host_writes would say it. */
#ifndef RUNTIME_HOOK_HOST_HOST_ACCESS_H
#define RUNTIME_HOOK_HOST_HOST_ACCESS_H

#include <csan/csan.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Once, before the first op: does what option host asks for. */
void host_access_start(csan_context *context);

/* The process uses the driver from here on. */
void host_access_begin(void);

/* Whether pages may be guarded. */
extern bool host_access_guards;

/* The call of that name, of the C library, lets the kernel read or write memory, which a guarded
 * page would refuse: it counts as the host's access, and the pages are opened. */
void host_access_call(uintptr_t memory, size_t bytes, bool writes, const char *name);

/* In a forked child: see page_guard_stop. */
void host_access_forked(void);

/* For the line at the end; false: nothing is to be said. */
bool host_access_summary(char *text, size_t bytes);

#endif
