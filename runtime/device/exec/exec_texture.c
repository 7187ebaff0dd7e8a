/* tex over linear and pitched memory (PTX ISA 9.7.10.3; CUDA C++ Programming Guide, "Texture
 * Fetching"): an integer index into linear memory, or a point of a two-dimensional texture. This
 * file finds the texel, which is then read as other memory is. */
#include "runtime/device/exec/exec_decoder.h"
#include "runtime/device/exec/exec_half.h"

#include <math.h>

enum { COMPONENTS = 4 };

struct texture_site {
    struct micro read; /* its slot a holds texels' addresses */
    uint32_t handle;   /* slot */
    uint32_t coordinates[2];
    uint32_t results[COMPONENTS];
    uint8_t dimensions;
    bool integer; /* coordinates */
    bool floats;  /* results */
};

/* ---- coordinates ---- */

/* The index of the texel at a coordinate in texels, or -1: outside, where zeros are. Wrapping and
 * mirroring need normalized coordinates; without, they clamp. */
static int64_t wrapped(double at, uint64_t count, uint8_t mode, bool normalized)
{
    if (normalized && mode == EXEC_ADDRESS_WRAP) {
        at -= floor(at);
    } else if (normalized && mode == EXEC_ADDRESS_MIRROR) {
        double whole = floor(at);
        at -= whole;
        if (fmod(whole, 2) != 0)
            at = 1 - at;
    }
    if (normalized)
        at *= (double)count;
    at = floor(at);
    if (mode == EXEC_ADDRESS_BORDER)
        return at >= 0 && at < (double)count ? (int64_t)at : -1;
    if (!(at > 0)) /* NaN too */
        return 0;
    return at < (double)count ? (int64_t)at : (int64_t)count - 1;
}

static double coordinate(struct warp *w, const struct texture_site *site, int i, int lane)
{
    return site->integer ? (double)((const int32_t *)slot(w, site->coordinates[i]))[lane]
                         : (double)((const float *)slot(w, site->coordinates[i]))[lane];
}

/* Of linear memory, an index beyond the end reads zero. */
static bool texel_address(struct warp *w, const struct texture_site *site,
                          const struct exec_texture *texture, int lane, uint64_t *address)
{
    uint64_t bytes = (uint64_t)texture->channels * texture->channel_bytes;
    double x = coordinate(w, site, 0, lane);
    if (site->dimensions == 1) {
        *address = texture->base + (uint64_t)(int64_t)x * bytes;
        return x >= 0 && x < (double)texture->width;
    }
    int64_t column = wrapped(x, texture->width, texture->modes[0], texture->normalized);
    int64_t row = wrapped(coordinate(w, site, 1, lane), texture->height, texture->modes[1],
                          texture->normalized);
    *address = texture->base + (uint64_t)row * texture->pitch + (uint64_t)column * bytes;
    return column >= 0 && row >= 0;
}

/* ---- texels ---- */

static uint32_t channel_signed(uint32_t bits, unsigned bytes)
{
    return bytes == 1   ? (uint32_t)(int32_t)(int8_t)bits
           : bytes == 2 ? (uint32_t)(int32_t)(int16_t)bits
                        : bits;
}

static uint32_t channel_scaled(const struct exec_texture *texture, uint32_t bits)
{
    unsigned width = texture->channel_bytes * 8u;
    if (texture->texel == EXEC_TEXEL_UNSIGNED)
        return float_bits((float)bits / (float)((1u << width) - 1));
    float value = (float)(int32_t)bits / (float)((1u << (width - 1)) - 1);
    return float_bits(value < -1 ? -1 : value);
}

/* One channel as its register gets it. */
static uint32_t channel_read(const struct texture_site *site, const struct exec_texture *texture,
                             const uint8_t *from)
{
    uint32_t bits = 0;
    memcpy(&bits, from, texture->channel_bytes);
    if (texture->texel == EXEC_TEXEL_FLOAT)
        return texture->channel_bytes == 2 ? float_bits(half_to_float((uint16_t)bits)) : bits;
    if (texture->texel == EXEC_TEXEL_SIGNED)
        bits = channel_signed(bits, texture->channel_bytes);
    return texture->scaled && site->floats ? channel_scaled(texture, bits) : bits;
}

/* ---- the instruction ---- */

/* Lanes with one texture. w->mask is theirs, and stays so. Components that the texels lack are
 * zero: nothing says what they are. */
