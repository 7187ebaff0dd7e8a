/* Operators from summaries. See operator_summary.h. */
#include "runtime/hook/operator/operator_summary.h"
#include "csan/base/hash.h"
#include "csan/base/lock_order.h"
#include "csan/base/now.h"
#include "csan/base/text.h"
#include "csan/detector/context.h"
#include "runtime/hook/interpose/driver.h"
#include "runtime/hook/kernel/identity.h"
#include "runtime/hook/observe/program.h"
#include "runtime/hook/session/session.h"
#include "runtime/hook/session/session_options.h"
#include "runtime/learn/summary_file.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    LAUNCHES = 4, /* of one result make it known */
    BYTES_MOST = 64 << 20,
    WINDOW_LEAST = 1000, /* launches that were known in a row before operators rest */
    WINDOW_MOST = 1 << 14,
    SPAN_LEAST = 1 << 15, /* launches for which they rest */
    SPAN_MOST = 1 << 20,
    AT_ONCE = 256, /* launches without a summary that the source may take to follow */
    SHARED_LANES = 8,
    SAID_MOST = 20
};

#define POINTER_WORD UINT32_C(0x80000000)

void (*operator_summary_on_followed)(void);

enum state { FOLLOWED, RESTING, WAKING };

/* Work on memory that the host shares, on a lane. */
struct shared {
    csan_lane lane;
    csan_snapshot *snapshot; /* behind it */
};

/* A kernel with launches that were not known. Texts live as long as the process. */
enum { NEWEST = 12, NEWEST_DROPPED = SUMMARY_UNSTEADY + 1 };
struct newest {
    const char *kernel, *what;
    uint64_t count, at; /* `at`: launches added before the newest one */
    uint8_t state;      /* that it was in: enum summary_state; or NEWEST_DROPPED */
};

static struct {
    pthread_once_t once;
    pthread_mutex_t mutex; /* of all that is not atomic */
    bool wanted, verifies;
    uint8_t state; /* enum state; atomic */
    const struct csan_operator_source *source;
    struct summaries *summaries;
    struct learn_program program;
    uint64_t process; /* a number that no other process has */
    bool identified, began_resting;
    struct summary_program noted;
    uint64_t known_in_a_row, window, rested, span, woken_for; /* launches; atomic */
    struct shared shared[SHARED_LANES];
    uint32_t shared_count;
    bool shared_more, woken_for_shared;
    bool report_waits;                           /* atomic */
    uint64_t followed_since;                     /* atomic */
    const struct csan_operator *said[SAID_MOST]; /* with arguments out of reach */
    uint32_t said_count, narrower_said, unanswered_said;
    struct newest newest[NEWEST];
    /* For the summary. */
    uint64_t added, answered, unanswered, unreached, several, compared, narrower, rests, first_rest,
        unnamed;
} own = {.once = PTHREAD_ONCE_INIT,
         .mutex = PTHREAD_MUTEX_INITIALIZER,
         .window = WINDOW_LEAST,
         .span = SPAN_LEAST};

/* The thread's launch, and those of the operators that run. */
struct thread {
    const struct learning *launch; /* NULL: none, or of an unknown key */
    struct kernel *kernel;
    bool asked; /* between operator_summary_begin and _end */
    struct summary_key key;
    uint32_t *words;   /* two for each eight bytes of the parameters, */
    uint16_t *anchors; /* of which this pointer is there, plus one; 0: none */
    uint32_t slots, slot_room;
    struct summary_access *accesses;
    size_t access_room;
    uint8_t *loose; /* of each slot */
    size_t loose_room;
    uint8_t *reached, *noted; /* bytes; of frames, one behind the other */
    size_t reached_count, reached_room, noted_bytes, noted_room;
};

/* A launch that was added, kept until its outermost operator ends; its words follow. */
struct noted {
    struct summary_shape shape;
    uint32_t word_count, padding;
};

static __thread struct thread *self __attribute__((tls_model("initial-exec")));

static pthread_key_t thread_key;

/* ---- The beginning ---- */

static void thread_end(void *value)
{
    struct thread *thread = value;
    self = NULL;
    free(thread->words);
    free(thread->anchors);
    free(thread->accesses);
    free(thread->loose);
    free(thread->reached);
    free(thread->noted);
    free(thread);
}

static void start(void)
{
    const struct options *all = session_all_options();
    const struct summary_limits limits = {LAUNCHES, (uint32_t)session_options()->learn_values,
                                          BYTES_MOST};

    own.verifies = all->verify_operators != 0;
    own.process = hash_mix(now_wall(), (uint64_t)getpid());
    own.wanted = (all->operator_summaries || own.verifies) && !session_options()->access.insists &&
                 strcmp(all->host_order, "observed") == 0 && strcmp(all->host, "off") == 0 &&
                 !all->add_order[0] && pthread_key_create(&thread_key, thread_end) == 0;
    own.summaries = own.wanted ? summaries_create(&limits) : NULL;
    own.wanted = own.summaries != NULL;
}

