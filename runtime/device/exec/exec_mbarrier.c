/* mbarrier objects (PTX ISA 9.7.13.15): a 64-bit word in shared memory whose layout is ours:
 *   bit 63 phase | 62..42 transactions pending (signed) | 41..21 arrivals expected | 20..0 pending
 */
#include "runtime/device/exec/exec_mbarrier.h"
#include "runtime/device/exec/exec_access.h"

struct phase {
    bool odd;
    int32_t transactions;
    uint32_t expected, pending;
};
enum { COUNT_BITS = 21, COUNT_MASK = (1 << COUNT_BITS) - 1 };

static struct phase phase_read(const uint8_t *pointer)
{
    uint64_t word;
    memcpy(&word, pointer, 8);
    struct phase phase = {.odd = word >> 63,
                          .expected = word >> COUNT_BITS & COUNT_MASK,
                          .pending = word & COUNT_MASK};
    uint32_t transactions = word >> (2 * COUNT_BITS) & COUNT_MASK;
    phase.transactions = (int32_t)(transactions << (32 - COUNT_BITS)) >> (32 - COUNT_BITS);
    return phase;
}

static uint64_t phase_word(const struct phase *phase)
{
    return (uint64_t)phase->odd << 63 |
           (uint64_t)((uint32_t)phase->transactions & COUNT_MASK) << (2 * COUNT_BITS) |
           (uint64_t)phase->expected << COUNT_BITS | phase->pending;
}

static void phase_write(uint8_t *pointer, struct phase phase)
{
    if (phase.pending == 0 && phase.transactions == 0) {
        phase.odd = !phase.odd;
        phase.pending = phase.expected;
    }
    uint64_t word = phase_word(&phase);
    memcpy(pointer, &word, 8);
}

void mbarrier_complete(uint8_t *pointer, uint32_t bytes)
{
    struct phase phase = phase_read(pointer);
    phase.transactions -= (int32_t)bytes;
    phase_write(pointer, phase);
}

static void arrive(struct phase *phase, uint32_t count)
{
    phase->pending -= count < phase->pending ? count : phase->pending;
}

static void update_phase(const struct micro *op, uint8_t *pointer, uint32_t operand,
                         uint64_t *token)
{
    struct phase phase = phase_read(pointer);
    *token = phase_word(&phase);
    switch (op->kind) {
    case PTX_FORM_MBARRIER_INIT:
        phase = (struct phase){.expected = operand & COUNT_MASK, .pending = operand & COUNT_MASK};
        break;
    case PTX_FORM_MBARRIER_EXPECT_TX:
        phase.transactions += (int32_t)operand;
        break;
    case PTX_FORM_MBARRIER_OTHER: /* complete_tx */
        phase.transactions -= (int32_t)operand;
        break;
    case PTX_FORM_MBARRIER_ARRIVE_DROP:
        phase.expected -= phase.expected > 0;
        arrive(&phase, 1);
        break;
    default:
        if (op->width2) { /* .expect_tx: the operand counts bytes */
            phase.transactions += (int32_t)operand;
            operand = 1;
        }
        arrive(&phase, operand);
    }
    phase_write(pointer, phase);
}

static int mbarrier_update(struct warp *w, const struct micro *op)
{
    uint8_t *pointers[WARP_LANES];
    int flow = space_resolve(w, op, pointers);
    const uint32_t *operand = slot(w, op->b);
    uint64_t *d = slot(w, op->d);
    for (uint32_t m = flow == FLOW_NEXT ? w->mask : 0; m; m &= m - 1) {
        int l = __builtin_ctz(m);
        uint64_t token;
        update_phase(op, pointers[l], operand[l], &token);
        if (op->touch)
            d[l] = token;
    }
    return flow;
}

/* Has the phase the token (or parity) names completed? */
static int mbarrier_test(struct warp *w, const struct micro *op)
{
    uint8_t *pointers[WARP_LANES];
    int flow = space_resolve(w, op, pointers);
    if (flow != FLOW_NEXT)
        return flow;
    const uint32_t *parity = slot(w, op->b);
    const uint64_t *token = slot(w, op->b);
    uint32_t complete = 0;
    for (uint32_t m = w->mask; m; m &= m - 1) {
        int l = __builtin_ctz(m);
        bool waited = op->width2 ? parity[l] & 1 : token[l] >> 63;
        complete |= (uint32_t)(phase_read(pointers[l]).odd != waited) << l;
    }
    slot_set_predicate(w, op->d, complete);
    w->strong = true;
    if (op->kind != PTX_FORM_MBARRIER_TRY_WAIT || (complete & w->mask) == w->mask)
        return FLOW_NEXT;
    w->pc = (uint32_t)(op - w->frame->program->code) + 1;
    return FLOW_YIELD;
}

