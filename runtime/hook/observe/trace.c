/* Launches that are traced. See trace.h. */
#include "runtime/hook/observe/trace.h"
#include "runtime/hook/observe/launch_family.h"
#include "runtime/hook/kernel/launch_accesses.h"
#include "runtime/hook/session/guard.h"
#include "runtime/hook/state/handle_table.h"
#include "runtime/hook/observe/range_verifier.h"
#include "runtime/hook/observe/learning.h"
#include "runtime/hook/observe/learning_case.h"
#include "runtime/hook/observe/learning_program.h"
#include "runtime/hook/observe/pending_trace.h"
#include "runtime/hook/observe/trace_source.h"
#include "runtime/hook/session/session_options.h"
#include "runtime/hook/session/session.h"
#include "csan/base/lock_order.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { REPORTED_LIMIT = 4096, DROPPED = 64, WAIT_MS = 1000 };

/* A pointer argument of a launch: ranges in the allocation it points into are attributed to it. */
struct pointer {
    uint64_t value;
    uint16_t argument;
};

/* A launch of which one side is known: its op, or its ranges. */
struct trace_match {
    uint64_t id;
    bool reported; /* the source has spoken: launch; else the rest */
    struct pending_trace pending;
    bool *constants; /* which of the pending accesses no trace has; NULL: none */
    csan_site site;  /* of the launch; 0: it is no op */
    struct kernel_atomics atomics;
    uint8_t bound; /* enum csan_bound: of words that are one */
    struct pointer *pointers;
    size_t pointer_count;
    struct trace_users users;
    struct device_trace_launch launch; /* reported: with ranges of its own */
    UT_hash_handle hh;
};

/* The newest launch of this thread that was made, and the newest that was reported or skipped. */
static __thread uint64_t made_last __attribute__((tls_model("initial-exec")));
static __thread uint64_t reported_last __attribute__((tls_model("initial-exec")));

static struct {
    pthread_once_t once;
    const struct trace_source *source; /* NULL: none; atomic */
    bool asked;                        /* for a source; atomic */
    bool lacked;                       /* by a launch; atomic */
    /* Before any of the driver's functions ran: */
    bool tools;        /* the driver's tools interface is in use; atomic */
    bool sourceless;   /* launches cannot be traced, and earlier processes' were; atomic */
    const char *rival; /* whom the driver's tools interface was left to */
    pthread_mutex_t mutex;
    pthread_cond_t reported;
    struct trace_match *matches;
    size_t waiting; /* entries whose other entry is still to come, and does something */
    size_t reported_count;
    uint64_t dropped[DROPPED]; /* launches that were reported and whose ranges were not kept */
    uint64_t dropped_count;
} trace = {.once = PTHREAD_ONCE_INIT,
           .mutex = PTHREAD_MUTEX_INITIALIZER,
           .reported = PTHREAD_COND_INITIALIZER};

/* Any thread may ask before it starts the source itself. */
static const struct trace_source *opened(void)
{
    return __atomic_load_n(&trace.source, __ATOMIC_ACQUIRE);
}

/* ---- From ranges to accesses ---- */

/* The pointer argument whose allocation the range lies in; of several the nearest from below. */
static uint16_t argument_of(const struct device_trace_range *range, const struct pointer *pointers,
                            size_t count)
{
    uint64_t base, bytes, best_value = 0;
    uint16_t best = CSAN_NO_ARGUMENT;
    if (!csan_memory_find(session_context(), range->address, &base, &bytes, NULL))
        return best;
    for (size_t i = 0; i < count; i++) {
        uint64_t value = pointers[i].value;
        if (value - base >= bytes)
            continue;
        bool below = value <= range->address, best_below = best_value <= range->address;
        if (best == CSAN_NO_ARGUMENT || (below && (!best_below || value > best_value))) {
            best = pointers[i].argument;
            best_value = value;
        }
    }
    return best;
}

static const uint8_t kind_of[] = {[DEVICE_TRACE_READ] = CSAN_READ,
                                  [DEVICE_TRACE_WRITE] = CSAN_WRITE,
                                  [DEVICE_TRACE_ATOMIC] = CSAN_ATOMIC};

