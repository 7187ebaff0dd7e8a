/* The C library's own functions, behind the ones of the same name that this library exports. */
#ifndef RUNTIME_THREADS_LIBC_NEXT_H
#define RUNTIME_THREADS_LIBC_NEXT_H

/* The function of that name; looked up once, into *place. */
void *real_find(void **place, const char *name);

/* REAL(pthread_join)(thread, value) */
#define REAL(name)                                                                                 \
    ((__typeof__(&name))({                                                                         \
        static void *place_;                                                                       \
        void *found_ = __atomic_load_n(&place_, __ATOMIC_ACQUIRE);                                 \
        found_ ? found_ : real_find(&place_, #name);                                               \
    }))

#endif
