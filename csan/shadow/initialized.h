/* Option init_check: which bytes of live memory no op has written since they were allocated, and
 * which ops surely read such bytes.
 *
 * A false report is worse than a miss, so bytes count as written as soon as anything may have
 * written them. The rules:
 *
 * - Memory that cuMemAlloc and its kind made on a device or a stream is checked. Managed memory
 *   and memory of the host are not, since the host writes there unseen. Nor are pools whose blocks
 *   are handed out.
 * - An exact write marks its bytes as written, with the gaps between them. A bounded write marks
 *   the whole allocation.
 * - An op whose accesses are only partly known marks each allocation that it touches. Such
 *   accesses come from learning, an operator, an annotation or a pointer's direction, or are of a
 *   graph's node. An op of unknown accesses marks everything.
 * - The caller marks what it has doubts about.
 *
 * Exact reads are checked, of kernels whose accesses are all known. What the op itself writes
 * counts as written before it reads. */
#ifndef CSAN_SHADOW_INITIALIZED_H
#define CSAN_SHADOW_INITIALIZED_H

#include <csan/csan.h>
#include "csan/base/range_map.h"

#include <stdbool.h>
#include <stddef.h>

struct lmad;
struct memory;

struct initialized {
    bool wanted;
    struct range_map unwritten; /* of struct range */
};

void initialized_init(struct initialized *initialized);
void initialized_clear(struct initialized *initialized);

/* Memory is allocated there, and nobody has written its bytes; or it is freed; or bytes of it are
 * written. */
void initialized_born(struct initialized *initialized, struct range range);
void initialized_written(struct initialized *initialized, struct range range);
/* Anything may have been written. */
void initialized_doubt(struct initialized *initialized);

struct initialized_op {
    const struct csan_access *accesses;
    size_t count;
    enum csan_level level;
    bool launched; /* of a graph's node */
    bool judged;   /* it is a stream's, and comes in its turn */
};

/* Bytes that one access of the op reads and should not. */
struct initialized_fault {
    struct range bytes;
    const struct csan_access *access;
};
enum { INITIALIZED_FAULTS = 4 }; /* of one op; more are left out */

/* Applies an op: marks what it writes as written. Returns the faults, each once: these bytes then
 * count as written. */
size_t initialized_op(struct initialized *initialized, struct memory *memory,
                      const struct initialized_op *op,
                      struct initialized_fault faults[INITIALIZED_FAULTS]);

/* Finds the first run of unwritten bytes that the access reads. False: there is none. A kernel may
 * load a whole vector (PTX ISA, "Vectors": 16 bytes) of which only the begin was written. */
bool initialized_find(const struct initialized *initialized, const struct lmad *lmad,
                      struct range *found);

#endif