/* The ranges as accesses; `dims` has room for two each. */
static void accesses_of(const struct trace_match *match, const struct device_trace_launch *launch,
                        struct csan_access *accesses, struct csan_dim *dims)
{
    for (size_t i = 0; i < launch->count; i++) {
        const struct device_trace_range *range = &launch->ranges[i];
        const uint8_t kind = range->kind < sizeof kind_of ? kind_of[range->kind] : CSAN_WRITE;
        struct csan_dim *own = &dims[2 * i];
        for (uint32_t k = 0; k < range->dims && k < 2; k++)
            own[k] = (struct csan_dim){(int64_t)range->stride[k], range->count[k]};
        accesses[i] = (struct csan_access){
            .base = range->address,
            .bytes = range->bytes,
            .dims = own,
            .dim_count = (uint8_t)(range->dims < 2 ? range->dims : 2),
            .kind = kind,
            .bound = launch->inexact ? match->bound : CSAN_EXACT,
            .element_bytes = range->kind == DEVICE_TRACE_ATOMIC ? match->atomics.bytes : 0,
            .order =
                kernel_atomics_order(match->atomics, kind, range->bytes, trace_knows_strength()),
            .argument = argument_of(range, match->pointers, match->pointer_count)};
    }
}

/* ---- The two entries ---- */

static void users_drop(struct trace_users users)
{
    range_verifier_drop(users.verified);
    learning_drop(users.learned);
}

static void users_report(struct trace_users users, const struct device_trace_launch *launch)
{
    if (launch->lost)
        range_verifier_drop(users.verified);
    else if (users.verified)
        range_verifier_decide(users.verified, launch, !opened()->strength);
    learning_take_trace(users.learned, launch);
}

static bool is_used(const struct trace_match *match)
{
    return match->pending.ticket || match->users.verified || match->users.learned;
}

static void trace_match_free(struct trace_match *match)
{
    if (!match)
        return;
    free(match->pointers);
    free(match->constants);
    pending_trace_release(&match->pending);
    free((void *)match->launch.ranges);
    free((void *)match->launch.parts);
    users_drop(match->users);
    free(match);
}

static struct trace_match *trace_match_find(uint64_t id)
{
    struct trace_match *match = NULL;
    HASH_FIND(hh, trace.matches, &id, sizeof id, match);
    return match;
}

/* Loads from __constant__ variables, as PTX has them; their dims stay where they are. */
static size_t constants_add(const struct trace_match *match, struct csan_access *accesses)
{
    size_t count = 0;
    for (size_t i = 0; match->constants && i < match->pending.count; i++)
        if (match->constants[i])
            accesses[count++] = match->pending.accesses[i];
    return count;
}

/* The launch's access set is what the source saw, and what no source sees. */
static void resolve(const struct trace_match *match, const struct device_trace_launch *launch)
{
    if (launch->lost) {
        pending_trace_fall_back(&match->pending);
        return;
    }
    const size_t room = launch->count + match->pending.count + 1;
    struct csan_access *accesses = malloc(room * sizeof *accesses);
    struct csan_dim *dims = malloc((2 * launch->count + 1) * sizeof *dims);
    if (accesses && dims) {
        accesses_of(match, launch, accesses, dims);
        const size_t count = launch->count + constants_add(match, accesses + launch->count);
        pending_trace_resolve(&match->pending, CSAN_LEVEL_TRACED, accesses, count);
    } else {
        pending_trace_fall_back(&match->pending);
    }
    free(accesses);
    free(dims);
}

/* Both sides are known, or `launch` is NULL: its other will not come. Outside the mutex; `entry` is
 * in no table any more. */
static void complete(struct trace_match *match, const struct device_trace_launch *launch)
{
    bool waited = is_used(match);
    if (!launch)
        pending_trace_fall_back(&match->pending);
    else if (match->pending.ticket)
        resolve(match, launch);
    if (launch && match->site && !launch->lost)
        launch_family_check(match->site, launch->parts, launch->part_count);
    if (launch) {
        users_report(match->users, launch);
        match->users = (struct trace_users){0};
    }
    trace_match_free(match);
    if (!waited)
        return;
    lock_order_take(LOCK_TRACES, &trace.mutex);
    trace.waiting--;
    pthread_cond_broadcast(&trace.reported);
    lock_order_give(LOCK_TRACES, &trace.mutex);
}

