/* See source_content.h. */
#include "runtime/hook/host/source_content.h"
#include "runtime/hook/host/kernel_call.h"
#include "csan/base/array.h"
#include "csan/base/hash.h"
#include "csan/base/now.h"
#include "csan/order/clock.h"
#include "csan/shadow/lmad.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

enum {
    PIECES = 8,
    PIECE_BYTES = 4096,
    FLAG_BYTES = 8,
    RECORDS_MOST = 4096,
    WRITES_MOST = 1 << 16,
    WRITES_LOOKED_AT = 64, /* for one that the new one continues */
    CHANGES_MOST = 64
};

/* An op's source. */
struct record {
    struct source_change op; /* its bytes: from the first to the last of the source */
    uint32_t count;
    struct range pieces[PIECES];
    uint64_t hashes[PIECES];
};

/* Where a device may write until the host is ordered after the op. */
struct pending_write {
    uint64_t epoch;
    struct range bytes;
};

static struct {
    pthread_mutex_t mutex;
    bool on;
    pid_t process;
    struct record *records;
    size_t count, capacity;
    struct pending_write *writes;
    size_t write_count, write_capacity;
    struct source_change changes[CHANGES_MOST];
    size_t change_count;
    uint64_t limit;         /* nanoseconds a second */
    uint64_t second, spent; /* within that second */
    uint64_t turn;          /* of sampling */
    struct source_content_counts counts;
    uint8_t copy[PIECES * PIECE_BYTES];
} content = {.mutex = PTHREAD_MUTEX_INITIALIZER};

/* ---- Time ---- */

static uint64_t nanoseconds(void)
{
    return now_of(CLOCK_MONOTONIC);
}

static void spend(uint64_t since)
{
    content.spent += nanoseconds() - since;
}

static bool has_time(uint64_t now)
{
    if (now / 1000000000 != content.second) {
        content.second = now / 1000000000;
        content.spent = 0;
    }
    return content.spent < content.limit;
}

/* ---- Reading ---- */

/* The kernel reads them here as any system call reads its arguments, and writes the copy. */
static bool pieces_copy(const struct range *pieces, uint32_t count)
{
    struct iovec from[PIECES], to = {content.copy, 0};
    for (uint32_t i = 0; i < count; i++) {
        const size_t bytes = pieces[i].end - pieces[i].start;
        from[i] = (struct iovec){(void *)(uintptr_t)pieces[i].start, bytes};
        to.iov_len += bytes;
    }
    const long copied = kernel_call(SYS_process_vm_writev, content.process, (long)(uintptr_t)from,
                                    count, (long)(uintptr_t)&to, 1, 0);
    return copied >= 0 && (size_t)copied == to.iov_len;
}

static bool pieces_hash(const struct range *pieces, uint32_t count, uint64_t *hashes)
{
    const uint8_t *at = content.copy;
    if (!pieces_copy(pieces, count))
        return false;
    for (uint32_t i = 0; i < count; i++) {
        const size_t bytes = pieces[i].end - pieces[i].start;
        hashes[i] = hash_memory(at, bytes);
        at += bytes;
    }
    return true;
}

/* ---- Sources ---- */

/* Where the i-th piece is looked for: one behind another, or the ends, and between them in each
 * part at another place each time. */
static uint64_t place_of(const struct lmad *source, uint32_t i)
{
    const uint64_t part = source->span / PIECES + 1;
    if (i == 0 || (lmad_is_contiguous(source) && source->span <= PIECES * PIECE_BYTES))
        return source->base + (uint64_t)i * PIECE_BYTES;
    if (i == PIECES - 1)
        return source->base + source->span -
               (source->bytes < PIECE_BYTES ? source->bytes : PIECE_BYTES);
    return source->base + i * part + content.turn % part;
}

