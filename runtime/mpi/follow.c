/* See follow.h. */
#include "runtime/mpi/follow.h"
#include "csan/base/hash.h"
#include "runtime/mpi/call.h"
#include "runtime/mpi/communicator.h"
#include "runtime/mpi/functions.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct follow {
    uint64_t id; /* of the communicator */
    int rank;
    int side; /* of an intercommunicator: which of its groups the rank is in */
    bool inter;
    bool sends, receives, collects, open, synchronous;
    int dest, send_tag, source, receive_tag;
    uint64_t bytes, serial, sent; /* sent: the number of a synchronous send */
    uint64_t call, starts;        /* a collective call's number, and how often it was started */
    bool gives, by_rank;          /* by_rank: each rank that gives has a key of its own */
    uint64_t takers, givers;
    int *sources; /* by_rank: those that give; `givers` of them */
};

/* A receive that was posted and is not over, in their order. */
struct posted {
    struct posted *next;
    uint64_t serial, id;
    int source, tag;
};

/* A message that a probe took, and that is not received yet. */
struct matched {
    struct matched *next;
    mpi_handle message;
    uint64_t serial;
};

static struct {
    pthread_mutex_t lock; /* of the lists */
    struct posted *first, *last;
    struct matched *matched; /* few */
    uint64_t receives;       /* posted so far; atomic */
    uint64_t synchronous;    /* sends so far; atomic */
    uint32_t lacks;          /* bits: said; atomic */
    bool cancels;
} table = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void link_make(int kind, uint64_t key, uint64_t number, uint64_t peers, uint64_t bytes)
{
    csan_link(&(struct csan_link){
        .kind = kind, .key = key, .number = number, .peers = peers, .bytes = bytes});
}

void follow_link(int kind, uint64_t key, uint64_t number, uint64_t peers)
{
    link_make(kind, key, number, peers, 0);
}

void follow_lack(enum csan_link_lack lack)
{
    const uint32_t bit = 1u << lack;
    if (call_shared.links && !(__atomic_fetch_or(&table.lacks, bit, __ATOMIC_RELAXED) & bit))
        link_make(CSAN_LINK_LACK, lack, 0, 0, 0);
}

void follow_cancels(void)
{
    __atomic_store_n(&table.cancels, true, __ATOMIC_RELAXED);
}

/* ---- What a call is -------------------------------------------------------------------------- */

static struct follow *follow_of(struct call *call, const struct communicator *comm)
{
    if (!call->follow)
        call->follow = calloc(1, sizeof *call->follow);
    if (!call->follow)
        return NULL;
    call->follow->id = comm->id;
    call->follow->rank = comm->rank;
    call->follow->side = comm->side;
    call->follow->inter = comm->remote != 0;
    return call->follow;
}

/* Inside MPI csan takes no links: that it lacks something is said before. */
static struct communicator *comm_of(mpi_handle comm)
{
    struct communicator *known = call_shared.links ? communicator_of(comm) : NULL;
    if (call_shared.links && !known)
        follow_lack(CSAN_LACK_COMMUNICATOR);
    return known;
}

/* Which of two threads comes first, only they know. */
static void thread_note(struct communicator *comm)
{
    uintptr_t none = 0;
    const uintptr_t self = (uintptr_t)pthread_self();
    if (call_shared.threads &&
        !__atomic_compare_exchange_n(&comm->thread, &none, self, false, __ATOMIC_RELAXED,
                                     __ATOMIC_RELAXED) &&
        none != self)
        follow_lack(CSAN_LACK_THREADS);
}

void follow_send(struct call *call, int dest, int tag, mpi_handle comm, uint64_t bytes)
{
    struct communicator *known = dest == abi.proc_null ? NULL : comm_of(comm);
    struct follow *follow = known ? follow_of(call, known) : NULL;
    if (!follow)
        return;
    thread_note(known);
    follow->sends = true;
    follow->dest = dest;
    follow->send_tag = tag;
    follow->bytes = bytes;
}

