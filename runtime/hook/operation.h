/* One piece of work that the program enqueued on a stream: where it comes from, and what it
 * touches. While an operator of a framework runs on the thread (csan_operator_begin), the work is
 * the operator's: its site is the operator's, its accesses go by the operator's arguments, and
 * where csan does not know what a kernel touches, it is what the operator does. What the operator
 * tells at its end is waited for inside the detector.
 *
 *   aten::randint          composite no, names its launches, has an output
 *     aten::random_        the innermost: owns the launch; what it writes is randint's output */
#ifndef RUNTIME_HOOK_OPERATION_H
#define RUNTIME_HOOK_OPERATION_H

#include "include/csan/csan.h"
#include "runtime/hook/callsite.h"
#include "runtime/hook/driver.h"

#include <stdbool.h>

/* Whether an operator runs on the calling thread. */
bool operation_has_operator(void);

/* The site of work that goes by that name and those arguments outside of operators. */
csan_site operation_site(const struct callsite_stack *stack, const char *name,
                         const char *const *arguments, size_t argument_count);

/* The work itself, with the guard's lock held and the joins before it made. `site` is from
 * operation_site on this thread. `accesses` are those outside of operators; `exact` says that they
 * are all that it touches, so that an operator need not be asked. */
void operation_enqueue(csan_lane lane, csan_site site, enum csan_level level, bool exact,
                       const struct csan_access *accesses, size_t count);

/* The same for work that became a node of a graph: its stream is captured. Without the lock. */
void operation_capture(CUstream stream, bool thread_default, csan_site site, enum csan_level level,
                       bool exact, const struct csan_access *accesses, size_t count);

/* csan_operator_begin and csan_operator_end. */
void operation_operator_begin(const struct csan_operator *what,
                              const struct csan_operator_call *call);
void operation_operator_end(const struct csan_access *outputs, size_t count);

#endif
