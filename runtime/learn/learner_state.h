/* What the learner holds: images of kernels of signatures of entries. For learner.c,
 * launch_signature.c and learned_file.c, under the learner's lock. */
#ifndef RUNTIME_LEARN_LEARNER_STATE_H
#define RUNTIME_LEARN_LEARNER_STATE_H

#include "csan/base/hash.h"
#include "runtime/learn/agreement.h"
#include "runtime/learn/directions.h"
#include "runtime/learn/learner.h"
#include "runtime/learn/parameter_uses.h"

#include <pthread.h>

#define HASH_NONFATAL_OOM 1
#define HASH_FUNCTION(key, key_bytes, hash)                                                        \
    ((hash) = (unsigned)hash_mix_bytes(0, (key), (key_bytes)))
#include <uthash.h>

enum {
    SINGLES = 128,        /* entries of one launch that make a signature scattered */
    ENTRIES_MAX = 1024,   /* of a signature; also access classes */
    VARIANTS_MAX = 16,    /* of an entry: beyond, it depends on data */
    SAMPLES = AGREEMENTS, /* of a signature: the newest traces */
    SHAPES_MAX = 4096,    /* of a kernel: beyond, the oldest goes */
    LOSSES_MAX = 8,       /* traces that may be lost before a key is given up */
    MOVES_MAX = 8         /* times that the blocks of its set may be gone */
};

/* What traces taught that predict each other, of whatever keys. */
struct access_class {
    struct learned_set *set;
    uint64_t launches; /* that it answered, or whose traces made it */
    bool again;        /* the next is to be traced again: its turn came */
    uint32_t number;   /* in files: where it is listed; of samples: equal where they agree */
    struct access_class *into; /* NULL, or that it was absorbed by: all that knew it know that */
    struct access_class *next;
};

/* A access class as launches of one key confirmed it. */
struct variant {
    struct access_class *class;
    struct learned_set
        *narrow;   /* NULL: it is valid wherever the access class is; else only where this set is,
                      because this key's own traces do not distinguish it from others */
    uint32_t seen; /* traces */
    uint64_t launches;
};

enum entry_state { ENTRY_LEARNING, ENTRY_DEPENDENT, ENTRY_UNKNOWN, ENTRY_STATES };

/* What launches of one key taught. */
struct entry {
    uint8_t state;                /* enum entry_state; LEARNING: what is known is in the variants */
    uint8_t reason;               /* DEPENDENT, UNKNOWN: enum learn_reason */
    bool again;                   /* it is to be traced again: its turn came, or it did not fit */
    bool launched;                /* by this process */
    uint32_t seen;                /* traces that came */
    uint32_t asked;               /* traces under way */
    uint32_t lost;                /* in a row */
    uint32_t moved;               /* times that the blocks of its set were gone */
    uint64_t launches, uncounted; /* of which no access class knows yet */
    struct learned_set *bound;    /* DEPENDENT */
    struct variant *variants;
    uint32_t variant_count, variant_room;
    uint32_t *scalars; /* those in the key, by signature->order */
    UT_hash_handle hh;
};

/* A launch that was traced; launches alike are one. */
struct sample {
    uint32_t *scalars;
    struct learned_set *set;
    struct access_class *class;
    uint32_t count;
};

struct launch_signature {
    void *bytes;
    uint32_t signature_bytes, scalar_count, anchor_count;
    uint8_t *kept, *pinned; /* a byte for each of the scalars: in the key; for good */
    uint32_t *order;        /* which are kept */
    uint32_t order_count;
    uint32_t first_count; /* of the order: the first scalars, all of them */
    bool aligned;         /* the anchors' lowest bytes may be in the key */
    bool scattered;
    struct entry *entries, *latest;          /* latest: that was found last */
    size_t singles;                          /* entries of one launch */
    struct access_class *classes, *absorbed; /* absorbed: somebody may hold them still */
    size_t access_class_count;
    struct sample samples[SAMPLES];
    size_t sample_count, sample_next;
    struct agreements agreements; /* of samples' access classes, by the first sample */
    UT_hash_handle hh;
};

