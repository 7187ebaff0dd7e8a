/* Which words of the key matter to what a kernel touches, told from traced launches: seeds, step
 * counts and learning rates change with every launch, and would keep a kernel unknown for ever.
 *
 * A word is four bytes of the parameters: what changes one byte of a number changes the others at
 * another time. Words leave the key together. Each of them took at least `values` differing values
 * in launches that agree in all words that do not leave with it, and whose sets are the same; and
 * no two launches that agree in what then remains of the key have different sets.
 *
 * Launches of one bound say less of a word: what it would change may be what data changes. There,
 * `values` launches that differ in whatever words have left or leave are enough for all of these.
 * Such are words that a program never set, in structures that the kernel reads in part: what is
 * left there changes together, and seldom.
 *
 * So a word that alone changes the set stays, if it was seen to do so in any of the launches
 * looked at. What cannot be promised: a word that changed `values` times without effect may
 * matter for a value not seen yet. The next learning of such a launch finds that out, and then the
 * word comes back for good (learner.h). */
#ifndef RUNTIME_LEARN_KEY_REDUCTION_H
#define RUNTIME_LEARN_KEY_REDUCTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct key_reduction_launch {
    const uint32_t *words;
    uint32_t set; /* equal for launches that may have done the same */
    bool bounded; /* `set` stands for a bound that was found to hold */
};

enum { MATTER_LAUNCHES = 256, MATTER_WORDS = 256 }; /* more are not looked at */

/* Clears those of `kept` (a byte for each word, 1: in the key) that may leave; `pinned` never do.
 * Returns how many left. */
size_t key_reduction_find(const struct key_reduction_launch *launches, size_t count, size_t words,
                          const uint8_t *pinned, uint8_t *kept, uint32_t values);

#endif
