/* Stacks of driver calls, as sites. A thread remembers its recent sites in a small table, by a hash
 * of the stack. So in a loop a site costs only the unwinding. */
#include "runtime/hook/state/callsite.h"
#include "csan/base/hash.h"
#include "csan/detector/context.h"
#include "csan/stack/stack_source.h"
#include "csan/stack/unwind.h"
#include "runtime/hook/session/session.h"
#include "runtime/hook/session/session_options.h"
#include "runtime/python/interpreter.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { NAMED = 1 }; /* distinguishes keys of sites in other words from those of stacks */
enum { NATIVE_AT_LEAST = 8, SCRIPT_MAX = STACK_FRAMES_MAX - NATIVE_AT_LEAST };

/* Sites whose keys lead to one place of the table, the newest first. One line of the cache. */
enum { CACHE_WAYS = 4, CACHE_PLACES = 512 };
struct place {
    struct {
        _Alignas(16) uint64_t key;
        csan_site site; /* 0: none */
    } ways[CACHE_WAYS];
};

struct cache {
    _Alignas(64) struct place places[CACHE_PLACES];
    bool held;
    size_t script_count; /* when held */
    const void *script[SCRIPT_MAX];
};

callsite_watcher *callsite_on_site;

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
    struct cache *fresh = aligned_alloc(_Alignof(struct cache), sizeof *fresh);
    if (fresh)
        memset(fresh, 0, sizeof *fresh);
    if (!fresh || pthread_setspecific(callsite.key, fresh) != 0) {
        free(fresh);
        return NULL;
    }
    return self = fresh;
}

/* How many of the native frames were called from the language: the interpreter's own, and what lies
 * below them, say nothing. */
static size_t called_by_script(const struct callsite_stack *stack, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (python_interpreter_has(stack->storage[i]))
            return i;
    return count;
}

/* In two chains, which the processor multiplies at the same time. */
static uint64_t hash_script(const void *const *script, size_t count)
{
    uint64_t even = count, odd = 0;
    for (size_t i = 0; i + 1 < count; i += 2) {
        even = hash_mix(even, (uintptr_t)script[i]);
        odd = hash_mix(odd, (uintptr_t)script[i + 1]);
    }
    if (count % 2)
        even = hash_mix(even, (uintptr_t)script[count - 1]);
    return hash_mix(even, odd);
}

/* Puts the native frames before those of the interpreter, which are in storage. The more there are
 * of these, the fewer native ones have room. Returns how many frames there are then. Inline: a
 * frame of its own would take the place of one of the program's. */
static inline __attribute__((always_inline)) size_t prepend_native(struct callsite_stack *stack,
                                                                   size_t script_count)
{
    const void *script[SCRIPT_MAX];
    const size_t max = session_options()->stack_depth;
    memcpy(script, stack->storage, script_count * sizeof *script);
    const uint64_t script_hash = stack->hash;
    size_t count = unwind_stack(stack->storage, max, 0, &stack->hash, &stack->note);
    if (!script_count)
        return count;
    stack->hash = hash_mix(stack->hash, script_hash);
    count = called_by_script(stack, count);
    if (count > STACK_FRAMES_MAX - script_count)
        count = STACK_FRAMES_MAX - script_count;
    memcpy(stack->storage + count, script, script_count * sizeof *script);
    return count + script_count;
}

void callsite_hold(void)
{
    struct cache *cache = stack_source_waits() ? cache_of_thread() : NULL;
    if (!cache || cache->held || session_options()->stack_depth == 0)
        return;
    cache->script_count = stack_source_capture(cache->script, SCRIPT_MAX, false);
    cache->held = true;
}

void callsite_release(void)
{
    if (self)
        self->held = false;
}

static __thread const struct callsite_script *works_for __attribute__((tls_model("initial-exec")));

const struct callsite_script *callsite_works_for(const struct callsite_script *script)
{
    const struct callsite_script *const before = works_for;
    works_for = script;
    return before;
}

static size_t script_of_other(const void **script)
{
    const size_t count = works_for->count < SCRIPT_MAX ? works_for->count : SCRIPT_MAX;
    memcpy(script, works_for->frames, count * sizeof *script);
    return count;
}

