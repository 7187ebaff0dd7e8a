/* Signals that end the process: which are watched, and that the program's own handlers stay. */
#include "runtime/hook/run/fatal_signal.h"
#include "runtime/hook/run/process_exit.h"

#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

/* ---- what the hooks have */

static int end_pipe[2]; /* gets a byte when the process is finished */

bool process_exit_is_own_process(void)
{
    return true;
}

bool process_exit_finish(enum session_end_way way, int status)
{
    (void)way, (void)status;
    return write(end_pipe[1], "", 1) == 1;
}

/* ---- the program's thread, which sets a handler of its own while csan looks */

extern int __sigaction(int number, const struct sigaction *action, struct sigaction *before);

static int meddled; /* a signal; 0: none */

static void programs_first(int number)
{
    (void)number;
}

static void programs_second(int number)
{
    (void)number;
}

static void programs_set(void (*handler)(int))
{
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = handler;
    __sigaction(meddled, &action, NULL);
}

/* Behind csan's look there is the first, behind csan's handler the second. */
int sigaction(int number, const struct sigaction *action, struct sigaction *before)
{
    static int changes;
    const int result = __sigaction(number, action, before);
    if (number != meddled)
        return result;
    changes = action ? changes + 1 : 0;
    if (!action)
        programs_set(programs_first);
    else if (changes == 1)
        programs_set(programs_second);
    return result;
}

/* ---- tests */

static int ended_by(int number)
{
    int status;
    char byte;
    assert_int_equal(pipe(end_pipe), 0);
    const pid_t child = fork();
    if (child == 0) {
        signal(number, SIG_DFL); /* cmocka has handlers of faults */
        alarm(10);
        fatal_signal_watch();
        raise(number);
        _exit(0);
    }
    close(end_pipe[1]);
    assert_int_equal(read(end_pipe[0], &byte, 1), 1);
    close(end_pipe[0]);
    waitpid(child, &status, 0);
    return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

static void every_signal_that_ends_the_process_is_watched(void **state)
{
    static const int numbers[] = {SIGABRT, SIGALRM, SIGBUS,    SIGFPE,  SIGHUP,  SIGILL,
                                  SIGINT,  SIGIO,   SIGPIPE,   SIGPROF, SIGPWR,  SIGQUIT,
                                  SIGSEGV, SIGSYS,  SIGSTKFLT, SIGTERM, SIGUSR1, SIGUSR2,
                                  SIGXCPU, SIGXFSZ, SIGVTALRM};
    (void)state;
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        assert_int_equal(ended_by(numbers[i]), numbers[i]);
    assert_int_equal(ended_by(SIGRTMIN), SIGRTMIN);
    assert_int_equal(ended_by(SIGRTMAX), SIGRTMAX);
}

static void handler_that_is_set_meanwhile_stays(void **state)
{
    struct sigaction now;
    (void)state;
    meddled = SIGUSR1;
    fatal_signal_watch();
    meddled = 0;
    assert_int_equal(sigaction(SIGUSR1, NULL, &now), 0);
    assert_ptr_equal(now.sa_handler, programs_second);
}

static void handlers_that_are_there_stay(void **state)
{
    struct sigaction now;
    (void)state;
    /* By the C library itself: ThreadSanitizer's run-time would set a handler of its own. */
    assert_int_equal(__sigaction(SIGTERM, &(struct sigaction){.sa_handler = programs_first}, NULL),
                     0);
    assert_int_equal(__sigaction(SIGHUP, &(struct sigaction){.sa_handler = SIG_IGN}, NULL), 0);
    fatal_signal_watch();
    assert_int_equal(sigaction(SIGTERM, NULL, &now), 0);
    assert_ptr_equal(now.sa_handler, programs_first);
    assert_int_equal(sigaction(SIGHUP, NULL, &now), 0);
    assert_ptr_equal(now.sa_handler, SIG_IGN);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_signal_that_ends_the_process_is_watched),
        cmocka_unit_test(handler_that_is_set_meanwhile_stays),
        cmocka_unit_test(handlers_that_are_there_stay),
    };
    return cmocka_run_group_tests_name("fatal_signal", tests, NULL, NULL);
}
