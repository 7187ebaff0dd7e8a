/* See aarch64_instruction.h. */
#include "runtime/hook/host/aarch64_instruction.h"

/* What is accessed: `bytes` from the address in register `base`, plus `offset`. */
struct decoded {
    enum aarch64_direction direction;
    uint32_t bytes; /* 0: what DC ZVA writes */
    unsigned base;  /* a register, the stack pointer for 31 */
    int64_t offset; /* bytes */
    uint32_t index; /* an extended register's field (option, S and Rm), where `indexed` */
    bool indexed;
    bool exclusive;  /* of a pair: the load, or the store */
    bool literal;    /* `offset` is from the instruction itself */
    bool element;    /* one of a vector's under a predicate */
    bool signed_key; /* the base carries an authentication code */
};

static uint32_t field(uint32_t code, unsigned from, unsigned bits)
{
    return code >> from & ((1u << bits) - 1);
}

static bool bit(uint32_t code, unsigned at)
{
    return code >> at & 1;
}

static int64_t signed_field(uint32_t code, unsigned from, unsigned bits)
{
    const int64_t value = (int64_t)field(code, from, bits);
    return value & INT64_C(1) << (bits - 1) ? value - (INT64_C(1) << bits) : value;
}

static bool is(uint32_t code, uint32_t mask, uint32_t value)
{
    return (code & mask) == value;
}

static enum aarch64_direction by(bool loads)
{
    return loads ? AARCH64_LOAD : AARCH64_STORE;
}

static bool found(struct decoded *d, enum aarch64_direction direction, uint32_t bytes)
{
    d->direction = direction;
    d->bytes = bytes;
    return true;
}

/* ---- Vectors' structures (LD1 to LD4, ST1 to ST4) ---- */

static bool vector_structures(uint32_t code, struct decoded *d)
{
    static const uint8_t registers[16] = {
        [0] = 4, [2] = 4, [4] = 3, [6] = 3, [7] = 1, [8] = 2, [10] = 2};
    const unsigned opcode = field(code, 12, 4);
    /* 1D in a structure of several has no meaning. */
    const bool interleaved = !(opcode & 2);
    if (!registers[opcode] || (interleaved && field(code, 10, 2) == 3 && !bit(code, 30)))
        return false;
    return found(d, by(bit(code, 22)), registers[opcode] * (bit(code, 30) ? 16u : 8u));
}

static bool vector_element(uint32_t code, struct decoded *d)
{
    const unsigned opcode = field(code, 13, 3), size = field(code, 10, 2);
    const uint32_t count = ((opcode & 1) << 1 | bit(code, 21)) + 1;
    const bool set = bit(code, 12), loads = bit(code, 22);
    switch (opcode >> 1) {
    case 0:
        return found(d, by(loads), count);
    case 1:
        return !(size & 1) && found(d, by(loads), 2 * count);
    case 2:
        if (size == 0)
            return found(d, by(loads), 4 * count);
        return size == 1 && !set && found(d, by(loads), 8 * count);
    default: /* to all elements */
        return loads && !set && found(d, AARCH64_LOAD, count << size);
    }
}

/* ---- Exclusives, compare and swap, acquire and release ---- */

static bool exclusives(uint32_t code, struct decoded *d)
{
    const unsigned size = field(code, 30, 2);
    const bool loads = bit(code, 22), all_ones = field(code, 10, 5) == 31;
    if (bit(code, 23))
        return bit(code, 21) ? all_ones && found(d, AARCH64_BOTH, 1u << size) /* CAS */
                             : found(d, by(loads), 1u << size);
    if (bit(code, 21) && size < 2) /* CASP */
        return all_ones && !bit(code, 16) && !bit(code, 0) &&
               found(d, AARCH64_BOTH, 8u << (size & 1));
    d->exclusive = true;
    return found(d, by(loads), bit(code, 21) ? 2u << size : 1u << size);
}

/* ---- One register ---- */

/* From the fields size, V and opc. False: a prefetch, or nothing. */
static bool single(uint32_t code, struct decoded *d)
{
    const unsigned size = field(code, 30, 2), opc = field(code, 22, 2);
    if (bit(code, 26)) {
        if (opc >= 2 && size != 0)
            return false;
        return found(d, by(opc & 1), opc >= 2 ? 16 : 1u << size);
    }
    if (size == 3 && opc >= 2)
        return false;
    if (size == 2 && opc == 3)
        return false;
    return found(d, by(opc != 0), 1u << size);
}

static bool atomics(uint32_t code, struct decoded *d)
{
    enum { BYTES64 = 64 };
    const unsigned size = field(code, 30, 2), opcode = field(code, 12, 4);
    if (bit(code, 26))
        return false;
    if (opcode <= 8) /* LDADD and its kind, SWP */
        return found(d, AARCH64_BOTH, 1u << size);
    if (opcode == 12 && is(code, 0x00df0000, 0x009f0000)) /* LDAPR */
        return found(d, AARCH64_LOAD, 1u << size);
    if (size != 3 || field(code, 22, 2) != 0)
        return false;
    if (opcode == 13)
        return field(code, 16, 5) == 31 && found(d, AARCH64_LOAD, BYTES64);
    if (opcode == 9 && field(code, 16, 5) != 31)
        return false;
    return (opcode == 9 || opcode == 10 || opcode == 11) && found(d, AARCH64_STORE, BYTES64);
}

