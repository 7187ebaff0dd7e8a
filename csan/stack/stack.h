/* All host stacks, each kept once under a number. unwind.h captures them. */
#ifndef CSAN_STACK_STACK_H
#define CSAN_STACK_STACK_H

#include <stddef.h>
#include <stdint.h>

enum { STACK_FRAMES_MAX = 64 };

/* Equal stacks have equal ids; id 0 is the empty stack. It grows with the number of
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
