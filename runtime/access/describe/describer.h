/* What the files share that make descriptions:
 *
 *   describe.c            accesses
 *   describe_value.c      nodes as sums: parameters, operations, joins
 *   describe_loop.c       counters, and how often loops turn
 *   describe_condition.c  predicates, and when a block is entered
 *   describe_taint.c      what a value depends on beside the launch
 *
 * When memory is short, a jump ends all of it. */
#ifndef RUNTIME_ACCESS_DESCRIBE_DESCRIBER_H
#define RUNTIME_ACCESS_DESCRIBE_DESCRIBER_H

#include "runtime/access/access_set.h"
#include "runtime/access/describe/describe.h"
#include "runtime/access/symbolic_sum.h"

enum {
    DESCRIBE_DEPTH = 48, /* of values in values */
    DESCRIBE_DEPTH_CONDITION = 6,
    DESCRIBE_EITHER = 4 /* alternatives that are spelled out */
};

/* What a value depends on, except for the launch. */
struct taint {
    uint8_t bound; /* enum access_bound: EXACT: nothing, else DATA or SHAPE */
    uint32_t line;
};

struct loop_text {
    bool asked, solved;
    bool sole;     /* nothing else leaves the loop */
    uint32_t test; /* block whose branch leaves it */
    /* That happens in the first round in which rest - step * round is no longer above 0 (differs:
     * is 0). */
    const struct symbolic_sum *rest, *step;
    bool differs;
    const char *name;
};

struct place;

struct describer {
    struct arena *arena,
        scratch; /* belongs to the description, with what is needed while it is made */
    jmp_buf out_of_memory;
    const struct value_graph *graph;
    const struct symbolic_sum **sums; /* by node */
    struct taint *taints;             /* by node */
    struct loop_text *loops;          /* by loop */
    uint32_t budget, depth, named_loops;
    struct describe_access *accesses;
    struct place *places; /* of each */
    size_t count, capacity, place_capacity;
};

/* describe_value.c */
const struct symbolic_sum *describe_node(struct describer *d, uint32_t node);
/* A value that is a word of its own. */
const struct symbolic_sum *describe_opaque(struct describer *d, const char *text, bool cut);

/* describe_loop.c */
const struct symbolic_sum *describe_loop_value(struct describer *d, uint32_t node); /* of a LOOP */
const struct symbolic_sum *describe_exit(struct describer *d, const struct node *at);
const char *describe_loop_name(struct describer *d, uint32_t loop);
const struct loop_text *describe_loop(struct describer *d, uint32_t loop);
/* "for i in 0..n": the loops around the block whose counters the texts speak of, outermost first.
 */
const char *describe_loops(struct describer *d, uint32_t block, const char *offset,
                           const char *guard);

/* describe_condition.c */
bool describe_is_comparison(const struct node *at);
const char *describe_predicate(struct describer *d, uint32_t node, bool negated, unsigned depth);
/* When control goes from block `top`, which dominates it, to `block`, for an access in block
 * `access`; "": always. */
const char *describe_path(struct describer *d, uint32_t top, uint32_t block, uint32_t access,
                          unsigned depth);
const char *describe_both(struct describer *d, const char *first, const char *second); /* && */

/* describe_taint.c */
void describe_find_taints(struct describer *d);
void describe_taint_by(struct taint *to, struct taint from); /* the first one stays */
struct taint describe_taint_of_exits(const struct describer *d, uint32_t loop);
/* The conditions on the way to the block that no launch decides. */
struct taint describe_taint_of_block(const struct describer *d, uint32_t block);

#endif
