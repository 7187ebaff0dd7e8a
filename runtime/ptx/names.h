/* Names and what they mean where: one interned entry per distinct spelling, and on it a stack of
 * bindings, the innermost scope's on top (PTX ISA section 4.4; nested braces shadow). Entering and
 * leaving a scope costs what was declared in it. Register ranges ("%r<100>") bind a prefix; a
 * member becomes a register when it is first named, so a huge range costs nothing. Parser only. */
#ifndef RUNTIME_PTX_NAMES_H
#define RUNTIME_PTX_NAMES_H

#include "runtime/ptx/arena.h"
#include "runtime/ptx/ir.h"

enum binding_kind {
    BINDING_REGISTER,
    BINDING_VARIABLE,
    BINDING_FUNCTION,
    BINDING_LABEL,
    BINDING_PROTOTYPE, /* label of .callprototype: .function */
    BINDING_TARGETS    /* label of .branchtargets or .calltargets */
};

/* .branchtargets: labels by instruction index, filled at the scope's end; .calltargets: functions
 */
struct target_list {
    uint32_t *labels;
    const struct ptx_function **functions;
    uint32_t count;
};

struct binding {
    enum binding_kind kind;
    uint32_t depth;
    uint32_t index; /* REGISTER: register, LABEL: instruction */
    struct ptx_variable *variable;
    struct ptx_function *function;
    struct target_list *targets;
    struct name *name;
    struct binding *shadowed, *next_in_scope;
};

struct register_range {
    uint8_t type;
    uint32_t count, depth;
    struct scope *scope;
    struct name *name;
    struct register_range *shadowed, *next_in_scope;
};

struct name {
    const char *text;
    uint32_t length, hash;
    struct name *next_in_bucket;
    struct binding *binding;
    struct register_range *range;
    struct ptx_instruction *decoded; /* of a mnemonic: decoded once, then copied */
};

/* A use of a label before its definition is known; settled when the scope that has it closes. */
struct label_use {
    struct name *name;
    uint32_t line;
    uint32_t instruction; /* whose operand 0 is the label, when slot is NULL */
    uint32_t *slot;
    struct label_use *next;
};

struct scope {
    struct scope *outer;
    uint32_t depth;
    uint64_t param_cursor; /* where .param variables stood when the scope opened */
    struct binding *bindings;
    struct register_range *ranges;
    struct label_use *label_uses;
};

struct name_table {
    struct arena *arena;
    struct name **buckets;
    size_t bucket_count, count;
};

void names_start(struct name_table *names, struct arena *arena);
struct name *names_intern(struct name_table *names, const char *text, size_t length);

/* Binds in `scope`; NULL when the name is already bound in that same scope. */
struct binding *names_bind(struct name_table *names, struct scope *scope, struct name *name,
                           enum binding_kind kind);
/* Binds the range of registers name0 .. name(count-1). NULL: already a range in that scope. */
struct register_range *names_bind_range(struct name_table *names, struct scope *scope,
                                        struct name *name, uint8_t type, uint32_t count);
/* The range that `name` is a member of and that is innermost, deeper than the name's own binding.
 */
struct register_range *names_find_range(struct name_table *names, const struct name *name);
/* Undoes every binding of the scope. */
void names_leave(struct scope *scope);

#endif
