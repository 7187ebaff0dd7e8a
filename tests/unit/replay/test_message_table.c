/* Messages and collective calls that wait while recordings are replayed together. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "csan/replay/message_table.h"

struct world {
    csan_context *context;
    csan_lane sender, receiver;
    struct message_table *table;
};

static size_t races;
static void race_found(void *user, const struct csan_race *race)
{
    (void)user, (void)race;
    races++;
}

static struct world world_create(void)
{
    char message[256];
    struct world world = {
        .context = csan_context_create("dedup=0", race_found, NULL, message, sizeof message)};
    assert_non_null(world.context);
    world.sender = csan_lane_create(world.context, 1, "sender");
    world.receiver = csan_lane_create(world.context, 2, "receiver");
    world.table = message_table_create(world.context);
    assert_non_null(world.table);
    races = 0;
    return world;
}

static void world_end(struct world *world)
{
    message_table_destroy(world->table);
    csan_context_destroy(world->context);
}

static void write(const struct world *world, csan_lane lane, uint64_t base)
{
    const struct csan_access access = {.base = base, .bytes = 4, .kind = CSAN_WRITE};
    csan_op(world->context, lane, 0, CSAN_LEVEL_RANGES, &access, 1);
}

static csan_snapshot *now(const struct world *world)
{
    return csan_snapshot_take(world->context, world->sender);
}

static void a_message_is_received_once(void **state)
{
    (void)state;
    struct world world = world_create();
    write(&world, world.sender, 4096);
    assert_int_equal(message_table_count(world.table, 7, 1), 0);
    assert_true(message_table_send(world.table, 7, 1, 1, now(&world)));
    assert_false(message_table_send(world.table, 7, 1, 1, now(&world)));
    assert_int_equal(message_table_count(world.table, 7, 1), 1);
    assert_int_equal(message_table_count(world.table, 7, 2), 0);
    assert_int_equal(message_table_count(world.table, 8, 1), 0);
    message_table_receive(world.table, 7, 1, 1, world.receiver);
    assert_int_equal(message_table_count(world.table, 7, 1), 0);
    assert_int_equal(message_table_waiting(world.table), 0);
    write(&world, world.receiver, 4096);
    assert_int_equal(races, 0);
    world_end(&world);
}

static void a_channel_numbers_its_messages(void **state)
{
    (void)state;
    struct world world = world_create();
    write(&world, world.sender, 4096);
    assert_true(message_table_send_next(world.table, 7, now(&world)));
    assert_true(message_table_send_next(world.table, 8, now(&world)));
    write(&world, world.sender, 8192);
    assert_true(message_table_send_next(world.table, 7, now(&world)));
    assert_int_equal(message_table_count(world.table, 7, 2), 1);
    assert_int_equal(message_table_count(world.table, 8, 2), 0);
    message_table_receive(world.table, 7, 1, 1, world.receiver);
    write(&world, world.receiver, 4096);
    assert_int_equal(races, 0);
    write(&world, world.receiver, 8192); /* comes before the second message only */
    assert_int_equal(races, 1);
    assert_int_equal(message_table_waiting(world.table), 2);
    world_end(&world);
}

static void a_message_that_is_looked_at_stays(void **state)
{
    (void)state;
    struct world world = world_create();
    write(&world, world.sender, 4096);
    assert_true(message_table_send_next(world.table, 7, now(&world)));
    message_table_look(world.table, 7, 1, world.receiver);
    message_table_look(world.table, 7, 2, world.receiver);
    write(&world, world.receiver, 4096);
    assert_int_equal(races, 0);
    assert_int_equal(message_table_count(world.table, 7, 1), 1);
    world_end(&world);
}

