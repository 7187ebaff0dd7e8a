/* Ops that wait for traces of other launches. See learning_wait.h. */
#include "runtime/hook/observe/learning_wait.h"
#include "runtime/hook/kernel/launch_accesses.h"
#include "runtime/hook/kernel/kernel.h"
#include "runtime/hook/observe/learning.h"
#include "runtime/hook/observe/learning_case.h"
#include "runtime/hook/observe/learning_parts.h"
#include "runtime/hook/observe/pending_trace.h"
#include "runtime/hook/session/session.h"
#include "runtime/hook/session/session_options.h"
#include "csan/base/lock_order.h"

#include <pthread.h>
#include <stdlib.h>
#include <utlist.h>

enum { KERNELS = 256 }; /* lists, by the kernel's address */

struct waiter {
    struct waiter *next, *prev;   /* of those of its list; or of those that are decided */
    struct waiter *newer, *older; /* of all */
    struct pending_trace pending;
    struct learning_case *launch;
    struct learn_reply reply; /* decided: what is known by now; the set is its own */
};

static struct {
    pthread_mutex_t mutex;
    struct waiter *of_kernel[KERNELS], *all; /* oldest first */
    size_t count;
} table = {.mutex = PTHREAD_MUTEX_INITIALIZER};

static struct waiter **list_of(const struct learned_kernel *learned)
{
    return &table.of_kernel[(uintptr_t)learned / 64 % KERNELS];
}

static void waiter_free(struct waiter *waiter)
{
    learned_set_release(waiter->reply.set);
    pending_trace_release(&waiter->pending);
    learning_case_free(waiter->launch);
    free(waiter);
}

static struct waiter *waiter_create(const struct learning *learning, struct kernel_atomics atomics)
{
    struct waiter *waiter = calloc(1, sizeof *waiter);
    if (waiter && (waiter->launch = learning_case_create(learning, atomics)))
        return waiter;
    free(waiter);
    return NULL;
}

/* With the mutex. */
static void waiter_add(struct waiter *waiter)
{
    struct waiter **list = list_of(waiter->launch->learned);
    DL_APPEND(*list, waiter);
    DL_APPEND2(table.all, waiter, older, newer);
    table.count++;
}

/* With the mutex. */
static void waiter_remove(struct waiter *waiter)
{
    struct waiter **list = list_of(waiter->launch->learned);
    DL_DELETE(*list, waiter);
    DL_DELETE2(table.all, waiter, older, newer);
    table.count--;
}

/* Whether it need not wait any more. */
static bool waiter_decide(struct waiter *waiter)
{
    const struct learning_case *launch = waiter->launch;
    struct learn_reply reply;
    learner_look(learning_learner(), launch->learned, &launch->key, &launch->launch,
                 learning_find_block, NULL, &reply);
    if (reply.answer == LEARN_OPEN && !reply.due) {
        learned_set_release(reply.set);
        return false;
    }
    waiter->reply = reply;
    return true;
}

/* What is known by now is taken; else its fallback. */
static void waiter_finish(struct waiter *waiter)
{
    const struct learn_reply *reply = &waiter->reply;
    bool known =
        reply->answer == LEARN_KNOWN ||
        (reply->answer == LEARN_BOUNDED && learning_bound_is_better(waiter->pending.level, false));
    size_t count;
    struct csan_access *accesses =
        known ? learning_case_accesses(waiter->launch, reply->set, &count) : NULL;
    if (accesses)
        pending_trace_resolve(&waiter->pending, CSAN_LEVEL_LEARNED, accesses, count);
    else
        pending_trace_fall_back(&waiter->pending);
    free(accesses);
    waiter_free(waiter);
}

void learning_wait(const struct learning *learning, csan_lane lane, csan_site site,
                   const struct kernel *kernel, const struct launch_accesses_touched *touched)
{
    struct waiter *waiter = waiter_create(learning, kernel->atomics);
    if (!waiter) {
        csan_op(session_context(), lane, site, touched->level, touched->accesses,
                touched->access_count);
        return;
    }
    if (!pending_trace_begin(&waiter->pending, lane, site, touched->level, touched->accesses,
                             touched->access_count) ||
        !waiter->pending.ticket) {
        waiter_free(waiter);
        return;
    }
    struct waiter *oldest = NULL;
    lock_order_take(LOCK_LEARNING_WAIT, &table.mutex);
    waiter_add(waiter);
    if (table.count > (size_t)session_options()->pending_limit) {
        oldest = table.all;
        waiter_remove(oldest);
    }
    bool decided =
        waiter != oldest && waiter_decide(waiter); /* the trace may have come meanwhile */
    if (decided)
        waiter_remove(waiter);
    lock_order_give(LOCK_LEARNING_WAIT, &table.mutex);
    if (oldest)
        waiter_finish(oldest);
    if (decided)
        waiter_finish(waiter);
}

void learning_wait_decide(const struct learned_kernel *learned)
{
    struct waiter *decided = NULL, *waiter, *next;
    lock_order_take(LOCK_LEARNING_WAIT, &table.mutex);
    DL_FOREACH_SAFE(*list_of(learned), waiter, next)
    {
        if (waiter->launch->learned != learned || !waiter_decide(waiter))
            continue;
        waiter_remove(waiter);
        DL_APPEND(decided, waiter);
    }
    lock_order_give(LOCK_LEARNING_WAIT, &table.mutex);
    DL_FOREACH_SAFE(decided, waiter, next)
    {
        waiter_finish(waiter);
    }
}
