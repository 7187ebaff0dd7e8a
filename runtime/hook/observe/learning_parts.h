/* What learning.c and learning_node.c share. */
#ifndef RUNTIME_HOOK_OBSERVE_LEARNING_PARTS_H
#define RUNTIME_HOOK_OBSERVE_LEARNING_PARTS_H

#include "runtime/hook/kernel/launch_accesses.h"
#include "runtime/learn/learner.h"

/* NULL: memory was short. */
struct learner *learning_learner(void);

/* The memory that csan knows. An address in no allocation belongs to a module: it stays valid while
 * no module is unloaded. `user` is not used. */
struct learn_block learning_find_block(void *user, uint64_t address);
void learning_find_blocks(void *user, const uint64_t *addresses, uint32_t count,
                          struct learn_block *blocks);

/* A trace does not have what comes before a griddepcontrol.wait. PTX shows it; machine code is
 * assumed to wait first. */
bool learning_can_describe(const struct kernel *kernel,
                           const struct launch_accesses_touched *touched);
/* Whether a learned bound is better than what is known without it. PTX's bound holds for all data;
 * a learned one holds for what was seen. */
bool learning_bound_is_better(enum csan_level level, bool exact);

/* For the summary: a captured launch that was counted as not learned is now known. */
void learning_count_node(uint8_t answer);

#endif
