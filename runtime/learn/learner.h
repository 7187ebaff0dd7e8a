/* What earlier launches of a kernel taught of the next.
 *
 * A launch is asked for before it is made. Its shape and what of its scalars is in the key
 * (launch_key.h) lead to an entry, which is one of:
 *
 *   learning    Each trace taught a set, with relations between anchors where it stands. Once
 *               `launches` traces agree by prediction (prediction.h), a launch where it stands is
 *               known; one where it does not is traced. Sets that stand elsewhere are variants
 *               beside it, as long as all may have done the same (agreement.h): a launch has the
 *               most special one that holds. An only one stands, too, where no relation fails but
 *               such as are assumed to be no condition; that launch is traced once there is time.
 *   dependent   A trace contradicted what stood, or cannot have done what the variants did: what
 *               the kernel touches depends on data. Anchors and kinds that all traces had alike
 *               stay exact, of the others the whole block is the bound.
 *   untold      Nothing can be said: it takes changing pointers from memory, or its traces are
 *               lost.
 *
 * What depends on data under one key is taken to under any other whose traces are within the bound:
 * they differ from it in nothing but what data tells, and are alike in something (bound.h). Such
 * keys share one bound, a wider one, too.
 * So where a key holds words that the kernel never reads (a structure's that the program never set)
 * and is seldom the same twice, a launch is bounded though nobody saw data change under its key.
 *
 * Pointers are in no key. At first all words of the parameters are, and leave where they have no
 * effect (key_reduction.h); the alignment of pointers is not. When a trace contradicts and a word
 * outside the key may be why, what was not seen to be without effect comes back for good.
 *
 * Equal launches prove nothing about the next. So launches 4, 8, 16, ... that a set stands for, of
 * whatever keys of the shape, are traced again; those of a dependent entry by its own count. A
 * known set that leaves its pointer's block in a launch, or whose blocks are gone, is not taken,
 * and is traced again.
 *
 * A shape whose launches never repeat (SINGLES entries of one launch each) is scattered: no word is
 * in its key any more. Where all traces agreed it is known; else it depends on data.
 *
 * What is promised: what is told as known is touched, and nothing else, if the kernel's accesses
 * are told by its shape and its parameters relative to its pointers, and from one pointer to
 * another; if what pointers lead to is apart or begins at equal ones in the launches that were
 * traced; and if fewer than `values` values of a word with an effect (under a bound: launches that
 * differ in words) were seen without one. A kernel that looks at more (alignment, how far pointers
 * are apart that it does not reach between, data), or whose traces overlapped in part, may be told
 * wrong until the next launch that is learned again; from then on its bound holds whatever is
 * reached through the same pointers in the same ways (read, written, updated) as in any launch
 * traced, and is exact of pointers whose bytes never differed.
 *
 * Thread-safe: one lock, held for look-ups and, where a trace is told, while it is worked in. */
#ifndef RUNTIME_LEARN_LEARNER_H
#define RUNTIME_LEARN_LEARNER_H

#include "runtime/learn/launch_key.h"
#include "runtime/learn/learned_set.h"

struct learner;
struct parameter_uses;
struct learned_kernel; /* lives as long as the learner */

/* What a module is made of: equal for equal code on equal devices. With words[0] 0 it is known in
 * this process alone, and what is learned of it is not kept. */
struct learn_image {
    uint64_t words[2];
};

struct learner_options {
    uint32_t launches; /* equal ones after which a set is known; at least 1 */
    uint32_t values;   /* of a word, with equal sets, after which it leaves the key; at least 2 */
    const char *cache; /* directory of learned_file.h, "" or NULL: nothing is kept */
    uint64_t cache_bytes;           /* files in it may have */
    void (*note)(const char *text); /* told of files that cannot be used; may be NULL */
};

/* NULL when memory is short. */
struct learner *learner_create(const struct learner_options *options);
void learner_destroy(struct learner *learner);
/* How many keys there are of the launches that were asked for, which would be told by what is kept
 * now in a process that traces nothing, and which would not; as far as is known, for places and
 * data may be others there. */
struct learner_left {
    size_t told, open;
    char kernel[128]; /* one with an open key, cut; "" */
};
void learner_left(struct learner *learner, struct learner_left *left);
static inline bool learner_is_settled(const struct learner_left *left)
{
    return left->told && !left->open;
}
/* Keeps what was learned since, in files. Returns false when one could not be written. */
bool learner_save(struct learner *learner);

