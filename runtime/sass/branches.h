/* Which of its parameters a kernel's code reads: of those that it indexes, told by multiples of its
 * block's index in the grid, or of what was loaded so, or by a few numbers of which the index is
 * one; and told by the branches that parameters decide, and the predicates that guard instructions:
 * a register that holds a parameter, whichever way control came, and perhaps a number added, is
 * compared with a number or another such. For sm_75 to sm_121 (step.h). */
#ifndef RUNTIME_SASS_BRANCHES_H
#define RUNTIME_SASS_BRANCHES_H

#include "runtime/sass/reads.h"

/* Of a kernel's code, whose parameters are so many words of constant bank 0 from `params_at` on,
 * and which reads none of them in a way that instruction_constant() does not tell. The caller frees
 * it. NULL: no branch tells that some are not read and none is indexed, an index is not told,
 * control may go where that is not told, it would take some 50 ms, or memory is short. */
struct reads *branches_find(const uint8_t *instructions, uint64_t bytes, uint32_t architecture,
                            uint32_t params_at, uint32_t words);

#endif
