/* What the epochs of a window order: the links that they make, by the calls of one rank. The random
 * test compares them with the standard's own words, for each target by itself. */
#include "runtime/mpi/epoch.h"
#include "runtime/mpi/follow.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { ID = 77, RANK = 1, SIZE = 3, LINKS = 512 };

static struct {
    char text[LINKS]; /* a letter for each link: L lock, U unlock, R receive, N unwanted, S send, W
                         writes, E reads */
    uint64_t shared[LINKS];
    size_t count;
} made;

void follow_link(int kind, uint64_t key, uint64_t number, uint64_t peers)
{
    (void)key;
    assert_true(made.count < LINKS - 1);
    made.shared[made.count] = peers;
    char letter = '?';
    if (kind == CSAN_LINK_LACK && key == CSAN_LACK_ONE_SIDED && number == ID)
        letter = peers == 1 ? 'W' : 'E';
    else if (kind == CSAN_LINK_LOCK)
        letter = 'L';
    else if (kind == CSAN_LINK_UNLOCK)
        letter = 'U';
    else if (kind == CSAN_LINK_RECEIVE)
        letter = 'R';
    else if (kind == CSAN_LINK_UNWANTED)
        letter = 'N';
    else if (kind == CSAN_LINK_SEND)
        letter = 'S';
    made.text[made.count++] = letter;
    made.text[made.count] = 0;
}

static struct epochs *fresh(bool shared)
{
    memset(&made, 0, sizeof made);
    struct epochs *epochs = epochs_create(ID, RANK, SIZE, shared);
    assert_non_null(epochs);
    return epochs;
}

static void is(struct epochs *epochs, const char *links)
{
    assert_string_equal(made.text, links);
    epochs_free(epochs);
}

static void section(struct epochs *epochs, int target, bool shared, bool check)
{
    epochs_locked(epochs, target, shared, check);
    epochs_unlock(epochs, target);
    epochs_unlocked(epochs, target);
}

/* ---- Locks ---- */

static void test_a_section_without_operations_orders_nothing(void **state)
{
    (void)state;
    struct epochs *epochs = fresh(false);
    section(epochs, 0, false, true);
    is(epochs, "");
}

static void test_a_lock_of_the_own_window_is_there_at_once(void **state)
{
    (void)state;
    struct epochs *epochs = fresh(false);
    section(epochs, RANK, false, true);
    is(epochs, "LU");
}

static void test_memory_that_ranks_share_needs_no_operation(void **state)
{
    (void)state;
    struct epochs *epochs = fresh(true);
    epochs_locked(epochs, 0, false, true);
    assert_string_equal(made.text, "L");
    epochs_unlock(epochs, 0);
    epochs_unlocked(epochs, 0);
    is(epochs, "LU");
}

static void test_nor_does_memory_that_the_program_has_a_pointer_to(void **state)
{
    (void)state;
    struct epochs *epochs = fresh(false);
    epochs_reachable(epochs, 2);
    section(epochs, 0, false, true);
    assert_string_equal(made.text, "");
    section(epochs, 2, false, true);
    is(epochs, "LU");
}

static void test_a_pointer_to_the_first_that_has_memory_may_be_of_any(void **state)
{
    (void)state;
    struct epochs *epochs = fresh(false);
    epochs_reachable(epochs, EPOCH_ALL);
    section(epochs, 0, false, true);
    section(epochs, 2, false, true);
    is(epochs, "LULU");
}

static void test_a_lock_that_nobody_checks_orders_nothing(void **state)
{
    (void)state;
    struct epochs *epochs = fresh(true);
    section(epochs, 0, false, false);
    is(epochs, "");
}

static void test_loads_and_stores_under_a_shared_lock_may_be_any(void **state)
{
    (void)state;
    struct epochs *epochs = fresh(true);
    section(epochs, 0, true, true);
    assert_string_equal(made.text, "LWEU");
    assert_int_equal(made.shared[0], 1);
    section(epochs, 0, true, false); /* said once */
    is(epochs, "LWEU");
}

static void test_windows_that_are_not_shared_say_nothing_of_that(void **state)
{
    (void)state;
    struct epochs *epochs = fresh(false);
    epochs_locked(epochs, EPOCH_ALL, true, true);
    epochs_unlock(epochs, EPOCH_ALL);
    epochs_unlocked(epochs, EPOCH_ALL);
    is(epochs, "LU");
}

/* ---- Post, start, complete ---- */

static void test_a_post_is_known_at_the_start_where_memory_is_shared(void **state)
{
    (void)state;
    const int target = 0;
    struct epochs *epochs = fresh(true);
    for (int i = 0; i < 2; i++) {
        epochs_start(epochs, &target, 1);
        epochs_started(epochs);
        epochs_complete(epochs);
        epochs_completed(epochs);
    }
    is(epochs, "RSRS");
}

