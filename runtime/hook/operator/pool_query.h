/* Who asks whether an event has come: the program, which goes by the answer, or a pool of memory
 * that hands out its blocks again by it.
 *
 * PyTorch's pools ask for the events of blocks that several streams used whenever they are asked
 * for memory, and its NCCL watchdog lets go of tensors so; the program hears nothing of the answer.
 * Were it an order of the program's, what a stream had finished by then by chance would hide each
 * wait that the program forgot. */
#ifndef RUNTIME_HOOK_OPERATOR_POOL_QUERY_H
#define RUNTIME_HOOK_OPERATOR_POOL_QUERY_H

#include <stdbool.h>

/* Blocks of a pool are declared (csan_pool_alloc): before that, their pool's own queries are the
 * only order between their owners. */
void pool_query_blocks_are_declared(void);

/* Whether the caller is code of such a pool, whose blocks are declared. What a pool knows of one
 * block's event hides what a program forgot of another that the same stream used before.
 * Thread-safe; reads the symbols of PyTorch's libraries once a caller, and takes no lock but,
 * before glibc 2.35, the loader's. */
bool pool_query_is_of_memory(void);

#endif
