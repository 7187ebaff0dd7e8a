/* A test program of the embedded device runs once under each scheduling policy: what holds must
 * hold under all of them. */
#ifndef TESTS_UNIT_DEVICE_TEST_SCHEDULES_H
#define TESTS_UNIT_DEVICE_TEST_SCHEDULES_H

#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

/* That of this run; NULL: it has to be run under each. */
static inline const char *test_schedule(void)
{
    return getenv("TEST_SCHEDULE");
}

/* 1 if it failed under any. */
static inline int test_under_each_schedule(char **arguments)
{
    static const char *const schedules[] = {"eager",     "lazy",    "random:1",
                                            "random:42", "reverse", "hold:3-9:20"};
    const char *runner =
        getenv("TEST_RUNNER"); /* runs this program elsewhere: scripts/test-aarch64 */
    int failed = 0;
    for (size_t i = 0; i < sizeof schedules / sizeof *schedules; i++) {
        pid_t child = fork();
        if (child == 0) {
            setenv("CSAN_SCHEDULE", schedules[i], 1);
            setenv("TEST_SCHEDULE", schedules[i], 1);
            execv(runner ? runner : "/proc/self/exe", arguments);
            _exit(127);
        }
        int status = -1;
        waitpid(child, &status, 0);
        if (status) {
            fprintf(stderr, "%s: failed under CSAN_SCHEDULE=%s\n", arguments[0], schedules[i]);
            failed = 1;
        }
    }
    return failed;
}

/* The whole of main: `tests` run under each schedule, with `schedule` set to it. */
#define TEST_MAIN(tests, setup, teardown)                                                          \
    int main(int count, char **arguments)                                                          \
    {                                                                                              \
        (void)count;                                                                               \
        schedule = test_schedule();                                                                \
        return schedule ? cmocka_run_group_tests(tests, setup, teardown)                           \
                        : test_under_each_schedule(arguments);                                     \
    }

#endif
