/* Bitmaps of touched bytes: one per kind and page of 4 KiB, found through a hash table with a small
 * cache in front. One launch's, used by one thread at a time. */
#include "touch.h"

#include <stdlib.h>
#include <string.h>

enum { WORDS = TOUCH_PAGE / 64, CACHE = 64 };

struct page {
    uint64_t key; /* page number * 4 + kind */
    uint64_t bits[WORDS];
};

struct touch {
    struct page **table; /* open addressing, a power of two */
    size_t capacity, count;
    struct page *cache[CACHE];
    uint64_t *bounds; /* first and last addresses of allocations, sorted, each once */
    size_t bound_count, bound_capacity;
    bool failed;
};

struct touch *touch_create(void)
{
    struct touch *touch = calloc(1, sizeof *touch);
    if (!touch)
        return NULL;
    touch->capacity = 64;
    touch->table = calloc(touch->capacity, sizeof *touch->table);
    if (!touch->table) {
        free(touch);
        return NULL;
    }
    return touch;
}

void touch_destroy(struct touch *touch)
{
    if (!touch)
        return;
    for (size_t i = 0; i < touch->capacity; i++)
        free(touch->table[i]);
    free(touch->table);
    free(touch->bounds);
    free(touch);
}

bool touch_failed(const struct touch *touch)
{
    return touch->failed;
}

bool touch_is_empty(const struct touch *touch)
{
    return touch->count == 0;
}

static size_t hash(uint64_t key)
{
    return (size_t)(key * 0x9e3779b97f4a7c15ull >> 20);
}

static struct page **find(struct page **table, size_t capacity, uint64_t key)
{
    size_t at = hash(key) & (capacity - 1);
    while (table[at] && table[at]->key != key)
        at = (at + 1) & (capacity - 1);
    return &table[at];
}

static bool grow(struct touch *touch)
{
    size_t capacity = touch->capacity * 2;
    struct page **table = calloc(capacity, sizeof *table);
    if (!table)
        return false;
    for (size_t i = 0; i < touch->capacity; i++)
        if (touch->table[i])
            *find(table, capacity, touch->table[i]->key) = touch->table[i];
    free(touch->table);
    touch->table = table;
    touch->capacity = capacity;
    return true;
}

static struct page *page_slow(struct touch *touch, uint64_t key)
{
    struct page **place = find(touch->table, touch->capacity, key);
    if (!*place) {
        if (touch->count * 2 >= touch->capacity) {
            if (!grow(touch))
                return NULL;
            place = find(touch->table, touch->capacity, key);
        }
        struct page *page = calloc(1, sizeof *page);
        if (!page)
            return NULL;
        page->key = key;
        *place = page;
        touch->count++;
    }
    touch->cache[key % CACHE] = *place;
    return *place;
}

static inline struct page *page_of(struct touch *touch, uint64_t key)
{
    struct page *page = touch->cache[key % CACHE];
    return page && page->key == key ? page : page_slow(touch, key);
}

/* Set bits [first, first + count) of a page; count > 0. */
static void set_bits(uint64_t *bits, uint32_t first, uint32_t count)
{
    uint32_t word = first / 64, last = (first + count - 1) / 64;
    uint64_t head = ~0ull << (first % 64), tail = ~0ull >> (63 - (first + count - 1) % 64);
    if (word == last) {
        bits[word] |= head & tail;
        return;
    }
    bits[word] |= head;
    for (word++; word < last; word++)
        bits[word] = ~0ull;
    bits[last] |= tail;
}

void touch_record(struct touch *touch, uint32_t kind, uint64_t address, uint64_t bytes)
{
    while (bytes) {
        uint32_t first = address % TOUCH_PAGE;
        uint32_t count = bytes < TOUCH_PAGE - first ? (uint32_t)bytes : TOUCH_PAGE - first;
        struct page *page = page_of(touch, (address >> TOUCH_PAGE_BITS) * 4 + kind);
        if (!page) {
            touch->failed = true;
            return;
        }
        set_bits(page->bits, first, count);
        address += count;
        bytes -= count;
    }
}

/* ---- bounds -------------------------------------------------------------------------------- */

