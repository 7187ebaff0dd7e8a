/* What the two registers that may hold an address hold: sets of pairs of words, as far as code is
 * followed (map_uses.h). A word is a constant, a half of the generic address of constant bank 0
 * (the lower with an offset), or not known. What an index is multiplied by stays known: a constant,
 * or the lower half, and some multiple of that. Sets are kept once, and named by numbers; they are
 * small, and what there is too much of is lost: where others are joined, for good, so that a set
 * grows a few times at most.
 *
 * A table owns its sets. Not thread-safe. */
#ifndef RUNTIME_SASS_ADDRESS_LATTICE_H
#define RUNTIME_SASS_ADDRESS_LATTICE_H

#include <stdbool.h>
#include <stdint.h>

enum word_kind {
    WORD_ANY,
    WORD_CONSTANT,
    WORD_LOW, /* the bank's address and `value` */
    WORD_HIGH,
    WORD_OVERFLOW /* upper half of an index's multiple: WORD_HIGH and this is WORD_HIGH */
};

/* An element of an array: `value`, and `every` times an index from 0 up. 0: it is no array's. */
struct word {
    uint32_t kind, value, every;
};

struct word_pair {
    struct word halves[2]; /* the lower first */
};

enum { PAIRS_MOST = 8 };
enum words_lost { LOST_NOTHING, LOST_CONSTANTS /* each is as good as not known */, LOST_ALL };

struct pair_set {
    uint32_t count, lost;
    struct word_pair pairs[PAIRS_MOST]; /* in order */
};

/* Of one half of the pairs. */
struct word_set {
    uint32_t count;
    struct word words[PAIRS_MOST];
};

struct words;
typedef uint16_t words_number;
enum { WORDS_ANY }; /* of one pair: nothing is known */

/* NULL: memory is short. */
struct words *words_create(void);
void words_free(struct words *words);

/* Good until the next call that makes a set. */
const struct pair_set *words_get(const struct words *words, words_number number);
/* The pairs of both. */
words_number words_join(struct words *words, words_number a, words_number b);
/* Each pair with each of the words in that half. */
words_number words_put(struct words *words, words_number number, uint32_t half,
                       const struct word_set *put);

struct word_set word_set_of(struct word word);
/* That half of the pairs. */
struct word_set word_set_half(const struct words *words, words_number number, uint32_t half);
void word_set_join(struct word_set *set, const struct word_set *other);
/* The sums of one of each, and of a carry, or not, if it carries. */
struct word_set word_set_add(const struct word_set *a, const struct word_set *b, bool carries);

#endif
