/* The context's lock: no thread gets in beside its holder, and no sleeping thread is forgotten. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "csan/base/lock.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stdbool.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { THREADS = 4, TURNS = 20000, NAPS = 40 };

struct shared {
    struct lock lock;
    uint64_t turns; /* under the lock, and nothing else protects it */
    uint32_t bell;
    bool heard;
};

static void nap(long microseconds)
{
    nanosleep(&(struct timespec){.tv_nsec = microseconds * 1000}, NULL);
}

/* Now and then the holder sleeps, so that the others do. */
static void *take_turns(void *user)
{
    struct shared *shared = user;
    for (int i = 0; i < TURNS; i++) {
        lock_take(&shared->lock);
        uint64_t turns = shared->turns;
        if (i % (TURNS / NAPS) == 0)
            nap(200);
        shared->turns = turns + 1;
        lock_give(&shared->lock);
    }
    return NULL;
}

static uint64_t turns_of_threads(void)
{
    struct shared shared = {0};
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, take_turns, &shared), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    return shared.turns;
}

static void one_at_a_time(void **state)
{
    (void)state;
    assert_int_equal(turns_of_threads(), THREADS * TURNS);
}

/* In a process that may not use membarrier(2): the same, if slower. */
static int turns_without_membarrier(void)
{
    struct sock_filter rules[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0), /* the number of the call */
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_membarrier, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof(rules) / sizeof(rules[0]), rules};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, 2, &program))
        return 77;
    return turns_of_threads() != THREADS * TURNS;
}

static void without_membarrier(void **state)
{
    (void)state;
    int status;
    pid_t child = fork();
    if (child == 0)
        _exit(turns_without_membarrier());
    assert_int_equal(waitpid(child, &status, 0), child);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
        skip(); /* no seccomp here */
    assert_int_equal(status, 0);
}

static void *take_once(void *user)
{
    struct shared *shared = user;
    errno = ESRCH;
    lock_take(&shared->lock);
    shared->turns++;
    lock_give(&shared->lock);
    assert_int_equal(errno, ESRCH); /* the program's */
    return NULL;
}

/* The first thread took the lock while it was alone, which takes no atomic operation. */
static void taken_before_there_were_threads(void **state)
{
    (void)state;
    struct shared shared = {0};
    pthread_t thread;
    lock_take(&shared.lock);
    assert_int_equal(pthread_create(&thread, NULL, take_once, &shared), 0);
    nap(20000);
    assert_int_equal(shared.turns, 0);
    errno = ESRCH;
    lock_give(&shared.lock);
    assert_int_equal(errno, ESRCH);
    pthread_join(thread, NULL);
    assert_int_equal(shared.turns, 1);
}

static void *wait_for_bell(void *user)
{
    struct shared *shared = user;
    lock_take(&shared->lock);
    while (!shared->heard)
        lock_wait(&shared->lock, &shared->bell, 60000);
    lock_give(&shared->lock);
    return NULL;
}

static void a_bell_wakes(void **state)
{
    (void)state;
    for (int i = 0; i < 200; i++) {
        struct shared shared = {0};
        pthread_t thread;
        assert_int_equal(pthread_create(&thread, NULL, wait_for_bell, &shared), 0);
        if (i % 2)
            nap(100);
        lock_take(&shared.lock);
        shared.heard = true;
        lock_give(&shared.lock);
        lock_ring(&shared.bell);
        pthread_join(thread, NULL);
    }
}

static void a_wait_ends(void **state)
{
    (void)state;
    struct shared shared = {0};
    lock_take(&shared.lock);
    lock_wait(&shared.lock, &shared.bell, 10);
    assert_int_equal(shared.lock.held, 1);
    lock_give(&shared.lock);
    assert_int_equal(shared.lock.held, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(taken_before_there_were_threads), /* first */
        cmocka_unit_test(one_at_a_time),
        cmocka_unit_test(without_membarrier),
        cmocka_unit_test(a_bell_wakes),
        cmocka_unit_test(a_wait_ends),
    };
    alarm(120); /* who is forgotten sleeps for ever */
    return cmocka_run_group_tests(tests, NULL, NULL);
}
