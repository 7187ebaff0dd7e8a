/* Products of a warp group: wgmma (PTX ISA 9.7.15). Four warps share a product of 64 rows, and each
 * computes 16 of them when it comes to the instruction. A product is over only when all four have
 * made their rows, so wgmma.wait_group waits for the warps of the group: one thread may then give
 * the operands' memory back for all of them. The instruction is the same for all of them
 * (".aligned"), so this waits for nobody who does not come. A comes from registers or shared
 * memory, B from shared memory. Of a sparse A there is half, and each warp has the metadata of its
 * rows (9.7.15.6; alu_sparse.c). Sums are made as those of mma are (alu_matrix.c). */
#include "runtime/device/exec/exec_barrier.h"
#include "runtime/device/exec/exec_matrix.h"

#include <math.h>
#include <stdlib.h>

enum {
    ROWS = 64,
    WARP_ROWS = 16,
    COLUMNS_MOST = 256,
    CHUNK = 16,    /* bytes that stay together */
    CORE = 8,      /* lines of a core matrix */
    HALF = 2,      /* bytes of the elements that may be transposed */
    HELD_MOST = 32 /* of k: what there is of a sparse A */
};

/* "Matrix Descriptor Format": where a matrix lies in shared memory. Distances in bytes. */
struct descriptor {
    uint64_t start, leading, stride;
    uint32_t base;    /* row of the swizzle's pattern in which the matrix begins */
    uint32_t swizzle; /* bytes of the pattern's rows; 0: none */
};

struct warpgroup {
    struct fragment a, d;
    bool a_in_registers;
    bool transposed[2]; /* of A and B: lines lie side by side, not along k */
    bool negated;       /* the product, by the scales of A and B */
    bool saturate;
    bool sparse;       /* `a` has half of k */
    uint32_t metadata; /* slot */
    uint32_t selector;
    uint8_t element[2];
    uint32_t descriptors[2]; /* slots */
    uint32_t add;            /* slot of scale-d: a predicate */
    uint32_t n, k;
};

/* ---- shared memory -------------------------------------------------------------------------- */

static struct descriptor descriptor_of(uint64_t bits)
{
    static const uint8_t swizzles[] = {0, 128, 64, 32};
    return (struct descriptor){.start = (bits & 0x3fff) << 4,
                               .leading = (bits >> 16 & 0x3fff) << 4,
                               .stride = (bits >> 32 & 0x3fff) << 4,
                               .base = bits >> 49 & 7,
                               .swizzle = swizzles[bits >> 62]};
}

/* Chunks of 16 bytes change places within a row of the pattern, by the row's number. */
static uint64_t swizzled(const struct descriptor *d, uint64_t address)
{
    const uint64_t mask = d->swizzle ? d->swizzle / CHUNK - 1u : 0;
    return address ^ (((address >> 7) - d->base) & mask) << 4;
}

/* "Strides": the address of the byte at `along` of a line along k. A sparse product's B has 64
 * bytes along k: in rows of 32, the second half lies the leading offset behind the first. No
 * section says so; it was measured on an H200 (driver 580, CUDA 13.0; test_exec_warpgroup.c). */
static uint64_t along_k(const struct descriptor *d, uint32_t line, uint32_t along)
{
    const uint32_t width = d->swizzle ? d->swizzle : CHUNK;
    return d->start + (uint64_t)(line / CORE) * d->stride + (uint64_t)(line % CORE) * width +
           (uint64_t)(along / width) * d->leading + along % width;
}

/* The same for lines that lie side by side: of 16-bit elements. */
static uint64_t across_k(const struct descriptor *d, uint32_t line, uint32_t k)
{
    const uint32_t beside = (d->swizzle ? d->swizzle : CHUNK) / HALF;
    const uint64_t group = line / beside, place = line % beside * HALF;
    return d->start + place + (uint64_t)(k % CORE) * beside * HALF +
           (d->swizzle ? group * d->leading + k / CORE * d->stride
                       : group * d->stride + k / CORE * d->leading);
}

/* Element (line, k) of A or B. False: it lies outside, at *address. */
static bool read_shared(const struct warp *w, const struct warpgroup *p, int which,
                        const struct descriptor *d, uint32_t line, uint32_t k, double *value,
                        uint64_t *address)
{
    const uint32_t bits = matrix_element_bits(p->element[which]), bytes = bits < 8 ? 1 : bits / 8;
    *address =
        swizzled(d, p->transposed[which] ? across_k(d, line, k) : along_k(d, line, k * bits / 8));
    if (*address + bytes > w->state->shared_bytes)
        return false;
    uint64_t element = 0;
    memcpy(&element, w->block->shared + *address, bytes);
    if (bits < 8)
        element = element >> (k * bits % 8) & ((1u << bits) - 1);
    *value = matrix_element_value(p->element[which], element);
    return true;
}

