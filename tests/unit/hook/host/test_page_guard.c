/* Guarded pages against a model: which pages are open, read-only or closed after any sequence of
 * ops, waits, accesses and frees. What a page allows is asked of the kernel, which refuses a
 * system call's buffer where the processor would fault. */
#include "runtime/hook/host/page_guard.h"
#include "runtime/hook/host/unguarded.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#if defined(__x86_64__)
#include <x86intrin.h>
#endif

#include <cmocka.h>

enum { PAGE = 4096, PAGES = 24, OPS = 12 };

static char *memory;
static int ends[2], zero;

enum allowed { NOTHING, READS, ALL };

static enum allowed allowed(size_t page)
{
    char *at = memory + page * PAGE, kept;
    if (write(ends[1], at + 7, 1) != 1) {
        assert_int_equal(errno, EFAULT);
        return NOTHING;
    }
    assert_int_equal(read(ends[0], &kept, 1), 1);
    const ssize_t written = read(zero, at + 7, 1);
    if (written == 1)
        at[7] = kept;
    return written == 1 ? ALL : READS;
}

static struct range bytes_of(size_t first, size_t count)
{
    const uint64_t start = (uintptr_t)memory + first * PAGE;
    return (struct range){start + 16, start + count * PAGE - 16};
}

/* ---- The model ---- */

static struct op {
    uint64_t epoch; /* 0: none */
    size_t first, count;
    bool writes;
} ops[OPS];
static bool opened[PAGES];
static uint64_t over; /* ops up to that number are */

static enum allowed expected(size_t page)
{
    enum allowed least = ALL;
    for (size_t i = 0; i < OPS; i++)
        if (ops[i].epoch && page >= ops[i].first && page < ops[i].first + ops[i].count) {
            const enum allowed now = ops[i].writes ? NOTHING : READS;
            least = now < least ? now : least;
        }
    return opened[page] ? ALL : least;
}

static void check_pages(void)
{
    for (size_t i = 0; i < PAGES; i++)
        if (allowed(i) != expected(i))
            fail_msg("page %zu: %d, not %d", i, allowed(i), expected(i));
}

static bool is_over(void *user, uint64_t epoch)
{
    (void)user;
    return epoch <= over;
}

static void model_forget(bool (*gone)(const struct op *op, size_t first, size_t count),
                         size_t first, size_t count)
{
    for (size_t i = 0; i < OPS; i++)
        if (ops[i].epoch && gone(&ops[i], first, count))
            ops[i].epoch = 0;
    for (size_t page = 0; page < PAGES; page++) {
        bool any = false;
        for (size_t i = 0; i < OPS; i++)
            any |= ops[i].epoch && page >= ops[i].first && page < ops[i].first + ops[i].count;
        opened[page] &= any;
    }
}

static bool gone_by_epoch(const struct op *op, size_t first, size_t count)
{
    (void)first, (void)count;
    return op->epoch <= over;
}

static bool gone_by_place(const struct op *op, size_t first, size_t count)
{
    return op->first < first + count && first < op->first + op->count;
}

static uint32_t random_of(uint64_t *seed, uint32_t below)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*seed >> 33) % below;
}

static void add(uint64_t *seed, uint64_t epoch)
{
    struct op *op = &ops[random_of(seed, OPS)];
    if (op->epoch)
        return;
    *op = (struct op){
        .epoch = epoch, .first = random_of(seed, PAGES - 4), .writes = random_of(seed, 2)};
    op->count = 1 + random_of(seed, 4);
    for (size_t i = op->first; i < op->first + op->count; i++)
        opened[i] = false;
    page_guard_add(epoch, bytes_of(op->first, op->count), op->writes);
}

static void touch(uint64_t *seed)
{
    const size_t page = random_of(seed, PAGES);
    const bool writes = random_of(seed, 2);
    const struct range bytes = {(uintptr_t)memory + page * PAGE + 100,
                                (uintptr_t)memory + page * PAGE + 104};
    const enum allowed now = expected(page);
    const bool faults = now == NOTHING || (now == READS && writes);
    const enum page_guard_found found = page_guard_find(bytes.start, bytes, writes);
    if (faults != (found == PAGE_GUARD_GUARDED || found == PAGE_GUARD_OTHERS))
        fail_msg("page %zu: found %d", page, found);
    if (!faults)
        return;
    if (random_of(seed, 2)) {
        assert_true(page_guard_step(bytes));
        assert_int_equal(allowed(page), ALL);
        page_guard_close(bytes);
    } else {
        page_guard_open(bytes, false);
        opened[page] = true;
    }
}

