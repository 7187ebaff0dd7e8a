/* See process_link.h. */
#define HASH_NONFATAL_OOM 1
#include "runtime/hook/state/process_link.h"
#include "csan/base/hash.h"
#include "csan/detector/context.h"
#include "runtime/hook/session/guard.h"
#include "runtime/hook/session/session.h"
#include "runtime/hook/state/thread.h"

#include <stdlib.h>
#include <time.h>
#include <unistd.h>
#include <uthash.h>

/* How often the program came to one of its barriers. */
struct barrier {
    uint64_t number, entered;
    UT_hash_handle hh;
};

static struct {
    struct barrier *barriers; /* under the hooks' lock */
    uint64_t tokens;          /* atomic */
} table;

uint64_t process_link_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

uint64_t process_link_key(const void *handle, size_t bytes)
{
    return hash_bytes(HASH_START, handle, bytes);
}

void process_link_lane(csan_lane lane, const struct csan_link *link)
{
    struct csan_link timed = *link;
    if (!timed.time)
        timed.time = process_link_now();
    context_link(session_context(), lane, &timed);
}

static void link_of_thread(const struct csan_link *link)
{
    if (!guard_enter())
        return;
    process_link_lane(thread_lane(), link);
    guard_leave();
}

static void process_link(const struct csan_link *link)
{
    if (session_state == SESSION_ON)
        link_of_thread(link);
}

int process_links_wanted(void)
{
    return session_start() && context_is_recorded(session_context());
}

void process_link_of_library(const struct csan_link *link)
{
    if (process_links_wanted())
        link_of_thread(link);
}

/* No other process of any machine has it, as far as chance allows. */
uint64_t process_link_token(void)
{
    const uint64_t number = __atomic_add_fetch(&table.tokens, 1, __ATOMIC_RELAXED);
    uint64_t token =
        hash_mix(hash_mix(hash_mix(0, (uint64_t)getpid()), process_link_now()), number);
    token += token == 0;
    process_link(&(struct csan_link){.kind = CSAN_LINK_SEND, .key = token, .number = 1});
    return token;
}

/* The round that the process is in; 0: memory is short. */
static uint64_t round_of(uint64_t number, int leave)
{
    struct barrier *barrier = NULL;
    HASH_FIND(hh, table.barriers, &number, sizeof number, barrier);
    if (!barrier && (barrier = calloc(1, sizeof *barrier))) {
        barrier->number = number;
        HASH_ADD(hh, table.barriers, number, sizeof barrier->number, barrier);
        if (!barrier->hh.tbl) {
            free(barrier);
            return 0;
        }
    }
    return !barrier ? 0 : leave ? barrier->entered : ++barrier->entered;
}

void process_link_barrier(uint64_t barrier, uint64_t processes, int leave)
{
    guard_lock();
    const uint64_t round = round_of(barrier, leave);
    guard_unlock();
    if (round)
        process_link(&(struct csan_link){.kind = leave ? CSAN_LINK_LEAVE : CSAN_LINK_ENTER,
                                         .key = hash_mix(hash_mix(1, barrier), round),
                                         .number = processes,
                                         .peers = processes});
}
