/* Which of its parameters a kernel's code reads. Two facts narrow them. First, an index into
 * parameters is a multiple of the block's index in the grid, a multiple of a value loaded in that
 * way, or one of a few numbers. Second, a branch or a guard depends on a parameter: a register that
 * holds a parameter on every path, perhaps with a number added, is compared with a number or
 * another such register. For sm_75 to sm_121 (step.h). */
#ifndef RUNTIME_SASS_BRANCHES_H
#define RUNTIME_SASS_BRANCHES_H

#include "runtime/sass/reads.h"

/* Analyzes a kernel's code. The parameters are that many words of constant bank 0 from `params_at`
 * on. instruction_constant() must decode every read of them. The caller frees the result. NULL: no
 * branch excludes a read and no parameter is indexed, an index is not known, a branch target is not
 * known, the analysis would take some 50 ms, or memory is short. */
struct reads *branches_find(const uint8_t *instructions, uint64_t bytes, uint32_t architecture,
                            uint32_t params_at, uint32_t words);

#endif
