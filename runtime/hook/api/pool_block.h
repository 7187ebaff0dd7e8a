/* Blocks of the program's pools, as it declares them: by csan.h (annotate.c) or by NVTX's memory
 * API (nvtx_memory.c). A pool orders nothing by itself, so no stream belongs to a block. */
#ifndef RUNTIME_HOOK_API_POOL_BLOCK_H
#define RUNTIME_HOOK_API_POOL_BLOCK_H

#include <stdbool.h>
#include <stdint.h>

/* The program's pool hands out [base, base + bytes), or takes back what begins at `base`. `bytes` >
 * 0. `call` is the function that said so, for reports, and must stay. Any thread, without locks of
 * hooks. Nothing happens where csan is off or within csan. */
void pool_block_alloc(uint64_t base, uint64_t bytes, const char *call);
void pool_block_free(uint64_t base);

/* Whether the range is all of one owner's memory as of now: an allocation or a declared block. */
bool pool_block_owner_has(uint64_t base, uint64_t bytes);
/* Whether a live allocation of CUDA's holds the range. Both as the functions above; false where
 * those do nothing. */
bool pool_block_is_allocated(uint64_t base, uint64_t bytes);

#endif
