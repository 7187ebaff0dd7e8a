/* See gpu_probe.h. */
#include "runtime/hook/rt/gpu_probe.h"
#include "runtime/glibc/symbol_version.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static bool is_embedded(void *driver)
{
    struct link_map *map = NULL;
    return dlinfo(driver, RTLD_DI_LINKMAP, &map) == 0 && map &&
           strstr(map->l_name, "/csan/embedded/") != NULL;
}

typedef void *dlsym_function(void *handle, const char *symbol);
typedef int init_function(unsigned flags);
typedef int count_function(int *count);
typedef int name_function(int result, const char **name);

/* The C library's, past csan's own: to the hooks a call of cuInit is the first use of CUDA. */
static void *find(void *library, const char *symbol)
{
    dlsym_function *real = (dlsym_function *)dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.34");
    if (!real)
        real = (dlsym_function *)dlvsym(RTLD_NEXT, "dlsym", GLIBC_FIRST);
    return real ? real(library, symbol) : NULL;
}

/* 0: the process has not initialized its driver, or has none (CUDA Driver API, "Initialization":
 * any function but cuInit then fails). */
static int devices_known(void)
{
    void *driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
    count_function *count = driver ? (count_function *)find(driver, "cuDeviceGetCount") : NULL;
    int devices = 0;
    if (count && count(&devices) != 0)
        devices = 0;
    if (driver)
        dlclose(driver);
    return devices;
}

static struct gpu_probe ask(void)
{
    struct gpu_probe probe = {.answered = true};
    void *driver = dlopen("libcuda.so.1", RTLD_NOW);
    if (!driver)
        return probe;
    init_function *init = (init_function *)find(driver, "cuInit");
    count_function *count = (count_function *)find(driver, "cuDeviceGetCount");
    name_function *name_of = (name_function *)find(driver, "cuGetErrorName");
    const char *name = NULL;
    probe.embedded = is_embedded(driver);
    probe.loaded = init && count;
    if (!probe.loaded)
        return probe;
    probe.result = init(0);
    if (probe.result == 0)
        probe.result = count(&probe.count);
    if (probe.result && name_of && name_of(probe.result, &name) == 0 && name)
        snprintf(probe.name, sizeof probe.name, "%s", name);
    return probe;
}

/* Without handlers of exit, and past csan's own _exit. */
static _Noreturn void answer(int pipe)
{
    const struct gpu_probe probe = ask();
    const bool written = write(pipe, &probe, sizeof probe) == (ssize_t)sizeof probe;
    for (;;)
        syscall(SYS_exit_group, written ? 0 : 1);
}

/* An answer is one write, so it comes whole or not at all (pipe(7), PIPE_BUF). */
static struct gpu_probe answer_read(int pipe)
{
    struct gpu_probe probe;
    ssize_t bytes;
    do
        bytes = read(pipe, &probe, sizeof probe);
    while (bytes < 0 && errno == EINTR);
    return bytes == (ssize_t)sizeof probe ? probe : (struct gpu_probe){0};
}

static struct gpu_probe ask_in_child(void)
{
    struct gpu_probe probe = {0};
    sigset_t child_ended, before;
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        return probe;
    sigemptyset(&child_ended);
    sigaddset(&child_ended, SIGCHLD);
    pthread_sigmask(SIG_BLOCK, &child_ended, &before);
    const pid_t child = fork();
    if (child == 0)
        answer(ends[1]);
    close(ends[1]);
    if (child > 0)
        probe = answer_read(ends[0]);
    close(ends[0]);
    while (child > 0 && waitpid(child, NULL, 0) < 0 && errno == EINTR)
        ;
    if (child > 0)
        sigtimedwait(&child_ended, NULL, &(struct timespec){0});
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return probe;
}

struct gpu_probe gpu_probe(void)
{
    const int devices = devices_known();
    if (devices > 0)
        return (struct gpu_probe){.answered = true, .loaded = true, .count = devices};
    return ask_in_child();
}
