/* Every interleaving of a few threads that use the context's lock: lock.c itself, with its atomics
 * and system calls played here. Nobody is let in beside the holder, nobody sleeps for ever.
 *
 *   threads   coroutines, which hand control back before each operation that others can observe
 *   stores    wait in a buffer of their thread's until it does something stronger, or at any time
 *             (x86-64's order; of what aarch64 adds, the lock's acquire and release leave nothing)
 *   search    depth first, each path from the start; a state that was seen before is not gone on
 *             from. A thread's own state is what it was answered since its turn began. */
#undef CSAN_CHECK_LOCKS /* these threads are one thread to the table of lock orders */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <linux/futex.h>
#include <linux/membarrier.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/single_threaded.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

enum { THREADS_MAX = 4, BUFFERED_MAX = 8, DEPTH_MAX = 4096, STACK_BYTES = 1 << 15 };

struct store {
    uint32_t *place, value;
};

struct thread {
    ucontext_t context;
    uint32_t turn; /* it is at */
    uint32_t
        answers; /* a hash of what it was answered since its turn began, operation by operation */
    uint32_t *sleeps_on;
    bool timed, done;
    struct store buffered[BUFFERED_MAX];
    uint32_t buffered_count;
};

/* What a search is of. */
struct setting {
    int threads, turns;
    bool barrier;     /* membarrier(2) works */
    uint32_t ends;    /* so many sleeps may end by themselves, timed or interrupted */
    bool times_out;   /* timed sleeps end once nothing else goes on */
    bool has_waiter;  /* the first thread waits for the bell that the others ring */
    const char *fate; /* what is found; NULL: nothing */
};

static struct {
    struct setting setting;
    ucontext_t scheduler;
    struct thread threads[THREADS_MAX];
    int running;
    uint32_t ends;
    const char *fate;
    /* the path: the choice at each depth, and out of how many */
    uint16_t choices[DEPTH_MAX], widths[DEPTH_MAX];
    int depth, length;
    /* states seen, a hash set of their hashes */
    uint64_t *seen;
    size_t seen_count, seen_capacity;
} model;

static char stacks[THREADS_MAX][STACK_BYTES];

/* ---- memory */

static struct thread *self(void)
{
    return &model.threads[model.running];
}

static uint32_t answered(uint32_t value)
{
    self()->answers = (self()->answers ^ (value + 1)) * 0x9e3779b1u;
    return value;
}

static void flush_one(struct thread *thread)
{
    *thread->buffered[0].place = thread->buffered[0].value;
    thread->buffered_count--;
    memmove(thread->buffered, thread->buffered + 1,
            thread->buffered_count * sizeof thread->buffered[0]);
}

static void flush(struct thread *thread)
{
    while (thread->buffered_count)
        flush_one(thread);
}

/* Before an observable operation: any thread may go on here. */
static void point(void)
{
    answered(0);
    swapcontext(&self()->context, &model.scheduler);
}

static uint32_t value_of(const uint32_t *place)
{
    for (uint32_t i = self()->buffered_count; i > 0; i--)
        if (self()->buffered[i - 1].place == place)
            return self()->buffered[i - 1].value;
    return *place;
}

static void buffer(uint32_t *place, uint32_t value)
{
    if (self()->buffered_count == BUFFERED_MAX)
        flush_one(self());
    self()->buffered[self()->buffered_count++] = (struct store){place, value};
}

/* ---- the lock under test */

/* gcc 12 takes the places of a structure's two fields for one when it inlines these. */
#define APART __attribute__((noipa))
APART static uint32_t model_load(const uint32_t *place);
APART static void model_store(uint32_t *place, uint32_t value, int order);
APART static bool model_exchange_if(uint32_t *place, uint32_t *expected, uint32_t value);
APART static uint32_t model_exchange(uint32_t *place, uint32_t value);
APART static uint32_t model_add(uint32_t *place, uint32_t value);
APART static long model_futex(uint32_t *word, int what, uint32_t value,
                              const struct timespec *at_most);
APART static long model_membarrier(void);

#define __libc_single_threaded                0
#define __atomic_load_n(place, order)         model_load(place)
#define __atomic_store_n(place, value, order) model_store(place, value, order)
#define __atomic_compare_exchange_n(place, expected, value, weak, order, failed)                   \
    model_exchange_if(place, expected, value)
#define __atomic_exchange_n(place, value, order) model_exchange(place, value)
#define __atomic_fetch_add(place, value, order)  model_add(place, value)
#define __atomic_signal_fence(order)             ((void)0)
#define syscall(number, ...)                     syscall_##number(__VA_ARGS__)
#define syscall_SYS_futex(word, what, value, at_most, second, flags)                               \
    model_futex(word, what, value, at_most)
#define syscall_SYS_membarrier(command, flags, processor) model_membarrier()
#include "csan/base/hash.h"
#include "csan/base/lock.c"
#undef syscall

static struct lock lock;
static uint32_t bell, inside, turns, heard;

