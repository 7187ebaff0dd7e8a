/* See communicator_table.h. */
#define HASH_NONFATAL_OOM 1
#include "runtime/hook/library/communicator_table.h"
#include "csan/base/hash.h"
#include "runtime/hook/session/guard.h"
#include "runtime/hook/state/process_link.h"

#include <stdlib.h>

enum {
    SUCCESS = 0,
    IN_PROGRESS = 7, /* of a communicator that does not block */
    ID_WORDS = 16,   /* of an ncclUniqueId, which is passed on the stack */
    ID_BYTES = 128,
    IDS_MAX = 1024
};

/* Messages from one rank to another. A rank may send to itself. */
struct channel {
    uint64_t key, sent, received;
    UT_hash_handle hh;
};

static struct communicator *communicators; /* uthash; under the hooks' lock */

struct communicator *communicator_find(const void *handle)
{
    struct communicator *found = NULL;
    HASH_FIND_PTR(communicators, &handle, found);
    return found;
}

static void channels_clear(struct communicator *communicator)
{
    struct channel *channel, *next;
    HASH_ITER(hh, communicator->channels, channel, next)
    {
        HASH_DEL(communicator->channels, channel);
        free(channel);
    }
}

static void made(const void *handle, uint64_t id)
{
    struct communicator *old = communicator_find(handle), *fresh = calloc(1, sizeof *fresh);
    if (old) {
        HASH_DEL(communicators, old);
        channels_clear(old);
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

/* The unique id is passed by value: on the stack (System V ABI for AMD64, 3.2.3), or as the address
 * of a copy (Procedure Call Standard for the Arm 64-bit Architecture, 6.8.2, stage B). */
static const void *id_passed(const struct touch *call)
{
#if defined(__x86_64__)
    return call->stack;
#else
    return (const void *)(uintptr_t)touch_argument_pointer(call, 2);
#endif
}

void communicator_initialized(struct touch *call, int result);
void communicator_initialized(struct touch *call, int result)
{
    made_of_id(call, result, id_passed(call), ID_WORDS * sizeof *call->stack);
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
    struct communicator *of = communicator_find(parent);
    const uint64_t split = of ? ++of->splits : 0;
    if (of && color >= 0 && variable && *variable)
        made(*variable,
             of->id ? nonzero(hash_mix(hash_mix(hash_mix(of->id, split), (uint64_t)color), 7)) : 0);
    guard_unlock();
}

static int ask(struct library_home *home, enum library_question question, const void *handle)
{
    int number = -1;
    int (*function)(const void *, int *) =
        (int (*)(const void *, int *))library_ask(home, question);
    return function && function(handle, &number) == SUCCESS ? number : -1;
}

bool communicator_know_ranks(struct communicator *communicator, struct library_home *home)
{
    if (communicator->ranks > 0)
        return true;
    communicator->rank = ask(home, LIBRARY_RANK, communicator->handle);
    communicator->ranks = ask(home, LIBRARY_RANKS, communicator->handle);
    return communicator->rank >= 0 && communicator->ranks > 0;
}

uint64_t communicator_next(struct communicator *communicator, uint64_t key, bool sends)
{
    struct channel *channel = NULL;
    HASH_FIND(hh, communicator->channels, &key, sizeof key, channel);
    if (!channel) {
        channel = calloc(1, sizeof *channel);
        if (!channel)
            return 0;
        channel->key = key;
        HASH_ADD(hh, communicator->channels, key, sizeof channel->key, channel);
        if (!channel->hh.tbl) {
            free(channel);
            return 0;
        }
    }
    return sends ? ++channel->sent : ++channel->received;
}
