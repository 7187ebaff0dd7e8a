#include "csan/stack/unwind.h"
#include "csan/base/hash.h"
#include "csan/base/thread_sanitizer.h"
#include "csan/stack/stack.h"

#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if defined(__x86_64__)
#define UNW_LOCAL_ONLY
#include <libunwind.h>
#endif

typedef int backtrace_function(void **frames, int max);

static struct {
    pthread_once_t once;
    backtrace_function *backtrace;
#if defined(__x86_64__)
    int (*get_context)(unw_context_t *context);
    int (*init_local)(unw_cursor_t *cursor, unw_context_t *context);
    int (*step)(unw_cursor_t *cursor);
    int (*get_register)(unw_cursor_t *cursor, int number, unw_word_t *value);
    int (*get_save_location)(unw_cursor_t *cursor, int number, unw_save_loc_t *location);
    pthread_key_t memory_key;
    bool remembers; /* all of the above was found */
#endif
} unwinder = {.once = PTHREAD_ONCE_INIT};

/* ---- opening */

/* csan's own bundle lies beside it: lib/csan/. */
static void *open_beside_self(const char *name)
{
    Dl_info here;
    if (!dladdr((void *)open_beside_self, &here) || !here.dli_fname)
        return NULL;
    const char *slash = strrchr(here.dli_fname, '/');
    char path[PATH_MAX];
    int length =
        snprintf(path, sizeof(path), "%.*s/csan/%s", slash ? (int)(slash - here.dli_fname) : 1,
                 slash ? here.dli_fname : ".", name);
    return length < (int)sizeof(path) ? dlopen(path, RTLD_LOCAL | RTLD_NOW) : NULL;
}

static void *open_libunwind(void)
{
    static const char name[] = "libunwind.so.8";
    void *library = open_beside_self(name);
    if (!library)
        library = dlopen(name, RTLD_LOCAL | RTLD_NOW);
    /* The loader does not look in the bundle for what the bundled library needs, but takes what is
     * already open under that name. */
    if (!library && open_beside_self("liblzma.so.5"))
        library = open_beside_self(name);
    return library;
}

#if defined(__x86_64__)
static void memory_free(void *memory);

static void open_cursor(void *library)
{
    *(void **)&unwinder.get_context = dlsym(library, "_Ux86_64_getcontext");
    *(void **)&unwinder.init_local = dlsym(library, "_ULx86_64_init_local");
    *(void **)&unwinder.step = dlsym(library, "_ULx86_64_step");
    *(void **)&unwinder.get_register = dlsym(library, "_ULx86_64_get_reg");
    *(void **)&unwinder.get_save_location = dlsym(library, "_ULx86_64_get_save_loc");
    unwinder.remembers = unwinder.get_context && unwinder.init_local && unwinder.step &&
                         unwinder.get_register && unwinder.get_save_location &&
                         pthread_key_create(&unwinder.memory_key, memory_free) == 0;
}
#endif

/* libunwind 1.6 for AArch64 gives return addresses less one, and loses what is behind a signal that
 * came within memcpy. */
#if defined(__aarch64__)
static bool has_libunwind(void)
{
    return false;
}
#else
/* It takes a lock when a thread's data dies; ThreadSanitizer's run-time, if the program was built
 * with it, is gone from that thread by then and crashes. */
static bool has_libunwind(void)
{
    return !thread_sanitizer_is_here();
}
#endif

static void open_unwinder(void)
{
    void *library = has_libunwind() ? open_libunwind() : NULL;
    if (library)
        unwinder.backtrace = (backtrace_function *)dlsym(library, "unw_backtrace");
#if defined(__x86_64__)
    if (unwinder.backtrace)
        open_cursor(library);
#endif
    if (!unwinder.backtrace) /* glibc's own: the same answer, some ten times slower */
        unwinder.backtrace = (backtrace_function *)dlsym(RTLD_DEFAULT, "backtrace");
}

void unwind_open(void)
{
    pthread_once(&unwinder.once, open_unwinder);
}

/* 64 bits wide: even after a million stacks, two of one process share a hash
 * with a chance of one in ten million. */
