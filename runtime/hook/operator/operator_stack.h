/* The operators of a framework that run on a thread (csan_operator_begin): the innermost is that
 * whose launches the thread makes, and one of them names these launches (operator_work.h).
 *
 *   aten::randint          not composite: names its launches
 *     aten::empty          allocates memory: randint's output
 *     aten::random_        the innermost: owns the launch, which writes its argument
 *
 * A library's call (runtime/hook/library) is such an operator, too. */
#ifndef RUNTIME_HOOK_OPERATOR_OPERATOR_STACK_H
#define RUNTIME_HOOK_OPERATOR_OPERATOR_STACK_H

#include <csan/csan.h>
#include "runtime/hook/state/callsite.h"
#include "runtime/hook/interpose/driver.h"

#include <stdbool.h>

/* A thread's operators. */
struct operators;
/* The calling thread's, or those of the thread for which it acts; NULL: none ever ran. */
extern __thread struct operators *operator_self
    __attribute__((tls_model("initial-exec"), visibility("hidden")));

/* Whether an operator runs on the calling thread. Each launch asks this several times. */
bool operator_is_open_slow(void);
static inline bool operator_is_open(void)
{
    return __builtin_expect(operator_self != NULL, 0) && operator_is_open_slow();
}

/* The stack that names the thread's launches while an operator with a stack runs; NULL: their own.
 */
const struct callsite_stack *operator_stack(void);

/* The calling thread replaces its own operators by these (NULL: none), to process another thread's
 * work. Returns what it had. */
static inline struct operators *operator_act_for(struct operators *other)
{
    struct operators *before = operator_self;
    operator_self = other;
    return before;
}
/* The calling thread's operators; NULL: memory is short. */
struct operators *operators_of_thread(void);

/* Some of the thread's operators were deferred. Until they are processed, its stack lags behind the
 * program. */
void operator_falls_behind(void);
bool operator_is_behind(void);

/* csan_operator_begin and csan_operator_end. */
void operator_begin(const struct csan_operator *what, const struct csan_operator_call *call);
void operator_end(void);
/* csan_operator_indices, and the number that index_range_note gave. It is that of the operator that
 * names the thread's launches now or, if that one has no indices, of the next one within it. 0:
 * none. */
void operator_note_indices(const struct csan_indices *indices, size_t count);
uint64_t operator_indices(void);

/* A call of a library that csan knows. It is an operator whose launches touch exactly these
 * accesses, and have the stack of the call. */
struct operator_library {
    const struct csan_operator *what;
    const struct callsite_stack *stack; /* valid until its end, as the accesses; or NULL, and */
    csan_site site; /* the site of its launches: the call was deferred, and is not copied */
    const struct csan_access *accesses;
    size_t count;
    bool apart;    /* its accesses are an op of their own, and its launches add nothing */
    bool complete; /* its launches write nothing else but the library's own memory */
    bool traced;   /* what a trace of its launches says is known better than the accesses */
};
void operator_library_begin(const struct operator_library *call);
/* Ends it. Returns the largest piece of memory that it allocated and did not free; bytes 0: none.
 */
void operator_library_end(uint64_t *base, uint64_t *bytes);

/* Whether the thread's launches are kernels of a collective call, whose accesses are an op of their
 * own. */
bool operator_is_collective(void);

/* Whether the thread's launches are those of a library's call. */
bool operator_is_library(void);

/* Whether a trace is to say what the thread's launches touch, though a library's call declares it.
 */
bool operator_prefers_traces(void);

/* Whether the library's call around the thread's launches declared what they write. */
bool operator_declares_writes(void);

/* The calling thread allocated or freed memory. While an operator runs, that memory belongs to it.
 */
void operator_memory_made(uint64_t base, uint64_t bytes);
void operator_memory_gone(uint64_t base);
/* The same for an allocation at the host. A framework's pool makes such allocations within
 * whichever operator happens to need one. So the memory belongs only to a library's call, if to
 * any. */
void operator_library_memory_made(uint64_t base, uint64_t bytes);

#endif