bool operator_summary_wanted(void)
{
    pthread_once(&own.once, start);
    return own.wanted;
}

static struct thread *thread_find(void)
{
    if (self || !operator_summary_wanted())
        return self;
    struct thread *fresh = calloc(1, sizeof *fresh);
    if (!fresh || pthread_setspecific(thread_key, fresh) != 0) {
        free(fresh);
        return NULL;
    }
    return self = fresh;
}

static void lock(void)
{
    lock_order_take(LOCK_OPERATOR_SUMMARIES, &own.mutex);
}
static void unlock(void)
{
    lock_order_give(LOCK_OPERATOR_SUMMARIES, &own.mutex);
}

static uint8_t state_now(void)
{
    return __atomic_load_n(&own.state, __ATOMIC_ACQUIRE);
}

bool operator_summary_rests(void)
{
    return __builtin_expect(state_now() != FOLLOWED, 0);
}

static void *grown(void *room, size_t *capacity, size_t wanted, size_t each)
{
    if (wanted <= *capacity)
        return room;
    const size_t more = wanted * 2 + 64;
    void *bigger = realloc(room, more * each);
    if (bigger)
        *capacity = more;
    return bigger;
}

/* ---- From rest to rest ---- */

static void count(uint64_t *counter)
{
    __atomic_fetch_add(counter, 1, __ATOMIC_RELAXED);
}

/* The source asks for operators once more; from the first that begins they are followed. */
/* `reason` NULL: for memory that the host shares, which is not worth a line. */
static void wake(const char *reason)
{
    if (state_now() != RESTING)
        return;
    lock();
    if (state_now() == RESTING) {
        __atomic_store_n(&own.state, WAKING, __ATOMIC_RELEASE);
        __atomic_store_n(&own.woken_for, 0, __ATOMIC_RELAXED);
        own.woken_for_shared = !reason;
        if (reason && session_options()->verbosity > 0)
            session_note("operators are followed again: %s", reason);
        own.source->follow(0);
    }
    unlock();
}

/* It takes too long until the program runs no operator. */
static void wake_at_once(void)
{
    lock();
    if (state_now() == WAKING)
        own.source->follow(1);
    unlock();
}

static void woken(void)
{
    uint8_t waking = WAKING;
    if (state_now() != WAKING)
        return;
    struct csan_stats stats;
    context_counts(session_context(), &stats);
    __atomic_store_n(&own.followed_since, stats.ops, __ATOMIC_RELAXED);
    if (__atomic_compare_exchange_n(&own.state, &waking, FOLLOWED, false, __ATOMIC_ACQ_REL,
                                    __ATOMIC_RELAXED))
        __atomic_store_n(&own.rested, 0, __ATOMIC_RELAXED);
}

/* A launch has no summary. */
static void launch_unanswered(void)
{
    count(&own.unanswered);
    __atomic_store_n(&own.known_in_a_row, 0, __ATOMIC_RELAXED);
    if (state_now() == RESTING) {
        const uint64_t window = __atomic_load_n(&own.window, __ATOMIC_RELAXED);
        const uint64_t rested = __atomic_load_n(&own.rested, __ATOMIC_RELAXED);
        const uint64_t next = rested > 8 * window        ? WINDOW_LEAST
                              : window * 2 < WINDOW_MOST ? window * 2
                                                         : WINDOW_MOST;
        __atomic_store_n(&own.window, next, __ATOMIC_RELAXED);
        __atomic_store_n(&own.span, SPAN_LEAST, __ATOMIC_RELAXED);
        wake("a launch is new");
    } else if (__atomic_add_fetch(&own.woken_for, 1, __ATOMIC_RELAXED) == AT_ONCE) {
        wake_at_once();
    }
}

/* A launch had one. From time to time operators are looked at again. */
static void launch_answered(void)
{
    count(&own.answered);
    const uint64_t span = __atomic_load_n(&own.span, __ATOMIC_RELAXED);
    if (__atomic_add_fetch(&own.rested, 1, __ATOMIC_RELAXED) < span || state_now() != RESTING)
        return;
    __atomic_store_n(&own.span, span * 2 < SPAN_MOST ? span * 2 : SPAN_MOST, __ATOMIC_RELAXED);
    __atomic_store_n(&own.window, WINDOW_LEAST, __ATOMIC_RELAXED);
    __atomic_store_n(&own.known_in_a_row, 0, __ATOMIC_RELAXED);
    wake("what is known is looked at again");
}