static uint64_t hash_frames(const uintptr_t *frames, size_t count)
{
    uint64_t hash = count;
    for (size_t i = 0; i < count; i++)
        hash = hash_mix(hash, frames[i]);
    return hash;
}

/* ---- without memory */

/* `marker` is the return address of unwind_stack: its frame is the caller, whatever lies inside. */
static size_t unwind_plainly(const void **frames, size_t max, unsigned skip, uint64_t *hash,
                             const void *marker)
{
    enum { OWN_FRAMES = 5 }; /* of the unwinder and of this file: at most */
    void *all[STACK_FRAMES_MAX + 16];
    size_t wanted = max + skip + OWN_FRAMES;
    if (wanted > sizeof(all) / sizeof(all[0]))
        wanted = sizeof(all) / sizeof(all[0]);
    int got = unwinder.backtrace(all, (int)wanted);
    size_t found = got > 0 ? (size_t)got : 0, own = 0, count = 0;
    while (own < found && own < OWN_FRAMES && all[own] != marker)
        own++;
    if (hash)
        *hash = hash_frames((const uintptr_t *)all, found);
    size_t first = (own == OWN_FRAMES ? 1 : own) + 1 + skip;
    for (size_t i = first; i < found && count < max; i++)
        frames[count++] = all[i];
    return count;
}

/* ---- with memory */

#if defined(__x86_64__)

/* A thread remembers the stacks of BUCKETS depths, WAYS of each. */
enum { BUCKETS = 64, WAYS = 16, ENTRY_FRAMES = STACK_FRAMES_MAX, REMEMBER_EVERY = 64 };

/* Where unwinding begins: the caller of unwind_stack as it will be after the return. */
struct beginning {
    uintptr_t pc, sp, bp;
};

/* Where a frame's return address and frame pointer were read, in bytes from the beginning's stack
 * pointer, and what the frame pointer was. If it was not on the stack, or none, these are the
 * return address's: comparing that twice takes less than asking. */
struct frame_slots {
    uintptr_t base_value;
    uint32_t return_at, base_at;
};

struct remembered {
    struct beginning beginning;
    uint64_t hash; /* of the frames */
    struct unwind_note note;
    struct remembered *after; /* the stack that came after it the last time: in a loop it does again
                               */
    uint32_t count;           /* frames beyond the caller; 0: nothing is remembered */
    bool base_matters;        /* beginning.bp may be a frame pointer */
    bool whole;               /* unwinding ended there, not at the limit */
    uintptr_t returns[ENTRY_FRAMES]; /* the return addresses */
    struct frame_slots slots[ENTRY_FRAMES];
};

struct bucket {
    struct remembered *ways[WAYS];
    uint32_t count, oldest;
    uint32_t misses; /* in a row, once it is full */
};

struct unwind_memory {
    struct bucket buckets[BUCKETS];
};

static __thread struct {
    struct unwind_memory *memory;
    struct remembered *last, *expected; /* what came after the last one */
} self __attribute__((tls_model("initial-exec")));

static void memory_free(void *memory)
{
    struct unwind_memory *own = memory;
    for (int i = 0; i < BUCKETS; i++)
        for (uint32_t way = 0; way < own->buckets[i].count; way++)
            free(own->buckets[i].ways[way]);
    free(own);
    self.memory = NULL;
    self.last = self.expected = NULL;
}

static struct unwind_memory *memory_of_thread(void)
{
    if (self.memory)
        return self.memory;
    struct unwind_memory *fresh = calloc(1, sizeof(*fresh));
    if (!fresh || pthread_setspecific(unwinder.memory_key, fresh) != 0) {
        free(fresh);
        return NULL;
    }
    return self.memory = fresh;
}

/* And returns `wanted` frames, or all that there are. */
static bool still_holds(const struct remembered *entry, const struct beginning *beginning,
                        size_t wanted)
{
    if (entry->beginning.pc != beginning->pc || entry->beginning.sp != beginning->sp ||
        (entry->base_matters && entry->beginning.bp != beginning->bp))
        return false;
    const char *stack = (const char *)beginning->sp;
#pragma GCC unroll 4
    for (size_t i = 0; i < entry->count; i++) {
        const struct frame_slots *slots = &entry->slots[i];
        if (*(const uintptr_t *)(stack + slots->return_at) != entry->returns[i] ||
            *(const uintptr_t *)(stack + slots->base_at) != slots->base_value)
            return false;
    }
    return entry->count >= wanted || (entry->whole && entry->count);
}

