/* Stacks of forward calls. See forward_stacks.h. Each distinct stack is kept once and for ever; a
 * call is remembered as a number of one. */
#include "forward_stacks.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { CALLS = 1 << 16, TABLE_START = 1 << 10 };

struct stack {
    uint64_t hash;
    size_t count;
    const void *frames[];
};

struct call {
    uint64_t thread;
    int64_t sequence;
    const struct stack *stack;
};

static struct {
    pthread_mutex_t lock;
    struct stack **slots; /* open addressing; never more than half full */
    size_t size, count;
    struct call calls[CALLS];
} forward = {.lock = PTHREAD_MUTEX_INITIALIZER};

static uint64_t mix(uint64_t hash, uint64_t value)
{
    hash = (hash ^ value) * 0xff51afd7ed558ccdu;
    return hash ^ hash >> 32;
}

static struct call *call_place(uint64_t thread, int64_t sequence)
{
    return &forward.calls[(mix(0, thread) + (uint64_t)sequence) % CALLS];
}

static size_t slot_of(const struct stack *const *slots, size_t size, uint64_t hash,
                      const void *const *frames, size_t count)
{
    size_t at = hash & (size - 1);
    while (slots[at] && (slots[at]->hash != hash || slots[at]->count != count ||
                         memcmp(slots[at]->frames, frames, count * sizeof *frames) != 0))
        at = (at + 1) & (size - 1);
    return at;
}

static int grow(void)
{
    size_t size = forward.size ? forward.size * 2 : TABLE_START;
    struct stack **slots = calloc(size, sizeof *slots);
    if (!slots)
        return -1;
    for (size_t i = 0; i < forward.size; i++) {
        struct stack *stack = forward.slots[i];
        if (stack)
            slots[slot_of((const struct stack *const *)slots, size, stack->hash, stack->frames,
                          stack->count)] = stack;
    }
    free(forward.slots);
    forward.slots = slots;
    forward.size = size;
    return 0;
}

/* NULL when memory is short. */
static const struct stack *stack_keep(uint64_t hash, const void *const *frames, size_t count)
{
    if (forward.count * 2 >= forward.size && grow() != 0)
        return NULL;
    size_t at =
        slot_of((const struct stack *const *)forward.slots, forward.size, hash, frames, count);
    if (!forward.slots[at]) {
        struct stack *stack = malloc(sizeof *stack + count * sizeof *frames);
        if (!stack)
            return NULL;
        stack->hash = hash;
        stack->count = count;
        memcpy(stack->frames, frames, count * sizeof *frames);
        forward.slots[at] = stack;
        forward.count++;
    }
    return forward.slots[at];
}

void forward_stacks_put(uint64_t thread, int64_t sequence, const void *const *frames, size_t count)
{
    uint64_t hash = 0;
    if (count > FORWARD_FRAMES_MAX)
        count = FORWARD_FRAMES_MAX;
    for (size_t i = 0; i < count; i++)
        hash = mix(hash, (uintptr_t)frames[i]);
    pthread_mutex_lock(&forward.lock);
    struct call *call = call_place(thread, sequence);
    *call = (struct call){thread, sequence, stack_keep(hash, frames, count)};
    pthread_mutex_unlock(&forward.lock);
}

size_t forward_stacks_get(uint64_t thread, int64_t sequence, const void **frames, size_t capacity)
{
    size_t count = 0;
    pthread_mutex_lock(&forward.lock);
    const struct call *call = call_place(thread, sequence);
    if (call->thread == thread && call->sequence == sequence && call->stack) {
        count = call->stack->count < capacity ? call->stack->count : capacity;
        memcpy(frames, call->stack->frames, count * sizeof *frames);
    }
    pthread_mutex_unlock(&forward.lock);
    return count;
}
