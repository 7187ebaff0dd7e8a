/* A program run to its end. See child.h. */
#include "runtime/cli/process/child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { ERROR_LINES = 8 };

/* ---- Signals ---- */

static struct {
    volatile sig_atomic_t interrupted;
} watch;

static void on_signal(int number)
{
    watch.interrupted = number;
}

void child_watch_signals(void)
{
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE};
    struct sigaction before;
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
        if (sigaction(signals[i], NULL, &before) == 0 && before.sa_handler != SIG_IGN)
            sigaction(signals[i], &(struct sigaction){.sa_handler = on_signal}, NULL);
    signal(SIGCHLD,
           SIG_DFL); /* a parent that ignores it hands that on, and nothing is waited for */
}

int child_interrupted(void)
{
    return watch.interrupted;
}

/* ---- The run ---- */

static void redirect(int descriptor, const char *path, int flags)
{
    int file = open(path, flags | O_CLOEXEC, 0600);
    if (file < 0 || dup2(file, descriptor) < 0)
        _exit(EXIT_CANNOT_RUN);
}

/* In the child, in a process group of its own. */
static void become(const struct child_settings *settings)
{
    int randomised = personality(0xffffffff);
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    personality((unsigned long)randomised | ADDR_NO_RANDOMIZE);
    unsetenv("CSAN_TREE"); /* a run that is tried is no part of a csan run above */
    settings->prepare(settings->user);
    redirect(STDIN_FILENO, "/dev/null", O_RDONLY);
    redirect(STDOUT_FILENO, settings->output, O_WRONLY | O_CREAT | O_TRUNC);
    redirect(STDERR_FILENO, settings->errors, O_WRONLY | O_CREAT | O_TRUNC);
    _exit(program_become(settings->program));
}

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

/* Not reaped yet: until then its id, and its group's, are nobody else's. */
static bool has_ended(pid_t pid)
{
    siginfo_t info = {0};
    if (waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) != 0)
        return errno != EINTR;
    return info.si_pid == pid;
}

static void wait_for(const struct child_settings *settings, struct child *child)
{
    double start = now();
    struct timespec nap = {.tv_nsec = 200000};
    while (!has_ended(child->pid)) {
        child->timed_out |= now() - start > settings->limit;
        if (child->timed_out || child_interrupted())
            kill(-child->pid, SIGKILL);
        nanosleep(&nap, NULL);
        if (nap.tv_nsec < 5000000)
            nap.tv_nsec += nap.tv_nsec / 8;
    }
    child->seconds = now() - start;
    kill(-child->pid, SIGKILL); /* what it left behind */
    while (waitpid(child->pid, &child->status, 0) < 0 && errno == EINTR)
        ;
}

bool child_run(const struct child_settings *settings, struct child *child)
{
    *child = (struct child){0};
    fflush(NULL);
    child->pid = fork();
    if (child->pid < 0) {
        program_fail(settings->program, 0, "cannot start a process: %s", strerror(errno));
        return false;
    }
    if (child->pid == 0)
        become(settings);
    setpgid(child->pid, child->pid);
    wait_for(settings, child);
    return true;
}

/* ---- What is said of it ---- */

void child_describe_end(int status, char *text, size_t bytes)
{
    if (WIFSIGNALED(status))
        snprintf(text, bytes, "by signal %d", WTERMSIG(status));
    else
        snprintf(text, bytes, "with exit code %d", WEXITSTATUS(status));
}

void child_print_errors(const char *path)
{
    char lines[ERROR_LINES][256];
    size_t count = 0;
    FILE *file = fopen(path, "re");
    while (file && fgets(lines[count % ERROR_LINES], sizeof lines[0], file))
        count++;
    for (size_t i = count > ERROR_LINES ? count - ERROR_LINES : 0; i < count; i++) {
        char *line = lines[i % ERROR_LINES];
        line[strcspn(line, "\n")] = '\0';
        fprintf(stderr, "    %s\n", line);
    }
    if (file)
        fclose(file);
}