static void as_the_model_says(void **state)
{
    (void)state;
    uint64_t epoch = 1;
    for (uint64_t program = 1; program <= 300; program++) {
        uint64_t seed = program;
        for (int i = 0; i < 60; i++) {
            const uint32_t what = random_of(&seed, 10);
            if (what < 5) {
                add(&seed, ++epoch);
            } else if (what < 7) {
                over = epoch - random_of(&seed, 6);
                page_guard_release(is_over, NULL);
                model_forget(gone_by_epoch, 0, 0);
            } else if (what < 8) {
                const size_t first = random_of(&seed, PAGES - 4);
                page_guard_forget(bytes_of(first, 2));
                model_forget(gone_by_place, first, 2);
            } else {
                touch(&seed);
            }
            if (i % 4 == 0)
                check_pages();
        }
        page_guard_pause();
        for (size_t i = 0; i < PAGES; i++)
            assert_int_equal(allowed(i), ALL);
        page_guard_resume();
        check_pages();
    }
    over = epoch;
    page_guard_release(is_over, NULL);
    model_forget(gone_by_epoch, 0, 0);
    check_pages();
}

/* ---- Cases ---- */

static void other_bytes_of_a_page_are_distinguished(void **state)
{
    (void)state;
    const uint64_t start = (uintptr_t)memory;
    page_guard_add(1, (struct range){start, start + 64}, true);
    const struct range inside = {start + 60, start + 68}, beside = {start + 64, start + 72};
    assert_int_equal(page_guard_find(start + 60, inside, false), PAGE_GUARD_GUARDED);
    assert_int_equal(page_guard_find(start + 64, beside, false), PAGE_GUARD_OTHERS);
    assert_int_equal(page_guard_find((uintptr_t)&start, beside, false), PAGE_GUARD_NOT);
    assert_int_equal(page_guard_lend(beside, false), 0);
    assert_int_equal(allowed(0), ALL);
    assert_int_equal(page_guard_lend(inside, false), 1);
    assert_true(page_guard_meets(1, inside));
    assert_false(page_guard_meets(1, beside));
    assert_false(page_guard_meets(2, inside));
    page_guard_forget(inside);
    assert_int_equal(page_guard_find(start + 60, inside, false), PAGE_GUARD_RETRY);
    assert_int_equal(page_guard_lend(inside, false), 0);
    assert_false(page_guard_meets(1, inside));
}

