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

static void semaphores_order_nothing_and_take_their_turn(void **state)
{
    (void)state;
    CUdeviceptr p = device(64), q = device(64);
    CUstream a = non_blocking(), b = non_blocking(), s = blocking();
    CUexternalSemaphore semaphore = NULL;
    CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS signal = {0};
    CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS wait = {0};
    WRITE(p, a);
    OK(cuSignalExternalSemaphoresAsync(&semaphore, &signal, 1, a));
    OK(cuWaitExternalSemaphoresAsync(&semaphore, &wait, 1, b));
    WRITE(p, b);
    assert_int_equal(races(), 1);
    WRITE(q, s);
    OK(cuSignalExternalSemaphoresAsync(&semaphore, &signal, 1, NULL)); /* waits for blocking ones */
    WRITE(q, blocking());
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
        TEST(semaphores_order_nothing_and_take_their_turn),
        TEST(an_opened_event_is_a_new_one),
    };
    return hook_finish(cmocka_run_group_tests_name("hook_foreign", tests, NULL, NULL));
}
