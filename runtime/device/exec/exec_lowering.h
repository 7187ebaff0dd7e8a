/* What handlers compute in one lane, as C text, for the compiler of kernels
 * (runtime/device/compile). A handler's macro makes its entry from the expression that the handler
 * itself is made of, so both compute the same. A handler without an entry is called by compiled
 * code as it is. */
#ifndef RUNTIME_DEVICE_EXEC_EXEC_LOWERING_H
#define RUNTIME_DEVICE_EXEC_EXEC_LOWERING_H

#include "runtime/device/exec/exec_engine.h"

enum lowering_kind {
    LOWERING_LANES = 1, /* d = expression of a, b and c, each of its type */
    LOWERING_ALONE,     /* the same, for what compilers do not turn into vectors everywhere */
    LOWERING_SELECT,    /* d = predicate c ? a : b */
    LOWERING_PREDICATE, /* predicate d = expression of predicates a and b */
    LOWERING_COMPARE,   /* a compare_run: a predicate from a and b */
    LOWERING_SETP,      /* see lowering_comparison */
    LOWERING_ACCESS,    /* access_run */
    LOWERING_PARAM,     /* load_param */
    LOWERING_SPECIAL,   /* read_special: see lowering_special_of */
    LOWERING_WINDOW,    /* convert_address */
    LOWERING_BARRIER,   /* barrier_run */
    LOWERING_ATOMIC,    /* atomic_run */
    LOWERING_RETURN, /* called: the lanes leave; of a kernel it reads no slot, of a function any */
    LOWERING_FIELDS  /* called; touches no slot but those that the operation's fields name */
};

typedef void lowering_handler(void);
struct lowering {
    lowering_handler *handler; /* a micro_run or compare_run */
    uint8_t kind;              /* enum lowering_kind */
    const char *d, *a, *b, *c; /* C types of a lane's value; NULL: not used */
    const char *expression;
};

/* The entry of a handler, or NULL. */
const struct lowering *lowering_find(lowering_handler *handler);

/* A setp: p = combine(compare(a, b), c), and q = combine(!compare(a, b), c) if it has one. */
struct lowering_comparison {
    const struct lowering *compare;
    uint8_t combine; /* enum ptx_bool_op; 0: no c */
    bool flush;      /* a and b are flushed first */
    bool second;     /* q is written */
};
/* alu_compare.c: what a micro-operation with a LOWERING_SETP handler does. False: something else.
 */
bool lowering_comparison_of(const struct micro *op, struct lowering_comparison *comparison);

/* A special register in C, where `c` is the struct compiled_call. */
struct lowering_special {
    uint8_t special; /* PTX_SREG_... */
    uint8_t step;    /* it grows by that from lane to lane of a full warp, if exec_state says that
                        threads are consecutive */
    bool by_lane;    /* the text is an array of 32 lanes */
    const char *text;
};
/* exec_move.c: what a micro-operation with a LOWERING_SPECIAL handler reads; NULL: it is called. */
const struct lowering_special *lowering_special_of(const struct micro *op);

#define LOWERING_TEXT_(...) #__VA_ARGS__
#define LOWERING_TEXT(...)  LOWERING_TEXT_(__VA_ARGS__)

/* Entries are found by the section that holds pointers to them. */
#define LOWERING(function, ...)                                                                    \
    static const struct lowering lowering_##function = {(lowering_handler *)function,              \
                                                        __VA_ARGS__};                              \
    static const struct lowering *const lowering_of_##function                                     \
        __attribute__((section("csan_lowering"), used)) = &lowering_##function;

#endif
