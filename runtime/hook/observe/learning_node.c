/* Nodes of graphs that csan learns from. See learning_node.h. */
#include "runtime/hook/observe/learning_node.h"
#include "csan/detector/context.h"
#include "runtime/hook/observe/learning.h"
#include "runtime/hook/observe/learning_case.h"
#include "runtime/hook/observe/learning_parts.h"
#include "runtime/hook/observe/learning_wait.h"
#include "runtime/hook/session/session_options.h"
#include "runtime/hook/observe/trace.h"
#include "runtime/hook/observe/trace_source.h"

#include <stdlib.h>

/* Launches of one node that are to teach, or that others may have taught by then, before it is
 * given up: its module may never be patched. */
enum { ASKED_MAX = 64 };

struct learning_node {
    unsigned references; /* atomic */
    struct learning_case *launch;
    CUfunction function;
    uint64_t threads, reach;
    unsigned asked; /* launches */
    bool bounds;    /* are better than what is said of it without */
    bool over;      /* atomic */
    bool known;     /* of however many graphs; or not counted as not learned */
};

struct learning_node *learning_node_create(const struct learning *learning,
                                           const struct kernel *kernel, CUfunction function,
                                           const struct launch_accesses_launch *what,
                                           const struct launch_accesses_touched *touched)
{
    if (!learning->learned || kernel->collective || context_ignores() ||
        (touched->exact && !learning->applied && !session_options()->access.learned_first) ||
        learning->reply.answer == LEARN_UNKNOWN || !learning_can_describe(kernel, touched))
        return NULL;
    struct learning_node *node = calloc(1, sizeof *node);
    struct learning_case *launch = node ? learning_case_create(learning, kernel->atomics) : NULL;
    if (!launch) {
        free(node);
        return NULL;
    }
    node->references = 1;
    node->launch = launch;
    node->known = learning->applied || learning->reply.answer == LEARN_KNOWN;
    node->function = function;
    node->threads = launch_accesses_threads(what);
    node->reach = learning_reach(learning);
    node->bounds = learning->bounded || learning_bound_is_better(touched->level, touched->exact);
    return node;
}

struct learning_node *learning_node_retain(struct learning_node *node)
{
    if (node)
        __atomic_fetch_add(&node->references, 1, __ATOMIC_RELAXED);
    return node;
}

void learning_node_release(struct learning_node *node)
{
    if (!node || __atomic_sub_fetch(&node->references, 1, __ATOMIC_ACQ_REL) > 0)
        return;
    learning_case_free(node->launch);
    free(node);
}

bool learning_node_equal(const struct learning_node *a, const struct learning_node *b)
{
    return a == b ||
           (a && b && a->function == b->function && learning_case_equal(a->launch, b->launch));
}

CUfunction learning_node_function(const struct learning_node *node)
{
    return node->function;
}

bool learning_node_is_over(const struct learning_node *node)
{
    return __atomic_load_n(&node->over, __ATOMIC_RELAXED);
}

void learning_node_give_up(struct learning_node *node)
{
    __atomic_store_n(&node->over, true, __ATOMIC_RELAXED);
}

/* Its pointers may lead into other blocks by now. */
static const struct learning_case *launch_of(struct learning_node *node)
{
    struct learn_anchor *anchors = learning_case_anchors(node->launch);
    for (uint32_t i = 0; i < node->launch->launch.anchor_count; i++) {
        struct learn_block block;
        learning_find_blocks(NULL, &anchors[i].address, 1, &block);
        if (block.end)
            anchors[i].block = block;
    }
    return node->launch;
}

struct csan_access *learning_node_look(struct learning_node *node, bool known,
                                       size_t *accesses_count, bool *refuted)
{
    const struct learning_case *launch = launch_of(node);
    struct csan_access *accesses = NULL;
    struct learn_reply reply;
    *accesses_count = 0;
    learner_look(learning_learner(), launch->learned, &launch->key, &launch->launch,
                 learning_find_block, NULL, &reply);
    *refuted = known && reply.answer == LEARN_UNKNOWN;
    if (reply.answer == LEARN_UNKNOWN || (reply.answer == LEARN_BOUNDED && !node->bounds && !known))
        learning_node_give_up(node);
    else if (reply.set)
        accesses = learning_case_accesses(launch, reply.set, accesses_count);
    if (accesses && !node->known) {
        node->known = true;
        learning_count_node(reply.answer);
    }
    learned_set_release(reply.set);
    return accesses;
}

void learning_node_pass(struct learning_node *node)
{
    if (++node->asked == ASKED_MAX)
        learning_node_give_up(node);
}

/* What the maps describe may have been freed, and less be there now: until there is more again,
 * such launches cannot be traced. */
static bool mapped_is_there(const struct learning_case *launch)
{
    for (uint32_t i = 0; i < launch->mapped_count; i++) {
        const struct device_trace_range *range = &launch->mapped[i];
        const struct learn_block block = learning_find_block(NULL, range->address);
        uint64_t end = range->address + range->bytes; /* it did not overflow: learning.c */
        for (uint32_t k = 0; k < range->dims; k++)
            end += range->stride[k] * (range->count[k] - 1);
        if (range->address < block.start || end > block.end)
            return false;
    }
    return true;
}

struct learning_case *learning_node_ask(struct learning_node *node, bool confirms,
                                        struct trace_want *want)
{
    const struct learning_case *launch = launch_of(node);
    struct learn_reply reply;
    if (trace_is_sourceless() || (confirms && !(trace_time() & TRACE_TO_CONFIRM)))
        return NULL;
    learner_confirm(learning_learner(), confirms || trace_time() & TRACE_TO_CONFIRM);
    if (confirms)
        learner_again(learning_learner(), launch->learned, &launch->key, &launch->launch);
    learner_ask(learning_learner(), launch->learned, &launch->key, &launch->launch,
                learning_find_block, NULL, &reply);
    learned_set_release(reply.set);
    if (!reply.trace)
        return NULL;
    if (!confirms)
        learning_node_pass(node);
    struct learning_case *taken = mapped_is_there(launch) ? learning_case_copy(launch) : NULL;
    if (!taken) {
        learner_refused(learning_learner(), launch->learned, &launch->key);
        learning_wait_decide(launch->learned);
        return NULL;
    }
    taken->of_node = true;
    *want = (struct trace_want){.function = node->function,
                                .confirms = confirms,
                                .threads = node->threads,
                                .reach = node->reach,
                                .maps_are_known = launch->maps_are_known,
                                .mapped = launch->mapped,
                                .mapped_count = launch->mapped_count};
    return taken;
}
