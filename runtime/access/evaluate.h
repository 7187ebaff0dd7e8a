/* A kernel's graph with a launch's numbers: the value of each node, and when each block runs, as
 * affine forms over the launch's indices.
 *
 *   evaluate.c   values of nodes
 *   recurrence.c values that change from round to round
 *   arithmetic.c operations on values
 *   condition.c  predicates, and the conditions under which blocks run
 *   loop.c       how often loops turn (loop_condition.h: what keeps them turning)
 *
 * A value is a list of pieces: a form, and the conjunction under which the value is that form. It
 * holds for every thread and for every round of all loops around it. A value that is no form
 * becomes a new index of which only bounds are known. So nothing is ever left out. */
#ifndef RUNTIME_ACCESS_EVALUATE_H
#define RUNTIME_ACCESS_EVALUATE_H

#include "runtime/access/access_set.h"
#include "runtime/access/affine.h"
#include "runtime/access/values/value_graph.h"
#include "runtime/access/launch_set.h"

enum { VALUE_PIECES = 16 };

/* What an address is relative to. */
enum base_kind {
    BASE_NONE,       /* an integer, or an address that is known as a number */
    BASE_UNKNOWN,    /* some memory */
    BASE_SHARED,     /* memory of the block */
    BASE_LOCAL,      /* a .local or .param variable */
    BASE_PARAMETERS, /* the kernel's parameters */
    BASE_MEMORY      /* from here on: bases[number - BASE_MEMORY] */
};

struct piece {
    const struct conjunction *when; /* NULL: always */
    const struct affine_form *form;
    uint32_t base;
    uint8_t bound; /* enum access_bound: not EXACT when it may not be the value even then */
};

struct value {
    uint32_t count; /* at most VALUE_PIECES; 0: never computed, no case is possible */
    struct piece pieces[];
};

/* A condition that surely holds whenever the block runs (the predicate is true); with bound EXACT
 * only then. */
struct condition {
    struct disjunction when;
    uint8_t bound;
};

struct predicate {
    struct condition yes, no;
};

struct loop_state {
    uint32_t index;             /* the number of the round */
    struct condition entry;     /* the loop is entered */
    struct condition header;    /* its head runs in round `index` */
    const struct value *rounds; /* `index` when the loop is left; NULL: not known */
    bool busy;
    bool asked; /* when its head runs, while that was not known: the answer was "perhaps always" */
};

struct evaluation {
    const struct value_graph *graph;
    const struct access_launch *launch;
    struct pool *pool;
    struct index_table indices;
    const struct value **values;         /* by node */
    const struct predicate **predicates; /* by node */
    const struct condition **conditions; /* by block */
    struct loop_state **loops;
    uint32_t specials[PTX_SREG_COUNT]; /* the index of a coordinate, plus one */
    struct access_base bases[LAUNCH_SET_BASES];
    uint32_t base_count;
    bool *consumed;                   /* by byte of the parameters: the result depends on it */
    bool reads_memory;                /* the result depends on memory */
    bool mixed;                       /* pointers were taken for integers */
    uint32_t attempts, attempt_depth; /* to bound what a loop changes */
    const char *stack;                /* where the stack was at the start */
    uint32_t line;                    /* of the access under evaluation */
    uint32_t loop;                    /* of the node under evaluation */
};

/* Evaluate this in place of its value: only the addresses matter. */
extern const struct value value_busy;
extern const struct predicate predicate_busy;

/* All belong to one evaluation. A pool that is exhausted ends it by a jump. */
const struct value *evaluate_node(struct evaluation *e, uint32_t node);
const struct predicate *evaluate_predicate(struct evaluation *e, uint32_t node);
const struct condition *evaluate_block(struct evaluation *e, uint32_t block);
/* Control goes this way to a block inside `loop`. */
struct condition evaluate_way(struct evaluation *e, const struct value_graph_edge *way,
                              uint32_t loop);
