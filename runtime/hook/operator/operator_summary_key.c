/* A launch's key in the summaries, and how accesses relate to its pointers.
 *
 * The key's shape is the kernel and how it is launched. Its words are the parameters; in place of a
 * pointer stands where it lies in its block. Accesses start from a pointer in a *slot*, which is
 * eight bytes of the parameters. */
#include "csan/base/array.h"
#include "csan/base/hash.h"
#include "runtime/hook/kernel/identity.h"
#include "runtime/hook/operator/host_address.h"
#include "runtime/hook/operator/operator_summary.h"
#include "runtime/hook/operator/operator_summary_state.h"

#include <stdlib.h>
#include <string.h>

#define POINTER_WORD UINT32_C(0x80000000)

enum { SEEN_BITS = 10 };

/* ---- The key of a launch ---- */

/* A kernel of an unknown image is itself alone, in this process. Which words of the parameters are
 * pointers is no part of it: behind those that the kernel reads lies what the stack had there. */
static uint64_t shape_hash(const struct kernel *kernel, const struct learn_launch *launch, int half)
{
    uint64_t hash = kernel->identity[half];
    if (!identity_is_known(kernel->image))
        hash = hash_mix(hash_mix(hash, operator_summary_own.process), kernel->number);
    hash = hash_mix_bytes(hash, launch->grid, sizeof launch->grid);
    hash = hash_mix_bytes(hash, launch->block, sizeof launch->block);
    hash = hash_mix_bytes(hash, launch->cluster, sizeof launch->cluster);
    return hash_mix(hash_mix(hash, launch->shared), launch->parameter_bytes);
}

static bool is_in_block(const struct learn_anchor *anchor)
{
    return anchor->kind != LEARN_VARIABLE && anchor->block.end != 0;
}

/* The first word in place of a pointer: where it lies in its block. */
static uint32_t pointer_word(const struct learn_anchor *anchor)
{
    const uint64_t bytes = anchor->block.end - anchor->block.start;
    uint64_t hash = hash_mix(hash_mix(anchor->kind, anchor->address - anchor->block.start), bytes);
    hash = hash_mix(hash, anchor->identity);
    return (uint32_t)(hash >> 32);
}

/* The first pointer into the same block. Of those before it, what is no pointer to the kernel may
 * lead there by chance: it was not set. */
static uint32_t pointer_first(const struct thread *thread, uint32_t at)
{
    const struct learn_anchor *anchors = thread->launch->launch.anchors;
    for (uint32_t i = 0; i < at; i++)
        if (is_in_block(&anchors[i]) && anchors[i].block.start == anchors[at].block.start &&
            anchors[i].offset / 8 < thread->slots &&
            summaries_pointer_counts(operator_summary_own.summaries, &thread->key.shape,
                                     anchors[i].offset / 8))
            return i;
    return at;
}

/* Adds it to a set that may have what was not added; whether it had it. */
static bool was_seen(uint64_t *seen, uint64_t address)
{
    const uint64_t place = hash_spread(address) >> (64 - SEEN_BITS);
    const uint64_t bit = UINT64_C(1) << place % 64;
    const bool was = (seen[place / 64] & bit) != 0;
    seen[place / 64] |= bit;
    return was;
}

void operator_summary_pointers_relate(struct thread *thread)
{
    const struct learn_launch *launch = &thread->launch->launch;
    uint64_t seen[(1 << SEEN_BITS) / 64] = {0}; /* blocks of the pointers before */
    for (uint32_t i = 0; i < launch->anchor_count; i++) {
        const uint32_t slot = launch->anchors[i].offset / 8;
        if (!is_in_block(&launch->anchors[i]) || slot >= thread->slots)
            continue;
        const bool searched = was_seen(seen, launch->anchors[i].block.start);
        const uint32_t first = searched ? pointer_first(thread, i) : i;
        thread->words[2 * slot + 1] = POINTER_WORD | launch->anchors[first].offset / 8;
    }
}

/* The thread's room for so many pieces of eight bytes. */
static bool slots_room(struct thread *thread, uint32_t slots)
{
    size_t words = thread->slot_room, anchors = words;
    if (!array_reserve(&thread->words, slots, &words, 64, SIZE_MAX, 2 * sizeof *thread->words) ||
        !array_reserve(&thread->anchors, slots, &anchors, 64, SIZE_MAX, sizeof *thread->anchors))
        return false;
    thread->slot_room = (uint32_t)anchors;
    return true;
}