void follow_synchronous(struct call *call)
{
    if (call->follow)
        call->follow->synchronous = call->follow->sends;
}

void follow_receive(struct call *call, int source, int tag, mpi_handle comm)
{
    struct communicator *known = source == abi.proc_null ? NULL : comm_of(comm);
    struct follow *follow = known ? follow_of(call, known) : NULL;
    if (!follow)
        return;
    thread_note(known);
    follow->receives = true;
    follow->source = source;
    follow->receive_tag = tag;
}

/* `size`: of the group that data comes from or goes to. */
static struct follow *collective_of(struct call *call, mpi_handle comm, int *size)
{
    struct communicator *known = comm_of(comm);
    struct follow *follow = known ? follow_of(call, known) : NULL;
    if (!follow)
        return NULL;
    follow->collects = true;
    follow->call = __atomic_add_fetch(&known->collectives, 1, __ATOMIC_RELAXED);
    *size = known->remote ? known->remote : known->size;
    return follow;
}

/* Who has data of whom there depends on counts of the other group, which are not known here. */
static bool lacks_groups(const struct follow *follow)
{
    if (follow->inter)
        follow_lack(CSAN_LACK_COMMUNICATOR);
    return follow->inter;
}

void follow_flow(struct call *call, mpi_handle comm, const struct follow_flow *flow)
{
    int size;
    struct follow *follow = collective_of(call, comm, &size);
    if (!follow || lacks_groups(follow))
        return;
    follow->gives = flow->gives;
    follow->takers = flow->takers;
    follow->givers = flow->givers;
}

void follow_all(struct call *call, mpi_handle comm, bool moves)
{
    int size;
    struct follow *follow = collective_of(call, comm, &size);
    if (!follow || !moves)
        return;
    follow->gives = true;
    follow->takers = follow->givers = (uint64_t)size;
}

void follow_from_root(struct call *call, mpi_handle comm, int root, bool moves)
{
    int size;
    struct follow *follow = collective_of(call, comm, &size);
    if (!follow || !moves || (follow->inter ? root == abi.proc_null : size < 2))
        return;
    follow->gives = root == (follow->inter ? abi.root : follow->rank);
    follow->givers = !follow->gives;
    follow->takers = (uint64_t)size - !follow->inter;
}

void follow_to_root(struct call *call, mpi_handle comm, int root, bool moves)
{
    int size;
    struct follow *follow = collective_of(call, comm, &size);
    if (!follow || !moves || (follow->inter ? root == abi.proc_null : size < 2))
        return;
    follow->gives = root != (follow->inter ? abi.root : follow->rank);
    follow->givers = follow->gives ? 0 : (uint64_t)size - !follow->inter;
    follow->takers = 1;
}

void follow_exchange(struct call *call, mpi_handle comm, uint64_t takers, const int *givers,
                     size_t giver_count)
{
    int size;
    struct follow *follow = collective_of(call, comm, &size);
    if (!follow || lacks_groups(follow))
        return;
    follow->by_rank = true;
    follow->gives = takers != 0;
    follow->takers = takers;
    follow->sources = malloc((giver_count + 1) * sizeof *follow->sources);
    if (!follow->sources)
        return;
    if (giver_count)
        memcpy(follow->sources, givers, giver_count * sizeof *givers);
    follow->givers = giver_count;
}

/* ---- Receives that are posted ---------------------------------------------------------------- */

static void posted_add(const struct follow *follow)
{
    struct posted *posted = malloc(sizeof *posted);
    if (!posted) {
        follow_lack(CSAN_LACK_FREED); /* those behind it are numbered as if it had nothing */
        return;
    }
    *posted =
        (struct posted){NULL, follow->serial, follow->id, follow->source, follow->receive_tag};
    pthread_mutex_lock(&table.lock);
    *(table.first ? &table.last->next : &table.first) = posted;
    table.last = posted;
    pthread_mutex_unlock(&table.lock);
}