struct loop_state *evaluate_loop(struct evaluation *e, uint32_t loop);
/* Deep recursion: no stack is left for more. */
bool evaluate_is_deep(const struct evaluation *e);
/* An empty set of nodes, one bit each, for walks over the graph. A node is often part of another in
 * many ways, and would otherwise be visited once for each. */
uint8_t *node_set_new(struct evaluation *e);
/* False: it was there before. */
static inline bool node_set_add(uint8_t *set, uint32_t node)
{
    uint8_t bit = (uint8_t)(1 << node % 8);
    bool added = !(set[node / 8] & bit);
    set[node / 8] |= bit;
    return added;
}

/* ---- For the files above ---- */

/* Collects the pieces of a value. If there are too many, they become one with bounds. */
struct maker {
    struct piece pieces[VALUE_PIECES];
    uint32_t count;
    struct interval hull;
    uint32_t base;
    uint8_t bound;
    bool any, overflow;
};
struct maker maker_start(void);
void maker_put(struct evaluation *e, struct maker *maker, const struct conjunction *when,
               const struct affine_form *form, uint32_t base, uint8_t bound);
const struct value *maker_finish(struct evaluation *e, struct maker *maker);
const struct value *value_constant(struct evaluation *e, int64_t constant);
const struct value *value_form(struct evaluation *e, const struct affine_form *form);
/* A value between the two, of which nothing else is known. */
const struct value *value_between(struct evaluation *e, int64_t low, int64_t high, uint8_t bound);
const struct value *value_any(struct evaluation *e, uint32_t width, uint8_t bound);
bool value_is_constant(const struct value *value, int64_t *constant);

/* Both conjunctions; false if they exclude each other. *exact as in conjunction_add. */
bool when_both(struct evaluation *e, const struct conjunction *a, const struct conjunction *b,
               const struct conjunction **both, bool *exact);
bool when_also(struct evaluation *e, const struct conjunction *a,
               const struct affine_form *constraint, const struct conjunction **both, bool *exact);
/* The piece's form under its own conditions. */
struct interval piece_interval(const struct evaluation *e, const struct piece *piece);
/* The worst of two bounds. */
static inline uint8_t bound_worst(uint8_t a, uint8_t b)
{
    return a ? a : b;
}
/* The worst bound among the form's indices. */
uint8_t form_bound(const struct evaluation *e, const struct affine_form *form);

/* Whether a quotient or remainder in the form changes with the index. */
bool form_bends(const struct evaluation *e, const struct affine_form *form, uint32_t index);

/* The piece read as an integer of `width` bits: up to WINDOWS pieces, each without wrap-around.
 * Returns how many; 0: too many, or not an integer. */
enum { WINDOWS = 4 };
uint32_t piece_windows(struct evaluation *e, const struct piece *piece, uint32_t width,
                       bool is_signed, struct piece windows[WINDOWS]);
/* The part of the piece that lies in [low, low + size), as far as the sides are to be cut. */
struct piece piece_window(struct evaluation *e, const struct piece *piece, __int128 low,
                          int64_t size, bool cut_low, bool cut_high, bool *possible);
/* The piece as a number where it is a pointer parameter. False: it cannot be known. */
bool piece_concrete(struct evaluation *e, struct piece *piece);
/* Bytes of the kernel's parameters. */
bool read_parameters(struct evaluation *e, int64_t offset, uint32_t bytes, uint64_t *value);

const struct value *operate(struct evaluation *e, const struct node *node);
const struct value *evaluate_loop_node(struct evaluation *e, uint32_t number);
const struct value *evaluate_exit(struct evaluation *e, const struct node *node);
/* Operations of division.c: quotient or remainder, the high half of a product, shift to the right.
 */
const struct value *evaluate_divide(struct evaluation *e, const struct node *node);
const struct value *evaluate_magic(struct evaluation *e, const struct node *node);
const struct value *evaluate_shift_right(struct evaluation *e, const struct node *node);
/* Quotient and remainder of a form that is at least 0 or whose floor is meant, by a constant. */
void divide_piece(struct evaluation *e, struct maker *maker, const struct piece *piece,
                  int64_t divisor, bool remainder);

#endif
