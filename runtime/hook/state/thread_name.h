/* What reports call the program's host threads: "the main thread", "thread 2 ('loader')". Numbers
 * are given in the order in which threads are first asked for. */
#ifndef RUNTIME_HOOK_STATE_THREAD_NAME_H
#define RUNTIME_HOOK_STATE_THREAD_NAME_H

#include <stdint.h>
#include <sys/types.h>

enum { THREAD_TITLE_BYTES = 160 };

/* The program names the thread of that number of the kernel's (NVTX, nvtxNameOsThread). A name that
 * the thread has with pthread_setname_np comes after it. With the hooks' lock. */
void thread_named(pid_t thread, const char *name);

/* In a forked child that starts anew: none of the threads are there, but one of another number. */
void thread_names_forked(void);

/* How a report names a thread. */
struct thread_title {
    pid_t thread;
    uint32_t number; /* 1: the main thread */
    char own[32];    /* pthread_setname_np's; or "" */
};
/* The calling thread's. With the hooks' lock. */
struct thread_title thread_title_take(void);
void thread_title_write(const struct thread_title *title, char text[THREAD_TITLE_BYTES]);

#endif
