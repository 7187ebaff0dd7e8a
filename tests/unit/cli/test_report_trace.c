/* Where the moments of a recording are drawn in a trace: in their order, each process by itself. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "runtime/cli/timeline/other_trace.h"
#include "runtime/cli/timeline/report_trace.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LANES = 4, PROCESSES = 2, MOST = 40 };

static uint64_t random_state = 7;

static uint32_t random_below(uint32_t limit)
{
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((random_state >> 33) % limit);
}

/* Lane i is of process i % PROCESSES. */
static struct text drawn(struct moment *moments, size_t count, struct elapsed *elapsed,
                         size_t elapsed_count, const struct other_trace *other)
{
    struct surrounding_lane lanes[LANES] = {0};
    struct lane_group groups[PROCESSES] = {{.name = "rank 0"}, {.name = "rank 1"}};
    char name[] = "a lane";
    for (uint32_t i = 0; i < LANES; i++)
        lanes[i] = (struct surrounding_lane){.name = name, .group = i % PROCESSES};
    struct surroundings surroundings = {.whole = {.moments = moments, .count = count},
                                        .lanes = lanes,
                                        .lane_count = LANES,
                                        .elapsed = elapsed,
                                        .elapsed_count = elapsed_count,
                                        .groups = groups,
                                        .group_count = PROCESSES};
    struct text text = {0};
    report_trace_add(&text, NULL, &surroundings, &(struct trace_choice){.other = other});
    assert_false(text.cut);
    return text;
}

static struct text trace_of(struct moment *moments, size_t count, const struct other_trace *other)
{
    return drawn(moments, count, NULL, 0, other);
}

/* Tenths of a microsecond of each slice, in their order. */
static size_t starts_of(struct moment *moments, size_t count, const struct other_trace *other,
                        int64_t *starts)
{
    struct text text = trace_of(moments, count, other);
    size_t found = 0;
    static const char time[] = "\"ts\": ";
    for (const char *at = strstr(text.data, time); at; at = strstr(at, time)) {
        at += sizeof time - 1;
        const double ticks = strtod(at, NULL) * 10;
        starts[found++] = (int64_t)(ticks + (ticks < 0 ? -0.5 : 0.5));
    }
    text_free(&text);
    return found;
}

static struct moment moment_of(uint64_t at, int lane, uint64_t time)
{
    return (struct moment){.at = at,
                           .place = at,
                           .time = time,
                           .kind = RECORDED_RECORD,
                           .lane = lane,
                           .from_lane = NO_LANE};
}

/* The first two calls may come within the same tenth of a microsecond. */
static void two_at_the_first_moment_keep_their_order(void **state)
{
    (void)state;
    int64_t starts[3];
    struct moment moments[] = {moment_of(1, 0, 5000), moment_of(2, 2, 5000), moment_of(3, 0, 5000)};
    assert_int_equal(starts_of(moments, 3, NULL, starts), 3);
    for (int i = 0; i < 3; i++)
        assert_int_equal(starts[i], i);
}

static void two_processes_are_apart(void **state)
{
    (void)state;
    int64_t starts[2];
    struct moment moments[] = {moment_of(1, 0, 5000), moment_of(2, 1, 5000)};
    assert_int_equal(starts_of(moments, 2, NULL, starts), 2);
    assert_int_equal(starts[0], 0);
    assert_int_equal(starts[1], 0);
}

/* The other tool may have begun later: then csan's first moments are before its beginning. */
static void moments_of_a_process_ascend(void **state)
{
    (void)state;
    for (int round = 0; round < 3000; round++) {
        const struct other_trace other = {.base = (5000 + random_below(40)) * 100};
        const bool beside = random_below(2);
        struct moment moments[MOST];
        int64_t starts[MOST];
        const size_t count = 1 + random_below(MOST);
        for (size_t i = 0; i < count; i++)
            moments[i] = moment_of(i + 1, (int)random_below(LANES), 5000 + random_below(30));
        moments[0].time = 5000;
        assert_int_equal(starts_of(moments, count, beside ? &other : NULL, starts), count);
        const int64_t base = beside ? (int64_t)other.base / 100 : 5000;
        for (size_t i = 0; i < count; i++) {
            int64_t least = (int64_t)moments[i].time - base;
            for (size_t k = 0; k < i; k++)
                if (moments[k].lane % PROCESSES == moments[i].lane % PROCESSES &&
                    starts[k] + 1 > least)
                    least = starts[k] + 1;
            assert_int_equal(starts[i], least);
        }
    }
}

static size_t count_of(const char *text, const char *sought)
{
    size_t count = 0;
    for (const char *at = strstr(text, sought); at; at = strstr(at + 1, sought))
        count++;
    return count;
}

/* Lanes of one name have numbers, and those without a moment are left out. */
static void lanes_that_are_drawn_have_names_of_their_own(void **state)
{
    (void)state;
    struct moment moments[] = {moment_of(1, 0, 5000), moment_of(2, 2, 5001), moment_of(3, 1, 5002)};
    struct text text = trace_of(moments, 3, NULL);
    assert_int_equal(count_of(text.data, "\"thread_name\""), 3);
    assert_int_equal(count_of(text.data, "\"a lane\""), 2);
    assert_int_equal(count_of(text.data, "\"a lane (2)\""), 1);
    text_free(&text);
}

/* The device's time between two records begins with the first one's call. */
static void the_device_worked_between_two_records(void **state)
{
    (void)state;
    struct moment moments[] = {moment_of(1, 0, 5000), moment_of(2, 2, 5020), moment_of(3, 0, 5030)};
    struct elapsed elapsed[] = {{2, 3, 1234500}, {1, 9, 5}}; /* the second one's end is not drawn */
    moments[1].event = 7, moments[2].event = 8;
    struct text text = drawn(moments, 3, elapsed, 2, NULL);
    assert_int_equal(count_of(text.data, "\"ph\": \"b\""), 1);
    assert_non_null(strstr(text.data,
                           "{\"ph\": \"b\", \"pid\": 1, \"tid\": 2, \"name\": \"event 7 to "
                           "event 8, by the device's clock\", \"cat\": \"device\", "
                           "\"id\": 1, \"ts\": 2.0, \"args\": {\"milliseconds\": "
                           "1.234500}}"));
    assert_non_null(strstr(text.data, "\"ts\": 1236.5, \"args\""));
    text_free(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_at_the_first_moment_keep_their_order),
        cmocka_unit_test(two_processes_are_apart),
        cmocka_unit_test(moments_of_a_process_ascend),
        cmocka_unit_test(the_device_worked_between_two_records),
        cmocka_unit_test(lanes_that_are_drawn_have_names_of_their_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