/* Instruction forms: init [a], n; arrive t, [a]{, n}; test_wait p, [a], t. */
static void decode_update(struct decoder *decoder, const struct ptx_instruction *i)
{
    bool returns = i->operands[0].kind != PTX_OPERAND_ADDRESS;
    uint32_t at = returns ? 1 : 0;
    if (i->operand_count <= at) {
        decoder_fail(decoder);
        return;
    }
    struct access_place place;
    access_place(decoder, &i->operands[at], i->space, &place);
    uint32_t operand = i->operand_count > at + 1 ? decoder_source(decoder, &i->operands[at + 1], 32)
                                                 : decoder_constant(decoder, 32, 1);
    bool token = returns && i->operands[0].kind == PTX_OPERAND_REGISTER;
    uint32_t d = token ? decoder_destination(decoder, &i->operands[0], 64) : 0;
    struct micro *op = decoder_emit(decoder, mbarrier_update);
    access_fill(op, &place);
    op->option = ACCESS_WRITES;
    op->b = operand;
    op->d = d;
    op->touch = token;
    op->kind = i->form;
    op->width2 = i->expect_tx;
    op->bytes = 8;
    op->count = 1;
}

static void decode_test(struct decoder *decoder, const struct ptx_instruction *i)
{
    if (i->operand_count < 3) {
        decoder_fail(decoder);
        return;
    }
    struct access_place place;
    access_place(decoder, &i->operands[1], i->space, &place);
    uint32_t b = decoder_source(decoder, &i->operands[2], i->parity ? 32 : 64);
    uint32_t d = decoder_destination(decoder, &i->operands[0], 1);
    struct micro *op = decoder_emit(decoder, mbarrier_test);
    access_fill(op, &place);
    op->option = 0;
    op->b = b;
    op->d = d;
    op->kind = i->form;
    op->width2 = i->parity;
    op->bytes = 8;
    op->count = 1;
}

/* mbarrier.pending_count n, state */
static int pending_count(struct warp *w, const struct micro *op)
{
    uint32_t *d = slot(w, op->d);
    const uint64_t *token = slot(w, op->a);
    LANES(w, d[l] = token[l] & COUNT_MASK);
    return FLOW_NEXT;
}

static void decode_other(struct decoder *decoder, const struct ptx_instruction *i)
{
    if (!strncmp(i->mnemonic, "mbarrier.complete_tx.", strlen("mbarrier.complete_tx.")) &&
        i->operand_count == 2) {
        decode_update(decoder, i);
        return;
    }
    if (strncmp(i->mnemonic, "mbarrier.pending_count.", strlen("mbarrier.pending_count.")) ||
        i->operand_count != 2) {
        decoder_fail(decoder);
        return;
    }
    const uint32_t a = decoder_source(decoder, &i->operands[1], 64);
    const uint32_t d = decoder_destination(decoder, &i->operands[0], 32);
    struct micro *op = decoder_emit(decoder, pending_count);
    op->a = a;
    op->d = d;
}

void decode_mbarrier(struct decoder *decoder, const struct ptx_instruction *i)
{
    switch (i->form) {
    case PTX_FORM_MBARRIER_OTHER:
        decode_other(decoder, i);
        return;
    case PTX_FORM_MBARRIER_INVAL:
        return;
    case PTX_FORM_CP_ASYNC_MBARRIER_ARRIVE:
        /* Without .noinc the pending count is raised first: nothing changes in the end. */
        if (!i->noinc)
            return;
        decode_update(decoder, i);
        return;
    case PTX_FORM_MBARRIER_INIT:
    case PTX_FORM_MBARRIER_ARRIVE:
    case PTX_FORM_MBARRIER_ARRIVE_DROP:
    case PTX_FORM_MBARRIER_EXPECT_TX:
        decode_update(decoder, i);
        return;
    case PTX_FORM_MBARRIER_TEST_WAIT:
    case PTX_FORM_MBARRIER_TRY_WAIT:
        decode_test(decoder, i);
        return;
    default:
        decoder_fail(decoder);
    }
}
