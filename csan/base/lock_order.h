/* The order in which csan's locks are taken. A thread that holds a lock may take only locks that
 * come after it in the table below. So no two threads ever wait for each other.
 *
 * Builds with -DCSAN_CHECK_LOCKS, and those with a sanitizer, check this: if a lock is taken out of
 * order, the process ends with both names. Other builds check nothing. */
#ifndef CSAN_BASE_LOCK_ORDER_H
#define CSAN_BASE_LOCK_ORDER_H

#include <pthread.h>

/* Each lock that is held while another one may be taken, and those others. The outermost comes
 * first. */
enum lock_kind {
    LOCK_TRACER_READING,
    LOCK_DEFERRED_TURN,
    LOCK_INJECTION,
    LOCK_TRACER_CALLS,
    LOCK_FFT_PLANS,
    LOCK_PTX_READER,
    LOCK_KERNEL,
    LOCK_HOOKS,
    LOCK_FAILURES,
    LOCK_DUMPS,
    LOCK_WRONG_POINTERS,
    LOCK_OUT_OF_MEMORY,
    LOCK_PROGRESS,
    LOCK_TRACES,
    LOCK_RANGE_VERIFIER,
    LOCK_LEARNING_WAIT,
    LOCK_IDENTITY,
    LOCK_WORKSPACES,
    LOCK_LINKER,
    LOCK_COMPILED_PTX,
    LOCK_NVTX,
    LOCK_TRACER_MODULES,
    LOCK_TRACER_RECORDS,
    LOCK_TRACER_CONTEXTS,
    LOCK_TRACER_BUFFERS,
    LOCK_OBJECTS,
    LOCK_ARRAYS,
    LOCK_KNOWN_CONTENTS,
    LOCK_COPIED_VALUES,
    LOCK_GRAPH_MEMORY,
    LOCK_OPERATOR_SUMMARIES,
    LOCK_KERNEL_READS,
    LOCK_NAMES,
    LOCK_DEVICE_NAME,
    LOCK_ADDED_ORDERS,
    LOCK_ADDED_STREAMS,
    LOCK_DEFERRED_FILLING,
    LOCK_DEFINITIONS,
    LOCK_DETECTOR,
    LOCK_COUNTERS,
    LOCK_DELIVERY,
    LOCK_KINDS
};

struct lock_kind_words {
    const char *name, *guards;
};
extern const struct lock_kind_words lock_kinds[LOCK_KINDS];

/* The calling thread is about to take a lock of that kind, has taken one without waiting (which may
 * happen in any order), or has given one back. */
void lock_order_taking(enum lock_kind kind);
void lock_order_tried(enum lock_kind kind);
void lock_order_given(enum lock_kind kind);

/* Call it before the caller itself takes a lock, by whatever function. */
static inline void lock_order_begin(enum lock_kind kind)
{
#ifdef CSAN_CHECK_LOCKS
    lock_order_taking(kind);
#else
    (void)kind;
#endif
}

static inline void lock_order_take(enum lock_kind kind, pthread_mutex_t *mutex)
{
    lock_order_begin(kind);
    pthread_mutex_lock(mutex);
}

static inline void lock_order_give(enum lock_kind kind, pthread_mutex_t *mutex)
{
    pthread_mutex_unlock(mutex);
#ifdef CSAN_CHECK_LOCKS
    lock_order_given(kind);
#else
    (void)kind;
#endif
}

/* `result` is that of pthread_mutex_trylock or timedlock. Returns it. */
static inline int lock_order_try(enum lock_kind kind, int result)
{
#ifdef CSAN_CHECK_LOCKS
    if (result == 0)
        lock_order_tried(kind);
#else
    (void)kind;
#endif
    return result;
}

#endif