/* Of bytes with gaps between, those that are touched. */
static void choose_pieces(struct record *record, const struct lmad *source)
{
    struct range run;
    uint64_t behind = source->base;
    content.turn = hash_mix(content.turn, source->base);
    for (uint32_t i = 0; i < PIECES; i++) {
        const uint64_t place = place_of(source, i);
        if (!lmad_next_run(source, place > behind ? place : behind, &run.start, &run.end))
            return;
        if (run.end - run.start > PIECE_BYTES)
            run.end = run.start + PIECE_BYTES;
        behind = run.end;
        record->pieces[record->count++] = run;
    }
}

static bool is_written(struct range bytes)
{
    for (size_t i = 0; i < content.write_count; i++)
        if (range_overlaps(content.writes[i].bytes, bytes))
            return true;
    return false;
}

static bool has_room(void)
{
    return array_room(&content.records, content.count, &content.capacity, 16, RECORDS_MOST,
                      sizeof *content.records);
}

/* True: it is among the changes. They have the first of the pieces that changed, and those that
 * follow it without a gap. */
static bool compare(const struct record *record)
{
    struct source_change *change = &content.changes[content.change_count];
    uint64_t hashes[PIECES];
    struct range bytes = {0, 0};
    if (content.change_count == CHANGES_MOST ||
        !pieces_hash(record->pieces, record->count, hashes)) {
        content.counts.silent++;
        return false;
    }
    for (uint32_t i = 0; i < record->count; i++) {
        if (hashes[i] == record->hashes[i])
            continue;
        if (!bytes.end)
            bytes = record->pieces[i];
        else if (bytes.end == record->pieces[i].start)
            bytes.end = record->pieces[i].end;
    }
    if (!bytes.end)
        return false;
    *change = record->op;
    change->bytes = bytes;
    content.change_count++;
    return true;
}

/* They show at no cost whether the same source changed since it was hashed for another op. */
static bool have_changed(const struct record *record, const struct record *since)
{
    for (uint32_t i = 0; i < record->count && i < since->count; i++)
        if (record->pieces[i].start == since->pieces[i].start &&
            record->pieces[i].end == since->pieces[i].end && record->hashes[i] != since->hashes[i])
            return true;
    return false;
}

static const struct record *same_source(struct range bytes)
{
    for (size_t i = content.count; i-- > 0;)
        if (content.records[i].op.bytes.start == bytes.start &&
            content.records[i].op.bytes.end == bytes.end)
            return &content.records[i];
    return NULL;
}

/* Before the op of `newest`, which has no place among the records yet. */
static void look_again(const struct record *newest)
{
    const struct record *same = same_source(newest->op.bytes);
    size_t kept = 0;
    if (!same || !have_changed(same, newest))
        return;
    for (size_t i = 0; i < content.count; i++)
        if (!range_overlaps(content.records[i].op.bytes, newest->op.bytes) ||
            !compare(&content.records[i]))
            content.records[kept++] = content.records[i];
    content.count = kept;
}

static void add_source(const struct host_touch *touch, bool alone)
{
    const uint64_t now = nanoseconds();
    if (!has_time(now) || !has_room()) {
        content.counts.skipped++;
        return;
    }
    struct record added = {.op = {.epoch = touch->epoch,
                                  .number = touch->number,
                                  .site = touch->site,
                                  .level = touch->level,
                                  .argument = touch->argument,
                                  .bytes = touch->bytes}};
    choose_pieces(&added, touch->lmad);
    if (pieces_hash(added.pieces, added.count, added.hashes)) {
        if (alone)
            look_again(&added);
        content.records[content.count++] = added;
        content.counts.sources++;
    }
    spend(now);
}

static void take_out(struct range bytes)
{
    size_t kept = 0;
    for (size_t i = 0; i < content.count; i++)
        if (!range_overlaps(content.records[i].op.bytes, bytes))
            content.records[kept++] = content.records[i];
    content.counts.silent += content.count - kept;
    content.count = kept;
}

/* ---- Writes ---- */

/* The lane's next write of the same bytes stands for the one before, too. */
static bool write_goes_on(const struct host_touch *touch)
{
    for (size_t i = 0; i < content.write_count && i < WRITES_LOOKED_AT; i++) {
        struct pending_write *write = &content.writes[content.write_count - 1 - i];
        if (write->bytes.start != touch->bytes.start || write->bytes.end != touch->bytes.end ||
            epoch_lane(write->epoch) != epoch_lane(touch->epoch))
            continue;
        write->epoch = touch->epoch;
        return true;
    }
    return false;
}

