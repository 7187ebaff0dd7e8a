/* The interface between libcsan_threads.so, which intercepts pthread functions, and libcsan.so.
 *
 * libcsan_threads.so interposes the pthread functions by which host threads order one another. By
 * itself it does nothing. If option host_order=threads is set, libcsan.so registers this table with
 * it. Any thread may call the functions. They do nothing while csan is off or when csan itself is
 * the caller. */
#ifndef RUNTIME_THREADS_THREADS_H
#define RUNTIME_THREADS_THREADS_H

#include <stdint.h>

/* What libcsan.so keeps of a thread that may sleep. */
struct csan_threads_sleep {
    uint64_t room[16];
};

struct csan_threads_table {
    /* The calling thread is about to create a thread: returns what to pass to it, or NULL. */
    void *(*create)(void);
    void (*start)(void *thread);  /* the calling thread is it */
    void (*join)(void *thread);   /* it has ended, and the calling thread has waited for it */
    void (*forget)(void *thread); /* nobody will join it; or join was called */

    /* The calling thread releases or acquires `key`. An acquire is ordered after the last release,
     * or, with `shared`, after all releases so far. */
    void (*release)(const void *key, int shared);
    void (*acquire)(const void *key);
    void (*end)(const void *key); /* the object is destroyed */

    /* The calling thread, whoever it belongs to, may sleep at an object of the C library's, and at
     * another one (NULL: none), until it wakes: the kernel may look at them at any time. */
    void (*sleep)(struct csan_threads_sleep *sleep, const void *object, const void *other);
    void (*wake)(struct csan_threads_sleep *sleep);
};

/* Weak where it is called: the library may not be in the process. */
void csan_threads_activate(const struct csan_threads_table *table)
    __attribute__((weak, visibility("default")));

#endif