/* Whether the host has waited for all work on memory that it shares. With the lock. */
static bool shared_is_over(void)
{
    csan_context *context = session_context();
    uint32_t left = 0;
    for (uint32_t i = 0; i < own.shared_count; i++) {
        if (context_is_over(context, own.shared[i].snapshot))
            csan_snapshot_release(context, own.shared[i].snapshot);
        else
            own.shared[left++] = own.shared[i];
    }
    own.shared_count = left;
    return !left && !own.shared_more;
}

/* With the lock. */
static void rest(void)
{
    __atomic_store_n(&own.state, RESTING, __ATOMIC_RELEASE);
    if (!own.rests)
        own.first_rest = own.added;
    if (!own.woken_for_shared) {
        own.rests++;
        if (session_options()->verbosity > 0)
            session_note("operators rest after %llu launches that they made",
                         (unsigned long long)own.added);
    }
    own.source->rest();
}

static bool all_were_known(void)
{
    return __atomic_load_n(&own.known_in_a_row, __ATOMIC_RELAXED) >=
           __atomic_load_n(&own.window, __ATOMIC_RELAXED);
}

/* No operator runs on the thread. */
static void rest_if_known(void)
{
    if (__atomic_load_n(&own.report_waits, __ATOMIC_RELAXED) && state_now() == FOLLOWED)
        operator_summary_on_followed();
    if (!own.source || own.verifies || state_now() != FOLLOWED || !all_were_known() ||
        __atomic_load_n(&own.report_waits, __ATOMIC_RELAXED) ||
        __atomic_load_n(&driver_capture_seen, __ATOMIC_RELAXED))
        return;
    lock();
    if (state_now() == FOLLOWED && shared_is_over())
        rest();
    unlock();
}

void operator_summary_waited(void)
{
    if (state_now() != WAKING || !all_were_known() ||
        __atomic_load_n(&own.report_waits, __ATOMIC_RELAXED))
        return;
    lock();
    if (state_now() == WAKING && own.woken_for_shared && shared_is_over())
        rest();
    unlock();
}

/* ---- Reports that lack an operator ---- */

bool operator_summary_has_rested(void)
{
    return own.rests != 0;
}

uint64_t operator_summary_followed_since(void)
{
    return __atomic_load_n(&own.followed_since, __ATOMIC_RELAXED);
}

uint64_t operator_summary_launches(void)
{
    return __atomic_load_n(&own.added, __ATOMIC_RELAXED) +
           __atomic_load_n(&own.answered, __ATOMIC_RELAXED);
}

void operator_summary_wanted_for_report(void)
{
    __atomic_store_n(&own.report_waits, true, __ATOMIC_RELAXED);
}

void operator_summary_report_is_out(void)
{
    __atomic_store_n(&own.report_waits, false, __ATOMIC_RELAXED);
}

/* After an op, in which a race may have been found. */
static void wake_for_report(void)
{
    if (__atomic_load_n(&own.report_waits, __ATOMIC_RELAXED))
        wake("a race is to be reported with its operators");
}

/* ---- The source ---- */

int operator_summary_source(const struct csan_operator_source *source)
{
    if (!operator_summary_wanted() || own.source)
        return CSAN_OPERATORS_ARE_DECLARED;
    lock();
    own.source = source;
    const struct learner_options *options = learning_options();
    own.identified = options->cache && program_identify(&own.program);
    const bool read = own.identified && !own.verifies &&
                      summary_file_read(options, &own.program, own.summaries, &own.noted);
    own.began_resting =
        read && own.noted.settled && (int)own.noted.rested + 1 < session_options()->learn_every;
    if (own.began_resting) {
        summaries_trust(own.summaries);
        own.rests++;
        own.known_in_a_row = own.window;
        __atomic_store_n(&own.state, RESTING, __ATOMIC_RELEASE);
    }
    unlock();
    return CSAN_OPERATORS_ARE_SUMMARIZED | (own.began_resting ? 0 : CSAN_OPERATORS_ARE_DECLARED);
}

/* ---- The key of a launch ---- */

/* A kernel of an unknown image is itself alone, in this process. Which words of the parameters are
 * pointers is no part of it: behind those that the kernel reads lies what the stack had there. */
static uint64_t shape_hash(const struct kernel *kernel, const struct learn_launch *launch,
                           uint64_t seed)
{
    const bool known = identity_is_known(kernel->image);
    uint64_t hash = hash_mix(seed, known ? kernel->image.words[0] : own.process);
    hash = hash_mix(hash, known ? kernel->image.words[1] : kernel->number);
    hash = hash_mix_bytes(hash, kernel->symbol, strlen(kernel->symbol));
    hash = hash_mix_bytes(hash, launch->grid, sizeof launch->grid);
    hash = hash_mix_bytes(hash, launch->block, sizeof launch->block);
    hash = hash_mix_bytes(hash, launch->cluster, sizeof launch->cluster);
    return hash_mix(hash_mix(hash, launch->shared), launch->parameter_bytes);
}