/* The device comes first: its ranges are kept until the launching thread knows the number. */
static struct trace_match *keep_ranges(const struct device_trace_launch *launch)
{
    struct trace_match *match = calloc(1, sizeof *match);
    size_t bytes = launch->count * sizeof *launch->ranges;
    if (!match)
        return NULL;
    match->id = launch->id;
    match->reported = true;
    match->launch = *launch;
    match->launch.parts = launch_family_copy(launch->parts, launch->part_count);
    match->launch.part_count = match->launch.parts ? launch->part_count : 0;
    struct device_trace_range *ranges = malloc(bytes ? bytes : 1);
    match->launch.ranges = ranges;
    if (!ranges) {
        free((void *)match->launch.parts);
        free(match);
        return NULL;
    }
    if (bytes) /* a kernel that touched nothing has no array */
        memcpy(ranges, launch->ranges, bytes);
    return match;
}

static void reported_remove(struct trace_match *match)
{
    HASH_DEL(trace.matches, match);
    trace.reported_count--;
}

/* Nobody is to wait for its ranges. */
static void reported_drop(uint64_t id)
{
    trace.dropped[trace.dropped_count++ % DROPPED] = id;
}

static bool reported_was_dropped(uint64_t id)
{
    for (uint32_t i = 0; i < DROPPED && i < trace.dropped_count; i++)
        if (trace.dropped[i] == id)
            return true;
    return false;
}

/* Launches that no op asks for (kernels of graphs) must not pile up: the oldest goes. */
static void reported_add(const struct device_trace_launch *launch)
{
    struct trace_match *old = trace.matches, *match = keep_ranges(launch);
    while (trace.reported_count >= REPORTED_LIMIT && old && !old->reported)
        old = old->hh.next;
    if (trace.reported_count >= REPORTED_LIMIT && old) {
        reported_remove(old);
        reported_drop(old->id);
        trace_match_free(old);
    }
    if (match)
        HASH_ADD(hh, trace.matches, id, sizeof match->id, match);
    if (match && match->hh.tbl) {
        trace.reported_count++;
        return;
    }
    trace_match_free(match); /* memory is short */
    reported_drop(launch->id);
}

/* The device runs kernels on its own threads, and on those that wait for it: then this is called
 * from within a hook. */
static void launch_done(void *user, const struct device_trace_launch *launch)
{
    uint32_t depth = guard_self.depth;
    (void)user;
    if (session_state != SESSION_ON)
        return;
    guard_self.depth = 1;
    lock_order_take(LOCK_TRACES, &trace.mutex);
    struct trace_match *match = trace_match_find(launch->id);
    if (match)
        HASH_DEL(trace.matches, match); /* reported entries have ids of their own */
    else
        reported_add(launch);
    lock_order_give(LOCK_TRACES, &trace.mutex);
    if (match)
        complete(match, launch);
    guard_self.depth = depth;
}

/* The newest launch of the calling thread, 0 when it is an old one: launches that are captured into
 * a graph have no number. */
static uint64_t launch_take(void)
{
    if (made_last == reported_last)
        return 0;
    return reported_last = made_last;
}

bool trace_has_all(void)
{
    return opened() && (opened()->every || session_options()->access.traced_first);
}

uint64_t trace_launch_number(void)
{
    return made_last;
}

void trace_launched(void)
{
    if (opened())
        made_last = opened()->last_launch();
}

/* The launching thread's entry of launch entry->id. */
static void match_complete(struct trace_match *match)
{
    lock_order_take(LOCK_TRACES, &trace.mutex);
    struct trace_match *reported = trace_match_find(match->id);
    bool alone = !reported && reported_was_dropped(match->id);
    if (is_used(match))
        trace.waiting++;
    if (reported) {
        reported_remove(reported);
    } else if (!alone) {
        HASH_ADD(hh, trace.matches, id, sizeof match->id, match);
        alone = !match->hh.tbl; /* memory is short */
    }
    lock_order_give(LOCK_TRACES, &trace.mutex);
    if (reported)
        complete(match, &reported->launch);
    else if (alone)
        complete(match, NULL);
    trace_match_free(reported);
}

/* Launch `id` is no op that waits; 0: it is not traced. */
static void users_match(uint64_t id, struct trace_users users)
{
    struct trace_match *match = id ? calloc(1, sizeof *match) : NULL;
    if (!match) {
        users_drop(users);
        return;
    }
    match->id = id;
    match->users = users;
    match_complete(match);
}

void trace_skip(struct trace_users users)
{
    users_match(launch_take(), users);
}

