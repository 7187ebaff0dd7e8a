/* The lattice of a data-flow analysis (map_uses.h): sets of pairs of values that two address
 * registers may hold. A value is a constant, a half of the generic address of constant bank 0 (the
 * lower half with an offset), or unknown. A constant or a lower half may have a multiple of an
 * index added; its factor stays known. Each set is stored once and has a number. Sets are small. A
 * set that would become too large loses its constants or everything, for good, so it grows only a
 * few times.
 *
 * A table owns its sets. Not thread-safe. */
#ifndef RUNTIME_SASS_ADDRESS_LATTICE_H
#define RUNTIME_SASS_ADDRESS_LATTICE_H

#include <stdbool.h>
#include <stdint.h>

enum address_kind {
    ADDRESS_ANY,
    ADDRESS_CONSTANT,
    ADDRESS_LOW, /* the bank's address and `value` */
    ADDRESS_HIGH,
    ADDRESS_OVERFLOW /* upper half of an index's multiple: ADDRESS_HIGH and this is ADDRESS_HIGH */
};

/* An element of an array: `value`, and `every` times an index from 0 up. 0: it is no array's. */
struct address_value {
    uint32_t kind, value, every;
};

struct address_pair {
    struct address_value halves[2]; /* the lower first */
};

enum { PAIRS_MOST = 8 };
enum address_lattice_lost {
    LOST_NOTHING,
    LOST_CONSTANTS /* each is as good as not known */,
    LOST_ALL
};

struct pair_set {
    uint32_t count, lost;
    struct address_pair pairs[PAIRS_MOST]; /* in order */
};

/* Of one half of the pairs. */
struct address_set {
    uint32_t count;
    struct address_value values[PAIRS_MOST];
};

struct address_lattice;
typedef uint16_t address_lattice_number;
enum { ADDRESS_LATTICE_ANY }; /* the set of one pair, both halves unknown */

/* NULL: memory is short. */
struct address_lattice *address_lattice_create(void);
void address_lattice_free(struct address_lattice *values);

/* Good as long as the table. */
const struct pair_set *address_lattice_get(const struct address_lattice *values,
                                           address_lattice_number number);
/* The pairs of both. */
address_lattice_number address_lattice_join(struct address_lattice *values,
                                            address_lattice_number a, address_lattice_number b);
/* Each pair with each of the words in that half. */
address_lattice_number address_lattice_put(struct address_lattice *values,
                                           address_lattice_number number, uint32_t half,
                                           const struct address_set *put);

struct address_set address_set_of(struct address_value word);
/* That half of the pairs. */
struct address_set address_set_half(const struct address_lattice *values,
                                    address_lattice_number number, uint32_t half);
void address_set_join(struct address_set *set, const struct address_set *other);
/* The sums of one of each, and of a carry, or not, if it carries. */
struct address_set address_set_add(const struct address_set *a, const struct address_set *b,
                                   bool carries);

#endif
