/* Sets of pairs of words. See address_lattice.h. */
#include "runtime/sass/address_lattice.h"
#include "csan/base/hash.h"

#include <stdlib.h>
#include <string.h>

enum { SETS_MOST = 8192, SETS_HASHED = 16384 };

struct address_lattice {
    uint32_t count;
    struct pair_set sets[SETS_MOST];
    address_lattice_number hashed[SETS_HASHED]; /* plus one */
};

static const struct address_value any;

/* ---- Words ---- */

static bool word_is(struct address_value a, struct address_value b)
{
    return a.kind == b.kind && a.value == b.value && a.every == b.every;
}

/* Whether it may be all that the other may be. */
static bool word_covers(struct address_value a, struct address_value b)
{
    const uint32_t ahead = b.value - a.value;
    if (word_is(a, b))
        return true;
    return a.kind == b.kind && a.every && b.every % a.every == 0 && ahead <= INT32_MAX &&
           ahead % a.every == 0;
}

static uint32_t common_divisor(uint32_t a, uint32_t b)
{
    while (b) {
        const uint32_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

static bool is_upper(struct address_value word)
{
    return word.kind == ADDRESS_HIGH || word.kind == ADDRESS_OVERFLOW;
}

/* The bank's address and an offset reach no farther than its lower half. So the upper half stays
 * the same when the offset's upper half, and a carry, are added. */
static struct address_value word_add(struct address_value a, struct address_value b, bool carries)
{
    const struct address_value base = a.kind == ADDRESS_CONSTANT ? b : a,
                               added = a.kind == ADDRESS_CONSTANT ? a : b;
    if (is_upper(a) && is_upper(b) && (a.kind == ADDRESS_OVERFLOW || b.kind == ADDRESS_OVERFLOW))
        return a.kind == ADDRESS_OVERFLOW ? b : a;
    if (added.kind != ADDRESS_CONSTANT)
        return any;
    if (is_upper(base))
        return !added.every && (added.value == 0 || (added.value == UINT32_MAX && carries)) ? base
                                                                                            : any;
    if (base.kind == ADDRESS_ANY || carries)
        return any;
    return (struct address_value){base.kind, base.value + added.value,
                                  common_divisor(base.every, added.every)};
}

/* ---- Sets ---- */

static bool pair_is_before(const struct address_pair *a, const struct address_pair *b)
{
    return memcmp(a, b, sizeof *a) < 0;
}

static bool pair_covers(const struct address_pair *a, const struct address_pair *b)
{
    return word_covers(a->halves[0], b->halves[0]) && word_covers(a->halves[1], b->halves[1]);
}

/* False: it is full. */
static bool set_put(struct pair_set *set, struct address_pair pair)
{
    uint32_t at = 0;
    for (int k = 0; k < 2; k++)
        if (set->lost == LOST_CONSTANTS && pair.halves[k].kind == ADDRESS_CONSTANT)
            pair.halves[k] = any;
    for (uint32_t i = 0; i < set->count; i++)
        if (pair_covers(&set->pairs[i], &pair))
            return true;
    while (at < set->count && pair_is_before(&set->pairs[at], &pair))
        at++;
    if (set->count == PAIRS_MOST)
        return false;
    memmove(set->pairs + at + 1, set->pairs + at, (set->count - at) * sizeof *set->pairs);
    set->pairs[at] = pair;
    set->count++;
    return true;
}

static void set_lose(struct pair_set *set, enum address_lattice_lost lost)
{
    struct pair_set less = {.lost = lost};
    if (lost == LOST_ALL)
        less = (struct pair_set){1, LOST_ALL, {{{any, any}}}};
    for (uint32_t i = 0; lost == LOST_CONSTANTS && i < set->count; i++)
        set_put(&less, set->pairs[i]);
    *set = less;
}

static void set_add(struct pair_set *set, struct address_pair pair)
{
    if (set->lost == LOST_ALL || set_put(set, pair))
        return;
    if (set->lost == LOST_NOTHING)
        set_lose(set, LOST_CONSTANTS);
    if (!set_put(set, pair))
        set_lose(set, LOST_ALL);
}

static void set_add_all(struct pair_set *set, const struct pair_set *other)
{
    for (uint32_t i = 0; i < other->count; i++)
        set_add(set, other->pairs[i]);
}

static bool set_is(const struct pair_set *a, const struct pair_set *b)
{
    return a->count == b->count && a->lost == b->lost &&
           memcmp(a->pairs, b->pairs, a->count * sizeof *a->pairs) == 0;
}

static address_lattice_number set_keep(struct address_lattice *values, const struct pair_set *set)
{
    uint64_t hash = set->count + set->lost * 64;
    for (uint32_t i = 0; i < set->count; i++)
        for (int k = 0; k < 2; k++)
            hash = hash_mix(hash, (uint64_t)set->pairs[i].halves[k].kind << 32 ^
                                      (uint64_t)set->pairs[i].halves[k].every << 35 ^
                                      set->pairs[i].halves[k].value);
    uint32_t at = (uint32_t)(hash >> 40) % SETS_HASHED;
    for (; values->hashed[at]; at = (at + 1) % SETS_HASHED)
        if (set_is(&values->sets[values->hashed[at] - 1], set))
            return (address_lattice_number)(values->hashed[at] - 1);
    if (values->count == SETS_MOST)
        return ADDRESS_LATTICE_ANY;
    values->sets[values->count] = *set;
    values->hashed[at] = (address_lattice_number)++values->count;
    return (address_lattice_number)(values->count - 1);
}

struct address_lattice *address_lattice_create(void)
{
    const struct pair_set unknown = {1, LOST_ALL, {{{any, any}}}};
    struct address_lattice *values = calloc(1, sizeof *values);
    if (values)
        set_keep(values, &unknown); /* ADDRESS_LATTICE_ANY */
    return values;
}

void address_lattice_free(struct address_lattice *values)
{
    free(values);
}

const struct pair_set *address_lattice_get(const struct address_lattice *values,
                                           address_lattice_number number)
{
    return &values->sets[number];
}

address_lattice_number address_lattice_join(struct address_lattice *values,
                                            address_lattice_number a, address_lattice_number b)
{
    if (a == b || a == ADDRESS_LATTICE_ANY)
        return a;
    struct pair_set set = values->sets[a];
    set_add_all(&set, &values->sets[b]);
    return set_keep(values, &set);
}

address_lattice_number address_lattice_put(struct address_lattice *values,
                                           address_lattice_number number, uint32_t half,
                                           const struct address_set *put)
{
    const struct pair_set *before = &values->sets[number];
    struct pair_set after = {0};
    for (uint32_t i = 0; i < before->count; i++)
        for (uint32_t k = 0; k < put->count; k++) {
            struct address_pair pair = before->pairs[i];
            pair.halves[half] = put->values[k];
            set_add(&after, pair);
        }
    return set_keep(values, &after);
}

/* ---- One half ---- */

static void address_set_put(struct address_set *set, struct address_value word)
{
    for (uint32_t i = 0; i < set->count; i++)
        if (word_is(set->values[i], word))
            return;
    if (set->count == PAIRS_MOST)
        *set = address_set_of(any);
    else
        set->values[set->count++] = word;
}

struct address_set address_set_of(struct address_value word)
{
    return (struct address_set){1, {word}};
}

struct address_set address_set_half(const struct address_lattice *values,
                                    address_lattice_number number, uint32_t half)
{
    const struct pair_set *set = &values->sets[number];
    struct address_set one = {0};
    for (uint32_t i = 0; i < set->count; i++)
        address_set_put(&one, set->pairs[i].halves[half]);
    return one;
}

void address_set_join(struct address_set *set, const struct address_set *other)
{
    for (uint32_t i = 0; i < other->count; i++)
        address_set_put(set, other->values[i]);
}

struct address_set address_set_add(const struct address_set *a, const struct address_set *b,
                                   bool carries)
{
    struct address_set sum = {0};
    for (uint32_t i = 0; i < a->count; i++)
        for (uint32_t k = 0; k < b->count; k++)
            address_set_put(&sum, word_add(a->values[i], b->values[k], carries));
    return sum;
}
