/* The functions that libcsan stands in front of, as the next library has them: the C library, or
 * another library in front of it. The table is filled before any constructor of libcsan's runs. A
 * look-up takes locks, and the caller of such a function may be a signal handler or a forked child,
 * or hold what the owner of those locks waits for. */
#ifndef RUNTIME_HOOK_INTERPOSE_LIBC_NEXT_H
#define RUNTIME_HOOK_INTERPOSE_LIBC_NEXT_H

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <sys/select.h>
#include <sys/types.h>

typedef int libc_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *),
                        void *argument);
typedef char *libc_getenv(const char *name);
typedef void libc_leave(int code);
typedef void libc_abort(void);
typedef int libc_execve(const char *path, char *const arguments[], char *const environment[]);
typedef int libc_fexecve(int file, char *const arguments[], char *const environment[]);
typedef int libc_execveat(int directory, const char *path, char *const arguments[],
                          char *const environment[], int flags);
typedef int libc_spawn(pid_t *process, const char *path, const posix_spawn_file_actions_t *actions,
                       const posix_spawnattr_t *attributes, char *const arguments[],
                       char *const environment[]);

typedef pid_t libc_fork(void);

struct sigaction;
typedef int libc_sigaction(int number, const struct sigaction *action, struct sigaction *before);
typedef void (*libc_signal(int number, void (*handler)(int)))(int);
typedef int libc_sigmask(int how, const sigset_t *set, sigset_t *before);
typedef int libc_suspend(const sigset_t *set);
typedef int libc_ppoll(struct pollfd *files, nfds_t count, const struct timespec *limit,
                       const sigset_t *set);
typedef int libc_pselect(int count, fd_set *reads, fd_set *writes, fd_set *others,
                         const struct timespec *limit, const sigset_t *set);
struct epoll_event;
typedef int libc_epoll_pwait(int epoll, struct epoll_event *events, int most, int limit,
                             const sigset_t *set);

struct libc_next {
    libc_create *create_thread; /* first: the assembly entry of pthread_create reads it;
                                   libcsan_threads.so may be the next */
    libc_getenv *getenv;
    libc_leave *leave, *leave_quickly; /* _exit and quick_exit */
    libc_abort *abort;
    libc_execve *execve, *execvpe;
    libc_fexecve *fexecve;
    libc_execveat *execveat; /* NULL in a C library before 2.34 */
    libc_spawn *spawn, *spawnp;
    libc_fork *fork, *vfork;
    libc_sigaction *sigaction;
    libc_signal *signal, *sysv_signal;
    libc_sigmask *thread_mask, *process_mask; /* pthread_sigmask and sigprocmask */
    int (*attribute_mask)(pthread_attr_t *attributes, const sigset_t *set);
    libc_suspend *suspend; /* sigsuspend */
    libc_ppoll *ppoll;
    libc_pselect *pselect;
    libc_epoll_pwait *epoll_pwait;
    const char *library; /* libcsan's own path; NULL: not known */
    bool found;          /* all of them; atomic */
};
extern struct libc_next libc_next __attribute__((visibility("hidden")));

/* Call it before each function but getenv: constructors of other libraries may come before
 * libcsan's. Allocators call getenv while they start, and for getenv NULL is an answer. */
void libc_next_find(void);
static inline void libc_next_need(void)
{
    if (__builtin_expect(!__atomic_load_n(&libc_next.found, __ATOMIC_ACQUIRE), 0))
        libc_next_find();
}

#endif
