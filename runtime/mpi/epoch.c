/* See epoch.h. */
#include "runtime/mpi/epoch.h"
#include "csan/base/hash.h"
#include "runtime/mpi/follow.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

/* What the rank has with another one, or with itself. */
struct peer {
    uint32_t posts, starts; /* epochs so far: exposed to it, and its window accessed */
    bool posted, started;   /* now */
    bool reads;             /* the epoch that started has data of it */
    bool exposed;           /* it is known that it posted */
    bool reachable;         /* its memory can be loaded from and stored to */
    bool locked, shared, checked, used, fetched, held; /* held: it is said that it has the lock */
};

struct epochs {
    pthread_mutex_t lock;
    uint64_t id;
    int rank, size;
    bool wrote, read; /* said */
    struct peer peers[];
};

struct epochs *epochs_create(uint64_t id, int rank, int size, bool shared)
{
    struct epochs *epochs = calloc(1, sizeof *epochs + (size_t)size * sizeof(struct peer));
    if (!epochs)
        return NULL;
    pthread_mutex_init(&epochs->lock, NULL);
    epochs->id = id;
    epochs->rank = rank;
    epochs->size = size;
    for (int i = 0; i < size; i++)
        epochs->peers[i].reachable = shared;
    return epochs;
}

void epochs_free(struct epochs *epochs)
{
    if (!epochs)
        return;
    pthread_mutex_destroy(&epochs->lock);
    free(epochs);
}

/* Locked; NULL: there is no such rank. */
static struct peer *peer_of(struct epochs *epochs, int target)
{
    if (!epochs || target < 0 || target >= epochs->size)
        return NULL;
    pthread_mutex_lock(&epochs->lock);
    return &epochs->peers[target];
}

static void leave(struct epochs *epochs)
{
    pthread_mutex_unlock(&epochs->lock);
}

/* Calls `each` for one target, or for all of them. */
static void for_targets(struct epochs *epochs, int target,
                        void (*each)(struct epochs *epochs, struct peer *peer, int target))
{
    const int first = target == EPOCH_ALL ? 0 : target;
    const int end = !epochs ? 0 : target == EPOCH_ALL ? epochs->size : target + 1;
    for (int i = first; i < end; i++) {
        struct peer *peer = peer_of(epochs, i);
        if (!peer)
            return;
        each(epochs, peer, i);
        leave(epochs);
    }
}

/* Once for each: the rank reads or writes what others may write or read now. */
static void expose(struct epochs *epochs, bool reads, bool writes)
{
    if (writes && !epochs->wrote)
        follow_link(CSAN_LINK_LACK, CSAN_LACK_ONE_SIDED, epochs->id, 1);
    if (reads && !epochs->read)
        follow_link(CSAN_LINK_LACK, CSAN_LACK_ONE_SIDED, epochs->id, 2);
    epochs->wrote |= writes;
    epochs->read |= reads;
}

static void reachable_one(struct epochs *epochs, struct peer *peer, int target)
{
    (void)epochs, (void)target;
    peer->reachable = true;
}

void epochs_reachable(struct epochs *epochs, int target)
{
    for_targets(epochs, target, reachable_one);
}

/* ---- Locks ---- */

/* Times of two sections compare if one clock gave them. */
static uint64_t machine(void)
{
    static uint64_t known; /* atomic */
    char boot[64] = "";
    uint64_t hash = __atomic_load_n(&known, __ATOMIC_RELAXED);
    if (hash)
        return hash;
    FILE *file = fopen("/proc/sys/kernel/random/boot_id", "re");
    if (file) {
        if (!fgets(boot, sizeof boot, file))
            boot[0] = 0;
        fclose(file);
    }
    hash = hash_text(HASH_START, boot) | 1;
    __atomic_store_n(&known, hash, __ATOMIC_RELAXED);
    return hash;
}

static uint64_t lock_key(const struct epochs *epochs, int target)
{
    return hash_mix(hash_mix(epochs->id, (uint64_t)target), 11);
}

static void hold(const struct epochs *epochs, struct peer *peer, int target)
{
    if (peer->checked && !peer->held)
        follow_link(CSAN_LINK_LOCK, lock_key(epochs, target), machine(), peer->shared);
    peer->held = true;
}

static void lock_one(struct epochs *epochs, int target, bool shared, bool check)
{
    struct peer *peer = peer_of(epochs, target);
    if (!peer)
        return;
    peer->locked = true;
    peer->shared = shared;
    peer->checked = check;
    peer->used = peer->fetched = peer->held = false;
    if (target == epochs->rank || peer->reachable) {
        peer->used = true;
        hold(epochs, peer, target);
    }
    if (peer->reachable && shared)
        expose(epochs, true, true);
    leave(epochs);
}

void epochs_locked(struct epochs *epochs, int target, bool shared, bool check)
{
    if (target != EPOCH_ALL)
        lock_one(epochs, target, shared, check);
    for (int i = 0; target == EPOCH_ALL && epochs && i < epochs->size; i++)
        lock_one(epochs, i, shared, check);
}

