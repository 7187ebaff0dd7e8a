/* Memory, events and semaphores that others share: what this program does with them is checked. */
#include "tests/unit/hook/test_hook.h"

#define OK(call)         assert_int_equal((call), CUDA_SUCCESS)
#define WRITE(p, stream) OK(cuMemsetD8Async((p), 0, 64, (stream)))

static CUdeviceptr ipc_open(void)
{
    CUdeviceptr p = 0;
    CUipcMemHandle handle = {{0}};
    OK(cuIpcOpenMemHandle_v2(&p, handle, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS));
    return p;
}

static void opened_memory_is_checked(void **state)
{
    (void)state;
    struct csan_race race;
    CUdeviceptr p = ipc_open();
    WRITE(p, non_blocking());
    WRITE(p, non_blocking());
    assert_int_equal(csan_races_since(hook_mark(), &race, 1), 1);
    assert_int_equal(race.allocation_bytes, 4096);
    OK(cuCtxSynchronize());
    OK(cuIpcCloseMemHandle(p));
}

static void closing_waits_for_nothing(void **state)
{
    (void)state;
    CUdeviceptr p = ipc_open();
    WRITE(p, non_blocking());
    OK(cuIpcCloseMemHandle(p));
    assert_int_equal(races(), 1);
    assert_int_equal(first_kind(), CSAN_RACE_FREE);
}

static void closing_after_the_work_is_fine(void **state)
{
    (void)state;
    CUstream s = non_blocking();
    CUdeviceptr p = ipc_open();
    WRITE(p, s);
    OK(cuStreamSynchronize(s));
    OK(cuIpcCloseMemHandle(p));
    assert_int_equal(races(), 0);
}

static void opened_twice_it_ends_with_the_second_close(void **state)
{
    (void)state;
    CUstream s = non_blocking();
    CUdeviceptr p = ipc_open();
    assert_int_equal(ipc_open(), p);
    WRITE(p, s);
    OK(cuIpcCloseMemHandle(p));
    assert_int_equal(races(), 0);
    OK(cuIpcCloseMemHandle(p));
    assert_int_equal(races(), 1);
}

