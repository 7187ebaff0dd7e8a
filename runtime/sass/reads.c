/* Reads by regions. See reads.h. */
#include "runtime/sass/reads.h"

#include <stdlib.h>
#include <string.h>

_Static_assert(sizeof(struct reads_condition) % sizeof(uint32_t) == 0 &&
                   sizeof(struct reads_part) % sizeof(uint32_t) == 0 &&
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
    return sizeof *reads + reads->part_count * sizeof(struct reads_part) +
           reads->lesser_count * sizeof(struct reads_lesser) +
           reads->table_count * sizeof(struct reads_table) +
           reads->condition_count * sizeof(struct reads_condition) + ways_bytes(reads->way_count) +
           reads->region_count *
               (sizeof(struct reads_region) + reads_chunks(reads->words) * sizeof(uint32_t));
}

struct reads *reads_create(const struct reads *counts)
{
    struct reads *reads = calloc(1, bytes_of(counts));
    if (reads)
        *reads = *counts;
    return reads;
}

struct reads *reads_narrow(const struct reads *reads, const struct reads_part *parts,
                           uint32_t count)
{
    struct reads counts = *reads;
    counts.part_count = count;
    struct reads *copy = reads_create(&counts);
    if (!copy)
        return NULL;
    memcpy(reads_parts(copy), parts, count * sizeof *parts);
    memcpy(reads_lessers(copy), reads_lessers(reads),
           bytes_of(reads) - (size_t)((char *)reads_lessers(reads) - (const char *)reads));
    return copy;
}

size_t reads_bytes(const struct reads *reads)
{
    return bytes_of(reads);
}

struct reads_part *reads_parts(const struct reads *reads)
{
    return (struct reads_part *)reads->room;
}

