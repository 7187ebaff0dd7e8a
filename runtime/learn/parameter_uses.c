/* Uses of parameters. See parameter_uses.h. */
#include "runtime/learn/parameter_uses.h"

#include <stdlib.h>
#include <string.h>

void parameter_uses_clear(struct parameter_uses *uses)
{
    free(uses->reads);
    *uses = (struct parameter_uses){0};
}

static struct reads *reads_copy(const struct reads *reads)
{
    struct reads *copy = malloc(reads_bytes(reads));
    return copy ? memcpy(copy, reads, reads_bytes(reads)) : NULL;
}

bool parameter_uses_copy(struct parameter_uses *to, const struct parameter_uses *from)
{
    struct reads *reads = from->reads ? reads_copy(from->reads) : NULL;
    if (from->reads && !reads)
        return false;
    *to = *from;
    to->reads = reads;
    return true;
}

bool parameter_uses_fill(struct parameter_uses *uses, const struct parameter_uses *from)
{
    bool any = false;
    if (!uses->reads && from->reads)
        any = (uses->reads = reads_copy(from->reads)) != NULL;
    if (!uses->map_count && from->map_count) {
        uses->map_count = from->map_count;
        memcpy(uses->maps, from->maps, sizeof uses->maps);
        any = true;
    }
    return any;
}

bool parameter_uses_fit(const struct parameter_uses *uses, uint32_t words)
{
    bool fit = !uses->reads || uses->reads->words == words;
    for (uint32_t i = 0; fit && i < uses->map_count; i++)
        fit = (uint64_t)uses->maps[i].offset + MAP_USE_BYTES <= (uint64_t)words * 4 &&
              uses->maps[i].every <= (uint64_t)words * 4;
    return fit;
}

/* ---- Bytes ---- */

static void put(struct byte_buffer *buffer, uint64_t value)
{
    if (byte_buffer_reserve(buffer, NUMBER_BYTES_MAX))
        byte_buffer_put(buffer, value);
}

/* No more than `most`. */
static uint32_t take(struct byte_cursor *cursor, uint32_t most)
{
    const uint64_t value = byte_cursor_number(cursor);
    if (value > most)
        cursor->failed = true;
    return cursor->failed ? 0 : (uint32_t)value;
}

static void put_lesser(struct byte_buffer *buffer, const struct reads_lesser *lesser)
{
    put(buffer, lesser->of.word);
    put(buffer, lesser->of.number);
    put(buffer, lesser->most);
}

static void put_reads(struct byte_buffer *buffer, const struct reads *reads)
{
    const struct reads_table *tables = reads_tables(reads);
    const struct reads_condition *conditions = reads_conditions(reads);
    const struct reads_way *ways = reads_ways(reads);
    const struct reads_region *regions = reads_regions(reads);
    put(buffer, reads->part_count);
    put(buffer, reads->lesser_count);
    put(buffer, reads->table_count);
    put(buffer, reads->condition_count);
    put(buffer, reads->way_count);
    for (uint32_t i = 0; i < reads->part_count; i++) {
        put(buffer, reads_parts(reads)[i].word);
        put(buffer, reads_parts(reads)[i].bytes);
    }
    for (uint32_t i = 0; i < reads->lesser_count; i++)
        put_lesser(buffer, &reads_lessers(reads)[i]);
    for (uint32_t i = 0; i < reads->table_count; i++) {
        put(buffer, tables[i].offset);
        put(buffer, tables[i].every);
        put(buffer, tables[i].bytes);
        put(buffer, tables[i].index);
    }
    for (uint32_t i = 0; i < reads->condition_count; i++) {
        put(buffer, conditions[i].left.word);
        put(buffer, conditions[i].left.number);
        put(buffer, conditions[i].right.word);
        put(buffer, conditions[i].right.number);
        put(buffer, conditions[i].comparison);
        put(buffer, conditions[i].is_signed);
    }
    for (uint32_t i = 0; i < reads->way_count; i++) {
        put(buffer, ways[i].condition);
        put(buffer, ways[i].to);
        put(buffer, ways[i].holds);
    }
    for (uint32_t i = 0; i < reads->region_count; i++) {
        put(buffer, regions[i].first_way);
        put(buffer, regions[i].way_count);
        for (uint32_t k = 0; k < reads_chunks(reads->words); k++)
            put(buffer, reads_region_words(reads, i)[k]);
    }
}

static struct reads_term take_term(struct byte_cursor *cursor, uint32_t words)
{
    struct reads_term term = {.word = take(cursor, READS_NO_WORD)};
    term.number = take(cursor, UINT32_MAX);
    cursor->failed |= term.word >= words && term.word != READS_NO_WORD;
    return term;
}

static void take_parts(struct byte_cursor *cursor, struct reads *reads)
{
    for (uint32_t i = 0; i < reads->part_count && !cursor->failed; i++) {
        reads_parts(reads)[i].word = take(cursor, reads->words - 1);
        reads_parts(reads)[i].bytes = take(cursor, UINT32_MAX);
        cursor->failed |= reads->words == 0;
    }
}

