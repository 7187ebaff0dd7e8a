/* What the learner holds: images of kernels of shapes of entries. For learner.c, shape.c and
 * learned_file.c, under the learner's lock. */
#ifndef RUNTIME_LEARN_LEARNER_STATE_H
#define RUNTIME_LEARN_LEARNER_STATE_H

#include "runtime/learn/learner.h"
#include "runtime/learn/mix.h"

#include <pthread.h>

#define HASH_NONFATAL_OOM                   1
#define HASH_FUNCTION(key, key_bytes, hash) ((hash) = (unsigned)mix_bytes(0, (key), (key_bytes)))
#include <uthash.h>

enum {
    SINGLES = 128,      /* entries of one launch that make a shape scattered */
    ENTRIES_MAX = 1024, /* of a shape */
    SHAPES_MAX = 4096,  /* of a kernel: beyond, the oldest goes */
    LOSSES_MAX = 8,     /* traces that may be lost before a key is given up */
    MOVES_MAX = 8       /* times that the blocks of its set may be gone */
};

enum entry_state { ENTRY_LEARNING, ENTRY_KNOWN, ENTRY_DEPENDENT, ENTRY_UNTOLD, ENTRY_STATES };

/* What launches of one key taught; also, for a scattered shape, of all keys. */
struct entry {
    uint8_t state;  /* enum entry_state */
    uint8_t reason; /* UNTOLD: enum learn_reason */
    bool again;     /* it is to be traced again: its turn came, or it did not fit */
    uint32_t seen;  /* traces that came */
    uint32_t asked; /* traces under way */
    uint32_t lost;  /* in a row */
    uint32_t moved; /* times that the blocks of its set were gone */
    uint64_t launches;
    struct learned_set *set; /* NULL: none yet */
    uint8_t *scalars;        /* bytes that left the key are 0; NULL: of a scattered shape */
    UT_hash_handle hh;
};

struct shape {
    uint8_t *bytes;
    uint32_t shape_bytes, scalar_bytes, anchor_count;
    uint8_t *kept, *pinned; /* a byte for each of the scalars: in the key; for good */
    size_t left;            /* how many are not kept */
    struct entry *entries;
    size_t singles; /* entries of one launch */
    bool scattered;
    struct entry all; /* scattered: of all keys */
    UT_hash_handle hh;
};

struct learned_kernel {
    struct image_state *image;
    char *name;
    struct shape *shapes;
    UT_hash_handle hh;
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
};

/* NULL when memory is short. */
struct learned_kernel *image_kernel(struct image_state *image, const char *name);
void image_clear(struct image_state *image);

struct shape *kernel_shape(struct learned_kernel *kernel, const uint8_t *bytes,
                           uint32_t shape_bytes, uint32_t scalar_bytes, uint32_t anchor_count);
/* The entry of those scalars, made if it is not there; NULL when memory is short. */
struct entry *shape_entry(struct shape *shape, const uint8_t *scalars);
/* The same, NULL when it is not there. */
struct entry *shape_find(struct shape *shape, const uint8_t *scalars);
/* A set came for an entry of the shape, which may be gone afterwards. */
void shape_learn(struct shape *shape, struct entry *entry, const uint8_t *scalars,
                 struct learned_set *set, const struct learner_options *options);
/* Everything that one knows goes into the other: used again by launches of either. */
void entry_merge(struct entry *entry, const struct entry *other);
/* One bound for all its launches from now on. */
void shape_scatter(struct shape *shape);
void shape_clear(struct shape *shape);

#endif