static void unlock_one(struct epochs *epochs, struct peer *peer, int target)
{
    if (peer->locked && peer->checked && peer->used)
        follow_link(CSAN_LINK_UNLOCK, lock_key(epochs, target), machine(), peer->shared);
}

void epochs_unlock(struct epochs *epochs, int target)
{
    for_targets(epochs, target, unlock_one);
}

static void unlocked_one(struct epochs *epochs, struct peer *peer, int target)
{
    if (peer->locked && peer->used)
        hold(epochs, peer, target);
    peer->locked = false;
}

void epochs_unlocked(struct epochs *epochs, int target)
{
    for_targets(epochs, target, unlocked_one);
}

static void flushed_one(struct epochs *epochs, struct peer *peer, int target)
{
    if (peer->locked && peer->used)
        hold(epochs, peer, target);
}

static void came_one(struct epochs *epochs, struct peer *peer, int target)
{
    if (peer->locked && peer->fetched)
        hold(epochs, peer, target);
}

void epochs_flushed(struct epochs *epochs, int target, bool local)
{
    for_targets(epochs, target, local ? came_one : flushed_one);
}

void epochs_came(struct epochs *epochs, int target)
{
    for_targets(epochs, target, came_one);
}

/* ---- Operations ---- */

void epochs_operation(struct epochs *epochs, int target, bool reads, bool writes)
{
    struct peer *peer = peer_of(epochs, target);
    if (!peer)
        return;
    peer->used = true;
    peer->fetched |= reads;
    peer->reads |= reads;
    if (peer->locked && peer->shared)
        expose(epochs, reads, writes);
    leave(epochs);
}

void epochs_looked(struct epochs *epochs)
{
    if (!peer_of(epochs, epochs ? epochs->rank : 0))
        return;
    expose(epochs, true, true); /* its own loads and stores of the window, which nobody sees */
    leave(epochs);
}

/* ---- Post, start, complete, wait ---- */

enum { COMPLETES = 9, POSTS = 10 };

/* Messages of an epoch, from the origin to the target or back. */
static uint64_t pair_key(const struct epochs *epochs, int what, int origin, int target)
{
    const uint64_t ranks = (uint64_t)(uint32_t)origin << 32 | (uint32_t)target;
    return hash_mix(hash_mix(epochs->id, ranks), (uint64_t)what);
}

void epochs_post(struct epochs *epochs, const int *ranks, int count)
{
    for (int i = 0; i < count; i++) {
        struct peer *peer = peer_of(epochs, ranks[i]);
        if (!peer)
            continue;
        peer->posted = true;
        peer->posts++;
        follow_link(CSAN_LINK_SEND, pair_key(epochs, POSTS, ranks[i], epochs->rank), peer->posts,
                    0);
        leave(epochs);
    }
}

void epochs_start(struct epochs *epochs, const int *ranks, int count)
{
    for (int i = 0; i < count; i++) {
        struct peer *peer = peer_of(epochs, ranks[i]);
        if (!peer)
            continue;
        peer->started = true;
        peer->starts++;
        peer->reads = peer->exposed = false;
        leave(epochs);
    }
}

static void posts_of(const struct epochs *epochs, const struct peer *peer, int target, bool wanted)
{
    follow_link(wanted ? CSAN_LINK_RECEIVE : CSAN_LINK_UNWANTED,
                pair_key(epochs, POSTS, epochs->rank, target), peer->starts, 0);
}

static void started_one(struct epochs *epochs, struct peer *peer, int target)
{
    if (!peer->started || !peer->reachable || peer->exposed)
        return;
    posts_of(epochs, peer, target, true);
    peer->exposed = true;
}

void epochs_started(struct epochs *epochs)
{
    for_targets(epochs, EPOCH_ALL, started_one);
}

static void complete_one(struct epochs *epochs, struct peer *peer, int target)
{
    if (peer->started)
        follow_link(CSAN_LINK_SEND, pair_key(epochs, COMPLETES, epochs->rank, target), peer->starts,
                    0);
}

void epochs_complete(struct epochs *epochs)
{
    for_targets(epochs, EPOCH_ALL, complete_one);
}

static void completed_one(struct epochs *epochs, struct peer *peer, int target)
{
    if (peer->started && !peer->exposed)
        posts_of(epochs, peer, target, peer->reads);
    peer->started = false;
}

void epochs_completed(struct epochs *epochs)
{
    for_targets(epochs, EPOCH_ALL, completed_one);
}

static void waited_one(struct epochs *epochs, struct peer *peer, int origin)
{
    if (peer->posted)
        follow_link(CSAN_LINK_RECEIVE, pair_key(epochs, COMPLETES, origin, epochs->rank),
                    peer->posts, 0);
    peer->posted = false;
}

void epochs_waited(struct epochs *epochs)
{
    for_targets(epochs, EPOCH_ALL, waited_one);
}
