#include "csan/stack/stack.h"
#include "csan/base/hash.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

struct stack {
    uint64_t hash;
    uint32_t id;
    uint32_t count;
    struct stack *next; /* in its bucket; set before the stack is published, then constant */
    const void *frames[];
};

enum {
    BUCKETS = 1 << 14,
    PAGE_STACKS = 1 << 12, /* ids are found through pages that never move */
    PAGES = 1 << 14
};

struct stack_depot {
    pthread_mutex_t lock; /* of insertion */
    uint32_t last_id;
    _Atomic(struct stack *) buckets[BUCKETS];
    _Atomic(struct stack **) pages[PAGES];
};

struct stack_depot *stack_depot_create(void)
{
    struct stack_depot *depot = calloc(1, sizeof(*depot));
    if (depot)
        pthread_mutex_init(&depot->lock, NULL);
    return depot;
}

void stack_depot_destroy(struct stack_depot *depot)
{
    for (uint32_t i = 0; i < BUCKETS; i++) {
        struct stack *stack = atomic_load_explicit(&depot->buckets[i], memory_order_relaxed);
        while (stack) {
            struct stack *next = stack->next;
            free(stack);
            stack = next;
        }
    }
    for (uint32_t i = 0; i < PAGES; i++)
        free(atomic_load_explicit(&depot->pages[i], memory_order_relaxed));
    pthread_mutex_destroy(&depot->lock);
    free(depot);
}

/* One multiplication for two frames, and none waits for another: a stack is found again in the time
 * of a few loads. Only speed hangs on its quality, for equal hashes are compared in full. */
static uint64_t hash_frames(const void *const *frames, size_t count)
{
    const uint64_t odd = HASH_ODD, even = 0xff51afd7ed558ccdu;
    uint64_t hash = count;
    for (size_t i = 0; i < count; i += 2) {
        uint64_t second = i + 1 < count ? (uintptr_t)frames[i + 1] : 0;
        hash = ((hash << 9) | (hash >> 55)) ^ hash_fold((uintptr_t)frames[i] ^ odd, second ^ even);
    }
    return hash_fold(hash ^ even, odd);
}

static struct stack *bucket_find(struct stack *stack, uint64_t hash, const void *const *frames,
                                 size_t count)
{
    for (; stack; stack = stack->next)
        if (stack->hash == hash && stack->count == count &&
            memcmp(stack->frames, frames, count * sizeof(frames[0])) == 0)
            return stack;
    return NULL;
}

/* The slot of an id, its page made when needed; NULL when the depot or memory is full. */
static struct stack **slot_of(struct stack_depot *depot, uint32_t id)
{
    if (id / PAGE_STACKS >= PAGES)
        return NULL;
    _Atomic(struct stack **) *page = &depot->pages[id / PAGE_STACKS];
    struct stack **slots = atomic_load_explicit(page, memory_order_acquire);
    if (!slots) {
        slots = calloc(PAGE_STACKS, sizeof(struct stack *));
        if (!slots)
            return NULL;
        atomic_store_explicit(page, slots, memory_order_release);
    }
    return &slots[id % PAGE_STACKS];
}

static uint32_t put_slow(struct stack_depot *depot, uint64_t hash, const void *const *frames,
                         size_t count)
{
    _Atomic(struct stack *) *bucket = &depot->buckets[hash % BUCKETS];
    pthread_mutex_lock(&depot->lock);
    struct stack *first = atomic_load_explicit(bucket, memory_order_relaxed);
    struct stack *stack = bucket_find(first, hash, frames, count);
    struct stack **slot = stack ? NULL : slot_of(depot, depot->last_id + 1);
    if (slot && (stack = malloc(sizeof(*stack) + count * sizeof(frames[0])))) {
        *stack = (struct stack){hash, ++depot->last_id, (uint32_t)count, first};
        memcpy(stack->frames, frames, count * sizeof(frames[0]));
        __atomic_store_n(slot, stack, __ATOMIC_RELEASE);
        atomic_store_explicit(bucket, stack, memory_order_release);
    }
    pthread_mutex_unlock(&depot->lock);
    return stack ? stack->id : 0;
}

uint32_t stack_depot_put(struct stack_depot *depot, const void *const *frames, size_t count)
{
    if (count == 0)
        return 0;
    if (count > STACK_FRAMES_MAX)
        count = STACK_FRAMES_MAX;
    uint64_t hash = hash_frames(frames, count);
    struct stack *first =
        atomic_load_explicit(&depot->buckets[hash % BUCKETS], memory_order_acquire);
    const struct stack *known = bucket_find(first, hash, frames, count);
    return known ? known->id : put_slow(depot, hash, frames, count);
}

void stack_depot_get(const struct stack_depot *depot, uint32_t id, const void *const **frames,
                     size_t *count)
{
    *frames = NULL;
    *count = 0;
    if (id == 0 || id / PAGE_STACKS >= PAGES)
        return;
    struct stack **slots =
        atomic_load_explicit(&depot->pages[id / PAGE_STACKS], memory_order_acquire);
    const struct stack *stack =
        slots ? __atomic_load_n(&slots[id % PAGE_STACKS], __ATOMIC_ACQUIRE) : NULL;
    if (stack) {
        *frames = stack->frames;
        *count = stack->count;
    }
}
