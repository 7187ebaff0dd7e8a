/* The graph's making, shared by its files and nobody else:
 *   value_graph.c        the kernel and its inlined copies: order of blocks, ways in, loops
 *   value_variables.c  variables (registers, slots of .local and .param memory) to nodes
 *   value_memory.c where .local and .param addresses lead
 *   value_translate.c  one instruction to nodes
 *   value_call.c   a call to a copy of what it calls
 *   value_simplify.c   what is the same after all
 * Memory that is short jumps out of everything, as does value_graph_fail. */
#ifndef RUNTIME_ACCESS_VALUES_VALUE_BUILDER_H
#define RUNTIME_ACCESS_VALUES_VALUE_BUILDER_H

#include "runtime/access/values/value_graph.h"

/* What a variable is worth at the end of a block. */
struct definition {
    uint32_t variable, block, node;
};

/* A function put in place of a call, or the kernel: copy 0. */
struct copy {
    const struct ptx_function *function;
    uint32_t caller;     /* copy */
    uint32_t call_block; /* VALUE_GRAPH_NO_BLOCK: the kernel */
    uint32_t first_block;
    uint32_t depth;
    uint32_t loop;        /* the one the call is in */
    uint8_t *definitions; /* by register: how many instructions write it, at most 2 */
    uint32_t *registers;  /* by register: its node (one definition), or its variable */
    uint32_t *order;      /* reachable blocks in reverse postorder, local numbers */
    uint32_t order_count;
};

/* A piece of a .local or .param variable that is read and written as one. */
struct slot {
    int64_t offset;
    uint32_t bytes, variable;
};

struct memory {
    const struct ptx_variable *variable;
    uint32_t copy;
    bool lost; /* written through an address that is not known: what it holds is not followed */
    bool looked_up; /* read at an offset that is not constant */
    struct slot *slots;
    size_t slot_count, slot_capacity;
};

/* A LOOP node whose rounds' end was not seen yet. */
struct open_loop {
    uint32_t node, block, variable;
};

/* A griddepcontrol: in which block, and behind how many accesses of the whole graph. */
struct dependent_launch_point {
    uint32_t block, accesses;
    bool is_wait;
};

struct builder {
    struct value_graph *graph;
    struct arena *arena; /* the graph's */
    struct arena scratch;
    jmp_buf failed;
    size_t node_capacity, block_capacity, loop_capacity, access_capacity;
    struct copy *copies;
    size_t copy_count, copy_capacity;
    uint8_t *widths; /* of each variable */
    size_t variable_count, width_capacity;
    struct definition *definitions; /* from 1 */
    size_t definition_count, definition_capacity;
    uint32_t *definition_slots; /* by hash of variable and block; 0: none */
    size_t definition_slot_count;
    struct memory *memories;
    size_t memory_count, memory_capacity;
    struct open_loop *open;
    size_t open_count, open_capacity;
    struct dependent_launch_point *points; /* every griddepcontrol */
    size_t point_count, point_capacity;
    uint32_t *addresses; /* nodes that are surely addresses, for cvta says so */
    size_t address_count, address_capacity;
    uint32_t *roots; /* by node: memory number plus one that it is an address into; 0: none */
    size_t root_capacity;
    uint32_t instructions; /* translated so far */
    uint32_t spent;        /* nodes of earlier goes */
    uint32_t depth;        /* of reads that wait for reads */
    uint32_t block;        /* where we are */
    uint32_t copy;
    uint32_t line;
    /* Found out while building, and what a second go must know from the start. */
    struct {
        const struct ptx_variable *variable;
        uint32_t copy;
    } * lost;
    size_t lost_count, lost_capacity;
    bool again;
};

void value_graph_fail(struct builder *b, const char *why) __attribute__((noreturn));
/* value_graph.c */
uint32_t
value_graph_inline(struct builder *b, const struct ptx_function *function,
                   const struct ptx_instruction *call); /* the copy; its blocks not yet built */
void value_graph_build_copy(struct builder *b, uint32_t copy);

void value_graph_mark_pointer(struct builder *b, uint32_t node); /* cvta says so */

/* value_simplify.c */
void value_graph_simplify(struct builder *b);

/* value_variables.c */
uint32_t node_new(struct builder *b, enum node_kind kind, uint32_t width);
uint32_t node_constant(struct builder *b, int64_t value, uint32_t width);
uint32_t node_unknown(struct builder *b, uint32_t width, int64_t low, int64_t high, int reason);
uint32_t node_any(struct builder *b, uint32_t width, int reason); /* of any value */
/* An operation, folded where its operands are constants or it does nothing. */
uint32_t node_operate(struct builder *b, enum node_operation operation, bool is_signed,
                      uint32_t width, uint32_t left, uint32_t right);
uint32_t node_extend(struct builder *b, uint32_t a, uint32_t from, uint32_t to, bool is_signed);
uint32_t node_select(struct builder *b, uint32_t predicate, uint32_t yes, uint32_t no);
/* The node as it is seen from inside a loop: through EXITs out of others. */
uint32_t node_use(struct builder *b, uint32_t node, uint32_t loop);

uint32_t variable_new(struct builder *b, uint32_t width);
void variable_write(struct builder *b, uint32_t variable, uint32_t block, uint32_t node);
uint32_t variable_read(struct builder *b, uint32_t variable, uint32_t block);
void variable_seal(struct builder *b, uint32_t copy); /* closes the LOOPs of a finished copy */
/* The value after a call: what each returning block of the copy leaves in the variable. */
uint32_t variable_read_returned(struct builder *b, uint32_t variable, uint32_t copy);

uint32_t register_read(struct builder *b, uint32_t reg);
void register_write(struct builder *b, uint32_t reg, uint32_t node);

/* value_memory.c */
/* The memory a node is an address into, or NULL; a constant place in it gives *offset. */
struct memory *memory_of(struct builder *b, uint32_t node);
bool memory_place(struct builder *b, uint32_t node, int64_t *offset);
struct memory *memory_find_variable(struct builder *b, const struct ptx_variable *variable,
                                    uint32_t copy);
uint32_t memory_read(struct builder *b, struct memory *memory, int64_t offset, uint32_t bytes);
void memory_write(struct builder *b, struct memory *memory, int64_t offset, uint32_t bytes,
                  uint32_t node);
uint32_t memory_look_up(struct builder *b, uint32_t address, uint32_t bytes);
/* The node's value leaves what is followed: if it is an address, its memory is lost. */
void memory_escape(struct builder *b, uint32_t node);
void memory_lose(struct builder *b, struct memory *memory);

/* value_translate.c */
void value_graph_translate(struct builder *b, const struct ptx_instruction *instruction);
uint32_t value_graph_predicate(struct builder *b, uint32_t reg); /* node of a predicate register */
uint32_t value_graph_type_width(uint8_t type); /* bits of a value; 64: it has none */
/* The operand's value as an integer of `width` bits. */
uint32_t value_graph_operand(struct builder *b, const struct ptx_operand *o, uint32_t width,
                             bool is_signed);
/* Something in [low, high] into the operand's registers; of any value when low > high. */
void value_graph_write_unknown(struct builder *b, const struct ptx_instruction *instruction,
                               const struct ptx_operand *to, int64_t low, int64_t high, int reason);

/* value_call.c */
void value_graph_call(struct builder *b, const struct ptx_instruction *instruction);

#endif
