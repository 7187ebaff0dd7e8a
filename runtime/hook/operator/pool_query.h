/* Who asks whether an event has come: the program, which acts on the answer, or a memory pool that
 * reuses its blocks by it.
 *
 * When memory is requested, PyTorch's pools ask for the events of blocks that several streams used.
 * Its NCCL watchdog frees tensors in the same way. The program does not learn the answer. If csan
 * took such an answer for an order of the program's, finished work would hide each wait that the
 * program forgot. */
#ifndef RUNTIME_HOOK_OPERATOR_POOL_QUERY_H
#define RUNTIME_HOOK_OPERATOR_POOL_QUERY_H

#include <stdbool.h>

/* Blocks of a pool are declared (csan_pool_alloc). Before that, the pool's own queries are the only
 * order between the owners of its blocks. */
void pool_query_blocks_are_declared(void);

/* Whether the caller is code of such a pool, whose blocks are declared. What a pool learns of one
 * block's event would hide what the program forgot for another block that the same stream used
 * before. Thread-safe. Reads the symbols of PyTorch's libraries once for each caller, and takes no
 * lock but, before glibc 2.35, the loader's. */
bool pool_query_is_of_memory(void);

#endif
