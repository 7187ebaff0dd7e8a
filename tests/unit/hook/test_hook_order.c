/* CUDA's ordering rules as the hooks make them: streams, events, the default streams, frees,
 * host functions and contexts, on a driver that does nothing (test_hook_order.h). */
#include "tests/unit/hook/test_hook_order.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static void nothing(void *data);

/* ---- Streams and events ---- */

static void two_streams_race(void **state)
{
    (void)state;
    CUdeviceptr p = device(64);
    WRITE(p, non_blocking());
    WRITE(p, non_blocking());
    assert_int_equal(races(), 1);
    assert_int_equal(first_kind(), CSAN_RACE_DATA);
}

static void one_stream_is_in_order(void **state)
{
    (void)state;
    CUdeviceptr p = device(64);
    CUstream s = non_blocking();
    WRITE(p, s);
    READ(p, s);
    WRITE(p, s);
    assert_int_equal(races(), 0);
}

static void reads_do_not_race(void **state)
{
    (void)state;
    CUdeviceptr p = device(64);
    READ(p, non_blocking());
    READ(p, non_blocking());
    assert_int_equal(races(), 0);
}

static void event_orders(void **state)
{
    (void)state;
    CUdeviceptr p = device(64);
    CUstream a = non_blocking(), b = non_blocking();
    CUevent e = event();
    WRITE(p, a);
    OK(cuEventRecord(e, a));
    OK(cuStreamWaitEvent(b, e, 0));
    WRITE(p, b);
    assert_int_equal(races(), 0);
}

static void event_covers_only_what_came_before(void **state)
{
    (void)state;
    CUdeviceptr p = device(64);
    CUstream a = non_blocking(), b = non_blocking();
    CUevent e = event();
    OK(cuEventRecord(e, a));
    WRITE(p, a);
    OK(cuStreamWaitEvent(b, e, 0));
    READ(p, b);
    assert_int_equal(races(), 1);
}

static void last_record_wins(void **state)
{
    (void)state;
    CUdeviceptr p = device(64);
    CUstream a = non_blocking(), b = non_blocking(), c = non_blocking();
    CUevent e = event();
    WRITE(p, a);
    OK(cuEventRecord(e, a));
    OK(cuEventRecordWithFlags(e, b, CU_EVENT_RECORD_DEFAULT));
    OK(cuStreamWaitEvent(c, e, 0));
    READ(p, c);
    assert_int_equal(races(), 1);
}

static void event_never_recorded_is_no_order(void **state)
{
    (void)state;
    CUdeviceptr p = device(64);
    CUstream a = non_blocking(), b = non_blocking();
    WRITE(p, a);
    OK(cuStreamWaitEvent(b, event(), 0));
    READ(p, b);
    assert_int_equal(races(), 1);
}

static void record_that_failed_is_no_order(void **state)
{
    (void)state;
    CUdeviceptr p = device(64);
    CUstream a = non_blocking(), b = non_blocking();
    CUevent e = event();
    WRITE(p, a);
    fake_fail_next(CUDA_ERROR_INVALID_HANDLE);
    assert_int_equal(cuEventRecord(e, a), CUDA_ERROR_INVALID_HANDLE);
    OK(cuStreamWaitEvent(b, e, 0));
    READ(p, b);
    assert_int_equal(races(), 1);
}

static void destroyed_event_is_forgotten(void **state)
{
    (void)state;
    CUdeviceptr p = device(64);
    CUstream a = non_blocking(), b = non_blocking();
    CUevent e = event();
    WRITE(p, a);
    OK(cuEventRecord(e, a));
    OK(cuEventDestroy_v2(e));
    fake_reuse_handle(e);
    assert_ptr_equal(event(), e);
    OK(cuStreamWaitEvent(b, e, 0));
    READ(p, b);
    assert_int_equal(races(), 1);
}

static void event_destroy_that_failed_changes_nothing(void **state)
{
    (void)state;
    CUdeviceptr p = device(64);
    CUstream a = non_blocking(), b = non_blocking();
    CUevent e = event();
    WRITE(p, a);
    OK(cuEventRecord(e, a));
    fake_fail_next(CUDA_ERROR_INVALID_HANDLE);
    assert_int_equal(cuEventDestroy_v2(e), CUDA_ERROR_INVALID_HANDLE);
    OK(cuStreamWaitEvent(b, e, 0));
    READ(p, b);
    assert_int_equal(races(), 0);
}

