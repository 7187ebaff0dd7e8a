/* Races that kernels may avoid through words of memory: by example, and random programs against a
 * search of every path. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "csan/detector/ad_hoc.h"
#include "tests/unit/detector/test_detect.h"

enum { FLAG = BASE + 2048, OTHER_FLAG = BASE + 2056, BOTH = CSAN_ACQUIRES | CSAN_RELEASES };

/* An op that accesses eight bytes of data, and orders itself through a word. */
static void orders(struct world w, csan_lane lane, const char *name, int kind, uint64_t word,
                   uint8_t order)
{
    const struct csan_access accesses[] = {
        {.base = BASE, .bytes = 8, .kind = (uint8_t)kind},
        {.base = word, .bytes = 4, .kind = CSAN_ATOMIC, .element_bytes = 4, .order = order}};
    csan_op(w.context, lane, site(w.context, name), CSAN_LEVEL_RANGES, accesses, 2);
}

static void expect_race(struct world w, int possible, uint64_t word)
{
    assert_int_equal(found_count, 1);
    assert_int_equal(found[0].possible, possible);
    assert_int_equal(found[0].order->cause == CSAN_CAUSE_AD_HOC, possible);
    assert_int_equal(found[0].order->word, word);
    assert_int_equal(found[0].order->word_bytes, possible ? 4 : 0);
    csan_context_destroy(w.context);
}

static void a_release_and_an_acquire(void **state)
{
    (void)state;
    struct world w = world_create(NULL);
    orders(w, w.a, "writer", CSAN_WRITE, FLAG, CSAN_RELEASES);
    orders(w, w.b, "reader", CSAN_READ, FLAG, CSAN_ACQUIRES);
    expect_race(w, 1, FLAG);
}

/* Whatever the access to the word is, and though the op touches nothing that it did not before. */
static void an_op_that_comes_again(void **state)
{
    (void)state;
    struct world w = world_create(NULL);
    for (int i = 0; i < 3; i++) {
        const struct csan_access accesses[] = {
            {.base = BASE, .bytes = 8, .kind = CSAN_WRITE},
            {.base = FLAG, .bytes = 4, .kind = CSAN_READ, .order = CSAN_RELEASES}};
        csan_op(w.context, w.a, site(w.context, "writer"), CSAN_LEVEL_RANGES, accesses, 2);
    }
    const struct csan_access accesses[] = {
        {.base = BASE, .bytes = 8, .kind = CSAN_READ},
        {.base = FLAG, .bytes = 4, .kind = CSAN_READ, .order = CSAN_ACQUIRES}};
    csan_op(w.context, w.b, site(w.context, "reader"), CSAN_LEVEL_RANGES, accesses, 2);
    expect_race(w, 1, FLAG);
}

static void two_releases(void **state)
{
    (void)state;
    struct world w = world_create(NULL);
    orders(w, w.a, "writer", CSAN_WRITE, FLAG, CSAN_RELEASES);
    orders(w, w.b, "reader", CSAN_READ, FLAG, CSAN_RELEASES);
    expect_race(w, 0, 0);
}

static void two_words(void **state)
{
    (void)state;
    struct world w = world_create(NULL);
    orders(w, w.a, "writer", CSAN_WRITE, FLAG, BOTH);
    orders(w, w.b, "reader", CSAN_READ, OTHER_FLAG, BOTH);
    expect_race(w, 0, 0);
}

static void no_pattern(void **state)
{
    (void)state;
    struct world w = world_create(NULL);
    orders(w, w.a, "writer", CSAN_WRITE, FLAG, 0);
    orders(w, w.b, "reader", CSAN_READ, FLAG, 0);
    expect_race(w, 0, 0);
}

/* The flag is raised by an op that is enqueued later. */
static void an_acquire_that_nobody_released(void **state)
{
    (void)state;
    struct world w = world_create(NULL);
    writes(w.context, w.a, BASE, 8);
    orders(w, w.b, "reader", CSAN_READ, FLAG, CSAN_ACQUIRES);
    expect_race(w, 1, FLAG);
}