/* ---- the product ----------------------------------------------------------------------------- */

/* What one warp has of it. */
struct part {
    double a[WARP_ROWS * COLUMNS_MOST], d[WARP_ROWS * COLUMNS_MOST];
};

/* What there is of A: all of it, or half. */
static bool read_held(struct warp *w, const struct warpgroup *p, double *a, uint64_t *address)
{
    if (p->a_in_registers) {
        matrix_read(w, &p->a, a);
        return true;
    }
    const uint32_t lane = (uint32_t)__builtin_ctz(w->mask);
    const struct descriptor d = descriptor_of(((const uint64_t *)slot(w, p->descriptors[0]))[lane]);
    const uint32_t first = w->index % (ROWS / WARP_ROWS) * WARP_ROWS;
    for (uint32_t row = 0; row < WARP_ROWS; row++)
        for (uint32_t k = 0; k < p->a.columns; k++)
            if (!read_shared(w, p, 0, &d, first + row, k, &a[row * p->a.columns + k], address))
                return false;
    return true;
}

static bool read_a(struct warp *w, const struct warpgroup *p, double *a, uint64_t *address)
{
    double held[WARP_ROWS * HELD_MOST];
    if (!p->sparse)
        return read_held(w, p, a, address);
    if (!read_held(w, p, held, address))
        return false;
    matrix_spread_sparse(w, &p->a, p->metadata, p->selector, held, a);
    return true;
}

/* One line of B after the other, for which all of k is added. */
static bool add_products(struct warp *w, const struct warpgroup *p, struct part *part,
                         uint64_t *address)
{
    double b[COLUMNS_MOST];
    const uint32_t lane = (uint32_t)__builtin_ctz(w->mask);
    const struct descriptor d = descriptor_of(((const uint64_t *)slot(w, p->descriptors[1]))[lane]);
    for (uint32_t column = 0; column < p->n; column++) {
        for (uint32_t k = 0; k < p->k; k++)
            if (!read_shared(w, p, 1, &d, column, k, &b[k], address))
                return false;
        for (uint32_t row = 0; row < WARP_ROWS; row++) {
            double sum = 0;
            for (uint32_t k = 0; k < p->k; k++)
                sum += part->a[row * p->k + k] * b[k];
            part->d[row * p->n + column] += p->negated ? -sum : sum;
        }
    }
    return true;
}

static int warpgroup_run(struct warp *w, const struct micro *op)
{
    const struct warpgroup *p = op->pointer;
    struct part part;
    uint64_t address = 0;
    if (*(const uint32_t *)slot(w, p->add) & w->mask)
        matrix_read(w, &p->d, part.d);
    else
        memset(part.d, 0, WARP_ROWS * p->n * sizeof *part.d);
    if (!read_a(w, p, part.a, &address) || !add_products(w, p, &part, &address))
        return fault_raise(w, op, w->mask, EXEC_FAULT_ILLEGAL_ADDRESS, address);
    matrix_write(w, &p->d, p->saturate, part.d);
    return FLOW_NEXT;
}

/* ---- decoding ------------------------------------------------------------------------------- */

/* "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16": how many elements k is, 0: no such types. */
static uint32_t depth_of(uint8_t d, uint8_t a, uint8_t b)
{
    const bool floats = d == ELEMENT_F32 || d == ELEMENT_F16;
    switch (a) {
    case ELEMENT_F16:
        return b == a && floats ? 16 : 0;
    case ELEMENT_BF16:
        return b == a && d == ELEMENT_F32 ? 16 : 0;
    case ELEMENT_TF32:
        return b == a && d == ELEMENT_F32 ? 8 : 0;
    case ELEMENT_E4M3:
    case ELEMENT_E5M2:
        return (b == ELEMENT_E4M3 || b == ELEMENT_E5M2) && floats ? 32 : 0;
    case ELEMENT_S8:
    case ELEMENT_U8:
        return (b == ELEMENT_S8 || b == ELEMENT_U8) && d == ELEMENT_S32 ? 32 : 0;
    case ELEMENT_B1:
        return b == a && d == ELEMENT_S32 ? 256 : 0;
    default:
        return 0;
    }
}

/* "Supported matrix shapes" of wgmma.mma_async (PTX ISA): of integers fewer. */
static bool has_shape(uint32_t columns, uint8_t element)
{
    const bool some = columns && columns % 8 == 0 && columns <= COLUMNS_MOST;
    return some && (element != ELEMENT_S32 || columns <= 24 || columns % 16 == 0);
}

