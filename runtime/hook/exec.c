/* The exec family and posix_spawn, as programs see them. A program that is about to become another
 * one has come to its end for csan: everything is decided, said and written before (ending.h). And
 * csan run is told of programs that are started without csan in them (process_tree.h).
 *
 * A process without csan run that had races and would have ended with 66 keeps that through the
 * exec: the new program gets CSAN_RACED=PROCESS:CODE, which holds for this process alone, and
 * libcsan preloaded.
 *
 * All of it runs in children of fork and vfork, too: nothing is allocated, and nothing of the
 * parent's is changed. */
#include "csan/output.h"
#include "runtime/hook/driver.h"
#include "runtime/hook/ending.h"
#include "runtime/hook/exec_target.h"
#include "runtime/hook/guard.h"
#include "runtime/hook/process.h"

#include <dlfcn.h>
#include <errno.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

extern char **environ;

/* ---- The C library's functions ---- */

typedef int execve_function(const char *path, char *const arguments[], char *const environment[]);
typedef int fexecve_function(int file, char *const arguments[], char *const environment[]);
typedef int execveat_function(int directory, const char *path, char *const arguments[],
                              char *const environment[], int flags);
typedef int spawn_function(pid_t *process, const char *path,
                           const posix_spawn_file_actions_t *actions,
                           const posix_spawnattr_t *attributes, char *const arguments[],
                           char *const environment[]);

static struct {
    bool found;
    execve_function *execve, *execvpe;
    fexecve_function *fexecve;
    execveat_function *execveat;
    spawn_function *spawn, *spawnp;
} next;

/* At the start, since dlsym takes locks that a forked child may find taken. */
__attribute__((constructor)) static void next_find(void)
{
    next.execve = (execve_function *)driver_dlsym(RTLD_NEXT, "execve");
    next.execvpe = (execve_function *)driver_dlsym(RTLD_NEXT, "execvpe");
    next.fexecve = (fexecve_function *)driver_dlsym(RTLD_NEXT, "fexecve");
    next.execveat = (execveat_function *)driver_dlsym(RTLD_NEXT, "execveat");
    next.spawn = (spawn_function *)driver_dlsym(RTLD_NEXT, "posix_spawn");
    next.spawnp = (spawn_function *)driver_dlsym(RTLD_NEXT, "posix_spawnp");
    __atomic_store_n(&next.found, true, __ATOMIC_RELEASE);
}

static void next_need(void)
{
    if (!__atomic_load_n(&next.found, __ATOMIC_ACQUIRE))
        next_find();
}

/* ---- A program that is to be executed ---- */

enum { RACED_BYTES = 64, PRELOAD_BYTES = 8192 };

struct execution {
    int loss;      /* as process_tree_lose gives it */
    bool finished; /* csan summed up for it */
    char **environment;
    char raced[RACED_BYTES], preload[PRELOAD_BYTES]; /* what was put into the environment */
};

static enum tree_loss loss_of(const char *path, char *const environment[])
{
    enum tree_loss loss = path ? exec_target_loss(path) : TREE_WATCHED;
    return loss == TREE_WATCHED ? exec_environment_loss(environment) : loss;
}

/* `path` NULL: not known. */
static void lost_begin(struct execution *execution, const char *path, const char *name,
                       char *const environment[])
{
    execution->loss = -1;
    if (process_tree_attached() && !guard_self.depth) /* else it is csan's own helper */
        execution->loss = process_tree_lose(loss_of(path, environment), path ? path : name);
}

static bool is_variable(const char *text, const char *name)
{
    const size_t length = strlen(name);
    return strncmp(text, name, length) == 0 && text[length] == '=';
}

static bool own_path(char path[PATH_MAX])
{
    Dl_info self;
    return dladdr((void *)next_find, &self) && self.dli_fname && self.dli_fname[0] == '/' &&
           snprintf(path, PATH_MAX, "%s", self.dli_fname) < PATH_MAX;
}

