/* What operators of a framework made of launches, kept so that later launches do without their
 * operators.
 *
 * A launch has a *shape*: its kernel and how it is launched, as a hash of 128 bits. A shape's
 * launches differ in their *words*: the parameters, where in place of each pointer stands where it
 * lies in its block. Each launch that is added has a
 * *result*: no operator ran, or one did, and these are its accesses, relative to the pointers.
 *
 *   shape -> entries, one for each value of the words that count
 *   entry -> result, how often it was seen, who names the launch
 *
 * At first all words count. Once `values` entries of one result differ in some words only, those
 * words leave together, if that puts no two results into one entry. A word that left that way
 * counts for a result all the same until two of its values had that result: an extent may be
 * without effect in one case, and the reason for another. Where the pointers lie that a result
 * starts from is no such difference.
 *
 * A pointer is *loose* if it leads to memory that its launch does not touch. Of a result it is kept
 * which pointers were loose. In a launch where another one is, the kernel does what was not seen.
 * When a result differs all the same, the words that may be the reason count again. They leave a
 * second time after four times as many values, then after sixteen times as many.
 *
 * An entry is known once `launches` launches had its result. An entry whose result changes though
 * all its words count is counted anew; after CHANGES_MOST changes it is unsteady, for good. To be
 * doubted is such a change. One that was spoiled is unsteady at once. Known results are never a
 * guess about other words.
 *
 * The whole has a bound. Beyond it, the shapes that were not used for longest go.
 *
 * Not thread-safe. */
#ifndef RUNTIME_LEARN_SUMMARIES_H
#define RUNTIME_LEARN_SUMMARIES_H

#include <csan/csan.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    SUMMARY_ENTRIES_MOST = 256, /* of a shape; beyond, the one that was not used for longest goes */
    SUMMARY_WORDS_MOST = 8192,  /* of a launch */
    SUMMARY_ACCESSES_MOST = 2048, /* of a result */
    SUMMARY_CHANGES_MOST = 3,
    SUMMARY_POINTER_WORDS = 2 /* in place of a pointer, from twice its number on: the first says
                                 where it lies in its block, the second which others lie there */
};

/* A word, with a zero before it, in whose place nobody set a parameter. */
#define SUMMARY_UNSET_WORD ((uint32_t)(CSAN_OPERATOR_STACK_MARK << 16))

struct summary_limits {
    uint32_t launches; /* at least 1 */
    uint32_t values;   /* at least 2 */
    size_t bytes;      /* of memory, about */
};

struct summary_shape {
    uint64_t words[2];
};

struct summary_key {
    struct summary_shape shape;
    const uint32_t *words;
    uint32_t word_count; /* the same in all launches of a shape */
};

/* An access relative to a pointer of the launch. */
struct summary_access {
    uint32_t pointer; /* its number */
    uint16_t argument;
    uint8_t kind, bound, dim_count;
    int64_t offset; /* of the first byte, from the pointer */
    uint64_t bytes;
    struct csan_dim dims[CSAN_MAX_DIMS];
};

struct summary_result {
    /* Who names the launch; NULL: no operator ran, and there are no accesses. The texts need not
     * outlive the call. */
    const struct csan_operator *what;
    const struct summary_access *accesses;
    uint32_t count;
    const uint8_t *loose; /* of each pointer of the words; NULL: none is */
};

struct summaries;
/* NULL when memory is short. */
struct summaries *summaries_create(const struct summary_limits *limits);
void summaries_destroy(struct summaries *summaries);

enum summary_state {
    SUMMARY_NONE,     /* no launch like that was added */
    SUMMARY_LEARNING, /* too few were */
    SUMMARY_KNOWN,
    SUMMARY_UNSTEADY /* it never will be known */
};

/* What is known of a launch. The accesses are valid until the next call of summaries_add or
 * summaries_read. */