static void a_close_that_fails_changes_nothing(void **state)
{
    (void)state;
    CUdeviceptr p = ipc_open();
    WRITE(p, non_blocking());
    fake_fail_next(CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(cuIpcCloseMemHandle(p), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(races(), 0);
    WRITE(p, non_blocking());
    assert_int_equal(races(), 1);
    OK(cuCtxSynchronize());
    OK(cuIpcCloseMemHandle(p));
}

static void imported_pointers_are_freed_on_streams(void **state)
{
    (void)state;
    CUdeviceptr p = 0;
    CUmemPoolPtrExportData data;
    OK(cuMemPoolImportPointer(&p, NULL, &data));
    WRITE(p, non_blocking());
    OK(cuMemFreeAsync(p, non_blocking()));
    assert_int_equal(races(), 1);
    assert_int_equal(first_kind(), CSAN_RACE_FREE);
}

static void mapped_buffers_are_checked(void **state)
{
    (void)state;
    CUdeviceptr p = 0;
    CUDA_EXTERNAL_MEMORY_BUFFER_DESC description = {.size = 256};
    OK(cuExternalMemoryGetMappedBuffer(&p, NULL, &description));
    WRITE(p, non_blocking());
    WRITE(p + 128, non_blocking());
    assert_int_equal(races(), 0);
    WRITE(p + 64, non_blocking());
    WRITE(p, non_blocking());
    assert_int_equal(races(), 1);
    OK(cuMemFree_v2(p));
}

static void signal_on(CUstream stream, CUexternalSemaphore semaphore, uint64_t value)
{
    CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS params = {.params.fence.value = value};
    OK(cuSignalExternalSemaphoresAsync(&semaphore, &params, 1, stream));
}

static void wait_on(CUstream stream, CUexternalSemaphore semaphore, uint64_t value)
{
    CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS params = {.params.fence.value = value};
    OK(cuWaitExternalSemaphoresAsync(&semaphore, &params, 1, stream));
}

static void semaphores_take_their_turn(void **state)
{
    (void)state;
    CUdeviceptr q = device(64);
    WRITE(q, blocking());
    signal_on(NULL, (CUexternalSemaphore)64, 1); /* waits for blocking streams */
    WRITE(q, blocking());
    assert_int_equal(races(), 0);
}

static void a_semaphore_s_wait_acquires_the_first_signal_that_is_enough(void **state)
{
    (void)state;
    CUexternalSemaphore semaphore = (CUexternalSemaphore)128;
    CUdeviceptr p = device(64), q = device(64);
    CUstream a = non_blocking(), b = non_blocking();
    WRITE(p, a);
    signal_on(a, semaphore, 1);
    WRITE(q, a);
    signal_on(a, semaphore, 2);
    wait_on(b, semaphore, 1);
    WRITE(p, b);
    assert_int_equal(races(), 0);
    WRITE(q, b);
    assert_int_equal(races(), 1);
}

/* Such as those of Vulkan that are no timelines. */
static void a_wait_without_value_acquires_the_newest_signal(void **state)
{
    (void)state;
    CUexternalSemaphore semaphore = (CUexternalSemaphore)192;
    CUdeviceptr p = device(64);
    CUstream a = non_blocking(), b = non_blocking();
    for (int i = 0; i < 3; i++) {
        WRITE(p, a);
        signal_on(a, semaphore, 0);
        wait_on(b, semaphore, 0);
        WRITE(p, b);
        signal_on(b, (CUexternalSemaphore)256, 0);
        wait_on(a, (CUexternalSemaphore)256, 0);
    }
    assert_int_equal(races(), 0);
}

/* Another interface may have signalled it. */
static void a_semaphore_that_nobody_signalled_orders_nothing(void **state)
{
    (void)state;
    CUexternalSemaphore semaphore = (CUexternalSemaphore)320;
    CUdeviceptr p = device(64);
    CUstream a = non_blocking(), b = non_blocking();
    WRITE(p, a);
    signal_on(a, semaphore, 1);
    wait_on(b, semaphore, 2);
    WRITE(p, b);
    assert_int_equal(races(), 1);
}

static void a_destroyed_semaphore_is_forgotten(void **state)
{
    (void)state;
    CUexternalSemaphore semaphore = (CUexternalSemaphore)384;
    CUdeviceptr p = device(64);
    CUstream a = non_blocking(), b = non_blocking();
    WRITE(p, a);
    signal_on(a, semaphore, 1);
    OK(cuDestroyExternalSemaphore(semaphore));
    wait_on(b, semaphore, 1); /* a new one with the old one's handle */
    WRITE(p, b);
    assert_int_equal(races(), 1);
}

static void an_opened_event_is_a_new_one(void **state)
{
    (void)state;
    CUdeviceptr p = device(64);
    CUstream a = non_blocking(), b = non_blocking();
    CUevent old = event(), opened;
    CUipcEventHandle handle = {{0}};
    WRITE(p, a);
    OK(cuEventRecord(old, a));
    fake_reuse_handle(old);
    OK(cuIpcOpenEventHandle(&opened, handle));
    assert_ptr_equal(opened, old);
    OK(cuStreamWaitEvent(b, opened, 0));
    WRITE(p, b);
    assert_int_equal(races(), 1);
}

int main(int argc, char **argv)
{
    (void)argc;
    hook_test_start(argv);
#define TEST(name) cmocka_unit_test_setup(name, hook_setup)
    const struct CMUnitTest tests[] = {
        TEST(opened_memory_is_checked),
        TEST(closing_waits_for_nothing),
        TEST(closing_after_the_work_is_fine),
        TEST(opened_twice_it_ends_with_the_second_close),
        TEST(a_close_that_fails_changes_nothing),
        TEST(imported_pointers_are_freed_on_streams),
        TEST(mapped_buffers_are_checked),
        TEST(semaphores_take_their_turn),
        TEST(a_semaphore_s_wait_acquires_the_first_signal_that_is_enough),
        TEST(a_wait_without_value_acquires_the_newest_signal),
        TEST(a_semaphore_that_nobody_signalled_orders_nothing),
        TEST(a_destroyed_semaphore_is_forgotten),
        TEST(an_opened_event_is_a_new_one),
    };
    return hook_finish(cmocka_run_group_tests_name("hook_foreign", tests, NULL, NULL));
}
