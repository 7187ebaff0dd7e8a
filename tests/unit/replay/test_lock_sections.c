/* Which sections of locks come before which: against a look at all pairs, and at chains of pairs.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "csan/replay/lock_sections.h"

#include <csan/csan.h>

#include <string.h>

enum { PROCESSES = 4, SECTIONS = 24, ROUNDS = 4000 };

static uint64_t random_state = 11;

static uint32_t random_below(uint32_t limit)
{
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((random_state >> 33) % limit);
}

static void take(struct lock_sections *sections, size_t process, int kind, uint64_t key,
                 bool shared, uint64_t time, uint64_t machine)
{
    struct recorded recorded = {.kind = RECORDED_LINK};
    recorded.value[FIELD_FLAGS] = (uint64_t)kind;
    recorded.value[FIELD_HANDLE] = key;
    recorded.value[FIELD_FIRST] = machine;
    recorded.value[FIELD_LAST] = shared;
    recorded.value[FIELD_NANOSECONDS] = time;
    assert_true(lock_sections_take(sections, process, &recorded));
}

static void the_two_ends_of_a_section_meet_in_any_order(void **state)
{
    (void)state;
    bool uncertain[2] = {false, false};
    struct lock_sections sections;
    assert_true(lock_sections_init(&sections, 2));
    take(&sections, 0, CSAN_LINK_LOCK, 1, false, 10, 7);
    take(&sections, 1, CSAN_LINK_UNLOCK, 1, false, 12, 7); /* it waits */
    take(&sections, 0, CSAN_LINK_UNLOCK, 1, false, 20, 7);
    take(&sections, 1, CSAN_LINK_LOCK, 1, false, 22, 7);
    take(&sections, 0, CSAN_LINK_LOCK, 2, false, 30, 7); /* another one */
    assert_true(lock_sections_resolve(&sections, uncertain));
    assert_false(uncertain[0] || uncertain[1]);
    const struct lock_section *first = lock_sections_of_lock(&sections, 0, 0);
    const struct lock_section *second = lock_sections_of_lock(&sections, 1, 0);
    assert_ptr_equal(first, lock_sections_of_unlock(&sections, 0, 0));
    assert_ptr_equal(second, lock_sections_of_unlock(&sections, 1, 0));
    assert_int_equal(first->count, 0);
    assert_int_equal(first->uses, 2); /* for both ends of the second */
    assert_int_equal(second->count, 1);
    assert_int_equal(sections.before[second->first].process, 0);
    assert_int_equal(sections.before[second->first].number, 0);
    lock_sections_clear(&sections);
}

static bool uncertain_if(uint64_t second_release, uint64_t second_machine, bool shared)
{
    bool uncertain[2] = {false, false};
    struct lock_sections sections;
    assert_true(lock_sections_init(&sections, 2));
    take(&sections, 0, CSAN_LINK_UNLOCK, 1, shared, 10, 7);
    take(&sections, 1, CSAN_LINK_UNLOCK, 1, shared, second_release, second_machine);
    take(&sections, 0, CSAN_LINK_LOCK, 1, shared, 20, 7);
    take(&sections, 1, CSAN_LINK_LOCK, 1, shared, second_release + 10, second_machine);
    assert_true(lock_sections_resolve(&sections, uncertain));
    assert_int_equal(uncertain[0], uncertain[1]);
    lock_sections_clear(&sections);
    return uncertain[0];
}

static void what_comes_first_is_not_known_where_both_may(void **state)
{
    (void)state;
    assert_true(uncertain_if(15, 7, false));
    assert_false(uncertain_if(15, 7, true));
    assert_false(uncertain_if(20, 7, false));
    assert_true(uncertain_if(20, 8, false)); /* another machine's clock */
}

/* ---- Against all pairs ---- */

static struct section {
    size_t process, number;      /* number: of the process's */
    uint64_t begin, end;         /* when it had the lock */
    uint64_t acquired, released; /* and what it knows of that */
    bool shared;
} made[SECTIONS];
static bool before[SECTIONS][SECTIONS];

