/* Which bytes an access touches, from its address as a form and its conditions: all values of a
 * form over the integer points of a polyhedron, as strided ranges.
 *
 * This is no general solver. The systems of kernels are boxes cut by a few constraints, most of
 * which run along a dimension of the address (i < n with an address in i); those are cut exactly.
 * The remaining constraints are split into cases while these are few, and else dropped: the ranges
 * are then too wide, and marked as such. */
#ifndef RUNTIME_ACCESS_FOOTPRINT_H
#define RUNTIME_ACCESS_FOOTPRINT_H

#include "runtime/access/access_set.h"
#include "runtime/access/affine.h"

struct footprint {
    int64_t offset;
    uint64_t bytes; /* or ACCESS_TO_END, ACCESS_WHOLE */
    uint32_t dim_count;
    struct access_dim dims[ACCESS_MAX_DIMS]; /* strides positive, ascending, none that continues
                                                what is inside it */
    bool exact;
};

/* The limit of footprints of one launch, with those that they are split into; each takes some 2 us.
 * One with more work (coefficients of all its rounds) counts as several. */
enum { FOOTPRINT_BUDGET = 1000, FOOTPRINT_WORK = 1500 };

typedef void footprint_emit(void *user, const struct footprint *footprint);

/* Calls `emit` for each range of `bytes` bytes at the form's values where the conjunction holds
 * (NULL: always). Together the ranges hold all of these bytes, and exact ones nothing else. It
 * takes itself, and what it is split into, from *budget. When that is used up, ranges are wider. */
void footprint_find(const struct affine_form *form, const struct conjunction *when,
                    const struct index_table *indices, uint64_t bytes, uint32_t *budget,
                    footprint_emit *emit, void *user);

/* Brings the dimensions into the order and form described above; true if any were merged. */
bool footprint_normalize(struct footprint *footprint);

#endif
