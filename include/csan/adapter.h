/* What an adapter declares of the program that it is part of: which operators a framework
 * runs, what the calls of a library do that csan does not know, and the stacks of an interpreted
 * language. csan's own adapter of PyTorch and libcsan_mpi use it. As in csan.h, the functions are
 * inline, do nothing when csan is absent or off, and may be called from any thread. csan.h includes
 * it. */
#ifndef CSAN_ADAPTER_H
#define CSAN_ADAPTER_H

#include "csan.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Operators of a framework --------------------------------------------------------------- */

/* An operator of a framework, such as PyTorch's. While one runs on a thread, the kernel launches,
 * copies and sets that the thread makes are its. Reports name it and its arguments. If csan does
 * not know exactly what a kernel touches, the kernel is taken to touch what the operator does.
 * Lives as long as the process, with what it points to. */
struct csan_operator {
    const char *name;             /* as reports show it: PyTorch's schema */
    const char *const *arguments; /* an access's `argument` is an index into these */
    size_t argument_count;
    uint16_t output; /* index of the argument that names memory which the operator allocates, or
                        CSAN_NO_ARGUMENT: it allocates none */
};

/* As the last character of an argument's name: it is returned, too. Alone: the output. */
#define CSAN_ARGUMENT_RETURNED "\1"

/* One call of it. */
struct csan_operator_call {
    const struct csan_access *accesses; /* to memory of the device */
    size_t count;
    const struct csan_access *host_accesses; /* to memory of the host, which the operator itself */
    size_t host_count;                       /* touches if it makes no launch */
    int composite; /* it does its work through other operators: reports name those */
};

/* Operators nest; begin and end are called on one thread. The arrays of the call, not the struct,
 * stay valid until its end. The innermost operator owns a launch; the outermost one that is not
 * composite names it. An operator that launches nothing touches no memory of the device. Memory
 * that the thread allocates while it runs, from CUDA or a declared pool, belongs to the operator:
 * its output, or its workspace. */
static inline void csan_operator_begin(const struct csan_operator *what,
                                       const struct csan_operator_call *call)
{
    const struct csan_api *api = csan_active();
    if (api)
        api->operator_begin(what, call);
}
static inline void csan_operator_end(void)
{
    const struct csan_api *api = csan_active();
    if (api)
        api->operator_end();
}

/* An argument that holds indices into another one, and the range of valid values. A report uses it
 * if a kernel of the operator fails. csan reads indices in memory of the host during the call, if
 * they have at most 4096 bytes. */
enum { CSAN_INDICES_DIMS = 4 };
enum {
    CSAN_INDICES_OF_ALL = -1,   /* into all elements of the other argument, as of one row */
    CSAN_INDICES_OF_NUMBER = -2 /* the other argument is the number of them */
};
struct csan_indices {
    uint64_t base;          /* where the indices lie, one behind the other; 0: otherwise */
    uint64_t count;         /* of indices */
    int64_t low, high;      /* low <= index < high; low INT64_MIN: that depends */
    int64_t ignored;        /* another that is right, if has_ignored */
    uint8_t has_ignored;    /* 0 or 1 */
    uint8_t on_host;        /* 1: they lie in memory of the host, from where they are copied */
    uint16_t element_bytes; /* of signed numbers: 4 or 8 */
    uint16_t dim_count;     /* of the argument that holds them; beyond CSAN_INDICES_DIMS: */
    uint16_t argument, of;  /* which arguments of the operator's these two are */
    int16_t dimension;      /* of `of`, from 0; or one of those above */
    uint64_t sizes[CSAN_INDICES_DIMS]; /* the first of them */
};
/* Of the operator that began last and has not ended. Copied. */
static inline void csan_operator_indices(const struct csan_indices *indices, size_t count)
{
    const struct csan_api *api = csan_active();
    if (api && api->size > offsetof(struct csan_api, operator_indices))
        api->operator_indices(indices, count);
}

/* Who declares operators, for csan to say when they need not be declared: option
 * operator_summaries. Both functions may be called on any thread, within a call of CUDA or of this
 * header, with locks of csan held: they must not call CUDA or csan. */
