/* The exec family and posix_spawn, as programs see them. When a program is about to become another
 * one, it has ended for csan: everything is decided, printed and written before (process_exit.h).
 * csan run also learns here of programs that are started without csan in them (process_tree.h).
 *
 * A process without csan run that had races, and would have ended with 66, keeps that through the
 * exec. The new program gets CSAN_RACED=PROCESS:CODE, which is valid for this process alone, and
 * libcsan preloaded.
 *
 * All of it runs in children of fork and vfork, too: nothing is allocated, and nothing of the
 * parent's is changed. */
#include "csan/base/output.h"
#include "runtime/hook/host/lent_memory.h"
#include "runtime/hook/interpose/driver.h"
#include "runtime/hook/run/process_exit.h"
#include "runtime/hook/run/exec_target.h"
#include "runtime/hook/session/guard.h"
#include "runtime/hook/interpose/libc_next.h"
#include "runtime/hook/session/session.h"
#include "runtime/hook/state/process_link.h"

#include <errno.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

extern char **environ;

/* ---- A call of exec ---- */

struct exec_call {
    enum { EXECVE, EXECVPE, FEXECVE, EXECVEAT } kind;
    const char *name; /* path or name of the program */
    int file, flags;  /* of fexecve; of execveat, whose directory is the file */
    char *const *arguments, *const *environment;
};

/* It returns where it fails. */
static int call_make(const struct exec_call *call, char *const environment[])
{
    lent_memory_open_strings(call->name, call->arguments, environment);
    if (call->kind == EXECVE)
        return libc_next.execve(call->name, call->arguments, environment);
    if (call->kind == EXECVPE)
        return libc_next.execvpe(call->name, call->arguments, environment);
    if (call->kind == FEXECVE)
        return libc_next.fexecve(call->file, call->arguments, environment);
    if (libc_next.execveat)
        return libc_next.execveat(call->file, call->name, call->arguments, environment,
                                  call->flags);
    errno = ENOSYS; /* a C library before 2.34 has no such function */
    return -1;
}

/* ---- The races of the program that ends, for the one that takes its place ---- */

static bool is_variable(const char *text, const char *name)
{
    const size_t length = strlen(name);
    return strncmp(text, name, length) == 0 && text[length] == '=';
}

/* "": there is none. */
static const char *preload_of(char *const variables[])
{
    for (size_t i = 0; variables && variables[i]; i++)
        if (is_variable(variables[i], "LD_PRELOAD"))
            return variables[i] + strlen("LD_PRELOAD=");
    return "";
}

static size_t variable_count(char *const variables[])
{
    size_t count = 0;
    while (variables && variables[count])
        count++;
    return count;
}

/* Nothing may be allocated: what is put into the environment is on the stack. */
static int call_make_raced(const struct exec_call *call, int code)
{
    static const char none[] = "";
    const char *before = preload_of(call->environment);
    const char *library =
        libc_next.library && !strstr(before, "libcsan.so") ? libc_next.library : none;
    const size_t bytes = sizeof "LD_PRELOAD=:" + strlen(library) + strlen(before);
    char preload[bytes], raced[sizeof "CSAN_RACED=:" + 2 * 11];
    char *variables[variable_count(call->environment) + 3];
    size_t count = 0;
    for (size_t i = 0; call->environment && call->environment[i]; i++)
        if (!is_variable(call->environment[i], "LD_PRELOAD") &&
            !is_variable(call->environment[i], "CSAN_RACED"))
            variables[count++] = call->environment[i];
    snprintf(raced, sizeof raced, "CSAN_RACED=%d:%d", (int)getpid(), code);
    snprintf(preload, bytes, "LD_PRELOAD=%s%s%s", library, *library && *before ? ":" : "", before);
    variables[count++] = raced;
    variables[count++] = preload;
    variables[count] = NULL;
    return call_make(call, variables);
}

/* ---- A program that is to be executed ---- */

struct execution {
    int loss;      /* as process_tree_lose gives it */
    bool finished; /* csan summed up for it */
};

/* Else the call passes through as it is, with no more of the stack than it needs: children of
 * vfork and clone may have little. */
static bool is_concerned(void)
{
    return process_tree_attached() || process_exit_is_own_process();
}

static enum tree_loss loss_of(const char *path, char *const environment[])
{
    enum tree_loss loss = path ? exec_target_loss(path) : TREE_WATCHED;
    return loss == TREE_WATCHED ? exec_environment_loss(environment) : loss;
}

