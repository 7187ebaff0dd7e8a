/* What earlier launches of a kernel taught of the next.
 *
 * A launch is asked for before it is made. Its key (launch_key.h) leads to an entry:
 *
 *   learning    fewer than `launches` traces are in. The launch is traced, or waits for one that
 * is. known       their sets are equal: that is what the launch touches. dependent   sets differ:
 * what the kernel touches depends on data. The set is a bound: all that was seen, each pointer's
 * whole block. untold      nothing can be said: it takes changing pointers from memory, or its
 * traces are lost.
 *
 * Equal launches prove nothing about the next. So launches 4, 8, 16, ... of an entry are traced
 * again, whatever it is; one that touches something else makes a known entry dependent, or, where
 * bytes had left the key (matter.h), brings them back for good and begins anew. A known set that
 * leaves its pointer's block in a launch, or whose blocks are gone, is not taken, and is traced
 * again.
 *
 * A shape whose launches never repeat (SINGLES entries of one launch each) is scattered: it has one
 * bound for all, learned again at launches 4, 8, 16, ... of the shape.
 *
 * So a kernel whose set is a function of its key is told right from the second launch on. Of one
 * that depends on data a known set may be wrong until the next launch that is learned again; from
 * then on the bound holds whatever is reached through the same pointers in the same ways (read,
 * written, updated) as it was in any launch that was traced.
 *
 * Thread-safe: one lock, held for look-ups and, where a trace is told, while it is worked in. */
#ifndef RUNTIME_LEARN_LEARNER_H
#define RUNTIME_LEARN_LEARNER_H

#include "runtime/learn/launch_key.h"
#include "runtime/learn/learned_set.h"

struct learner;
struct learned_kernel; /* lives as long as the learner */

/* What a module is made of: equal for equal code on equal devices. With words[0] 0 it is known in
 * this process alone, and what is learned of it is not kept. */
struct learn_image {
    uint64_t words[2];
};

struct learner_options {
    uint32_t launches; /* equal ones after which a set is known; at least 1 */
    uint32_t values;   /* of a byte, with equal sets, after which it leaves the key; at least 2 */
    const char *cache; /* directory of learned_file.h, "" or NULL: nothing is kept */
    uint64_t cache_bytes;           /* files in it may have */
    void (*note)(const char *text); /* told of files that cannot be used; may be NULL */
};

/* NULL when memory is short. */
struct learner *learner_create(const struct learner_options *options);
void learner_destroy(struct learner *learner);
/* Keeps what was learned since, in files. Returns false when one could not be written. */
bool learner_save(struct learner *learner);

/* What is known of the kernel, from the cache to begin with. NULL when memory is short. */
struct learned_kernel *learner_kernel(struct learner *learner, struct learn_image image,
                                      const char *name);

enum learn_answer {
    LEARN_UNTOLD,
    LEARN_OPEN,   /* not known yet: the launch is to be traced, or one before it is */
    LEARN_KNOWN,  /* `set` is what it touches, as far as its launches taught */
    LEARN_BOUNDED /* it touches nothing but `set` */
};
enum learn_reason { LEARN_NO_REASON, LEARN_INDIRECT, LEARN_LOST };

struct learn_reply {
    uint8_t answer;          /* enum learn_answer */
    uint8_t reason;          /* UNTOLD: enum learn_reason */
    bool trace;              /* to be traced: learner_told or learner_refused must follow */
    bool due;                /* no trace of such a launch is under way any more: do not wait */
    struct learned_set *set; /* KNOWN, BOUNDED: the caller releases it */
};

/* Before a launch. `key` is the launch's. */
void learner_ask(struct learner *learner, struct learned_kernel *kernel,
                 const struct launch_key *key, const struct learn_launch *launch,
                 learn_find_block *find, void *user, struct learn_reply *reply);
/* What is known by now, for a launch that waits: asks for no trace. */
void learner_look(struct learner *learner, struct learned_kernel *kernel,
                  const struct launch_key *key, struct learn_reply *reply);
/* The trace of a launch with that key; NULL: it was lost. The set is not taken. */
void learner_told(struct learner *learner, struct learned_kernel *kernel,
                  const struct launch_key *key, struct learned_set *set);
/* It could not be traced, or was not made. */
void learner_refused(struct learner *learner, struct learned_kernel *kernel,
                     const struct launch_key *key);

const char *learn_reason_text(uint8_t reason);

#endif
