/* Memory that a function takes from the stack while it runs: alloca, stacksave, stackrestore (PTX
 * ISA 9.7.13.19 to .21). It lies behind the frame's own .local memory and ends with the frame. All
 * lanes of a frame share one mark. If a lane asks for more than its neighbour, the neighbour's
 * difference is wasted. */
#include "runtime/device/exec/exec_decoder.h"

static uint64_t frame_end(const struct frame *frame)
{
    return frame->local_base + frame->program->local_bytes;
}

static uint64_t size_of(struct warp *w, const struct micro *op, int lane)
{
    return op->width == 4 ? ((uint32_t *)slot(w, op->a))[lane] : ((uint64_t *)slot(w, op->a))[lane];
}

static void store_address(struct warp *w, const struct micro *op, uint64_t address)
{
    uint32_t *d32 = slot(w, op->d);
    uint64_t *d64 = slot(w, op->d);
    if (op->width2 == 4)
        LANES(w, d32[l] = (uint32_t)address);
    else
        LANES(w, d64[l] = address);
}

static int allocate(struct warp *w, const struct micro *op)
{
    struct frame *frame = w->frame;
    uint64_t align = (uint64_t)op->imm, most = 0;
    for (uint32_t m = w->mask; m; m &= m - 1) {
        uint64_t bytes = size_of(w, op, __builtin_ctz(m));
        most = bytes > most ? bytes : most;
    }
    uint64_t start = (frame_end(frame) + frame->extra_bytes + align - 1) / align * align;
    if (most > w->state->local_limit || start + most > w->state->local_limit)
        return fault_raise(w, op, w->mask, EXEC_FAULT_STACK, 0);
    if (!space_grow_local(w, start + most))
        return fault_raise(w, op, w->mask, EXEC_FAULT_MEMORY, 0);
    frame->extra_bytes = start + most - frame_end(frame);
    store_address(w, op, start);
    return FLOW_NEXT;
}

void decode_alloca(struct decoder *decoder, const struct ptx_instruction *i)
{
    uint32_t size_bits, bits;
    const struct ptx_operand *align = i->operand_count > 2 ? &i->operands[2] : NULL;
    uint32_t a = decoder_any_source(decoder, &i->operands[1], ptx_type_bits(i->type), &size_bits);
    uint32_t d = decoder_any_destination(decoder, &i->operands[0], ptx_type_bits(i->type), &bits);
    if ((size_bits != 32 && size_bits != 64) || (bits != 32 && bits != 64) ||
        (align && (align->kind != PTX_OPERAND_IMMEDIATE || align->imm < 1 || align->imm > 4096)))
        decoder_fail(decoder);
    struct micro *op = decoder_emit(decoder, allocate);
    op->d = d;
    op->a = a;
    op->imm = align ? align->imm : 8;
    op->width = (uint8_t)(size_bits / 8);
    op->width2 = (uint8_t)(bits / 8);
}

static int save(struct warp *w, const struct micro *op)
{
    store_address(w, op, frame_end(w->frame) + w->frame->extra_bytes);
    return FLOW_NEXT;
}

/* Only the frame's lanes together can give something back: else another lane may still use it. */
static int restore(struct warp *w, const struct micro *op)
{
    struct frame *frame = w->frame;
    uint64_t mark = 0;
    for (uint32_t m = w->mask; m; m &= m - 1) {
        uint64_t saved = size_of(w, op, __builtin_ctz(m));
        mark = saved > mark ? saved : mark;
    }
    uint64_t extra = mark - frame_end(frame);
    if (w->mask == frame->lanes && extra < frame->extra_bytes)
        frame->extra_bytes = extra;
    return FLOW_NEXT;
}

void decode_stacksave(struct decoder *decoder, const struct ptx_instruction *i)
{
    uint32_t bits;
    uint32_t d = decoder_any_destination(decoder, &i->operands[0], ptx_type_bits(i->type), &bits);
    if (bits != 32 && bits != 64)
        decoder_fail(decoder);
    struct micro *op = decoder_emit(decoder, save);
    op->d = d;
    op->width2 = (uint8_t)(bits / 8);
}

void decode_stackrestore(struct decoder *decoder, const struct ptx_instruction *i)
{
    uint32_t bits;
    uint32_t a = decoder_any_source(decoder, &i->operands[0], ptx_type_bits(i->type), &bits);
    if (bits != 32 && bits != 64)
        decoder_fail(decoder);
    struct micro *op = decoder_emit(decoder, restore);
    op->a = a;
    op->width = (uint8_t)(bits / 8);
}