/* Of much memory the ends are guarded, and other places in between each time. */
static void much_memory_is_guarded_in_part(void **state)
{
    (void)state;
    enum { MANY = 4096 };
    char *much =
        mmap(NULL, (size_t)MANY * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(much != MAP_FAILED);
    char *const before = memory;
    size_t first_time = 0, other_places = 0;
    static bool was[MANY];
    memory = much;
    for (int turn = 0; turn < 2; turn++) {
        page_guard_add(7, (struct range){(uintptr_t)much, (uintptr_t)much + (size_t)MANY * PAGE},
                       true);
        assert_int_equal(allowed(0), NOTHING);
        assert_int_equal(allowed(MANY - 1), NOTHING);
        for (size_t i = 0; i < MANY; i++) {
            const bool guarded = allowed(i) == NOTHING;
            first_time += guarded && turn == 0;
            other_places += guarded && turn == 1 && !was[i];
            was[i] = guarded;
        }
        page_guard_forget((struct range){(uintptr_t)much, (uintptr_t)much + (size_t)MANY * PAGE});
    }
    assert_int_equal(first_time, 16);
    assert_true(other_places > 4);
    memory = before;
    munmap(much, (size_t)MANY * PAGE);
}

/* A loop over the same much memory has every page guarded in time. */
static void every_page_has_its_turn(void **state)
{
    (void)state;
    enum { MANY = 407, TURNS = 2000 };
    static bool was[MANY];
    char *much =
        mmap(NULL, (size_t)MANY * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(much != MAP_FAILED);
    const uint64_t start = (uintptr_t)much;
    size_t seen = 0;
    for (int turn = 0; turn < TURNS && seen < MANY; turn++) {
        page_guard_add(7, (struct range){start, start + (size_t)MANY * PAGE}, true);
        for (size_t i = 0; i < MANY; i++) {
            const struct range byte = {start + i * PAGE, start + i * PAGE + 1};
            if (!was[i] && page_guard_find(byte.start, byte, true) == PAGE_GUARD_GUARDED) {
                was[i] = true;
                seen++;
            }
        }
        page_guard_forget((struct range){start, start + 1});
    }
    assert_int_equal(seen, MANY);
    munmap(much, (size_t)MANY * PAGE);
}

/* The buffer of a call stays open while it is made, whatever ops come; so does what was given away.
 */
static void lent_memory_stays_open(void **state)
{
    (void)state;
    const unsigned call = unguarded_begin(bytes_of(1, 1)), other = unguarded_begin(bytes_of(7, 1));
    const uint64_t refused = page_guard_counts().refused;
    page_guard_add(3, bytes_of(0, 3), true);
    assert_int_equal(allowed(0), NOTHING);
    assert_int_equal(allowed(1), ALL);
    assert_int_equal(allowed(2), NOTHING);
    unguarded_end(call);
    page_guard_add(4, bytes_of(1, 1), true);
    assert_int_equal(allowed(1), NOTHING);
    page_guard_add(5, bytes_of(7, 1), false);
    assert_int_equal(allowed(7), ALL);
    assert_int_equal(page_guard_counts().refused, refused + 1);
    unguarded_end(other);
    page_guard_forget(bytes_of(0, 8));
    unguarded_add(bytes_of(4, 2));
    page_guard_add(6, bytes_of(3, 4), true);
    assert_int_equal(allowed(3), NOTHING);
    assert_int_equal(allowed(4), ALL);
    assert_int_equal(allowed(5), ALL);
    assert_int_equal(allowed(6), NOTHING);
    page_guard_forget(bytes_of(0, 8));
    unguarded_remove(bytes_of(4, 2));
    page_guard_add(7, bytes_of(4, 1), true);
    assert_int_equal(allowed(4), NOTHING);
    page_guard_forget(bytes_of(0, 8));
}

/* One of those for which there is no room might be in any page. */
static void more_calls_than_can_be_kept(void **state)
{
    enum { MANY = 600 };
    unsigned calls[MANY];
    (void)state;
    for (int i = 0; i < MANY; i++)
        calls[i] = unguarded_begin(bytes_of(i == MANY - 1 ? 1 : 7, 1));
    page_guard_add(3, bytes_of(1, 2), true);
    assert_int_equal(allowed(1), ALL);
    assert_int_equal(allowed(2), ALL);
    for (int i = 0; i < MANY; i++)
        unguarded_end(calls[i]);
    page_guard_add(4, bytes_of(1, 2), true);
    assert_int_equal(allowed(1), NOTHING);
    assert_int_equal(allowed(2), NOTHING);
    page_guard_forget(bytes_of(0, 8));
}

/* What other processes may touch stays open until its owner ends that, however many expose it. */
static void exposed_memory_stays_open(void **state)
{
    enum { OWNER = 7, OTHER = 9, MANY = 2000 };
    (void)state;
    unguarded_expose(bytes_of(1, 1), OWNER);
    unguarded_expose(bytes_of(4, 1), OWNER);
    unguarded_expose(bytes_of(1, 1), OTHER);
    page_guard_add(3, bytes_of(0, 6), true);
    assert_int_equal(allowed(0), NOTHING);
    assert_int_equal(allowed(1), ALL);
    assert_int_equal(allowed(4), ALL);
    unguarded_conceal(OWNER, 100);
    page_guard_add(4, bytes_of(0, 6), true);
    assert_int_equal(allowed(1), ALL);
    assert_int_equal(allowed(4), NOTHING);
    unguarded_conceal(OTHER, 1);
    page_guard_add(5, bytes_of(0, 6), true);
    assert_int_equal(allowed(1), NOTHING);
    page_guard_forget(bytes_of(0, 8));
    for (int i = 0; i < MANY; i++)
        unguarded_expose(bytes_of(1, 1), OWNER);
    for (int i = 0; i < MANY; i++)
        unguarded_expose(bytes_of(3, 1), OTHER); /* there is no room: it stays open for good */
    unguarded_conceal(OWNER, MANY);
    unguarded_conceal(OTHER, MANY);
    page_guard_add(6, bytes_of(0, 6), true);
    assert_int_equal(allowed(3), ALL);
    page_guard_forget(bytes_of(0, 8));
    unguarded_remove(bytes_of(0, 8));
    page_guard_add(7, bytes_of(0, 6), true);
    assert_int_equal(allowed(3), NOTHING);
    page_guard_forget(bytes_of(0, 8));
}

/* Pages in which a registered block begins or ends hold what is not the device's business. */
static void ends_of_registered_blocks_stay_open(void **state)
{
    (void)state;
    const uint64_t start = (uintptr_t)memory;
    const struct range block = {start + 100, start + 3 * PAGE + 100};
    unguarded_registered(block);
    page_guard_add(8, block, true);
    assert_int_equal(allowed(0), ALL);
    assert_int_equal(allowed(1), NOTHING);
    assert_int_equal(allowed(2), NOTHING);
    assert_int_equal(allowed(3), ALL);
    page_guard_forget(block);
    unguarded_unregistered(block);
    page_guard_add(9, block, true);
    assert_int_equal(allowed(0), NOTHING);
    assert_int_equal(allowed(3), NOTHING);
    page_guard_forget(block);
}

/* Many ranges that may not be guarded: what lies between is not guarded either, and what lies
 * beside is. */
static void more_ranges_than_are_kept(void **state)
{
    (void)state;
    const uint64_t far = UINT64_C(1) << 44;
    for (uint64_t i = 0; i < 1000; i++)
        unguarded_add((struct range){far + i * 2 * PAGE, far + i * 2 * PAGE + PAGE});
    for (uint64_t i = 0; i < 1000; i++)
        assert_true(unguarded_has((struct range){far + i * 2 * PAGE, far + i * 2 * PAGE + PAGE}));
    assert_false(unguarded_has((struct range){far - PAGE, far}));
    page_guard_add(1, bytes_of(0, 1), true);
    assert_int_equal(allowed(0), NOTHING);
    page_guard_forget(bytes_of(0, 1));
    unguarded_remove((struct range){far, far + 2000 * PAGE});
    assert_false(unguarded_has((struct range){far, far + 2000 * PAGE}));
}

/* ---- Signals at any instruction ---- */

static unsigned signals;

static void on_step(int number)
{
    const struct range first = bytes_of(0, 1);
    (void)number;
    signals++;
    unguarded_has(first);
    page_guard_find(first.start, first, true);
}

#if defined(__x86_64__)
static void single_step(bool on)
{
    enum { TRAP_FLAG = 0x100 };
    const unsigned long long flags = __readeflags();
    __writeeflags(on ? flags | TRAP_FLAG : flags & ~(unsigned long long)TRAP_FLAG);
}
#else
/* A process cannot step by itself there. */
static void single_step(bool on)
{
    (void)on;
}
#endif

/* A handler that wants the tables does not wait for the thread that it interrupted, wherever that
 * thread was. A test that hangs ends by SIGALRM. */
static void signals_come_at_any_instruction(void **state)
{
    (void)state;
    const struct range bytes = bytes_of(4, 1);
#if defined(__SANITIZE_THREAD__) || !defined(__x86_64__)
    skip(); /* its run-time would be interrupted, too */
#endif
    unguarded_add(bytes);
    signal(SIGTRAP, on_step);
    alarm(20);
    single_step(true);
    const bool has = unguarded_has(bytes);
    const enum page_guard_found found = page_guard_find(bytes.start, bytes, true);
    single_step(false);
    alarm(0);
    signal(SIGTRAP, SIG_DFL);
    assert_true(has);
    assert_int_not_equal(found, PAGE_GUARD_GUARDED);
    assert_true(signals > 20);
    unguarded_remove(bytes);
    page_guard_add(1, bytes, true); /* nobody has kept a lock */
    assert_int_equal(allowed(4), NOTHING);
    page_guard_forget(bytes);
}

/* Bytes in a gap are nobody's, and pages in a gap stay open. */
static void gaps_are_not_guarded(void **state)
{
    (void)state;
    const uint64_t start = (uintptr_t)memory;
    const struct lmad rows = {
        .base = start, .bytes = 100, .span = 3 * 400 + 100, .dim_count = 1, .dims = {{400, 4}}};
    const struct lmad pages = {
        .base = start, .bytes = PAGE, .span = 7 * PAGE, .dim_count = 1, .dims = {{3 * PAGE, 3}}};
    const struct range gap = {start + 100, start + 400}, row = {start + 400, start + 404},
                       across = {start + 396, start + 404}, behind = {start + 1300, start + 1304};
    page_guard_add_strided(1, &rows, true);
    assert_int_equal(allowed(0), NOTHING);
    assert_int_equal(page_guard_find(gap.start, gap, true), PAGE_GUARD_OTHERS);
    assert_int_equal(page_guard_find(behind.start, behind, true), PAGE_GUARD_OTHERS);
    assert_int_equal(page_guard_find(row.start, row, false), PAGE_GUARD_GUARDED);
    assert_int_equal(page_guard_find(across.start, across, true), PAGE_GUARD_GUARDED);
    assert_false(page_guard_meets(1, gap));
    assert_true(page_guard_meets(1, across));
    page_guard_forget_all();
    assert_int_equal(allowed(0), ALL);

    assert_int_equal(page_guard_add_strided(2, &pages, false), PAGE_GUARD_WHOLE);
    for (size_t i = 0; i < 9; i++)
        assert_int_equal(allowed(i), i < 7 && i % 3 == 0 ? READS : ALL);
    page_guard_forget_all();
    for (size_t i = 0; i < 9; i++)
        assert_int_equal(allowed(i), ALL);
}

/* Who looks at an op's word may learn how far all ops have come. */
static void words_are_looked_at(void **state)
{
    (void)state;
    const uint64_t start = (uintptr_t)memory;
    const struct range word = {start + 8, start + 12}, beside = {start + 64, start + 68};
    page_guard_add(1, bytes_of(4, 2), true);
    page_guard_add_word(2, word, true);
    assert_int_equal(page_guard_find(word.start, word, false), PAGE_GUARD_WORD);
    assert_int_equal(page_guard_find(word.start, word, true), PAGE_GUARD_WORD);
    assert_int_equal(page_guard_find(beside.start, beside, false), PAGE_GUARD_OTHERS);
    page_guard_add(2, beside, true);
    assert_int_equal(page_guard_find(beside.start, beside, false), PAGE_GUARD_GUARDED);
    page_guard_forget_all();
    assert_int_equal(allowed(0), ALL);
    assert_int_equal(allowed(4), ALL);

    /* Where the word cannot be guarded nobody knows when the host looks. */
    const unsigned call = unguarded_begin(word);
    page_guard_add(3, bytes_of(4, 2), true);
    page_guard_add_word(4, word, true);
    page_guard_add(4, bytes_of(6, 2), true);
    assert_int_equal(allowed(4), ALL);
    assert_int_equal(allowed(6), ALL);
    unguarded_end(call);
    page_guard_add(5, bytes_of(6, 2), true);
    assert_int_equal(allowed(6), NOTHING);
    page_guard_forget_all();
}

/* However fast ops come, no more than a part of the time is spent on them, and each part of a
 * second has its share. */
static void the_time_is_limited(void **state)
{
    (void)state;
    enum { SPANS = 5 };
    const struct page_guard_limits few = {
        .bytes = 1 << 30, .microseconds = 5000, .stretches = 100000};
    const struct page_guard_limits many = {
        .bytes = 1 << 30, .microseconds = 1000000, .stretches = 100000};
    uint64_t changes[SPANS + 1];
    page_guard_start(few);
    for (int span = 0; span <= SPANS; span++) {
        struct timespec begin, now;
        changes[span] = page_guard_counts().changes;
        clock_gettime(CLOCK_MONOTONIC, &begin);
        do {
            page_guard_add(9, bytes_of(2, 3), true);
            page_guard_forget(bytes_of(2, 3));
            clock_gettime(CLOCK_MONOTONIC, &now);
        } while (now.tv_sec * 1000 + now.tv_nsec / 1000000 <
                 begin.tv_sec * 1000 + begin.tv_nsec / 1000000 + 60);
    }
    for (int span = 0; span < SPANS; span++)
        assert_true(changes[span + 1] > changes[span]);
    assert_true(page_guard_counts().skipped > 1000);
    page_guard_start(many);
    usleep(10000);
    page_guard_add(9, bytes_of(2, 3), true);
    assert_int_equal(allowed(2), NOTHING);
    page_guard_forget(bytes_of(2, 3));
}

/* Memory that is not there cannot be guarded, and that it was not is counted. */
static void what_the_kernel_refuses_is_counted(void **state)
{
    (void)state;
    char *gone = mmap(NULL, 4 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    const uint64_t start = (uintptr_t)gone, refused = page_guard_counts().refused;
    munmap(gone, 4 * PAGE);
    page_guard_add(2, (struct range){start, start + 4 * PAGE}, true);
    assert_int_equal(page_guard_counts().refused, refused + 1);
    page_guard_forget((struct range){start, start + 4 * PAGE});
}

static void a_forked_child_has_all_open(void **state)
{
    (void)state;
    page_guard_add(9, bytes_of(0, 3), true);
    const pid_t child = fork();
    if (child == 0) {
        page_guard_forked();
        memory[5] = 1;
        _exit(memory[PAGE + 5]);
    }
    int status = 1;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_int_equal(allowed(1), NOTHING);
    page_guard_forget(bytes_of(0, 3));
}

/* ---- The lock ---- */

static sem_t holding;

static bool is_over_slowly(void *user, uint64_t epoch)
{
    (void)user, (void)epoch;
    sem_post(&holding);
    usleep(400 * 1000);
    return false;
}

static void *hold_for_long(void *unused)
{
    page_guard_release(is_over_slowly, NULL);
    return unused;
}

/* As on a machine that has other work. */
static void a_slow_owner_is_waited_for(void **state)
{
    (void)state;
    pthread_t thread;
    const uint64_t address = bytes_of(1, 1).start;
    const struct range bytes = {address, address + 4};
    const struct page_guard_counts before = page_guard_counts();
    sem_init(&holding, 0, 0);
    page_guard_add(90, bytes_of(1, 1), true);
    assert_int_equal(pthread_create(&thread, NULL, hold_for_long, NULL), 0);
    sem_wait(&holding);
    assert_int_equal(page_guard_find(address, bytes, false), PAGE_GUARD_GUARDED);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(allowed(1), NOTHING);
    assert_int_equal(page_guard_counts().unchecked, before.unchecked);
    page_guard_forget(bytes_of(1, 1));
}

/* A handler that comes while its thread has the lock cannot ask. */
static bool is_over_with_fault(void *user, uint64_t epoch)
{
    const struct range *bytes = user;
    (void)epoch;
    assert_int_equal(page_guard_find(bytes->start, *bytes, false), PAGE_GUARD_RETRY);
    return false;
}

static void what_nobody_could_ask_about_is_counted(void **state)
{
    (void)state;
    const uint64_t address = bytes_of(1, 1).start;
    struct range bytes = {address, address + 4};
    const struct page_guard_counts before = page_guard_counts();
    page_guard_add(91, bytes_of(1, 1), true);
    page_guard_release(is_over_with_fault, &bytes);
    assert_int_equal(page_guard_counts().unchecked, before.unchecked + 1);
    page_guard_forget(bytes_of(1, 1));
}

static int start(void **state)
{
    (void)state;
    memory = mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    zero = memory == MAP_FAILED || pipe(ends) != 0 ? -1 : 0;
    char name[] = "/tmp/csan-zero-XXXXXX";
    zero = zero == 0 ? mkstemp(name) : -1;
    unlink(name);
    if (zero < 0 || ftruncate(zero, 1 << 30) != 0)
        return -1;
    page_guard_start(
        (struct page_guard_limits){.bytes = 1 << 30, .microseconds = 1000000, .stretches = 100000});
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(as_the_model_says),
        cmocka_unit_test(other_bytes_of_a_page_are_distinguished),
        cmocka_unit_test(much_memory_is_guarded_in_part),
        cmocka_unit_test(every_page_has_its_turn),
        cmocka_unit_test(lent_memory_stays_open),
        cmocka_unit_test(more_calls_than_can_be_kept),
        cmocka_unit_test(exposed_memory_stays_open),
        cmocka_unit_test(ends_of_registered_blocks_stay_open),
        cmocka_unit_test(more_ranges_than_are_kept),
        cmocka_unit_test(signals_come_at_any_instruction),
        cmocka_unit_test(gaps_are_not_guarded),
        cmocka_unit_test(words_are_looked_at),
        cmocka_unit_test(what_the_kernel_refuses_is_counted),
        cmocka_unit_test(the_time_is_limited),
        cmocka_unit_test(a_slow_owner_is_waited_for),
        cmocka_unit_test(what_nobody_could_ask_about_is_counted),
        cmocka_unit_test(a_forked_child_has_all_open),
    };
    return cmocka_run_group_tests_name("page_guard", tests, start, NULL);
}