/* ---- The host waits ---- */

static void stream_synchronize_orders(void **state)
{
    (void)state;
    CUdeviceptr p = device(64);
    CUstream a = non_blocking();
    WRITE(p, a);
    OK(cuStreamSynchronize(a));
    WRITE(p, non_blocking());
    assert_int_equal(races(), 0);
}

static void synchronize_of_another_stream_does_not(void **state)
{
    (void)state;
    CUdeviceptr p = device(64);
    WRITE(p, non_blocking());
    OK(cuStreamSynchronize(non_blocking()));
    WRITE(p, non_blocking());
    assert_int_equal(races(), 1);
}

static void synchronize_that_failed_does_not(void **state)
{
    (void)state;
    CUdeviceptr p = device(64);
    CUstream a = non_blocking();
    WRITE(p, a);
    fake_fail_next(CUDA_ERROR_LAUNCH_FAILED);
    assert_int_equal(cuStreamSynchronize(a), CUDA_ERROR_LAUNCH_FAILED);
    WRITE(p, non_blocking());
    assert_int_equal(races(), 1);
}

static void query_orders_when_ready(void **state)
{
    (void)state;
    CUdeviceptr p = device(64), q = device(64);
    CUstream a = non_blocking();
    WRITE(p, a);
    fake_fail_next(CUDA_ERROR_NOT_READY);
    assert_int_equal(cuStreamQuery(a), CUDA_ERROR_NOT_READY);
    WRITE(p, non_blocking());
    assert_int_equal(races(), 1);
    WRITE(q, a);
    OK(cuStreamQuery(a));
    WRITE(q, non_blocking());
    assert_int_equal(races(), 1);
}

static void event_synchronize_query_and_elapsed_order(void **state)
{
    (void)state;
    CUdeviceptr p[3] = {device(64), device(64), device(64)};
    CUstream a = non_blocking();
    CUevent start = event(), e = event();
    float ms;
    OK(cuEventRecord(start, a));
    WRITE(p[0], a);
    OK(cuEventRecord(e, a));
    OK(cuEventSynchronize(e));
    WRITE(p[0], non_blocking());
    WRITE(p[1], a);
    OK(cuEventRecord(e, a));
    OK(cuEventQuery(e));
    WRITE(p[1], non_blocking());
    WRITE(p[2], a);
    OK(cuEventRecord(e, a));
    OK(cuEventElapsedTime(&ms, start, e));
    WRITE(p[2], non_blocking());
    assert_int_equal(races(), 0);
}

static void context_synchronize_orders_all(void **state)
{
    (void)state;
    CUdeviceptr p = device(64);
    CUstream a = non_blocking();
    WRITE(p, a);
    OK(cuStreamDestroy_v2(a));
    OK(cuCtxSynchronize());
    WRITE(p, non_blocking());
    assert_int_equal(races(), 0);
}

static void another_contexts_synchronize_does_not(void **state)
{
    (void)state;
    CUdeviceptr p = device(64);
    CUstream here = non_blocking();
    WRITE(p, here);
    fake_set_context((void *)0xc1);
    OK(cuStreamSynchronize(non_blocking()));
    OK(cuCtxSynchronize());
    fake_set_context((void *)0xc0);
    WRITE(p, non_blocking());
    assert_int_equal(races(), 1);
    OK(cuCtxDestroy_v2((CUcontext)0xc1));
}

/* ---- Default streams ---- */

static void legacy_stream_is_ordered_with_blocking_ones(void **state)
{
    (void)state;
    CUdeviceptr p = device(64);
    CUstream a = blocking(), b = blocking();
    WRITE(p, a);
    WRITE(p, NULL);
    WRITE(p, b);
    WRITE(p, CU_STREAM_LEGACY);
    assert_int_equal(races(), 0);
}

static void legacy_stream_is_not_ordered_with_non_blocking_ones(void **state)
{
    (void)state;
    CUdeviceptr p = device(64);
    WRITE(p, NULL);
    WRITE(p, non_blocking());
    assert_int_equal(races(), 1);
}

