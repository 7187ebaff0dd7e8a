/* See host_instruction.h.
 *
 * An operand's size is a letter for each opcode:
 *   b w d q o z 1, 2, 4, 8, 16 or 32 bytes
 *   v           2, 4 or 8, by the operand-size prefix and REX.W
 *   y           4 or 8, by REX.W
 *   x h r e     a whole vector, its half, quarter or eighth
 *   p           by the mandatory prefix: none and 66 a vector, F3 4 bytes, F2 8
 *   s           by the mandatory prefix: none 4, 66 8
 *   m           MMX without a prefix, 8; a vector with one
 *   i           an integer to convert: 8 (MMX) without F3 and F2, with them y
 *   f           a scalar float: 4, or 8 by W
 *   k           a masked vector: its elements are 4 bytes, or 8 by W
 *   .           others: looked at one by one, or unknown */
#include "runtime/hook/host/host_instruction.h"

#include <string.h>

enum { MAP_ONE, MAP_0F, MAP_38, MAP_3A, MAPS };

static const char *const sizes[MAPS] = {[MAP_ONE] =
                                            "bvbv....bvbv...." /* 00 */
                                            "bvbv....bvbv...."
                                            "bvbv....bvbv...."
                                            "bvbv....bvbv...."
                                            "................" /* 40 */
                                            "................"
                                            "...d.....v.v...." /* 60 */
                                            "................"
                                            "bvbvbvbvbvbvw.wq" /* 80 */
                                            "................"
                                            "................" /* A0: string instructions apart */
                                            "................"
                                            "bv....bv........" /* C0 */
                                            "bvbv............" /* D0: x87 apart */
                                            "................"
                                            "......bv......b.",       /* F0 */
                                        [MAP_0F] = "................" /* 00 */
                                                   "pphqxxhq........"
                                                   "........xxixppss"
                                                   "................"
                                                   "vvvvvvvvvvvvvvvv" /* 40 */
                                                   ".pppxxxxpp.xpppp"
                                                   "mmmmmmmmmmmmxxym"
                                                   "m...mmm.....xx.m"
                                                   "................" /* 80 */
                                                   "bbbbbbbbbbbbbbbb"
                                                   "...vvv.....vvv.v"
                                                   "bv.v..bwv.vvvvbw"
                                                   "bvpyw.x........." /* C0 */
                                                   "xmmmmmq.mmmmmmmm"
                                                   "mmmmmmxmmmmmmmmm"
                                                   "xmmmmmmmmmmmmmmm",
                                        [MAP_38] = "mmmmmmmmmmmmxxxx" /* 00 */
                                                   "x..h..xxdqoxmmm."
                                                   "hrehrh..xxxxkkkk"
                                                   "hrehrhxxxxxxxxxx"
                                                   "xx..xxxx........" /* 40 */
                                                   "........dqoz...."
                                                   "................"
                                                   "........bw......"
                                                   "............k.k." /* 80 */
                                                   "ffff..xxxfxfxfxf"
                                                   "ffff..xxxfxfxfxf"
                                                   "....xxxxxfxfxfxf"
                                                   "................" /* C0 */
                                                   "...........xxxxx"
                                                   "................"
                                                   "..yy.yyy........",
                                        [MAP_3A] = "xxxxx.x.xxdqxxxm" /* 00 */
                                                   "....bwydoozz.hxx"
                                                   "bdyx.x.........."
                                                   "........oozz..xx"
                                                   "xxxx..x...xxx..." /* 40 */
                                                   "................"
                                                   "xxxx............"
                                                   "................"
                                                   "................" /* 80 */
                                                   "................"
                                                   "................"
                                                   "................"
                                                   "................" /* C0 */
                                                   "...........x...x"
                                                   "................"
                                                   "y..............."};

struct decoder {
    const uint8_t *at, *end;
    uint8_t segment; /* 0x64 or 0x65: the address is not known from registers alone */
    bool narrow;     /* 66 */
    bool locked;     /* F0 */
    uint8_t repeat;  /* F2 or F3 */
    bool wide;       /* REX.W, VEX.W, EVEX.W */
    bool vex, evex;
    bool masked;         /* EVEX: a mask register other than k0 */
    bool broadcast;      /* EVEX: one element, for all */
    uint8_t index, base; /* the registers' highest bits */
    uint8_t vector;      /* bytes: 16, 32 or 64 */
    uint8_t map, opcode, modrm;
};

