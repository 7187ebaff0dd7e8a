/* What the detector's parts share: an access that is looked for in the shadow, and entries of
 * memory that begins and ends. For detect.c and detect_memory.c. */
#ifndef CSAN_DETECTOR_DETECT_STATE_H
#define CSAN_DETECTOR_DETECT_STATE_H

#include "csan/detector/detect.h"

/* Everything one access needs while the shadow looks for conflicts. */
struct probe {
    struct detector *detector;
    const struct allocation *allocation; /* NULL: anonymous memory */
    const struct block *block; /* the declared block that holds the whole access; or NULL */
    uint64_t pointer;
    struct shadow_access access;
    bool is_free;
};

/* The access is `past`, by what its lane knows. */
void probe_begin(struct probe *probe, struct detector *detector, const struct past_access *past);
/* Conflicts with the birth and the end of the memory that it touches. */
void probe_check_life(const struct probe *probe, const struct lmad *lmad);

/* The access that an entry makes, of no kind yet. */
struct past_access detector_op_access(struct detector *detector, const struct entry *entry);
/* Takes the conflicts of the list into the log of races, and empties it. */
void detector_commit(struct detector *detector, struct conflict_list *list);

/* ---- detect_memory.c: memory, and declared blocks of pools, begin and end ---- */

void detector_birth(struct detector *detector, const struct entry *entry);
void detector_free_begin(struct detector *detector, const struct entry *entry);
void detector_free_end(struct detector *detector, const struct entry *entry);
void detector_pool_alloc(struct detector *detector, const struct entry *entry);
void detector_pool_free(struct detector *detector, const struct entry *entry);
/* What was held back may be a birth: nothing is said of bytes that were not written. */
void detector_doubt(struct detector *detector);

#endif
