/* The control-flow graph of one function: basic blocks, their edges, dominators and postdominators.
 */
#ifndef RUNTIME_PTX_CFG_H
#define RUNTIME_PTX_CFG_H

#include "runtime/ptx/arena.h"
#include "runtime/ptx/ir.h"

/* Fills blocks, block_count and block_of from the function's finished instructions. The graph is
 * allocated in `arena`, temporary data in `scratch`. O(n log n). */
void ptx_cfg_build(struct ptx_function *function, struct arena *arena, struct arena *scratch);

#endif
