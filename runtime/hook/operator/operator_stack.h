/* One piece of work that the program enqueued on a stream: where it comes from, and what it
 * touches. While an operator of a framework runs on the thread (csan_operator_begin), the work is
 * the operator's: its site is the operator's, its accesses go by the operator's arguments, and
 * where csan does not know what a kernel touches, it is the operator's arguments and the memory
 * that was made since it began.
 *
 *   aten::randint          not composite: names its launches
 *     aten::empty          makes memory: randint's output
 *     aten::random_        the innermost: owns the launch, which writes its argument
 *
 * A library's call (runtime/hook/library) is such an operator, too. */
#ifndef RUNTIME_HOOK_OPERATOR_OPERATOR_STACK_H
#define RUNTIME_HOOK_OPERATOR_OPERATOR_STACK_H

#include <csan/csan.h>
#include "runtime/hook/state/callsite.h"
#include "runtime/hook/interpose/driver.h"

#include <stdbool.h>

/* Whether an operator runs on the calling thread. */
bool operator_is_open(void);

/* The stack that the thread's launches bear while an operator runs that has one; NULL: their own.
 */
const struct callsite_stack *operator_stack(void);

/* A thread's operators. The calling thread takes those, or NULL: none, in place of its own, for
 * work of another thread's; returns what it had. */
struct operators;
struct operators *operator_act_for(struct operators *other);
/* Those of the calling thread; NULL: memory is short. */
struct operators *operator_count(void);

/* Some of the thread's operators were deferred: until they have settled, they are behind the
 * program. */
void operator_falls_behind(void);
bool operator_is_behind(void);

/* The site of work that goes by that name and those arguments outside of operators. */
csan_site operator_site(const struct callsite_stack *stack, const char *name,
                        const char *const *arguments, size_t argument_count);

/* The work itself, with the hooks' lock held and the joins before it made. `site` is from
 * operator_site on this thread. `accesses` are those outside of operators; `exact` says that they
 * are all that it touches, so that an operator need not be asked. */
void operator_enqueue(csan_lane lane, csan_site site, enum csan_level level, bool exact,
                      const struct csan_access *accesses, size_t count);

/* The same for work that became a node of a graph: its stream is captured. Without the lock. */
void operator_capture(CUstream stream, bool thread_default, csan_site site, enum csan_level level,
                      bool exact, const struct csan_access *accesses, size_t count);

/* Which operators captured a node: the outermost one and the innermost, 0: none. `declared`: its
 * accesses are the innermost operator's declaration, so it pairs with all that this operator
 * captured (operator_ops.h). The operators between the two are not kept. */
struct operator_part {
    uint64_t outermost, innermost;
    bool declared;
};
/* What such a node does. */
struct operator_captured {
    CUstream stream;
    bool thread_default;
    struct operator_part part;
    csan_site site;
    enum csan_level level;
    const struct csan_access *accesses;
    size_t count;
};
/* Keeps it with the node (graph/capture.h). Set before any hook is entered. */
extern void (*operator_on_captured)(const struct operator_captured *work);

/* csan_operator_begin and csan_operator_end. */
void operator_begin(const struct csan_operator *what, const struct csan_operator_call *call);
void operator_end(void);
/* csan_operator_indices; and its number, of index_range_note, for the operator that names the
 * thread's launches now or, if that has no indices, the next within it. 0: none. */
void operator_note_indices(const struct csan_indices *indices, size_t count);
uint64_t operator_indices(void);

/* A call of a library that csan has knowledge of: an operator whose launches touch those accesses
 * exactly as they say, and bear the stack of the call. */
struct operator_library {
    const struct csan_operator *what;
    const struct callsite_stack *stack; /* valid until its end, as the accesses; or NULL, and */
    csan_site site;                     /* of its launches: it was deferred, and is not copied */
    const struct csan_access *accesses;
    size_t count;
    bool apart;    /* what it touches is an op separate from its launches, which add nothing */
    bool complete; /* its launches write nothing else but what the library keeps for itself */
};
void operator_library_begin(const struct operator_library *call);
/* Ends it: the largest piece of memory that it got and did not give back; bytes 0: none. */
void operator_library_end(uint64_t *base, uint64_t *bytes);

/* Whether the thread's launches are kernels of a collective call, whose accesses are a separate op.
 */
bool operator_is_collective(void);

/* Whether what the thread's launches write was said when the library's call around them began. */
bool operator_declares_writes(void);

/* The accesses in the words of the operator that names the thread's work now, if there is one. */
void operator_name(struct csan_access *accesses, size_t count);

/* Memory that the calling thread gets, and gives back: while an operator runs it is the operator's.
 */
void operator_memory_made(uint64_t base, uint64_t bytes);
void operator_memory_gone(uint64_t base);
/* The same for an allocation at the host. Pools of frameworks get theirs so, within whatever
 * operator happens to need it: it is nobody's but a library's. */
void operator_library_memory_made(uint64_t base, uint64_t bytes);

#endif
