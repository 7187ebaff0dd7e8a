/* Predicts what a launch touches from traces of earlier launches of its kernel.
 *
 * A caller looks a launch up before it is made. The launch's signature and those of its scalars
 * that are in the key (launch_key.h) lead to an entry. The entry is in one of these states:
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
 *   unknown     Nothing can be said: the kernel loads changing pointers from memory, or its traces
 * are lost.
 *
 * If accesses depend on data under one key, csan assumes the same for every other key whose traces
 * are within the bound and share something exact with it (bound.h). Such keys share one bound, even
 * after it widens. So a key may hold uninitialized words that the kernel never reads and may seldom
 * repeat. Its launches are bounded although no data changed under that key.
 *
 * Pointers are in no key. At first the key has all words of the parameters; words without an effect
 * leave it (key_reduction.h). The alignment of pointers is not in the key. When a trace contradicts
 * the entry and a word outside the key may be the reason, words whose lack of effect was not
 * observed return for good.
 *
 * Equal launches prove nothing about the next one. So csan traces launches 4, 8, 16, ... of a set
 * again, over all keys of the signature; a dependent entry has its own count. If a known set would
 * leave its pointer's block in a launch, or its blocks no longer exist, csan does not use it and
 * traces the launch.
 *
 * A signature whose launches never repeat (SINGLES entries of one launch each) is scattered: its
 * key has no words any more. If all its traces agree, it is known; otherwise it depends on data.
 *
 * What csan promises: a launch touches exactly its known set under three conditions. First, the
 * kernel's accesses follow from its signature and parameters, relative to its pointers and between
 * them. Second, in the traced launches the pointers' memory is apart or begins at equal pointers.
 * Third, fewer than `values` values of a word with an effect (under a bound: launches that differ
 * in words) occurred without that effect. A kernel may depend on more: alignment, data, or the
 * distance of pointers between which it does not reach. For such a kernel, or if traces overlapped
 * in part, the set may be wrong until csan traces a launch again. From then on its bound contains
 * all that is reached through the same pointers in the same ways (read, written, updated) as in any
 * traced launch. The bound is exact for pointers whose bytes never differed.
 *
 * Thread-safe: one lock, held for look-ups and while a new trace is merged. */
#ifndef RUNTIME_LEARN_LEARNER_H
#define RUNTIME_LEARN_LEARNER_H

#include "runtime/learn/launch_key.h"
#include "runtime/learn/learned_set.h"

struct learner;
struct parameter_uses;
struct learned_kernel; /* lives as long as the learner */

/* The identity of a module: equal for equal code on equal devices. If words[0] is 0, it is valid in
 * this process only, and csan does not store what it learns about the module. */
struct learn_image {
    uint64_t words[2];
};

struct learner_options {
    uint32_t launches; /* equal ones after which a set is known; at least 1 */
    uint32_t values;   /* of a word, with equal sets, after which it leaves the key; at least 2 */
    const char *cache; /* directory of learned_file.h, "" or NULL: nothing is kept */
    uint64_t cache_bytes;           /* files in it may have */
    void (*note)(const char *text); /* called for files that cannot be used; may be NULL */
};

/* NULL when memory is short. */
struct learner *learner_create(const struct learner_options *options);
void learner_destroy(struct learner *learner);
/* Counts the keys of launches looked up so far: those that a later process could answer from the
 * stored sets without a trace (complete), and the others (open). It is an estimate, because
 * addresses and data may differ in that process. */
struct learner_left {
    size_t complete, open;
    char kernel[128]; /* one with an open key, cut; "" */
};
void learner_left(struct learner *learner, struct learner_left *left);
static inline bool learner_is_settled(const struct learner_left *left)
{
    return left->complete && !left->open;
}
/* Keeps what was learned since, in files. Returns false when one could not be written. */
bool learner_save(struct learner *learner);

/* What is known of the kernel, from the cache to begin with. NULL when memory is short. */
struct learned_kernel *learner_kernel(struct learner *learner, struct learn_image image,
                                      const char *name);

/* How the kernel's code uses its parameters; keys of its launches depend on that. The first call
 * stores the caller's `uses`; later calls return the stored ones. `uses` describes `words` words of
 * parameters and belongs to the caller before and after. */
void learner_uses(struct learner *learner, struct learned_kernel *kernel, uint32_t words,
                  struct parameter_uses *uses);

/* Whether this process, or one whose cache it has, looked up any launch of the kernel. */
bool learner_knows(struct learner *learner, const struct learned_kernel *kernel);

enum learn_answer {
    LEARN_UNKNOWN,
    LEARN_OPEN,   /* not known yet: the launch is to be traced, or one before it is */
    LEARN_KNOWN,  /* `set` is what it touches, as far as its launches taught */
    LEARN_BOUNDED /* it touches nothing but `set`, and all that is not whole of one with wholes */
};
enum learn_reason {
    LEARN_NO_REASON,
    LEARN_INDIRECT,
    LEARN_LOST,
    LEARN_UNSEEN,
    LEARN_UNKNOWN_REASONS, /* reasons before are for UNKNOWN, those after for BOUNDED */
    LEARN_DIFFERS = LEARN_UNKNOWN_REASONS,
    LEARN_CROWDED,
    LEARN_SCATTERED,
    LEARN_REASONS
};

struct learn_reply {
    uint8_t answer;          /* enum learn_answer */
    uint8_t reason;          /* UNKNOWN: enum learn_reason */
    bool trace;              /* to be traced: learner_take_trace or learner_refused must follow */
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
void learner_take_trace(struct learner *learner, struct learned_kernel *kernel,
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