static void take_lessers(struct byte_cursor *cursor, struct reads *reads)
{
    struct reads_lesser *lessers = reads_lessers(reads);
    for (uint32_t i = 0; i < reads->lesser_count && !cursor->failed; i++) {
        lessers[i].of = take_term(cursor, reads->words);
        lessers[i].most = take(cursor, UINT32_MAX);
    }
}

static void take_tables(struct byte_cursor *cursor, struct reads *reads)
{
    struct reads_table *tables = reads_tables(reads);
    for (uint32_t i = 0; i < reads->table_count && !cursor->failed; i++) {
        tables[i].offset = take(cursor, reads->words * 4 - 1);
        tables[i].every = take(cursor, INT32_MAX);
        tables[i].bytes = take(cursor, READS_TABLE_BYTES_MOST);
        tables[i].index = take(cursor, READS_LOADED + i - 1);
        cursor->failed |= reads->words == 0;
    }
}

static void take_conditions(struct byte_cursor *cursor, struct reads *reads)
{
    const uint32_t words = reads->words + reads->lesser_count;
    struct reads_condition *conditions = reads_conditions(reads);
    for (uint32_t i = 0; i < reads->condition_count && !cursor->failed; i++) {
        conditions[i].left = take_term(cursor, words);
        conditions[i].right = take_term(cursor, words);
        conditions[i].comparison = (uint8_t)take(cursor, READS_ALWAYS);
        conditions[i].is_signed = take(cursor, 1);
    }
}

static void take_ways(struct byte_cursor *cursor, struct reads *reads)
{
    struct reads_way *ways = reads_ways(reads);
    for (uint32_t i = 0; i < reads->way_count && !cursor->failed; i++) {
        ways[i].condition = (uint16_t)take(cursor, UINT16_MAX);
        ways[i].to = (uint16_t)take(cursor, UINT16_MAX);
        ways[i].holds = take(cursor, 1);
        cursor->failed |=
            ways[i].condition >= reads->condition_count || ways[i].to >= reads->region_count;
    }
}

static void take_regions(struct byte_cursor *cursor, struct reads *reads)
{
    struct reads_region *regions = reads_regions(reads);
    for (uint32_t i = 0; i < reads->region_count && !cursor->failed; i++) {
        regions[i].first_way = take(cursor, reads->way_count);
        regions[i].way_count = take(cursor, reads->way_count - regions[i].first_way);
        for (uint32_t k = 0; k < reads_chunks(reads->words); k++)
            reads_region_words(reads, i)[k] = take(cursor, UINT32_MAX);
    }
}

/* Each of what is counted takes a byte at least, so a small file asks for no more memory than some
 * times its size, but for regions, which are few. */
static struct reads *take_reads(struct byte_cursor *cursor, uint32_t region_count)
{
    const uint32_t words = take(cursor, READS_WORDS_MOST);
    const uint32_t parts = take(cursor, READS_PARTS_MOST);
    const size_t lessers = byte_cursor_count(cursor);
    const uint32_t tables = take(cursor, READS_TABLES_MOST);
    const size_t conditions = byte_cursor_count(cursor);
    const size_t ways = byte_cursor_count(cursor);
    cursor->failed |=
        lessers >= READS_NO_WORD - words || conditions > UINT16_MAX || ways > UINT32_MAX;
    const struct reads counts = {.words = words,
                                 .part_count = parts,
                                 .lesser_count = (uint32_t)lessers,
                                 .table_count = tables,
                                 .condition_count = (uint32_t)conditions,
                                 .region_count = region_count,
                                 .way_count = (uint32_t)ways};
    struct reads *reads = cursor->failed ? NULL : reads_create(&counts);
    if (!reads) {
        cursor->failed = true;
        return NULL;
    }
    take_parts(cursor, reads);
    take_lessers(cursor, reads);
    take_tables(cursor, reads);
    take_conditions(cursor, reads);
    take_ways(cursor, reads);
    take_regions(cursor, reads);
    return reads;
}

void parameter_uses_put(struct byte_buffer *buffer, const struct parameter_uses *uses)
{
    put(buffer, uses->reads ? uses->reads->region_count : 0);
    if (uses->reads) {
        put(buffer, uses->reads->words);
        put_reads(buffer, uses->reads);
    }
    put(buffer, uses->map_count);
    for (uint32_t i = 0; i < uses->map_count; i++) {
        put(buffer, uses->maps[i].offset);
        put(buffer, uses->maps[i].copies);
        put(buffer, uses->maps[i].every);
    }
}

void parameter_uses_take(struct byte_cursor *cursor, struct parameter_uses *uses)
{
    const uint32_t region_count = take(cursor, READS_REGIONS_MOST);
    if (region_count)
        uses->reads = take_reads(cursor, region_count);
    uses->map_count = take(cursor, MAP_USES_MOST);
    for (uint32_t i = 0; i < uses->map_count; i++) {
        uses->maps[i].offset = take(cursor, UINT32_MAX);
        uses->maps[i].copies = (uint8_t)take(cursor, MAP_COPIES);
        uses->maps[i].every = take(cursor, UINT32_MAX);
    }
    if (cursor->failed)
        parameter_uses_clear(uses);
}
