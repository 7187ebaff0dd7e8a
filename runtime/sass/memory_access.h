/* Which memory an instruction of machine code accesses: the space, the kind of access, the bytes
 * per lane, and the registers that form the address. If a lane's registers are known (from a core
 * dump), also the address itself.
 *
 * For sm_75 to sm_121, as nvdisasm prints them (instruction.h); make compare-machine-code compares.
 * sm_70, which has no uniform registers, is read as sm_75, and what is newer as sm_121. Tensor
 * memory and reads through matrix descriptors are not decoded: such an instruction accesses nothing
 * here, like an instruction that is not known. Thread-safe. */
#ifndef RUNTIME_SASS_MEMORY_ACCESS_H
#define RUNTIME_SASS_MEMORY_ACCESS_H

#include "runtime/sass/instruction.h"

enum memory_space {
    MEMORY_GENERIC,
    MEMORY_GLOBAL,
    MEMORY_SHARED,
    MEMORY_LOCAL,
    MEMORY_CONSTANT,
    MEMORY_TEXTURE,
    MEMORY_SURFACE
};

enum memory_action {
    MEMORY_READS,
    MEMORY_WRITES,
    MEMORY_UPDATES, /* atomics and reductions */
    MEMORY_CACHES   /* prefetches, and what else is done to caches alone */
};

/* Numbers of registers, of threads and uniform, that are always 0 and of predicates that always
 * hold, whatever their number is in the instruction. */
enum { MEMORY_NO_REGISTER = 255, MEMORY_NO_PREDICATE = 7 };

struct memory_predicate {
    uint8_t number;
    bool is_negated;
    bool is_uniform;
};

/* The base times the scale, the uniform register and the offset, added. Wide registers are that
 * one and the next. */
struct memory_address {
    bool is_known;
    bool is_wide; /* modulo 2^64; else 2^32 */
    bool is_base_wide, is_uniform_wide;
    uint8_t base, uniform;
    uint8_t scale;
    uint8_t descriptor; /* desc[UR]: names a uniform register that is not part of the address */
    uint8_t bank;       /* of constants */
    int32_t offset;
};

struct memory_part {
    enum memory_space space;
    enum memory_action action;
    uint32_t bytes;                    /* of a lane; 0: not known */
    uint32_t lanes;                    /* how many of the warp's first ones give addresses */
    struct memory_predicate predicate; /* beside the guard: it accesses nothing unless that holds */
    struct memory_address address;
};

struct memory_access {
    uint32_t count; /* 0: it accesses no memory */
    bool is_bulk;   /* one copy, of unknown length, by any thread */
    struct memory_predicate guard;
    struct memory_part parts[2]; /* of copies: what is written is the first */
};

/* Of code for that architecture (90: sm_90). */
struct memory_access memory_access_of(struct instruction instruction, uint32_t architecture);

/* What is known of a lane. */
struct memory_lane {
    uint32_t number; /* in its warp */
    const uint32_t *registers, *uniform;
    uint32_t register_count, uniform_count; /* that are known, from the first on */
    uint8_t predicates, predicates_known;   /* a bit for each */
    uint8_t uniform_predicates, uniform_predicates_known;
};

/* For constants, the offset in their bank. False: the address, or a register of it, is not known.
 */
bool memory_address_find(const struct memory_address *address, const struct memory_lane *lane,
                         uint64_t *found);
/* Whether the lane, if it is active, accesses that part. False: a predicate is not known. */
bool memory_part_is_accessed(const struct memory_access *access, const struct memory_part *part,
                             const struct memory_lane *lane, bool *is_accessed);

#endif
