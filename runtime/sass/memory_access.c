/* Accesses to memory. See memory_access.h, and instruction.c and step.c for the fields that are not
 * said here.
 *
 *   low  24..31  base
 *        32..63  LD, ST and CCTL without a uniform register: offset
 *        40..63  others: offset; of atomics from sm_100 on with a uniform register 40..62, and 63
 *                says that the base is wide
 *        32..39  loads: uniform register
 *   high  0..7   stores, atomics: uniform register; before sm_100 0..5
 *            8   generic and global: the address has 64 bits
 *         9..11  what is accessed
 *        14..15  shared: by 1, 4, 8 or 16 the base is multiplied
 *           27   there is a uniform register
 *
 * With it the base is wide or not as a bit says, and the register is added, or, as another one says
 * from sm_80 on, is a descriptor. Where those two are differs.
 */
#include "runtime/sass/memory_access.h"

#include <stddef.h>

enum { FIRST_DESCRIPTORS = 80, FIRST_FLOAT_TYPES = 90, FIRST_WIDE_UNIFORM = 100 };
enum { WARP = 32 };

/* Where the uniform register is and which bits say what it is. */
enum layout {
    LOADED,         /* low 32; high 26 and 12 */
    STORED,         /* high 0; as those */
    REDUCED,        /* high 0; high 26, and 7 or 17 */
    UPDATED,        /* high 0; high 6 and 7, or low 63 and high 12 */
    UPDATED_FLOATS, /* as those, but for high 26 */
    GATHERED,       /* of multicast: high 0; high 6 and 7, or 17 and 18 */
    SWAPPED,        /* none */
    UNKNOWN
};

/* What the bits for the size say. */
enum sizes {
    LOADED_BYTES,
    INTEGERS,
    NUMBERS, /* before sm_90 floats, too */
    FLOATS,
    ROWS, /* of matrices */
    EIGHT,
    THIRTY_TWO,
    NO_SIZE
};

enum { FAR = 1 /* offsets of 32 bits */, SCALED = 2 };

struct kind {
    uint16_t opcode;
    uint8_t space, action, layout, sizes, more;
};

static const struct kind kinds[] = {
    {OPCODE_LDSM, MEMORY_SHARED, MEMORY_READS, LOADED, ROWS, 0},
    {OPCODE_STSM, MEMORY_SHARED, MEMORY_WRITES, STORED, ROWS, 0},
    {OPCODE_LDG_256, MEMORY_GLOBAL, MEMORY_READS, LOADED, THIRTY_TWO, 0},
    {OPCODE_STG_256, MEMORY_GLOBAL, MEMORY_WRITES, STORED, THIRTY_TWO, 0},
    {OPCODE_LD, MEMORY_GENERIC, MEMORY_READS, LOADED, LOADED_BYTES, FAR},
    {OPCODE_LDG, MEMORY_GLOBAL, MEMORY_READS, LOADED, LOADED_BYTES, 0},
    {OPCODE_LDL, MEMORY_LOCAL, MEMORY_READS, LOADED, LOADED_BYTES, 0},
    {OPCODE_LDS, MEMORY_SHARED, MEMORY_READS, LOADED, LOADED_BYTES, SCALED},
    {OPCODE_ST, MEMORY_GENERIC, MEMORY_WRITES, STORED, LOADED_BYTES, FAR},
    {OPCODE_STG, MEMORY_GLOBAL, MEMORY_WRITES, STORED, LOADED_BYTES, 0},
    {OPCODE_STL, MEMORY_LOCAL, MEMORY_WRITES, STORED, LOADED_BYTES, 0},
    {OPCODE_STS, MEMORY_SHARED, MEMORY_WRITES, STORED, LOADED_BYTES, SCALED},
    {OPCODE_ATOM, MEMORY_GENERIC, MEMORY_UPDATES, UPDATED, NUMBERS, 0},
    {OPCODE_ATOM_CAS, MEMORY_GENERIC, MEMORY_UPDATES, SWAPPED, INTEGERS, 0},
    {OPCODE_ATOMS, MEMORY_SHARED, MEMORY_UPDATES, STORED, INTEGERS, SCALED},
    {OPCODE_ATOMS_CAS, MEMORY_SHARED, MEMORY_UPDATES, SWAPPED, INTEGERS, SCALED},
    {OPCODE_REDG, MEMORY_GLOBAL, MEMORY_UPDATES, REDUCED, NUMBERS, 0},
    {OPCODE_CCTL, MEMORY_GENERIC, MEMORY_CACHES, SWAPPED, NO_SIZE, FAR},
    {OPCODE_ATOM_FLOATS, MEMORY_GENERIC, MEMORY_UPDATES, UPDATED_FLOATS, FLOATS, 0},
    {OPCODE_ATOMG_FLOATS, MEMORY_GLOBAL, MEMORY_UPDATES, UPDATED_FLOATS, FLOATS, 0},
    {OPCODE_LDGMC, MEMORY_GLOBAL, MEMORY_READS, GATHERED, INTEGERS, 0},
    {OPCODE_LDGMC_FLOATS, MEMORY_GLOBAL, MEMORY_READS, GATHERED, FLOATS, 0},
    {OPCODE_REDG_FLOATS, MEMORY_GLOBAL, MEMORY_UPDATES, REDUCED, FLOATS, 0},
    {OPCODE_SYNCS, MEMORY_SHARED, MEMORY_UPDATES, STORED, EIGHT, 0},
    {OPCODE_ATOMG, MEMORY_GLOBAL, MEMORY_UPDATES, UPDATED, NUMBERS, 0},
    {OPCODE_ATOMG_CAS, MEMORY_GLOBAL, MEMORY_UPDATES, SWAPPED, INTEGERS, 0},
    {OPCODE_SYNCS_UNIFORM, MEMORY_SHARED, MEMORY_UPDATES, STORED, EIGHT, 0},
    {OPCODE_STAS, MEMORY_SHARED, MEMORY_WRITES, UNKNOWN, LOADED_BYTES, 0},
    {OPCODE_REDAS, MEMORY_SHARED, MEMORY_UPDATES, UNKNOWN, INTEGERS, 0},
};

