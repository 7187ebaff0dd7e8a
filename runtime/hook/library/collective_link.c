/* See collective_link.h. */
#include "runtime/hook/library/collective_link.h"
#include "csan/base/hash.h"
#include "runtime/hook/library/communicator_table.h"
#include "runtime/hook/session/counters.h"
#include "runtime/hook/session/guard.h"
#include "runtime/hook/state/process_link.h"
#include "runtime/hook/state/thread.h"

#include <stdlib.h>
#include <string.h>

enum {
    SUCCESS = 0,
    IN_PROGRESS = 7,    /* of a communicator that does not block */
    SIGNALS_MOST = 1024 /* that one call waits for */
};

/* What ncclWaitSignal waits for (nccl.h, ncclWaitSignalDesc_t). */
struct awaited {
    int count, peer, index, context;
};

/* ---- Calls ----------------------------------------------------------------------------------- */

enum shape { ALL, FROM_ROOT, TO_ROOT, SEND, RECEIVE, PUT, SIGNAL, AWAIT, SHAPES };

static enum shape shape_of(const char *symbol)
{
    static const struct {
        const char *symbol;
        enum shape shape;
    } shapes[] = {
        {"ncclAllReduce", ALL},     {"ncclReduceScatter", ALL},   {"ncclAllGather", ALL},
        {"ncclAlltoAll", ALL},      {"ncclBroadcast", FROM_ROOT}, {"ncclBcast", FROM_ROOT},
        {"ncclScatter", FROM_ROOT}, {"ncclReduce", TO_ROOT},      {"ncclGather", TO_ROOT},
        {"ncclSend", SEND},         {"ncclRecv", RECEIVE},        {"ncclPutSignal", PUT},
        {"ncclSignal", SIGNAL},     {"ncclWaitSignal", AWAIT},
    };
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        if (strcmp(shapes[i].symbol, symbol) == 0)
            return shapes[i].shape;
    return SHAPES;
}

/* Calls that one rank of two makes: the other one has its own. */
static bool is_of_two(enum shape shape)
{
    return shape >= SEND && shape <= AWAIT;
}

static uint64_t signal_of(int64_t index, int64_t context)
{
    return (uint64_t)index << 32 | (uint32_t)context;
}

/* Signal number `place` of all that the call waits for. */
static bool awaited_at(const struct touch *call, size_t place, struct awaited *awaited)
{
    const int64_t count = touch_argument_integer(call, 0);
    const struct awaited *all = (const struct awaited *)(uintptr_t)touch_argument_pointer(call, 1);
    for (int64_t i = 0; all && i < count; i++) {
        const size_t number = all[i].count > 0 ? (size_t)all[i].count : 0;
        *awaited = all[i];
        if (place < number)
            return true;
        place -= number;
    }
    return false;
}

size_t collective_link_count(const struct touch *call)
{
    struct awaited awaited;
    size_t count = 0;
    if (shape_of(call->function->symbol) != AWAIT)
        return 1;
    while (count < SIGNALS_MOST && awaited_at(call, count, &awaited))
        count++;
    return count;
}

bool collective_link_signals(const struct touch *call)
{
    return shape_of(call->function->symbol) >= SIGNAL;
}

/* A signal is a message of its own channel, for each index and context. */
static void message_of(struct communicator *of, const struct graph_call *what,
                       struct collective_link *link)
{
    const bool sends = what->shape != RECEIVE && what->shape != AWAIT;
    const uint64_t from = sends ? (uint64_t)of->rank : (uint64_t)what->peer;
    const uint64_t to = sends ? (uint64_t)what->peer : (uint64_t)of->rank;
    if (what->peer < 0 || what->peer >= of->ranks)
        return;
    link->key = hash_mix(hash_mix(of->id, from << 32 | to), 8);
    if (what->shape >= PUT)
        link->key = hash_mix(hash_mix(link->key, what->signal), 10);
    link->number = communicator_next(of, link->key, sends);
    link->gives = sends && link->number;
    link->givers = !sends && link->number;
    link->puts = what->shape == PUT;
}

static void collective_of(struct communicator *of, enum shape shape, int64_t root,
                          struct collective_link *link)
{
    const uint64_t others = (uint64_t)of->ranks - 1;
    const bool is_root = root == of->rank;
    link->key = hash_mix(hash_mix(of->id, ++of->calls), 9);
    if (shape == ALL) {
        link->gives = true;
        link->takers = link->givers = others + 1;
    } else {
        link->gives = is_root == (shape == FROM_ROOT);
        link->takers = shape == FROM_ROOT ? others : 1;
        link->givers = link->gives ? 0 : shape == FROM_ROOT ? 1 : others;
    }
}