/* The races of the program that ends here, for the one that takes its place. `room` holds all of
 * `from` and three more. */
static void raced_hand_on(struct execution *execution, char *const from[], char **room, int code)
{
    char library[PATH_MAX];
    const char *before = "";
    size_t count = 0;
    for (size_t i = 0; from && from[i]; i++)
        if (is_variable(from[i], "LD_PRELOAD"))
            before = from[i] + strlen("LD_PRELOAD=");
        else if (!is_variable(from[i], "CSAN_RACED"))
            room[count++] = from[i];
    snprintf(execution->raced, RACED_BYTES, "CSAN_RACED=%d:%d", (int)getpid(), code);
    room[count++] = execution->raced;
    int length = snprintf(execution->preload, PRELOAD_BYTES, "LD_PRELOAD=%s%s%s",
                          own_path(library) && !strstr(before, "libcsan.so") ? library : "",
                          *before ? ":" : "", before);
    if (length < PRELOAD_BYTES)
        room[count++] = execution->preload;
    room[count] = NULL;
    execution->environment = room;
}

static size_t room_for(char *const variables[])
{
    size_t count = 0;
    while (variables && variables[count])
        count++;
    return count + 3;
}

/* What a program with races hands on to the next; 0: nothing. */
static int code_to_hand_on(void)
{
    return ending_is_own_process() ? ending_code() : 0;
}

static void finish_for(struct execution *execution, const char *path)
{
    if (!ending_is_own_process() || driver_hooks_on != DRIVER_ON || guard_self.depth ||
        (path && !exec_target_is_runnable(path)))
        return;
    execution->finished = true;
    ending_finish();
}

/* Before the call. `path` NULL: not known. `room` has room_for(variables) places. */
static void execution_begin(struct execution *execution, const char *path, const char *name,
                            char *const variables[], char **room)
{
    next_need();
    execution->environment = (char **)variables;
    execution->finished = false;
    lost_begin(execution, path, name, variables);
    finish_for(execution, path);
    const int raced = code_to_hand_on();
    if (raced)
        raced_hand_on(execution, variables, room, raced);
}

/* It failed: the program goes on, but csan cannot. */
static int execution_failed(const struct execution *execution)
{
    static const char line[] = "csan: the program could not be executed, after csan had summed up "
                               "for it; what this process does from here on is not checked\n";
    const int error = errno;
    process_tree_unlose(execution->loss);
    if (execution->finished) {
        __atomic_store_n(&driver_hooks_on, DRIVER_OFF, __ATOMIC_RELEASE);
        output_write(STDERR_FILENO, line, sizeof line - 1);
    }
    errno = error;
    return -1;
}

/* ---- exec ---- */

#pragma GCC visibility push(default)
int execve(const char *path, char *const arguments[], char *const environment[]);
int execv(const char *path, char *const arguments[]);
int execvp(const char *file, char *const arguments[]);
int execvpe(const char *file, char *const arguments[], char *const environment[]);
int execl(const char *path, const char *argument, ...);
int execlp(const char *file, const char *argument, ...);
int execle(const char *path, const char *argument, ...);
int fexecve(int file, char *const arguments[], char *const environment[]);
int execveat(int directory, const char *path, char *const arguments[], char *const environment[],
             int flags);
int posix_spawn(pid_t *process, const char *path, const posix_spawn_file_actions_t *actions,
                const posix_spawnattr_t *attributes, char *const arguments[],
                char *const environment[]);
int posix_spawnp(pid_t *process, const char *file, const posix_spawn_file_actions_t *actions,
                 const posix_spawnattr_t *attributes, char *const arguments[],
                 char *const environment[]);
#pragma GCC visibility pop

int execve(const char *path, char *const arguments[], char *const environment[])
{
    struct execution execution;
    char *room[room_for(environment)];
    execution_begin(&execution, path, path, environment, room);
    next.execve(path, arguments, execution.environment);
    return execution_failed(&execution);
}

