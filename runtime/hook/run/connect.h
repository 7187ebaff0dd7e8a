/* What stands above hands its functions and tables to what stands below, which cannot name them:
 * see scripts/rooms.table. */
#ifndef RUNTIME_HOOK_RUN_CONNECT_H
#define RUNTIME_HOOK_RUN_CONNECT_H

#include <stdint.h>

/* Before it is decided whether csan is on: the stubs, which are there in any case. */
void connect_tables(void);
/* Once csan is to be on, before any hook is entered. `deferred`: as deferred_start has it. */
void connect_hooks(uint32_t deferred);

#endif
