/* How long csan's thread naps between two looks for deferred work. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "csan/base/now.h"
#include "runtime/hook/session/nap.h"

#include <pthread.h>

static struct {
    uint64_t all, within;
} counts;

static int begin(void **state)
{
    (void)state;
    counts.all = counts.within = 0;
    return 0;
}

/* So many pieces more, of which the program processed so many itself. */
static void works(struct nap *nap, uint64_t pieces, uint64_t own, bool large)
{
    counts.all += pieces;
    counts.within += own;
    nap_worked(nap, counts.all, counts.within, large);
}

static void naps_get_longer_where_the_program_processes_little(void **state)
{
    (void)state;
    struct nap nap = {0};
    assert_int_equal(nap_microseconds(&nap), NAP_LEAST_US);
    for (uint32_t expected = 2 * NAP_LEAST_US; expected <= NAP_MOST_US; expected *= 2) {
        works(&nap, NAP_PIECES, NAP_PIECES / 32, false);
        assert_int_equal(nap_microseconds(&nap), expected);
    }
    works(&nap, NAP_PIECES, 0, false);
    assert_int_equal(nap_microseconds(&nap), NAP_MOST_US);
}

static void naps_get_shorter_where_it_processes_much(void **state)
{
    (void)state;
    struct nap nap = {.microseconds = NAP_MOST_US};
    for (uint32_t expected = NAP_MOST_US / 2; expected >= NAP_LEAST_US; expected /= 2) {
        works(&nap, NAP_PIECES, NAP_PIECES / 4, false);
        assert_int_equal(nap_microseconds(&nap), expected);
    }
    works(&nap, NAP_PIECES, NAP_PIECES, false);
    assert_int_equal(nap_microseconds(&nap), NAP_LEAST_US);
}

static void a_tenth_changes_nothing(void **state)
{
    (void)state;
    struct nap nap = {.microseconds = 4 * NAP_LEAST_US};
    for (int i = 0; i < 10; i++)
        works(&nap, 10 * NAP_PIECES, NAP_PIECES, false);
    assert_int_equal(nap_microseconds(&nap), 4 * NAP_LEAST_US);
}

/* One wait of the host in each step is not what naps are made short for. */
static void few_pieces_say_nothing_yet(void **state)
{
    (void)state;
    struct nap nap = {.microseconds = 4 * NAP_LEAST_US};
    for (int i = 0; i < NAP_PIECES - 1; i++) {
        works(&nap, 1, i == 0, false);
        assert_int_equal(nap_microseconds(&nap), 4 * NAP_LEAST_US);
    }
    works(&nap, 1, 0, false);
    assert_int_equal(nap_microseconds(&nap), 8 * NAP_LEAST_US);
}

static void a_large_batch_makes_them_shorter_at_once(void **state)
{
    (void)state;
    struct nap nap = {.microseconds = NAP_MOST_US};
    works(&nap, 1, 0, true);
    assert_int_equal(nap_microseconds(&nap), NAP_MOST_US / 2);
}

static void without_work_it_soon_sleeps(void **state)
{
    (void)state;
    struct nap nap = {0};
    for (int round = 0; round < 3; round++) {
        uint64_t sum = 0;
        for (int i = 0; i < NAP_IDLE_MOST; i++) {
            assert_true(nap_without_work(&nap));
            sum += nap_microseconds(&nap);
        }
        assert_false(nap_without_work(&nap));
        assert_in_range(sum, 1000, 5 * NAP_MOST_US);
        nap_woken(&nap);
        assert_int_equal(nap_microseconds(&nap), NAP_LEAST_US);
    }
}

static void *take(void *nap)
{
    for (int i = 0; i < 2000; i++)
        nap_take(nap);
    return NULL;
}

/* Two thousand of the longest take two seconds, unless somebody ends them. */
static void a_nap_is_ended_early(void **state)
{
    (void)state;
    struct nap nap = {.microseconds = NAP_MOST_US};
    pthread_t thread;
    const int64_t before = now_ms();
    assert_int_equal(pthread_create(&thread, NULL, take, &nap), 0);
    while (pthread_tryjoin_np(thread, NULL) != 0)
        nap_end(&nap);
    assert_true(now_ms() - before < 1500);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(naps_get_longer_where_the_program_processes_little, begin),
        cmocka_unit_test_setup(naps_get_shorter_where_it_processes_much, begin),
        cmocka_unit_test_setup(a_tenth_changes_nothing, begin),
        cmocka_unit_test_setup(few_pieces_say_nothing_yet, begin),
        cmocka_unit_test_setup(a_large_batch_makes_them_shorter_at_once, begin),
        cmocka_unit_test_setup(without_work_it_soon_sleeps, begin),
        cmocka_unit_test_setup(a_nap_is_ended_early, begin),
    };
    return cmocka_run_group_tests_name("nap", tests, NULL, NULL);
}