/* How many bounds are at or below the address. */
static size_t bounds_below(const struct touch *touch, uint64_t address)
{
    size_t low = 0, high = touch->bound_count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (touch->bounds[middle] <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void add_bound(struct touch *touch, uint64_t address)
{
    size_t place = bounds_below(touch, address);
    if (place && touch->bounds[place - 1] == address)
        return;
    if (touch->bound_count == touch->bound_capacity) {
        size_t capacity = touch->bound_capacity ? touch->bound_capacity * 2 : 16;
        uint64_t *larger = realloc(touch->bounds, capacity * sizeof *larger);
        if (!larger) {
            touch->failed = true;
            return;
        }
        touch->bounds = larger;
        touch->bound_capacity = capacity;
    }
    memmove(touch->bounds + place + 1, touch->bounds + place,
            (touch->bound_count - place) * sizeof *touch->bounds);
    touch->bounds[place] = address;
    touch->bound_count++;
}

void touch_bound(struct touch *touch, uint64_t base, uint64_t limit)
{
    add_bound(touch, base);
    add_bound(touch, limit);
}

void touch_join(struct touch *touch, const struct touch *other)
{
    touch->failed |= other->failed;
    for (size_t i = 0; i < other->capacity; i++) {
        const struct page *from = other->table[i];
        struct page *to = from ? page_of(touch, from->key) : NULL;
        touch->failed |= from && !to;
        for (uint32_t k = 0; to && k < WORDS; k++)
            to->bits[k] |= from->bits[k];
    }
    for (size_t i = 0; i < other->bound_count; i++)
        add_bound(touch, other->bounds[i]);
}

/* ---- folding ------------------------------------------------------------------------------- */

/* Ranges being folded: runs become rows (one stride), rows become planes (two). `row` and `plane`
 * are still open: what comes next may belong to them. */
struct folding {
    struct device_trace_range *ranges;
    size_t count, capacity;
    struct device_trace_range row, plane;
    uint32_t kind;
    const struct touch *touch;
    uint64_t limit; /* the next bound: nothing is folded across it */
    bool failed;
};

static void emit(struct folding *f, struct device_trace_range range)
{
    if (f->count == f->capacity) {
        size_t capacity = f->capacity ? f->capacity * 2 : 16;
        struct device_trace_range *larger = realloc(f->ranges, capacity * sizeof *larger);
        if (!larger) {
            f->failed = true;
            return;
        }
        f->ranges = larger;
        f->capacity = capacity;
    }
    if (range.dims == 2 && range.count[0] == 1) { /* a plane of one row is that row */
        range.stride[0] = range.stride[1];
        range.count[0] = range.count[1];
        range.dims = 1;
    }
    if (range.dims == 1 && range.count[0] == 1)
        range.dims = 0;
    for (uint32_t k = range.dims; k < 2; k++)
        range.stride[k] = range.count[k] = 0;
    f->ranges[f->count++] = range;
}

/* Two things seen, and a third does not continue them: the second belongs to whichever is nearer.
 */
static bool belongs_to_next(uint64_t stride, uint64_t count, uint64_t gap)
{
    return count == 2 && gap < stride;
}

/* A row as the first of a plane: stride[0] and count[0] are the plane's, [1] the row's. */
static struct device_trace_range plane_of(const struct device_trace_range *row)
{
    struct device_trace_range plane = *row;
    plane.dims = 2;
    plane.stride[1] = row->stride[0];
    plane.count[1] = row->count[0];
    plane.stride[0] = 0;
    plane.count[0] = 1;
    return plane;
}

static bool alike(const struct device_trace_range *plane, const struct device_trace_range *row)
{
    return plane->bytes == row->bytes && plane->count[1] == row->count[0] && row->count[0] > 1 &&
           plane->stride[1] == row->stride[0];
}

static void fold_row(struct folding *f, const struct device_trace_range *row)
{
    struct device_trace_range *plane = &f->plane;
    if (plane->bytes && alike(plane, row)) {
        uint64_t last = plane->address + (plane->count[0] - 1) * plane->stride[0];
        uint64_t gap = row->address - last;
        if (plane->count[0] == 1 || gap == plane->stride[0]) {
            plane->stride[0] = gap;
            plane->count[0]++;
            return;
        }
        if (belongs_to_next(plane->stride[0], plane->count[0], gap)) {
            struct device_trace_range first = *plane;
            first.count[0] = 1;
            emit(f, first);
            plane->address = last;
            plane->stride[0] = gap;
            return;
        }
    }
    if (plane->bytes)
        emit(f, *plane);
    *plane = plane_of(row);
}

static void fold_run(struct folding *f, uint64_t address, uint64_t bytes)
{
    struct device_trace_range *row = &f->row;
    if (row->bytes == bytes) {
        uint64_t last = row->address + (row->count[0] - 1) * row->stride[0];
        uint64_t gap = address - last;
        if (row->count[0] == 1 || gap == row->stride[0]) {
            row->stride[0] = gap;
            row->count[0]++;
            return;
        }
        if (belongs_to_next(row->stride[0], row->count[0], gap)) {
            struct device_trace_range first = *row;
            first.count[0] = 1;
            first.stride[0] = 0;
            fold_row(f, &first);
            row->address = last;
            row->stride[0] = gap;
            return;
        }
    }
    if (row->bytes)
        fold_row(f, row);
    *row = (struct device_trace_range){
        .address = address, .bytes = bytes, .kind = f->kind, .dims = 1, .count = {1, 0}};
}

static void fold_end(struct folding *f)
{
    if (f->row.bytes)
        fold_row(f, &f->row);
    if (f->plane.bytes)
        emit(f, f->plane);
    f->row.bytes = f->plane.bytes = 0;
}

/* A run that lies inside the bounds round it, after those of the last one were left. */
static void fold_bounded(struct folding *f, uint64_t address, uint64_t bytes)
{
    const struct touch *touch = f->touch;
    while (bytes) {
        if (address >= f->limit) {
            fold_end(f);
            size_t next = bounds_below(touch, address);
            f->limit = next < touch->bound_count ? touch->bounds[next] : UINT64_MAX;
        }
        uint64_t part = bytes < f->limit - address ? bytes : f->limit - address;
        fold_run(f, address, part);
        address += part;
        bytes -= part;
    }
}

static int compare_pages(const void *left, const void *right)
{
    const struct page *a = *(const struct page *const *)left;
    const struct page *b = *(const struct page *const *)right;
    uint64_t kind_a = a->key & 3, kind_b = b->key & 3;
    if (kind_a != kind_b)
        return kind_a < kind_b ? -1 : 1;
    return a->key < b->key ? -1 : a->key > b->key;
}

/* A contiguous run that may go on in the next page. */
struct run {
    uint64_t address, bytes;
};

static void end_run(struct folding *f, struct run *run)
{
    if (run->bytes)
        fold_bounded(f, run->address, run->bytes);
    run->bytes = 0;
}

/* The first bit at or after `from` that is `set`, or TOUCH_PAGE. */
static uint32_t next_bit(const uint64_t *bits, uint32_t from, bool set)
{
    while (from < TOUCH_PAGE) {
        uint64_t word = (set ? bits[from / 64] : ~bits[from / 64]) >> (from % 64);
        if (word)
            return from + (uint32_t)__builtin_ctzll(word);
        from = (from / 64 + 1) * 64;
    }
    return TOUCH_PAGE;
}

static void fold_page(struct folding *f, const struct page *page, struct run *run)
{
    uint64_t base = page->key >> 2 << TOUCH_PAGE_BITS;
    for (uint32_t at = next_bit(page->bits, 0, true); at < TOUCH_PAGE;) {
        uint32_t end = next_bit(page->bits, at, false);
        if (run->bytes && run->address + run->bytes != base + at)
            end_run(f, run);
        if (!run->bytes)
            run->address = base + at;
        run->bytes += end - at;
        at = next_bit(page->bits, end, true);
    }
}

static struct page **sorted_pages(const struct touch *touch)
{
    struct page **pages = malloc((touch->count + 1) * sizeof *pages);
    size_t count = 0;
    for (size_t i = 0; pages && i < touch->capacity; i++)
        if (touch->table[i])
            pages[count++] = touch->table[i];
    if (pages)
        qsort(pages, count, sizeof(struct page *), compare_pages);
    return pages;
}

struct device_trace_range *touch_ranges(const struct touch *touch, size_t *count)
{
    struct folding folding = {.touch = touch};
    struct run run = {0};
    struct page **pages = sorted_pages(touch);
    *count = 0;
    if (!pages)
        return NULL;
    for (size_t i = 0; i < touch->count; i++) {
        uint32_t kind = pages[i]->key & 3;
        if (kind != folding.kind) {
            end_run(&folding, &run);
            fold_end(&folding);
            folding.kind = kind;
            folding.limit = 0;
        }
        fold_page(&folding, pages[i], &run);
    }
    end_run(&folding, &run);
    fold_end(&folding);
    free(pages);
    if (folding.failed) {
        free(folding.ranges);
        return NULL;
    }
    *count = folding.count;
    return folding.ranges;
}
