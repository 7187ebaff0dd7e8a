/* Remembered reads. See reads_memo.h. */
#include "runtime/sass/reads_memo.h"

#include <string.h>

enum state { FREE, FILLING, FILLED };
enum { TOO_MANY = READS_DECIDERS_MOST + 1 };

static void decider_add(struct reads_memo *memo, uint32_t word)
{
    const struct reads *reads = memo->reads;
    if (word >= reads->words && word - reads->words < reads->lesser_count)
        word = reads_lessers(reads)[word - reads->words].of.word;
    for (uint32_t i = 0; i < memo->decider_count && i < READS_DECIDERS_MOST; i++)
        if (memo->deciders[i] == word)
            return;
    if (word == READS_NO_WORD || memo->decider_count == TOO_MANY)
        return;
    if (memo->decider_count < READS_DECIDERS_MOST)
        memo->deciders[memo->decider_count] = (uint16_t)word;
    memo->decider_count++;
}

void reads_memo_open(struct reads_memo *memo, const struct reads *reads, uint32_t *room)
{
    *memo = (struct reads_memo){.reads = reads, .room = room};
    const struct reads_condition *conditions = reads_conditions(reads);
    for (uint32_t i = 0; i < reads->condition_count; i++) {
        decider_add(memo, conditions[i].left.word);
        decider_add(memo, conditions[i].right.word);
    }
}

static uint32_t *outcome_at(const struct reads_memo *memo, int i)
{
    return memo->room + (size_t)i * reads_memo_each(memo) / sizeof(uint32_t);
}

/* In the first place that is free, if one is. */
static void outcome_keep(struct reads_memo *memo, const uint32_t *values, const uint32_t *read)
{
    const uint32_t count = memo->decider_count, chunks = reads_chunks(memo->reads->words);
    for (int i = 0; i < READS_REMEMBERED; i++) {
        uint8_t state = FREE;
        if (!__atomic_compare_exchange_n(&memo->states[i], &state, FILLING, false, __ATOMIC_RELAXED,
                                         __ATOMIC_RELAXED))
            continue;
        memcpy(outcome_at(memo, i), values, count * sizeof *values);
        memcpy(outcome_at(memo, i) + count, read, chunks * sizeof *read);
        __atomic_store_n(&memo->states[i], FILLED, __ATOMIC_RELEASE);
        return;
    }
}

void reads_memo_find(struct reads_memo *memo, const struct reads_launch *launch, uint32_t *read)
{
    const uint32_t count = memo->decider_count, chunks = reads_chunks(memo->reads->words);
    uint32_t values[READS_DECIDERS_MOST];
    if (count == 0 || count == TOO_MANY) {
        reads_by_regions(memo->reads, launch, read);
        return;
    }
    for (uint32_t i = 0; i < count; i++)
        values[i] = reads_word(launch, memo->deciders[i]);
    for (int i = 0; i < READS_REMEMBERED; i++)
        if (__atomic_load_n(&memo->states[i], __ATOMIC_ACQUIRE) == FILLED &&
            memcmp(outcome_at(memo, i), values, count * sizeof *values) == 0) {
            memcpy(read, outcome_at(memo, i) + count, chunks * sizeof *read);
            return;
        }
    reads_by_regions(memo->reads, launch, read);
    outcome_keep(memo, values, read);
}

void reads_memo_mark(struct reads_memo *memo, const struct reads_launch *launch, uint8_t *marks)
{
    uint32_t read[READS_WORDS_MOST / 32];
    memset(marks, 0xff, launch->bytes);
    if (memo->decider_count == TOO_MANY)
        return;
    reads_memo_find(memo, launch, read);
    reads_clear_others(memo->reads, launch, read, marks);
    for (uint32_t i = 0; i < memo->decider_count; i++)
        for (uint32_t at = memo->deciders[i] * 4u, k = 0; k < 4 && at + k < launch->bytes; k++)
            marks[at + k] = 0xff;
}

/* From there on, words may be in tables of indices into other tables. */
static uint32_t first_index(const struct reads *reads)
{
    const struct reads_table *tables = reads_tables(reads);
    uint32_t first = UINT32_MAX;
    for (uint32_t i = 0; i < reads->table_count; i++) {
        const uint32_t from = tables[i].index;
        if (from >= READS_LOADED && tables[from - READS_LOADED].offset < first)
            first = tables[from - READS_LOADED].offset;
    }
    return first;
}

bool reads_memo_decides(const struct reads_memo *memo, uint32_t word)
{
    if (memo->decider_count == TOO_MANY || word * 4 + 4 > first_index(memo->reads))
        return true;
    for (uint32_t i = 0; i < memo->decider_count; i++)
        if (memo->deciders[i] == word)
            return true;
    return false;
}