bool trace_want_node(CUgraphNode node, const struct trace_want *what)
{
    return opened() && opened()->want_node && opened()->want_node(node, what);
}

void trace_node_launched(CUgraphNode node, bool succeeded, struct learning_case *taken)
{
    users_match(opened()->node_launched(node, succeeded), (struct trace_users){.learned = taken});
}

/* Pointers are those that PTX names, and those that were found among the parameters. */
static bool pointers_take(struct trace_match *match, const struct launch_accesses_touched *touched,
                          const struct learning *learning)
{
    uint32_t found = learning ? learning->launch.anchor_count : 0;
    match->pointers = malloc((touched->base_count + found + 1) * sizeof *match->pointers);
    if (!match->pointers)
        return false;
    for (size_t i = 0; i < touched->base_count; i++)
        if (touched->bases[i].state == LAUNCH_POINTER_KNOWN)
            match->pointers[match->pointer_count++] =
                (struct pointer){touched->bases[i].address, touched->bases[i].argument};
    for (uint32_t i = 0; i < found; i++)
        match->pointers[match->pointer_count++] =
            (struct pointer){learning->launch.anchors[i].address, learning->arguments[i].index};
    return true;
}

/* Without memory for it they are taken for seen, and may be missed. */
static void constants_note(struct trace_match *match, const struct launch_accesses_touched *touched)
{
    if (trace_knows_constants())
        return;
    for (size_t i = 0; i < touched->access_count; i++) {
        if (!launch_accesses_is_constant(touched, &touched->accesses[i]))
            continue;
        if (!match->constants &&
            !(match->constants = calloc(touched->access_count, sizeof *match->constants)))
            return;
        match->constants[i] = true;
    }
}

void trace_launch(const struct trace_op *op, struct trace_users users)
{
    const struct launch_accesses_touched *touched = op->touched;
    uint64_t id = launch_take();
    struct trace_match *match = id ? calloc(1, sizeof *match) : NULL;
    if (!match || !pointers_take(match, touched, op->learning)) {
        csan_op(session_context(), op->lane, op->site, touched->level, touched->accesses,
                touched->access_count);
        if (!touched->exact)
            trace_lacked();
        free(match);
        users_drop(users);
        return;
    }
    match->id = id;
    match->users = users;
    match->site = op->site;
    match->atomics = op->kernel->atomics;
    constants_note(match, touched);
    match->bound = learning_bound_of(op->learning ? op->learning->mapped_count : 0);
    pending_trace_begin(&match->pending, op->lane, op->site, touched->level, touched->accesses,
                        touched->access_count);
    match_complete(match);
}

/* ---- Subscribing ---- */

static void subscribe(void)
{
    __atomic_store_n(&trace.source, trace_source_open(launch_done, NULL), __ATOMIC_RELEASE);
    __atomic_store_n(&trace.asked, true, __ATOMIC_RELEASE);
}

static bool traces_wanted(void)
{
    return session_options()->access.traces || session_options()->verify_ranges;
}

/* By the user, of each launch or each kernel. */
static bool traces_asked_for(void)
{
    return session_options()->access.insists || session_options()->verify_ranges;
}

/* Whether traces are for nothing but to learn, and might be had. */
static bool only_learns(void)
{
    const struct session_options *options = session_options();
    return options->access.learns && !options->verify_ranges && options->learn_memory_mb > 0;
}

/* False: launches of this process will not be traced. */
static bool source_prepare(void)
{
    if (driver_is_embedded())
        return true;
    if (!trace_source_is_free(traces_asked_for(), &trace.rival))
        return false;
    if (only_learns() && learning_program_begin(learning_options()))
        return false;
    return trace_source_prepare(traces_asked_for());
}

bool trace_knows_strength(void)
{
    return opened() && opened()->strength;
}

bool trace_knows_constants(void)
{
    return opened() && opened()->constants;
}

void trace_driver_opened(void)
{
    if (!traces_wanted())
        return;
    const bool prepared = source_prepare();
    __atomic_store_n(&trace.sourceless, !prepared && learning_was_kept(), __ATOMIC_RELAXED);
    __atomic_store_n(&trace.tools, prepared && !driver_is_embedded(), __ATOMIC_RELAXED);
}

bool trace_has_tools(void)
{
    return __atomic_load_n(&trace.tools, __ATOMIC_RELAXED);
}

