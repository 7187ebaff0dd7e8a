/* See check.h. */
#include "runtime/cli/doctor/check.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

const struct check_entry check_entries[] = {
    {"csan", check_csan},
    {"variables", check_variables},
    {"driver", check_driver},
    {"tools-interface", check_tools},
    {"embedded-device", check_embedded},
    {"cpu-libraries", check_cpu_libraries},
    {"toolkit", check_toolkit},
    {"pytorch", check_pytorch},
    {"page-guard", check_guard},
    {"permissions", check_permissions},
    {NULL, NULL},
};

/* clang-tidy, given several files at once, forgets va_start. */
void check_found(struct check *check, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(check->found, sizeof check->found, format, /* NOLINT(clang-analyzer-valist.*) */
              arguments);
    va_end(arguments);
}

void check_lacks(struct check *check, enum check_state state, const char *without,
                 const char *advice, ...)
{
    va_list arguments;
    check->state = state;
    snprintf(check->without, sizeof check->without, "%s", without);
    va_start(arguments, advice);
    vsnprintf(check->advice, sizeof check->advice, advice, /* NOLINT(clang-analyzer-valist.*) */
              arguments);
    va_end(arguments);
}

/* ---- Another process ---- */

/* Reads until `bytes` are there, the other end is closed, or the time is over. */
static size_t read_within(int file, char *into, size_t bytes, unsigned seconds)
{
    size_t got = 0;
    struct pollfd ready = {.fd = file, .events = POLLIN};
    for (unsigned tenths = 0; got < bytes && tenths < seconds * 10;) {
        const int polled = poll(&ready, 1, 100);
        if (polled == 0)
            tenths++;
        if (polled <= 0)
            continue;
        const ssize_t now = read(file, into + got, bytes - got);
        if (now == 0 || (now < 0 && errno != EINTR))
            break;
        got += now > 0 ? (size_t)now : 0;
    }
    return got;
}

/* The child's status; it is killed if it still runs. */
static int end_child(pid_t child, bool kill_it)
{
    int status = -1;
    if (kill_it)
        kill(child, SIGKILL);
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    return status;
}

/* Libraries that are opened to see whether they work print nothing. */
static void be_silent(void)
{
    const int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
    dup2(nothing, STDIN_FILENO);
    dup2(nothing, STDERR_FILENO);
}

bool check_ask(void (*ask)(void *answer, const struct doctor *doctor), const struct doctor *doctor,
               void *answer, size_t bytes, unsigned seconds)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        return false;
    fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
        be_silent();
        ask(answer, doctor);
        _exit(write(ends[1], answer, bytes) == (ssize_t)bytes ? 0 : 1);
    }
    close(ends[1]);
    const size_t got = child > 0 ? read_within(ends[0], answer, bytes, seconds) : 0;
    close(ends[0]);
    if (child > 0)
        end_child(child, got < bytes);
    return got == bytes;
}

bool check_command(char *const *arguments, char *line, size_t bytes, unsigned seconds)
{
    int ends[2];
    *line = '\0';
    if (pipe2(ends, O_CLOEXEC) != 0)
        return false;
    fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
        be_silent();
        dup2(ends[1], STDOUT_FILENO);
        execvp(arguments[0], arguments);
        _exit(127);
    }
    close(ends[1]);
    const size_t got = child > 0 ? read_within(ends[0], line, bytes - 1, seconds) : 0;
    close(ends[0]);
    line[got] = '\0';
    line[strcspn(line, "\n")] = '\0';
    const int status = child > 0 ? end_child(child, got == 0) : -1;
    return got > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}
