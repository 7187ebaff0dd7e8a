/* See supervise.h. All signals are blocked in the command and taken one by one. */
#include "runtime/cli/process/supervise.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

struct supervised {
    pid_t process;
    int status; /* as waitpid gives it; once over */
    bool over;
    sigset_t before;               /* this command's mask, and the program's */
    struct sigaction child_before; /* of SIGCHLD: a parent that ignores it hands that on */
};

/* ---- The program ---- */

/* In the child. The kernel kills it when the command is killed; the command may be gone already. */
static void become(const struct program *program, const struct supervised *supervised, pid_t parent)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(EXIT_CANNOT_RUN);
    sigaction(SIGCHLD, &supervised->child_before, NULL);
    sigprocmask(SIG_SETMASK, &supervised->before, NULL);
    _exit(program_become(program));
}

static bool start(struct supervised *supervised, const struct program *program)
{
    const pid_t parent = getpid();
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &supervised->before);
    sigaction(SIGCHLD, &(struct sigaction){.sa_handler = SIG_DFL}, &supervised->child_before);
    fflush(NULL);
    supervised->process = fork();
    if (supervised->process == 0)
        become(program, supervised, parent);
    if (supervised->process > 0)
        return true;
    program_fail(program, 0, "cannot start a process: %s", strerror(errno));
    sigprocmask(SIG_SETMASK, &supervised->before, NULL);
    return false;
}

/* ---- What happens to it ---- */

/* As it stopped, so that the shell sees the job stopped; whoever continues the job continues both.
 */
static void stop_with(const struct supervised *supervised)
{
    kill(getpid(), SIGSTOP);
    kill(supervised->process, SIGCONT); /* for one that continues the command alone */
}

/* Children of others that this command inherits (as process 1) are taken, too. */
static void look(struct supervised *supervised)
{
    int status;
    pid_t process;
    while ((process = waitpid(-1, &status, WNOHANG | WUNTRACED)) > 0) {
        if (process != supervised->process)
            continue;
        if (WIFSTOPPED(status)) {
            stop_with(supervised);
        } else {
            supervised->status = status;
            supervised->over = true;
        }
    }
}

/* What the terminal sends goes to all of its foreground group, and the program is in it; only what
 * a process sent to the command is handed on (sigaction(2), si_code). */
static void hand_on(const struct supervised *supervised, const siginfo_t *info)
{
    if (info->si_code > 0 || info->si_signo == SIGCHLD || info->si_pid == supervised->process)
        return;
    if (info->si_code == SI_QUEUE)
        sigqueue(supervised->process, info->si_signo, info->si_value);
    else
        kill(supervised->process, info->si_signo);
}

int supervise_run(const struct program *program, sigset_t *before)
{
    struct supervised supervised = {0};
    siginfo_t info;
    sigset_t all;
    if (!start(&supervised, program))
        return -1;
    *before = supervised.before;
    sigfillset(&all);
    for (look(&supervised); !supervised.over; look(&supervised))
        if (sigwaitinfo(&all, &info) > 0)
            hand_on(&supervised, &info);
    return supervised.status;
}

/* ---- The end ---- */

/* The program has left a core already, if one was to be. */
static void die_by(int number)
{
    sigset_t one;
    setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
    prctl(PR_SET_DUMPABLE, 0);
    sigaction(number, &(struct sigaction){.sa_handler = SIG_DFL}, NULL);
    sigemptyset(&one);
    sigaddset(&one, number);
    raise(number);
    sigprocmask(SIG_UNBLOCK, &one, NULL);
}

void supervise_end(int status)
{
    fflush(NULL);
    if (WIFSIGNALED(status))
        die_by(WTERMSIG(status));
    _exit(WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status));
}
