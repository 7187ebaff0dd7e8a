/* What the summaries hold: shapes of entries, each of which has a set of accesses and names for
 * them. For summaries.c, summary_result.c, summary_words.c and summary_bytes.c. */
#ifndef RUNTIME_LEARN_SUMMARIES_STATE_H
#define RUNTIME_LEARN_SUMMARIES_STATE_H

#include "runtime/learn/summaries.h"

#include <stdlib.h>

enum {
    OPERATORS_MOST = 4096,
    ARGUMENTS_MOST = 1024,
    SEEN_MOST = 1 << 20,
    STRIKES_MOST = 3, /* then a word counts for good */
    SHIFTS = 3,       /* that make a word leave */
    SHIFT_WORDS_MOST = 64
};

/* Accesses, without whose arguments they are. */
struct set {
    uint64_t hash;
    uint32_t users, count, pointers;
    bool operator_ran;
    uint32_t words;
    /* Behind them, of each pointer: whether it was loose; of each word: whether it varied. */
    struct summary_access items[];
};

/* Who names a launch, and the argument of each access. */
struct names {
    const struct csan_operator *what;
    uint32_t count;
    uint16_t arguments[];
};

struct entry {
    uint64_t hash;   /* of the words that count */
    uint64_t used;   /* the tick of its newest launch */
    uint32_t *words; /* of its newest launch */
    struct set *set;
    struct names *names; /* NULL: several did, or none */
    uint32_t seen;       /* launches with that result; 0: it was doubted since */
    uint8_t changes;
    bool unsteady, several;
};

/* Nothing is known by it. */
static inline bool summary_entry_is_doubted(const struct entry *entry)
{
    return entry->unsteady || !entry->seen;
}

/* Whether a word counts. One that left by values counts for a result all the same, until two of its
 * values had that result. */
enum skipped { COUNTS, LEFT_BY_VALUES, LEFT_FOR_ALL, SKIPPED_MOST = LEFT_FOR_ALL };

struct shape {
    struct summary_shape id;
    uint64_t used;
    uint32_t word_count, entry_count, entry_room;
    struct entry *entries;
    uint16_t *counting;      /* the words that count, in order: those that are not skipped */
    uint32_t counting_count; /* of them; summary_skipped_changed sets both */
    uint8_t *skipped;        /* of each word: enum skipped; */
    uint8_t *strikes;        /* how often it had to count again; */
    uint8_t *shifts;    /* and how often it was another one without operators, while it was, or the
                           other half of its eight bytes */
    uint32_t confirmed; /* launches since the last of those */
    bool shifting;      /* any of `shifts` is not zero */
};

struct operator_kept {
    uint64_t hash;
    struct csan_operator declared;
    const char *texts[]; /* the arguments' */
};

struct summaries {
    struct summary_limits limits;
    uint64_t tick, version;
    size_t bytes;
    struct shape **table; /* open addressing; at most half full */
    size_t table_size, shape_count;
    struct operator_kept **operators;
    uint32_t operator_count;
    size_t operator_room;
    struct summary_access *found; /* of summaries_find */
    size_t found_room;
};

/* ---- Memory that counts against the limit ---- */

static inline void *summaries_take(struct summaries *all, size_t bytes)
{
    void *memory = calloc(1, bytes ? bytes : 1);
    if (memory)
        all->bytes += bytes;
    return memory;
}

static inline void summaries_give(struct summaries *all, void *memory, size_t bytes)
{
    if (memory)
        all->bytes -= bytes;
    free(memory);
}

/* ---- Results (summary_result.c) ---- */

/* The one of these texts that is kept; NULL: memory is short, or there are too many. */
const struct csan_operator *summary_operator_keep(struct summaries *all,
                                                  const struct csan_operator *what);

/* A set without accesses yet; NULL: memory is short. */
struct set *summary_set_room(struct summaries *all, uint32_t count, uint32_t word_count);
/* NULL: memory is short. */
struct set *summary_set_make(struct summaries *all, uint32_t word_count,
                             const struct summary_result *result);
static inline uint8_t *summary_set_loose(struct set *set)
{
    return (uint8_t *)(set->items + set->count);
}
static inline uint8_t *summary_set_varied(struct set *set)
{
    return summary_set_loose(set) + set->pointers;
}
/* Launches of both words had that result. */
void summary_set_vary(struct set *set, const uint32_t *a, const uint32_t *b);
/* What is loose in one, or varied, is so in the other, which is equal. */
void summary_set_loosen(struct set *set, struct set *other);
bool summary_set_is(const struct set *a, const struct set *b);
/* The set has one user less. It goes with its last one. */
void summary_set_drop(struct summaries *all, struct set *set);

static inline size_t summary_names_bytes(uint32_t count)
{
    return sizeof(struct names) + count * sizeof(uint16_t);
}
/* NULL: no operator ran, memory is short, or there are too many operators. */
struct names *summary_names_make(struct summaries *all, const struct summary_result *result);
bool summary_names_are(const struct names *a, const struct names *b);
void summary_names_drop(struct summaries *all, struct names *names);

/* ---- Shapes and entries (summaries.c) ---- */

/* NULL: there is none. */
struct shape *summary_shape_find(const struct summaries *all, const struct summary_shape *id);
/* One that is not there yet; NULL: memory is short. */
struct shape *summary_shape_make(struct summaries *all, const struct summary_shape *id,
                                 uint32_t word_count);
/* Frees all shapes. */
void summaries_clear(struct summaries *all);
/* After a change of `skipped`, and before any entry is looked for. */
void summary_skipped_changed(struct shape *shape);
/* The hash of the words that count. */
uint64_t summary_words_hash(const struct shape *shape, const uint32_t *words);
/* Whether the words that count are equal. */
bool summary_words_agree(const struct shape *shape, const uint32_t *a, const uint32_t *b);
/* Whether the word counts for the entry, and is another one. */
bool summary_word_differs(const struct shape *shape, const struct entry *entry,
                          const uint32_t *words, uint32_t i);
/* NULL: there is none. */
struct entry *summary_entry_find(const struct shape *shape, const uint32_t *words);
/* Takes set and names. NULL: memory is short. */
struct entry *summary_entry_add(struct summaries *all, struct shape *shape, const uint32_t *words,
                                struct set *set, struct names *names);
void summary_entry_remove(struct summaries *all, struct shape *shape, uint32_t at);

/* ---- Words that leave, and come back (summary_words.c) ---- */

/* The words leave in which the entries of the newest one's result differ, if there are enough such
 * entries. */
void summary_shape_reduce(struct summaries *all, struct shape *shape, const struct entry *newest);
/* The words count again that may be why the result differs. False: there are none. What was known
 * for many of their values is known of the newest one only, and counted anew. */
bool summary_words_return(struct shape *shape, const struct entry *entry, const uint32_t *words);
/* What shifted was the same without operators, after all, or differed with them. */
void summary_shifts_forget(struct shape *shape);
/* The entry that differs from these words least, in how many of those that count; NULL: the shape
 * has no entry. */
const struct entry *summary_entry_nearest(const struct shape *shape, const uint32_t *words,
                                          uint32_t *differing);
/* Whether a result of the shape starts from the pointer. */
bool summary_shape_starts_from(const struct shape *shape, uint32_t pointer);

#endif
