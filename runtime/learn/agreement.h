/* Whether two launches may have made the same accesses, relative to their pointers.
 *
 * They may when there are bytes for each anchor that are all that both touched. The most such bytes
 * are those that both touched from there; so what one touched must be, from one anchor or another,
 * what the other did. The distance between anchors explains nothing: an index tensor selects the
 * same rows wherever it lies. But what is touched from one pointer to another is as long as they
 * are apart. */
#ifndef RUNTIME_LEARN_AGREEMENT_H
#define RUNTIME_LEARN_AGREEMENT_H

#include "runtime/learn/learned_set.h"

/* Sets of launches of one key, or reanchored from such sets. True if that is not known: coarse
 * sets, memory without an anchor, too many runs of bytes, or memory is short. */
bool learned_sets_agree(const struct learned_set *a, const struct learned_set *b);

/* Which of some sets agree, each pair compared once: that takes milliseconds where a launch touched
 * thousands of rows. Zeros at first. */
enum { AGREEMENTS = 64 };
struct agreements {
    struct learned_set *sets[AGREEMENTS];
    uint64_t known[AGREEMENTS], agree[AGREEMENTS]; /* a bit for each other */
};
/* What is asked for by that number from now on is this set. */
void agreements_put(struct agreements *agreements, uint32_t at, struct learned_set *set);
bool agreements_possible(struct agreements *agreements, uint32_t a, uint32_t b);
void agreements_clear(struct agreements *agreements);

#endif