static bool next(struct decoder *d, uint8_t *byte)
{
    if (d->at == d->end)
        return false;
    *byte = *d->at++;
    return true;
}

/* ---- Prefixes ---- */

static bool is_prefix(struct decoder *d, uint8_t byte)
{
    switch (byte) {
    case 0x66:
        d->narrow = true;
        return true;
    case 0xf2:
    case 0xf3:
        d->repeat = byte;
        return true;
    case 0x64:
    case 0x65:
        d->segment = byte;
        return true;
    case 0x26:
    case 0x2e:
    case 0x36:
    case 0x3e:
        return true;
    case 0xf0:
        d->locked = true;
        return true;
    default:
        return false; /* 67, 32-bit addresses, too: they are not met */
    }
}

static void mandatory_prefix(struct decoder *d, uint8_t pp)
{
    d->narrow = pp == 1;
    d->repeat = pp == 2 ? 0xf3 : pp == 3 ? 0xf2 : 0;
}

static bool read_vex2(struct decoder *d)
{
    uint8_t byte;
    if (!next(d, &byte))
        return false;
    d->map = MAP_0F;
    d->vector = byte & 4 ? 32 : 16;
    mandatory_prefix(d, byte & 3);
    return true;
}

static bool read_vex3(struct decoder *d)
{
    uint8_t first, second;
    if (!next(d, &first) || !next(d, &second) || (first & 31) == 0 || (first & 31) >= MAPS)
        return false;
    d->index = first & 0x40 ? 0 : 8;
    d->base = first & 0x20 ? 0 : 8;
    d->map = first & 31;
    d->wide = second >> 7;
    d->vector = second & 4 ? 32 : 16;
    mandatory_prefix(d, second & 3);
    return true;
}

static bool read_evex(struct decoder *d)
{
    uint8_t first, second, third;
    if (!next(d, &first) || !next(d, &second) || !next(d, &third) || (first & 7) == 0 ||
        (first & 7) >= MAPS || (third >> 5 & 3) == 3)
        return false;
    d->index = first & 0x40 ? 0 : 8;
    d->base = first & 0x20 ? 0 : 8;
    d->map = first & 7;
    d->wide = second >> 7;
    d->vector = (uint8_t)(16 << (third >> 5 & 3));
    d->broadcast = third >> 4 & 1;
    d->masked = (third & 7) != 0;
    mandatory_prefix(d, second & 3);
    return true;
}

/* From the first byte behind the prefixes to the opcode. */
static bool read_opcode(struct decoder *d, uint8_t byte)
{
    d->vector = 16;
    if (byte == 0xc5 || byte == 0xc4 || byte == 0x62) {
        d->vex = byte != 0x62;
        d->evex = byte == 0x62;
        return (byte == 0xc5   ? read_vex2(d)
                : byte == 0xc4 ? read_vex3(d)
                               : read_evex(d)) &&
               next(d, &d->opcode);
    }
    if ((byte & 0xf0) == 0x40) {
        d->wide = byte >> 3 & 1;
        d->index = byte & 2 ? 8 : 0;
        d->base = byte & 1 ? 8 : 0;
        if (!next(d, &byte))
            return false;
    }
    d->opcode = byte;
    if (byte != 0x0f)
        return true;
    d->map = MAP_0F;
    if (!next(d, &d->opcode))
        return false;
    if (d->opcode != 0x38 && d->opcode != 0x3a)
        return true;
    d->map = d->opcode == 0x38 ? MAP_38 : MAP_3A;
    return next(d, &d->opcode);
}

/* ---- Sizes ---- */

static unsigned x87_bytes(uint8_t opcode, unsigned reg)
{
    static const uint8_t bytes[8][8] = {{4, 4, 4, 4, 4, 4, 4, 4}, {4, 0, 4, 4, 28, 2, 28, 2},
                                        {4, 4, 4, 4, 4, 4, 4, 4}, {4, 4, 4, 4, 0, 10, 0, 10},
                                        {8, 8, 8, 8, 8, 8, 8, 8}, {8, 8, 8, 8, 108, 0, 108, 2},
                                        {2, 2, 2, 2, 2, 2, 2, 2}, {2, 2, 2, 2, 10, 8, 10, 8}};
    return bytes[opcode & 7][reg];
}

static unsigned general_bytes(const struct decoder *d)
{
    return d->wide ? 8 : d->narrow ? 2 : 4;
}