static bool is_in_block(const struct learn_anchor *anchor)
{
    return anchor->kind != LEARN_VARIABLE && anchor->block.end != 0;
}

/* In place of a pointer's two words: where it lies in its block, and the first pointer into the
 * same one. */
static void pointer_words(const struct learn_anchor *anchors, uint32_t at, uint32_t *words)
{
    const struct learn_anchor *anchor = &anchors[at];
    const uint64_t bytes = anchor->block.end - anchor->block.start;
    uint64_t hash = hash_mix(hash_mix(anchor->kind, anchor->address - anchor->block.start), bytes);
    uint32_t first = 0;
    while (first < at &&
           !(is_in_block(&anchors[first]) && anchors[first].block.start == anchor->block.start))
        first++;
    hash = hash_mix(hash, anchor->identity);
    words[0] = (uint32_t)(hash >> 32);
    words[1] = POINTER_WORD | anchors[first].offset / 8;
}

/* The thread's room for so many pieces of eight bytes. */
static bool slots_room(struct thread *thread, uint32_t slots)
{
    size_t room = thread->slot_room;
    uint32_t *words = grown(thread->words, &room, slots, 2 * sizeof *words);
    if (words)
        thread->words = words;
    uint16_t *anchors = words ? realloc(thread->anchors, room * sizeof *anchors) : NULL;
    if (!anchors)
        return false;
    thread->anchors = anchors;
    thread->slot_room = (uint32_t)room;
    return true;
}

static bool key_make(struct thread *thread, const struct kernel *kernel,
                     const struct learning *learning)
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
    for (uint32_t i = 0; i < launch->anchor_count; i++) {
        const uint32_t slot = launch->anchors[i].offset / 8;
        if (!is_in_block(&launch->anchors[i]) || slot >= slots)
            continue;
        pointer_words(launch->anchors, i, thread->words + (size_t)2 * slot);
        thread->anchors[slot] = (uint16_t)(i + 1);
    }
    thread->slots = slots;
    thread->key = (struct summary_key){
        {{shape_hash(kernel, launch, 1), shape_hash(kernel, launch, 2)}}, thread->words, 2 * slots};
    return true;
}

/* The pointer that so many eight bytes of the parameters hold; NULL: they hold none. */
static const struct learn_anchor *anchor_of(const struct thread *thread, uint32_t slot)
{
    return slot < thread->slots && thread->anchors[slot]
               ? &thread->launch->launch.anchors[thread->anchors[slot] - 1]
               : NULL;
}

void operator_summary_begin(struct learning *learning, struct kernel *kernel, CUfunction function,
                            const struct launch_accesses_launch *what)
{
    struct thread *thread = thread_find();
    if (!thread)
        return;
    thread->asked = true;
    thread->kernel = kernel;
    thread->launch = NULL;
    if (!learning_describe(learning, kernel, function, what))
        return;
    if (key_make(thread, kernel, learning))
        thread->launch = learning;
    else
        learning_end(learning);
}

/* What a program passes to kernels is filled in part; behind that it has what the stack had. While
 * operators are followed, that would be what csan's own functions for them left there, and another
 * thing once they rest. So it is different each time, until the words have no effect. */
static __attribute__((noinline)) void stack_stir(void)
{
    enum { WORDS = 2048 };
    static __thread uint64_t number __attribute__((tls_model("initial-exec")));
    uint64_t words[WORDS];
    number = hash_mix(number, WORDS);
    for (int i = 0; i < WORDS; i++)
        words[i] = number >> 16 | CSAN_OPERATOR_STACK_MARK << 48;
    __asm__ volatile("" : : "r"(words) : "memory");
}

void operator_summary_stir(void)
{
    if (operator_summary_wanted() && own.source && !operator_summary_rests())
        stack_stir();
}

void operator_summary_end(struct learning *learning)
{
    if (!self || !self->asked)
        return;
    operator_summary_stir();
    if (self->launch)
        learning_end(learning);
    self->launch = NULL;
    self->asked = false;
    wake_for_report();
}

/* ---- Accesses and pointers ---- */

/* The last byte's address plus one, and the first's. */
static void reach(const struct csan_access *access, uint64_t *start, uint64_t *end)
{
    *start = access->base;
    *end = access->base + access->bytes;
    for (uint8_t i = 0; i < access->dim_count; i++) {
        const int64_t span = access->dims[i].stride * (int64_t)(access->dims[i].count - 1);
        *start += span < 0 ? (uint64_t)span : 0;
        *end += span < 0 ? 0 : (uint64_t)span;
    }
}