/* `path` NULL: not known. */
static int lost_begin(const char *path, const char *name, char *const environment[])
{
    if (!process_tree_attached() || guard_self.depth) /* it is csan's own helper */
        return -1;
    return process_tree_lose(loss_of(path, environment), path ? path : name);
}

static bool finish_for(const char *path)
{
    if (!process_exit_is_own_process() || session_state != SESSION_ON || guard_self.depth ||
        (path && !exec_target_is_runnable(path)))
        return false;
    process_exit_finish(SESSION_END_EXEC, 0);
    return true;
}

/* It failed: the program goes on, but csan cannot. */
static int execution_failed(const struct execution *execution)
{
    static const char line[] = "csan: the program could not be executed, after csan had summed up "
                               "for it; what this process does from here on is not checked\n";
    const int error = errno;
    process_tree_unlose(execution->loss);
    if (execution->finished) {
        __atomic_store_n(&session_state, SESSION_OFF, __ATOMIC_RELEASE);
        output_write(STDERR_FILENO, line, sizeof line - 1);
    }
    errno = error;
    return -1;
}

/* `path` NULL: not known. */
static int execute(const struct exec_call *call, const char *path)
{
    struct execution execution = {.loss = lost_begin(path, call->name, call->environment)};
    execution.finished = finish_for(path);
    const int raced = process_exit_is_own_process() ? process_exit_final_code() : 0;
    if (raced)
        call_make_raced(call, raced);
    else
        call_make(call, call->environment);
    return execution_failed(&execution);
}

/* A name that is looked up in PATH. */
__attribute__((noinline)) static int execute_found(const struct exec_call *call)
{
    char path[PATH_MAX];
    if (exec_target_find(call->name, path))
        return execute(call, path);
    return execute(call, strchr(call->name, '/') ? call->name : NULL);
}

__attribute__((noinline)) static int execute_file(const struct exec_call *call)
{
    char path[32];
    snprintf(path, sizeof path, "/proc/self/fd/%d", call->file);
    struct exec_call named = *call;
    named.name = path;
    return execute(&named, path);
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
    const struct exec_call call = {
        .kind = EXECVE, .name = path, .arguments = arguments, .environment = environment};
    libc_next_need();
    return is_concerned() ? execute(&call, path) : call_make(&call, environment);
}

int execvpe(const char *file, char *const arguments[], char *const environment[])
{
    const struct exec_call call = {
        .kind = EXECVPE, .name = file, .arguments = arguments, .environment = environment};
    libc_next_need();
    return is_concerned() ? execute_found(&call) : call_make(&call, environment);
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
    const struct exec_call call = {
        .kind = FEXECVE, .file = file, .arguments = arguments, .environment = environment};
    libc_next_need();
    return is_concerned() ? execute_file(&call) : call_make(&call, environment);
}

int execveat(int directory, const char *path, char *const arguments[], char *const environment[],
             int flags)
{
    const struct exec_call call = {.kind = EXECVEAT,
                                   .name = path,
                                   .file = directory,
                                   .flags = flags,
                                   .arguments = arguments,
                                   .environment = environment};
    libc_next_need();
    return is_concerned() ? execute(&call, path[0] == '/' ? path : NULL)
                          : call_make(&call, environment);
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
    libc_next_need();
    process_link_starts();
    const int loss = lost_begin(path, path, environment);
    lent_memory_open_strings(path, arguments, environment);
    const int error = libc_next.spawn(process, path, actions, attributes, arguments, environment);
    if (error)
        process_tree_unlose(loss);
    return error;
}

__attribute__((noinline)) static int lost_begin_found(const char *file, char *const environment[])
{
    char path[PATH_MAX];
    return lost_begin(exec_target_find(file, path) ? path : NULL, file, environment);
}

int posix_spawnp(pid_t *process, const char *file, const posix_spawn_file_actions_t *actions,
                 const posix_spawnattr_t *attributes, char *const arguments[],
                 char *const environment[])
{
    libc_next_need();
    process_link_starts();
    const int loss = process_tree_attached() ? lost_begin_found(file, environment) : -1;
    lent_memory_open_strings(file, arguments, environment);
    const int error = libc_next.spawnp(process, file, actions, attributes, arguments, environment);
    if (error)
        process_tree_unlose(loss);
    return error;
}