int execvpe(const char *file, char *const arguments[], char *const environment[])
{
    struct execution execution;
    char path[PATH_MAX];
    const char *found = exec_target_find(file, path) ? path : NULL;
    if (!found && strchr(file, '/'))
        found = file;
    char *room[room_for(environment)];
    execution_begin(&execution, found, file, environment, room);
    next.execvpe(file, arguments, execution.environment);
    return execution_failed(&execution);
}

int execv(const char *path, char *const arguments[])
{
    return execve(path, arguments, environ);
}

int execvp(const char *file, char *const arguments[])
{
    return execvpe(file, arguments, environ);
}

int fexecve(int file, char *const arguments[], char *const environment[])
{
    struct execution execution;
    char path[32];
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    char *room[room_for(environment)];
    execution_begin(&execution, path, path, environment, room);
    next.fexecve(file, arguments, execution.environment);
    return execution_failed(&execution);
}

int execveat(int directory, const char *path, char *const arguments[], char *const environment[],
             int flags)
{
    struct execution execution;
    char *room[room_for(environment)];
    execution_begin(&execution, path[0] == '/' ? path : NULL, path, environment, room);
    if (next.execveat)
        next.execveat(directory, path, arguments, execution.environment, flags);
    else
        errno = ENOSYS; /* a C library before 2.34 has no such function */
    return execution_failed(&execution);
}

/* How many arguments a call lists after the first, the NULL at their end among them. */
static size_t listed(va_list list)
{
    size_t count = 1;
    va_list counted;
    va_copy(counted, list);
    while (va_arg(counted, char *))
        count++;
    va_end(counted);
    return count;
}

/* `arguments` gets the first, and as many as were listed. */
static void list_take(va_list list, size_t count, const char *first, char **arguments)
{
    arguments[0] = (char *)first;
    for (size_t i = 1; i <= count; i++)
        arguments[i] = va_arg(list, char *);
}

int execl(const char *path, const char *argument, ...)
{
    va_list list;
    va_start(list, argument);
    const size_t count = listed(list);
    char *arguments[count + 1];
    list_take(list, count, argument, arguments);
    va_end(list);
    return execve(path, arguments, environ);
}

int execlp(const char *file, const char *argument, ...)
{
    va_list list;
    va_start(list, argument);
    const size_t count = listed(list);
    char *arguments[count + 1];
    list_take(list, count, argument, arguments);
    va_end(list);
    return execvpe(file, arguments, environ);
}

int execle(const char *path, const char *argument, ...)
{
    va_list list;
    va_start(list, argument);
    const size_t count = listed(list);
    char *arguments[count + 1];
    list_take(list, count, argument, arguments);
    char *const *environment = va_arg(list, char *const *);
    va_end(list);
    return execve(path, arguments, environment);
}

/* ---- posix_spawn: the process goes on ---- */

int posix_spawn(pid_t *process, const char *path, const posix_spawn_file_actions_t *actions,
                const posix_spawnattr_t *attributes, char *const arguments[],
                char *const environment[])
{
    struct execution execution;
    next_need();
    lost_begin(&execution, path, path, environment);
    const int error = next.spawn(process, path, actions, attributes, arguments, environment);
    if (error)
        process_tree_unlose(execution.loss);
    return error;
}

int posix_spawnp(pid_t *process, const char *file, const posix_spawn_file_actions_t *actions,
                 const posix_spawnattr_t *attributes, char *const arguments[],
                 char *const environment[])
{
    struct execution execution;
    char path[PATH_MAX];
    next_need();
    const bool watched = process_tree_attached() && !guard_self.depth;
    const bool found = watched && exec_target_find(file, path);
    lost_begin(&execution, found ? path : NULL, file, environment);
    const int error = next.spawnp(process, file, actions, attributes, arguments, environment);
    if (error)
        process_tree_unlose(execution.loss);
    return error;
}
