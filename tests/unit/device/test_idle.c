/* When the embedded device works by itself (CSAN_DEVICE_IDLE_MS). */
#include "runtime/device/schedule/schedule.h"
#include "tests/unit/device/test_device.h"

#include <stdbool.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { IDLE_MS = 400, TRIES = 20 };

static uint64_t milliseconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static uint64_t steps(void)
{
    struct device_schedule_position now;
    device_schedule_now(&now);
    return now.clock;
}

/* Returns how long it slept, on a machine that has other work. */
static uint64_t slept(uint64_t since, unsigned ms)
{
    usleep(ms * 1000);
    return milliseconds() - since;
}

static void it_waits_as_long_as_the_variable_says(void **state)
{
    CUdeviceptr memory;
    (void)state;
    schedule = "lazy";
    assert_int_equal(device_schedule_set(schedule), 0);
    ok(cuMemAlloc(&memory, 4));
    for (int i = 0;; i++) {
        const uint64_t began = milliseconds();
        ok(cuMemsetD8Async(memory, 1, 4, NULL));
        const uint64_t before = steps();
        const bool soon = slept(began, IDLE_MS / 2) < IDLE_MS;
        if (!soon && i < TRIES) {
            ok(cuCtxSynchronize());
            continue;
        }
        assert_true(soon);
        assert_int_equal(steps(), before);
        break;
    }
    const uint64_t before = steps();
    for (int i = 0; i < TRIES && steps() == before; i++)
        slept(0, IDLE_MS);
    assert_int_not_equal(steps(), before);
    ok(cuMemFree(memory));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(it_waits_as_long_as_the_variable_says)};
    setenv("CSAN_DEVICE_IDLE_MS", "400", 1);
    return cmocka_run_group_tests(tests, start, finish);
}