/* What is known of the kernel, from the cache to begin with. NULL when memory is short. */
struct learned_kernel *learner_kernel(struct learner *learner, struct learn_image image,
                                      const char *name);

/* What its code does with its parameters, by which keys of its launches are to be made: as the
 * caller tells it where nothing is known of any launch, later as it was told then. `uses`, of the
 * kernel's so many words of parameters, is the caller's before and after. */
void learner_uses(struct learner *learner, struct learned_kernel *kernel, uint32_t words,
                  struct parameter_uses *uses);

/* Whether any launch of it was asked for, by this process or one whose cache it has. */
bool learner_knows(struct learner *learner, const struct learned_kernel *kernel);

enum learn_answer {
    LEARN_UNTOLD,
    LEARN_OPEN,   /* not known yet: the launch is to be traced, or one before it is */
    LEARN_KNOWN,  /* `set` is what it touches, as far as its launches taught */
    LEARN_BOUNDED /* it touches nothing but `set`, and all that is not whole of one with wholes */
};
enum learn_reason {
    LEARN_NO_REASON,
    LEARN_INDIRECT,
    LEARN_LOST,
    LEARN_UNSEEN,
    LEARN_UNTOLD_REASONS, /* those before are of what is untold, those behind of what depends */
    LEARN_DIFFERS = LEARN_UNTOLD_REASONS,
    LEARN_CROWDED,
    LEARN_SCATTERED,
    LEARN_REASONS
};

struct learn_reply {
    uint8_t answer;          /* enum learn_answer */
    uint8_t reason;          /* UNTOLD: enum learn_reason */
    bool trace;              /* to be traced: learner_told or learner_refused must follow */
    bool due;                /* no trace of such a launch is under way any more: do not wait */
    struct learned_set *set; /* KNOWN, BOUNDED: the caller releases it */
};

/* Whether launches are to be traced from now on that would only confirm what is known; at first
 * they are. One whose turn came meanwhile is traced later. */
void learner_confirm(struct learner *learner, bool may);

/* Before a launch. `key` is the launch's. */
void learner_ask(struct learner *learner, struct learned_kernel *kernel,
                 const struct launch_key *key, const struct learn_launch *launch,
                 learn_find_block *find, void *user, struct learn_reply *reply);
/* Before one that learner_ask is asked for, of launches that are not all asked for: what is known
 * of it is to be confirmed. */
void learner_again(struct learner *learner, struct learned_kernel *kernel,
                   const struct launch_key *key, const struct learn_launch *launch);
/* What is known by now, for a launch that waits or is captured: asks for no trace. */
void learner_look(struct learner *learner, struct learned_kernel *kernel,
                  const struct launch_key *key, const struct learn_launch *launch,
                  learn_find_block *find, void *user, struct learn_reply *reply);
/* A bound of a launch that is like none before, by what those did with their pointers
 * (directions.h), to be released; NULL: there is none. */
struct learned_set *learner_bound(struct learner *learner, struct learned_kernel *kernel,
                                  const struct learn_launch *launch);
/* Memory that asking for such a launch again would read, most of it: at most LEARN_PIECES. It may
 * be gone by the time that anybody looks. */
struct learn_piece {
    const void *start;
    size_t bytes;
};
enum { LEARN_PIECES = 11 };
size_t learner_pieces(struct learner *learner, struct learned_kernel *kernel,
                      const struct launch_key *key, const struct learn_launch *launch,
                      struct learn_piece *pieces);
/* The trace of that launch; NULL: it was lost. The set is not taken. */
void learner_told(struct learner *learner, struct learned_kernel *kernel,
                  const struct launch_key *key, const struct learn_launch *launch,
                  struct learned_set *set);
/* No trace of it will hold all that it touches. */
void learner_unseen(struct learner *learner, struct learned_kernel *kernel,
                    const struct launch_key *key);
/* It could not be traced, or was not made. */
void learner_refused(struct learner *learner, struct learned_kernel *kernel,
                     const struct launch_key *key);

const char *learn_reason_text(uint8_t reason);

/* Whether what is known is looked at again at that launch: the fourth, eighth, sixteenth, ... */
static inline bool learn_is_turn(uint64_t launches)
{
    return launches >= 4 && !(launches & (launches - 1));
}

#endif