static bool conflict(int one, int other)
{
    return one != other && !(made[one].shared && made[other].shared);
}

static bool may_come_before(int one, int other)
{
    return made[one].released < made[other].acquired;
}

/* What the process knows: it has the lock while it says so; or it says both behind each other, the
 * one before the end and the other behind it. */
static void section_know(struct section *section)
{
    const uint32_t length = (uint32_t)(section->end - section->begin);
    if (random_below(2)) {
        section->acquired = section->begin + random_below(length / 2);
        section->released = section->end - random_below(length / 2);
    } else {
        section->released = section->end - random_below(length + (random_below(3) ? 1 : 15));
        section->acquired = section->end + 1 + random_below(random_below(3) ? 4 : 15);
    }
}

static void section_record(struct lock_sections *sections, const struct section *section)
{
    const bool lazy = section->released < section->acquired;
    for (int i = 0; i < 2; i++)
        if (lazy == (i == 0))
            take(sections, section->process, CSAN_LINK_UNLOCK, 1, section->shared,
                 section->released, 7);
        else
            take(sections, section->process, CSAN_LINK_LOCK, 1, section->shared, section->acquired,
                 7);
}

static void sections_make(struct lock_sections *sections)
{
    uint64_t time = 100, exclusive_end = 100, counts[PROCESSES] = {0};
    for (int i = 0; i < SECTIONS; i++) {
        struct section *section = &made[i];
        section->process = random_below(PROCESSES);
        section->number = counts[section->process]++;
        section->shared = random_below(2);
        section->begin = (section->shared ? exclusive_end : time) + 1 + random_below(15);
        section->end = section->begin + 4 + random_below(10);
        time = section->end > time ? section->end : time;
        exclusive_end = section->shared ? exclusive_end : section->end;
        section_know(section);
        section_record(sections, section);
    }
}

static int section_of(const struct lock_source *source)
{
    for (int i = 0; i < SECTIONS; i++)
        if (made[i].process == source->process && made[i].number == source->number)
            return i;
    fail();
    return 0;
}

static void before_make(const struct lock_sections *sections)
{
    memset(before, 0, sizeof before);
    for (int i = 0; i < SECTIONS; i++) {
        const struct lock_section *section =
            lock_sections_of_unlock(sections, made[i].process, made[i].number);
        for (size_t k = 0; k < section->count; k++)
            before[section_of(&sections->before[section->first + k])][i] = true;
    }
    for (int middle = 0; middle < SECTIONS; middle++)
        for (int i = 0; i < SECTIONS; i++)
            for (int k = 0; k < SECTIONS; k++)
                before[i][k] |= before[i][middle] && before[middle][k];
}

static void the_order_is_that_of_all_pairs(void **state)
{
    (void)state;
    size_t known = 0, unknown = 0;
    for (int round = 0; round < ROUNDS; round++) {
        bool uncertain[PROCESSES] = {false}, certain = true, said = false;
        struct lock_sections sections;
        assert_true(lock_sections_init(&sections, PROCESSES));
        sections_make(&sections);
        assert_true(lock_sections_resolve(&sections, uncertain));
        before_make(&sections);
        for (int i = 0; i < PROCESSES; i++)
            said |= uncertain[i];
        for (int i = 0; i < SECTIONS; i++)
            for (int k = 0; k < SECTIONS; k++) {
                if (conflict(i, k))
                    certain &= !may_come_before(i, k) || !may_come_before(k, i);
                if (!said && conflict(i, k))
                    assert_int_equal(before[i][k], made[i].end < made[k].begin);
            }
        assert_false(said && certain);
        *(said ? &unknown : &known) += 1;
        lock_sections_clear(&sections);
    }
    assert_true(known > 100);
    assert_true(unknown > 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_two_ends_of_a_section_meet_in_any_order),
        cmocka_unit_test(what_comes_first_is_not_known_where_both_may),
        cmocka_unit_test(the_order_is_that_of_all_pairs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