static void test_else_behind_what_was_read(void **state)
{
    (void)state;
    const int target = 0;
    struct epochs *epochs = fresh(false);
    epochs_start(epochs, &target, 1);
    epochs_started(epochs);
    epochs_operation(epochs, 0, true, false);
    epochs_complete(epochs);
    epochs_completed(epochs);
    epochs_start(epochs, &target, 1);
    epochs_started(epochs);
    epochs_complete(epochs);
    epochs_completed(epochs);
    is(epochs, "SRSN");
}

/* ---- Random ---- */

enum act { LOCK, SHARE, UNCHECKED, PUT, GET, FLUSH, CAME, UNLOCK, ACTS };

static unsigned next(uint32_t *seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    return *seed >> 16;
}

/* What the section of one target must say, from its list of acts. */
static void expect_section(const enum act *acts, size_t count, bool at_once, bool reachable,
                           bool said[2], char *text)
{
    const bool shared = acts[0] == SHARE, checked = acts[0] != UNCHECKED;
    bool used = at_once, fetched = false, held = false;
    size_t at = strlen(text);
    for (size_t i = 0; i < count; i++) {
        const bool writes = (acts[i] == PUT || (i == 0 && reachable)) && shared;
        const bool reads = (acts[i] == GET || (i == 0 && reachable)) && shared;
        /* the lock, as early as it is certain */
        const bool certain = (i == 0 && at_once) || (acts[i] == FLUSH && used) ||
                             (acts[i] == CAME && fetched) || (acts[i] == UNLOCK && used);
        if (acts[i] == UNLOCK && used && checked)
            text[at++] = 'U';
        if (certain && checked && !held)
            text[at++] = 'L';
        held |= certain;
        if (writes && !said[0])
            text[at++] = 'W';
        if (reads && !said[1])
            text[at++] = 'E';
        said[0] |= writes;
        said[1] |= reads;
        used |= acts[i] == PUT || acts[i] == GET;
        fetched |= acts[i] == GET;
    }
    text[at] = 0;
}

static void perform(struct epochs *epochs, int target, enum act act)
{
    switch (act) {
    case LOCK:
    case SHARE:
    case UNCHECKED:
        epochs_locked(epochs, target, act == SHARE, act != UNCHECKED);
        break;
    case PUT:
    case GET:
        epochs_operation(epochs, target, act == GET, act == PUT);
        break;
    case FLUSH:
        epochs_flushed(epochs, target, false);
        break;
    case CAME:
        epochs_came(epochs, target);
        break;
    default:
        epochs_unlock(epochs, target);
        epochs_unlocked(epochs, target);
    }
}

static void test_random_sections_say_what_is_certain(void **state)
{
    (void)state;
    for (uint32_t round = 0; round < 20000; round++) {
        uint32_t seed = round;
        const bool shared = next(&seed) % 2, queried = next(&seed) % 2;
        struct epochs *epochs = fresh(shared);
        char expected[LINKS] = "";
        bool said[2] = {false, false};
        if (queried)
            epochs_reachable(epochs, 2);
        for (int i = 0; i < 4; i++) {
            const int target = (int)(next(&seed) % SIZE);
            const bool reachable = shared || (queried && target == 2);
            enum act acts[8];
            size_t count = 2 + next(&seed) % 6;
            for (size_t k = 0; k < count; k++) {
                acts[k] = k == 0           ? (enum act)(next(&seed) % 3)
                          : k == count - 1 ? UNLOCK
                                           : (enum act)(PUT + next(&seed) % 4);
                perform(epochs, target, acts[k]);
            }
            expect_section(acts, count, target == RANK || reachable, reachable, said, expected);
        }
        is(epochs, expected);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_section_without_operations_orders_nothing),
        cmocka_unit_test(test_a_lock_of_the_own_window_is_there_at_once),
        cmocka_unit_test(test_memory_that_ranks_share_needs_no_operation),
        cmocka_unit_test(test_nor_does_memory_that_the_program_has_a_pointer_to),
        cmocka_unit_test(test_a_pointer_to_the_first_that_has_memory_may_be_of_any),
        cmocka_unit_test(test_a_lock_that_nobody_checks_orders_nothing),
        cmocka_unit_test(test_loads_and_stores_under_a_shared_lock_may_be_any),
        cmocka_unit_test(test_windows_that_are_not_shared_say_nothing_of_that),
        cmocka_unit_test(test_a_post_is_known_at_the_start_where_memory_is_shared),
        cmocka_unit_test(test_else_behind_what_was_read),
        cmocka_unit_test(test_random_sections_say_what_is_certain)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
