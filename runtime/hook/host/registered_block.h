/* A block of the program's own memory that it registers with the driver. The program may have
 * protected it, and others may share its first and last page: then these stay open. */
#ifndef RUNTIME_HOOK_HOST_REGISTERED_BLOCK_H
#define RUNTIME_HOOK_HOST_REGISTERED_BLOCK_H

#include "csan/base/range_map.h"

#include <stdbool.h>
#include <stdint.h>

/* Call them after the driver's calls have succeeded. `shared`: others may touch the block now, who
 * would meet guarded pages: it stays open. */
void registered_block_begins(struct range block, bool shared);
void registered_block_ends(uint64_t start);

#endif
