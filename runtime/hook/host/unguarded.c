/* See unguarded.h. */
#include "runtime/hook/host/unguarded.h"
#include "runtime/hook/host/handler_lock.h"
#include "runtime/hook/host/host_page.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { SECONDS_MOST = 600 }; /* then the lock's owner is not in this process */
enum { RANGES_MOST = 256, BLOCKS_MOST = 1024, CALLS_MOST = 512 };

struct call {
    uint64_t start, end; /* atomic; start 0: free */
    uint64_t owner;      /* atomic; of memory that is exposed; 0: a system call */
};

static struct {
    uint32_t lock;
    struct range ranges[RANGES_MOST]; /* apart, in order */
    size_t count;
    struct range blocks[BLOCKS_MOST]; /* those of which an end is within a page */
    size_t block_count;
    bool blocks_lost; /* there were more */
    struct call calls[CALLS_MOST];
    unsigned calls_used; /* beyond these none was ever used */
    unsigned crowd;      /* calls for which there was no room: no page is guarded; atomic */
} unguarded;

static __thread bool holds __attribute__((tls_model("initial-exec")));

/* What must stay open is not left out because its owner is slow. */
static bool take(void)
{
    return handler_lock_take(&unguarded.lock, &holds, SECONDS_MOST);
}

static void give(void)
{
    handler_lock_give(&unguarded.lock, &holds);
}

/* ---- Ranges ---- */

static void insert(size_t at, struct range bytes)
{
    memmove(&unguarded.ranges[at + 1], &unguarded.ranges[at],
            (unguarded.count - at) * sizeof *unguarded.ranges);
    unguarded.ranges[at] = bytes;
    unguarded.count++;
}

static void erase(size_t at)
{
    unguarded.count--;
    memmove(&unguarded.ranges[at], &unguarded.ranges[at + 1],
            (unguarded.count - at) * sizeof *unguarded.ranges);
}

/* Closes the smallest gap. */
static void make_room(void)
{
    size_t best = 1;
    if (unguarded.count < RANGES_MOST)
        return;
    for (size_t i = 2; i < unguarded.count; i++)
        if (unguarded.ranges[i].start - unguarded.ranges[i - 1].end <
            unguarded.ranges[best].start - unguarded.ranges[best - 1].end)
            best = i;
    unguarded.ranges[best - 1].end = unguarded.ranges[best].end;
    erase(best);
}

/* The first range that ends behind that address. */
static size_t first_behind(uint64_t address)
{
    size_t at = 0;
    while (at < unguarded.count && unguarded.ranges[at].end <= address)
        at++;
    return at;
}

void unguarded_add(struct range bytes)
{
    if (bytes.start >= bytes.end || !take())
        return;
    make_room();
    const size_t at = first_behind(bytes.start > 0 ? bytes.start - 1 : 0);
    while (at < unguarded.count && unguarded.ranges[at].start <= bytes.end) {
        const struct range old = unguarded.ranges[at];
        bytes.start = old.start < bytes.start ? old.start : bytes.start;
        bytes.end = old.end > bytes.end ? old.end : bytes.end;
        erase(at);
    }
    insert(at, bytes);
    give();
}

void unguarded_remove(struct range bytes)
{
    if (bytes.start >= bytes.end || !take())
        return;
    make_room();
    for (size_t at = first_behind(bytes.start);
         at < unguarded.count && unguarded.ranges[at].start < bytes.end;) {
        struct range *range = &unguarded.ranges[at];
        const struct range behind = {bytes.end, range->end};
        range->end = bytes.start > range->start ? bytes.start : range->start;
        if (range->end == range->start)
            erase(at);
        else
            at++;
        if (behind.start < behind.end)
            insert(at++, behind);
    }
    give();
}

/* ---- Registered blocks ---- */

void unguarded_registered(struct range block)
{
    if ((block.start % host_page_bytes() == 0 && block.end % host_page_bytes() == 0) || !take())
        return;
    if (unguarded.block_count < BLOCKS_MOST)
        unguarded.blocks[unguarded.block_count++] = block;
    else
        unguarded.blocks_lost = true;
    give();
}

