/* Finds which words of the key affect what a kernel touches, from traced launches. Seeds, step
 * counts and learning rates change with every launch; if they stayed in the key, the kernel would
 * stay unknown for ever.
 *
 * A word is four bytes of the parameters: what changes one byte of a number changes the others at
 * another time. Words leave the key together. Each of them took at least `values` differing values
 * in launches that agree in all words that do not leave with it, and whose sets are the same; and
 * no two launches that agree in what then remains of the key have different sets.
 *
 * Launches of one bound say less about a word, because data may cause the same change. There,
 * `values` launches that differ in any of the removed words suffice for all of these words. Such
 * words are often uninitialized parts of structures that the kernel reads in part; they change
 * together, and seldom.
 *
 * So a word that alone changes the set stays, if it was seen to do so in any of the launches looked
 * at. What cannot be promised: a word that changed `values` times without effect may matter for a
 * value not seen yet. The next learning of such a launch finds that out, and then the word comes
 * back for good (learner.h). */
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

enum { REDUCTION_LAUNCHES = 256, REDUCTION_WORDS = 256 }; /* more are not looked at */

/* Clears those of `kept` (a byte for each word, 1: in the key) that may leave; `pinned` never do.
 * Returns how many left. */
size_t key_reduction_find(const struct key_reduction_launch *launches, size_t count, size_t words,
                          const uint8_t *pinned, uint8_t *kept, uint32_t values);

#endif
