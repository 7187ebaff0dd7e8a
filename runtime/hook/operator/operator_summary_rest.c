/* When operators rest and wake (operator_summary.h has the states): the launches in a row that were
 * known, memory that the host shares, reports that wait for operators, and the source, which csan
 * asks to rest and to follow. */
#include "runtime/hook/operator/operator_summary.h"
#include "csan/detector/context.h"
#include "runtime/hook/interpose/driver.h"
#include "runtime/hook/observe/kernel_reads.h"
#include "runtime/hook/observe/program.h"
#include "runtime/hook/operator/operator_summary_state.h"
#include "runtime/hook/session/guard.h"
#include "runtime/hook/session/session.h"
#include "runtime/hook/session/session_options.h"

enum {
    WINDOW_LEAST = 1000,   /* launches that were known in a row before operators rest */
    WINDOW_MOST = 1 << 15, /* above the launches of a step: what comes once a step is seen */
    SPAN_LEAST = 1 << 15,  /* launches for which they rest */
    SPAN_MOST = 1 << 20,
    AT_ONCE = 256,              /* launches without a summary that the source may take to follow */
    PATIENCE = 2 * WINDOW_MOST, /* launches that are all compared before operators rest */
    SHARED_LANES = 8
};

/* Work on memory that the host shares, on a lane. */
struct shared {
    csan_lane lane;
    csan_snapshot *snapshot; /* behind it */
};

/* With the summaries' lock, but what is atomic. */
static struct {
    uint64_t known_in_a_row, window, rested, span, woken_for; /* launches; atomic */
    struct shared shared[SHARED_LANES];
    uint32_t shared_count;
    bool shared_more, woken_for_shared, shared_said;
    bool report_waits;       /* atomic */
    uint64_t followed_since; /* atomic */
    uint64_t added_at_woken; /* launches that were added when operators were followed; atomic */
} own = {.window = WINDOW_LEAST, .span = SPAN_LEAST};

struct operator_summary_now operator_summary_now;
void (*operator_summary_on_followed)(void);

uint8_t operator_summary_state(void)
{
    return __atomic_load_n(&operator_summary_now.state, __ATOMIC_ACQUIRE);
}

/* ---- From rest to rest ---- */

static void count(uint64_t *counter)
{
    __atomic_fetch_add(counter, 1, __ATOMIC_RELAXED);
}

void operator_summary_known(void)
{
    count(&own.known_in_a_row);
}

void operator_summary_unknown(void)
{
    __atomic_store_n(&own.known_in_a_row, 0, __ATOMIC_RELAXED);
}

void operator_summary_wake(const char *reason)
{
    if (operator_summary_state() != RESTING)
        return;
    operator_summary_lock();
    if (operator_summary_state() == RESTING) {
        __atomic_store_n(&operator_summary_now.state, WAKING, __ATOMIC_RELEASE);
        __atomic_store_n(&own.woken_for, 0, __ATOMIC_RELAXED);
        own.woken_for_shared = !reason;
        if (reason && session_options()->verbosity > 0)
            session_note("operators are followed again: %s", reason);
        operator_summary_own.source->follow(0);
    }
    operator_summary_unlock();
}

/* It takes too long until the program runs no operator. */
static void wake_at_once(void)
{
    operator_summary_lock();
    if (operator_summary_state() == WAKING)
        operator_summary_own.source->follow(1);
    operator_summary_unlock();
}

/* What was deferred while operators rested is answered as at rest. False: this thread cannot flush
 * it here. */
static bool rest_settle(void)
{
    session_operators_rest(false);
    const bool entered = guard_enter();
    if (entered)
        guard_leave();
    else
        session_operators_rest(true);
    return entered;
}

void operator_summary_woken(void)
{
    uint8_t waking = WAKING;
    if (operator_summary_state() != WAKING || !rest_settle())
        return;
    const uint64_t *newest = context_generation(session_context());
    __atomic_store_n(&own.followed_since, __atomic_load_n(newest, __ATOMIC_RELAXED),
                     __ATOMIC_RELAXED);
    if (__atomic_compare_exchange_n(&operator_summary_now.state, &waking, FOLLOWED, false,
                                    __ATOMIC_ACQ_REL, __ATOMIC_RELAXED)) {
        __atomic_store_n(&own.rested, 0, __ATOMIC_RELAXED);
        __atomic_store_n(&own.added_at_woken,
                         __atomic_load_n(&operator_summary_own.added, __ATOMIC_RELAXED),
                         __ATOMIC_RELAXED);
    }
    session_operators_rest(operator_summary_rests());
}

