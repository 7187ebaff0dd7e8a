// verdict: none
// explore: 66
// link: -lcmocka
// output: -
// own-errors: yes
//
// The same unit test as unit_test_assert.cu, as a cmocka suite.
//
//     nvcc -g unit_test_cmocka.cu -I<csan>/include -L<csan>/lib -lcsan -Xlinker -rpath=<csan>/lib \
//         -lcmocka
//     CSAN=1 ./a.out

#include <csetjmp>
#include <cstdarg>
#include <cstddef>
#include <cstdint>
extern "C" {
#include <cmocka.h>
}
#include <csan/csan.h>
#include "pipeline.h"

static int set_up(void **state)
{
    static pipeline p;
    p = pipeline_create(4096);
    *state = &p;
    return 0;
}

static int tear_down(void **state)
{
    pipeline_destroy((pipeline *)*state);
    csan_races_clear();
    return 0;
}

static void pipeline_has_no_race(void **state)
{
    uint64_t mark = csan_race_mark();
    pipeline_run((pipeline *)*state, true);
    assert_int_equal(csan_races_since(mark, NULL, 0), 0);
}

static void missing_wait_is_found(void **state)
{
    if (!csan_enabled())
        skip();
    pipeline *p = (pipeline *)*state;
    uint64_t mark = csan_race_mark();
    pipeline_run(p, false);
    struct csan_race race;
    assert_int_equal(csan_races_since(mark, &race, 1), 1);
    assert_int_equal(race.kind, CSAN_RACE_DATA);
    assert_int_equal(race.allocation, (uintptr_t)p->b);
    assert_int_equal(race.bytes, p->n * sizeof(float));
    print_message("found: %s of %s in %s races with %s of %s in %s\n", race.current.name,
                  race.current.arguments, race.current.lane, race.previous.name,
                  race.previous.arguments, race.previous.lane);
}

int main()
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(pipeline_has_no_race, set_up, tear_down),
        cmocka_unit_test_setup_teardown(missing_wait_is_found, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