struct csan_operator_source {
    uint32_t size; /* sizeof(struct csan_operator_source) */
    /* Operators are to be declared from now on. `now` 0: from where the program runs none; 1: at
     * once, for that takes too long. Operators that run already need not be declared. */
    void (*follow)(int now);
    /* They need not be declared any more. Ends of those that were are still to come. */
    void (*rest)(void);
};
/* Once, before any operator. The struct stays the caller's. Returns these bits. */
enum {
    CSAN_OPERATORS_ARE_DECLARED = 1,  /* else not before `follow` is called */
    CSAN_OPERATORS_ARE_SUMMARIZED = 2 /* csan compares parameters of their launches */
};
/* A mark for memory that nobody set. Where an operator begins or ends, a source fills the unused
 * stack with words of eight bytes that differ each time. Every other time their upper 16 bits are
 * the mark: parameters of launches that have it were not set. */
#define CSAN_OPERATOR_STACK_MARK UINT64_C(0xc5a7)
static inline int csan_operator_source_set(const struct csan_operator_source *source)
{
    const struct csan_api *api = csan_active();
    if (!api || api->size <= offsetof(struct csan_api, operator_source))
        return CSAN_OPERATORS_ARE_DECLARED;
    return api->operator_source(source);
}

/* ---- Calls of a library, for who stands in front of its functions --------------------------- */

/* One call of a function, and what it touches. */
struct csan_call {
    const char *name;             /* "MPI_Send"; lives as long as the process */
    const char *detail;           /* what else reports say of it, copied; or NULL */
    const char *const *arguments; /* csan_access.argument is an index; as `name` */
    size_t argument_count;
    const struct csan_access *accesses; /* with their dims read during the call only */
    size_t count;
};

/* The call touches this before it returns: accesses of the calling thread. */
static inline void csan_call_touches(const struct csan_call *call)
{
    const struct csan_api *api = csan_active();
    if (api && api->size > offsetof(struct csan_api, call_touches))
        api->call_touches(call);
}

/* The call starts what touches this: a request. It may do so until a thread waits for it. The
 * request comes after all that the calling thread knows now. Returns its number; 0: csan is off, or
 * the process has not used CUDA yet. */
static inline uint64_t csan_request_start(const struct csan_call *call)
{
    const struct csan_api *api = csan_active();
    if (!api || api->size <= offsetof(struct csan_api, request_start))
        return 0;
    return api->request_start(call);
}
/* The calling thread knows that the request has finished. Takes 0, too. */
static inline void csan_request_wait(uint64_t request)
{
    const struct csan_api *api = csan_active();
    if (request && api && api->size > offsetof(struct csan_api, request_end))
        api->request_end(request, 1);
}
/* Nobody will ever wait for it: it stays unordered with what comes. Takes 0, too. */
static inline void csan_request_forget(uint64_t request)
{
    const struct csan_api *api = csan_active();
    if (request && api && api->size > offsetof(struct csan_api, request_end))
        api->request_end(request, 0);
}

/* Between the two the calling thread is inside a library. Its calls of CUDA are the library's own:
 * csan passes them through, and neither checks them nor takes their waits for an order. They nest.
 */
static inline void csan_library_begin(void)
{
    const struct csan_api *api = csan_active();
    if (api && api->size > offsetof(struct csan_api, library))
        api->library(1);
}
static inline void csan_library_end(void)
{
    const struct csan_api *api = csan_active();
    if (api && api->size > offsetof(struct csan_api, library))
        api->library(0);
}

/* The same for calls that must cost next to nothing: the calling thread's flag, which is not 0
 * while the thread is inside. Set it to 1 if it is 0, and then back to what it was. It is there as
 * long as the thread is. NULL: csan is off, or wants to see these calls: use csan_library_begin. */
static inline uint32_t *csan_library_flag(void)
{
    const struct csan_api *api = csan_active();
    return api && api->size > offsetof(struct csan_api, library_flag) ? api->library_flag() : NULL;
}

/* From here on other processes may read and write that memory of the host, as with
 * process_vm_readv(2): csan guards no page of it before the end. They nest, by the address. What a
 * request touches is exposed by itself, until somebody waits for it; of one that is forgotten, for
 * good. */
