/* The names of the program's host threads in reports: "the main thread", "thread 2 ('loader')".
 * Threads are numbered in the order in which their names are first needed. */
#ifndef RUNTIME_HOOK_STATE_THREAD_NAME_H
#define RUNTIME_HOOK_STATE_THREAD_NAME_H

#include <stdint.h>
#include <sys/types.h>

enum { THREAD_TITLE_BYTES = 160 };

/* The program names the thread with that kernel thread id (NVTX, nvtxNameOsThread). It takes
 * precedence over a name by pthread_setname_np. With the hooks' lock. */
void thread_named(pid_t thread, const char *name);

/* In a forked child that starts anew: none of the threads exist but this one, which has another id.
 */
void thread_names_forked(void);

/* How a report names a thread. */
struct thread_title {
    pid_t thread;
    uint32_t number; /* 1: the main thread */
    char own[32];    /* pthread_setname_np's; or "" */
};
/* The name of the calling thread. With the hooks' lock. */
struct thread_title thread_title_take(void);
void thread_title_write(const struct thread_title *title, char text[THREAD_TITLE_BYTES]);

#endif