void operator_summary_unanswered(void)
{
    count(&operator_summary_own.unanswered);
    __atomic_store_n(&own.known_in_a_row, 0, __ATOMIC_RELAXED);
    if (operator_summary_state() == RESTING) {
        const uint64_t window = __atomic_load_n(&own.window, __ATOMIC_RELAXED);
        const uint64_t rested = __atomic_load_n(&own.rested, __ATOMIC_RELAXED);
        const uint64_t next = rested > 8 * window        ? WINDOW_LEAST
                              : window * 2 < WINDOW_MOST ? window * 2
                                                         : WINDOW_MOST;
        __atomic_store_n(&own.window, next, __ATOMIC_RELAXED);
        __atomic_store_n(&own.span, SPAN_LEAST, __ATOMIC_RELAXED);
        operator_summary_wake("a launch is new");
    } else if (__atomic_add_fetch(&own.woken_for, 1, __ATOMIC_RELAXED) == AT_ONCE) {
        wake_at_once();
    }
}

void operator_summary_answered(void)
{
    count(&operator_summary_own.answered);
    const uint64_t span = __atomic_load_n(&own.span, __ATOMIC_RELAXED);
    if (__atomic_add_fetch(&own.rested, 1, __ATOMIC_RELAXED) < span ||
        operator_summary_state() != RESTING)
        return;
    __atomic_store_n(&own.span, span * 2 < SPAN_MOST ? span * 2 : SPAN_MOST, __ATOMIC_RELAXED);
    __atomic_store_n(&own.window, WINDOW_LEAST, __ATOMIC_RELAXED);
    __atomic_store_n(&own.known_in_a_row, 0, __ATOMIC_RELAXED);
    operator_summary_wake("what is known is looked at again");
}

/* Whether the host has waited for all work on memory that it shares. With the lock. */
static bool shared_is_over(void)
{
    csan_context *context = session_context();
    uint32_t left = 0;
    for (uint32_t i = 0; i < own.shared_count; i++) {
        if (context_is_over(context, own.shared[i].snapshot))
            csan_snapshot_release(context, own.shared[i].snapshot);
        else
            own.shared[left++] = own.shared[i];
    }
    own.shared_count = left;
    return !left && !own.shared_more;
}

/* With the lock. */
static void rest(void)
{
    __atomic_store_n(&operator_summary_now.state, RESTING, __ATOMIC_RELEASE);
    if (!operator_summary_own.rests)
        operator_summary_own.first_rest = operator_summary_own.added;
    if (!own.woken_for_shared) {
        operator_summary_own.rests++;
        if (session_options()->verbosity > 0)
            session_note("operators rest after %llu launches that they made",
                         (unsigned long long)operator_summary_own.added);
    }
    operator_summary_own.source->rest();
    session_operators_rest(true);
}

/* All else would let them rest. With the lock. */
static void say_shared(void)
{
    if (own.shared_said || session_options()->verbosity < 2)
        return;
    own.shared_said = true;
    session_note("operators do not rest after %llu launches: the host has not waited for work on "
                 "memory that it shares (%u streams)",
                 (unsigned long long)operator_summary_own.added, own.shared_count);
}

static bool all_were_known(void)
{
    return __atomic_load_n(&own.known_in_a_row, __ATOMIC_RELAXED) >=
           __atomic_load_n(&own.window, __ATOMIC_RELAXED);
}

bool operator_summary_may_skip(void)
{
    const uint64_t added = __atomic_load_n(&operator_summary_own.added, __ATOMIC_RELAXED);
    return operator_summary_own.source && !operator_summary_own.verifies &&
           operator_summary_state() == FOLLOWED &&
           !__atomic_load_n(&own.report_waits, __ATOMIC_RELAXED) &&
           (all_were_known() ||
            added - __atomic_load_n(&own.added_at_woken, __ATOMIC_RELAXED) > PATIENCE);
}

void operator_summary_rest_if_known(void)
{
    if (__atomic_load_n(&own.report_waits, __ATOMIC_RELAXED) &&
        operator_summary_state() == FOLLOWED)
        operator_summary_on_followed();
    if (!operator_summary_own.source || operator_summary_own.verifies ||
        operator_summary_state() != FOLLOWED || !all_were_known() ||
        __atomic_load_n(&own.report_waits, __ATOMIC_RELAXED))
        return;
    if (__atomic_load_n(&driver_capture_seen, __ATOMIC_RELAXED)) {
        count(&operator_summary_own.capture_waits);
        return;
    }
    operator_summary_lock();
    const bool over = shared_is_over();
    if (operator_summary_state() == FOLLOWED && over)
        rest();
    if (!over) {
        operator_summary_own.shared_waits++;
        say_shared();
    }
    operator_summary_unlock();
}

void operator_summary_waited(void)
{
    if (operator_summary_state() != WAKING || !all_were_known() ||
        __atomic_load_n(&own.report_waits, __ATOMIC_RELAXED))
        return;
    operator_summary_lock();
    if (operator_summary_state() == WAKING && own.woken_for_shared && shared_is_over())
        rest();
    operator_summary_unlock();
}

