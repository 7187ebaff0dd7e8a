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

/* What the program's interpreter runs, after `count` native frames: the deeper it is the more of
 * the native ones make room for it. */
static size_t append_script(struct callsite_stack *stack, size_t count, const void *const *script,
                            size_t script_count)
{
    if (count > STACK_FRAMES_MAX - script_count)
        count = STACK_FRAMES_MAX - script_count;
    for (size_t i = 0; i < script_count; i++) {
        stack->storage[count + i] = script[i];
        stack->hash = hash_mix(stack->hash, (uintptr_t)script[i]);
    }
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
    const void *script[SCRIPT_MAX];
    size_t max = session_options()->stack_depth, own = 0;
    stack->hash = 0;
    size_t script_count = max ? script_capture(script, locked) : 0;
    bool native =
        max && (!script_count || session_options()->native_stacks || stack_source_mixes());
    stack->note = NULL;
    size_t count = native ? unwind_stack(stack->storage, max, 0, &stack->hash, &stack->note) : 0;
    if (script_count)
        count = append_script(stack, called_by_script(stack, count), script, script_count);
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
