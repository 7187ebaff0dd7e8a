/* Higher rooms hand their functions and tables to lower ones, which cannot name them: see
 * scripts/rooms.table. */
#ifndef RUNTIME_HOOK_RUN_CONNECT_H
#define RUNTIME_HOOK_RUN_CONNECT_H

#include <stdint.h>

/* Call it before it is decided whether csan is on. Hands in the stubs, which exist in any case. */
void connect_tables(void);
/* Call it once csan is to be on, before any hook is entered. `deferred` is as in deferred_start. */
void connect_hooks(uint32_t deferred);

#endif
