/* Bitmaps of touched bytes: one per kind and page of 4 KiB, found through a hash table with a small
 * cache in front. One launch's, used by one thread at a time. */
#include "runtime/device/exec/touch.h"
#include "csan/base/hash.h"
#include "runtime/trace/fold.h"

#include <stdlib.h>
#include <string.h>

enum { WORDS = TOUCH_PAGE / 64, CACHE_BITS = 8 };

struct page {
    uint64_t key; /* page number * 4 + kind */
    uint64_t bits[WORDS];
};

struct touch {
    struct page **table; /* open addressing, a power of two */
    size_t capacity, count;
    struct page *cache[1 << CACHE_BITS];
    struct bounds bounds;
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
    bounds_clear(&touch->bounds);
    free(touch);
}

bool touch_failed(const struct touch *touch)
{
    return touch->failed || touch->bounds.failed;
}

bool touch_is_empty(const struct touch *touch)
{
    return touch->count == 0;
}

static struct page **find(struct page **table, size_t capacity, uint64_t key)
{
    size_t at = (size_t)(hash_spread(key) >> 20) & (capacity - 1);
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

/* Rows of a matrix lie at distances that are powers of two: spread, or they would all meet. */
static inline struct page **cached(struct touch *touch, uint64_t key)
{
    return &touch->cache[key * HASH_ODD >> (64 - CACHE_BITS)];
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
    *cached(touch, key) = *place;
    return *place;
}

static inline struct page *page_of(struct touch *touch, uint64_t key)
{
    struct page *page = *cached(touch, key);
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

void touch_bound(struct touch *touch, uint64_t base, uint64_t limit)
{
    bounds_add(&touch->bounds, base, limit);
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
    bounds_join(&touch->bounds, &other->bounds);
}

/* ---- ranges -------------------------------------------------------------------------------- */

static int compare_pages(const void *left, const void *right)
{
    const struct page *a = *(const struct page *const *)left;
    const struct page *b = *(const struct page *const *)right;
    uint64_t kind_a = a->key & 3, kind_b = b->key & 3;
    if (kind_a != kind_b)
        return kind_a < kind_b ? -1 : 1;
    return a->key < b->key ? -1 : a->key > b->key;
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

static void fold_page(struct folding *folding, const struct page *page)
{
    uint64_t base = page->key >> 2 << TOUCH_PAGE_BITS;
    for (uint32_t at = next_bit(page->bits, 0, true); at < TOUCH_PAGE;) {
        uint32_t end = next_bit(page->bits, at, false);
        fold_run(folding, page->key & 3, base + at, end - at);
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
    struct folding folding;
    struct page **pages = sorted_pages(touch);
    *count = 0;
    if (!pages)
        return NULL;
    fold_begin(&folding, &touch->bounds);
    for (size_t i = 0; i < touch->count; i++)
        fold_page(&folding, pages[i]);
    free(pages);
    return fold_end(&folding, count);
}
