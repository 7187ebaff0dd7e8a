/* What a kernel touches, in words: one line for each memory instruction, from the graph of values,
 * before any launch:
 *
 *   write arg0[4*(blockIdx.x*blockDim.x + threadIdx.x)] if blockIdx.x*blockDim.x + threadIdx.x <
 * arg2
 *
 * Parameters are named by position (arg1; {arg2+8} is what lies 8 bytes into a struct), loops by
 * letters; <loaded> stands for what memory holds, either(a, b) for what control flow decides.
 * Offsets count bytes. Wrap-around of integers is not said. `csan kernels` prints it; no decision
 * is made from it. */
#ifndef RUNTIME_ACCESS_DESCRIBE_DESCRIBE_H
#define RUNTIME_ACCESS_DESCRIBE_DESCRIBE_H

#include "runtime/access/values/value_graph.h"

/* How much of an access a launch decides: grid, block and parameters. */
enum describe_known {
    DESCRIBE_EXACT,   /* all of it: which bytes, and whether they are touched */
    DESCRIBE_BOUNDED, /* which memory, but not which bytes of it, or not whether they are touched */
    DESCRIBE_UNKNOWN  /* not even which memory */
};

struct describe_access {
    uint8_t kinds;        /* set of VALUE_GRAPH_READ...; 0: an instruction nobody models */
    uint8_t known;        /* enum describe_known */
    uint64_t bytes;       /* of one thread's access; 0: not constant */
    const char *base;     /* "arg0", "arg2+8", "counter", "*arg1": an address read through arg1,
                             "either(arg0, arg1)", "texture arg0+8", "<texture>": of no
                             parameter; "?": not known */
    const char *offset;   /* bytes from the base; "?" when not known; several accesses that differ
                             by a constant are one, with "+ 4*(0..3)" or "+ {0, 4, 12}" */
    const char *loops;    /* "for i in 0..arg2"; "" */
    const char *guard;    /* "threadIdx.x < 16"; "" */
    const char *reason;   /* not EXACT: why; "" */
    uint32_t line;        /* in the PTX text, of the (first) instruction */
    uint32_t reason_line; /* of what makes it inexact; 0: no place */
};

struct description {
    struct arena arena;
    const struct describe_access *accesses; /* in the order of the PTX; repeated ones left out */
    uint32_t count;
    const char *failure;   /* why it is not known; else NULL */
    uint32_t failure_line; /* 0: no place */
    bool has_calls;        /* some call is not followed: its accesses are not here */
};

/* NULL when memory is short. Thread-safe. */
struct description *describe_create(const struct ptx_function *kernel);
void describe_release(struct description *description);

/* The access as one line, "write arg0[4*threadIdx.x] if threadIdx.x < arg1", malloc'd; NULL when
 * memory is short. */
char *describe_line(const struct describe_access *access);

#endif
