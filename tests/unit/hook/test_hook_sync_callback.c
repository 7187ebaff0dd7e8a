/* Callbacks after synchronizations, as a program adds and ends them. */
#include "tests/unit/hook/test_hook_order.h"

#include <pthread.h>
#include <string.h>

struct seen {
    int calls;
    struct csan_synchronization last;
    uint64_t own, other; /* callbacks to end from inside */
    CUstream synchronizes;
    CUdeviceptr writes;
    size_t races;
};

static void see(void *user, const struct csan_synchronization *what)
{
    struct seen *seen = user;
    seen->calls++;
    seen->last = *what;
    seen->races = races();
    csan_off_synchronize(seen->own);
    csan_off_synchronize(seen->other);
    if (seen->writes)
        OK(cuMemsetD8Async(seen->writes, 0, 64, seen->synchronizes));
    if (seen->synchronizes)
        OK(cuStreamSynchronize(seen->synchronizes));
}

static void each_kind_is_called_once(void **state)
{
    (void)state;
    struct seen seen = {0};
    CUstream s = non_blocking();
    CUevent e = event();
    const uint64_t id = csan_on_synchronize(see, &seen);
    assert_true(id);
    OK(cuStreamSynchronize(s));
    assert_int_equal(seen.calls, 1);
    assert_int_equal(seen.last.size, sizeof seen.last);
    assert_int_equal(seen.last.kind, CSAN_SYNCHRONIZED_STREAM);
    assert_ptr_equal(seen.last.stream, s);
    assert_string_equal(seen.last.function, "cuStreamSynchronize");
    OK(cuStreamSynchronize(NULL));
    assert_null(seen.last.stream);
    OK(cuStreamSynchronize_ptsz(NULL));
    assert_ptr_equal(seen.last.stream, CU_STREAM_PER_THREAD);
    OK(cuEventRecord(e, s));
    OK(cuEventSynchronize(e));
    assert_int_equal(seen.calls, 4);
    assert_int_equal(seen.last.kind, CSAN_SYNCHRONIZED_EVENT);
    assert_ptr_equal(seen.last.event, e);
    OK(cuCtxSynchronize());
    assert_int_equal(seen.last.kind, CSAN_SYNCHRONIZED_DEVICE);
    assert_null(seen.last.context);
    OK(cuCtxSynchronize_v2((CUcontext)0xc0));
    assert_ptr_equal(seen.last.context, (void *)0xc0);
    assert_int_equal(seen.calls, 6);
    csan_off_synchronize(id);
    OK(cuStreamSynchronize(s));
    assert_int_equal(seen.calls, 6);
}

static void what_is_no_synchronization_calls_nobody(void **state)
{
    (void)state;
    struct seen seen = {0};
    CUstream s = non_blocking();
    CUevent e = event();
    const uint64_t id = csan_on_synchronize(see, &seen);
    OK(cuEventRecord(e, s));
    OK(cuStreamWaitEvent(s, e, 0));
    OK(cuStreamQuery(s));
    OK(cuEventQuery(e));
    assert_int_equal(seen.calls, 0);
    csan_off_synchronize(id);
}

static void a_failed_call_says_its_error(void **state)
{
    (void)state;
    struct seen seen = {0};
    const uint64_t id = csan_on_synchronize(see, &seen);
    fake_fail_next(CUDA_ERROR_INVALID_HANDLE);
    assert_int_equal(cuCtxSynchronize(), CUDA_ERROR_INVALID_HANDLE);
    assert_int_equal(seen.last.result, CUDA_ERROR_INVALID_HANDLE);
    csan_off_synchronize(id);
}

/* The order of the call is known inside: what races is found there, and what it ordered is not. */
static void the_callback_asks_csan_and_the_driver(void **state)
{
    (void)state;
    CUstream a = non_blocking(), b = non_blocking();
    struct seen seen = {.synchronizes = b, .writes = device(64)};
    const CUdeviceptr p = device(64);
    WRITE(p, a);
    WRITE(seen.writes, a);
    WRITE(p, b);
    const uint64_t id = csan_on_synchronize(see, &seen);
    OK(cuStreamSynchronize(a));
    assert_int_equal(seen.calls, 1); /* its own synchronization calls nobody */
    assert_int_equal(seen.races, 1);
    assert_int_equal(races(), 1); /* what it wrote is ordered behind stream a */
    WRITE(seen.writes, a);        /* and it waited for its own stream */
    assert_int_equal(races(), 1);
    csan_off_synchronize(id);
}

