/* The C library's own functions, behind the ones of the same name that this library exports. */
#ifndef RUNTIME_THREADS_LIBC_NEXT_H
#define RUNTIME_THREADS_LIBC_NEXT_H

/* The function of that name; looked up once, into *address. */
void *libc_next_find(void **address, const char *name);

/* LIBC_NEXT(pthread_join)(thread, value) */
#define LIBC_NEXT(name)                                                                            \
    ((__typeof__(&name))({                                                                         \
        static void *place_;                                                                       \
        void *found_ = __atomic_load_n(&place_, __ATOMIC_ACQUIRE);                                 \
        found_ ? found_ : libc_next_find(&place_, #name);                                          \
    }))

#endif