static inline void csan_exposed_begin(const void *memory, size_t bytes)
{
    const struct csan_api *api = csan_active();
    if (api && api->size > offsetof(struct csan_api, exposed))
        api->exposed(memory, bytes, 1);
}
static inline void csan_exposed_end(const void *memory)
{
    const struct csan_api *api = csan_active();
    if (api && api->size > offsetof(struct csan_api, exposed))
        api->exposed(memory, 0, 0);
}

/* Two counters that only grow, for calls that must cost next to nothing: what entered csan, but for
 * accesses of the host, and what csan deferred. A call that touches what the same thread declared
 * while both were the same need not be declared again. The struct lives as long as the process, and
 * the counters may be read at any time (atomically). NULL: csan is off, or the process has not used
 * CUDA yet. */
struct csan_activity {
    const uint64_t *entered;
    const uint32_t *deferred;
};
static inline const struct csan_activity *csan_activity(void)
{
    const struct csan_api *api = csan_active();
    return api && api->size > offsetof(struct csan_api, activity) ? api->activity() : NULL;
}

/* On the embedded device: where the host may touch memory of the device, to which it has no access
 * otherwise. NULL: it is none, or on a GPU. The bytes of one allocation lie as in it. */
static inline void *csan_host_view(const void *pointer)
{
    const struct csan_api *api = csan_active();
    return api && api->size > offsetof(struct csan_api, host_view) ? api->host_view(pointer) : NULL;
}

/* What the calls of a library moved, for the summary and recordings: read at the end. */
struct csan_call_counts {
    const char *library; /* "MPI (Open MPI)" */
    const char *item;    /* "message"; plural with an s */
    uint64_t calls, items, bytes;
};
/* Once for a library. The struct lives as long as the process. */
static inline void csan_call_counts(const struct csan_call_counts *counts)
{
    const struct csan_api *api = csan_active();
    if (api && api->size > offsetof(struct csan_api, call_counts))
        api->call_counts(counts);
}

/* ---- Stacks of an interpreted language ------------------------------------------------------- */

/* The stack of an interpreted language, as frames that csan keeps and compares like return
 * addresses, and only at a report asks the meaning of. Bit 63 of a frame is set, which no address
 * of the program's has. */
struct csan_source_line {
    const char *file, *function; /* valid as long as the process lives; file NULL: a heading that */
    unsigned line;               /* `function` is, between two stacks */
};
struct csan_stack_source {
    uint32_t size; /* sizeof(struct csan_stack_source) */
    /* The calling thread's frames, innermost first, at most `capacity`. 0: it runs none of that
     * language. Called at each launch and allocation, in any thread; `locked`: from where an
     * allocator of the program may hold a lock, so that it must wait for none. */
    size_t (*capture)(const void **frames, size_t capacity, int locked);
    /* What a frame means; 0: not known. */
    int (*describe)(const void *frame, struct csan_source_line *line);
    /* 1: capture waits for a lock of the program. While an operator runs its stack at the beginning
     * holds, and capture is not called; nor is it outside of operators where CUDA gives memory or
     * takes it back: there an allocator of the program holds a lock for which the owner of that one
     * may wait. */
    int waits;
};
static inline void csan_stack_source_set(const struct csan_stack_source *source)
{
    const struct csan_api *api = csan_active();
    if (api)
        api->stack_source(source);
}

/* Python's stacks as csan reads them (CPython 3.8 to 3.14), for adapters that add to them. Waits
 * for no lock of the program's or the interpreter's; any thread. */
struct csan_python_stacks {
    uint32_t size; /* sizeof(struct csan_python_stacks) of the library */
    /* The calling thread's innermost frame, which shows whether Python was called since; NULL:
     * none. */
    const void *(*top)(void);
    /* Its frames are never below 2^20, but for bit 63: those are the adapter's to use. */
    const struct csan_stack_source *source;
};
/* `in`: a function of the interpreter's (Py_GetVersion), for one that was loaded for its library
 * alone or after csan; or NULL. NULL: no interpreter is in the process that csan knows, or csan or
 * its option python_stacks is off. */
static inline const struct csan_python_stacks *csan_python(const void *in)
{
    const struct csan_api *api = csan_active();
    if (!api || api->size <= offsetof(struct csan_api, python))
        return NULL;
    return api->python(in);
}

#ifdef __cplusplus
}
#endif

#endif
