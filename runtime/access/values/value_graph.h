/* A kernel as a graph of values, made once from its PTX: what every address and every branch
 * condition is computed from, with device functions put in place of their calls.
 *
 *   graph -> nodes[]     one value each, in single-assignment form; operands are node numbers
 *         -> blocks[]    the control-flow graph over all inlined functions
 *         -> loops[]     natural loops, nested
 *         -> accesses[]  the memory instructions: block, address, kind
 *
 * Where several definitions reach a block there is a JOIN (one operand for each way in), and at a
 * loop's head a LOOP (its value before, and after each round). A value of a loop that is used after
 * it goes through an EXIT. .local and .param variables at constant offsets are values as registers
 * are. Construction follows Braun et al., "Simple and Efficient Construction of Static Single
 * Assignment Form", CC 2013.
 *
 * The graph knows nothing of a launch; evaluate.h puts numbers in. describe.h prints it. */
#ifndef RUNTIME_ACCESS_VALUES_VALUE_GRAPH_H
#define RUNTIME_ACCESS_VALUES_VALUE_GRAPH_H

#include "runtime/access/dependent_launch.h"
#include "runtime/ptx/arena.h"
#include "runtime/ptx/ir.h"

enum node_kind {
    NODE_NONE,
    NODE_CONSTANT,  /* value */
    NODE_PARAM,     /* the width bits at byte `value` of the kernel's parameters */
    NODE_PARAM_AT,  /* the same at byte a + value */
    NODE_SPECIAL,   /* special register `value` */
    NODE_SYMBOL,    /* the address of variable `object`, plus value */
    NODE_OPERATION, /* `operation` of a, b, c */
    NODE_JOIN,      /* operands[i] when control came by ways[i]; all start at block `value` */
    NODE_LOOP,      /* at the head of `loop`: a in the first round, then b of the round before */
    NODE_EXIT,      /* a, as of when loop `value` was left */
    NODE_LOAD,      /* read from .global or .const memory at address a */
    NODE_LOOKUP,    /* operands[i] when a (an offset into a .local variable) is value offsets[i] */
    NODE_UNKNOWN    /* from value to high; `reason` says why */
};

/* Integer operations; width is the result's, and the operands' unless said otherwise. */
enum node_operation {
    NODE_ADD,
    NODE_SUB,
    NODE_MULTIPLY,
    NODE_DIVIDE,
    NODE_REMAINDER,
    NODE_SHIFT_LEFT,
    NODE_SHIFT_RIGHT,
    NODE_AND,
    NODE_OR,
    NODE_XOR,
    NODE_NOT,
    NODE_MINIMUM,
    NODE_MAXIMUM,
    NODE_ABSOLUTE,
    NODE_EXTEND,   /* a is `value` bits wide */
    NODE_TRUNCATE, /* a is wider */
    NODE_MAGIC,    /* a * value >> high, exact: a division by a constant as compilers write it */
    NODE_SELECT,   /* a (a predicate) ? b : c */
    NODE_LESS,
    NODE_LESS_EQUAL,
    NODE_EQUAL /* predicates; operands are `value` bits wide */
};

enum { VALUE_GRAPH_NO_BLOCK = 0xffffffffu, VALUE_GRAPH_MAX_DEPTH = 16 };

struct value_graph_edge;

struct node {
    uint8_t kind;      /* enum node_kind */
    uint8_t operation; /* enum node_operation */
    uint8_t width;     /* bits; 1: a predicate */
    bool is_signed;    /* of the operation, where that matters */
    bool is_pointer;   /* PARAM_AT, LOAD: surely an address */
    uint8_t reason;    /* UNKNOWN: enum access_bound, DATA or SHAPE */
    uint32_t loop;     /* the innermost loop it may change in; 0: none */
    uint32_t block;    /* where it was made */
    uint32_t a, b, c;
    uint32_t operand_count;
    int64_t value, high;
    const struct ptx_variable *variable; /* SYMBOL; LOAD: NULL */
    const uint32_t *operands;            /* JOIN, LOOKUP */
    const int64_t *offsets;              /* LOOKUP */
    const struct value_graph_edge *ways; /* JOIN */
    uint32_t line;                       /* in the PTX text */
};

