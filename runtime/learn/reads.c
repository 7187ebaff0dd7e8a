/* Reads by regions. See reads.h. */
#include "runtime/learn/reads.h"

#include <stdlib.h>
#include <string.h>

_Static_assert(sizeof(struct reads_condition) % sizeof(uint32_t) == 0 &&
                   sizeof(struct reads_lesser) % sizeof(uint32_t) == 0 &&
                   sizeof(struct reads_region) % sizeof(uint32_t) == 0,
               "parts lie one behind the other");

static size_t ways_bytes(uint32_t count)
{
    return (count * sizeof(struct reads_way) + 3) & ~(size_t)3;
}

static size_t bytes_of(const struct reads *reads)
{
    return sizeof *reads + reads->lesser_count * sizeof(struct reads_lesser) +
           reads->condition_count * sizeof(struct reads_condition) + ways_bytes(reads->way_count) +
           reads->region_count *
               (sizeof(struct reads_region) + reads_chunks(reads->words) * sizeof(uint32_t)) +
           reads->words * sizeof(uint32_t);
}

struct reads *reads_create(uint32_t words, uint32_t lesser_count, uint32_t condition_count,
                           uint32_t region_count, uint32_t way_count)
{
    const struct reads counts = {words, lesser_count, condition_count, region_count, way_count};
    struct reads *reads = calloc(1, bytes_of(&counts));
    if (reads) {
        *reads = counts;
        memset(reads_masks(reads), 0xff, words * sizeof(uint32_t));
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

struct reads_condition *reads_conditions(const struct reads *reads)
{
    return (struct reads_condition *)(reads_lessers(reads) + reads->lesser_count);
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

static uint32_t word_value(uint32_t word, const void *parameters, uint32_t bytes)
{
    uint32_t value = 0;
    const uint32_t at = word * 4;
    if (word != READS_NO_WORD && at < bytes)
        memcpy(&value, (const char *)parameters + at, bytes - at < 4 ? bytes - at : 4);
    return value;
}

static uint32_t lesser_value(const struct reads_lesser *lesser, const void *parameters,
                             uint32_t bytes)
{
    const uint32_t value = word_value(lesser->of.word, parameters, bytes) + lesser->of.number;
    return value < lesser->most ? value : lesser->most;
}

static uint32_t term_value(const struct reads *reads, const struct reads_term *term,
                           const void *parameters, uint32_t bytes)
{
    const uint32_t lesser = term->word - reads->words; /* of a word: behind the last */
    return term->number + (lesser < reads->lesser_count
                               ? lesser_value(&reads_lessers(reads)[lesser], parameters, bytes)
                               : word_value(term->word, parameters, bytes));
}

/* The comparisons are three bits: less, equal, greater. */
static bool condition_holds(const struct reads *reads, const struct reads_condition *condition,
                            const void *parameters, uint32_t bytes)
{
    /* so that those with signs are in the order of those without */
    const uint32_t shift = condition->is_signed ? UINT32_C(1) << 31 : 0,
                   left = term_value(reads, &condition->left, parameters, bytes) ^ shift,
                   right = term_value(reads, &condition->right, parameters, bytes) ^ shift;
    const uint32_t is = left < right ? READS_LESS : left == right ? READS_EQUAL : READS_GREATER;
    return condition->comparison & is;
}

void reads_given(const struct reads *reads, const void *parameters, uint32_t bytes, uint32_t *read)
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
            if (*marks & mark || condition_holds(reads, &conditions[way->condition], parameters,
                                                 bytes) != way->holds)
                continue;
            *marks |= mark;
            turns[turn_count++] = way->to;
        }
    }
}

void reads_clear_others(const struct reads *reads, void *parameters, uint32_t bytes)
{
    uint32_t read[READS_NO_WORD / 32 + 1];
    const uint32_t *masks = reads_masks(reads);
    reads_given(reads, parameters, bytes, read);
    for (uint32_t i = 0; i < reads->words && i * 4 < bytes; i++) {
        const uint32_t mask = read[i / 32] >> i % 32 & 1 ? masks[i] : 0,
                       here = bytes - i * 4 < 4 ? bytes - i * 4 : 4;
        uint32_t word = 0;
        if (mask == UINT32_MAX)
            continue;
        memcpy(&word, (char *)parameters + i * 4, here);
        word &= mask;
        memcpy((char *)parameters + i * 4, &word, here);
    }
}