/* A look at `held` decides nothing that the exchange behind it does not: no point. */
static uint32_t model_load(const uint32_t *place)
{
    if (place != &lock.held)
        point();
    return answered(value_of(place));
}

/* The strong store opens each round of a thread that found the lock taken, which goes on as from
 * the first. */
static void model_store(uint32_t *place, uint32_t value, int order)
{
    point();
    if (order != __ATOMIC_SEQ_CST) {
        buffer(place, value);
        return;
    }
    flush(self());
    *place = value;
    self()->answers = 1;
}

static bool model_exchange_if(uint32_t *place, uint32_t *expected, uint32_t value)
{
    point();
    flush(self());
    bool equal = *place == *expected;
    *expected = *place;
    if (equal)
        *place = value;
    return answered(equal);
}

static uint32_t model_exchange(uint32_t *place, uint32_t value)
{
    point();
    flush(self());
    uint32_t former = *place;
    *place = value;
    return answered(former);
}

static uint32_t model_add(uint32_t *place, uint32_t value)
{
    point();
    flush(self());
    *place += value;
    return answered(*place - value);
}

static uint32_t choose(uint32_t width);

static void wake_one(const uint32_t *word)
{
    uint32_t sleepers[THREADS_MAX], count = 0;
    for (int i = 0; i < model.setting.threads; i++)
        if (model.threads[i].sleeps_on == word)
            sleepers[count++] = (uint32_t)i;
    if (count)
        model.threads[sleepers[choose(count)]].sleeps_on = NULL;
}

static long model_futex(uint32_t *word, int what, uint32_t value, const struct timespec *at_most)
{
    point();
    flush(self());
    if (what == FUTEX_WAKE_PRIVATE) {
        for (uint32_t i = 0; i < value && i < THREADS_MAX; i++)
            wake_one(word);
        return 0;
    }
    if (*word == value) {
        self()->sleeps_on = word;
        self()->timed = at_most != NULL;
        point();
    }
    return 0;
}

static long model_membarrier(void)
{
    point();
    for (int i = 0; i < model.setting.threads && model.setting.barrier; i++)
        flush(&model.threads[i]);
    errno = EPERM;
    return model.setting.barrier ? 0 : -1;
}

/* ---- what the threads do */

static void turn_take(void)
{
    lock_take(&lock);
    if (inside++)
        model.fate = "two are inside";
    uint32_t before = answered(value_of(&turns));
    point();
    buffer(&turns, before + 1);
    inside--;
    lock_give(&lock);
}

static void wait_for_bell(void)
{
    lock_take(&lock);
    while (!answered(value_of(&heard)))
        lock_wait(&lock, &bell, 60000);
    lock_give(&lock);
}

static void ring(void)
{
    lock_take(&lock);
    buffer(&heard, 1);
    lock_give(&lock);
    lock_ring(&bell);
}

static void thread_run(void)
{
    for (int i = 0; i < model.setting.turns; i++) {
        self()->turn = (uint32_t)i;
        self()->answers = 0;
        if (!model.setting.has_waiter)
            turn_take();
        else if (model.running == 0)
            wait_for_bell();
        else
            ring();
    }
    self()->done = true;
    point();
}

/* ---- the search */

static uint64_t state_hash(void)
{
    uint64_t hash = hash_mix(hash_mix(lock.held | (uint64_t)lock.waiting << 32, bell), inside);
    hash = hash_mix(hash_mix(hash, turns | (uint64_t)heard << 32), model.ends);
    for (int i = 0; i < model.setting.threads; i++) {
        const struct thread *thread = &model.threads[i];
        hash = hash_mix(hash, thread->answers | (uint64_t)thread->turn << 32);
        hash = hash_mix(hash, (uintptr_t)thread->sleeps_on << 8 | thread->buffered_count << 1 |
                                  thread->done);
        for (uint32_t k = 0; k < thread->buffered_count; k++)
            hash = hash_mix(hash_mix(hash, (uintptr_t)thread->buffered[k].place),
                            thread->buffered[k].value);
    }
    return hash | 1;
}

static bool seen_insert(uint64_t hash)
{
    if (model.seen_count * 2 >= model.seen_capacity) {
        size_t capacity = model.seen_capacity ? model.seen_capacity * 2 : 1 << 16;
        uint64_t *grown = calloc(capacity, sizeof *grown);
        assert_non_null(grown);
        for (size_t i = 0; i < model.seen_capacity; i++) {
            size_t at = model.seen[i] >> 8 & (capacity - 1);
            while (model.seen[i] && grown[at])
                at = (at + 1) & (capacity - 1);
            if (model.seen[i])
                grown[at] = model.seen[i];
        }
        free(model.seen);
        model.seen = grown;
        model.seen_capacity = capacity;
    }
    size_t at = hash >> 8 & (model.seen_capacity - 1);
    while (model.seen[at] && model.seen[at] != hash)
        at = (at + 1) & (model.seen_capacity - 1);
    if (model.seen[at])
        return false;
    model.seen[at] = hash;
    model.seen_count++;
    return true;
}