struct learned_kernel {
    struct image_state *image;
    char *name;
    struct launch_signature *signatures, *latest; /* latest: that was found last */
    UT_hash_handle hh;
    struct parameter_uses uses; /* by which launches' keys are made; behind what launches look at */
    uint64_t taught,
        directed; /* times that traces taught it something; when directions were found */
    struct directions directions;
};

struct image_state {
    struct learn_image id;
    struct learned_kernel *kernels;
    bool changed; /* since it was read or written */
    UT_hash_handle hh;
};

struct learner {
    struct learner_options options;
    char *cache;
    pthread_mutex_t mutex;
    struct image_state *images;
    bool unconfirmed; /* what is known is not to be confirmed now; atomic */
};

/* NULL when memory is short. */
struct learned_kernel *image_kernel(struct image_state *image, const char *name);
void image_clear(struct image_state *image);

/* NULL: there is none. */
struct launch_signature *kernel_find_signature(struct learned_kernel *kernel,
                                               const struct launch_key *key);
/* The same, made if it is not there; the oldest goes where they are too many. NULL when memory is
 * short. */
struct launch_signature *kernel_signature(struct learned_kernel *kernel, const void *bytes,
                                          uint32_t signature_bytes, uint32_t scalar_count,
                                          uint32_t anchor_count);
/* The entry of those scalars, made if it is not there; NULL when memory is short. */
struct entry *launch_signature_entry(struct launch_signature *signature, const uint32_t *scalars);
/* The same, NULL when it is not there. */
struct entry *launch_signature_find(struct launch_signature *signature, const uint32_t *scalars);
/* A set came for an entry of the signature, which may be gone afterwards. */
void launch_signature_learn(struct launch_signature *signature, struct entry *entry,
                            const uint32_t *scalars, const struct learn_launch *launch,
                            struct learned_set *set, const struct learner_options *options);
/* No scalars in the key from now on. */
void launch_signature_scatter(struct launch_signature *signature);
/* After `kept` changed by hand: what is in the key. False: memory is short. */
bool launch_signature_order(struct launch_signature *signature);
/* How many parameter words left the key. */
size_t launch_signature_left(const struct launch_signature *signature);
void launch_signature_clear(struct launch_signature *signature);

/* The access class that has such a set, made if need be; NULL when memory is short. */
struct access_class *launch_signature_class(struct launch_signature *signature,
                                            struct learned_set *set);
/* The one that it was absorbed by, if it was. */
struct access_class *access_class_now(struct access_class *class);
/* Frees those that were absorbed: nobody holds one any more. */
void access_classes_bury(struct launch_signature *signature);
/* The most special variant whose set holds in the launch, or the only one, if it stands; NULL:
 * there is none. */
struct variant *entry_variant(const struct entry *entry, const struct learn_launch *launch);
/* Whether the launch of that access class and set may have done what all others of the entry did.
 */
bool entry_agrees(const struct entry *entry, const struct access_class *class,
                  const struct learned_set *set);
static inline struct learned_set *variant_set(const struct variant *variant)
{
    return variant->narrow ? variant->narrow : variant->class->set;
}
/* The variant of that access class, made if need be; NULL: there is no room. */
struct variant *entry_add(struct entry *entry, struct access_class *class,
                          struct learned_set *narrow);
/* The variant of that access class with all that the other knows; NULL: there is no room. */
struct variant *entry_take(struct entry *entry, struct access_class *class,
                           const struct variant *other);
void entry_remove(struct entry *entry, struct variant *variant);
/* Everything that one knows goes into the other, of the same signature. */
void entry_merge(struct entry *entry, const struct entry *other);
/* What its launches touch depends on data: also that set is within its bound. */
void entry_depends(struct entry *entry, struct learned_set *set, uint8_t reason);
void entry_set_unknown(struct entry *entry, enum learn_reason reason);
/* Whether a process that only takes what is kept knows, or bounds, all its launches where its sets
 * stand. `launches`: as of struct learner_options. */
bool entry_is_complete(const struct entry *entry, uint32_t launches);
/* Of an entry that is in no table. */
void entry_clear(struct entry *entry);

#endif