static void a_call_is_over_with_its_last(void **state)
{
    (void)state;
    struct world world = world_create();
    for (uint64_t i = 0; i < 5; i++) {
        write(&world, world.sender, 4096 + 64 * i);
        assert_true(message_table_send(world.table, 9, 0, 2, now(&world)));
    }
    assert_int_equal(message_table_count(world.table, 9, 0), 5);
    message_table_receive(world.table, 9, 0, 0, world.receiver); /* as those that entered said */
    assert_int_equal(message_table_count(world.table, 9, 0), 5);
    for (uint64_t i = 0; i < 5; i++)
        write(&world, world.receiver, 4096 + 64 * i);
    assert_int_equal(races, 0);
    message_table_receive(world.table, 9, 0, 0, world.receiver);
    assert_int_equal(message_table_waiting(world.table), 0);
    message_table_receive(world.table, 9, 0, 1, world.receiver); /* is not there: nothing */
    world_end(&world);
}

static void who_leaves_may_say_how_many_do(void **state)
{
    (void)state;
    struct world world = world_create();
    assert_true(message_table_send(world.table, 9, 0, 0, now(&world)));
    message_table_receive(world.table, 9, 0, 3, world.receiver);
    message_table_receive(world.table, 9, 0, 3, world.receiver);
    assert_int_equal(message_table_waiting(world.table), 1);
    message_table_receive(world.table, 9, 0, 3, world.receiver);
    assert_int_equal(message_table_waiting(world.table), 0);
    world_end(&world);
}

/* A stream goes on while it waits; what it does is judged later. */
static void a_lane_awaits_what_is_still_to_come(void **state)
{
    (void)state;
    struct world world = world_create();
    message_table_await(world.table, 9, 0, 2, 1, world.receiver);
    assert_int_equal(message_table_awaiting(world.table), 1);
    write(&world, world.receiver, 4096);
    write(&world, world.receiver, 8192);
    assert_int_equal(races, 0);
    write(&world, world.sender, 4096);
    assert_true(message_table_send(world.table, 9, 0, 1, now(&world)));
    assert_int_equal(message_table_awaiting(world.table), 1);
    assert_true(message_table_send(world.table, 9, 0, 1, now(&world)));
    assert_int_equal(message_table_awaiting(world.table), 0);
    assert_int_equal(message_table_waiting(world.table), 0);
    write(&world, world.sender, 8192); /* behind what was sent */
    csan_context_drain(world.context);
    assert_int_equal(races, 1);
    world_end(&world);
}

static void a_lane_awaits_what_is_there(void **state)
{
    (void)state;
    struct world world = world_create();
    write(&world, world.sender, 4096);
    assert_true(message_table_send(world.table, 7, 1, 1, now(&world)));
    message_table_await(world.table, 7, 1, 1, 1, world.receiver);
    assert_int_equal(message_table_awaiting(world.table), 0);
    assert_int_equal(message_table_waiting(world.table), 0);
    write(&world, world.receiver, 4096);
    message_table_await(world.table, 8, 1, 1, 1, world.receiver); /* never comes */
    assert_int_equal(message_table_awaiting(world.table), 1);
    csan_context_drain(world.context);
    assert_int_equal(races, 0);
    world_end(&world);
}

/* Each waits for what the other sends before it waits. */
static void two_lanes_await_each_other(void **state)
{
    (void)state;
    struct world world = world_create();
    const csan_lane lanes[] = {world.sender, world.receiver};
    for (uint64_t i = 0; i < 2; i++) {
        write(&world, lanes[i], 4096 + 64 * i);
        assert_true(
            message_table_send(world.table, 9, 0, 2, csan_snapshot_take(world.context, lanes[i])));
        message_table_await(world.table, 9, 0, 2, 2, lanes[i]);
    }
    assert_int_equal(message_table_waiting(world.table), 0);
    for (uint64_t i = 0; i < 2; i++)
        write(&world, lanes[i], 4096 + 64 * (1 - i));
    csan_context_drain(world.context);
    assert_int_equal(races, 0);
    world_end(&world);
}