struct reads_lesser *reads_lessers(const struct reads *reads)
{
    return (struct reads_lesser *)(reads_parts(reads) + reads->part_count);
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

uint32_t reads_word(const struct reads_launch *launch, uint32_t word)
{
    return value_at(launch, word * 4, 4);
}

static uint32_t word_value(uint32_t word, const struct reads_launch *launch)
{
    return word == READS_NO_WORD ? 0 : reads_word(launch, word);
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

void reads_by_regions(const struct reads *reads, const struct reads_launch *launch, uint32_t *read)
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

struct marks {
    const struct reads *reads;
    const struct reads_launch *launch;
    uint32_t *masks; /* for each word the bytes of it that are read */
    uint32_t looks;  /* that were made */
};

enum { LOOKS_MOST = 1 << 12 /* some microseconds */ };

static void bytes_mark(struct marks *marks, uint32_t at, uint32_t bytes)
{
    const uint32_t end = at + bytes;
    for (; at < end && (at % 4 || end - at < 4); at++)
        marks->masks[at / 4] |= UINT32_C(0xff) << at % 4 * 8;
    for (; end - at >= 4; at += 4)
        marks->masks[at / 4] = UINT32_MAX;
    for (; at < end; at++)
        marks->masks[at / 4] |= UINT32_C(0xff) << at % 4 * 8;
}

/* Whether what is loaded of the table is an index of others. */
static bool is_index(const struct marks *marks, uint32_t number)
{
    const struct reads_table *tables = reads_tables(marks->reads);
    for (uint32_t i = number + 1; i < marks->reads->table_count; i++)
        if (tables[i].index == READS_LOADED + number)
            return true;
    return false;
}

static void table_mark(struct marks *marks, uint32_t number, uint32_t index);

/* What is loaded at that index, of other tables. */
static void loaded_mark(struct marks *marks, uint32_t number, uint32_t index)
{
    const struct reads_table *tables = reads_tables(marks->reads);
    for (uint32_t i = number + 1; i < marks->reads->table_count; i++)
        if (tables[i].index == READS_LOADED + number)
            table_mark(marks, i, index);
}

/* At that index, and what is loaded there of others. Not beyond the parameters: nothing is there
 * that a launch means. */
static void table_mark(struct marks *marks, uint32_t number, uint32_t index)
{
    const struct reads_table *table = &reads_tables(marks->reads)[number];
    const uint32_t at = table->offset + table->every * index, bytes = marks->reads->words * 4;
    if (at >= bytes || bytes - at < table->bytes || ++marks->looks > LOOKS_MOST)
        return;
    bytes_mark(marks, at, table->bytes);
    loaded_mark(marks, number, value_at(marks->launch, at, table->bytes));
}

/* How many of the first `most` entries lie in the parameters as a whole. */
static uint32_t entries_inside(const struct marks *marks, const struct reads_table *table,
                               uint32_t most)
{
    const uint64_t bytes = (uint64_t)marks->reads->words * 4,
                   first = (uint64_t)table->offset + table->bytes;
    if (first > bytes || !most)
        return 0;
    const uint64_t count = table->every ? (bytes - first) / table->every + 1 : 1;
    return count < most ? (uint32_t)count : most;
}

/* At each index of the grid. If the table is an index of others, such as which of several tensors a
 * block works on, neighbouring blocks mostly load the same there. */
static void blocks_mark(struct marks *marks, uint32_t number)
{
    const struct reads_table *table = &reads_tables(marks->reads)[number];
    const uint32_t blocks = table->every ? marks->launch->grid[table->index] : 1;
    const uint32_t count = entries_inside(marks, table, blocks);
    const bool indices = is_index(marks, number);
    uint32_t before = 0;
    if (!indices && table->every == table->bytes) {
        bytes_mark(marks, table->offset, count * table->bytes);
        return;
    }
    for (uint32_t index = 0; index < count && ++marks->looks <= LOOKS_MOST; index++) {
        const uint32_t at = table->offset + table->every * index;
        bytes_mark(marks, at, table->bytes);
        const uint32_t value = indices ? value_at(marks->launch, at, table->bytes) : 0;
        if (indices && (!index || value != before))
            loaded_mark(marks, number, value);
        before = value;
    }
}

/* False: it takes too long. */
static bool tables_mark(struct marks *marks)
{
    const struct reads_table *tables = reads_tables(marks->reads);
    for (uint32_t i = 0; i < marks->reads->table_count; i++)
        if (tables[i].index < READS_LOADED)
            blocks_mark(marks, i);
    return marks->looks <= LOOKS_MOST;
}

/* For each word the bytes of it that are read there. */
static void tables_given(const struct reads *reads, const struct reads_launch *launch,
                         uint32_t *masks)
{
    struct marks marks = {reads, launch, masks, 0};
    memset(masks, 0, reads->words * sizeof *masks);
    if (!tables_mark(&marks))
        memset(masks, 0xff, reads->words * sizeof *masks);
}

/* ---- Clearing ---- */

static bool has(const uint32_t *bits, uint32_t word)
{
    return bits[word / 32] >> word % 32 & 1;
}

/* Of a word that may be cut off. */
static void word_mask(void *parameters, uint32_t bytes, uint32_t word, uint32_t mask)
{
    const uint32_t at = word * 4;
    uint32_t value = 0;
    if (at >= bytes)
        return;
    memcpy(&value, (char *)parameters + at, lesser(bytes - at, 4));
    value &= mask;
    memcpy((char *)parameters + at, &value, lesser(bytes - at, 4));
}

/* The words that the bits do not have. */
static void words_clear(const uint32_t *read, uint32_t words, void *parameters, uint32_t bytes)
{
    const uint32_t whole = lesser(words, bytes / 4);
    char *const at = parameters;
    for (uint32_t i = 0; i < whole; i += 32) {
        uint32_t unread = ~read[i / 32];
        if (whole - i < 32)
            unread &= (UINT32_C(1) << (whole - i)) - 1;
        for (; unread; unread &= unread - 1)
            memset(at + (i + (uint32_t)__builtin_ctz(unread)) * 4, 0, 4);
    }
    if (whole < words && !has(read, whole))
        word_mask(parameters, bytes, whole, 0);
}

/* The words that the bits have are read as a whole. */
static void masks_join(const uint32_t *read, uint32_t words, uint32_t *masks)
{
    for (uint32_t i = 0; i < words; i += 32)
        for (uint32_t bits = read[i / 32]; bits; bits &= bits - 1)
            if (i + (uint32_t)__builtin_ctz(bits) < words)
                masks[i + (uint32_t)__builtin_ctz(bits)] = UINT32_MAX;
}

/* Those bytes that the masks do not have. */
static void masks_clear(const uint32_t *masks, uint32_t words, void *parameters, uint32_t bytes)
{
    const uint32_t whole = lesser(words, bytes / 4), pairs = whole & ~UINT32_C(1);
    char *const at = parameters;
    for (uint32_t i = 0; i < pairs; i += 2) {
        uint64_t value, mask;
        memcpy(&value, at + i * 4, sizeof value);
        memcpy(&mask, masks + i, sizeof mask);
        value &= mask;
        memcpy(at + i * 4, &value, sizeof value);
    }
    for (uint32_t i = pairs; i < words; i++) /* the last one, and one that is cut off */
        if (i <= whole)
            word_mask(parameters, bytes, i, masks[i]);
}

/* Apart, for its room on the stack: few kernels have tables. */
static __attribute__((noinline)) void clear_with_tables(const struct reads *reads,
                                                        const struct reads_launch *launch,
                                                        const uint32_t *read, void *parameters)
{
    uint32_t masks[READS_WORDS_MOST];
    const struct reads_part *part = reads_parts(reads), *end = part + reads->part_count;
    uint32_t tables[READS_PARTS_MOST]; /* what is read of such a word off tables */
    tables_given(reads, launch, masks);
    for (uint32_t i = 0; i < reads->part_count; i++)
        tables[i] = masks[part[i].word];
    masks_join(read, reads->words, masks);
    masks_clear(masks, reads->words, parameters, launch->bytes);
    for (uint32_t i = 0; part < end; part++, i++)
        word_mask(parameters, launch->bytes, part->word, part->bytes | tables[i]);
}

void reads_clear_others(const struct reads *reads, const struct reads_launch *launch,
                        const uint32_t *read, void *parameters)
{
    const struct reads_part *part = reads_parts(reads), *end = part + reads->part_count;
    if (reads->table_count) {
        clear_with_tables(reads, launch, read, parameters);
        return;
    }
    words_clear(read, reads->words, parameters, launch->bytes);
    for (; part < end; part++)
        word_mask(parameters, launch->bytes, part->word, part->bytes);
}
