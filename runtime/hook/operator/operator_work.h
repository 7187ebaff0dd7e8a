/* One piece of work that the program enqueued on a stream: where it comes from, and what it
 * touches. While an operator of a framework runs on the thread (operator_stack.h), the work belongs
 * to it. Then the work's site is the operator's, and its accesses are named by the operator's
 * arguments. If csan does not know what a kernel touches, it takes the operator's arguments and the
 * memory that was allocated since it began. */
#ifndef RUNTIME_HOOK_OPERATOR_OPERATOR_WORK_H
#define RUNTIME_HOOK_OPERATOR_OPERATOR_WORK_H

#include <csan/csan.h>
#include "runtime/hook/interpose/driver.h"
#include "runtime/hook/state/callsite.h"

#include <stdbool.h>

/* The site of work with that name and those arguments, if no operator runs. */
csan_site operator_site(const struct callsite_stack *stack, const char *name,
                        const char *const *arguments, size_t argument_count);

/* Enqueues the work, with the hooks' lock held and the joins before it made. `site` is from
 * operator_site on this thread. `accesses` are those without an operator. `exact`: they are
 * complete, so the operator's declaration is not needed. */
void operator_enqueue(csan_lane lane, csan_site site, enum csan_level level, bool exact,
                      const struct csan_access *accesses, size_t count);

/* The same for work that became a node of a graph, because its stream is captured. Without the
 * lock. */
void operator_capture(CUstream stream, bool thread_default, csan_site site, enum csan_level level,
                      bool exact, const struct csan_access *accesses, size_t count);

/* Which operators captured a node: the outermost one and the innermost; 0: none. `declared`: its
 * accesses are the innermost operator's declaration, so it is of the same operator as all that this
 * one captured (operator_ops.h). Operators between the two are not kept. */
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
/* Keeps it with the node (graph/capture.h). Set it before any hook is entered. */
extern void (*operator_on_captured)(const struct operator_captured *work);

/* Names the accesses by the operator that names the thread's work now, if there is one. */
void operator_name(struct csan_access *accesses, size_t count);

#endif