/* Instructions whose opcode alone does not decide. 0: unknown. */
static unsigned group_bytes(const struct decoder *d)
{
    const unsigned reg = d->modrm >> 3 & 7;
    if (d->map == MAP_ONE && d->opcode >= 0xd8 && d->opcode <= 0xdf)
        return x87_bytes(d->opcode, reg);
    if (d->map == MAP_ONE && d->opcode == 0xff)
        return reg < 2 ? general_bytes(d) : reg == 3 || reg == 5 ? 0 : 8;
    if (d->map == MAP_38 && (d->opcode == 0xf0 || d->opcode == 0xf1)) /* movbe, crc32 */
        return d->opcode == 0xf0 && d->repeat == 0xf2 ? 1 : general_bytes(d);
    if (d->map != MAP_0F)
        return 0;
    if (d->opcode == 0xba)
        return general_bytes(d);
    if (d->opcode == 0xc7 && reg == 1)
        return d->wide ? 16 : 8;
    if (d->opcode == 0xae && (reg == 2 || reg == 3))
        return 4;
    if (d->opcode == 0x7e) /* movq from memory, movd to it */
        return d->repeat == 0xf3 || d->wide ? 8 : 4;
    if (d->opcode == 0x5a) /* between floats and doubles */
        return d->repeat == 0xf3 ? 4 : d->repeat ? 8 : d->narrow ? d->vector : d->vector / 2;
    return 0;
}

/* Exceptions to the letters, by the mandatory prefix. 0: none. */
static unsigned prefixed_bytes(const struct decoder *d)
{
    if (d->map == MAP_0F && d->opcode == 0x12) /* movddup, movsldup; movlps */
        return d->repeat == 0xf2 ? (d->vector == 16 ? 8 : d->vector) : d->repeat ? d->vector : 8;
    if (d->map == MAP_0F && d->opcode == 0x16)
        return d->repeat ? d->vector : 8;
    if (d->map == MAP_0F && d->opcode == 0x6f && d->evex)
        return d->vector;
    if (d->map == MAP_0F && d->opcode == 0xe6)
        return d->repeat == 0xf3 ? d->vector / 2 : d->vector;
    if (d->map == MAP_0F && (d->opcode == 0x2c || d->opcode == 0x2d))
        return d->repeat == 0xf3 ? 4 : d->repeat ? 8 : d->narrow ? 16 : 8;
    if (d->map == MAP_0F && !d->narrow && !d->repeat && !d->vex && !d->evex && d->opcode >= 0x60 &&
        d->opcode <= 0x62) /* punpckl of MMX registers */
        return 4;
    return 0;
}

static unsigned letter_bytes(const struct decoder *d, char letter)
{
    const bool mandatory = d->narrow || d->repeat || d->vex || d->evex;
    switch (letter) {
    case 'b':
        return 1;
    case 'w':
        return 2;
    case 'd':
        return 4;
    case 'q':
        return 8;
    case 'o':
        return 16;
    case 'z':
        return 32;
    case 'v':
        return general_bytes(d);
    case 'y':
    case 'f':
    case 'k':
        return d->wide ? 8 : 4;
    case 'x':
        return d->vector;
    case 'h':
        return d->vector / 2;
    case 'r':
        return d->vector / 4;
    case 'e':
        return d->vector / 8;
    case 'p':
        return d->repeat == 0xf3 ? 4 : d->repeat ? 8 : d->vector;
    case 's':
        return d->narrow ? 8 : 4;
    case 'm':
        return mandatory ? d->vector : 8;
    case 'i':
        return d->repeat && d->wide ? 8 : d->repeat ? 4 : 8;
    default:
        return group_bytes(d);
    }
}

static unsigned operand_bytes(const struct decoder *d)
{
    const unsigned exception = prefixed_bytes(d);
    return exception ? exception : letter_bytes(d, sizes[d->map][d->opcode]);
}

/* ---- Addresses ---- */

static bool read_displacement(struct decoder *d, unsigned count, int64_t *displacement)
{
    uint32_t value = 0;
    if (d->end - d->at < (ptrdiff_t)count)
        return false;
    memcpy(&value, d->at, count);
    d->at += count;
    *displacement = count == 1 ? (int8_t)value : (int32_t)value;
    return true;
}

