/* Reads by regions. See reads.h. */
#include "runtime/learn/reads.h"

#include <stdlib.h>
#include <string.h>

_Static_assert(sizeof(struct reads_condition) % sizeof(uint32_t) == 0 &&
                   sizeof(struct reads_lesser) % sizeof(uint32_t) == 0 &&
                   sizeof(struct reads_table) % sizeof(uint32_t) == 0 &&
                   sizeof(struct reads_region) % sizeof(uint32_t) == 0,
               "parts lie one behind the other");

static size_t ways_bytes(uint32_t count)
{
    return (count * sizeof(struct reads_way) + 3) & ~(size_t)3;
}

static size_t bytes_of(const struct reads *reads)
{
    return sizeof *reads + reads->lesser_count * sizeof(struct reads_lesser) +
           reads->table_count * sizeof(struct reads_table) +
           reads->condition_count * sizeof(struct reads_condition) + ways_bytes(reads->way_count) +
           reads->region_count *
               (sizeof(struct reads_region) + reads_chunks(reads->words) * sizeof(uint32_t)) +
           reads->words * sizeof(uint32_t);
}

struct reads *reads_create(const struct reads *counts)
{
    struct reads *reads = calloc(1, bytes_of(counts));
    if (reads) {
        *reads = *counts;
        memset(reads_masks(reads), 0xff, reads->words * sizeof(uint32_t));
    }
    return reads;
}

size_t reads_bytes(const struct reads *reads)
{
    return bytes_of(reads);
}

struct reads_lesser *reads_lessers(const struct reads *reads)
{
    return (struct reads_lesser *)reads->room;
}

struct reads_table *reads_tables(const struct reads *reads)
{
    return (struct reads_table *)(reads_lessers(reads) + reads->lesser_count);
}

struct reads_condition *reads_conditions(const struct reads *reads)
{
    return (struct reads_condition *)(reads_tables(reads) + reads->table_count);
}

struct reads_way *reads_ways(const struct reads *reads)
{
    return (struct reads_way *)(reads_conditions(reads) + reads->condition_count);
}

struct reads_region *reads_regions(const struct reads *reads)
{
    return (struct reads_region *)((char *)reads_ways(reads) + ways_bytes(reads->way_count));
}

uint32_t *reads_region_words(const struct reads *reads, uint32_t region)
{
    return (uint32_t *)(reads_regions(reads) + reads->region_count) +
           (size_t)region * reads_chunks(reads->words);
}

uint32_t *reads_masks(const struct reads *reads)
{
    return reads_region_words(reads, reads->region_count);
}

/* ---- Regions ---- */