static int fetch(struct warp *w, const struct texture_site *site,
                 const struct exec_texture *texture)
{
    uint64_t *addresses = slot(w, site->read.a);
    uint8_t *pointers[WARP_LANES];
    struct micro read = site->read;
    uint32_t lanes = w->mask, inside = 0;
    for (uint32_t m = lanes; m; m &= m - 1) {
        int l = __builtin_ctz(m);
        if (texel_address(w, site, texture, l, &addresses[l]))
            inside |= 1u << l;
    }
    read.bytes = (uint8_t)(texture->channels * texture->channel_bytes);
    w->mask = inside;
    int flow = inside ? space_resolve(w, &read, pointers) : FLOW_NEXT;
    w->mask = lanes;
    for (int c = 0; flow == FLOW_NEXT && c < COMPONENTS; c++) {
        uint32_t *to = slot(w, site->results[c]);
        for (uint32_t m = lanes; m; m &= m - 1) {
            int l = __builtin_ctz(m);
            bool there = inside >> l & 1 && c < texture->channels;
            const uint8_t *from = there ? pointers[l] + c * texture->channel_bytes : NULL;
            to[l] = there ? channel_read(site, texture, from) : 0;
        }
    }
    return flow;
}

static int fetch_lanes(struct warp *w, const struct micro *op)
{
    const struct texture_site *site = op->pointer;
    const struct exec_memory *memory = &w->state->launch.memory;
    const uint64_t *handles = slot(w, site->handle);
    uint32_t mask = w->mask;
    int flow = FLOW_NEXT;
    for (uint32_t rest = mask; rest && flow == FLOW_NEXT; rest &= ~w->mask) {
        struct exec_texture texture;
        uint64_t handle = handles[__builtin_ctz(rest)];
        w->mask = 0;
        for (uint32_t m = rest; m; m &= m - 1)
            if (handles[__builtin_ctz(m)] == handle)
                w->mask |= m & -m;
        if (memory->find_texture && memory->find_texture(memory->user, handle, &texture) &&
            (texture.height ? 2 : 1) == site->dimensions)
            flow = fetch(w, site, &texture);
        else
            flow = fault_raise(w, op, w->mask, EXEC_FAULT_ILLEGAL_INSTRUCTION, handle);
    }
    w->mask = mask;
    return flow;
}

static bool is_result(uint8_t type)
{
    return type == PTX_F32 || type == PTX_S32 || type == PTX_U32 || type == PTX_B32;
}

/* "[texture, {x, y}]": a register and its coordinates. */
static const struct ptx_operand *coordinates_of(const struct ptx_instruction *i)
{
    const struct ptx_operand *from = &i->operands[1];
    return i->operand_count == 2 && i->operands[0].kind == PTX_OPERAND_VECTOR &&
                   i->operands[0].count == COMPONENTS && from->kind == PTX_OPERAND_ADDRESS &&
                   from->base == PTX_OPERAND_REGISTER && from->imm == 0 && from->count == 1
               ? &from->elements[0]
               : NULL;
}

void decode_tex(struct decoder *decoder, const struct ptx_instruction *i)
{
    bool one = strncmp(i->mnemonic, "tex.1d.v4.", strlen("tex.1d.v4.")) == 0;
    bool two = strncmp(i->mnemonic, "tex.2d.v4.", strlen("tex.2d.v4.")) == 0;
    const struct ptx_operand *at = coordinates_of(i);
    struct texture_site *site = decoder_keep(decoder, sizeof *site);
    bool integer = i->type == PTX_S32;
    /* one dimension with floating-point coordinates is for arrays */
    if (!site || !at || (!one && !two) || (one && !integer) || i->second.kind ||
        !is_result(i->type2) || (!integer && i->type != PTX_F32) ||
        (at->kind == PTX_OPERAND_VECTOR ? at->count : 1) != (one ? 1u : 2u)) {
        decoder_fail(decoder);
        return;
    }
    struct ptx_operand handle = i->operands[1];
    handle.kind = PTX_OPERAND_REGISTER;
    site->handle = decoder_source(decoder, &handle, 64);
    site->dimensions = one ? 1 : 2;
    site->integer = integer;
    site->floats = i->type2 == PTX_F32;
    for (int k = 0; k < site->dimensions; k++)
        site->coordinates[k] =
            decoder_source(decoder, at->kind == PTX_OPERAND_VECTOR ? &at->elements[k] : at, 32);
    for (int c = 0; c < COMPONENTS; c++)
        site->results[c] = decoder_destination(decoder, &i->operands[0].elements[c], 32);
    site->read.a = decoder_temporary(decoder, 64);
    site->read.instruction = decoder->instruction_index;
    site->read.space = PTX_SPACE_GLOBAL;
    site->read.width = 8;
    site->read.count = 1;
    site->read.option = ACCESS_RECORDED;
    site->read.touch = 1u << DEVICE_TRACE_READ;
    struct micro *op = decoder_emit(decoder, fetch_lanes);
    op->pointer = site;
}