static bool read_words(struct warpgroup *p, const struct ptx_instruction *i)
{
    struct matrix_words words;
    matrix_read_words(i->mnemonic, &words);
    if (words.other || words.kind || words.scaled || words.exclusive || words.layout_count ||
        words.element_count != 3 || words.m != ROWS || !has_shape(words.n, words.elements[0]))
        return false;
    p->element[0] = words.elements[1];
    p->element[1] = words.elements[2];
    p->n = words.n;
    p->k = words.k;
    p->saturate = words.saturate;
    p->d = (struct fragment){
        .element = words.elements[0], .role = MATRIX_C, .rows = WARP_ROWS, .columns = p->n};
    p->sparse = words.sparse;
    p->a = (struct fragment){.element = p->element[0],
                             .role = MATRIX_A,
                             .rows = WARP_ROWS,
                             .columns = p->sparse ? p->k / 2 : p->k};
    return p->a.columns == depth_of(p->d.element, p->element[0], p->element[1]) &&
           !(p->sparse && p->element[0] == ELEMENT_B1);
}

/* Behind scale-d: scales of A and B, which are 1 or -1, and for halves whether they are transposed.
 * Integers have none of them. `first`: the place of the first of them. */
static bool read_modes(struct warpgroup *p, const struct ptx_instruction *i, uint32_t first)
{
    const bool halves = p->element[0] == ELEMENT_F16 || p->element[0] == ELEMENT_BF16;
    const bool scaled = p->d.element != ELEMENT_S32;
    const uint32_t scales = scaled ? 2 : 0, turns = !halves ? 0 : p->a_in_registers ? 1 : 2;
    if (i->operand_count != first + scales + turns)
        return false;
    for (uint32_t k = first; k < i->operand_count; k++)
        if (i->operands[k].kind != PTX_OPERAND_IMMEDIATE)
            return false;
    for (uint32_t k = first; k < first + scales; k++)
        p->negated ^= (int32_t)i->operands[k].imm < 0;
    for (uint32_t k = 0; k < turns; k++)
        p->transposed[k + (2 - turns)] = i->operands[first + scales + k].imm != 0;
    return true;
}

/* Metadata and selector, in front of scale-d. */
static bool read_sparsity(struct decoder *decoder, struct warpgroup *p,
                          const struct ptx_instruction *i)
{
    if (i->operand_count < 6 || i->operands[4].kind != PTX_OPERAND_IMMEDIATE)
        return false;
    p->metadata = decoder_source(decoder, &i->operands[3], 32);
    p->selector = (uint32_t)i->operands[4].imm;
    return matrix_sparse_is_valid(&p->a, p->selector);
}

static void decode_product(struct decoder *decoder, const struct ptx_instruction *i)
{
    struct warpgroup *p = decoder_keep(decoder, sizeof *p);
    if (!p || i->operand_count < 4 || !read_words(p, i)) {
        decoder_fail(decoder);
        return;
    }
    p->a_in_registers = i->operands[1].kind == PTX_OPERAND_VECTOR;
    const uint32_t add = p->sparse ? 5 : 3; /* scale-d */
    if ((p->sparse && !read_sparsity(decoder, p, i)) || !read_modes(p, i, add + 1)) {
        decoder_fail(decoder);
        return;
    }
    fragment_decode(decoder, &p->d, &i->operands[0], true);
    if (p->a_in_registers)
        fragment_decode(decoder, &p->a, &i->operands[1], false);
    else
        p->descriptors[0] = decoder_source(decoder, &i->operands[1], 64);
    p->descriptors[1] = decoder_source(decoder, &i->operands[2], 64);
    p->add = decoder_source(decoder, &i->operands[add], 1);
    matrix_decode_sync(decoder);
    decoder_emit(decoder, warpgroup_run)->pointer = p;
}

void decode_wgmma(struct decoder *decoder, const struct ptx_instruction *i)
{
    static const char *const waits[] = {"wgmma.wait_group.", "wgmma.fence.", "wgmma.commit_group."};
    for (size_t k = 0; k < sizeof waits / sizeof *waits; k++)
        if (!strncmp(i->mnemonic, waits[k], strlen(waits[k]))) {
            matrix_decode_sync(decoder);
            if (k == 0)
                decoder_emit(decoder, barrier_warpgroup);
            return;
        }
    if (!strncmp(i->mnemonic, "wgmma.mma_async.", strlen("wgmma.mma_async.")))
        decode_product(decoder, i);
    else
        decoder_fail(decoder);
}
