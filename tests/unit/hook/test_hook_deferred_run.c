/* What becomes of deferred work (runtime/hook/session/deferred.h) in a program as a whole: at its
 * end, without another call, in its children, and where nothing is to be. */
#include "tests/unit/hook/hook_deferred.h"

#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>
#include <time.h>
#include <unistd.h>

static void race(void)
{
    CUdeviceptr p = device(64);
    CUstream a = non_blocking(), b = non_blocking();
    fill_each(4, (CUdeviceptr[]){device(64), p, device(64), p}, (CUstream[]){a, a, b, b});
}

/* As many launches from one place, of which all but the first can be deferred. */
static void launches_in_order(void)
{
    CUdeviceptr p = device(64);
    CUstream s = non_blocking();
    fill_each(4, (CUdeviceptr[]){p, p, p, p}, (CUstream[]){s, s, s, s});
}

static int opening;

static void call_while_opening(void)
{
    CUdeviceptr p;
    __atomic_store_n(&opening, 1, __ATOMIC_RELEASE);
    while (__atomic_load_n(&opening, __ATOMIC_ACQUIRE) != 2)
        usleep(1000);
    usleep(50 * 1000); /* by then csan's thread is in the midst of its work */
    cuMemAlloc_v2(&p, 64);
}

static void *open_library(void *unused)
{
    (void)unused;
    dlopen(FAKE_DRIVER "/traced/libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    return NULL;
}

/* A launch is deferred, for csan's thread to find its context, while another thread is opening a
 * library that calls the driver. */
static int launch_while_another_opens(void)
{
    CUstream s = non_blocking();
    CUdeviceptr p = device(64);
    pthread_t opener;
    char address[32];
    alarm(20);
    snprintf(address, sizeof address, "%p", (void *)call_while_opening);
    fake_context_is_of_this_thread(true);
    for (volatile int i = 0; i < 4; i++) {
        if (i == 3) {
            usleep(100 * 1000);
            setenv("FAKE_WHEN_OPENED", address, 1);
            pthread_create(&opener, NULL, open_library, NULL);
            while (__atomic_load_n(&opening, __ATOMIC_ACQUIRE) != 1)
                usleep(1000);
        }
        fill(p, s);
        if (i < 3)
            turn_to(s); /* processes here, while csan's thread is being made */
    }
    __atomic_store_n(&opening, 2, __ATOMIC_RELEASE);
    pthread_join(opener, NULL);
    return 0;
}

/* At most some seconds. */
static bool wait_for_report(const char *path)
{
    for (int i = 0; i < 2000; i++) {
        FILE *file = fopen(path, "r");
        char line[256];
        bool found = false;
        while (file && fgets(line, sizeof line, file))
            found |= strstr(line, "race") != NULL;
        if (file)
            fclose(file);
        if (found)
            return true;
        nanosleep(&(struct timespec){.tv_nsec = 10 * 1000 * 1000}, NULL);
    }
    return false;
}

/* ---- Which thread enqueues ---- */

/* A race at each of so many addresses, and deferred calls, but for the first of each. */
static void race_each(size_t count, void (*touch)(size_t i, CUdeviceptr p, CUstream stream))
{
    CUstream a = non_blocking(), b = non_blocking();
    CUdeviceptr p = device(64 * count), scratch = device(64);
    for (size_t round = 0; round < 3; round++)
        for (size_t i = 0; i < count; i++) {
            touch(i, round ? p + 64 * i : scratch, round == 2 ? b : a);
            if (i % 64 == 63) /* csan's thread keeps up, wherever it runs */
                nanosleep(&(struct timespec){.tv_nsec = 100 * 1000 * 1000}, NULL);
        }
    nanosleep(&(struct timespec){.tv_nsec = 300 * 1000 * 1000}, NULL);
}

enum { KERNELS = 128, SETS = 8 };
static CUfunction kernels[KERNELS];

static __attribute__((noipa)) void launch_one(size_t i, CUdeviceptr p, CUstream stream)
{
    launch(kernels[i], p, stream);
}

static __attribute__((noipa)) void set_one(size_t i, CUdeviceptr p, CUstream stream)
{
    (void)i;
    set(p, stream);
}

static __attribute__((noipa)) void copy_one(size_t i, CUdeviceptr p, CUstream stream)
{
    (void)i;
    OK(cuMemcpyDtoDAsync_v2(p, p + 32, 16, stream));
}

static int mode_run(const char *mode)
{
    if (strcmp(mode, "kernels") == 0) {
        for (size_t i = 0; i < KERNELS; i++)
            kernels[i] = function_of(module_load(), "fill");
        race_each(KERNELS, launch_one);
        return 0;
    }
    if (strcmp(mode, "sets") == 0) {
        race_each(SETS, set_one);
        return 0;
    }
    if (strcmp(mode, "copies") == 0) {
        race_each(SETS, copy_one);
        return 0;
    }
    if (strcmp(mode, "exit") == 0) {
        race();
        return 0;
    }
    if (strcmp(mode, "idle") == 0) {
        CUdeviceptr p = device(64);
        CUstream s = non_blocking();
        fill_each(3, (CUdeviceptr[]){p, p, p}, (CUstream[]){s, s, s});
        nanosleep(&(struct timespec){.tv_nsec = 100 * 1000 * 1000}, NULL); /* it sleeps now */
        race();
        char path[300];
        snprintf(path, sizeof path, "%s.%d", getenv("REPORT"), (int)getpid());
        printf("%s\n", wait_for_report(path) ? "reported" : "nobody reported");
        unlink(path);
        return 0;
    }
    if (strcmp(mode, "opening") == 0)
        return launch_while_another_opens();
    if (strcmp(mode, "fork") == 0) {
        race();
        pid_t child = fork();
        if (child == 0) {
            race();
            exit(7);
        }
        int status = 0;
        waitpid(child, &status, 0);
        printf("child %d\n", WEXITSTATUS(status));
        return 0;
    }
    /* Counted without a race: to report one csan's thread starts another, which has its name at
     * first. */
    if (strcmp(mode, "count") == 0)
        launches_in_order();
    else
        race();
    printf("own threads %d\n", own_threads());
    return 0;
}

/* ---- Tests ---- */

static void the_end_waits_for_deferred_work(void **state)
{
    (void)state;
    assert_int_equal(run("exit", "exitcode=66"), 66);
    assert_non_null(strstr(output, "1 race,"));
}

static void a_report_comes_without_another_call(void **state)
{
    (void)state;
    char path[] = "/tmp/csan_backlog_XXXXXX", options[128];
    int file = mkstemp(path);
    assert_true(file >= 0);
    close(file);
    setenv("REPORT", path, 1);
    snprintf(options, sizeof options, "exitcode=66:log_path=%s", path);
    assert_int_equal(run("idle", options), 66);
    unlink(path);
    assert_non_null(strstr(output, "reported"));
    assert_null(strstr(output, "nobody"));
}

/* As many kernels as a framework has, by turns. */
static void all_are_deferred(void **state)
{
    (void)state;
    const char *options = "report_limit=1:exitcode=0:verbosity=1";
    const char *format = "%d launches and the like were checked beside the program, 0 within";
    char expected[128];
    assert_int_equal(run("kernels", options), 0);
    snprintf(expected, sizeof expected, format, 2 * KERNELS - 1); /* the place is new twice */
    assert_non_null(strstr(output, expected));
    snprintf(expected, sizeof expected, format, 3 * SETS - 1);
    assert_int_equal(run("sets", options), 0);
    assert_non_null(strstr(output, expected));
    assert_int_equal(run("copies", options), 0);
    assert_non_null(strstr(output, expected));
}

/* csan's thread needs nothing of the loader, whose lock the other thread has. */
static void a_library_that_is_opened_may_call_the_driver(void **state)
{
    (void)state;
    for (int i = 0; i < 3; i++)
        assert_int_equal(run("opening", "exitcode=0"), 0);
}

/* (LeakSanitizer's allocator may be locked by csan's thread when the child is made.) */
static void a_forked_child_waits_for_nothing(void **state)
{
    (void)state;
    setenv("ASAN_OPTIONS", "detect_leaks=0", 1);
    for (int i = 0; i < 20; i++) {
        assert_int_equal(run("fork", "exitcode=66"), 66);
        assert_non_null(strstr(output, "child 7"));
    }
    unsetenv("ASAN_OPTIONS");
}

/* No thread takes the program's one processor. */
static void one_processor_puts_nothing_off(void **state)
{
    (void)state;
    assert_int_equal(run("count", "exitcode=66"), 0);
    assert_non_null(strstr(output, "own threads 1"));
    cpu_set_t before, one;
    assert_int_equal(sched_getaffinity(0, sizeof before, &before), 0);
    CPU_ZERO(&one);
    CPU_SET(sched_getcpu(), &one);
    assert_int_equal(sched_setaffinity(0, sizeof one, &one), 0);
    const int code = run("count", "exitcode=66");
    assert_int_equal(sched_setaffinity(0, sizeof before, &before), 0);
    assert_int_equal(code, 0);
    assert_non_null(strstr(output, "own threads 0"));
}

/* halt_on_error=1 ends the program within the launch that races: it says no more. */
static void options_put_nothing_off(void **state)
{
    (void)state;
    assert_int_equal(run("count", "exitcode=66:deferred_limit=0"), 0);
    assert_non_null(strstr(output, "own threads 0"));
    assert_int_equal(run("race", "exitcode=66:halt_on_error=1"), 66);
    assert_null(strstr(output, "own threads"));
    assert_int_equal(run("count", "exitcode=66:host_order=threads"), 0);
    assert_non_null(strstr(output, "own threads 0"));
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_end_waits_for_deferred_work),
        cmocka_unit_test(a_report_comes_without_another_call),
        cmocka_unit_test(all_are_deferred),
        cmocka_unit_test(a_library_that_is_opened_may_call_the_driver),
        cmocka_unit_test(a_forked_child_waits_for_nothing),
        cmocka_unit_test(one_processor_puts_nothing_off),
        cmocka_unit_test(options_put_nothing_off),
    };
    setenv("CSAN_OPTIONS", "symbolize=0:print_summary=0:log_path=/dev/null:dedup=0", 0);
    hook_test_start(argv);
    if (argc > 1)
        return mode_run(argv[1]);
    return hook_finish(cmocka_run_group_tests(tests, NULL, NULL));
}