/* It was released before, and the lane knows that. */
static void an_acquire_of_the_past(void **state)
{
    (void)state;
    struct world w = world_create(NULL);
    csan_event *event = csan_event_create(w.context);
    csan_lane c = third_lane(&w);
    orders(w, c, "first", CSAN_READ, FLAG, CSAN_RELEASES);
    csan_event_record(w.context, event, c);
    csan_event_wait(w.context, event, w.b);
    csan_event_wait(w.context, event, w.a);
    writes(w.context, w.a, BASE, 8);
    orders(w, w.b, "reader", CSAN_READ, FLAG, CSAN_ACQUIRES);
    csan_event_destroy(w.context, event);
    expect_race(w, 0, 0);
}

/* Nothing is lost but words, and no memory grows. */
static void more_words_than_are_kept(void **state)
{
    (void)state;
    struct world w = world_create(NULL);
    enum { WORDS = 3 * AD_HOC_WORDS_OF_OP };
    struct csan_access accesses[WORDS];
    for (int i = 0; i < 4 * AD_HOC_WORDS; i++) {
        for (int k = 0; k < WORDS; k++)
            accesses[k] = (struct csan_access){.base = FLAG + 64 + 8 * (uint64_t)((i + k) % 200),
                                               .bytes = 4,
                                               .kind = CSAN_ATOMIC,
                                               .element_bytes = 4,
                                               .order = BOTH};
        csan_op(w.context, i % 2 ? w.a : w.b, site(w.context, "words"), CSAN_LEVEL_RANGES, accesses,
                WORDS);
    }
    assert_int_equal(found_count, 0);
    writes(w.context, w.a, BASE, 8);
    reads(w.context, w.b, BASE, 8);
    expect_race(w, 0, 0);
}

/* ---- random programs */

enum { LANES = 4, EVENTS = 3, WORDS = 3, CELLS = 4, OPS = 24, PROGRAMS = 20000 };

static uint64_t random_state = 11;

static uint32_t random_below(uint32_t limit)
{
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((random_state >> 33) % limit);
}

/* Sets of ops are bits. */
struct program {
    struct world w;
    csan_lane lanes[LANES];
    csan_event *events[EVENTS];
    uint64_t known[LANES], recorded[EVENTS]; /* the ops before */
    uint64_t before[OPS + 1];                /* the ops that are ordered before the op */
    uint8_t order[OPS + 1][WORDS];
    uint64_t waits_for[OPS + 1]; /* bits of ops whose release it may have waited for */
    bool unreleased[OPS + 1];
    int lane[OPS + 1], count;
};

/* Edges both ways between the newest op and the ones that it is not ordered after. */
static void relate(struct program *p, int now)
{
    for (int word = 0; word < WORDS; word++) {
        bool released = false;
        for (int old = 1; old < now; old++) {
            const bool ordered = p->before[now] >> old & 1;
            const bool follows =
                p->order[old][word] & CSAN_RELEASES && p->order[now][word] & CSAN_ACQUIRES;
            const bool is_followed =
                p->order[now][word] & CSAN_RELEASES && p->order[old][word] & CSAN_ACQUIRES;
            released |= (p->order[old][word] & CSAN_RELEASES) != 0;
            if (follows && !ordered)
                p->waits_for[now] |= 1ull << old;
            if (is_followed && !ordered)
                p->waits_for[old] |= 1ull << now;
        }
        p->unreleased[now] |= p->order[now][word] == CSAN_ACQUIRES && !released;
    }
}