void unguarded_unregistered(struct range block)
{
    if (!take())
        return;
    for (size_t i = 0; i < unguarded.block_count;)
        if (range_overlaps(unguarded.blocks[i], block))
            unguarded.blocks[i] = unguarded.blocks[--unguarded.block_count];
        else
            i++;
    give();
}

/* Of a page in which a block begins or ends. */
static bool is_at_end(struct range page)
{
    for (size_t i = 0; i < unguarded.block_count; i++) {
        const struct range block = unguarded.blocks[i];
        if ((block.start > page.start && block.start < page.end) ||
            (block.end > page.start && block.end < page.end))
            return true;
    }
    return unguarded.blocks_lost;
}

/* ---- Calls ---- */

enum { NO_CALL = CALLS_MOST };

/* Who guards a page sees the call, or the call sees that the page is guarded. */
static void call_is_seen(void)
{
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
}

unsigned unguarded_begin(struct range buffer)
{
    for (unsigned i = 0; i < CALLS_MOST; i++) {
        struct call *call = &unguarded.calls[i];
        uint64_t none = 0;
        if (__atomic_load_n(&call->start, __ATOMIC_RELAXED) ||
            !__atomic_compare_exchange_n(&call->start, &none, buffer.start ? buffer.start : 1,
                                         false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
            continue;
        __atomic_store_n(&call->end, buffer.end, __ATOMIC_RELEASE);
        unsigned used = __atomic_load_n(&unguarded.calls_used, __ATOMIC_RELAXED);
        while (used <= i && !__atomic_compare_exchange_n(&unguarded.calls_used, &used, i + 1, true,
                                                         __ATOMIC_RELEASE, __ATOMIC_RELAXED))
            ;
        call_is_seen();
        return i;
    }
    __atomic_fetch_add(&unguarded.crowd, 1, __ATOMIC_RELAXED);
    call_is_seen();
    return NO_CALL;
}

void unguarded_end(unsigned call)
{
    if (call == NO_CALL) {
        __atomic_fetch_sub(&unguarded.crowd, 1, __ATOMIC_RELEASE);
        return;
    }
    __atomic_store_n(&unguarded.calls[call].end, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&unguarded.calls[call].start, 0, __ATOMIC_RELEASE);
}

/* Where there is no room it stays open for good. */
void unguarded_expose(struct range memory, uint64_t owner)
{
    const unsigned call = unguarded_begin(memory);
    if (call == NO_CALL) {
        unguarded_add(memory);
        unguarded_end(call);
    } else {
        __atomic_store_n(&unguarded.calls[call].owner, owner, __ATOMIC_RELEASE);
    }
}

/* Two threads may end what one owner exposed twice: each ends another. */
void unguarded_conceal(uint64_t owner, unsigned most)
{
    const unsigned used = __atomic_load_n(&unguarded.calls_used, __ATOMIC_ACQUIRE);
    for (unsigned i = 0; i < used && most; i++) {
        uint64_t found = owner;
        if (!__atomic_compare_exchange_n(&unguarded.calls[i].owner, &found, 0, false,
                                         __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
            continue;
        unguarded_end(i);
        most--;
    }
}

static bool is_called_with(struct range page)
{
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    const unsigned used = __atomic_load_n(&unguarded.calls_used, __ATOMIC_ACQUIRE);
    if (__atomic_load_n(&unguarded.crowd, __ATOMIC_ACQUIRE))
        return true;
    for (unsigned i = 0; i < used; i++) {
        const struct range buffer = {__atomic_load_n(&unguarded.calls[i].start, __ATOMIC_ACQUIRE),
                                     __atomic_load_n(&unguarded.calls[i].end, __ATOMIC_ACQUIRE)};
        if (buffer.start && range_overlaps(buffer, page))
            return true;
    }
    return false;
}

bool unguarded_has(struct range page)
{
    if (is_called_with(page))
        return true;
    if (!unguarded.count && !unguarded.block_count && !unguarded.blocks_lost)
        return false;
    if (!take())
        return true;
    const size_t at = first_behind(page.start);
    const bool has =
        (at < unguarded.count && unguarded.ranges[at].start < page.end) || is_at_end(page);
    give();
    return has;
}

void unguarded_forked(void)
{
    handler_lock_forked(&unguarded.lock, &holds);
    unguarded.calls_used = unguarded.crowd = 0;
    memset(unguarded.calls, 0, sizeof unguarded.calls);
}