static void blocking_streams_are_not_ordered_by_nothing(void **state)
{
    (void)state;
    CUdeviceptr p = device(64);
    WRITE(p, blocking());
    WRITE(p, blocking());
    assert_int_equal(races(), 1);
}

static void legacy_stream_orders_blocking_streams_among_each_other(void **state)
{
    (void)state;
    CUdeviceptr p = device(64);
    CUstream a = blocking(), b = blocking();
    WRITE(p, a);
    WRITE(scratch(), NULL);
    WRITE(p, b);
    assert_int_equal(races(), 0);
}

static void legacy_record_covers_blocking_streams(void **state)
{
    (void)state;
    CUdeviceptr p = device(64), q = device(64);
    CUstream a = blocking(), n = non_blocking(), other = non_blocking();
    CUevent e = event();
    WRITE(p, a);
    WRITE(q, other);
    OK(cuEventRecord(e, NULL));
    OK(cuStreamWaitEvent(n, e, 0));
    READ(p, n);
    assert_int_equal(races(), 0);
    READ(q, n);
    assert_int_equal(races(), 1);
}

/* Asking for the legacy stream, as ending a stream does, is no work of the legacy stream: what
 * blocking streams did after its last work is not ordered by it. */
static void asking_for_the_legacy_stream_is_no_order(void **state)
{
    (void)state;
    CUdeviceptr p = device(64), q = device(64), r = device(64);
    CUstream a = blocking(), b = blocking();
    WRITE(scratch(), NULL);
    WRITE(p, a);
    fake_fail_next(CUDA_ERROR_NOT_READY);
    assert_int_equal(cuStreamQuery(NULL), CUDA_ERROR_NOT_READY);
    WRITE(p, b);
    assert_int_equal(races(), 1);
    WRITE(scratch(), NULL);
    WRITE(q, a);
    OK(cuStreamDestroy_v2(a));
    WRITE(q, b);
    assert_int_equal(races(), 2);
    WRITE(scratch(), NULL);
    WRITE(r, blocking());
    csan_pool_alloc((void *)scratch(), 64, NULL);
    WRITE(r, b);
    assert_int_equal(races(), 3);
    WRITE(r, NULL); /* and the legacy stream itself still is after both */
    assert_int_equal(races(), 3);
}