/* Without room nobody knows any more what has a right to write. */
static void add_write(const struct host_touch *touch)
{
    if (write_goes_on(touch))
        return;
    if (!array_room(&content.writes, content.write_count, &content.write_capacity, 16, WRITES_MOST,
                    sizeof *content.writes)) {
        content.on = false;
        content.count = 0;
        return;
    }
    content.writes[content.write_count++] = (struct pending_write){touch->epoch, touch->bytes};
}

/* The host may look at such a word until it changes, and learn of all that came before. */
static bool may_be_flag(const struct host_touch *touch)
{
    return touch->by != HOST_TOUCH_HOST && touch->bytes.end - touch->bytes.start <= FLAG_BYTES &&
           (touch->atomic || touch->level != CSAN_LEVEL_LIBRARY);
}

bool source_content_touched(const struct host_touch *touch, bool alone)
{
    static const struct range everywhere = {0, UINT64_MAX};
    const bool is_source = touch->by == HOST_TOUCH_STREAM && touch->exact && !touch->late &&
                           !touch->pageable && touch->memory == CSAN_MEMORY_HOST &&
                           touch->level != CSAN_LEVEL_LEARNED;
    pthread_mutex_lock(&content.mutex);
    if (content.on && touch->writes) {
        take_out(may_be_flag(touch) ? everywhere : touch->bytes);
        if (touch->by != HOST_TOUCH_HOST)
            add_write(touch);
    } else if (content.on && is_source && !is_written(touch->bytes)) {
        add_source(touch, alone);
    }
    const bool found = content.change_count != 0;
    pthread_mutex_unlock(&content.mutex);
    return found;
}

/* ---- The second look ---- */

bool source_content_learned(bool (*is_over)(void *user, uint64_t epoch), void *user)
{
    size_t kept = 0;
    pthread_mutex_lock(&content.mutex);
    const uint64_t now = content.count ? nanoseconds() : 0;
    for (size_t i = 0; i < content.count; i++) {
        if (is_over(user, content.records[i].op.epoch))
            compare(&content.records[i]);
        else
            content.records[kept++] = content.records[i];
    }
    if (kept != content.count)
        spend(now);
    content.count = kept;
    kept = 0;
    for (size_t i = 0; i < content.write_count; i++)
        if (!is_over(user, content.writes[i].epoch))
            content.writes[kept++] = content.writes[i];
    content.write_count = kept;
    const bool found = content.change_count != 0;
    pthread_mutex_unlock(&content.mutex);
    return found;
}

bool source_content_next(struct source_change *change)
{
    pthread_mutex_lock(&content.mutex);
    const bool found = content.change_count != 0;
    if (found)
        *change = content.changes[--content.change_count];
    pthread_mutex_unlock(&content.mutex);
    return found;
}

/* ---- Life ---- */

void source_content_forget(struct range bytes)
{
    pthread_mutex_lock(&content.mutex);
    take_out(bytes);
    pthread_mutex_unlock(&content.mutex);
}

void source_content_forget_all(void)
{
    source_content_forget((struct range){0, UINT64_MAX});
}

bool source_content_start(uint64_t microseconds)
{
    const struct range piece = {(uintptr_t)&content.limit,
                                (uintptr_t)&content.limit + sizeof content.limit};
    content.process = getpid();
    content.limit = microseconds * 1000;
    content.on = pieces_copy(&piece, 1);
    return content.on;
}

void source_content_stop(void)
{
    pthread_mutex_init(&content.mutex, NULL); /* its owner may be a thread that is not here */
    content.on = false;
    content.count = content.write_count = content.change_count = 0;
}

struct source_content_counts source_content_counts(void)
{
    pthread_mutex_lock(&content.mutex);
    const struct source_content_counts counts = content.counts;
    pthread_mutex_unlock(&content.mutex);
    return counts;
}
