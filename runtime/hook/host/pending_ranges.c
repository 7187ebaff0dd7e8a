/* See pending_ranges.h. */
#include "runtime/hook/host/pending_ranges.h"
#include "runtime/instrumented/instrumented.h"
#include "csan/base/array.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { RECORDS_MOST = 1 << 16 };

struct record {
    uint64_t epoch;
    struct range bytes;
    bool writes;
};

uint16_t *pending_written, *pending_touched;

static struct {
    pthread_mutex_t mutex;
    struct record *records;
    size_t count, capacity;
} pending = {.mutex = PTHREAD_MUTEX_INITIALIZER};

void pending_ranges_start(uint16_t *written, uint16_t *touched)
{
    pending_written = written;
    pending_touched = touched;
}

/* A counter that has come to its end stays there: its page is looked at more closely for ever. */
static void count(uint16_t *counter, int change)
{
    const uint16_t now = __atomic_load_n(counter, __ATOMIC_RELAXED);
    if (now != UINT16_MAX)
        __atomic_store_n(counter, (uint16_t)(now + change), __ATOMIC_RELEASE);
}

/* With the mutex. */
static void count_pages(const struct record *record, int change)
{
    const uint64_t first = record->bytes.start >> INSTRUMENTED_PAGE_SHIFT;
    const uint64_t last = (record->bytes.end - 1) >> INSTRUMENTED_PAGE_SHIFT;
    const uint64_t pages =
        last - first + 1 < INSTRUMENTED_PAGES ? last - first + 1 : INSTRUMENTED_PAGES;
    for (uint64_t i = 0; i < pages; i++) {
        const size_t page = (first + i) % INSTRUMENTED_PAGES;
        count(&pending_touched[page], change);
        if (record->writes)
            count(&pending_written[page], change);
    }
}

static struct record *record_new(void)
{
    if (!array_room(&pending.records, pending.count, &pending.capacity, 64, RECORDS_MOST,
                    sizeof *pending.records))
        return NULL;
    return &pending.records[pending.count++];
}

void pending_ranges_add(uint64_t epoch, struct range bytes, bool writes)
{
    if (bytes.start >= bytes.end)
        return;
    pthread_mutex_lock(&pending.mutex);
    struct record *record = record_new();
    if (record) {
        *record = (struct record){epoch, bytes, writes};
        count_pages(record, 1);
    }
    pthread_mutex_unlock(&pending.mutex);
}

/* Takes out those that `is_over` says are, or (NULL) those of the bytes. */
static void take_out(bool (*is_over)(void *user, uint64_t epoch), void *user, struct range bytes)
{
    size_t kept = 0;
    pthread_mutex_lock(&pending.mutex);
    for (size_t i = 0; i < pending.count; i++) {
        const struct record record = pending.records[i];
        if (is_over ? is_over(user, record.epoch) : range_overlaps(record.bytes, bytes))
            count_pages(&record, -1);
        else
            pending.records[kept++] = record;
    }
    pending.count = kept;
    pthread_mutex_unlock(&pending.mutex);
}

void pending_ranges_release(bool (*is_over)(void *user, uint64_t epoch), void *user)
{
    take_out(is_over, user, (struct range){0, 0});
}

void pending_ranges_forget(struct range bytes)
{
    take_out(NULL, NULL, bytes);
}

bool pending_ranges_meet(struct range bytes, bool writes)
{
    bool meets = false;
    pthread_mutex_lock(&pending.mutex);
    for (size_t i = 0; i < pending.count && !meets; i++)
        meets = (writes || pending.records[i].writes) &&
                range_overlaps(pending.records[i].bytes, bytes);
    pthread_mutex_unlock(&pending.mutex);
    return meets;
}

void pending_ranges_stop(void)
{
    pthread_mutex_init(&pending.mutex, NULL); /* its owner may be a thread that is not here */
    pending.count = 0;
    memset(pending_written, 0, INSTRUMENTED_PAGES * sizeof *pending_written);
    memset(pending_touched, 0, INSTRUMENTED_PAGES * sizeof *pending_touched);
}
