/* See process_link.h. */
#define HASH_NONFATAL_OOM 1
#include "runtime/hook/state/process_link.h"
#include "csan/base/hash.h"
#include "csan/detector/context.h"
#include "runtime/hook/session/guard.h"
#include "runtime/hook/session/session.h"
#include "runtime/hook/state/thread.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <uthash.h>

enum { STAT_BYTES = 1024, START_FIELD = 22 };

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

/* ---- Processes that start others ---- */

static uint64_t child_key(pid_t parent)
{
    return hash_mix(hash_mix(4, (uint64_t)parent), 4);
}

void process_link_starts(void)
{
    if (session_state == SESSION_ON && context_is_recorded(session_context()))
        link_of_thread(
            &(struct csan_link){.kind = CSAN_LINK_RECORD, .key = child_key(getpid()), .peers = 1});
}

/* In ticks since the machine was started (proc(5), /proc/pid/stat, field 22); 0: not known. */
static uint64_t start_ticks(void)
{
    char text[STAT_BYTES];
    uint64_t ticks = 0;
    FILE *file = fopen("/proc/self/stat", "re");
    const size_t length = file ? fread(text, 1, sizeof text - 1, file) : 0;
    if (file)
        fclose(file);
    text[length] = '\0';
    const char *at = strrchr(text, ')'); /* the name may have spaces; the third field is next */
    for (int field = 2; at && field < START_FIELD; field++)
        at = strchr(at + 1, ' ');
    return at && sscanf(at, " %" SCNu64, &ticks) == 1 ? ticks : 0;
}

/* When the process was started, at the latest; 0: not known. */
static uint64_t start_time(void)
{
    struct timespec boot;
    const uint64_t ticks = start_ticks();
    const long per_second = sysconf(_SC_CLK_TCK);
    if (!ticks || per_second <= 0 || clock_gettime(CLOCK_BOOTTIME, &boot) != 0)
        return 0;
    const uint64_t tick = 1000000000u / (uint64_t)per_second;
    const int64_t asleep = /* CLOCK_MONOTONIC does not count that time */
        (int64_t)boot.tv_sec * 1000000000 + boot.tv_nsec - (int64_t)process_link_now();
    const int64_t time = (int64_t)((ticks + 1) * tick) - (asleep > 0 ? asleep : 0);
    return time > 0 ? (uint64_t)time : 0;
}

void process_link_started(void)
{
    const uint64_t time = context_is_recorded(session_context()) ? start_time() : 0;
    if (time)
        context_link(
            session_context(), CSAN_HOST,
            &(struct csan_link){
                .kind = CSAN_LINK_WAIT, .key = child_key(getppid()), .peers = 1, .time = time});
}
