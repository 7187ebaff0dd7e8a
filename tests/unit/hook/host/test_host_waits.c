/* Functions in which a thread may sleep at a lock: the lock's memory is open meanwhile if the host
 * shares it with a device, and each is a jump otherwise. The next functions are this test's, but
 * for the condition variables'. */
#include "runtime/hook/host/host_blocks.h"
#include "runtime/hook/host/lent_memory.h"
#include "runtime/hook/interpose/driver.h"
#include "runtime/hook/session/session_options.h"
#include "runtime/threads/threads.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

bool host_access_guards, host_access_calls;
const struct session_options *session_options(void)
{
    static const struct session_options options = {.host_observed = true};
    return &options;
}

void (*thread_on_sleep)(struct csan_threads_sleep *sleep, const void *object, const void *other);
void (*thread_on_wake)(struct csan_threads_sleep *sleep);

static struct {
    pthread_mutex_t mutex;
    pthread_cond_t condition;
    sem_t semaphore;
} shared, others = {.mutex = PTHREAD_MUTEX_INITIALIZER, .condition = PTHREAD_COND_INITIALIZER};

/* The first and the last are shared, and the second lies between. */
static pthread_mutex_t three[3];

static const void *open_now[2];
static int open_count, opened, calls, open_in_call;

void lent_memory_begin_slow(struct lent_memory *call, const struct iovec *parts, size_t count,
                            bool writes)
{
    assert_int_equal(count, 1);
    assert_false(writes);
    assert_true(parts->iov_len >= sizeof(pthread_rwlock_t));
    call->on = true;
    open_now[open_count++] = parts->iov_base;
    opened++;
}

void lent_memory_end_slow(struct lent_memory *call, size_t done, const char *name)
{
    (void)call, (void)name;
    assert_int_equal(done, 0);
    open_count--;
}

static long next_lock(const void *mutex)
{
    calls++;
    open_in_call = open_count && open_now[0] == mutex;
    return EOWNERDEAD;
}
static long next_wait(const void *semaphore, const void *until)
{
    calls++;
    open_in_call = open_count && open_now[0] == semaphore && until == &calls;
    errno = EINTR;
    return -1;
}

void *driver_dlsym(void *handle, const char *symbol)
{
    if (strcmp(symbol, "pthread_mutex_lock") == 0)
        return (void *)next_lock;
    if (strcmp(symbol, "sem_timedwait") == 0)
        return (void *)next_wait;
    return dlsym(handle, symbol);
}

static int begin(void **state)
{
    (void)state;
    calls = opened = open_in_call = 0;
    host_access_guards = host_access_calls = true;
    return 0;
}

static int end(void **state)
{
    (void)state;
    host_access_guards = host_access_calls = false;
    return 0;
}

static void a_lock_in_shared_memory_is_open(void **state)
{
    (void)state;
    assert_int_equal(pthread_mutex_lock(&shared.mutex), EOWNERDEAD);
    assert_true(open_in_call);
    assert_int_equal(sem_timedwait(&shared.semaphore, (void *)&calls), -1);
    assert_int_equal(errno, EINTR);
    assert_true(open_in_call);
    assert_int_equal(calls, 2);
    assert_int_equal(opened, 2);
    assert_int_equal(open_count, 0);
}

static void a_condition_has_two(void **state)
{
    struct timespec past = {0};
    (void)state;
    pthread_cond_init(&shared.condition, NULL);
    assert_int_equal(pthread_mutex_trylock(&others.mutex), 0);
    assert_int_equal(pthread_cond_timedwait(&shared.condition, &others.mutex, &past), ETIMEDOUT);
    assert_int_equal(opened, 2);
    assert_int_equal(pthread_cond_timedwait(&others.condition, &others.mutex, &past), ETIMEDOUT);
    assert_int_equal(opened, 2);
    pthread_mutex_unlock(&others.mutex);
    pthread_mutex_trylock(&three[2]);
    assert_int_equal(pthread_cond_timedwait(&others.condition, &three[2], &past), ETIMEDOUT);
    assert_int_equal(opened, 4); /* the second alone is shared */
    pthread_mutex_unlock(&three[2]);
}

static void others_are_made_as_they_are(void **state)
{
    (void)state;
    assert_int_equal(pthread_mutex_lock(&others.mutex), EOWNERDEAD);
    host_access_guards = host_access_calls = false;
    assert_int_equal(pthread_mutex_lock(&shared.mutex), EOWNERDEAD);
    assert_int_equal(calls, 2);
    assert_int_equal(opened, 0);
}

static void one_between_shared_ones_is_none(void **state)
{
    (void)state;
    for (int i = 0; i < 3; i++) {
        opened = 0;
        assert_int_equal(pthread_mutex_lock(&three[i]), EOWNERDEAD);
        assert_int_equal(opened, i != 1);
    }
}

/* Where no next function is found yet, since the constructor of another library calls. Sanitizers'
 * run-times are not set up by then. */
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
static int early;
static void locks_early(void)
{
    early = pthread_mutex_lock(&others.mutex);
}
__attribute__((section(".preinit_array"),
               used)) static void (*const before_constructors)(void) = locks_early;
static void a_constructor_may_call(void **state)
{
    (void)state;
    assert_int_equal(early, EOWNERDEAD);
}
#endif

/* With host_order=threads libcsan_threads says it. */
static void a_followed_thread_says_that_it_sleeps(void **state)
{
    (void)state;
    struct csan_threads_sleep sleep;
    thread_on_sleep(&sleep, &shared.mutex, NULL);
    assert_int_equal(open_count, 1);
    assert_ptr_equal(open_now[0], &shared.mutex);
    thread_on_wake(&sleep);
    assert_int_equal(open_count, 0);
    thread_on_sleep(&sleep, &others.mutex, NULL);
    thread_on_wake(&sleep);
    assert_int_equal(opened, 1);
    thread_on_sleep(&sleep, &shared.condition, &others.mutex);
    host_access_guards = false; /* what is open is closed all the same */
    thread_on_wake(&sleep);
    assert_int_equal(opened, 3);
    assert_int_equal(open_count, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_lock_in_shared_memory_is_open, begin, end),
        cmocka_unit_test_setup_teardown(a_condition_has_two, begin, end),
        cmocka_unit_test_setup_teardown(others_are_made_as_they_are, begin, end),
        cmocka_unit_test_setup_teardown(one_between_shared_ones_is_none, begin, end),
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
        cmocka_unit_test(a_constructor_may_call),
#endif
        cmocka_unit_test_setup_teardown(a_followed_thread_says_that_it_sleeps, begin, end),
    };
    const uint64_t start = (uintptr_t)&shared;
    host_blocks_add((struct range){start, start + sizeof shared});
    for (int i = 0; i < 3; i += 2)
        host_blocks_add((struct range){(uintptr_t)&three[i], (uintptr_t)(&three[i] + 1)});
#if defined(__SANITIZE_THREAD__)
    return 0; /* host_waits.c stands in front of nothing then */
#endif
    return cmocka_run_group_tests_name("host_waits", tests, NULL, NULL);
}
