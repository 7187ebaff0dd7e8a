/* Sets of touched bytes: one per kind and page of 4 KiB, found through a hash table with a small
 * cache in front. A page has a bit for each word of 64 bytes that is touched whole; only a page of
 * which part of a word is touched has a bit for each byte, too. One launch's, used by one thread at
 * a time. */
#include "runtime/device/exec/touch.h"
#include "csan/base/hash.h"
#include "runtime/trace/fold.h"

#include <stdlib.h>
#include <string.h>

enum { PAGES_AT_ONCE = 256 };
_Static_assert(TOUCH_WORDS == 64, "a page's words are the bits of one");

/* Pages are made many at once. */
struct touch_page_block {
    struct touch_page_block *next;
    struct touch_page pages[PAGES_AT_ONCE];
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
        if (touch->table[i])
            free(touch->table[i]->bits);
    for (struct touch_page_block *block = touch->blocks, *next; block; block = next) {
        next = block->next;
        free(block);
    }
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

static struct touch_page **find(struct touch_page **table, size_t capacity, uint64_t key)
{
    size_t at = (size_t)(hash_spread(key) >> 20) & (capacity - 1);
    while (table[at] && table[at]->key != key)
        at = (at + 1) & (capacity - 1);
    return &table[at];
}

static bool grow(struct touch *touch)
{
    size_t capacity = touch->capacity * 2;
    struct touch_page **table = calloc(capacity, sizeof *table);
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

/* Room for the page number touch->count. */
static struct touch_page *page_create(struct touch *touch)
{
    const size_t place = touch->count % PAGES_AT_ONCE;
    if (place == 0) {
        struct touch_page_block *block = malloc(sizeof *block);
        if (!block)
            return NULL;
        block->next = touch->blocks;
        touch->blocks = block;
    }
    return &touch->blocks->pages[place];
}

static struct touch_page *page_slow(struct touch *touch, uint64_t key)
{
    struct touch_page **place = find(touch->table, touch->capacity, key);
    if (!*place) {
        if (touch->count * 2 >= touch->capacity) {
            if (!grow(touch))
                return NULL;
            place = find(touch->table, touch->capacity, key);
        }
        struct touch_page *page = page_create(touch);
        if (!page)
            return NULL;
        *page = (struct touch_page){.key = key};
        *place = page;
        touch->count++;
    }
    *touch_cached(touch, key) = *place;
    return *place;
}

static inline struct touch_page *page_of(struct touch *touch, uint64_t key)
{
    struct touch_page *page = *touch_cached(touch, key);
    return page && page->key == key ? page : page_slow(touch, key);
}

/* Adds bytes of one word. False: memory is short. */
static bool add_bits(struct touch_page *page, uint32_t word, uint64_t bits)
{
    if (page->full >> word & 1)
        return true;
    if (bits != ~0ull) {
        if (!page->bits && !(page->bits = calloc(TOUCH_WORDS, sizeof *page->bits)))
            return false;
        page->bits[word] |= bits;
        bits = page->bits[word];
    }
    if (bits == ~0ull)
        page->full |= 1ull << word;
    return true;
}

/* Bytes [first, first + count) of a page; count > 0. False: memory is short. */
static bool add_bytes(struct touch_page *page, uint32_t first, uint32_t count)
{
    if (((first | count) & 63) == 0) {
        page->full |= touch_words(first / 64, count / 64);
        return true;
    }
    const uint32_t word = first / 64, last = (first + count - 1) / 64;
    const uint64_t head = ~0ull << (first % 64), tail = ~0ull >> (63 - (first + count - 1) % 64);
    if (word == last)
        return add_bits(page, word, head & tail);
    if (last > word + 1)
        page->full |= touch_words(word + 1, last - word - 1);
    return add_bits(page, word, head) && add_bits(page, last, tail);
}

void touch_record(struct touch *touch, uint32_t kind, uint64_t address, uint64_t bytes)
{
    while (bytes) {
        uint32_t first = address % TOUCH_PAGE;
        uint32_t count = bytes < TOUCH_PAGE - first ? (uint32_t)bytes : TOUCH_PAGE - first;
        struct touch_page *page = page_of(touch, (address >> TOUCH_PAGE_BITS) * 4 + kind);
        if (!page || !add_bytes(page, first, count)) {
            touch->failed = true;
            return;
        }
        address += count;
        bytes -= count;
    }
}

void touch_bound(struct touch *touch, uint64_t base, uint64_t limit)
{
    bounds_add(&touch->bounds, base, limit);
}

static bool page_join(struct touch_page *to, const struct touch_page *from)
{
    bool whole = true;
    to->full |= from->full;
    for (uint32_t word = 0; from->bits && word < TOUCH_WORDS; word++)
        if (from->bits[word])
            whole &= add_bits(to, word, from->bits[word]);
    return whole;
}

void touch_join(struct touch *touch, const struct touch *other)
{
    touch->failed |= other->failed;
    for (size_t i = 0; i < other->capacity; i++) {
        const struct touch_page *from = other->table[i];
        struct touch_page *to = from ? page_of(touch, from->key) : NULL;
        touch->failed |= from && !(to && page_join(to, from));
    }
    bounds_join(&touch->bounds, &other->bounds);
}

/* ---- ranges -------------------------------------------------------------------------------- */

/* A page in the order of the ranges: by kind, then address. */
struct place {
    uint64_t order;
    const struct touch_page *page;
};

/* Sorts by one byte of the order, and keeps what is alike as it is. False: all have the same. */
static bool sort_by_byte(const struct place *from, struct place *to, size_t count, uint32_t byte)
{
    size_t starts[257] = {0};
    for (size_t i = 0; i < count; i++)
        starts[(from[i].order >> byte * 8 & 255) + 1]++;
    if (starts[(from[0].order >> byte * 8 & 255) + 1] == count)
        return false;
    for (uint32_t k = 1; k < 256; k++)
        starts[k] += starts[k - 1];
    for (size_t i = 0; i < count; i++)
        to[starts[from[i].order >> byte * 8 & 255]++] = from[i];
    return true;
}

/* `places` has room for twice as many. Returns where the sorted ones are. */
static struct place *sort_places(struct place *places, size_t count)
{
    struct place *from = places, *to = places + count;
    for (uint32_t byte = 0; count && byte < sizeof from->order; byte++)
        if (sort_by_byte(from, to, count, byte)) {
            struct place *sorted = to;
            to = from;
            from = sorted;
        }
    return from;
}

static void fill_places(const struct touch *touch, struct place *places)
{
    size_t count = 0;
    for (size_t i = 0; i < touch->capacity; i++) {
        const struct touch_page *page = touch->table[i];
        if (page)
            places[count++] = (struct place){(page->key & 3) << 62 | page->key >> 2, page};
    }
}

static uint64_t word_of(const struct touch_page *page, uint32_t word)
{
    return page->full >> word & 1 ? ~0ull : page->bits ? page->bits[word] : 0;
}

/* The first byte at or after `from` that is touched, or is not; or TOUCH_PAGE. */
static uint32_t next_byte(const struct touch_page *page, uint32_t from, bool touched)
{
    while (from < TOUCH_PAGE) {
        const uint64_t bits = word_of(page, from / 64);
        const uint64_t word = (touched ? bits : ~bits) >> (from % 64);
        if (word)
            return from + (uint32_t)__builtin_ctzll(word);
        from = (from / 64 + 1) * 64;
    }
    return TOUCH_PAGE;
}

static void fold_page(struct folding *folding, const struct touch_page *page)
{
    const uint64_t base = page->key >> 2 << TOUCH_PAGE_BITS;
    if (page->full == ~0ull) {
        fold_run(folding, page->key & 3, base, TOUCH_PAGE);
        return;
    }
    for (uint32_t at = next_byte(page, 0, true); at < TOUCH_PAGE;) {
        uint32_t end = next_byte(page, at, false);
        fold_run(folding, page->key & 3, base + at, end - at);
        at = next_byte(page, end, true);
    }
}

struct device_trace_range *touch_ranges(const struct touch *touch, size_t *count)
{
    struct folding folding;
    struct place *places = malloc((touch->count * 2 + 1) * sizeof *places);
    *count = 0;
    if (!places)
        return NULL;
    fill_places(touch, places);
    const struct place *sorted = sort_places(places, touch->count);
    fold_begin(&folding, &touch->bounds);
    for (size_t i = 0; i < touch->count; i++)
        fold_page(&folding, sorted[i].page);
    free(places);
    return fold_end(&folding, count);
}