/* The slots of the frame the cursor has stepped to. A frame pointer that was read from below the
 * beginning is still the one unwinding began with. Optimised code keeps anything in rbp, loop
 * counters too: what is no address of this stack was no frame pointer. False: the frame did not
 * make a call (a signal came), so its address is no return address on the stack; or it is on
 * another stack. */
static bool read_slots(unw_cursor_t *cursor, const struct beginning *beginning,
                       uintptr_t *return_value, struct frame_slots *slots)
{
    enum { FAR = UINT32_MAX };
    unw_word_t ip, sp, bp;
    unw_save_loc_t location;
    if (unwinder.get_register(cursor, UNW_REG_IP, &ip) < 0 ||
        unwinder.get_register(cursor, UNW_REG_SP, &sp) < 0 ||
        unwinder.get_register(cursor, UNW_X86_64_RBP, &bp) < 0 ||
        unwinder.get_save_location(cursor, UNW_X86_64_RBP, &location) < 0)
        return false;
    uintptr_t return_at = sp - sizeof(uintptr_t) - beginning->sp;
    if (return_at >= FAR || *(const uintptr_t *)(beginning->sp + return_at) != ip)
        return false;
    *return_value = ip;
    *slots = (struct frame_slots){ip, (uint32_t)return_at, (uint32_t)return_at};
    const uintptr_t base_at = location.u.addr - beginning->sp;
    if (location.type == UNW_SLT_MEMORY && base_at < FAR && bp - beginning->sp < FAR) {
        slots->base_at = (uint32_t)base_at;
        slots->base_value = bp;
    }
    return true;
}

/* Nor was what points beyond the last frame: no rule can have used it, since unwinding came
 * through. */
static void drop_what_is_no_frame_pointer(struct remembered *entry)
{
    const uintptr_t sp = entry->beginning.sp;
    const uint32_t top = entry->slots[entry->count - 1].return_at;
    entry->base_matters = entry->beginning.bp - sp <= top;
    for (size_t i = 0; i < entry->count; i++) {
        struct frame_slots *slots = &entry->slots[i];
        if (slots->base_value - sp > top)
            *slots = (struct frame_slots){entry->returns[i], slots->return_at, slots->return_at};
    }
}

static bool step_to_caller(unw_cursor_t *cursor, const struct beginning *beginning)
{
    enum { OWN_FRAMES = 8 };
    unw_word_t ip = 0;
    for (int own = 0; own < OWN_FRAMES; own++) {
        if (unwinder.step(cursor) <= 0 || unwinder.get_register(cursor, UNW_REG_IP, &ip) < 0)
            return false;
        if (ip == beginning->pc)
            return true;
    }
    return false;
}

/* Unwind `wanted` frames from the caller on, and remember what was read on the way. */
static void remember(struct remembered *entry, const struct beginning *beginning, size_t wanted)
{
    unw_context_t context;
    unw_cursor_t cursor;
    uint32_t count = 0;
    entry->count = 0;
    if (unwinder.get_context(&context) != 0 || unwinder.init_local(&cursor, &context) < 0 ||
        !step_to_caller(&cursor, beginning))
        return;
    while (count < wanted && unwinder.step(&cursor) > 0) {
        if (!read_slots(&cursor, beginning, &entry->returns[count], &entry->slots[count]))
            return;
        if (entry->returns[count] == 0)
            break; /* the outermost frame has no caller */
        count++;
    }
    if (count == 0)
        return;
    entry->beginning = *beginning;
    entry->whole = count < wanted;
    entry->hash = hash_frames(entry->returns, count);
    entry->count = count;
    drop_what_is_no_frame_pointer(entry);
}