void trace_start(void)
{
    if (traces_wanted())
        pthread_once(&trace.once, subscribe);
}

bool trace_want(const struct trace_want *what)
{
    return opened() && opened()->want(what);
}

bool trace_settle(CUfunction function, bool launch)
{
    return !opened() || opened()->settle(function, launch);
}

unsigned trace_time(void)
{
    const bool reported = opened() && opened()->time;
    return reported ? opened()->time() : TRACE_TO_LEARN | TRACE_TO_CONFIRM;
}

bool trace_knows_reads(void)
{
    return opened() && opened()->reads;
}

struct reads *trace_reads(CUfunction function, const char *kernel, uint32_t words)
{
    return trace_knows_reads() ? opened()->reads(function, kernel, words) : NULL;
}

uint32_t trace_maps(CUfunction function, const char *kernel, struct map_use *maps)
{
    return opened() && opened()->maps ? opened()->maps(function, kernel, maps) : 0;
}

void trace_lacked(void)
{
    if (!__atomic_load_n(&trace.lacked, __ATOMIC_RELAXED))
        __atomic_store_n(&trace.lacked, true, __ATOMIC_RELAXED);
}

/* Nobody asked, and somebody came later who cannot have the driver's tools interface any more. */
static const char *started_too_late(void)
{
    return opened() && !opened()->every && !traces_asked_for() && trace_source_rival()
               ? "CUPTI came after csan took the driver's tools interface, and a profiler sees "
                 "nothing (access=ptx leaves it alone)"
               : NULL;
}

const char *trace_missing(void)
{
    static char text[160];
    const struct trace_source *source = opened();
    bool lacked = __atomic_load_n(&trace.lacked, __ATOMIC_RELAXED) || traces_asked_for();
    if (!traces_wanted() || !__atomic_load_n(&trace.asked, __ATOMIC_ACQUIRE))
        return NULL;
    if (learning_program_rests())
        return NULL; /* none was to be */
    if (!lacked)
        return started_too_late();
    if (trace.rival) {
        snprintf(text, sizeof text,
                 "%s, so the driver's tools interface was left alone (access=learn takes it)",
                 trace.rival);
        return text;
    }
    if (!source && !(source = trace_source_gpu ? trace_source_gpu() : NULL))
        return "this csan was built without its tracer";
    const char *missing = source->missing ? source->missing() : NULL;
    return missing ? missing : started_too_late();
}

void trace_waited(void)
{
    if (opened() && opened()->waited)
        opened()->waited();
}

bool trace_rest(void)
{
    return opened() && opened()->rest && opened()->rest();
}

void trace_resume(bool rested)
{
    if (rested)
        opened()->resume();
}

const char *trace_source_name(void)
{
    return opened() ? opened()->name : trace_is_sourceless() ? TRACE_SOURCE_GPU : "none";
}

bool trace_takes_all(void)
{
    const struct access_rule *rule = &session_options()->access;
    const bool fills_in = rule->traces && !rule->insists;
    return opened() && (rule->traced_first || (fills_in && opened()->every));
}

bool trace_is_exact(void)
{
    return opened() && session_options()->access.traced_first;
}

bool trace_is_sourceless(void)
{
    return __atomic_load_n(&trace.sourceless, __ATOMIC_RELAXED) && session_options()->access.learns;
}

bool trace_learns(void)
{
    const struct access_rule *rule = &session_options()->access;
    return trace_is_sourceless() ||
           (opened() && rule->learns && (rule->learned_first || !opened()->every));
}

bool trace_judges(void)
{
    return opened() && session_options()->verify_ranges;
}

void trace_wait(void)
{
    struct timespec until;
    if (!opened())
        return;
    clock_gettime(CLOCK_REALTIME, &until);
    long ms = session_options()->pending_timeout_ms;
    until.tv_sec += ms < WAIT_MS ? 0 : WAIT_MS / 1000;
    until.tv_nsec += ms < WAIT_MS ? ms * 1000000 : 0;
    if (until.tv_nsec >= 1000000000) {
        until.tv_nsec -= 1000000000;
        until.tv_sec++;
    }
    lock_order_take(LOCK_TRACES, &trace.mutex);
    while (trace.waiting)
        if (pthread_cond_timedwait(&trace.reported, &trace.mutex, &until) != 0)
            break;
    lock_order_give(LOCK_TRACES, &trace.mutex);
}
