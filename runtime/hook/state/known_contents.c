/* Bytes of device memory that csan saw arrive. See known_contents.h. */
#include "runtime/hook/state/known_contents.h"
#include "runtime/hook/interpose/driver.h"
#include "runtime/hook/state/copied_values.h"
#include "csan/base/lock_order.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { PIECE_LIMIT = 256, BYTE_LIMIT = 256 << 10, SPAN_LIMIT = 256, ASKED_LIMIT = 64 };

struct span {
    uint64_t start, end;
};

struct piece {
    struct span span;
    uint64_t age; /* serial number of its copy */
    uint8_t *bytes;
};

static struct {
    pthread_mutex_t mutex;
    struct piece pieces[PIECE_LIMIT]; /* disjoint, by address */
    size_t count, total;              /* pieces; their bytes */
    struct span hull;                 /* of all pieces; empty without any; read without the lock */
    uint64_t serial, version;
    struct span variables[SPAN_LIMIT]; /* outside of allocations, written by the host */
    size_t variable_count;
    bool variables_lost; /* there were more, or calls that csan does not follow */
    /* What was asked for since the version changed: only a change there is another version. */
    struct span asked[ASKED_LIMIT];
    size_t asked_count;
    bool asked_all;
} content = {.mutex = PTHREAD_MUTEX_INITIALIZER};

static bool spans_overlap(struct span a, struct span b)
{
    return a.start < b.end && b.start < a.end;
}

/* An end that would wrap is the end of memory. */
static struct span span_of(uint64_t base, uint64_t bytes)
{
    return (struct span){base, bytes > UINT64_MAX - base ? UINT64_MAX : base + bytes};
}

/* ---- Answers and their version ---- */

static void version_next(void)
{
    __atomic_store_n(&content.version, content.version + 1, __ATOMIC_RELEASE);
    content.asked_count = 0;
    content.asked_all = false;
}

static void changed(struct span span)
{
    bool asked = content.asked_all;
    for (size_t i = 0; i < content.asked_count && !asked; i++)
        asked = spans_overlap(content.asked[i], span);
    if (asked)
        version_next();
}

/* Tables are read entry by entry: the span that was asked for last grows. */
static void ask(struct span span)
{
    struct span *last = content.asked_count ? &content.asked[content.asked_count - 1] : NULL;
    for (size_t i = 0; i < content.asked_count; i++)
        if (content.asked[i].start <= span.start && span.end <= content.asked[i].end)
            return;
    if (last && last->start <= span.start && span.start <= last->end)
        last->end = span.end > last->end ? span.end : last->end;
    else if (content.asked_count < ASKED_LIMIT)
        content.asked[content.asked_count++] = span;
    else
        content.asked_all = true;
}

/* ---- Pieces ---- */