static bool authenticated(uint32_t code, struct decoded *d)
{
    if (field(code, 30, 2) != 3 || bit(code, 26))
        return false;
    d->offset = ((bit(code, 22) ? -512 : 0) + (int64_t)field(code, 12, 9)) * 8;
    d->signed_key = true;
    return found(d, AARCH64_LOAD, 8);
}

static bool by_register(uint32_t code, struct decoded *d)
{
    d->indexed = true;
    d->index = code;
    return bit(code, 14) && single(code, d);
}

static bool unscaled(uint32_t code, struct decoded *d)
{
    const unsigned mode = field(code, 10, 2);
    if (mode == 2 && bit(code, 26)) /* no unprivileged access of a vector */
        return false;
    d->offset = mode == 1 ? 0 : signed_field(code, 12, 9);
    return single(code, d);
}

static bool one_register(uint32_t code, struct decoded *d)
{
    if (!bit(code, 21))
        return unscaled(code, d);
    switch (field(code, 10, 2)) {
    case 0:
        return atomics(code, d);
    case 2:
        return by_register(code, d);
    default:
        return authenticated(code, d);
    }
}

static bool scaled(uint32_t code, struct decoded *d)
{
    if (!single(code, d))
        return false;
    d->offset = (int64_t)field(code, 10, 12) * d->bytes;
    return true;
}

static bool literal(uint32_t code, struct decoded *d)
{
    const unsigned opc = field(code, 30, 2);
    d->literal = true;
    d->offset = signed_field(code, 5, 19) * 4;
    if (opc == 3)
        return false;
    return found(d, AARCH64_LOAD, bit(code, 26) ? 4u << opc : opc == 1 ? 8 : 4);
}

/* ---- Pairs ---- */

static bool pair(uint32_t code, struct decoded *d)
{
    const unsigned opc = field(code, 30, 2), mode = field(code, 23, 2);
    const bool loads = bit(code, 22), post = mode == 1;
    uint32_t bytes = bit(code, 26) ? 4u << opc : opc == 2 ? 8 : 4; /* of one */
    uint32_t scale = bytes;
    if (opc == 3)
        return false;
    if (!bit(code, 26) && opc == 1) { /* LDPSW; STGP, which tags what it stores */
        if (mode == 0)
            return false;
        if (!loads)
            bytes = 8, scale = 16;
    }
    d->offset = post ? 0 : signed_field(code, 15, 7) * scale;
    return found(d, by(loads), 2 * bytes);
}

/* ---- Later additions with bits 29 to 24 of 011001 ---- */

/* STZG and STZ2G write zeros. What writes tags alone is not known. */
static bool tags(uint32_t code, struct decoded *d)
{
    const unsigned opc = field(code, 22, 2), mode = field(code, 10, 2);
    if (!(opc & 1) || mode == 0)
        return false;
    d->offset = mode == 1 ? 0 : signed_field(code, 12, 9) * 16;
    return found(d, AARCH64_STORE, opc == 1 ? 16 : 32);
}

/* LDIAPP, STILP */
static bool ordered_pair(uint32_t code, struct decoded *d)
{
    const unsigned size = field(code, 30, 2);
    const bool loads = bit(code, 22);
    if (size < 2 || field(code, 13, 3) || bit(code, 23) || bit(code, 21))
        return false;
    d->offset = bit(code, 12) || loads ? 0 : -(INT64_C(2) << size);
    return found(d, by(loads), 2u << size);
}

/* LDCLRP, LDSETP, SWPP */
static bool atomic_pair(uint32_t code, struct decoded *d)
{
    const unsigned opcode = field(code, 12, 4);
    return field(code, 30, 2) == 0 && (opcode == 1 || opcode == 3 || opcode == 8) &&
           found(d, AARCH64_BOTH, 16);
}

static bool later(uint32_t code, struct decoded *d)
{
    const unsigned size = field(code, 30, 2), mode = field(code, 10, 2);
    if (bit(code, 26)) { /* LDAPUR and STLUR of a vector */
        d->offset = signed_field(code, 12, 9);
        return mode == 2 && !bit(code, 21) && single(code, d);
    }
    if (bit(code, 21))
        return size == 3 ? tags(code, d) : mode == 0 && atomic_pair(code, d);
    if (mode == 2)
        return ordered_pair(code, d);
    d->offset = signed_field(code, 12, 9);
    return mode == 0 && single(code, d);
}

/* ---- SVE ---- */

/* Bytes in memory of an element, by the field dtype. */
static const uint8_t dtype_bytes[16] = {1, 1, 1, 1, 4, 2, 2, 2, 2, 2, 4, 4, 1, 1, 1, 8};

