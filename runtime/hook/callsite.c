/* Stacks of driver calls, as sites. A thread remembers the sites it met in a small table keyed by a
 * hash of the stack: in a loop, a site costs the unwinding and nothing else. */
#include "runtime/hook/callsite.h"
#include "runtime/hook/run_log.h"
#include "csan/unwind.h"
#include "runtime/hook/process.h"

#include <pthread.h>
#include <stdlib.h>

enum { CACHE_SIZE = 512 };

struct cache {
    struct {
        uint64_t key;
        csan_site site;
    } entries[CACHE_SIZE];
};

static __thread struct cache *self __attribute__((tls_model("initial-exec")));

static struct {
    pthread_key_t key;
    pthread_once_t once;
} callsite = {.once = PTHREAD_ONCE_INIT};

/* Where this library's code begins and ends; the linker defines both. */
extern const char __ehdr_start[] __attribute__((visibility("hidden")));
extern const char etext[] __attribute__((visibility("hidden")));

static void cache_free(void *value)
{
    free(value);
    self = NULL;
}
static void cache_key(void)
{
    pthread_key_create(&callsite.key, cache_free);
}

/* NULL when memory is short: then nothing is remembered. */
static struct cache *cache_of_thread(void)
{
    if (self)
        return self;
    pthread_once(&callsite.once, cache_key);
    struct cache *fresh = calloc(1, sizeof *fresh);
    if (!fresh || pthread_setspecific(callsite.key, fresh) != 0) {
        free(fresh);
        return NULL;
    }
    return self = fresh;
}

static uint64_t mix(uint64_t hash, uint64_t value)
{
    hash = (hash ^ value) * 0xff51afd7ed558ccdu;
    return hash ^ (hash >> 32);
}

void callsite_capture(struct callsite_stack *stack)
{
    size_t max = process_options()->stack_depth, own = 0;
    stack->hash = 0;
    size_t count = max ? unwind_stack(stack->storage, max, 0, &stack->hash) : 0;
    while (own < count && (const char *)stack->storage[own] >= __ehdr_start &&
           (const char *)stack->storage[own] < etext)
        own++;
    stack->frames = stack->storage + own;
    stack->count = count - own;
}

csan_site callsite_intern(const struct callsite_stack *stack, const char *name,
                          const char *const *arguments, size_t argument_count)
{
    /* A kernel's arguments grow in number. */
    uint64_t key = mix(stack->hash, (uintptr_t)name + argument_count);
    struct cache *cache = cache_of_thread();
    size_t place = (size_t)(key % CACHE_SIZE);
    if (cache && cache->entries[place].key == key && cache->entries[place].site)
        return cache->entries[place].site;
    csan_site site = csan_site_intern(process_context(), name, arguments, argument_count,
                                      stack->frames, stack->count);
    run_log_site(site, name, stack->frames, stack->count);
    if (cache) {
        cache->entries[place].key = key;
        cache->entries[place].site = site;
    }
    return site;
}

csan_site callsite_of(const char *name, const char *const *arguments, size_t argument_count)
{
    struct callsite_stack stack;
    callsite_capture(&stack);
    return callsite_intern(&stack, name, arguments, argument_count);
}
