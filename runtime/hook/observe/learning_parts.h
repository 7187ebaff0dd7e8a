/* What learning.c, learning_apply.c, learning_count.c and learning_node.c share. */
#ifndef RUNTIME_HOOK_OBSERVE_LEARNING_PARTS_H
#define RUNTIME_HOOK_OBSERVE_LEARNING_PARTS_H

#include "runtime/hook/kernel/launch_accesses.h"
#include "runtime/hook/kernel/layout.h"
#include "runtime/hook/observe/learning_maps.h"
#include "runtime/learn/learner.h"
#include "runtime/sass/map_use.h"
#include "runtime/sass/reads_memo.h"

enum { LEARNING_VARIABLES = 8, CALM_MOST = 4096 };

/* What learning knows of a kernel; made at its first launch, freed with the kernel. */
struct learning_kernel {
    struct learned_kernel *learned;
    bool readable;  /* where its parameters lie is known */
    bool settled;   /* the source knows that csan needs no tracing */
    bool unheard;   /* nothing is known of any launch, nor will be */
    uint8_t missed; /* enum learning_miss; atomic */
    uint32_t calm;  /* launches since one was to be traced, up to CALM_MOST; atomic */
    struct layout layout;
    uint32_t map_count; /* that it copies through, and traces do not show */
    struct map_use maps[MAP_USES_MOST];
    uint32_t variable_count; /* that the kernel's own PTX names */
    const struct ptx_variable *variables[LEARNING_VARIABLES];
    uint16_t *arguments; /* of pointers, by offset / 8: plus one, 0: not asked; the kernel's lock */
    const struct reads *reads;      /* NULL: it may read all of its parameters */
    struct reads_memo memo;         /* of those */
    struct layout_parameter room[]; /* layout.parameters, then arguments, reads and the memo's */
};

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

/* Launches of which no key could be made: in a process that rests they would be of kernels that
 * nobody learned. */
bool learning_has_untaught(void);

/* For the summary: a captured launch that was counted as not learned is now known. */
void learning_count_node(uint8_t answer);

#endif