static size_t script_capture(const void **script, bool locked)
{
    if (self && self->held) {
        memcpy(script, self->script, self->script_count * sizeof *script);
        return self->script_count;
    }
    const size_t count = stack_source_capture(script, SCRIPT_MAX, locked);
    return count || !works_for ? count : script_of_other(script);
}

void callsite_script_take(struct callsite_script *script)
{
    script->count = session_options()->stack_depth ? script_capture(script->frames, false) : 0;
}

static void capture(struct callsite_stack *stack, bool locked)
{
    const size_t max = session_options()->stack_depth;
    const size_t script_count = max ? script_capture(stack->storage, locked) : 0;
    size_t count = script_count, own = 0;
    stack->hash = script_count ? hash_script(stack->storage, script_count) : 0;
    stack->note = NULL;
    if (max && (!script_count || session_options()->native_stacks || stack_source_mixes()))
        count = prepend_native(stack, script_count);
    while (own < count && (const char *)stack->storage[own] >= __ehdr_start &&
           (const char *)stack->storage[own] < etext)
        own++;
    stack->frames = stack->storage + own;
    stack->count = count - own;
}

void callsite_capture(struct callsite_stack *stack)
{
    capture(stack, false);
}

void callsite_capture_memory(struct callsite_stack *stack)
{
    capture(stack, true);
}

void callsite_prefetch(void)
{
    unwind_prefetch();
}

/* A kernel's arguments grow in number. */
static uint64_t key_of(const struct callsite_stack *stack, const char *name, size_t argument_count)
{
    return hash_mix(stack->hash, (uintptr_t)name + argument_count);
}

static csan_site place_get(const struct cache *cache, uint64_t key)
{
    const struct place *place = &cache->places[key % CACHE_PLACES];
    for (size_t i = 0; i < CACHE_WAYS; i++)
        if (place->ways[i].key == key)
            return place->ways[i].site;
    return 0;
}

static void place_put(struct cache *cache, uint64_t key, csan_site site)
{
    struct place *place = &cache->places[key % CACHE_PLACES];
    memmove(place->ways + 1, place->ways, sizeof place->ways - sizeof *place->ways);
    place->ways[0].key = key;
    place->ways[0].site = site;
}

/* Most stacks lead to one call: its site is noted beside the stack. Others are in the calling
 * thread's table. */
static csan_site recall(const struct callsite_stack *stack, uint64_t key)
{
    struct unwind_note *note = stack->note;
    if (note && note->key == key && note->value)
        return note->value;
    const csan_site site = self ? place_get(self, key) : 0;
    if (note && site)
        *note = (struct unwind_note){key, site};
    return site;
}

csan_site callsite_recall(const struct callsite_stack *stack, const char *name,
                          size_t argument_count)
{
    return recall(stack, key_of(stack, name, argument_count));
}

csan_site callsite_intern(const struct callsite_stack *stack, const char *name,
                          const char *const *arguments, size_t argument_count)
{
    const uint64_t key = key_of(stack, name, argument_count);
    csan_site site = recall(stack, key);
    if (site)
        return site;
    site = csan_site_intern(session_context(), name, arguments, argument_count, stack->frames,
                            stack->count);
    if (callsite_on_site)
        callsite_on_site(site, name, stack->frames, stack->count);
    struct cache *cache = cache_of_thread();
    if (cache)
        place_put(cache, key, site);
    if (stack->note)
        *stack->note = (struct unwind_note){key, site};
    return site;
}

csan_site callsite_named(csan_site site, const char *name, const char *const *arguments,
                         size_t argument_count)
{
    struct cache *cache = cache_of_thread();
    const uint64_t key = hash_mix(hash_mix(hash_mix(NAMED, site), (uintptr_t)name + argument_count),
                                  (uintptr_t)arguments);
    csan_site named = cache ? place_get(cache, key) : 0;
    if (named)
        return named;
    named = context_site_named(session_context(), site, name, arguments, argument_count);
    if (cache && named)
        place_put(cache, key, named);
    return named;
}

csan_site callsite_of(const char *name, const char *const *arguments, size_t argument_count)
{
    struct callsite_stack stack;
    callsite_capture(&stack);
    return callsite_intern(&stack, name, arguments, argument_count);
}

csan_site callsite_of_memory(const char *name)
{
    struct callsite_stack stack;
    capture(&stack, true);
    return callsite_intern(&stack, name, NULL, 0);
}