static void random_op(struct program *p)
{
    char name[16];
    struct csan_access accesses[1 + WORDS] = {{.base = BASE + 8 * random_below(CELLS), .bytes = 8}};
    const int now = ++p->count, lane = (int)random_below(LANES);
    size_t count = 1;
    accesses[0].kind = random_below(2) ? CSAN_READ : CSAN_WRITE;
    for (uint64_t word = 0; word < WORDS; word++) {
        p->order[now][word] = random_below(4) ? 0 : (uint8_t)(1 + random_below(3));
        if (p->order[now][word])
            accesses[count++] = (struct csan_access){.base = FLAG + 8 * word,
                                                     .bytes = 4,
                                                     .kind = CSAN_ATOMIC,
                                                     .element_bytes = 4,
                                                     .order = p->order[now][word]};
    }
    p->lane[now] = lane;
    p->before[now] = p->known[lane];
    p->known[lane] |= 1ull << now;
    relate(p, now);
    snprintf(name, sizeof name, "op %d", now);
    csan_op(p->w.context, p->lanes[lane], site(p->w.context, name), CSAN_LEVEL_RANGES, accesses,
            count);
}

static void random_step(struct program *p)
{
    const uint32_t event = random_below(EVENTS), lane = random_below(LANES);
    switch (random_below(4)) {
    case 0:
        csan_event_record(p->w.context, p->events[event], p->lanes[lane]);
        p->recorded[event] = p->known[lane];
        break;
    case 1:
        csan_event_wait(p->w.context, p->events[event], p->lanes[lane]);
        p->known[lane] |= p->recorded[event];
        break;
    default:
        random_op(p);
    }
}

/* All that may be before the op, by every path over ops that came up to `newest`. */
static bool may_be_before(const struct program *p, int earlier, int current, int newest)
{
    uint64_t reached = p->before[current] | 1ull << current, last = 0;
    const uint64_t enqueued = (2ull << newest) - 1;
    while (reached != last) {
        last = reached;
        for (int op = 1; op <= newest; op++)
            if (reached >> op & 1)
                reached |= (p->before[op] | p->waits_for[op]) & enqueued;
    }
    return reached >> earlier & 1;
}

static bool is_possible(const struct program *p, int earlier, int current)
{
    if (p->unreleased[current] || may_be_before(p, earlier, current, current))
        return true;
    for (int op = 1; op <= earlier; op++)
        if (p->waits_for[op] >> current & 1)
            return true;
    return false;
}

static void check_races(const struct program *p, int *counts)
{
    for (size_t i = 0; i < found_count; i++) {
        int current, earlier;
        assert_int_equal(sscanf(found[i].current.name, "op %d", &current), 1);
        assert_int_equal(sscanf(found[i].previous.name, "op %d", &earlier), 1);
        assert_int_equal(found[i].possible, is_possible(p, earlier, current));
        counts[found[i].possible]++;
    }
}

static void random_programs(void **state)
{
    (void)state;
    int counts[2] = {0};
    for (int i = 0; i < PROGRAMS; i++) {
        struct program p = {.w = world_create(NULL)};
        const int steps = 4 + (int)random_below(OPS - 4);
        for (int k = 0; k < LANES; k++)
            p.lanes[k] = csan_lane_create(p.w.context, 0x100 + (uint64_t)k, "lane");
        for (int k = 0; k < EVENTS; k++)
            p.events[k] = csan_event_create(p.w.context);
        for (int k = 0; k < steps; k++)
            random_step(&p);
        check_races(&p, counts);
        for (int k = 0; k < EVENTS; k++)
            csan_event_destroy(p.w.context, p.events[k]);
        csan_context_destroy(p.w.context);
    }
    assert_true(counts[0] > PROGRAMS / 10 && counts[1] > PROGRAMS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_release_and_an_acquire),
        cmocka_unit_test(an_op_that_comes_again),
        cmocka_unit_test(two_releases),
        cmocka_unit_test(two_words),
        cmocka_unit_test(no_pattern),
        cmocka_unit_test(an_acquire_that_nobody_released),
        cmocka_unit_test(an_acquire_of_the_past),
        cmocka_unit_test(more_words_than_are_kept),
        cmocka_unit_test(random_programs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
