/* Whether a debugger has the thread: a child that this test traces, and one that it does not. */
#include "runtime/hook/host/debugger.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

enum { NOT_ALLOWED = 77 };

static void run_child(bool traced)
{
    debugger_is_here(); /* what it said is kept for a while */
    if (traced && ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0)
        _exit(NOT_ALLOWED);
    if (traced)
        raise(SIGSTOP);
    usleep(50000);
    _exit(debugger_is_here());
}

/* What the child ends with. */
static int child_says(bool traced)
{
    int status = 0;
    const pid_t child = fork();
    if (child == 0)
        run_child(traced);
    assert_int_equal(waitpid(child, &status, 0), child);
    while (WIFSTOPPED(status)) {
        assert_int_equal(ptrace(PTRACE_CONT, child, NULL, NULL), 0);
        assert_int_equal(waitpid(child, &status, 0), child);
    }
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static void it_is_seen_when_it_comes(void **state)
{
    (void)state;
    const int said = child_says(true);
    if (said == NOT_ALLOWED)
        skip();
    assert_int_equal(said, 1);
}

static void without_one_there_is_none(void **state)
{
    (void)state;
    if (!debugger_is_here()) /* nobody debugs this test */
        assert_int_equal(child_says(false), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_is_seen_when_it_comes),
        cmocka_unit_test(without_one_there_is_none),
    };
    return cmocka_run_group_tests_name("debugger", tests, NULL, NULL);
}
