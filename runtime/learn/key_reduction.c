/* Removes words without effect from keys. See key_reduction.h.
 *
 * It searches for a small part of the key that distinguishes the sets, and begins with an empty
 * one. While launches that agree in that part have different sets, it adds a word: the one that
 * leaves the fewest such launches. It skips words after which no `values` launches agree any more.
 */
#include "runtime/learn/key_reduction.h"
#include "csan/base/hash.h"

#include <stdlib.h>

enum { DECIDING_MAX = 16 }; /* words that distinguish sets, at most */

/* The launches as a table: only words that are in the key, may leave it, and vary. */
struct table {
    size_t count, columns;
    uint32_t values;
    uint32_t position[REDUCTION_WORDS]; /* in the key, of each column */
    uint32_t cell[REDUCTION_LAUNCHES][REDUCTION_WORDS];
    uint32_t class[REDUCTION_LAUNCHES];   /* of equal sets */
    bool bounded[REDUCTION_LAUNCHES];     /* the class is a bound's */
    uint64_t whole[REDUCTION_LAUNCHES];   /* hash of all words, those that left, too */
    uint64_t project[REDUCTION_LAUNCHES]; /* hash of the deciding columns so far */
    bool decides[REDUCTION_WORDS];        /* columns that stay */
    struct row {
        uint64_t hash;
        uint32_t class, launch;
    } rows[REDUCTION_LAUNCHES];
};

/* Launches that agree. */
struct quality {
    size_t in_conflict; /* launches among those that agree with one of another set */
    size_t agree;       /* at most so many launches agree, also in their sets */
};

static void classify(struct table *table, const struct key_reduction_launch *launches)
{
    for (size_t i = 0; i < table->count; i++) {
        table->class[i] = launches[i].set;
        table->bounded[i] = launches[i].bounded;
    }
}

static bool varies(const struct key_reduction_launch *launches, size_t count, size_t at)
{
    for (size_t i = 1; i < count; i++)
        if (launches[i].words[at] != launches[0].words[at])
            return true;
    return false;
}

/* Columns that vary but may not leave distinguish launches from the start. */
static bool table_fill(struct table *table, const struct key_reduction_launch *launches,
                       size_t words, const uint8_t *pinned, const uint8_t *kept)
{
    for (size_t at = 0; at < words; at++) {
        if (!kept[at] || !varies(launches, table->count, at))
            continue;
        bool leaves = !pinned[at] && table->columns < REDUCTION_WORDS;
        for (size_t i = 0; i < table->count; i++)
            if (leaves)
                table->cell[i][table->columns] = launches[i].words[at];
            else
                table->project[i] = hash_mix(table->project[i], launches[i].words[at]);
        if (leaves)
            table->position[table->columns++] = (uint32_t)at;
    }
    for (size_t i = 0; i < table->count; i++)
        table->whole[i] = hash_mix_bytes(0, launches[i].words, words * sizeof *launches[i].words);
    return table->columns > 0;
}

static int compare_rows(const void *left, const void *right)
{
    const struct row *a = left, *b = right;
    if (a->hash != b->hash)
        return a->hash < b->hash ? -1 : 1;
    if (a->class != b->class)
        return a->class < b->class ? -1 : 1;
    return (a->launch > b->launch) - (a->launch < b->launch);
}

static uint64_t hash_with(const struct table *table, size_t launch, size_t column)
{
    return hash_mix(table->project[launch], (uint64_t)column << 32 | table->cell[launch][column]);
}

/* Sorts the launches by the deciding columns, then by `column` if it is one, then by their sets. */
static void sort_rows(struct table *table, size_t column)
{
    for (size_t i = 0; i < table->count; i++)
        table->rows[i] =
            (struct row){column < table->columns ? hash_with(table, i, column) : table->project[i],
                         table->class[i], (uint32_t)i};
    qsort(table->rows, table->count, sizeof *table->rows, compare_rows);
}

/* One behind the last row that agrees with this one; `sets`: and has an equal set. */
static size_t rows_end(const struct table *table, size_t from, bool sets)
{
    size_t end = from + 1;
    while (end < table->count && table->rows[end].hash == table->rows[from].hash &&
           (!sets || table->rows[end].class == table->rows[from].class))
        end++;
    return end;
}