static const struct kind *kind_of(struct instruction instruction)
{
    const uint32_t opcode = instruction_opcode(instruction);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (kinds[i].opcode == opcode)
            return &kinds[i];
    return NULL;
}

/* ---- Fields ---- */

static int32_t signed_bits(uint64_t half, uint32_t from, uint32_t count)
{
    const uint32_t bits = instruction_bits(half, from, count), sign = UINT32_C(1) << (count - 1);
    return (int32_t)((bits ^ sign) - sign);
}

static uint8_t uniform_register(uint32_t bits, uint32_t architecture)
{
    const uint32_t zero = architecture < FIRST_WIDE_UNIFORM ? 63 : 255, number = bits & zero;
    return (uint8_t)(number == zero ? MEMORY_NO_REGISTER : number);
}

static const struct memory_predicate always = {.number = MEMORY_NO_PREDICATE};

/* Three bits and one that negates. */
static struct memory_predicate predicate(uint32_t bits)
{
    return (struct memory_predicate){.number = bits & 7, .is_negated = bits >> 3};
}

/* Of those that are accessed only if it holds: which is written as what differs from always. */
static struct memory_predicate part_predicate(struct instruction instruction)
{
    switch (instruction_opcode(instruction)) {
    case OPCODE_LD:
    case OPCODE_LDG:
        return predicate(instruction_bits(instruction.high, 0, 4) ^ MEMORY_NO_PREDICATE);
    case OPCODE_LDG_256:
        return predicate(instruction_bits(instruction.high, 23, 4) ^ MEMORY_NO_PREDICATE);
    default:
        return always;
    }
}

static uint32_t part_bytes(struct instruction instruction, uint32_t sizes, uint32_t architecture)
{
    static const uint8_t integers[] = {4, 4, 8, 8, 16, 0, 0, 0}, /* U32, S32, 64, S64, 128 */
        numbers[] = {4, 4, 8, 4, 4, 8, 8, 0}, /* U32, S32, 64, F32, F16x2, S64, F64 */
        floats[] = {4, 8, 16, 4, 8, 16, 0, 0, 0, 4, 8, 16, 4, 8, 16, 8};
    enum { LOADED_UNIFORMLY = 7 }; /* U.128, before sm_80 */
    const uint32_t size = instruction_bits(instruction.high, 9, 3);
    switch (sizes) {
    case LOADED_BYTES:
        if (size == LOADED_UNIFORMLY)
            return architecture < FIRST_DESCRIPTORS ? 16 : 0;
        return instruction_loaded_bytes(instruction);
    case INTEGERS:
        return integers[size];
    case NUMBERS:
        return architecture < FIRST_FLOAT_TYPES ? numbers[size] : integers[size];
    case FLOATS:
        return floats[instruction_bits(instruction.high, 9, 4)];
    case ROWS:
        return 16;
    case EIGHT:
        return 8;
    case THIRTY_TWO:
        return 32;
    default:
        return 0;
    }
}