/* The first piece that ends after `address`. */
static size_t piece_after(uint64_t address)
{
    size_t low = 0, high = content.count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (content.pieces[middle].span.end <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void count_set(size_t count)
{
    const struct piece *first = &content.pieces[0], *last = first + (count ? count - 1 : 0);
    content.count = count;
    __atomic_store_n(&content.hull.start, count ? first->span.start : 0, __ATOMIC_RELAXED);
    __atomic_store_n(&content.hull.end, count ? last->span.end : 0, __ATOMIC_RELAXED);
}

/* A piece that another thread adds meanwhile is not ordered with what is asked here. */
static bool hull_overlaps(struct span span)
{
    return span.start < __atomic_load_n(&content.hull.end, __ATOMIC_RELAXED) &&
           __atomic_load_n(&content.hull.start, __ATOMIC_RELAXED) < span.end;
}

static void pieces_remove(size_t first, size_t last)
{
    for (size_t i = first; i < last; i++) {
        struct piece *piece = &content.pieces[i];
        changed(piece->span);
        content.total -= piece->span.end - piece->span.start;
        free(piece->bytes);
    }
    memmove(&content.pieces[first], &content.pieces[last],
            (content.count - last) * sizeof *content.pieces);
    count_set(content.count - (last - first));
}

static bool pieces_forget(struct span span)
{
    size_t first = piece_after(span.start), last = first;
    while (last < content.count && content.pieces[last].span.start < span.end)
        last++;
    if (last > first)
        pieces_remove(first, last);
    return last > first;
}

static void oldest_forget(void)
{
    size_t oldest = 0;
    for (size_t i = 1; i < content.count; i++)
        if (content.pieces[i].age < content.pieces[oldest].age)
            oldest = i;
    pieces_remove(oldest, oldest + 1);
}

/* 1 when exactly these bytes are remembered there already: a table copied anew in each iteration
 * keeps its version. */
static bool piece_refresh(struct span span, const void *source)
{
    size_t i = piece_after(span.start);
    struct piece *piece = i < content.count ? &content.pieces[i] : NULL;
    if (!piece || piece->span.start != span.start || piece->span.end != span.end ||
        memcmp(piece->bytes, source, span.end - span.start) != 0)
        return false;
    piece->age = ++content.serial;
    return true;
}

static void piece_add(struct span span, const void *source)
{
    size_t bytes = span.end - span.start;
    uint8_t *copy = malloc(bytes);
    if (!copy)
        return;
    memcpy(copy, source, bytes);
    while (content.count == PIECE_LIMIT || content.total + bytes > BYTE_LIMIT)
        oldest_forget();
    size_t i = piece_after(span.start);
    memmove(&content.pieces[i + 1], &content.pieces[i],
            (content.count - i) * sizeof *content.pieces);
    content.pieces[i] = (struct piece){span, ++content.serial, copy};
    content.total += bytes;
    count_set(content.count + 1);
    changed(span);
}

/* ---- Variables ---- */

static bool variable_was_written(struct span span)
{
    for (size_t i = 0; i < content.variable_count; i++)
        if (spans_overlap(content.variables[i], span))
            return true;
    return content.variables_lost;
}

static void variable_written(struct span span)
{
    if (content.variables_lost)
        return;
    for (size_t i = 0; i < content.variable_count; i++)
        if (content.variables[i].start <= span.start && span.end <= content.variables[i].end)
            return;
    if (content.variable_count < SPAN_LIMIT)
        content.variables[content.variable_count++] = span;
    else
        content.variables_lost = true;
    if (content.variables_lost)
        version_next();
    else
        changed(span);
}

/* ---- What others call ---- */

/* Entry points that csan does not follow may write anywhere: graphs, batches of copies. */
static void unmodelled_take(void)
{
    if (!__atomic_load_n(&driver_unmodelled_called, __ATOMIC_RELAXED))
        return;
    __atomic_store_n(&driver_unmodelled_called, 0, __ATOMIC_RELAXED);
    pieces_remove(0, content.count);
    content.variables_lost = true;
    version_next();
}

static void known_contents_lock(void)
{
    lock_order_take(LOCK_KNOWN_CONTENTS, &content.mutex);
    unmodelled_take();
}

void known_contents_written(uint64_t base, uint64_t bytes, const void *source, bool variable)
{
    copied_values_forget(base, bytes);
    if (!bytes || (!source && !variable && !known_contents_any()))
        return;
    struct span span = span_of(base, bytes);
    bool known = source && bytes <= CONTENT_PIECE_MAX && span.end - span.start == bytes;
    known_contents_lock();
    if (variable)
        variable_written(span);
    if (!known || !piece_refresh(span, source)) {
        pieces_forget(span);
        if (known)
            piece_add(span, source);
    }
    lock_order_give(LOCK_KNOWN_CONTENTS, &content.mutex);
}

bool known_contents_forget(uint64_t base, uint64_t bytes)
{
    struct span span = span_of(base, bytes);
    copied_values_forget(base, bytes);
    if (!bytes || !hull_overlaps(span))
        return false;
    known_contents_lock();
    bool any = pieces_forget(span);
    lock_order_give(LOCK_KNOWN_CONTENTS, &content.mutex);
    return any;
}

bool known_contents_forget_all(void)
{
    copied_values_forget_all();
    return known_contents_doubt_all();
}

bool known_contents_doubt_all(void)
{
    const struct span all = {0, UINT64_MAX};
    if (!hull_overlaps(all))
        return false;
    known_contents_lock();
    bool any = pieces_forget(all);
    lock_order_give(LOCK_KNOWN_CONTENTS, &content.mutex);
    return any;
}

bool known_contents_any(void)
{
    return __atomic_load_n(&content.hull.end, __ATOMIC_RELAXED) != 0;
}

bool known_contents_read(uint64_t address, uint32_t bytes, void *to)
{
    struct span span = span_of(address, bytes);
    known_contents_lock();
    size_t i = piece_after(address);
    const struct piece *piece = i < content.count ? &content.pieces[i] : NULL;
    bool known = bytes && piece && piece->span.start <= span.start && span.end <= piece->span.end;
    if (known)
        memcpy(to, piece->bytes + (span.start - piece->span.start), bytes);
    ask(span);
    lock_order_give(LOCK_KNOWN_CONTENTS, &content.mutex);
    return known;
}

bool known_contents_is_initial(uint64_t address, uint64_t bytes)
{
    struct span span = span_of(address, bytes);
    known_contents_lock();
    bool initial = !variable_was_written(span);
    ask(span);
    lock_order_give(LOCK_KNOWN_CONTENTS, &content.mutex);
    return initial;
}

uint64_t known_contents_version(void)
{
    if (__atomic_load_n(&driver_unmodelled_called, __ATOMIC_RELAXED)) {
        known_contents_lock();
        lock_order_give(LOCK_KNOWN_CONTENTS, &content.mutex);
    }
    return __atomic_load_n(&content.version, __ATOMIC_ACQUIRE);
}

void known_contents_addresses_changed(void)
{
    known_contents_lock();
    pieces_remove(0, content.count);
    version_next();
    lock_order_give(LOCK_KNOWN_CONTENTS, &content.mutex);
}

void known_contents_answers_changed(void)
{
    known_contents_lock();
    version_next();
    lock_order_give(LOCK_KNOWN_CONTENTS, &content.mutex);
}