static struct quality quality_with(struct table *table, size_t column)
{
    struct quality quality = {0};
    sort_rows(table, column);
    for (size_t i = 0, end; i < table->count; i = end) {
        end = rows_end(table, i, false);
        if (rows_end(table, i, true) < end)
            quality.in_conflict += end - i;
        for (size_t k = i, equal; k < end; k = equal) {
            equal = rows_end(table, k, true);
            if (equal - k > quality.agree)
                quality.agree = equal - k;
        }
    }
    return quality;
}

static void decide(struct table *table, size_t column)
{
    for (size_t i = 0; i < table->count; i++)
        table->project[i] = hash_with(table, i, column);
    table->decides[column] = true;
}

/* Adds the best column. False: none leaves enough launches that agree. */
static bool decide_one_more(struct table *table)
{
    size_t best = table->columns;
    struct quality best_quality = {0};
    for (size_t column = 0; column < table->columns; column++) {
        if (table->decides[column])
            continue;
        struct quality quality = quality_with(table, column);
        if (quality.agree < table->values)
            continue;
        if (best == table->columns || quality.in_conflict < best_quality.in_conflict ||
            (quality.in_conflict == best_quality.in_conflict &&
             quality.agree > best_quality.agree)) {
            best = column;
            best_quality = quality;
        }
    }
    if (best == table->columns)
        return false;
    decide(table, best);
    return true;
}

static int compare_values(const void *left, const void *right)
{
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    return (a > b) - (a < b);
}

static int compare_hashes(const void *left, const void *right)
{
    uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
    return (a > b) - (a < b);
}

/* Of those rows. */
static uint32_t count_launches(const struct table *table, size_t from, size_t end)
{
    uint64_t hashes[REDUCTION_LAUNCHES];
    uint32_t launches = 1;
    for (size_t i = from; i < end; i++)
        hashes[i - from] = table->whole[table->rows[i].launch];
    qsort(hashes, end - from, sizeof *hashes, compare_hashes);
    for (size_t i = 1; i < end - from; i++)
        launches += hashes[i] != hashes[i - 1];
    return launches;
}

/* Whether the column took enough values in launches that agree in the rest. */
static bool has_values(const struct table *table, size_t column)
{
    uint32_t taken[REDUCTION_LAUNCHES];
    for (size_t i = 0, end; i < table->count; i = end) {
        end = rows_end(table, i, false);
        uint32_t values = 1;
        for (size_t k = i; k < end; k++)
            taken[k - i] = table->cell[table->rows[k].launch][column];
        qsort(taken, end - i, sizeof *taken, compare_values);
        for (size_t k = 1; k < end - i; k++)
            values += taken[k] != taken[k - 1];
        if (values > 1 && table->bounded[table->rows[i].launch])
            values = count_launches(table, i, end);
        if (values >= table->values)
            return true;
    }
    return false;
}

/* Adds the columns that took too few values. False: none did. */
static bool decide_scarce(struct table *table)
{
    bool scarce[REDUCTION_WORDS] = {false}, any = false;
    sort_rows(table, table->columns);
    for (size_t column = 0; column < table->columns; column++)
        scarce[column] = !table->decides[column] && !has_values(table, column);
    for (size_t column = 0; column < table->columns; column++)
        if (scarce[column]) {
            decide(table, column);
            any = true;
        }
    return any;
}

size_t key_reduction_find(const struct key_reduction_launch *launches, size_t count, size_t words,
                          const uint8_t *pinned, uint8_t *kept, uint32_t values)
{
    size_t left = 0;
    struct table *table = count >= values ? calloc(1, sizeof *table) : NULL;
    if (!table)
        return 0;
    table->count = count < REDUCTION_LAUNCHES ? count : REDUCTION_LAUNCHES;
    table->values = values;
    classify(table, launches);
    bool found = table_fill(table, launches, words, pinned, kept);
    for (int added = 0; found && quality_with(table, table->columns).in_conflict; added++)
        found = added < DECIDING_MAX && decide_one_more(table);
    while (found && decide_scarce(table))
        ;
    for (size_t column = 0; found && column < table->columns; column++)
        if (!table->decides[column]) {
            kept[table->position[column]] = 0;
            left++;
        }
    free(table);
    return left;
}