static void a_callback_ends_itself_and_another(void **state)
{
    (void)state;
    struct seen once = {0}, other = {0};
    once.own = csan_on_synchronize(see, &once);
    once.other = csan_on_synchronize(see, &other);
    OK(cuCtxSynchronize());
    OK(cuCtxSynchronize());
    assert_int_equal(once.calls, 1);
    assert_true(other.calls <= 1); /* as it came before or after the other */
    csan_off_synchronize(once.own);
    csan_off_synchronize(0);
    csan_off_synchronize(12345678);
}

static void there_is_room_for_sixteen(void **state)
{
    (void)state;
    struct seen seen[17];
    uint64_t ids[17];
    memset(seen, 0, sizeof seen);
    for (int i = 0; i < 17; i++)
        ids[i] = csan_on_synchronize(see, &seen[i]);
    assert_int_equal(ids[16], 0);
    assert_int_equal(csan_on_synchronize(NULL, NULL), 0);
    OK(cuCtxSynchronize());
    for (int i = 0; i < 16; i++) {
        assert_int_equal(seen[i].calls, 1);
        csan_off_synchronize(ids[i]);
    }
    ids[0] = csan_on_synchronize(see, &seen[0]);
    assert_true(ids[0]);
    csan_off_synchronize(ids[0]);
}

/* ---- Threads that synchronize while others add and end callbacks ---- */

enum { ROUNDS = 2000, THREADS = 3 };
struct life {
    int alive, calls; /* atomic */
};
static int stopped;

static void count(void *user, const struct csan_synchronization *what)
{
    struct life *life = user;
    (void)what;
    if (!__atomic_load_n(&life->alive, __ATOMIC_ACQUIRE))
        abort();
    __atomic_fetch_add(&life->calls, 1, __ATOMIC_RELAXED);
    if (!__atomic_load_n(&life->alive, __ATOMIC_ACQUIRE))
        abort();
}

static void *synchronize(void *unused)
{
    while (!__atomic_load_n(&stopped, __ATOMIC_ACQUIRE))
        if (cuCtxSynchronize() != CUDA_SUCCESS)
            abort();
    return unused;
}

static void *add_and_end(void *calls)
{
    struct life life = {0};
    for (int i = 0; i < ROUNDS; i++) {
        __atomic_store_n(&life.alive, 1, __ATOMIC_RELEASE);
        const uint64_t id = csan_on_synchronize(count, &life);
        if (!id)
            abort();
        if (i % 4 == 0)
            cuCtxSynchronize();
        csan_off_synchronize(id);
        __atomic_store_n(&life.alive, 0, __ATOMIC_RELEASE);
    }
    *(int *)calls = life.calls;
    return NULL;
}

static void none_is_called_after_its_end(void **state)
{
    (void)state;
    pthread_t synchronizing[THREADS], adding[THREADS];
    int calls[THREADS];
    stopped = 0;
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_create(&synchronizing[i], NULL, synchronize, NULL), 0);
        assert_int_equal(pthread_create(&adding[i], NULL, add_and_end, &calls[i]), 0);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(adding[i], NULL);
    __atomic_store_n(&stopped, 1, __ATOMIC_RELEASE);
    for (int i = 0; i < THREADS; i++)
        pthread_join(synchronizing[i], NULL);
    for (int i = 0; i < THREADS; i++)
        assert_true(calls[i] >= ROUNDS / 4); /* its own at least */
}

int main(int argc, char **argv)
{
    (void)argc;
    hook_test_start(argv);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(each_kind_is_called_once, hook_setup),
        cmocka_unit_test_setup(what_is_no_synchronization_calls_nobody, hook_setup),
        cmocka_unit_test_setup(a_failed_call_says_its_error, hook_setup),
        cmocka_unit_test_setup(the_callback_asks_csan_and_the_driver, hook_setup),
        cmocka_unit_test_setup(a_callback_ends_itself_and_another, hook_setup),
        cmocka_unit_test_setup(there_is_room_for_sixteen, hook_setup),
        cmocka_unit_test_setup(none_is_called_after_its_end, hook_setup),
    };
    return hook_finish(cmocka_run_group_tests_name("hook_sync_callback", tests, NULL, NULL));
}
