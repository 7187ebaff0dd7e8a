/* Host stacks: captured with libunwind, kept once each in a depot.
 *
 * libunwind is opened with dlopen(RTLD_LOCAL) and never linked: it exports _Unwind_* and would take
 * the place of the program's own unwinder. */
#ifndef CSAN_STACK_H
#define CSAN_STACK_H

#include <stddef.h>
#include <stdint.h>

enum { STACK_FRAMES_MAX = 64 };

/* Return addresses of the calling thread, innermost first: at most `max` after the first `skip` (0:
 * from the caller of stack_capture's caller on). 0 when no unwinder can be had. Thread-safe; the
 * first call opens the unwinder, so make it outside any lock. */
size_t stack_capture(const void **frames, size_t max, unsigned skip);

/* The depot. Equal stacks have equal ids; id 0 is the empty stack. It grows with the number of
 * distinct stacks only. Thread-safe; a known stack is found without a lock or an allocation. */
struct stack_depot;
struct stack_depot *stack_depot_create(void);
void stack_depot_destroy(struct stack_depot *depot);
/* At most STACK_FRAMES_MAX frames are kept. 0 also when memory is short. */
uint32_t stack_depot_put(struct stack_depot *depot, const void *const *frames, size_t count);
/* The frames stay valid for the depot's life; an unknown id gives none. */
void stack_depot_get(const struct stack_depot *depot, uint32_t id, const void *const **frames,
                     size_t *count);

#endif