/* ---- Memory that the host shares ---- */

/* Whether the host may touch it, too. */
static bool is_shared(const struct csan_access *access)
{
    enum csan_memory_kind kind;
    return csan_memory_find(session_context(), access->base, NULL, NULL, &kind) &&
           (kind == CSAN_MEMORY_HOST || kind == CSAN_MEMORY_MANAGED);
}

bool operator_summary_any_shared(struct operator_summary_list list)
{
    for (size_t i = 0; i < list.count; i++)
        if (is_shared(&list.items[i]))
            return true;
    return false;
}

/* On each lane the newest work stands for what is before it. What there is no room for counts as
 * never over. */
static void shared_keep(csan_lane lane)
{
    csan_context *context = session_context();
    uint32_t at = 0;
    while (at < own.shared_count && own.shared[at].lane != lane)
        at++;
    if (at == SHARED_LANES) {
        shared_is_over();
        at = own.shared_count;
    }
    csan_snapshot *snapshot = at < SHARED_LANES ? csan_snapshot_take(context, lane) : NULL;
    if (!snapshot) {
        own.shared_more = true;
        return;
    }
    if (at == own.shared_count)
        own.shared_count++;
    else
        csan_snapshot_release(context, own.shared[at].snapshot);
    own.shared[at] = (struct shared){lane, snapshot};
}

/* For the notes. With the lock. */
static void newest_shared_note(struct operator_summary_list list)
{
    struct newest_shared *newest = &operator_summary_own.newest_shared;
    for (size_t i = 0; i < list.count; i++)
        if (is_shared(&list.items[i]))
            *newest = (struct newest_shared){operator_summary_own.added, list.items[i].base,
                                             list.items[i].bytes};
}

void operator_summary_shared(csan_lane lane, struct operator_summary_list list, bool guarded)
{
    if (!operator_summary_own.source)
        return;
    operator_summary_stir();
    operator_summary_wake_for_report();
    if (guarded || !operator_summary_any_shared(list))
        return;
    operator_summary_lock();
    operator_summary_own.shared++;
    newest_shared_note(list);
    shared_keep(lane);
    operator_summary_unlock();
    operator_summary_wake(NULL);
}

/* ---- Reports that lack an operator ---- */

bool operator_summary_has_rested(void)
{
    return operator_summary_own.rests != 0;
}

uint64_t operator_summary_followed_since(void)
{
    return __atomic_load_n(&own.followed_since, __ATOMIC_RELAXED);
}

uint64_t operator_summary_launches(void)
{
    return __atomic_load_n(&operator_summary_own.added, __ATOMIC_RELAXED) +
           __atomic_load_n(&operator_summary_own.answered, __ATOMIC_RELAXED);
}

void operator_summary_wanted_for_report(void)
{
    __atomic_store_n(&own.report_waits, true, __ATOMIC_RELAXED);
}

void operator_summary_report_is_out(void)
{
    __atomic_store_n(&own.report_waits, false, __ATOMIC_RELAXED);
}

void operator_summary_wake_for_report(void)
{
    if (__atomic_load_n(&own.report_waits, __ATOMIC_RELAXED))
        operator_summary_wake("a race is to be reported with its operators");
}

/* ---- The source ---- */

int operator_summary_source(const struct csan_operator_source *source)
{
    if (!operator_summary_wanted() || operator_summary_own.source)
        return CSAN_OPERATORS_ARE_DECLARED;
    operator_summary_lock();
    operator_summary_own.source = source;
    __atomic_store_n(&operator_summary_now.has_source, true, __ATOMIC_RELAXED);
    const struct learner_options *options = learning_options();
    operator_summary_own.identified =
        options->cache && program_identify(&operator_summary_own.program);
    const bool read =
        operator_summary_own.identified && !operator_summary_own.verifies &&
        summary_file_read(options, &operator_summary_own.program, operator_summary_own.summaries,
                          &operator_summary_own.noted);
    if (operator_summary_own.identified)
        kernel_reads_keep(&operator_summary_own.program);
    operator_summary_own.began_resting =
        read && operator_summary_own.noted.settled &&
        (int)operator_summary_own.noted.rested + 1 < session_options()->learn_every;
    if (operator_summary_own.began_resting) {
        summaries_trust(operator_summary_own.summaries);
        operator_summary_own.rests++;
        own.known_in_a_row = own.window;
        __atomic_store_n(&operator_summary_now.state, RESTING, __ATOMIC_RELEASE);
        session_operators_rest(true);
    }
    operator_summary_unlock();
    return CSAN_OPERATORS_ARE_SUMMARIZED |
           (operator_summary_own.began_resting ? 0 : CSAN_OPERATORS_ARE_DECLARED);
}