/* The calling thread's stack. */
static struct range stack_find(void)
{
    pthread_attr_t attributes;
    void *start = NULL;
    size_t bytes = 0;
    if (pthread_getattr_np(pthread_self(), &attributes) != 0)
        return (struct range){0, 0};
    if (pthread_attr_getstack(&attributes, &start, &bytes) != 0)
        bytes = 0;
    pthread_attr_destroy(&attributes);
    return (struct range){(uintptr_t)start, (uintptr_t)start + bytes};
}

struct range operator_summary_stack(void)
{
    struct thread *thread = operator_summary_thread();
    if (!thread)
        return (struct range){0, 0};
    if (!thread->stack.end)
        thread->stack = stack_find();
    return thread->stack;
}

/* Where an address of the process's own memory stands, nobody set it: functions leave such
 * addresses on the stack. They change from process to process, and a framework's functions for
 * callbacks shift those that lead into the stack itself. A kernel has no use for one. With a lower
 * half below LOWER_LEAST it is rather a number, and behind it the upper half of an address that
 * nobody set: libraries fill much of the four gigabytes that have their upper half in common. */
static void host_addresses_mark(struct thread *thread, uint32_t slots, struct range stack)
{
    enum { LOWER_LEAST = 1 << 24 };
    const uint64_t bytes = stack.end - stack.start;
    uint32_t *words = thread->words;
    for (uint32_t i = 0; i + 1 < 2 * slots; i++) {
        const uint64_t value = words[i] | (uint64_t)words[i + 1] << 32;
        if (words[i] < LOWER_LEAST || (i % 2 == 0 && thread->anchors[i / 2]) ||
            (value - stack.start >= bytes && !host_address_is(value)))
            continue;
        words[i] = 0;
        words[i + 1] = SUMMARY_UNSET_WORD;
        i++;
    }
}

static bool key_make(struct thread *thread, const struct kernel *kernel,
                     const struct learning *learning, struct range stack)
{
    const struct learn_launch *launch = &learning->launch;
    const struct launch_key *key = &learning->key;
    const uint32_t parameters = key->scalar_count - key->anchor_count;
    const uint32_t slots = (parameters + 1) / 2;
    if (2 * slots > SUMMARY_WORDS_MOST || (slots > thread->slot_room && !slots_room(thread, slots)))
        return false;
    if (slots) {
        thread->words[2 * slots - 1] = 0;
        memcpy(thread->words, launch_key_scalars(key), parameters * sizeof *thread->words);
        memset(thread->anchors, 0, slots * sizeof *thread->anchors);
    }
    for (uint32_t i = 0; i < launch->anchor_count; i++)
        if (is_in_block(&launch->anchors[i]) && launch->anchors[i].offset / 8 < slots)
            thread->anchors[launch->anchors[i].offset / 8] = (uint16_t)(i + 1);
    host_addresses_mark(thread, slots, stack);
    for (uint32_t slot = 0; slot < slots; slot++)
        if (thread->anchors[slot]) {
            thread->words[2 * slot] = pointer_word(&launch->anchors[thread->anchors[slot] - 1]);
            thread->words[2 * slot + 1] = POINTER_WORD;
        }
    thread->slots = slots;
    thread->key = (struct summary_key){
        {{shape_hash(kernel, launch, 0), shape_hash(kernel, launch, 1)}}, thread->words, 2 * slots};
    return true;
}

const struct learn_anchor *operator_summary_anchor_of(const struct thread *thread, uint32_t slot)
{
    return slot < thread->slots && thread->anchors[slot]
               ? &thread->launch->launch.anchors[thread->anchors[slot] - 1]
               : NULL;
}

void operator_summary_begin(struct learning *learning, struct kernel *kernel, CUfunction function,
                            const struct launch_accesses_launch *what, struct range stack)
{
    struct thread *thread = operator_summary_thread();
    if (!thread || (thread->skips && !operator_summary_rests()))
        return;
    thread->asked = true;
    thread->kernel = kernel;
    thread->launch = NULL;
    thread->repeated = NULL;
    thread->passed_hash = thread->passed.bytes = 0; /* another thread may let operators rest now */
    const bool rests = operator_summary_rests();
    learning_without(learning, LEARNING_NO_OBSTACLE);
    if (rests)
        operator_summary_repeated_find_passed(thread, function, what);
    if (thread->repeated)
        return;
    const bool passed = learning_describe_passed(learning, kernel, function, what);
    if (passed && rests)
        operator_summary_repeated_find(thread, learning);
    if (passed && !thread->repeated && learning_describe_pointers(learning, kernel) &&
        key_make(thread, kernel, learning, stack))
        thread->launch = learning;
}

/* What a program passes to kernels is filled in part; behind that it has what the stack had. While
 * operators are followed, that would be what csan's own functions for them left there, and another
 * thing once they rest. So it is different each time, until the words have no effect. Every other
 * time it has no mark, or a parameter of one byte would be the mark's, always. */