struct summary_found {
    uint8_t state;                    /* enum summary_state */
    bool alike;                       /* not KNOWN: the rest is what launches did that differ in
                                         their words only, all of them */
    bool operator_ran;                /* KNOWN: false: it was launched outside of operators */
    const struct csan_operator *what; /* valid as long as the process; NULL: several, or none */
    const struct summary_access *accesses;
    uint32_t count;
    const uint8_t *loose; /* of each pointer: whether it ever was */
    struct summary_used {
        struct shape *shape;
        struct entry *entry;
    } used; /* KNOWN */
};
void summaries_find(struct summaries *summaries, const struct summary_key *key,
                    struct summary_found *found);

/* As long as it is the same, a launch that was found KNOWN will be found the same again. */
uint64_t summaries_version(const struct summaries *summaries);
/* Whether a launch that differs in that word alone, and is found, may be found as something else.
 * While the version is the same. */
bool summaries_word_counts(const struct summary_used *used, uint32_t word);
/* Whether all words count, of any launch of the shape. */
bool summaries_words_count(const struct summary_used *used);
/* As if it were found again. While the version is the same. */
void summaries_find_again(struct summaries *summaries, const struct summary_used *used);

/* While operators do not run, a launch came that is not known; one that is. A word that is the same
 * in each launch with operators, and another one in each without, is what they left on the stack:
 * after three turns, with enough launches each, it leaves. No other change of the program keeps to
 * those turns, which it does not know of. True: words left, and the launch may be known now. */
bool summaries_missed(struct summaries *summaries, const struct summary_key *key);
void summaries_answered(struct summaries *summaries, const struct summary_key *key);

/* Whether launches of that shape go by what they have in place of that pointer: false once its
 * words left, and no result starts from it. */
bool summaries_pointer_counts(const struct summaries *summaries, const struct summary_shape *shape,
                              uint32_t pointer);

/* Why a launch is not known: how it differs from the launch of its shape that is nearest. */
enum { SUMMARY_NEAREST_WORDS = 8 };
struct summary_nearest {
    uint32_t entries;   /* of the shape; 0: none, and the rest is zeros */
    uint32_t counting;  /* words that count */
    uint32_t differing; /* of those. The first of them, and what they are in the nearest: */
    uint32_t words[SUMMARY_NEAREST_WORDS], before[SUMMARY_NEAREST_WORDS];
};
void summaries_nearest(const struct summaries *summaries, const struct summary_key *key,
                       struct summary_nearest *nearest);

enum summary_change {
    SUMMARY_NEW,       /* nothing was known of such a launch */
    SUMMARY_CONFIRMED, /* as before */
    SUMMARY_DIFFERS,   /* it had another result before */
    SUMMARY_DROPPED    /* not taken: memory is short, or it is too large */
};
/* A result without an operator changes nothing where one is known to have run: an operator may have
 * begun before anybody listened. */
enum summary_change summaries_add(struct summaries *summaries, const struct summary_key *key,
                                  const struct summary_result *result);
/* What was seen at all is known from now on: an earlier process of the program saw it, and had
 * nothing new in the end. */
void summaries_trust(struct summaries *summaries);
/* The result of such launches does not hold all that is touched. */
void summaries_spoil(struct summaries *summaries, const struct summary_key *key);
/* This time more happened than such launches show. They are counted anew; if that happens again and
 * again, they are spoiled. Once more before another launch like it was added, it changes nothing.
 */
void summaries_doubt(struct summaries *summaries, const struct summary_key *key);

/* Whether what is known of a launch (`found`, KNOWN) holds all that a result has: each byte, by an
 * access that is at least as strong, and no weaker bound. */
bool summary_covers(const struct summary_found *found, const struct summary_result *result);

struct summary_counts {
    uint64_t shapes, entries, known, unsteady;
    size_t bytes;
};
void summaries_count(const struct summaries *summaries, struct summary_counts *counts);

/* All that is known or being learned, as bytes that summaries_read takes; free() it. NULL when
 * memory is short. */
uint8_t *summaries_write(const struct summaries *summaries, size_t *bytes);
/* Into summaries without any. False: the bytes make no sense, and nothing was taken. */
bool summaries_read(struct summaries *summaries, const uint8_t *bytes, size_t count);

#endif