static void posted_remove(uint64_t serial)
{
    struct posted *before = NULL;
    pthread_mutex_lock(&table.lock);
    struct posted *posted = table.first;
    for (; posted && posted->serial != serial; posted = posted->next)
        before = posted;
    if (posted) {
        *(before ? &before->next : &table.first) = posted->next;
        if (table.last == posted)
            table.last = before;
    }
    pthread_mutex_unlock(&table.lock);
    free(posted);
}

static bool might_be_of(const struct posted *posted, uint64_t id, int source, int tag)
{
    return posted->id == id && (posted->source == abi.any_source || posted->source == source) &&
           (posted->tag == abi.any_tag || posted->tag == tag);
}

/* Posted before that one, and might have had its message. */
static uint64_t open_before(uint64_t serial, uint64_t id, int source, int tag)
{
    uint64_t count = 0;
    pthread_mutex_lock(&table.lock);
    for (const struct posted *at = table.first; at && at->serial < serial; at = at->next)
        count += might_be_of(at, id, source, tag);
    pthread_mutex_unlock(&table.lock);
    return count;
}

/* ---- Life ------------------------------------------------------------------------------------ */

/* `side`: of the sender, in an intercommunicator. */
static uint64_t channel_of(uint64_t id, int side, int source, int dest, int tag)
{
    if (side)
        id = hash_mix(id, 7);
    const uint64_t ranks = (uint64_t)(uint32_t)source << 32 | (uint32_t)dest;
    return hash_mix(hash_mix(hash_mix(id, ranks), (uint64_t)(uint32_t)tag), 2);
}

/* `side`: of those that give. */
static uint64_t collective_key(const struct follow *follow, int side, int rank)
{
    uint64_t key = hash_mix(hash_mix(hash_mix(follow->id, follow->call), follow->starts), 3);
    if (side)
        key = hash_mix(key, 8);
    return follow->by_rank ? hash_mix(key, (uint64_t)rank) : key;
}

void follow_begin(struct follow *follow, bool lasts)
{
    if (!follow)
        return;
    follow->open = true;
    follow->starts++;
    if (follow->synchronous)
        follow->sent = __atomic_add_fetch(&table.synchronous, 1, __ATOMIC_RELAXED);
    if (follow->sends)
        link_make(
            CSAN_LINK_NEXT,
            channel_of(follow->id, follow->side, follow->rank, follow->dest, follow->send_tag),
            follow->sent, 0, follow->bytes);
    if (follow->receives)
        follow->serial = __atomic_add_fetch(&table.receives, 1, __ATOMIC_RELAXED);
    if (follow->receives && lasts) {
        posted_add(follow);
        link_make(CSAN_LINK_POST, 0, follow->serial, 0, 0);
    }
    if (follow->collects && follow->gives)
        link_make(CSAN_LINK_ENTER, collective_key(follow, follow->side, follow->rank), 0,
                  follow->takers, 0);
}

static bool was_cancelled(const void *status)
{
    int flag = 0;
    return status && __atomic_load_n(&table.cancels, __ATOMIC_RELAXED) &&
           PMPI(Test_cancelled)(status, &flag) == MPI_OK && flag;
}

/* It took no message, as far as anybody knows. */
static void received_nothing(uint64_t serial)
{
    link_make(CSAN_LINK_TAKE, 0, serial, 0, 0);
}

/* Of an intercommunicator, messages come from the other group. */
static int other_side(const struct follow *follow)
{
    return follow->inter && !follow->side;
}

static void received(const struct follow *follow, int source, int tag)
{
    const uint64_t open = open_before(follow->serial, follow->id, source, tag);
    link_make(CSAN_LINK_TAKE, channel_of(follow->id, other_side(follow), source, follow->rank, tag),
              follow->serial, open, 0);
}