static __attribute__((noinline)) void stack_stir(void)
{
    enum { WORDS = 1024 };
    static __thread uint64_t number __attribute__((tls_model("initial-exec")));
    uint64_t words[WORDS];
    number = hash_mix(number, WORDS);
    for (int i = 0; i < WORDS; i++)
        words[i] = number & 1 ? number : number >> 16 | CSAN_OPERATOR_STACK_MARK << 48;
    __asm__ volatile("" : : "r"(words) : "memory");
}

void operator_summary_stir(void)
{
    const struct thread *thread = operator_summary_self;
    if (operator_summary_may_rest() && !operator_summary_rests() && !(thread && thread->skips))
        stack_stir();
}

void operator_summary_end(struct learning *learning)
{
    if (!operator_summary_self || !operator_summary_self->asked)
        return;
    operator_summary_stir();
    learning_end(learning);
    operator_summary_repeated_end(operator_summary_self);
    operator_summary_self->launch = NULL;
    operator_summary_self->asked = false;
    operator_summary_wake_for_report();
}

/* ---- Accesses and pointers ---- */

int operator_summary_pointer_of(const struct learning *launch, const struct csan_access *access)
{
    int best = -1;
    for (uint32_t i = 0; i < launch->launch.anchor_count; i++) {
        const struct learn_anchor *anchor = &launch->anchors[i];
        if (!is_in_block(anchor) ||
            access->base - anchor->block.start >= anchor->block.end - anchor->block.start)
            continue;
        if (anchor->address == access->base)
            return (int)i;
        const struct learn_anchor *other = best < 0 ? NULL : &launch->anchors[best];
        const bool before = anchor->address < access->base;
        if (!other ||
            (before && (other->address > access->base || anchor->address > other->address)))
            best = (int)i;
    }
    return best;
}

void operator_summary_relate(const struct csan_access *access, uint64_t address, uint32_t slot,
                             struct summary_access *to)
{
    to->pointer = slot;
    to->argument = access->argument;
    to->kind = access->kind;
    to->bound = access->bound;
    to->dim_count = access->dim_count;
    to->offset = (int64_t)(access->base - address);
    to->bytes = access->bytes;
    for (uint8_t i = 0; i < access->dim_count; i++)
        to->dims[i] = access->dims[i];
}

void operator_summary_place(const struct summary_access *access, const struct learn_anchor *anchor,
                            struct csan_access *to, struct csan_dim *dims)
{
    *to = (struct csan_access){.base = anchor->address + (uint64_t)access->offset,
                               .bytes = access->bytes,
                               .dims = dims,
                               .dim_count = access->dim_count,
                               .kind = access->kind,
                               .bound = access->bound,
                               .argument = access->argument};
    for (uint8_t i = 0; i < access->dim_count; i++)
        dims[i] = access->dims[i];
}

/* Whether the pointer leads into a block that one of the accesses is in. */
static bool shares_block(const struct thread *thread, const struct learn_anchor *anchor,
                         const struct summary_access *accesses, uint32_t count)
{
    for (uint32_t k = 0; k < count; k++) {
        const struct learn_anchor *from = operator_summary_anchor_of(thread, accesses[k].pointer);
        if (from && from->block.start == anchor->block.start)
            return true;
    }
    return false;
}

bool operator_summary_loose(struct thread *thread, const struct summary_access *accesses,
                            uint32_t count)
{
    const struct learn_launch *launch = &thread->launch->launch;
    uint8_t *room = operator_summary_grown(thread->loose, &thread->loose_room, thread->slots, 1);
    if (!room)
        return false;
    thread->loose = room;
    if (thread->slots)
        memset(thread->loose, 0, thread->slots);
    for (uint32_t i = 0; i < launch->anchor_count; i++)
        if (is_in_block(&launch->anchors[i]) && launch->anchors[i].offset / 8 < thread->slots)
            thread->loose[launch->anchors[i].offset / 8] = 1;
    for (uint32_t k = 0; k < count; k++)
        thread->loose[accesses[k].pointer] = 0;
    for (uint32_t i = 0; i < launch->anchor_count; i++) {
        const uint32_t slot = launch->anchors[i].offset / 8;
        if (slot < thread->slots && thread->loose[slot] &&
            shares_block(thread, &launch->anchors[i], accesses, count))
            thread->loose[slot] = 0;
    }
    for (uint32_t i = 0; i < thread->slots; i++)
        thread->loose[i] |= thread->words[2 * i + 1] >> 16 == CSAN_OPERATOR_STACK_MARK;
    return true;
}