/* LDR and STR of a whole vector or predicate: their length is not looked up. */
static bool is_whole_vector(uint32_t code)
{
    return is(code, 0xffc0a000, 0x85800000) || is(code, 0xffc0a000, 0xe5800000);
}

static bool sve(uint32_t code, struct decoded *d)
{
    const uint32_t by_size = 1u << field(code, 23, 2);
    const unsigned form = field(code, 13, 3);
    if (is_whole_vector(code))
        return found(d, by(code >> 25 != 0x72), 1);
    switch (code >> 25) {
    case 0x42: /* from 32-bit offsets; and one element to all, LD1R */
        return found(d, AARCH64_LOAD,
                     bit(code, 22) && form >= 4
                         ? dtype_bytes[field(code, 23, 2) << 2 | field(code, 13, 2)]
                         : by_size);
    case 0x52: /* contiguous */
        return found(d, AARCH64_LOAD,
                     form == 2 || form == 3 || form == 5 ? dtype_bytes[field(code, 21, 4)]
                                                         : by_size);
    case 0x62: /* from 64-bit offsets */
        return found(d, AARCH64_LOAD, by_size);
    case 0x72:
        return found(d, AARCH64_STORE, by_size);
    default:
        return false;
    }
}

/* ---- */

/* DC ZVA, which zeroes a block that it is an address in. */
static bool is_zeroing(uint32_t code)
{
    return is(code, 0xffffffe0, 0xd50b7420);
}

static bool decode(uint32_t code, struct decoded *d)
{
    *d = (struct decoded){.base = field(code, 5, 5)};
    if (is_zeroing(code)) {
        d->base = field(code, 0, 5);
        return found(d, AARCH64_STORE, 0);
    }
    if (is(code, 0x1e000000, 0x04000000)) {
        d->element = true;
        return sve(code, d);
    }
    if (is(code, 0xbfbf0000, 0x0c000000) || is(code, 0xbfa00000, 0x0c800000))
        return vector_structures(code, d);
    if (is(code, 0xbf9e0000, 0x0d000000) || is(code, 0xbf800000, 0x0d800000))
        return vector_element(code, d);
    switch (code & 0x3b000000) {
    case 0x08000000:
        return !bit(code, 26) && exclusives(code, d);
    case 0x18000000:
        return literal(code, d);
    case 0x19000000:
        return later(code, d);
    case 0x28000000:
    case 0x29000000:
        return pair(code, d);
    case 0x38000000:
        return one_register(code, d);
    case 0x39000000:
        return scaled(code, d);
    default:
        return false;
    }
}

enum aarch64_direction aarch64_instruction_direction(uint32_t code)
{
    struct decoded d;
    return decode(code, &d) ? d.direction : AARCH64_NONE;
}

/* ---- Addresses ---- */

static uint64_t extended(uint32_t code, const struct aarch64_registers *registers, uint32_t bytes)
{
    const unsigned index = field(code, 16, 5);
    const unsigned shift = bit(code, 12) ? (unsigned)__builtin_ctz(bytes) : 0;
    uint64_t value = index == AARCH64_STACK_POINTER ? 0 : registers->general[index];
    if (!bit(code, 13)) /* 32 bits, by their sign or not */
        value = bit(code, 15) ? (uint64_t)(int64_t)(int32_t)value : (uint32_t)value;
    return value << shift;
}

static uint64_t address_of(const struct decoded *d, const struct aarch64_registers *registers)
{
    enum { TAG = 56, CODE = 48 }; /* the lowest bit of a tag, of an authentication code */
    uint64_t address = d->literal ? registers->pc : registers->general[d->base];
    if (d->signed_key)
        address &= (UINT64_C(1) << CODE) - 1;
    address += (uint64_t)d->offset;
    if (d->indexed)
        address += extended(d->index, registers, d->bytes);
    return address & ((UINT64_C(1) << TAG) - 1);
}

bool aarch64_access_find(uint32_t code, const struct aarch64_registers *registers,
                         struct instruction_fault fault, struct instruction_access *access)
{
    struct decoded d;
    *access = (struct instruction_access){.address = fault.address, .bytes = 1, .no_step = true};
    if (!decode(code, &d))
        return false;
    access->locked = d.direction == AARCH64_BOTH || d.exclusive;
    access->no_step = d.exclusive || d.literal;
    if (d.element) {
        access->bytes = d.bytes;
        return true;
    }
    uint64_t bytes = d.bytes, address = address_of(&d, registers);
    if (is_zeroing(code)) {
        bytes = registers->zeroed;
        address = d.base == AARCH64_STACK_POINTER ? fault.address : registers->general[d.base];
        address = (address & ~UINT64_C(0xff00000000000000)) & ~(bytes - 1);
    }
    if (fault.address - address >= bytes)
        return true; /* another address than the registers give: the byte at the fault */
    access->address = address;
    access->bytes = bytes;
    return true;
}
