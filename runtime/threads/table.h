/* The table that libcsan.so registered, and whether csan must see the current call. */
#ifndef RUNTIME_THREADS_TABLE_H
#define RUNTIME_THREADS_TABLE_H

#include "runtime/threads/caller.h"
#include "runtime/threads/threads.h"

#include <pthread.h>
#include <stddef.h>

#define EXPORTED __attribute__((visibility("default")))

extern const struct csan_threads_table *threads_table; /* NULL: libcsan.so has registered none */

/* NULL: pass the call on; csan does not see it. */
static inline const struct csan_threads_table *table_for(const void *caller)
{
    const struct csan_threads_table *table = __atomic_load_n(&threads_table, __ATOMIC_ACQUIRE);
    return __builtin_expect(table != NULL, 0) && !caller_is_aside(caller) ? table : NULL;
}

/* Around a call in which the thread may sleep at these objects. */
#define SLEEPING(object, other, made)                                                              \
    __extension__({                                                                                \
        const struct csan_threads_table *const sleeps_ =                                           \
            __atomic_load_n(&threads_table, __ATOMIC_ACQUIRE);                                     \
        struct csan_threads_sleep sleep_;                                                          \
        if (__builtin_expect(sleeps_ != NULL, 0))                                                  \
            sleeps_->sleep(&sleep_, object, other);                                                \
        const int result_ = made;                                                                  \
        if (__builtin_expect(sleeps_ != NULL, 0))                                                  \
            sleeps_->wake(&sleep_);                                                                \
        result_;                                                                                   \
    })

/* What a call of pthread_once or call_once is given in place of `function`, which it then calls:
 * who returns from another call for that key is ordered after it. For the calling thread's next
 * call. */
void (*once_of(const struct csan_threads_table *table, const void *key,
               void (*function)(void)))(void);

/* pthread_create, pthread_join and pthread_detach for a caller whose table that is (NULL: none). */
int thread_create(const struct csan_threads_table *table, pthread_t *name,
                  const pthread_attr_t *attributes, void *(*function)(void *), void *argument);
int thread_join(const struct csan_threads_table *table, pthread_t name, void **value);
int thread_detach(const struct csan_threads_table *table, pthread_t name);

/* In an exported function: the table for who called it. */
#define TABLE() table_for(__builtin_return_address(0))

#endif
