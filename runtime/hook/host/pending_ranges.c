/* See pending_ranges.h. */
#include "runtime/hook/host/pending_ranges.h"
#include "runtime/hook/host/handler_lock.h"
#include "runtime/instrumented/instrumented.h"
#include "csan/base/array.h"

#include <stdlib.h>
#include <string.h>

enum {
    RECORDS_MOST = 1 << 16,
    SECONDS_MOST = 600 /* then the lock's owner is not in this process */
};

struct record {
    uint64_t epoch;
    struct range bytes;
    bool writes, word;
};

struct csan_host_counters pending_counters;

static struct {
    uint32_t lock;
    struct record *records; /* pending_ranges_count of them */
    size_t capacity;
    uint64_t dropped; /* atomic */
} pending;

size_t pending_ranges_count;

static __thread bool holds __attribute__((tls_model("initial-exec")));

/* No mutex of the C library's: libcsan_threads follows those, and what it does for that, such as to
 * compare names of files, comes here again. Then nothing is looked at. */
static bool take(void)
{
    return handler_lock_take(&pending.lock, &holds, SECONDS_MOST);
}

static void give(void)
{
    handler_lock_give(&pending.lock, &holds);
}

void pending_ranges_start(struct csan_host_counters counters)
{
    pending_counters = counters;
}

/* A counter that has come to its end stays there: its page is looked at more closely for ever. */
static void count(uint16_t *counter, int change)
{
    const uint16_t now = __atomic_load_n(counter, __ATOMIC_RELAXED);
    if (now != UINT16_MAX)
        __atomic_store_n(counter, (uint16_t)(now + change), __ATOMIC_RELEASE);
}

/* How many there are, each once. */
static uint64_t pieces(struct range bytes, unsigned shift, uint64_t most)
{
    const uint64_t count = ((bytes.end - 1) >> shift) - (bytes.start >> shift) + 1;
    return count < most ? count : most;
}

/* With the lock. The area comes first and goes last: whoever sees a page's counter asks for it. */
static void count_pages(const struct record *record, int change)
{
    const struct range bytes = record->bytes;
    const uint64_t area = bytes.start >> INSTRUMENTED_AREA_SHIFT;
    const uint64_t areas = pieces(bytes, INSTRUMENTED_AREA_SHIFT, INSTRUMENTED_AREAS);
    const uint64_t first = bytes.start >> INSTRUMENTED_PAGE_SHIFT;
    const uint64_t pages = pieces(bytes, INSTRUMENTED_PAGE_SHIFT, INSTRUMENTED_PAGES);
    for (uint64_t i = 0; change > 0 && i < areas; i++)
        count(&pending_counters.areas[(area + i) % INSTRUMENTED_AREAS], change);
    for (uint64_t i = 0; i < pages; i++) {
        const size_t page = (first + i) % INSTRUMENTED_PAGES;
        count(&pending_counters.touched[page], change);
        if (record->writes)
            count(&pending_counters.written[page], change);
    }
    for (uint64_t i = 0; change < 0 && i < areas; i++)
        count(&pending_counters.areas[(area + i) % INSTRUMENTED_AREAS], change);
}

static struct record *record_new(void)
{
    if (!array_room(&pending.records, pending_ranges_count, &pending.capacity, 64, RECORDS_MOST,
                    sizeof *pending.records))
        return NULL;
    return &pending.records[pending_ranges_count++];
}

static bool add(const struct record *added)
{
    if (added->bytes.start >= added->bytes.end)
        return true;
    if (!take())
        return false;
    struct record *record = record_new();
    if (record) {
        *record = *added;
        count_pages(record, 1);
    }
    give();
    if (!record)
        __atomic_fetch_add(&pending.dropped, 1, __ATOMIC_RELAXED);
    return record != NULL;
}

void pending_ranges_add(uint64_t epoch, struct range bytes, bool writes)
{
    add(&(struct record){.epoch = epoch, .bytes = bytes, .writes = writes});
}

/* Without room nobody knows when the host looks. */
void pending_ranges_add_word(uint64_t epoch, struct range word, bool writes)
{
    if (!add(&(struct record){.epoch = epoch, .bytes = word, .writes = writes, .word = true}))
        pending_ranges_forget_all();
}

/* Takes out those that `is_over` says are, or (NULL) those of the bytes. */
static void take_out(bool (*is_over)(void *user, uint64_t epoch), void *user, struct range bytes)
{
    size_t kept = 0;
    if (!take())
        return;
    for (size_t i = 0; i < pending_ranges_count; i++) {
        const struct record record = pending.records[i];
        if (is_over ? is_over(user, record.epoch) : range_overlaps(record.bytes, bytes))
            count_pages(&record, -1);
        else
            pending.records[kept++] = record;
    }
    pending_ranges_count = kept;
    give();
}

void pending_ranges_release(bool (*is_over)(void *user, uint64_t epoch), void *user)
{
    take_out(is_over, user, (struct range){0, 0});
}

void pending_ranges_forget(struct range bytes)
{
    take_out(NULL, NULL, bytes);
}

void pending_ranges_forget_all(void)
{
    take_out(NULL, NULL, (struct range){0, UINT64_MAX});
}

uint64_t pending_ranges_dropped(void)
{
    return __atomic_load_n(&pending.dropped, __ATOMIC_RELAXED);
}

enum pending_ranges_met pending_ranges_meet(struct range bytes, bool writes)
{
    enum pending_ranges_met met = PENDING_NOTHING;
    if (!take())
        return met;
    for (size_t i = 0; i < pending_ranges_count && met != PENDING_OP; i++)
        if ((writes || pending.records[i].writes) &&
            range_overlaps(pending.records[i].bytes, bytes))
            met = pending.records[i].word ? PENDING_WORD : PENDING_OP;
    give();
    return met;
}

void pending_ranges_stop(void)
{
    handler_lock_forked(&pending.lock, &holds);
    pending_ranges_count = 0;
    pending.dropped = 0;
    memset(pending_counters.written, 0, INSTRUMENTED_PAGES * sizeof(uint16_t));
    memset(pending_counters.touched, 0, INSTRUMENTED_PAGES * sizeof(uint16_t));
    memset(pending_counters.areas, 0, INSTRUMENTED_AREAS * sizeof(uint16_t));
}