static void lack(enum csan_link_lack what)
{
    static uint32_t said; /* bits; under the hooks' lock */
    if (!(said & 1u << what))
        process_link_lane(thread_lane(), &(struct csan_link){.kind = CSAN_LINK_LACK, .key = what});
    said |= 1u << what;
}

static void read_signal(const struct touch *call, size_t place, struct graph_call *what)
{
    struct awaited awaited;
    const unsigned index = what->shape == PUT ? 6 : 1;
    if (what->shape == AWAIT && awaited_at(call, place, &awaited)) {
        what->peer = awaited.peer;
        what->signal = signal_of(awaited.index, awaited.context);
    } else if (what->shape == PUT || what->shape == SIGNAL) {
        what->peer = touch_argument_integer(call, what->shape == PUT ? 3 : 0);
        what->signal =
            signal_of(touch_argument_integer(call, index), touch_argument_integer(call, index + 1));
    }
}

/* With the lock. */
static bool describe(const struct touch *call, enum shape shape, size_t place,
                     struct graph_call *what)
{
    const unsigned stream = (unsigned)call->function->stream;
    const void *handle = (const void *)(uintptr_t)touch_argument_pointer(call, stream - 1);
    const int64_t peer = shape == ALL ? 0 : touch_argument_integer(call, stream - 2);
    struct communicator *of = communicator_find(handle);
    if (of && !of->id)
        return false;
    if (!of || shape == SHAPES || !communicator_know_ranks(of, call->home)) {
        lack(shape == SHAPES ? CSAN_LACK_UNFOLLOWED : CSAN_LACK_COMMUNICATOR);
        return false;
    }
    *what = (struct graph_call){.communicator = handle, .peer = peer, .shape = (uint8_t)shape};
    read_signal(call, place, what);
    return is_of_two(shape) || of->ranks > 1;
}

bool collective_link_describe(const struct touch *call, size_t place, struct graph_call *what)
{
    if (!process_links_wanted())
        return false;
    guard_lock();
    const bool is = describe(call, shape_of(call->function->symbol), place, what);
    if (place + 1 == SIGNALS_MOST)
        lack(CSAN_LACK_UNFOLLOWED);
    guard_unlock();
    return is;
}

/* With the lock. */
static void number(const struct graph_call *what, struct collective_link *link)
{
    struct communicator *of = communicator_find(what->communicator);
    *link = (struct collective_link){0};
    if (!of || !of->id || !of->ranks) /* another one has its handle now */
        lack(CSAN_LACK_COMMUNICATOR);
    else if (is_of_two((enum shape)what->shape))
        message_of(of, what, link);
    else
        collective_of(of, (enum shape)what->shape, what->peer, link);
}

void collective_link_number(const struct graph_call *what, struct collective_link *link)
{
    guard_lock();
    number(what, link);
    guard_unlock();
}

void collective_link_give(csan_lane lane, const struct collective_link *link)
{
    if (link->gives)
        process_link_lane(
            lane, &(struct csan_link){.kind = link->number ? CSAN_LINK_SEND : CSAN_LINK_ENTER,
                                      .key = link->key,
                                      .number = link->number,
                                      .peers = link->takers});
}

void collective_link_take(csan_lane lane, const struct collective_link *link)
{
    if (link->givers)
        process_link_lane(
            lane, &(struct csan_link){.kind = link->number ? CSAN_LINK_RECEIVE : CSAN_LINK_LEAVE,
                                      .key = link->key,
                                      .number = link->number ? link->number : link->givers,
                                      .peers = link->takers});
}

void collective_link_captured(void)
{
    guard_lock();
    lack(CSAN_LACK_GRAPH);
    guard_unlock();
}

bool collective_link_in_graph(const struct graph_call *what)
{
    return what->shape != PUT;
}

/* What kernels of the program say to each other. */
void collective_unfollowed(struct touch *call, int result);
void collective_unfollowed(struct touch *call, int result)
{
    if (result != SUCCESS && result != IN_PROGRESS)
        return;
    counters_unmodelled(call->function->symbol);
    if (!process_links_wanted())
        return;
    guard_lock();
    lack(CSAN_LACK_UNFOLLOWED);
    guard_unlock();
}

/* All give before one takes, as in a group that is not captured. */
void collective_links_launched(csan_lane lane, const struct graph_calls *calls)
{
    if (!process_links_wanted())
        return;
    struct collective_link *links = calls ? calloc(calls->count + 1, sizeof *links) : NULL;
    if (!links) {
        lack(CSAN_LACK_GRAPH);
        return;
    }
    for (size_t i = 0; i < calls->count; i++) {
        number(&calls->items[i], &links[i]);
        collective_link_give(lane, &links[i]);
    }
    for (size_t i = 0; i < calls->count; i++)
        collective_link_take(lane, &links[i]);
    free(links);
}
