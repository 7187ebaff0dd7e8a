/* `csan run --verify-fix`. See fix.h. */
#include "runtime/cli/fix.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static struct {
    volatile sig_atomic_t child; /* 0: none runs */
} after_run;

static const int handed_on[] = {SIGTERM, SIGHUP, SIGINT, SIGQUIT};
enum { HANDED_ON = sizeof handed_on / sizeof *handed_on };

/* A terminal's signals reach the program, too, as a member of its group. */
static void on_signal(int number)
{
    if (after_run.child && (number == SIGTERM || number == SIGHUP))
        kill(after_run.child, number);
}

/* False, with a message said, when it cannot be started. */
static bool run_program(const struct program *program, int *status)
{
    struct sigaction before[HANDED_ON];
    fflush(NULL);
    for (int i = 0; i < HANDED_ON; i++)
        sigaction(handed_on[i], &(struct sigaction){.sa_handler = on_signal}, &before[i]);
    pid_t child = fork();
    if (child == 0) {
        for (int i = 0; i < HANDED_ON; i++)
            sigaction(handed_on[i], &before[i], NULL);
        _exit(program_become(program));
    }
    after_run.child = child > 0 ? child : 0;
    while (child > 0 && waitpid(child, status, 0) < 0 && errno == EINTR)
        ;
    after_run.child = 0;
    for (int i = 0; i < HANDED_ON; i++)
        sigaction(handed_on[i], &before[i], NULL);
    if (child < 0)
        program_fail(program, 0, "cannot start a process: %s", strerror(errno));
    return child > 0;
}

int fix_after_run(const struct program *program)
{
    static struct fixing fixing;
    int status;
    if (!run_program(program, &status))
        return EXIT_CANNOT_RUN;
    if (WIFSIGNALED(status))
        return 128 + WTERMSIG(status); /* as shells do; what was interrupted is not run again */
    const int code = WEXITSTATUS(status);
    if (code == EXIT_CANNOT_RUN || code == EXIT_NOT_FOUND)
        return code;
    fixing = (struct fixing){.program = *program, .out = stderr};
    fixing.program.command = "fix";
    fix(&fixing);
    return code;
}