/* Rows of matrices: eight of each, or sixteen, have addresses, by the number of matrices. */
static uint32_t part_lanes(struct instruction instruction, uint32_t sizes)
{
    enum { SIXTEEN_ROWS = 4 };
    const uint32_t count = instruction_bits(instruction.high, 8, 2);
    const bool sixteen = instruction_opcode(instruction) == OPCODE_LDSM &&
                         instruction_bits(instruction.high, 14, 3) == SIXTEEN_ROWS;
    if (sizes != ROWS || count > 2)
        return WARP;
    const uint32_t lanes = (sixteen ? 16u : 8u) << count;
    return lanes < WARP ? lanes : WARP;
}

/* ---- Addresses ---- */

/* What a uniform register is to an address. */
struct uniform_use {
    uint8_t number;
    bool is_base_wide, is_descriptor, is_offset_short;
};

static struct uniform_use uniform_use(struct instruction instruction, uint32_t layout,
                                      uint32_t architecture)
{
    const uint64_t low = instruction.low, high = instruction.high;
    const bool is_late = architecture >= FIRST_WIDE_UNIFORM;
    const uint32_t bits =
        layout == LOADED ? instruction_bits(low, 32, 8) : instruction_bits(high, 0, 8);
    struct uniform_use use = {.number = uniform_register(bits, architecture)};
    uint32_t wide = 26, descriptor = 12;
    switch (layout) {
    case REDUCED:
        descriptor = is_late ? 17 : 7;
        break;
    case UPDATED:
    case UPDATED_FLOATS:
        use.is_offset_short = is_late;
        wide = 6;
        descriptor = !is_late ? 7 : layout == UPDATED ? 12 : 26;
        break;
    case GATHERED:
        wide = is_late ? 17 : 6;
        descriptor = is_late ? 18 : 7;
        break;
    default:
        break;
    }
    use.is_base_wide = use.is_offset_short ? low >> 63 : instruction_bits(high, wide, 1);
    use.is_descriptor = architecture >= FIRST_DESCRIPTORS && instruction_bits(high, descriptor, 1);
    return use;
}

static const struct memory_address unknown_address = {.base = MEMORY_NO_REGISTER,
                                                      .uniform = MEMORY_NO_REGISTER,
                                                      .descriptor = MEMORY_NO_REGISTER,
                                                      .scale = 1};

static bool has_uniform(struct instruction instruction)
{
    return instruction.high & INSTRUCTION_UNIFORM;
}

/* In units of 32 bytes; of loads the bits above are others. */
static int32_t offset_of_256(struct instruction instruction)
{
    const bool loads = instruction_opcode(instruction) == OPCODE_LDG_256;
    return signed_bits(instruction.low, 40, loads ? 17 : 19) * 32;
}

static int32_t offset_of(struct instruction instruction, const struct kind *kind, bool is_short)
{
    if (kind->opcode == OPCODE_LDG_256 || kind->opcode == OPCODE_STG_256)
        return offset_of_256(instruction);
    if ((kind->more & FAR) && !has_uniform(instruction))
        return signed_bits(instruction.low, 32, 32);
    return signed_bits(instruction.low, 40, is_short ? 23 : 24);
}

static void uniform_put(struct memory_address *address, const struct uniform_use *use)
{
    address->is_base_wide = address->is_wide && use->is_base_wide;
    if (use->is_descriptor) {
        address->descriptor = use->number;
        return;
    }
    address->uniform = use->number;
    address->is_uniform_wide = address->is_wide;
}

static struct memory_address address_of(struct instruction instruction, const struct kind *kind,
                                        uint32_t architecture)
{
    struct memory_address address = unknown_address;
    const bool has_window = kind->space == MEMORY_SHARED || kind->space == MEMORY_LOCAL;
    struct uniform_use use = uniform_use(instruction, kind->layout, architecture);
    if (kind->layout == UNKNOWN || (kind->layout == SWAPPED && has_uniform(instruction)))
        return address;
    use.is_base_wide |= kind->sizes == THIRTY_TWO;
    use.is_descriptor &= kind->space != MEMORY_SHARED;
    address.is_known = true;
    address.is_wide =
        !has_window && (kind->sizes == THIRTY_TWO || instruction_bits(instruction.high, 8, 1));
    address.base = (uint8_t)instruction_bits(instruction.low, 24, 8);
    address.is_base_wide = address.is_wide;
    if (has_uniform(instruction))
        uniform_put(&address, &use);
    if (kind->more & SCALED && instruction_bits(instruction.high, 14, 2))
        address.scale = (uint8_t)(2 << instruction_bits(instruction.high, 14, 2));
    address.offset = offset_of(instruction, kind, use.is_offset_short && has_uniform(instruction));
    return address;
}

