/* What the files of operators from summaries share: the summaries if there are any, their lock,
 * the calling thread. See operator_summary.h. */
#include "runtime/hook/operator/operator_summary_state.h"
#include "csan/base/array.h"
#include "csan/base/hash.h"
#include "csan/base/lock_order.h"
#include "csan/base/now.h"
#include "runtime/hook/session/session.h"
#include "runtime/hook/session/session_options.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    LAUNCHES = 4, /* of one result make it known */
    BYTES_MOST = 64 << 20
};

struct operator_summary_own operator_summary_own = {.once = PTHREAD_ONCE_INIT,
                                                    .mutex = PTHREAD_MUTEX_INITIALIZER};

__thread struct thread *operator_summary_self __attribute__((tls_model("initial-exec")));

static pthread_key_t thread_key;

static void thread_end(void *value)
{
    struct thread *thread = value;
    operator_summary_self = NULL;
    free(thread->words);
    free(thread->anchors);
    free(thread->accesses);
    free(thread->loose);
    free(thread->reached);
    free(thread->noted);
    free(thread->passed_room);
    free(thread);
}

/* The host's accesses are looked for at the call, or not at all: launches may be deferred. */
static bool is_deferrable(const char *host)
{
    return strcmp(host, "off") == 0 || strcmp(host, "guard") == 0;
}

static void start(void)
{
    const struct options *all = session_all_options();
    const struct summary_limits limits = {LAUNCHES, (uint32_t)session_options()->learn_values,
                                          BYTES_MOST};

    operator_summary_own.verifies = all->verify_operators != 0;
    operator_summary_own.process = hash_mix(now_wall(), (uint64_t)getpid());
    operator_summary_own.wanted = (all->operator_summaries || operator_summary_own.verifies) &&
                                  !session_options()->access.insists &&
                                  strcmp(all->host_order, "observed") == 0 &&
                                  is_deferrable(all->host) && !all->add_order[0] &&
                                  pthread_key_create(&thread_key, thread_end) == 0;
    operator_summary_own.summaries = operator_summary_own.wanted ? summaries_create(&limits) : NULL;
    operator_summary_own.wanted = operator_summary_own.summaries != NULL;
    __atomic_store_n(&operator_summary_own.begun, true, __ATOMIC_RELEASE);
}

bool operator_summary_wanted(void)
{
    if (__builtin_expect(!__atomic_load_n(&operator_summary_own.begun, __ATOMIC_ACQUIRE), 0))
        pthread_once(&operator_summary_own.once, start);
    return operator_summary_own.wanted;
}

struct thread *operator_summary_thread(void)
{
    if (operator_summary_self || !operator_summary_wanted())
        return operator_summary_self;
    struct thread *fresh = calloc(1, sizeof *fresh);
    if (!fresh || pthread_setspecific(thread_key, fresh) != 0) {
        free(fresh);
        return NULL;
    }
    return operator_summary_self = fresh;
}

void operator_summary_lock(void)
{
    lock_order_take(LOCK_OPERATOR_SUMMARIES, &operator_summary_own.mutex);
}
void operator_summary_unlock(void)
{
    lock_order_give(LOCK_OPERATOR_SUMMARIES, &operator_summary_own.mutex);
}

void *operator_summary_grown(void *room, size_t *capacity, size_t wanted, size_t each)
{
    return array_reserve(&room, wanted ? wanted : 1, capacity, 64, SIZE_MAX, each) ? room : NULL;
}
