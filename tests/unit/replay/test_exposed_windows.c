/* Windows whose values one process reads and another one writes at the same time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "csan/replay/exposed_windows.h"

#include <stdlib.h>
#include <time.h>

static uint64_t random_state = 5;

static uint32_t random_below(uint32_t limit)
{
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((random_state >> 33) % limit);
}

static bool is_exposed(const struct exposed_window *items, size_t count, uint32_t process)
{
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < count; k++)
            if (items[i].process == process && items[i].reads && !items[k].reads &&
                items[i].window == items[k].window && items[k].process != process)
                return true;
    return false;
}

/* Against every pair. */
static void who_reads_what_another_one_writes(void **state)
{
    enum { PROCESSES = 5, MOST = 20 };
    (void)state;
    for (int round = 0; round < 20000; round++) {
        struct exposed_windows windows = {0};
        struct exposed_window items[MOST];
        bool exposed[PROCESSES] = {false};
        const size_t count = random_below(MOST + 1);
        const uint32_t kinds = 1 + random_below(6);
        for (size_t i = 0; i < count; i++) {
            items[i] = (struct exposed_window){random_below(kinds), random_below(PROCESSES),
                                               random_below(3) != 0};
            assert_true(exposed_windows_add(&windows, &items[i]));
        }
        exposed_windows_resolve(&windows, exposed);
        for (uint32_t process = 0; process < PROCESSES; process++)
            assert_int_equal(exposed[process], is_exposed(items, count, process));
        exposed_windows_clear(&windows);
    }
}

/* Every pair of these would take an hour. */
static void many_epochs_take_no_time(void **state)
{
    enum { PROCESSES = 64, EPOCHS = 1 << 20 };
    (void)state;
    struct exposed_windows windows = {0};
    bool exposed[PROCESSES] = {false};
    for (uint32_t i = 0; i < EPOCHS; i++)
        assert_true(exposed_windows_add(
            &windows, &(struct exposed_window){i / PROCESSES % 2, i % PROCESSES, i % 2 != 0}));
    const clock_t before = clock();
    exposed_windows_resolve(&windows, exposed);
    assert_true(clock() - before < 20 * CLOCKS_PER_SEC);
    for (uint32_t process = 0; process < PROCESSES; process++)
        assert_int_equal(exposed[process], process % 2);
    exposed_windows_clear(&windows);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_reads_what_another_one_writes),
        cmocka_unit_test(many_epochs_take_no_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