static void receive_end(const struct follow *follow, const void *status)
{
    const int *fields = status;
    posted_remove(follow->serial);
    if (was_cancelled(status)) {
        received_nothing(follow->serial);
    } else if (fields) {
        received(follow, fields[abi.status_source], fields[abi.status_tag]);
    } else if (follow->source == abi.any_source || follow->receive_tag == abi.any_tag) {
        follow_lack(CSAN_LACK_FREED);
        received_nothing(follow->serial);
    } else {
        received(follow, follow->source, follow->receive_tag);
    }
}

static void collective_end(const struct follow *follow)
{
    if (!follow->by_rank && follow->givers)
        link_make(CSAN_LINK_LEAVE, collective_key(follow, other_side(follow), follow->rank),
                  follow->givers, follow->takers, 0);
    for (uint64_t i = 0; follow->by_rank && i < follow->givers; i++)
        link_make(CSAN_LINK_LEAVE, collective_key(follow, 0, follow->sources[i]), 1, 0, 0);
}

void follow_end(struct follow *follow, const void *status)
{
    if (!follow || !follow->open)
        return;
    follow->open = false;
    if (follow->sends && !follow->receives && was_cancelled(status))
        follow_lack(CSAN_LACK_CANCELLED);
    else if (follow->synchronous)
        link_make(CSAN_LINK_TAKEN, 0, follow->sent, 0, 0);
    if (follow->receives)
        receive_end(follow, status);
    if (follow->collects)
        collective_end(follow);
}

void follow_drop(struct follow *follow, enum csan_link_lack lack)
{
    if (!follow || !follow->open)
        return;
    follow->open = false;
    if (follow->receives || lack == CSAN_LACK_CANCELLED)
        follow_lack(lack);
    if (follow->receives) {
        posted_remove(follow->serial);
        received_nothing(follow->serial);
    }
}

void follow_free(struct follow *follow)
{
    if (follow)
        free(follow->sources);
    free(follow);
}

/* ---- Others ---------------------------------------------------------------------------------- */

void follow_barrier(uint64_t key, int size)
{
    link_make(CSAN_LINK_ENTER, key, 0, (uint64_t)size, 0);
    link_make(CSAN_LINK_LEAVE, key, (uint64_t)size, (uint64_t)size, 0);
}

/* The receive is posted later. */
static void matched_add(const void *message, uint64_t serial)
{
    struct matched *matched = malloc(sizeof *matched);
    if (!matched) {
        follow_lack(CSAN_LACK_FREED);
        return;
    }
    pthread_mutex_lock(&table.lock);
    *matched = (struct matched){table.matched, handle_at(message, 0), serial};
    table.matched = matched;
    pthread_mutex_unlock(&table.lock);
}

void follow_matched(const void *message)
{
    if (!call_shared.links)
        return;
    const mpi_handle handle = handle_at(message, 0);
    pthread_mutex_lock(&table.lock);
    struct matched **at = &table.matched;
    while (*at && (*at)->message != handle)
        at = &(*at)->next;
    struct matched *matched = *at;
    if (matched)
        *at = matched->next;
    pthread_mutex_unlock(&table.lock);
    if (matched)
        link_make(CSAN_LINK_POST, 0, matched->serial, 0, 0);
    free(matched);
}

void follow_probed(int source, mpi_handle comm, const void *status, const void *message)
{
    const int *fields = status;
    struct communicator *known = source == abi.proc_null ? NULL : comm_of(comm);
    if (!known)
        return;
    thread_note(known);
    const int from = fields[abi.status_source], with = fields[abi.status_tag];
    const uint64_t channel =
        channel_of(known->id, known->remote && !known->side, from, known->rank, with);
    const uint64_t serial = message ? __atomic_add_fetch(&table.receives, 1, __ATOMIC_RELAXED)
                                    : __atomic_load_n(&table.receives, __ATOMIC_RELAXED) + 1;
    link_make(message ? CSAN_LINK_TAKE : CSAN_LINK_LOOK, channel, serial,
              open_before(serial, known->id, from, with), 0);
    if (message)
        matched_add(message, serial);
}