/* False: the registers do not give it. `bytes` is the operand's, by which EVEX scales. */
static bool operand_address(struct decoder *d, const struct instruction_registers *registers,
                            unsigned bytes, uint64_t *address)
{
    const unsigned mode = d->modrm >> 6, rm = d->modrm & 7;
    int64_t displacement = 0;
    uint64_t sum = 0;
    uint8_t sib = 0x20 | (uint8_t)rm; /* no index */
    if (mode == 3 || d->segment || (rm == 4 && !next(d, &sib)))
        return false;
    const unsigned base = sib & 7;
    const bool bare = mode == 0 && base == 5; /* a displacement alone, or with an index */
    if (mode == 0 && rm == 5)                 /* relative to the next instruction */
        return false;
    if (!bare)
        sum = registers->general[base | d->base];
    if (rm == 4 && ((sib >> 3 & 7) | d->index) != 4)
        sum += registers->general[(sib >> 3 & 7) | d->index] << (sib >> 6);
    if ((mode == 1 && !read_displacement(d, 1, &displacement)) ||
        ((mode == 2 || bare) && !read_displacement(d, 4, &displacement)))
        return false;
    if (mode == 1 && d->evex)
        displacement *= bytes;
    *address = sum + (uint64_t)displacement;
    return true;
}

/* ---- String instructions ---- */

static bool is_string(const struct decoder *d)
{
    return d->map == MAP_ONE && !d->vex && !d->evex &&
           ((d->opcode >= 0xa4 && d->opcode <= 0xa7) || (d->opcode >= 0xaa && d->opcode <= 0xaf));
}

/* XCHG with memory. */
static bool is_exchange(const struct decoder *d)
{
    return d->map == MAP_ONE && !d->vex && !d->evex && (d->opcode == 0x86 || d->opcode == 0x87);
}

/* What is left of it on the side that faulted. */
static void string_access(const struct decoder *d, const struct instruction_registers *registers,
                          struct instruction_fault fault, struct instruction_access *access)
{
    enum { RCX = 1, RSI = 6, RDI = 7 };
    const uint64_t bytes = d->opcode & 1 ? general_bytes(d) : 1;
    const uint64_t count = d->repeat ? registers->general[RCX] : 1;
    const bool both = d->opcode <= 0xa7; /* movs, cmps */
    const bool loads = d->opcode == 0xac || d->opcode == 0xad;
    uint64_t from = registers->general[RSI], to = registers->general[RDI];
    if (registers->backwards) {
        from -= (count - 1) * bytes;
        to -= (count - 1) * bytes;
    }
    const bool source = loads || (both && !fault.writes && fault.address >= from &&
                                  fault.address - from < count * bytes);
    access->address = source ? from : to;
    /* cmps and scas end with the first difference. */
    const bool whole =
        d->opcode == 0xa4 || d->opcode == 0xa5 || d->opcode == 0xaa || d->opcode == 0xab || loads;
    access->bytes = whole ? count * bytes : bytes;
    if (!whole)
        access->address = fault.address;
}

bool instruction_access_find(const uint8_t *code, size_t count,
                             const struct instruction_registers *registers,
                             struct instruction_fault fault, struct instruction_access *access)
{
    struct decoder d = {.at = code, .end = code + count};
    uint8_t byte;
    *access = (struct instruction_access){.address = fault.address, .bytes = 1};
    do
        if (!next(&d, &byte))
            return false;
    while (is_prefix(&d, byte));
    if (!read_opcode(&d, byte))
        return false;
    access->locked = d.locked || is_exchange(&d);
    if (is_string(&d)) {
        string_access(&d, registers, fault, access);
        return true;
    }
    if (!next(&d, &d.modrm) || (d.map == MAP_ONE && d.opcode == 0x8f && d.modrm & 0x38))
        return false; /* the latter: XOP */
    unsigned bytes = operand_bytes(&d);
    if (d.broadcast)
        bytes = d.wide ? 8 : 4;
    if (!bytes)
        return false;
    access->bytes = bytes;
    const char letter = sizes[d.map][d.opcode];
    const bool gathers =
        d.map == MAP_38 && ((d.opcode & 0xfc) == 0x90 || (d.opcode & 0xfc) == 0xa0);
    if (d.masked || letter == 'k' || gathers) { /* the element that faulted */
        access->bytes = d.wide ? 8 : 4;
        return true;
    }
    uint64_t address;
    if (operand_address(&d, registers, bytes, &address) && address <= fault.address &&
        fault.address - address < bytes)
        access->address = address;
    return true;
}