/* Any number of times; not what is set later, which the replay may have read ahead. */
static void a_value_is_known_by_its_time(void **state)
{
    (void)state;
    struct world world = world_create();
    assert_int_equal(message_table_count(world.table, 7, 0), 0);
    write(&world, world.sender, 4096);
    message_table_publish(world.table, 7, 100, now(&world));
    write(&world, world.sender, 8192);
    message_table_publish(world.table, 7, 200, now(&world));
    assert_int_equal(message_table_count(world.table, 7, 0), 2);
    message_table_learn(world.table, 7, 150, false, world.receiver);
    write(&world, world.receiver, 4096);
    assert_int_equal(races, 0);
    write(&world, world.receiver, 8192);
    assert_int_equal(races, 1);
    message_table_learn(world.table, 7, 200, false, world.receiver);
    write(&world, world.sender, 12288);
    assert_int_equal(message_table_count(world.table, 7, 0), 2);
    write(&world, world.receiver, 12288);
    assert_int_equal(races, 2);
    world_end(&world);
}

/* As the clocks of two machines may say. */
static void a_value_of_the_future_is_known(void **state)
{
    (void)state;
    struct world world = world_create();
    write(&world, world.sender, 4096);
    message_table_publish(world.table, 7, 100, now(&world));
    message_table_learn(world.table, 7, 50, false, world.receiver);
    write(&world, world.receiver, 4096);
    assert_int_equal(races, 0);
    world_end(&world);
}

static void equal_messages_come_in_their_order(void **state)
{
    (void)state;
    struct world world = world_create();
    write(&world, world.sender, 4096);
    message_table_publish(world.table, 7, 100, now(&world));
    write(&world, world.sender, 8192);
    message_table_publish(world.table, 7, 200, now(&world));
    message_table_learn(world.table, 7, 300, true, world.receiver);
    write(&world, world.receiver, 4096);
    assert_int_equal(races, 0);
    write(&world, world.receiver, 8192);
    assert_int_equal(races, 1);
    message_table_learn(world.table, 7, 300, true, world.receiver);
    assert_int_equal(message_table_count(world.table, 7, 0), 0);
    assert_int_equal(message_table_waiting(world.table), 0);
    message_table_learn(world.table, 7, 300, true, world.receiver);
    world_end(&world);
}

/* A value that is set again and again takes no more room. */
static void old_equal_values_are_forgotten(void **state)
{
    (void)state;
    struct world world = world_create();
    for (uint64_t time = 1; time <= 5000; time++)
        message_table_publish(world.table, 7, time, now(&world));
    assert_true(message_table_count(world.table, 7, 0) < 5000);
    write(&world, world.sender, 4096);
    message_table_publish(world.table, 7, 6000, now(&world));
    message_table_learn(world.table, 7, 6000, false, world.receiver);
    write(&world, world.receiver, 4096);
    assert_int_equal(races, 0);
    world_end(&world);
}

/* Whether it was sent before or is sent later. */
static void a_message_that_nobody_wants_is_forgotten(void **state)
{
    (void)state;
    struct world world = world_create();
    assert_true(message_table_send(world.table, 7, 1, 1, now(&world)));
    message_table_unwant(world.table, 7, 1);
    assert_int_equal(message_table_waiting(world.table), 0);
    message_table_unwant(world.table, 7, 2);
    assert_int_equal(message_table_count(world.table, 7, 2), 0);
    assert_true(message_table_send(world.table, 7, 2, 1, now(&world)));
    assert_int_equal(message_table_waiting(world.table), 0);
    world_end(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_message_is_received_once),
        cmocka_unit_test(a_message_that_nobody_wants_is_forgotten),
        cmocka_unit_test(a_channel_numbers_its_messages),
        cmocka_unit_test(a_message_that_is_looked_at_stays),
        cmocka_unit_test(a_call_is_over_with_its_last),
        cmocka_unit_test(who_leaves_may_say_how_many_do),
        cmocka_unit_test(a_lane_awaits_what_is_still_to_come),
        cmocka_unit_test(a_lane_awaits_what_is_there),
        cmocka_unit_test(two_lanes_await_each_other),
        cmocka_unit_test(a_value_is_known_by_its_time),
        cmocka_unit_test(a_value_of_the_future_is_known),
        cmocka_unit_test(equal_messages_come_in_their_order),
        cmocka_unit_test(old_equal_values_are_forgotten),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