/* ---- Accesses ---- */

static struct memory_part part_of(enum memory_space space, enum memory_action action)
{
    return (struct memory_part){.space = space,
                                .action = action,
                                .lanes = WARP,
                                .predicate = always,
                                .address = unknown_address};
}

static void part_add(struct memory_access *access, struct memory_part part)
{
    access->parts[access->count++] = part;
}

static void add_kind(struct memory_access *access, struct instruction instruction,
                     const struct kind *kind, uint32_t architecture)
{
    struct memory_part part = part_of(kind->space, kind->action);
    part.bytes = part_bytes(instruction, kind->sizes, architecture);
    part.lanes = part_lanes(instruction, kind->sizes);
    part.predicate = part_predicate(instruction);
    part.address = address_of(instruction, kind, architecture);
    if (kind->opcode == OPCODE_SYNCS_UNIFORM) {
        part.address.base = MEMORY_NO_REGISTER;
        part.address.uniform =
            uniform_register(instruction_bits(instruction.low, 24, 8), architecture);
    }
    /* of the whole cache */
    if (kind->opcode == OPCODE_CCTL && !part.address.is_wide)
        part.address = unknown_address;
    part_add(access, part);
}

/* LDGSTS: to low 16..23 and 44..63 from low 24..31 and 32..43; without the predicate of high 23..26
 * nothing is read. */
static void add_copy(struct memory_access *access, struct instruction instruction,
                     uint32_t architecture)
{
    static const uint8_t late_bytes[] = {4, 8, 16, 0};
    const bool is_late = architecture >= FIRST_WIDE_UNIFORM;
    struct memory_part to = part_of(MEMORY_SHARED, MEMORY_WRITES),
                       from = part_of(MEMORY_GLOBAL, MEMORY_READS);
    struct uniform_use use = uniform_use(instruction, STORED, architecture);
    use.is_base_wide = instruction_bits(instruction.high, is_late ? 19 : 6, 1);
    to.bytes = is_late ? late_bytes[instruction_bits(instruction.high, 10, 2)]
                       : part_bytes(instruction, LOADED_BYTES, architecture);
    to.address.is_known = true;
    to.address.base = (uint8_t)instruction_bits(instruction.low, 16, 8);
    to.address.offset = signed_bits(instruction.low, 44, 20);
    from.bytes = to.bytes;
    from.predicate = predicate(instruction_bits(instruction.high, 23, 4));
    from.address.is_known = has_uniform(instruction);
    from.address.is_wide = true;
    from.address.base = (uint8_t)instruction_bits(instruction.low, 24, 8);
    from.address.offset = signed_bits(instruction.low, 32, 12);
    uniform_put(&from.address, &use);
    part_add(access, to);
    part_add(access, from);
}

/* LDC and its like, of any bank. */
static void add_constant(struct memory_access *access, const struct constant *constant,
                         uint32_t architecture)
{
    struct memory_part part = part_of(MEMORY_CONSTANT, MEMORY_READS);
    part.bytes = constant->bytes;
    part.address.is_known = constant->kind != CONSTANT_ANY;
    part.address.bank = (uint8_t)constant->bank;
    part.address.offset = (int32_t)constant->offset;
    if (constant->is_index_uniform)
        part.address.uniform = uniform_register(constant->index, architecture);
    else if (constant->kind == CONSTANT_INDEXED)
        part.address.base = (uint8_t)constant->index;
    part_add(access, part);
}

static void add_bulk(struct memory_access *access, struct instruction instruction)
{
    const enum memory_space to = instruction_bits(instruction.high, 9, 1) ? MEMORY_SHARED
                                                                          : MEMORY_GLOBAL,
                            from = instruction_bits(instruction.high, 10, 1) ? MEMORY_SHARED
                                                                             : MEMORY_GLOBAL;
    switch (instruction_opcode(instruction)) {
    case OPCODE_UTMALDG:
        part_add(access, part_of(MEMORY_SHARED, MEMORY_WRITES));
        part_add(access, part_of(MEMORY_GLOBAL, MEMORY_READS));
        break;
    case OPCODE_UTMASTG:
        part_add(access, part_of(MEMORY_GLOBAL, MEMORY_WRITES));
        part_add(access, part_of(MEMORY_SHARED, MEMORY_READS));
        break;
    case OPCODE_UTMAREDG:
        part_add(access, part_of(MEMORY_GLOBAL, MEMORY_UPDATES));
        part_add(access, part_of(MEMORY_SHARED, MEMORY_READS));
        break;
    case OPCODE_UBLKCP:
        part_add(access, part_of(to, MEMORY_WRITES));
        part_add(access, part_of(from, MEMORY_READS));
        break;
    case OPCODE_UBLKRED:
        part_add(access, part_of(to, MEMORY_UPDATES));
        part_add(access, part_of(MEMORY_SHARED, MEMORY_READS));
        break;
    case OPCODE_UTMAPF:
    case OPCODE_UBLKPF:
        part_add(access, part_of(MEMORY_GLOBAL, MEMORY_CACHES));
        break;
    default:
        break;
    }
    access->is_bulk = access->count;
}