/* One of the bucket's that holds. */
static struct remembered *bucket_find(const struct bucket *bucket,
                                      const struct beginning *beginning, size_t wanted)
{
    for (uint32_t way = 0; way < bucket->count; way++)
        if (still_holds(bucket->ways[way], beginning, wanted))
            return bucket->ways[way];
    return NULL;
}

/* Room for a stack that the bucket does not have: remembering costs fifty times an unwinding, which
 * is not worth it for stacks that keep changing. NULL: not now. */
static struct remembered *bucket_make_room(struct bucket *bucket)
{
    if (bucket->count < WAYS) {
        struct remembered *fresh = calloc(1, sizeof(*fresh));
        if (fresh)
            bucket->ways[bucket->count++] = fresh;
        return fresh;
    }
    if (++bucket->misses % REMEMBER_EVERY != 1)
        return NULL;
    return bucket->ways[bucket->oldest++ % WAYS];
}

static const struct remembered *remembered_slow(const struct beginning *beginning, size_t wanted)
{
    struct unwind_memory *memory = memory_of_thread();
    if (!memory)
        return NULL;
    size_t hash = hash_spread(beginning->pc ^ beginning->sp >> 4) >> 32;
    struct bucket *bucket = &memory->buckets[hash % BUCKETS];
    struct remembered *entry = bucket_find(bucket, beginning, wanted);
    if (entry) {
        bucket->misses = 0;
    } else {
        entry = bucket_make_room(bucket);
        if (entry)
            remember(entry, beginning, wanted);
        if (!entry || !entry->count)
            return NULL;
    }
    if (self.last)
        self.last->after = entry;
    return entry;
}

/* The stack's first `wanted` frames, or all that it has. */
static const struct remembered *remembered_stack(const struct beginning *beginning, size_t wanted)
{
    const struct remembered *entry = self.expected;
    if (!entry || !still_holds(entry, beginning, wanted))
        entry = remembered_slow(beginning, wanted);
    if (entry) {
        self.last = (struct remembered *)entry;
        self.expected = entry->after;
    }
    return entry;
}

static size_t copy_frames(const struct remembered *entry, const void **frames, size_t max,
                          unsigned skip)
{
    size_t count = entry->count > skip ? entry->count - skip : 0;
    if (count > max)
        count = max;
    memcpy(frames, entry->returns + skip, count * sizeof *frames);
    return count;
}

__attribute__((noinline)) size_t unwind_stack(const void **frames, size_t max, unsigned skip,
                                              uint64_t *hash, struct unwind_note **note)
{
    const uintptr_t *own = __builtin_frame_address(0);
    const struct beginning beginning = {
        .pc = (uintptr_t)__builtin_return_address(0), .sp = (uintptr_t)(own + 2), .bp = own[0]};
    const size_t wanted = max + skip;
    const struct remembered *entry = NULL;
    if (!self.memory)
        unwind_open();
    if (unwinder.remembers && max && wanted <= ENTRY_FRAMES)
        entry = remembered_stack(&beginning, wanted);
    if (note)
        *note = entry ? (struct unwind_note *)&entry->note : NULL;
    if (entry) {
        if (hash)
            *hash = entry->hash;
        return copy_frames(entry, frames, max, skip);
    }
    return unwinder.backtrace ? unwind_plainly(frames, max, skip, hash, (const void *)beginning.pc)
                              : 0;
}

static void prefetch(const void *from, size_t bytes)
{
    enum { LINE = 64 };
    for (size_t at = 0; at < bytes; at += LINE)
        __builtin_prefetch((const char *)from + at);
}

void unwind_prefetch(void)
{
    enum { USUAL_FRAMES = 32 };
    if (!self.expected)
        return;
    prefetch(self.expected, offsetof(struct remembered, returns[USUAL_FRAMES]));
    prefetch(self.expected->slots, USUAL_FRAMES * sizeof *self.expected->slots);
}

#else

void unwind_prefetch(void) {}

__attribute__((noinline)) size_t unwind_stack(const void **frames, size_t max, unsigned skip,
                                              uint64_t *hash, struct unwind_note **note)
{
    unwind_open();
    if (note)
        *note = NULL;
    return unwinder.backtrace ? unwind_plainly(frames, max, skip, hash, __builtin_return_address(0))
                              : 0;
}

#endif