/* The pointer into the access's memory: the one to its base, else the next before it, else any. */
static int pointer_of(const struct learning *launch, const struct csan_access *access)
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

static void access_relate(const struct csan_access *access, uint64_t address, uint32_t slot,
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

/* Whether the host may touch it, too. */
static bool is_shared(const struct csan_access *access)
{
    enum csan_memory_kind kind;
    return csan_memory_find(session_context(), access->base, NULL, NULL, &kind) &&
           (kind == CSAN_MEMORY_HOST || kind == CSAN_MEMORY_MANAGED);
}

/* ---- What a summary says of a launch ---- */

/* Of each slot, whether its pointer leads into a block that none of these accesses is in, or it was
 * not set, so that a pointer may be there another time. */
static bool loose_find(struct thread *thread, const struct summary_access *accesses, uint32_t count)
{
    const struct learn_launch *launch = &thread->launch->launch;
    uint8_t *room = grown(thread->loose, &thread->loose_room, thread->slots, 1);
    if (!room)
        return false;
    thread->loose = room;
    if (thread->slots)
        memset(thread->loose, 0, thread->slots);
    for (uint32_t i = 0; i < launch->anchor_count; i++) {
        const struct learn_anchor *anchor = &launch->anchors[i];
        bool used = !is_in_block(anchor) || anchor->offset / 8 >= thread->slots;
        for (uint32_t k = 0; k < count && !used; k++)
            used = anchor_of(thread, accesses[k].pointer)->block.start == anchor->block.start;
        if (!used)
            thread->loose[anchor->offset / 8] = 1;
    }
    for (uint32_t i = 0; i < thread->slots; i++)
        thread->loose[i] |= thread->words[2 * i + 1] >> 16 == CSAN_OPERATOR_STACK_MARK;
    return true;
}

static void access_place(const struct summary_access *access, const struct learn_anchor *anchor,
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

/* Whether a pointer is loose that never was: then the kernel touches what was not seen. */
static bool is_looser(struct thread *thread, const struct summary_found *found)
{
    bool looser = !loose_find(thread, found->accesses, found->count);
    for (uint32_t i = 0; i < thread->slots && !looser; i++)
        looser = thread->loose[i] && !found->loose[i];
    return looser;
}

/* Whether all of it lies in the blocks that the pointers lead into. */
static bool found_fits(const struct thread *thread, const struct summary_found *found)
{
    struct csan_dim dims[CSAN_MAX_DIMS];
    struct csan_access placed;
    uint64_t start, end;
    bool fits = true;
    for (uint32_t i = 0; fits && i < found->count; i++) {
        const struct learn_anchor *anchor = anchor_of(thread, found->accesses[i].pointer);
        if (!anchor)
            return false;
        access_place(&found->accesses[i], anchor, &placed, dims);
        reach(&placed, &start, &end);
        fits = start >= anchor->block.start && end <= anchor->block.end && start < end;
    }
    return fits;
}

/* Whether that is what the launch touches. */
static bool is_answer(struct thread *thread, const struct summary_found *found)
{
    return found->state == SUMMARY_KNOWN && found->operator_ran && found_fits(thread, found) &&
           !is_looser(thread, found);
}

/* Whether it is at least what launches did that are like it. */
static bool is_bound(struct thread *thread, const struct summary_found *found)
{
    return found->state != SUMMARY_KNOWN && found->alike && found_fits(thread, found) &&
           !is_looser(thread, found);
}

/* Whether it is no memory of a device alone. */
static bool is_of_host(const struct csan_access *access)
{
    enum csan_memory_kind kind;
    return !csan_memory_find(session_context(), access->base, NULL, NULL, &kind) ||
           kind == CSAN_MEMORY_HOST || kind == CSAN_MEMORY_MANAGED;
}

/* ---- Launches of operators ---- */

static void noted_keep(struct thread *thread)
{
    const size_t words = thread->key.word_count * sizeof *thread->key.words;
    const struct noted head = {thread->key.shape, thread->key.word_count, 0};
    uint8_t *bigger =
        grown(thread->noted, &thread->noted_room, thread->noted_bytes + sizeof head + words, 1);
    if (!bigger)
        return;
    thread->noted = bigger;
    memcpy(thread->noted + thread->noted_bytes, &head, sizeof head);
    if (words)
        memcpy(thread->noted + thread->noted_bytes + sizeof head, thread->key.words, words);
    thread->noted_bytes += sizeof head + words;
}

static void say_narrower(const struct thread *thread, const struct csan_operator *what)
{
    if (own.narrower_said++ < SAID_MOST)
        session_note("verify_operators: the summary of kernel %s is narrower than %s",
                     thread->kernel->name, what->name);
}

/* For who wants to know why operators do not rest: the newest kernels with launches that were not
 * known. With the lock. */
static void newest_note(const struct thread *thread, const struct summary_result *result,
                        uint8_t state)
{
    uint32_t at = 0;
    for (uint32_t i = 0; i < NEWEST; i++) {
        if (own.newest[i].kernel == thread->kernel->symbol) {
            at = i;
            break;
        }
        if (own.newest[i].at < own.newest[at].at)
            at = i;
    }
    struct newest *newest = &own.newest[at];
    if (newest->kernel != thread->kernel->symbol)
        *newest = (struct newest){.kernel = thread->kernel->symbol};
    newest->what = result->what->name;
    newest->state = state;
    newest->count++;
    newest->at = own.added;
}

/* Of the launch that is being added: whether it was known before, with that result. */
static bool result_take(struct thread *thread, struct summary_result *result, bool shared)
{
    struct summary_found found;
    lock();
    summaries_find(own.summaries, &thread->key, &found);
    const bool known = is_answer(thread, &found);
    if (known && own.verifies) {
        own.compared++;
        if (!summary_covers(&found, result)) {
            own.narrower++;
            say_narrower(thread, result->what);
        }
    }
    if (loose_find(thread, result->accesses, result->count))
        result->loose = thread->loose;
    const enum summary_change change = shared || !result->loose
                                           ? SUMMARY_DROPPED
                                           : summaries_add(own.summaries, &thread->key, result);
    own.added++;
    if (!known || change != SUMMARY_CONFIRMED)
        newest_note(thread, result, change == SUMMARY_DROPPED ? NEWEST_DROPPED : found.state);
    unlock();
    return known && change == SUMMARY_CONFIRMED;
}

static bool any_shared(struct operator_summary_list list)
{
    for (size_t i = 0; i < list.count; i++)
        if (is_shared(&list.items[i]))
            return true;
    return false;
}

/* Those that a pointer reaches, into the thread's room. */
static uint32_t list_relate(struct thread *thread, const struct operator_summary_frame *frame,
                            struct operator_summary_list list, size_t argument_count)
{
    uint32_t count = 0;
    for (size_t i = 0; i < list.count; i++) {
        const int pointer = pointer_of(thread->launch, &list.items[i]);
        if (pointer < 0)
            continue;
        const struct learn_anchor *anchor = &thread->launch->launch.anchors[pointer];
        access_relate(&list.items[i], anchor->address, anchor->offset / 8,
                      &thread->accesses[count++]);
        if (i < argument_count && i < frame->reached_count)
            thread->reached[frame->reached + i] = 1;
    }
    return count;
}

void operator_summary_note(struct operator_summary_frame *frame, const struct csan_operator *what,
                           struct operator_summary_list list, size_t argument_count)
{
    struct thread *thread = thread_find();
    if (!thread || !thread->asked || operator_summary_rests())
        return;
    struct summary_access *room =
        grown(thread->accesses, &thread->access_room, list.count, sizeof *thread->accesses);
    if (!thread->launch || !room) {
        operator_summary_unknown();
        return;
    }
    thread->accesses = room;
    struct summary_result result = {what, thread->accesses,
                                    list_relate(thread, frame, list, argument_count), NULL};
    noted_keep(thread);
    if (result_take(thread, &result, any_shared(list)))
        operator_summary_known();
    else
        operator_summary_unknown();
}

void operator_summary_known(void)
{
    count(&own.known_in_a_row);
}

void operator_summary_unknown(void)
{
    __atomic_store_n(&own.known_in_a_row, 0, __ATOMIC_RELAXED);
}

/* ---- Frames ---- */

void operator_summary_frame_begin(struct operator_summary_frame *frame, size_t accesses,
                                  bool outermost)
{
    struct thread *thread = thread_find();
    *frame = (struct operator_summary_frame){0};
    if (!thread)
        return;
    if (outermost) {
        woken();
        thread->reached_count = thread->noted_bytes = 0;
    }
    frame->reached = thread->reached_count;
    frame->noted = thread->noted_bytes;
    uint8_t *bigger =
        grown(thread->reached, &thread->reached_room, thread->reached_count + accesses, 1);
    if (!bigger)
        return;
    thread->reached = bigger;
    if (accesses)
        memset(thread->reached + thread->reached_count, 0, accesses);
    thread->reached_count += accesses;
    frame->reached_count = accesses;
}

void operator_summary_reach(struct operator_summary_frame *frame,
                            struct operator_summary_list arguments,
                            struct operator_summary_list list)
{
    struct thread *thread = self;
    uint64_t start, end, first, last;
    for (size_t k = 0; thread && k < list.count && !frame->took_from_host; k++)
        frame->took_from_host = list.items[k].kind == CSAN_READ && is_of_host(&list.items[k]);
    for (size_t i = 0; thread && i < arguments.count && i < frame->reached_count; i++) {
        if (thread->reached[frame->reached + i])
            continue;
        reach(&arguments.items[i], &first, &last);
        for (size_t k = 0; k < list.count; k++) {
            reach(&list.items[k], &start, &end);
            if (start < last && first < end)
                thread->reached[frame->reached + i] = 1;
        }
    }
}

/* Once for each operator. */
static void say_unreached(const struct csan_operator *what, const struct csan_access *access)
{
    const bool named = access->argument < what->argument_count;
    uint32_t at = 0;
    while (at < own.said_count && own.said[at] != what)
        at++;
    if (at < own.said_count || at == SAID_MOST)
        return;
    own.said[own.said_count++] = what;
    if (session_options()->verbosity > 0)
        session_note("operator summaries: no launch of %s has a pointer to its argument %s",
                     what->name, named ? what->arguments[access->argument] : "?");
}

/* An argument that none of the operator's launches reaches, rather one that is written; NULL: none.
 */
static const struct csan_access *unreached_find(const struct thread *thread,
                                                const struct operator_summary_frame *frame,
                                                struct operator_summary_list arguments)
{
    const struct csan_access *found = NULL;
    for (size_t i = 0; i < arguments.count; i++)
        if ((i >= frame->reached_count || !thread->reached[frame->reached + i]) &&
            (!found || arguments.items[i].kind != CSAN_READ))
            found = &arguments.items[i];
    return found;
}

static void noted_spoil(const struct thread *thread, size_t from)
{
    struct noted head;
    for (size_t at = from; at < thread->noted_bytes;) {
        memcpy(&head, thread->noted + at, sizeof head);
        at += sizeof head;
        summaries_spoil(own.summaries,
                        &(struct summary_key){head.shape, (const uint32_t *)(thread->noted + at),
                                              head.word_count});
        at += head.word_count * sizeof(uint32_t);
    }
    __atomic_store_n(&own.known_in_a_row, 0, __ATOMIC_RELAXED);
}

void operator_summary_frame_end(struct operator_summary_frame *frame,
                                const struct csan_operator *what,
                                struct operator_summary_list arguments, bool several,
                                bool outermost)
{
    struct thread *thread = self;
    if (!thread)
        return;
    if (thread->noted_bytes > frame->noted && !operator_summary_rests()) {
        const struct csan_access *unreached = unreached_find(thread, frame, arguments);
        if (unreached || several) {
            lock();
            own.unreached += unreached != NULL;
            own.several += several;
            if (unreached)
                say_unreached(what, unreached);
            if (several || frame->took_from_host || unreached->kind != CSAN_READ)
                noted_spoil(thread, frame->noted);
            unlock();
        }
    }
    thread->reached_count = frame->reached;
    if (outermost) {
        thread->noted_bytes = 0;
        rest_if_known();
    }
}

/* ---- Memory that the host shares ---- */

/* On each lane the newest work stands for what is before it. */
static void shared_keep(csan_lane lane)
{
    csan_context *context = session_context();
    uint32_t at = 0;
    while (at < own.shared_count && own.shared[at].lane != lane)
        at++;
    if (at == SHARED_LANES && !shared_is_over()) {
        own.shared_more = true;
        return;
    }
    at = at < own.shared_count ? at : own.shared_count;
    if (at == own.shared_count)
        own.shared_count++;
    else
        csan_snapshot_release(context, own.shared[at].snapshot);
    own.shared[at] = (struct shared){lane, csan_snapshot_take(context, lane)};
}

void operator_summary_shared(csan_lane lane, struct operator_summary_list list)
{
    if (!own.source)
        return;
    operator_summary_stir();
    wake_for_report();
    if (!any_shared(list))
        return;
    lock();
    shared_keep(lane);
    unlock();
    wake(NULL);
}

/* ---- Launches without their operator ---- */

static bool found_apply(const struct thread *thread, const struct summary_found *found,
                        struct launch_accesses_touched *touched)
{
    size_t dim_count = 0;
    struct csan_dim *dims;
    for (uint32_t i = 0; i < found->count; i++)
        dim_count += found->accesses[i].dim_count;
    struct csan_access *accesses = launch_accesses_replace(touched, found->count, dim_count, &dims);
    if (!accesses)
        return false;
    for (uint32_t i = 0; i < found->count; i++) {
        access_place(&found->accesses[i], anchor_of(thread, found->accesses[i].pointer),
                     &accesses[i], dims);
        dims += found->accesses[i].dim_count;
    }
    for (uint32_t i = 0; i < found->count && found->state != SUMMARY_KNOWN; i++)
        accesses[i].bound = CSAN_BOUND_ANNOTATED;
    touched->level = CSAN_LEVEL_OPERATOR;
    touched->exact = true;
    return true;
}

/* For who wants to know why operators are followed again. */
static void say_unanswered(const struct thread *thread, const struct summary_found *found)
{
    static const char *const states[] = {"there is none", "it was seen too seldom",
                                         "pointers lie otherwise", "it is never the same"};
    if (session_options()->verbosity > 0 && own.unanswered_said++ < SAID_MOST)
        session_note("operator summaries: no answer for a launch of %.200s: %s",
                     thread->kernel->symbol,
                     thread->launch ? states[found->state] : "its parameters are not known");
}

const struct csan_operator *operator_summary_apply(struct launch_accesses_touched *touched)
{
    struct thread *thread = self;
    struct summary_found found = {.state = SUMMARY_NONE};
    if (!thread || !thread->asked || touched->exact || !operator_summary_rests())
        return NULL;
    lock();
    if (thread->launch)
        summaries_find(own.summaries, &thread->key, &found);
    const bool known = is_answer(thread, &found) && found_apply(thread, &found, touched);
    own.unnamed += known && !found.what;
    const bool bounded = !known && is_bound(thread, &found) && found_apply(thread, &found, touched);
    if (!known)
        say_unanswered(thread, &found);
    unlock();
    if (__atomic_load_n(&driver_capture_seen, __ATOMIC_RELAXED))
        wake("a stream was captured");
    if (known)
        launch_answered();
    else
        launch_unanswered();
    return known || bounded ? found.what : NULL;
}

/* ---- The end ---- */

static int newest_compare(const void *left, const void *right)
{
    const struct newest *a = left, *b = right;
    return (a->at < b->at) - (a->at > b->at);
}

static void newest_notes(struct text *notes)
{
    static const char *const states[] = {"new", "seen too seldom", "another than before",
                                         "never the same", "not to be kept"};
    struct newest newest[NEWEST];
    memcpy(newest, own.newest, sizeof newest);
    qsort(newest, NEWEST, sizeof *newest, newest_compare);
    for (uint32_t i = 0; i < NEWEST && newest[i].kernel; i++)
        text_add(notes,
                 "operator summaries: %llu launches of %.96s in %.*s, the last one %s, after %llu "
                 "others\n",
                 (unsigned long long)newest[i].count, newest[i].kernel,
                 (int)strcspn(newest[i].what, "("), newest[i].what, states[newest[i].state],
                 (unsigned long long)newest[i].at);
}

void operator_summary_notes(struct text *notes)
{
    struct summary_counts counts;
    if (!own.summaries || !(own.added + own.answered + own.unanswered))
        return;
    summaries_count(own.summaries, &counts);
    text_add(notes,
             "operator summaries: %llu launches of operators added, %llu answered without their "
             "operators (%llu of them by several names), %llu not; %llu known of %llu kinds, %llu "
             "unsteady, %zu KiB",
             (unsigned long long)own.added, (unsigned long long)own.answered,
             (unsigned long long)own.unnamed, (unsigned long long)own.unanswered,
             (unsigned long long)counts.known, (unsigned long long)counts.entries,
             (unsigned long long)counts.unsteady, counts.bytes >> 10);
    if (own.rests)
        text_add(notes, "; operators rested %llu time%s, first after %llu launches",
                 (unsigned long long)own.rests, own.rests == 1 ? "" : "s",
                 (unsigned long long)own.first_rest);
    if (own.unreached || own.several)
        text_add(notes,
                 "; %llu operators had arguments that no launch reached, %llu several streams",
                 (unsigned long long)own.unreached, (unsigned long long)own.several);
    text_add(notes, "\n");
    if (session_options()->verbosity > 0)
        newest_notes(notes);
    if (own.verifies)
        text_add(notes, "verify_operators: %llu launches compared, %llu narrower\n",
                 (unsigned long long)own.compared, (unsigned long long)own.narrower);
}

void operator_summary_finish(void)
{
    if (!own.summaries || !own.identified || own.verifies)
        return;
    const bool settled = own.rests && state_now() != WAKING &&
                         (!own.began_resting || !own.unanswered || state_now() == RESTING);
    const struct summary_program noted = {settled, own.began_resting ? own.noted.rested + 1 : 0};
    if (!summary_file_write(learning_options(), &own.program, own.summaries, &noted) &&
        session_options()->verbosity > 0)
        session_note("the summaries of operators could not be kept for the next run");
}
