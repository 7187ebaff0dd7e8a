/* See collective_link.h. */
#define HASH_NONFATAL_OOM 1
#include "runtime/hook/library/collective_link.h"
#include "csan/base/hash.h"
#include "runtime/hook/session/counters.h"
#include "runtime/hook/session/guard.h"
#include "runtime/hook/state/process_link.h"
#include "runtime/hook/state/thread.h"

#include <stdlib.h>
#include <string.h>
#include <uthash.h>

enum {
    SUCCESS = 0,
    IN_PROGRESS = 7, /* of a communicator that does not block */
    ID_WORDS = 16,   /* of an ncclUniqueId, which is passed on the stack */
    ID_BYTES = 128,
    IDS_MAX = 1024
};

/* Messages to and from a rank. */
struct peer {
    uint64_t sent, received;
};

struct communicator {
    const void *handle;
    uint64_t id; /* the same for all ranks; 0: it is of this process alone */
    uint64_t calls, splits;
    int rank, ranks;
    struct peer *peers;
    UT_hash_handle hh;
};

static struct communicator *communicators; /* uthash; under the hooks' lock */

/* ---- Communicators --------------------------------------------------------------------------- */

static struct communicator *find(const void *handle)
{
    struct communicator *found = NULL;
    HASH_FIND_PTR(communicators, &handle, found);
    return found;
}

static void made(const void *handle, uint64_t id)
{
    struct communicator *old = find(handle), *fresh = calloc(1, sizeof *fresh);
    if (old) {
        HASH_DEL(communicators, old);
        free(old->peers);
        free(old);
    }
    if (!fresh)
        return;
    fresh->handle = handle;
    fresh->id = id;
    HASH_ADD_PTR(communicators, handle, fresh);
    if (!fresh->hh.tbl)
        free(fresh);
}

static bool is_made(const struct touch *call, int result, const void **handle)
{
    const void *const *variable =
        (const void *const *)(uintptr_t)touch_argument_pointer(call, 0); /* where it is put */
    if ((result != SUCCESS && result != IN_PROGRESS) || !variable || !process_links_wanted())
        return false;
    *handle = *variable;
    return *handle != NULL;
}

static uint64_t nonzero(uint64_t hash)
{
    return hash + (hash == 0);
}

static void made_of_id(const struct touch *call, int result, const void *id, size_t bytes)
{
    const void *handle;
    if (!is_made(call, result, &handle))
        return;
    guard_lock();
    made(handle, nonzero(process_link_key(id, bytes)));
    guard_unlock();
}

void communicator_initialized(struct touch *call, int result);
void communicator_initialized(struct touch *call, int result)
{
    made_of_id(call, result, call->stack, ID_WORDS * sizeof *call->stack);
}

/* By several unique ids. */
void communicator_initialized_by_several(struct touch *call, int result);
void communicator_initialized_by_several(struct touch *call, int result)
{
    const int64_t ids = touch_argument_integer(call, 3);
    if (ids > 0 && ids <= IDS_MAX)
        made_of_id(call, result, (const void *)(uintptr_t)touch_argument_pointer(call, 4),
                   (size_t)ids * ID_BYTES);
}

void communicators_initialized_here(struct touch *call, int result);
void communicators_initialized_here(struct touch *call, int result)
{
    const void *const *all = (const void *const *)(uintptr_t)touch_argument_pointer(call, 0);
    const int64_t count = touch_argument_integer(call, 1);
    if (result != SUCCESS || !process_links_wanted())
        return;
    guard_lock();
    for (int64_t i = 0; i < count; i++)
        made(all[i], 0);
    guard_unlock();
}

/* ncclCommSplit(comm, color, key, newcomm, config): all ranks of `comm` call it in one order. */
void communicator_split(struct touch *call, int result);
void communicator_split(struct touch *call, int result)
{
    const void *parent = (const void *)(uintptr_t)touch_argument_pointer(call, 0);
    const int64_t color = touch_argument_integer(call, 1);
    const void *const *variable = (const void *const *)(uintptr_t)touch_argument_pointer(call, 3);
    if ((result != SUCCESS && result != IN_PROGRESS) || !process_links_wanted())
        return;
    guard_lock();
    struct communicator *of = find(parent);
    const uint64_t split = of ? ++of->splits : 0;
    if (of && color >= 0 && variable && *variable)
        made(*variable,
             of->id ? nonzero(hash_mix(hash_mix(hash_mix(of->id, split), (uint64_t)color), 7)) : 0);
    guard_unlock();
}

