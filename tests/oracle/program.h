/* A host program as a list of ops over a few streams, events and buffers: what the oracle makes up
 * at random, plays, judges, shrinks and prints.
 *
 * Any list of ops is a program: what refers to something that is not there (a stream that was not
 * created, a buffer that was freed) does nothing, so ops can be taken out at will. Nothing branches
 * on a result, and host calls are in one order, whichever threads make them: two runs can differ in
 * what their bytes hold only by the order in which the device did its work. */
#ifndef ORACLE_PROGRAM_H
#define ORACLE_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum {
    PROGRAM_OPS = 64,
    STREAMS = 8, /* 0: the legacy default stream, 1: the calling thread's own, then created ones */
    EVENTS = 4,
    BUFFERS = 8,
    THREADS = 3,
    RANGES = 3, /* of one op at most */
    KEYS = 2,   /* of csan_happens_before */
    BUFFER_BYTES = 128,
};

enum buffer_slot {
    BUFFER_DEVICE, /* these four are always there */
    BUFFER_PINNED,
    BUFFER_PAGEABLE,
    BUFFER_MANAGED,
    BUFFER_DYNAMIC /* from here on: what OP_ALLOCATE made */
};

/* Rows of bytes in a buffer. rows 0: none. */
struct rows {
    uint8_t buffer;
    uint8_t width; /* bytes of a row */
    uint8_t rows;
    uint16_t offset, stride; /* bytes */
};

enum op_kind {
    OP_STREAM_CREATE,  /* stream; flags: non-blocking, priority */
    OP_STREAM_DESTROY, /* stream */
    OP_STREAM_SYNCHRONIZE,
    OP_STREAM_QUERY,
    OP_DEVICE_SYNCHRONIZE,
    OP_EVENT_RECORD, /* event, stream */
    OP_EVENT_WAIT,   /* event, stream */
    OP_EVENT_SYNCHRONIZE,
    OP_EVENT_QUERY,
    OP_EVENT_ELAPSED, /* event, other */
    OP_EVENT_RENEW,   /* destroyed and created again */
    OP_KERNEL,        /* stream; ranges: two read, one written */
    OP_ADD,           /* stream; ranges[0]: atomically, in words of 4 or (FLAG_WIDE) 8 bytes */
    OP_COPY,          /* stream; from ranges[0] to ranges[1] */
    OP_SET,           /* stream; ranges[0]; other: bytes of an element, 1, 2 or 4 */
    OP_ALLOCATE,      /* ranges[0]: its buffer, rounded to its size; filled on the stream */
    OP_FREE,          /* ranges[0].buffer */
    OP_HOST_READ,     /* ranges[0] */
    OP_HOST_WRITE,
    OP_HOST_FUNCTION, /* stream; the function reads ranges[0], or (FLAG_WIDE) writes it */
    OP_POOL_ALLOCATE, /* ranges[0], a block declared to csan */
    OP_POOL_FREE,
    OP_BEFORE, /* csan_happens_before(key event, stream) */
    OP_AFTER,
    OP_KINDS
};

/* How csan sees the host's accesses: they are declared, or plain and seen by a guard or by what
 * memory holds. */
enum host_way { HOST_DECLARED, HOST_GUARDED, HOST_CONTENT, HOST_WAYS };

enum op_flag {
    FLAG_ASYNC = 1,        /* copies, sets; allocations and frees: on the stream */
    FLAG_NON_BLOCKING = 2, /* streams */
    FLAG_PRIORITY = 4,
    FLAG_GUARDED = 8,  /* kernels: behind a condition on memory */
    FLAG_WIDE = 16,    /* atomics of 8 bytes; allocations of more than a unit */
    FLAG_THREAD = 32,  /* stream 0 by the entry points whose default stream is the thread's */
    FLAG_UNIFIED = 64, /* copies that do not say in which memory their sides are */
    FLAG_BARE = 128,   /* allocations that are not filled */
    FLAG_PLANES = 128, /* copies of rows by cuMemcpy3D */
};

struct op {
    uint8_t kind, thread, stream, event, other, flags;
    struct rows ranges[RANGES];
};

struct program {
    uint64_t seed;
    bool host_threads; /* for host_order=threads: host calls are in one order by time alone */
    size_t count;
    struct op ops[PROGRAM_OPS];
};

/* The program of this seed; `host_threads`: of several threads, and without host functions;
 * guarded: with more accesses of the host's, and without host functions, beside which work of the
 * embedded device opens pages now and then. */
void program_make(struct program *program, uint64_t seed, bool host_threads, enum host_way way);

/* As the function of a test against the fake driver (tests/unit/hook/test_hook.h). */
void program_print(FILE *file, const struct program *program);

/* The size of a buffer that OP_ALLOCATE makes. */
uint64_t program_allocation_bytes(const struct op *op);

/* The stream an op goes to: 0 the legacy default one, 1 its thread's own, else a created one.
 * Copies and sets without FLAG_ASYNC have no choice but between the first two. */
unsigned program_stream(const struct op *op);

/* A copy from pageable memory into the device that is not asynchronous: it reads the source at the
 * host and writes the target on the stream. */
bool program_copy_is_staged(const struct op *op);

/* A copy from pageable memory into the device: csan counts two ops, since the source may be read at
 * the call (by the host, or if the copy is asynchronous beside its stream). */
bool program_copy_reads_at_call(const struct op *op);

/* Runs may differ though nothing races: it declares an order that the device does not keep, reads
 * memory that was never written, or has host functions, which are ordered among themselves and with
 * the host as they happened to run. */
bool program_is_loose(const struct program *program);

/* It has host functions, which are ordered with the host as they happened to run. */
bool program_has_functions(const struct program *program);

#endif