/* As on the former path as far as that goes, then the first. */
static uint32_t choose(uint32_t width)
{
    assert_true(model.depth < DEPTH_MAX);
    if (model.depth == model.length) {
        model.choices[model.length] = 0;
        model.widths[model.length++] = (uint16_t)width;
    }
    return model.choices[model.depth++];
}

enum step { STEP_RUN, STEP_FLUSH, STEP_END_SLEEP };

struct option {
    enum step step;
    int thread;
};

static uint32_t options_list(struct option *options)
{
    uint32_t count = 0;
    for (int i = 0; i < model.setting.threads; i++) {
        const struct thread *thread = &model.threads[i];
        if (!thread->done && !thread->sleeps_on)
            options[count++] = (struct option){STEP_RUN, i};
        if (thread->buffered_count)
            options[count++] = (struct option){STEP_FLUSH, i};
        if (thread->sleeps_on && model.ends)
            options[count++] = (struct option){STEP_END_SLEEP, i};
    }
    for (int i = 0; i < model.setting.threads && !count && model.setting.times_out; i++)
        if (model.threads[i].sleeps_on && model.threads[i].timed)
            options[count++] = (struct option){STEP_END_SLEEP, i};
    return count;
}

static void step(struct option option)
{
    struct thread *thread = &model.threads[option.thread];
    if (option.step == STEP_RUN) {
        model.running = option.thread;
        swapcontext(&model.scheduler, &thread->context);
    } else if (option.step == STEP_FLUSH) {
        flush_one(thread);
    } else {
        thread->sleeps_on = NULL;
        model.ends -= model.ends > 0;
    }
}

static void thread_start(struct thread *thread, void *stack)
{
    memset(thread, 0, sizeof *thread);
    getcontext(&thread->context);
    thread->context.uc_stack.ss_sp = stack;
    thread->context.uc_stack.ss_size = STACK_BYTES;
    makecontext(&thread->context, thread_run, 0);
}

static void start(void)
{
    lock = (struct lock){0};
    bell = inside = turns = heard = 0;
    model.ends = model.setting.ends;
    model.depth = 0;
    for (int i = 0; i < model.setting.threads; i++) {
        thread_start(&model.threads[i], stacks[i]);
        step((struct option){STEP_RUN, i}); /* to its first point */
    }
}

/* One path, until all is done, a state comes again, or something is wrong. */
static void path_walk(void)
{
    struct option options[3 * THREADS_MAX];
    start();
    while (!model.fate) {
        bool fresh = model.depth < model.length || seen_insert(state_hash());
        uint32_t count = options_list(options);
        bool done = true;
        for (int i = 0; i < model.setting.threads; i++)
            done = done && model.threads[i].done && !model.threads[i].buffered_count;
        if (!fresh || done) {
            if (done && !model.setting.has_waiter &&
                turns != (uint32_t)(model.setting.threads * model.setting.turns))
                model.fate = "a turn is lost";
            return;
        }
        if (!count)
            model.fate = "all sleep";
        else
            step(options[choose(count)]);
    }
}

static bool next_path(void)
{
    while (model.length > 0) {
        if (++model.choices[model.length - 1] < model.widths[model.length - 1])
            return true;
        model.length--;
    }
    return false;
}

static void search(struct setting setting)
{
    model.setting = setting;
    model.fate = NULL;
    model.length = 0;
    do
        path_walk();
    while (!model.fate && next_path());
    print_message("%zu states\n", model.seen_count);
    free(model.seen);
    model.seen = NULL;
    model.seen_count = model.seen_capacity = 0;
    if (setting.fate || model.fate)
        assert_string_equal(model.fate ? model.fate : "", setting.fate ? setting.fate : "");
}

static void two_threads(void **state)
{
    (void)state;
    search((struct setting){.threads = 2, .turns = 3, .barrier = true, .ends = 1});
}

static void three_threads(void **state)
{
    (void)state;
    search((struct setting){.threads = 3, .turns = 1, .barrier = true});
}

static void without_barrier(void **state)
{
    (void)state;
    search((struct setting){.threads = 2, .turns = 2, .ends = 1, .times_out = true});
}

/* That is what the barrier is for; and the search does find it. */
static void nobody_would_wake(void **state)
{
    (void)state;
    search((struct setting){.threads = 2, .turns = 2, .fate = "all sleep"});
}

static void a_bell_is_heard(void **state)
{
    (void)state;
    search((struct setting){.threads = 2, .turns = 1, .barrier = true, .has_waiter = true});
    search((struct setting){.threads = 3, .turns = 1, .barrier = true, .has_waiter = true});
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_threads),     cmocka_unit_test(three_threads),
        cmocka_unit_test(without_barrier), cmocka_unit_test(nobody_would_wake),
        cmocka_unit_test(a_bell_is_heard),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
