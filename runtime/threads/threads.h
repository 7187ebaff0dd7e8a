/* What libcsan_threads.so tells of the program's threads, and to whom.
 *
 * The library stands in front of the pthread functions by which host threads order one another. By
 * itself it does nothing; libcsan.so, where option host_order asks for it, hands it this table. The
 * functions may be called from any thread and do nothing where csan is off or asks itself. */
#ifndef RUNTIME_THREADS_THREADS_H
#define RUNTIME_THREADS_THREADS_H

struct csan_threads_table {
    /* The calling thread is about to create one: what to hand to it, or NULL. */
    void *(*create)(void);
    void (*start)(void *thread);  /* the calling thread is it */
    void (*join)(void *thread);   /* it has ended, and the calling thread has waited for it */
    void (*forget)(void *thread); /* nobody will join it; or join was called */

    /* The calling thread releases up `key`, or gets it. Who gets it is ordered after who gave it
     * up: the last one, for what one thread holds at a time; with `shared` all who did so far. */
    void (*release)(const void *key, int shared);
    void (*acquire)(const void *key);
    void (*end)(const void *key); /* nobody uses it any more */
};

/* Weak where it is called: the library may not be in the process. */
void csan_threads_activate(const struct csan_threads_table *table)
    __attribute__((weak, visibility("default")));

#endif