/* ---- Calls ----------------------------------------------------------------------------------- */

enum shape { ALL, FROM_ROOT, TO_ROOT, SEND, RECEIVE, SHAPES };

static enum shape shape_of(const char *symbol)
{
    static const struct {
        const char *symbol;
        enum shape shape;
    } shapes[] = {
        {"ncclAllReduce", ALL},     {"ncclReduceScatter", ALL},   {"ncclAllGather", ALL},
        {"ncclAlltoAll", ALL},      {"ncclBroadcast", FROM_ROOT}, {"ncclBcast", FROM_ROOT},
        {"ncclScatter", FROM_ROOT}, {"ncclReduce", TO_ROOT},      {"ncclGather", TO_ROOT},
        {"ncclSend", SEND},         {"ncclRecv", RECEIVE},
    };
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        if (strcmp(shapes[i].symbol, symbol) == 0)
            return shapes[i].shape;
    return SHAPES;
}

static int ask(const struct touch *call, enum library_question question, const void *communicator)
{
    int number = -1;
    int (*function)(const void *, int *) =
        (int (*)(const void *, int *))library_ask(call->home, question);
    return function && function(communicator, &number) == SUCCESS ? number : -1;
}

/* The library says its rank and size, once it is there. */
static bool know_ranks(const struct touch *call, struct communicator *communicator)
{
    if (communicator->peers)
        return true;
    communicator->rank = ask(call, LIBRARY_RANK, communicator->handle);
    communicator->ranks = ask(call, LIBRARY_RANKS, communicator->handle);
    if (communicator->rank < 0 || communicator->ranks < 1)
        return false;
    communicator->peers = calloc((size_t)communicator->ranks, sizeof *communicator->peers);
    return communicator->peers != NULL;
}

static void message_of(struct communicator *of, int64_t peer, bool sends,
                       struct collective_link *link)
{
    if (peer < 0 || peer >= of->ranks)
        return;
    const uint64_t from = sends ? (uint64_t)of->rank : (uint64_t)peer;
    const uint64_t to = sends ? (uint64_t)peer : (uint64_t)of->rank;
    link->key = hash_mix(hash_mix(of->id, from << 32 | to), 8);
    link->number = sends ? ++of->peers[peer].sent : ++of->peers[peer].received;
    link->gives = sends;
    link->givers = !sends;
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

/* With the lock. */
static bool describe(const struct touch *call, enum shape shape, struct graph_call *what)
{
    const unsigned stream = (unsigned)call->function->stream;
    const void *handle = (const void *)(uintptr_t)touch_argument_pointer(call, stream - 1);
    const int64_t peer = shape == ALL ? 0 : touch_argument_integer(call, stream - 2);
    struct communicator *of = find(handle);
    if (of && !of->id)
        return false;
    if (!of || shape == SHAPES || !know_ranks(call, of)) {
        lack(shape == SHAPES ? CSAN_LACK_UNFOLLOWED : CSAN_LACK_COMMUNICATOR);
        return false;
    }
    *what = (struct graph_call){handle, peer, (uint8_t)shape};
    return shape == SEND || shape == RECEIVE || of->ranks > 1;
}

bool collective_link_describe(const struct touch *call, struct graph_call *what)
{
    if (!process_links_wanted())
        return false;
    guard_lock();
    const bool is = describe(call, shape_of(call->function->symbol), what);
    guard_unlock();
    return is;
}

/* With the lock. */
static void number(const struct graph_call *what, struct collective_link *link)
{
    struct communicator *of = find(what->communicator);
    const bool sends = what->shape == SEND;
    *link = (struct collective_link){0};
    if (!of || !of->id || !of->peers) /* another one has its handle now */
        lack(CSAN_LACK_COMMUNICATOR);
    else if (sends || what->shape == RECEIVE)
        message_of(of, what->peer, sends, link);
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

/* Signals between ranks, and what kernels of the program say to each other. */
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
