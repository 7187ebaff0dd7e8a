/* What registers of a kernel's code hold, as far as it is followed: a word of the parameters and a
 * number, added modulo 2^32, or the lesser of that and a number (reads.h); a multiple of an
 * index, as tables have them, and a number; one of a few numbers, nobody knows which. An index may
 * be a word of the parameters, too.
 *
 * Terms are equal if they are written the same. Not thread-safe. */
#ifndef RUNTIME_SASS_TERMS_H
#define RUNTIME_SASS_TERMS_H

#include "runtime/sass/reads.h"

/* A term's word, beside those of reads.h: TERM_MULTIPLE, TERM_CHOICE and on, as they were made;
 * TERM_ANY: nobody knows. */
enum { TERM_MULTIPLE = 1 << 16, TERM_CHOICE = 1 << 17, TERM_ANY = UINT32_MAX };
enum { TERM_NUMBERS_MOST = 8 };
enum { TERMS_LESSERS_MOST = 32, TERMS_MULTIPLES_MOST = 256, TERMS_CHOICES_MOST = 64 };
enum { TERM_INDEX_WORD = 1 << 16 };

struct term_multiple {
    uint32_t index; /* as a table's, or TERM_INDEX_WORD and a word of the parameters */
    uint32_t every;
};

/* Numbers less the least of them, which is the term's number: from 0 up, none twice. */
struct term_choice {
    uint32_t count, above[TERM_NUMBERS_MOST];
};

struct terms {
    uint32_t words; /* of the parameters */
    uint32_t work;  /* that it took to look choices up, as flow_find counts it */
    uint32_t lesser_count, multiple_count, choice_count;
    struct reads_lesser lessers[TERMS_LESSERS_MOST];
    struct term_multiple multiples[TERMS_MULTIPLES_MOST];
    struct term_choice choices[TERMS_CHOICES_MOST];
};

static const struct reads_term term_any = {.word = TERM_ANY};

static inline bool term_is_equal(struct reads_term a, struct reads_term b)
{
    return a.word == b.word && a.number == b.number;
}

static inline struct reads_term term_number(uint32_t value)
{
    return (struct reads_term){READS_NO_WORD, value};
}

static inline bool term_is_multiple(struct reads_term term)
{
    return term.word >= TERM_MULTIPLE && term.word < TERM_CHOICE;
}

/* So many times the index, and a number. */
struct reads_term terms_multiple(struct terms *terms, uint32_t index, uint32_t every,
                                 uint32_t number);
/* Of a multiple: its index and how many times. */
struct term_multiple terms_multiple_at(const struct terms *terms, struct reads_term term);
struct reads_term terms_sum(struct terms *terms, struct reads_term a, struct reads_term b);
struct reads_term terms_product(struct terms *terms, struct reads_term a, struct reads_term b);
/* As numbers without signs, of which one is known. */
struct reads_term terms_lesser(struct terms *terms, struct reads_term a, struct reads_term b);
/* One or the other, nobody knows which. */
struct reads_term terms_either(struct terms *terms, struct reads_term a, struct reads_term b);
/* Which numbers it may be; 0: it is something else. */
uint32_t terms_numbers(const struct terms *terms, struct reads_term term,
                       uint32_t numbers[TERM_NUMBERS_MOST]);

#endif