static uint32_t lesser(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

/* Of the parameters, so many bytes, and four at most. */
static uint32_t value_at(const struct reads_launch *launch, uint32_t at, uint32_t bytes)
{
    uint32_t value = 0;
    if (at < launch->bytes)
        memcpy(&value, (const char *)launch->parameters + at,
               lesser(lesser(bytes, sizeof value), launch->bytes - at));
    return value;
}

static uint32_t word_value(uint32_t word, const struct reads_launch *launch)
{
    return word == READS_NO_WORD ? 0 : value_at(launch, word * 4, 4);
}

static uint32_t lesser_value(const struct reads_lesser *of, const struct reads_launch *launch)
{
    return lesser(word_value(of->of.word, launch) + of->of.number, of->most);
}

static uint32_t term_value(const struct reads *reads, const struct reads_term *term,
                           const struct reads_launch *launch)
{
    const uint32_t i = term->word - reads->words; /* of a word: behind the last */
    return term->number + (i < reads->lesser_count ? lesser_value(&reads_lessers(reads)[i], launch)
                                                   : word_value(term->word, launch));
}

/* The comparisons are three bits: less, equal, greater. */
static bool condition_holds(const struct reads *reads, const struct reads_condition *condition,
                            const struct reads_launch *launch)
{
    /* so that those with signs are in the order of those without */
    const uint32_t shift = condition->is_signed ? UINT32_C(1) << 31 : 0,
                   left = term_value(reads, &condition->left, launch) ^ shift,
                   right = term_value(reads, &condition->right, launch) ^ shift;
    const uint32_t is = left < right ? READS_LESS : left == right ? READS_EQUAL : READS_GREATER;
    return condition->comparison & is;
}

static void regions_given(const struct reads *reads, const struct reads_launch *launch,
                          uint32_t *read)
{
    const uint32_t chunks = reads_chunks(reads->words);
    const struct reads_condition *conditions = reads_conditions(reads);
    const struct reads_way *ways = reads_ways(reads);
    const struct reads_region *regions = reads_regions(reads);
    uint32_t reached[READS_REGIONS_MOST / 32] = {1}, turn_count = 1;
    uint16_t turns[READS_REGIONS_MOST];
    turns[0] = 0;
    memset(read, 0, chunks * sizeof *read);
    while (turn_count) {
        const uint32_t region = turns[--turn_count];
        const uint32_t *words = reads_region_words(reads, region);
        const struct reads_way *way = ways + regions[region].first_way,
                               *end = way + regions[region].way_count;
        for (uint32_t i = 0; i < chunks; i++)
            read[i] |= words[i];
        for (; way < end; way++) {
            uint32_t *marks = &reached[way->to / 32], mark = UINT32_C(1) << way->to % 32;
            if (*marks & mark ||
                condition_holds(reads, &conditions[way->condition], launch) != way->holds)
                continue;
            *marks |= mark;
            turns[turn_count++] = way->to;
        }
    }
}

/* ---- Tables ---- */

/* Masks of words, as of reads_masks(). */
struct marks {
    const struct reads *reads;
    const struct reads_launch *launch;
    uint32_t *masks;
    uint32_t looks; /* that were made */
};

enum { LOOKS_MOST = 1 << 12 /* some microseconds */ };

static void bytes_mark(struct marks *marks, uint32_t at, uint32_t bytes)
{
    for (uint32_t end = at + bytes; at < end; at++)
        marks->masks[at / 4] |= UINT32_C(0xff) << at % 4 * 8;
}

/* At that index, and what is loaded there of others. Not beyond the parameters: nothing is there
 * that a launch means. */
static void table_mark(struct marks *marks, uint32_t number, uint32_t index)
{
    const struct reads_table *tables = reads_tables(marks->reads), *table = &tables[number];
    const uint32_t at = table->offset + table->every * index, bytes = marks->reads->words * 4;
    if (at >= bytes || bytes - at < table->bytes || ++marks->looks > LOOKS_MOST)
        return;
    bytes_mark(marks, at, table->bytes);
    for (uint32_t i = number + 1; i < marks->reads->table_count; i++)
        if (tables[i].index == READS_LOADED + number)
            table_mark(marks, i, value_at(marks->launch, at, table->bytes));
}

/* False: it takes too long. */
static bool tables_mark(struct marks *marks)
{
    const struct reads_table *tables = reads_tables(marks->reads);
    const uint64_t bytes = (uint64_t)marks->reads->words * 4;
    for (uint32_t i = 0; i < marks->reads->table_count; i++) {
        const struct reads_table *table = &tables[i];
        if (table->index >= READS_LOADED)
            continue;
        const uint32_t blocks = table->every ? marks->launch->grid[table->index] : 1;
        for (uint32_t index = 0;
             index < blocks && table->offset + (uint64_t)table->every * index < bytes; index++)
            table_mark(marks, i, index);
    }
    return marks->looks <= LOOKS_MOST;
}

/* Masks of the words that it reads there. */
static void tables_given(const struct reads *reads, const struct reads_launch *launch,
                         uint32_t *masks)
{
    struct marks marks = {reads, launch, masks, 0};
    memset(masks, 0, reads->words * sizeof *masks);
    if (!tables_mark(&marks))
        memset(masks, 0xff, reads->words * sizeof *masks);
}

/* ---- Both ---- */

static bool has(const uint32_t *bits, uint32_t word)
{
    return bits[word / 32] >> word % 32 & 1;
}

void reads_given(const struct reads *reads, const struct reads_launch *launch, uint32_t *read)
{
    uint32_t masks[READS_WORDS_MOST];
    regions_given(reads, launch, read);
    if (!reads->table_count)
        return;
    tables_given(reads, launch, masks);
    for (uint32_t i = 0; i < reads->words; i++)
        read[i / 32] |= (uint32_t)(masks[i] != 0) << i % 32;
}

void reads_clear_others(const struct reads *reads, const struct reads_launch *launch,
                        void *parameters)
{
    uint32_t read[READS_WORDS_MOST / 32], masks[READS_WORDS_MOST];
    const uint32_t *by_regions = reads_masks(reads);
    regions_given(reads, launch, read);
    if (reads->table_count)
        tables_given(reads, launch, masks);
    for (uint32_t i = 0; i < reads->words && i * 4 < launch->bytes; i++) {
        const uint32_t mask =
            (has(read, i) ? by_regions[i] : 0) | (reads->table_count ? masks[i] : 0);
        const uint32_t here = lesser(launch->bytes - i * 4, 4);
        uint32_t word = 0;
        if (mask == UINT32_MAX)
            continue;
        memcpy(&word, (char *)parameters + i * 4, here);
        word &= mask;
        memcpy((char *)parameters + i * 4, &word, here);
    }
}
