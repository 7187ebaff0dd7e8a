/* Numbers of messages by channel: each counts from 1, whatever the others had. */
#include "csan/replay/channel.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

static void each_counts_from_one(void **state)
{
    enum { CHANNELS = 1000, ROUNDS = 3 };
    struct channel *channels = NULL;
    (void)state;
    for (uint64_t round = 1; round <= ROUNDS; round++)
        for (uint64_t key = 0; key < CHANNELS; key++)
            assert_int_equal(channel_next(&channels, key << 40 | key), round);
    channels_free(&channels);
    assert_null(channels);
    assert_int_equal(channel_next(&channels, 7), 1);
    channels_free(&channels);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(each_counts_from_one)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
