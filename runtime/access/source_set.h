/* Sets of sources, hash-consed: equal sets are one number, so that a register's set costs four
 * bytes, comparing is one comparison, and a union computed before is a look-up. Sets only ever grow
 * in the fixed point, and few distinct ones occur. */
#ifndef RUNTIME_ACCESS_SOURCE_SET_H
#define RUNTIME_ACCESS_SOURCE_SET_H

#include "runtime/ptx/arena.h"
#include "runtime/ptx/ir.h"

/* What a value may derive from. */
enum source_kind {
    SOURCE_PARAM,    /* 8 bytes of the kernel's parameters at .offset */
    SOURCE_INDEXED,  /* the same, read through a computed index: perhaps no pointer */
    SOURCE_VARIABLE, /* the address of a .global or .const variable */
    SOURCE_FRAME, /* an address inside a .local or .param variable at .offset, or SOURCE_ANYWHERE */
    SOURCE_SHARED,    /* an address in shared memory */
    SOURCE_HEAP,      /* memory this kernel allocated itself */
    SOURCE_HIDDEN,    /* memory of the driver, that no program names */
    SOURCE_FUNCTION,  /* a function's address */
    SOURCE_LOADED,    /* read from memory, or made by something unknown */
    SOURCE_DIFFERENCE /* a mark, no source: the sub instruction at .object in function .offset made
                         a value out of two, and q + (p - q) is p, however it is scaled in between
                       */
};

#define SOURCE_ANYWHERE INT64_MIN

struct source {
    enum source_kind kind;
    const void *object; /* ptx_variable or ptx_function; an alloca instruction for FRAME */
    int64_t offset;
};

/* How a value has its source. */
enum source_mode {
    MODE_WHOLE, /* it is the source, moved by integers at most */
    MODE_MIXED, /* it is a sum of several such: one of them is the pointer, the others are integers
                 */
    MODE_PIECE, /* a part of its bits */
    MODE_COUNT
};

struct source_item {
    uint32_t source; /* index */
    enum source_mode mode;
};

typedef uint32_t source_set; /* 0 is empty */

struct source_table;

struct source_table *source_table_create(struct arena *arena);
/* True once there are more sources or sets than the limit: sets no longer grow then, and results
 * must not be trusted. */
bool source_table_full(const struct source_table *table);

/* Every set is smaller than this. */
source_set source_set_limit(void);

const struct source *source_get(const struct source_table *table, uint32_t source);
/* The number of an item of a set, for i < source_set_count. */
uint32_t source_set_count(const struct source_table *table, source_set set);
struct source_item source_set_item(const struct source_table *table, source_set set, uint32_t i);

source_set source_set_of(struct source_table *table, struct source source);
/* `count` sources that differ in their offsets, `stride` apart. */
source_set source_set_of_row(struct source_table *table, struct source first, uint32_t count,
                             int64_t stride);
source_set source_set_union(struct source_table *table, source_set a, source_set b);
/* Sum of two values: where both may be pointers, all become MIXED. */
source_set source_set_sum(struct source_table *table, source_set a, source_set b);
/* All items as PIECEs; and pieces put together again as WHOLE. */
source_set source_set_pieces(struct source_table *table, source_set set);
source_set source_set_whole(struct source_table *table, source_set set);
/* FRAME addresses moved by a constant; by an unknown amount. */
source_set source_set_move(struct source_table *table, source_set set, int64_t offset);
source_set source_set_blur(struct source_table *table, source_set set);
/* PARAM as INDEXED: one of several was picked by a computed index. */
source_set source_set_indexed(struct source_table *table, source_set set);
/* Whether some item is more than a piece. */
bool source_set_has_whole(const struct source_table *table, source_set set);

#endif