static enum memory_action surface_action(uint32_t opcode)
{
    switch (opcode) {
    case OPCODE_SULD_P:
    case OPCODE_SULD_P_REGISTER:
    case OPCODE_SULD_D:
    case OPCODE_SULD_D_REGISTER:
        return MEMORY_READS;
    case OPCODE_SUST_P:
    case OPCODE_SUST_P_REGISTER:
    case OPCODE_SUST_D:
    case OPCODE_SUST_D_REGISTER:
        return MEMORY_WRITES;
    default: /* SUATOM, SURED */
        return MEMORY_UPDATES;
    }
}

static void add_image(struct memory_access *access, struct instruction instruction)
{
    if (instruction_is_surface(instruction))
        part_add(access, part_of(MEMORY_SURFACE, surface_action(instruction_opcode(instruction))));
    else
        part_add(access, part_of(MEMORY_TEXTURE, MEMORY_READS));
}

struct memory_access memory_access_of(struct instruction instruction, uint32_t architecture)
{
    const struct kind *kind = kind_of(instruction);
    const struct constant constant = instruction_constant_load(instruction);
    struct memory_access access = {.guard = predicate(instruction_bits(instruction.low, 12, 4))};
    access.guard.is_uniform = instruction_is_guarded_uniformly(instruction);
    if (kind)
        add_kind(&access, instruction, kind, architecture);
    else if (instruction_opcode(instruction) == OPCODE_LDGSTS)
        add_copy(&access, instruction, architecture);
    else if (constant.kind != CONSTANT_NONE)
        add_constant(&access, &constant, architecture);
    else
        add_bulk(&access, instruction);
    if (!access.count && instruction_is_unseen(instruction))
        add_image(&access, instruction);
    return access;
}

/* ---- Lanes ---- */

static bool register_read(const uint32_t *registers, uint32_t count, uint32_t number, bool is_wide,
                          uint64_t *value)
{
    *value = 0;
    if (number == MEMORY_NO_REGISTER)
        return true;
    if (!registers || number + is_wide >= count)
        return false;
    *value = registers[number];
    if (is_wide)
        *value |= (uint64_t)registers[number + 1] << 32;
    return true;
}

bool memory_address_find(const struct memory_address *address, const struct memory_lane *lane,
                         uint64_t *found)
{
    uint64_t base, uniform;
    if (!address->is_known ||
        !register_read(lane->registers, lane->register_count, address->base, address->is_base_wide,
                       &base) ||
        !register_read(lane->uniform, lane->uniform_count, address->uniform,
                       address->is_uniform_wide, &uniform))
        return false;
    *found = base * address->scale + uniform + (uint64_t)(int64_t)address->offset;
    if (!address->is_wide)
        *found &= UINT32_MAX;
    return true;
}

static bool predicate_holds(struct memory_predicate of, const struct memory_lane *lane, bool *holds)
{
    const uint8_t known = of.is_uniform ? lane->uniform_predicates_known : lane->predicates_known,
                  held = of.is_uniform ? lane->uniform_predicates : lane->predicates;
    const bool is_always = of.number == MEMORY_NO_PREDICATE;
    *holds = (is_always || (held >> of.number & 1)) != of.is_negated;
    return is_always || (known >> of.number & 1);
}

bool memory_part_is_accessed(const struct memory_access *access, const struct memory_part *part,
                             const struct memory_lane *lane, bool *is_accessed)
{
    bool guard, own;
    const bool guard_known = predicate_holds(access->guard, lane, &guard),
               own_known = predicate_holds(part->predicate, lane, &own);
    *is_accessed = guard && own && lane->number < part->lanes;
    return (guard_known && own_known) || (guard_known && !guard) || (own_known && !own) ||
           lane->number >= part->lanes;
}