/* A call that fails leaves no order between the blocking streams around it either. */
static void legacy_call_that_failed_is_no_order(void **state)
{
    (void)state;
    CUdeviceptr p = device(64), q = device(64);
    CUstream a = blocking(), b = blocking();
    WRITE(scratch(), NULL);
    WRITE(p, a);
    fake_fail_next(CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(cuLaunchHostFunc(NULL, nothing, NULL), CUDA_ERROR_INVALID_VALUE);
    WRITE(p, b);
    assert_int_equal(races(), 1);
    WRITE(scratch(), NULL);
    WRITE(q, a);
    fake_fail_next(CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(cuMemFreeAsync(q + 1, NULL), CUDA_ERROR_INVALID_VALUE);
    WRITE(q, b);
    assert_int_equal(races(), 2);
}

static void legacy_synchronize_covers_blocking_streams(void **state)
{
    (void)state;
    CUdeviceptr p = device(64);
    WRITE(p, blocking());
    OK(cuStreamSynchronize(NULL));
    WRITE(p, non_blocking());
    assert_int_equal(races(), 0);
}

static void per_thread_stream_is_a_blocking_stream(void **state)
{
    (void)state;
    CUdeviceptr p = device(64), q = device(64);
    OK(cuMemsetD8Async_ptsz(p, 0, 64, NULL));
    WRITE(p, CU_STREAM_PER_THREAD);
    WRITE(p, NULL);
    assert_int_equal(races(), 0);
    OK(cuMemsetD8Async_ptsz(q, 0, 64, NULL));
    WRITE(q, blocking());
    assert_int_equal(races(), 1);
}

/* Declared blocks and orders are no work: an idle stream has not waited for the legacy one. */
static void annotations_wait_for_nothing(void **state)
{
    (void)state;
    CUdeviceptr p = device(64);
    CUstream idle = blocking(), other = non_blocking();
    static const char key;
    WRITE(p, NULL);
    csan_pool_alloc((void *)p, 32, idle);
    csan_pool_free((void *)p, idle);
    csan_happens_before(&key, idle);
    csan_happens_after(&key, idle);
    OK(cuStreamSynchronize(idle));
    WRITE(p, other);
    assert_int_equal(races(), 1);
}

static void declared_order_reaches_the_legacy_stream(void **state)
{
    (void)state;
    CUdeviceptr p = device(64);
    CUstream from = non_blocking(), to = blocking();
    static const char key;
    WRITE(p, from);
    csan_happens_before(&key, from);
    csan_happens_after(&key, to);
    WRITE(p, NULL);
    assert_int_equal(races(), 0);
}

static void *write_per_thread(void *p)
{
    OK(cuMemsetD8Async_ptsz((CUdeviceptr)p, 0, 64, NULL));
    return NULL;
}

static void threads_have_their_own_default_streams(void **state)
{
    (void)state;
    CUdeviceptr p = device(64);
    pthread_t thread;
    OK(cuMemsetD8Async_ptsz(p, 0, 64, NULL));
    assert_int_equal(pthread_create(&thread, NULL, write_per_thread, (void *)p), 0);
    pthread_join(thread, NULL);
    assert_int_equal(races(), 1);
}

static void synchronize_of_the_per_thread_stream(void **state)
{
    (void)state;
    CUdeviceptr p = device(64);
    OK(cuMemsetD8Async_ptsz(p, 0, 64, NULL));
    OK(cuStreamSynchronize_ptsz(NULL));
    WRITE(p, non_blocking());
    assert_int_equal(races(), 0);
}

/* ---- Handles ---- */

static void reused_stream_handle_is_another_stream(void **state)
{
    (void)state;
    CUdeviceptr p = device(64);
    CUstream a = non_blocking();
    WRITE(p, a);
    OK(cuStreamDestroy_v2(a));
    fake_reuse_handle(a);
    assert_ptr_equal(non_blocking(), a);
    WRITE(p, a);
    assert_int_equal(races(), 1);
}

static void stream_destroy_that_failed_changes_nothing(void **state)
{
    (void)state;
    CUdeviceptr p = device(64);
    CUstream a = non_blocking();
    WRITE(p, a);
    fake_fail_next(CUDA_ERROR_INVALID_HANDLE);
    assert_int_equal(cuStreamDestroy_v2(a), CUDA_ERROR_INVALID_HANDLE);
    WRITE(p, a);
    assert_int_equal(races(), 0);
}

static void use_after_destroy_that_fails_leaves_nothing(void **state)
{
    (void)state;
    CUdeviceptr p = device(64);
    CUstream a = non_blocking();
    OK(cuStreamDestroy_v2(a));
    fake_fail_next(CUDA_ERROR_INVALID_HANDLE);
    assert_int_equal(cuMemsetD8Async(p, 0, 64, a), CUDA_ERROR_INVALID_HANDLE);
    WRITE(p, non_blocking());
    assert_int_equal(races(), 0);
}

static void stream_csan_never_saw_created(void **state)
{
    (void)state;
    CUdeviceptr p = device(64);
    CUstream a = (CUstream)0x77770000, b = (CUstream)0x77780000;
    WRITE(p, a);
    WRITE(p, a);
    assert_int_equal(races(), 0);
    WRITE(p, b);
    assert_int_equal(races(), 1);
}

static void call_that_failed_leaves_nothing(void **state)
{
    (void)state;
    CUdeviceptr p = device(64);
    CUstream s = non_blocking();
    fake_fail_next(CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(cuMemsetD8Async(p, 0, 64, s), CUDA_ERROR_INVALID_VALUE);
    WRITE(p, non_blocking());
    assert_int_equal(races(), 0);
}

/* ---- Memory ---- */

static void free_waits(void **state)
{
    (void)state;
    CUdeviceptr p = device(64), q = device(64);
    WRITE(p, non_blocking());
    WRITE(q, non_blocking());
    OK(cuMemFree_v2(p));
    WRITE(q, non_blocking());
    assert_int_equal(races(), 0);
}

/* Two H200: 12 of 12 overlapped. */
static void free_does_not_wait_for_other_device(void **state)
{
    (void)state;
    CUdeviceptr p = device(64), q = device(64), r = device(64);
    void *pinned;
    WRITE(q, non_blocking());
    OK(cuMemHostAlloc(&pinned, 64, 0));
    fake_set_context((void *)0xc5);
    CUdeviceptr other = device(64);
    WRITE(r, non_blocking());
    fake_set_context((void *)0xc0);
    OK(cuMemFree_v2(p));
    OK(cuMemFreeHost(pinned));
    WRITE(q, non_blocking());
    assert_int_equal(races(), 0);
    WRITE(r, non_blocking());
    assert_int_equal(races(), 1);
    OK(cuMemFree_v2(other)); /* whatever is current: it is the memory's device that counts */
    WRITE(r, non_blocking());
    assert_int_equal(races(), 2); /* with the write here, not with the one there */
    OK(cuCtxDestroy_v2((CUcontext)0xc5));
}

static void free_of_what_other_device_uses(void **state)
{
    (void)state;
    CUdeviceptr p = device(64), q = device(64);
    WRITE(p, non_blocking());
    fake_set_context((void *)0xc6);
    WRITE(q, non_blocking());
    fake_set_context((void *)0xc0);
    OK(cuMemFree_v2(p));
    assert_int_equal(races(), 0);
    fake_fail_next(CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(cuMemFree_v2(q), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(races(), 0);
    OK(cuMemFree_v2(q));
    assert_int_equal(races(), 1);
    assert_int_equal(first_kind(), CSAN_RACE_FREE);
    OK(cuCtxDestroy_v2((CUcontext)0xc6));
}

static void free_that_failed_does_not(void **state)
{
    (void)state;
    CUdeviceptr p = device(64), q = device(64);
    WRITE(q, non_blocking());
    fake_fail_next(CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(cuMemFree_v2(p), CUDA_ERROR_INVALID_VALUE);
    WRITE(q, non_blocking());
    assert_int_equal(races(), 1);
}

/* Memory that is no longer registered is the program's as before. */
static void unregistered_memory_goes_on(void **state)
{
    (void)state;
    static char buffer[64];
    CUdeviceptr p = device(64);
    CUstream s = non_blocking();
    OK(cuMemHostRegister_v2(buffer, 64, 0));
    OK(cuMemcpyHtoDAsync_v2(p, buffer, 64, s));
    OK(cuMemHostUnregister(buffer));
    csan_host_writes(buffer, 64);
    OK(cuMemcpyHtoDAsync_v2(p, buffer, 64, s));
    assert_int_equal(races(), 0);
}

static void stream_ordered_memory_is_born_on_its_stream(void **state)
{
    (void)state;
    CUdeviceptr p;
    CUstream s = non_blocking();
    OK(cuMemAllocAsync(&p, 64, s));
    WRITE(p, s);
    assert_int_equal(races(), 0);
    WRITE(p, non_blocking());
    assert_true(races() >= 1);
    OK(cuMemFreeAsync(p, s));
}

static void stream_ordered_free_races_with_use(void **state)
{
    (void)state;
    CUdeviceptr p;
    CUstream s = non_blocking(), t = non_blocking();
    CUevent e = event();
    OK(cuMemAllocAsync(&p, 64, s));
    OK(cuEventRecord(e, s));
    OK(cuStreamWaitEvent(t, e, 0));
    WRITE(p, t);
    assert_int_equal(races(), 0);
    OK(cuMemFreeAsync(p, s));
    assert_int_equal(races(), 1);
    assert_int_equal(first_kind(), CSAN_RACE_FREE);
}

static void free_of_stream_ordered_memory_at_the_host_is_checked(void **state)
{
    (void)state;
    CUdeviceptr p;
    CUstream s = non_blocking();
    OK(cuMemAllocAsync(&p, 64, s));
    WRITE(p, s);
    OK(cuMemFree_v2(p));
    assert_int_equal(races(), 2); /* with the birth and with the write */
}

/* ---- Host functions ---- */

static void nothing(void *data)
{
    (void)data;
}
static void write_it(void *data)
{
    csan_host_writes(data, 64);
}

static void a_host_function_orders_the_host(void **state)
{
    (void)state;
    CUdeviceptr p = device(64);
    CUstream s = non_blocking();
    WRITE(p, s);
    OK(cuLaunchHostFunc(s, nothing, NULL));
    WRITE(p, s);
    fake_run_host_functions();
    assert_int_equal(races(), 0);
}

static void host_functions_accesses_are_in_stream_order(void **state)
{
    (void)state;
    CUdeviceptr p = device(64);
    CUstream s = non_blocking();
    void *pinned;
    OK(cuMemHostAlloc(&pinned, 64, 0));
    OK(cuMemcpyDtoHAsync_v2(pinned, p, 64, s));
    OK(cuLaunchHostFunc(s, write_it, pinned));
    OK(cuMemcpyHtoDAsync_v2(p, pinned, 64, s));
    fake_run_host_functions();
    assert_int_equal(races(), 0);
    OK(cuMemcpyDtoHAsync_v2(pinned, p, 64, non_blocking()));
    assert_true(races() >= 1);
    OK(cuMemFreeHost(pinned));
}

/* A driver may call it before the call that enqueues it returns. */
static void host_function_that_runs_at_once(void **state)
{
    (void)state;
    CUdeviceptr p = device(64);
    CUstream s = non_blocking();
    void *pinned;
    OK(cuMemHostAlloc(&pinned, 64, 0));
    OK(cuMemcpyDtoHAsync_v2(pinned, p, 64, s));
    fake_run_at_once(1);
    OK(cuLaunchHostFunc(s, write_it, pinned));
    fake_run_at_once(0);
    OK(cuMemcpyHtoDAsync_v2(p, pinned, 64, s));
    assert_int_equal(races(), 0);
    OK(cuMemcpyHtoDAsync_v2(p, pinned, 64, non_blocking()));
    assert_int_equal(races(), 1); /* nothing waits behind a promise nobody keeps */
    OK(cuMemFreeHost(pinned));
}

static void callback(CUstream stream, CUresult status, void *data)
{
    (void)stream;
    assert_int_equal(status, CUDA_SUCCESS);
    csan_host_writes(data, 64);
}

static void callback_is_a_host_function(void **state)
{
    (void)state;
    CUdeviceptr p = device(64);
    CUstream s = non_blocking();
    void *pinned;
    OK(cuMemHostAlloc(&pinned, 64, 0));
    OK(cuMemcpyDtoHAsync_v2(pinned, p, 64, s));
    OK(cuStreamAddCallback(s, callback, pinned, 0));
    fake_run_host_functions();
    csan_host_reads(pinned, 64);
    assert_int_equal(races(), 0);
    OK(cuMemFreeHost(pinned));
}

/* ---- Contexts ---- */

static void context_destroy_ends_its_work(void **state)
{
    (void)state;
    fake_set_context((void *)0xc2);
    CUdeviceptr p = device(64);
    WRITE(p, non_blocking());
    WRITE(scratch(), blocking());
    WRITE(scratch(), NULL);
    WRITE(scratch(), CU_STREAM_PER_THREAD);
    OK(cuCtxDestroy_v2((CUcontext)0xc2));
    fake_set_context((void *)0xc0);
    WRITE(p, non_blocking());
    assert_int_equal(races(), 0);
}

/* What the memory was must not stick to its addresses: here pinned, then plain host memory, from
 * which a copy may still be under way when the call returns. */
static void context_destroy_ends_its_memory(void **state)
{
    (void)state;
    static char registered[64];
    CUdeviceptr p = device(64);
    fake_set_context((void *)0xc4);
    OK(cuMemHostRegister_v2(registered, 64, 0));
    OK(cuCtxDestroy_v2((CUcontext)0xc4));
    fake_set_context((void *)0xc0);
    OK(cuMemcpyHtoD_v2(p, registered, 64));
    READ(p, non_blocking());
    assert_int_equal(races(), 1);
}

static void primary_context_reset_ends_its_work(void **state)
{
    (void)state;
    CUcontext context;
    fake_set_context((void *)0xc3);
    OK(cuDevicePrimaryCtxRetain(&context, 0));
    CUdeviceptr p = device(64), q = device(64);
    CUstream s = non_blocking();
    WRITE(p, s);
    OK(cuDevicePrimaryCtxRelease_v2(0)); /* somebody else still holds it */
    WRITE(p, non_blocking());
    assert_int_equal(races(), 1);
    WRITE(q, s);
    OK(cuDevicePrimaryCtxReset_v2(0));
    fake_reuse_handle(s);
    s = non_blocking();
    WRITE(q, s);
    assert_int_equal(races(), 1);
    fake_set_context((void *)0xc0);
}

/* Two streams that the driver calls the same are not one in a report: each has its own letter. */
static void streams_of_one_handle_are_distinguished(void **state)
{
    (void)state;
    struct csan_race race;
    CUdeviceptr memory = device(64);
    CUstream first = non_blocking(), second;
    OK(cuMemsetD8Async(memory, 0, 64, first));
    OK(cuStreamDestroy_v2(first));
    fake_reuse_handle(first);
    second = non_blocking();
    assert_ptr_equal(first, second);
    OK(cuMemsetD8Async(memory, 0, 64, second));
    assert_int_equal(csan_races_since(hook_mark(), &race, 1), 1);
    assert_int_equal(race.previous.stream, race.current.stream);
    assert_memory_equal(race.previous.lane, "stream ", 7);
    assert_memory_equal(race.current.lane, "stream ", 7);
    assert_string_not_equal(race.previous.lane, race.current.lane);
}

int main(int argc, char **argv)
{
    (void)argc;
    hook_test_start(argv);
#define TEST(name) cmocka_unit_test_setup(name, hook_setup)
    const struct CMUnitTest tests[] = {
        TEST(two_streams_race),
        TEST(one_stream_is_in_order),
        TEST(streams_of_one_handle_are_distinguished),
        TEST(reads_do_not_race),
        TEST(event_orders),
        TEST(event_covers_only_what_came_before),
        TEST(last_record_wins),
        TEST(event_never_recorded_is_no_order),
        TEST(record_that_failed_is_no_order),
        TEST(destroyed_event_is_forgotten),
        TEST(event_destroy_that_failed_changes_nothing),
        TEST(stream_synchronize_orders),
        TEST(synchronize_of_another_stream_does_not),
        TEST(synchronize_that_failed_does_not),
        TEST(query_orders_when_ready),
        TEST(event_synchronize_query_and_elapsed_order),
        TEST(context_synchronize_orders_all),
        TEST(another_contexts_synchronize_does_not),
        TEST(legacy_stream_is_ordered_with_blocking_ones),
        TEST(legacy_stream_is_not_ordered_with_non_blocking_ones),
        TEST(blocking_streams_are_not_ordered_by_nothing),
        TEST(legacy_stream_orders_blocking_streams_among_each_other),
        TEST(legacy_record_covers_blocking_streams),
        TEST(asking_for_the_legacy_stream_is_no_order),
        TEST(legacy_call_that_failed_is_no_order),
        TEST(legacy_synchronize_covers_blocking_streams),
        TEST(per_thread_stream_is_a_blocking_stream),
        TEST(annotations_wait_for_nothing),
        TEST(declared_order_reaches_the_legacy_stream),
        TEST(threads_have_their_own_default_streams),
        TEST(synchronize_of_the_per_thread_stream),
        TEST(reused_stream_handle_is_another_stream),
        TEST(stream_destroy_that_failed_changes_nothing),
        TEST(use_after_destroy_that_fails_leaves_nothing),
        TEST(stream_csan_never_saw_created),
        TEST(call_that_failed_leaves_nothing),
        TEST(free_waits),
        TEST(free_does_not_wait_for_other_device),
        TEST(free_of_what_other_device_uses),
        TEST(free_that_failed_does_not),
        TEST(unregistered_memory_goes_on),
        TEST(stream_ordered_memory_is_born_on_its_stream),
        TEST(stream_ordered_free_races_with_use),
        TEST(free_of_stream_ordered_memory_at_the_host_is_checked),
        TEST(a_host_function_orders_the_host),
        TEST(host_functions_accesses_are_in_stream_order),
        TEST(host_function_that_runs_at_once),
        TEST(callback_is_a_host_function),
        TEST(context_destroy_ends_its_work),
        TEST(context_destroy_ends_its_memory),
        TEST(primary_context_reset_ends_its_work),
    };
    return hook_finish(cmocka_run_group_tests_name("hook_order", tests, NULL, NULL));
}
