// verdict: race
// output: -
// A program whose end runs no exit handler is reported as well: by _exit, or as its argument says
// (tests/shell/test_processes.sh).
#include "program.h"

#include <csignal>
#include <cstring>
#include <unistd.h>

static void end_in_handler(int)
{
    _exit(0);
}

static void end(const char *how)
{
    if (!strcmp(how, "_exit"))
        _exit(0);
    if (!strcmp(how, "_Exit"))
        _Exit(0);
    if (!strcmp(how, "quick_exit"))
        quick_exit(0);
    if (!strcmp(how, "exec"))
        execl("/bin/true", "true", (char *)0);
    if (!strcmp(how, "exec_alone")) {
        char *const arguments[] = {(char *)"true", NULL}, *const nothing[] = {NULL};
        execve("/bin/true", arguments, nothing);
    }
    if (!strcmp(how, "handler")) {
        signal(SIGUSR1, end_in_handler);
        raise(SIGUSR1);
    }
    if (!strcmp(how, "abort"))
        abort();
    if (!strcmp(how, "segv"))
        raise(SIGSEGV);
    if (!strcmp(how, "term"))
        raise(SIGTERM);
    if (!strcmp(how, "kill"))
        raise(SIGKILL);
}

int main(int count, char **arguments)
{
    int *p = device_array<int>();
    cudaStream_t a = nonblocking_stream(), b = nonblocking_stream();
    launch_fill(a, p);
    launch_fill(b, p);
    CHECK(cudaDeviceSynchronize());
    end(count > 1 ? arguments[1] : "_exit");
    return 9;
}