/* One way into a block: from `block`, by its branch being taken or not. */
struct value_graph_edge {
    uint32_t block;
    bool taken;
};

/* Numbers from first to last - 1. */
struct value_graph_interval {
    uint32_t first, last;
};

struct value_graph_block {
    uint32_t loop;      /* innermost; 0: none */
    uint32_t dominator; /* immediate; of an inlined function's entry the block of the call */
    uint32_t function;  /* which inlined copy; 0: the kernel itself */
    uint32_t guard;     /* node of the predicate its end branches on; 0: none */
    bool guard_negated;
    bool guard_unknown;   /* an indexed branch: any successor may follow */
    bool is_entry;        /* of an inlined copy, or of the kernel */
    uint32_t taken, next; /* successors, or VALUE_GRAPH_NO_BLOCK */
    const struct value_graph_edge
        *ways; /* in; those of a loop's head from inside the loop come last */
    uint32_t way_count;
    uint32_t postdominator; /* immediate, in the same function; VALUE_GRAPH_NO_BLOCK: its end */
    struct value_graph_interval dominates,
        postdominates; /* contains those of the blocks that it does */
};

struct value_graph_loop {
    uint32_t head;         /* block */
    uint32_t parent;       /* loop; 0: none */
    uint32_t depth;        /* 1: outermost */
    uint32_t outside_ways; /* of the head's ways, the first so many come from outside */
    const struct value_graph_edge *exits; /* blocks of the loop, and which of their ways leave it */
    uint32_t exit_count;
    bool one_latch;
};

enum { VALUE_GRAPH_READ = 1, VALUE_GRAPH_WRITE = 2, VALUE_GRAPH_ATOMIC = 4 };

struct value_graph_access {
    uint32_t block;
    uint32_t address; /* node; 0: not known, see instruction */
    uint32_t guard;   /* node of the instruction's own predicate; 0: none */
    bool guard_negated;
    uint8_t kinds; /* VALUE_GRAPH_READ... */
    uint8_t space; /* enum ptx_space */
    uint8_t width; /* bytes of one atomic operation */
    uint64_t bytes;
    uint32_t size; /* node of the bytes when they are no constant; 0: they are */
    bool early;    /* may happen before a griddepcontrol.wait: see dependent_launch.h */
    const struct ptx_instruction *instruction;
    const struct ptx_function *function;
};

struct value_graph {
    struct arena arena;
    const struct ptx_function *kernel;
    struct node *nodes; /* from 1 */
    uint32_t node_count;
    struct value_graph_block *blocks;
    uint32_t block_count;
    struct value_graph_loop *loops; /* from 1 */
    uint32_t loop_count;
    struct value_graph_access *accesses;
    uint32_t access_count;
    struct dependent_launch dependent_launch;
    bool *is_pointer;    /* by byte of the parameters: an address surely starts here */
    bool has_calls;      /* there is a call of code that is not there */
    bool has_hidden;     /* some call was not put in place: its accesses are not here */
    const char *failure; /* no graph could be made: why */
    uint32_t failure_line;
};

/* The graph of a kernel, or NULL when memory is short. With `failure` set it has no accesses. Time
 * is bounded by the number of instructions, inlined copies counted each. */
struct value_graph *value_graph_create(const struct ptx_function *kernel);
void value_graph_release(struct value_graph *graph);

/* Whether block a is entered on every way to block b. */
bool value_graph_dominates(const struct value_graph *graph, uint32_t a, uint32_t b);
/* Whether block a is passed on every way from block b to the end of its function. */
bool value_graph_postdominates(const struct value_graph *graph, uint32_t a, uint32_t b);
/* Whether `inner` is `loop` or inside it; everything is inside loop 0. */
bool value_graph_loop_contains(const struct value_graph *graph, uint32_t loop, uint32_t inner);

#endif
