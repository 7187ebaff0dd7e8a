/* Instructions that the lanes of a warp execute together (PTX ISA 9.7.9.6, 9.7.13.6 to .14): shfl,
 * vote, match, redux, elect, bar.warp.sync, activemask. Lanes named by a mask wait for one another
 * wherever they are: in another group, at another call of the same function, even at another
 * instruction of the same kind. */
#include "runtime/device/exec/exec_collective.h"
#include "runtime/device/exec/exec_half.h"
#include "runtime/device/exec/exec_lowering.h"

#include <math.h>

/* What takes part: one group's lanes at one instruction. */
struct part {
    uint32_t lanes;
    struct frame *frame;
    const struct micro *op;
    struct group *group; /* waiting; NULL: the running one */
};

/* Values of all lanes, gathered from the parts. */
struct exchange {
    uint32_t members;
    uint64_t a[WARP_LANES];
    uint32_t b[WARP_LANES], c[WARP_LANES];
    uint64_t result[WARP_LANES];
    uint32_t predicate; /* in: the source; out: the second destination */
};

static void *part_slot(const struct part *part, uint32_t offset)
{
    return offset & SLOT_CONSTANT ? part->frame->program->constants + (offset & ~SLOT_CONSTANT)
                                  : part->frame->slots + offset;
}

static void gather(const struct part *part, struct exchange *exchange)
{
    const struct micro *op = part->op;
    uint8_t *a = part_slot(part, op->a);
    uint32_t *b = part_slot(part, op->b), *c = part_slot(part, op->c);
    if (op->width == 0) {
        exchange->predicate = (exchange->predicate & ~part->lanes) | (*(uint32_t *)a & part->lanes);
        return;
    }
    for (uint32_t m = part->lanes; m; m &= m - 1) {
        int l = __builtin_ctz(m);
        exchange->a[l] = 0;
        memcpy(&exchange->a[l], a + (size_t)l * op->width, op->width);
        exchange->b[l] = b[l];
        exchange->c[l] = c[l];
    }
}

static void scatter(const struct part *part, const struct exchange *exchange)
{
    const struct micro *op = part->op;
    uint8_t *d = part_slot(part, op->d);
    if (op->option & COLLECTIVE_SECOND) {
        uint32_t *q = part_slot(part, op->q);
        *q = (*q & ~part->lanes) | (exchange->predicate & part->lanes);
    }
    if (!(op->option & COLLECTIVE_RESULT))
        return;
    if (op->width2 == 0) {
        uint32_t *p = (uint32_t *)(void *)d;
        *p = (*p & ~part->lanes) | (exchange->predicate & part->lanes);
        return;
    }
    for (uint32_t m = part->lanes; m; m &= m - 1) {
        int l = __builtin_ctz(m);
        memcpy(d + (size_t)l * op->width2, &exchange->result[l], op->width2);
    }
}

/* ---- operations ---------------------------------------------------------------------------- */

/* Section 9.7.9.6: c holds the clamp and, from bit 8, the mask of a segment. */
static void shuffle(const struct micro *op, struct exchange *e)
{
    uint32_t found = 0;
    for (uint32_t m = e->members; m; m &= m - 1) {
        int lane = __builtin_ctz(m);
        int b = e->b[lane] & 31, limit = e->c[lane] & 31, segment = e->c[lane] >> 8 & 31;
        int most = (lane & segment) | (limit & ~segment), least = lane & segment, from;
        bool in_range;
        switch (op->count) {
        case PTX_SHFL_UP:
            from = lane - b;
            in_range = from >= most;
            break;
        case PTX_SHFL_DOWN:
            from = lane + b;
            in_range = from <= most;
            break;
        case PTX_SHFL_BFLY:
            from = lane ^ b;
            in_range = from <= most;
            break;
        default:
            from = least | (b & ~segment);
            in_range = from <= most;
        }
        if (!in_range)
            from = lane;
        found |= (uint32_t)in_range << lane;
        /* from a lane that takes no part: undefined; here its own value */
        e->result[lane] = e->members >> from & 1 ? e->a[from] : e->a[lane];
    }
    e->predicate = found;
}

static void vote(const struct micro *op, struct exchange *e)
{
    uint32_t yes = e->predicate & e->members;
    bool result = op->count == PTX_VOTE_ALL   ? yes == e->members
                  : op->count == PTX_VOTE_ANY ? yes != 0
                                              : yes == e->members || yes == 0;
    for (int l = 0; l < WARP_LANES; l++)
        e->result[l] = yes;
    if (op->count != PTX_VOTE_BALLOT)
        e->predicate = result ? ALL_LANES : 0;
}

static void match(const struct micro *op, struct exchange *e)
{
    bool all = true;
    uint64_t first = e->a[__builtin_ctz(e->members)];
    for (uint32_t m = e->members; m; m &= m - 1) {
        int lane = __builtin_ctz(m);
        uint32_t equal = 0;
        for (uint32_t o = e->members; o; o &= o - 1)
            if (e->a[__builtin_ctz(o)] == e->a[lane])
                equal |= o & -o;
        e->result[lane] = equal;
        all &= e->a[lane] == first;
    }
    if (op->count != PTX_FORM_MATCH_ALL)
        return;
    e->predicate = all ? ALL_LANES : 0;
    for (int l = 0; l < WARP_LANES; l++)
        e->result[l] = all ? e->members : 0;
}

enum { REDUCE_SIGNED = 1, REDUCE_FLOAT = 2, REDUCE_ABSOLUTE = 4, REDUCE_NAN = 8 };

/* "If .NaN is specified, the result is NaN if any of the inputs is"; else only if all are. */
static uint32_t reduce_floats(const struct micro *op, uint32_t a, uint32_t b)
{
    const float x = float_from_bits(a), y = float_from_bits(b);
    if (x != x || y != y)
        return op->imm & REDUCE_NAN || (x != x && y != y) ? UINT32_C(0x7fffffff) : x != x ? b : a;
    const bool less = x < y || (x == y && signbit(x));
    return less == (op->count == PTX_ATOMIC_MIN) ? a : b;
}

static uint64_t reduce_pair(const struct micro *op, uint64_t x, uint64_t y)
{
    uint32_t a = (uint32_t)x, b = (uint32_t)y;
    if (op->imm & REDUCE_FLOAT)
        return reduce_floats(op, a, b);
    bool less = op->imm & REDUCE_SIGNED ? (int32_t)a < (int32_t)b : a < b;
    switch (op->count) {
    case PTX_ATOMIC_ADD:
        return a + b;
    case PTX_ATOMIC_MIN:
        return less ? a : b;
    case PTX_ATOMIC_MAX:
        return less ? b : a;
    case PTX_ATOMIC_AND:
        return a & b;
    case PTX_ATOMIC_OR:
        return a | b;
    default:
        return a ^ b;
    }
}

static void reduce(const struct micro *op, struct exchange *e)
{
    const uint64_t mask = op->imm & REDUCE_ABSOLUTE ? INT32_MAX : UINT64_MAX;
    uint32_t m = e->members;
    uint64_t result = e->a[__builtin_ctz(m)] & mask;
    if (op->imm & REDUCE_FLOAT) /* of a NaN alone the canonical one is left */
        result = reduce_pair(op, result, result);
    for (m &= m - 1; m; m &= m - 1)
        result = reduce_pair(op, result, e->a[__builtin_ctz(m)] & mask);
    for (int l = 0; l < WARP_LANES; l++)
        e->result[l] = result;
}

static void elect(struct exchange *e)
{
    int leader = __builtin_ctz(e->members);
    e->predicate = 1u << leader;
    for (int l = 0; l < WARP_LANES; l++)
        e->result[l] = (uint32_t)leader;
}

static void perform(const struct micro *op, struct exchange *exchange)
{
    switch (op->kind) {
    case COLLECTIVE_SHUFFLE:
        shuffle(op, exchange);
        break;
    case COLLECTIVE_VOTE:
        vote(op, exchange);
        break;
    case COLLECTIVE_MATCH:
        match(op, exchange);
        break;
    case COLLECTIVE_REDUCE:
        reduce(op, exchange);
        break;
    case COLLECTIVE_ELECT:
        elect(exchange);
        break;
    default:
        break;
    }
}

/* ---- exchange ------------------------------------------------------------------------------ */

static uint32_t member_mask(const struct part *part, int lane)
{
    if (part->op->option & COLLECTIVE_ACTIVE)
        return part->lanes;
    const uint32_t *masks = part_slot(part, part->op->e);
    return masks[lane];
}

/* Waiting groups that stand at a collective of the same kind with the same mask. */
static uint32_t find_parts(struct warp *w, const struct part *first, uint32_t members,
                           struct part *parts, uint32_t needed)
{
    uint32_t count = 0, present = first->lanes;
    parts[count++] = *first;
    for (uint32_t i = 0; i < w->group_count && (needed & ~present); i++) {
        struct group *group = &w->groups[i];
        if (i == w->current || !group->mask || group->state != GROUP_SYNC)
            continue;
        const struct micro *op = &group->frame->program->code[group->pc];
        struct part part = {group->mask, group->frame, op, group};
        bool alike = op->run == collective_run && op->kind == first->op->kind &&
                     op->count == first->op->count && op->width == first->op->width;
        /* a waiting group may hold lanes of several masks */
        for (uint32_t m = alike ? group->mask : 0; m; m &= m - 1)
            if (member_mask(&part, __builtin_ctz(m)) != members)
                part.lanes &= ~(m & -m);
        if (!alike || !part.lanes)
            continue;
        parts[count++] = part;
        present |= part.lanes;
    }
    return needed & ~present ? 0 : count;
}

/* Lanes of a waiting group have what they waited for: they go on behind the instruction. */
static void release(struct warp *w, const struct part *part)
{
    struct group *group = part->group;
    uint32_t pc = group->pc + 1;
    struct frame *frame = group->frame;
    group->mask &= ~part->lanes;
    warp_add(w, frame, pc, part->lanes);
}

/* All lanes of the mask are here: exchange. */
static void exchange_all(struct warp *w, struct part *parts, uint32_t count)
{
    struct exchange exchange = {0};
    for (uint32_t i = 0; i < count; i++) {
        exchange.members |= parts[i].lanes;
        gather(&parts[i], &exchange);
    }
    perform(parts[0].op, &exchange);
    for (uint32_t i = 0; i < count; i++)
        scatter(&parts[i], &exchange);
    for (uint32_t i = 0; i < count; i++)
        if (parts[i].group)
            release(w, &parts[i]);
}

/* Lanes of the running group with the mask of its first lane. */
static struct part take_part(struct warp *w, const struct micro *op, uint32_t left,
                             uint32_t *members)
{
    struct part part = {w->mask, w->frame, op, NULL};
    *members = member_mask(&part, __builtin_ctz(left));
    part.lanes = 0;
    struct part whole = {w->mask, w->frame, op, NULL};
    for (uint32_t m = left; m; m &= m - 1)
        if (member_mask(&whole, __builtin_ctz(m)) == *members)
            part.lanes |= m & -m;
    return part;
}

int collective_run(struct warp *w, const struct micro *op)
{
    uint32_t left = w->mask, waiting = 0;
    bool released = false;
    while (left) {
        uint32_t members;
        struct part parts[WARP_LANES + 1], part = take_part(w, op, left, &members);
        uint32_t needed = (members & w->alive) | part.lanes;
        uint32_t count = find_parts(w, &part, members, parts, needed);
        left &= ~part.lanes;
        if (count)
            exchange_all(w, parts, count);
        else
            waiting |= part.lanes;
        released |= count > 1;
    }
    if (!waiting && !released)
        return FLOW_NEXT;
    uint32_t pc = (uint32_t)(op - w->frame->program->code);
    if (waiting) {
        warp_leave(w, waiting);
        warp_add(w, w->frame, pc, waiting)->state = GROUP_SYNC;
    }
    w->pc = pc + 1;
    return FLOW_SWITCH;
}

LOWERING(collective_run, LOWERING_FIELDS, NULL, NULL, NULL, NULL, NULL)

/* ---- decoding ------------------------------------------------------------------------------ */

static struct micro *emit(struct decoder *decoder, uint8_t kind, uint8_t count,
                          const struct ptx_operand *mask)
{
    uint32_t e = mask ? decoder_source(decoder, mask, 32) : 0;
    struct micro *op = decoder_emit(decoder, collective_run);
    op->kind = kind;
    op->count = count;
    op->e = e;
    op->option = mask ? 0 : COLLECTIVE_ACTIVE;
    op->width = op->width2 = 4;
    return op;
}

static const struct ptx_operand *last_operand(const struct ptx_instruction *i, uint32_t fewest)
{
    return i->operand_count > fewest ? &i->operands[i->operand_count - 1] : NULL;
}

static void set_second(struct decoder *decoder, const struct ptx_instruction *i, size_t index)
{
    if (i->second.kind == PTX_OPERAND_NONE || index >= decoder->code_count)
        return;
    uint32_t q = decoder_destination(decoder, &i->second, 1);
    decoder->code[index].q = q;
    decoder->code[index].option |= COLLECTIVE_SECOND;
}

void decode_shfl(struct decoder *decoder, const struct ptx_instruction *i)
{
    uint32_t a = decoder_source(decoder, &i->operands[1], 32);
    uint32_t b = decoder_source(decoder, &i->operands[2], 32);
    uint32_t c = decoder_source(decoder, &i->operands[3], 32);
    uint32_t d = decoder_destination(decoder, &i->operands[0], 32);
    struct micro *op = emit(decoder, COLLECTIVE_SHUFFLE, i->shuffle, last_operand(i, 4));
    op->d = d;
    op->a = a;
    op->b = b;
    op->c = c;
    op->option |= COLLECTIVE_RESULT;
    if (i->shuffle == PTX_SHFL_NONE)
        decoder_fail(decoder);
    set_second(decoder, i, decoder->code_count - 1);
}

void decode_vote(struct decoder *decoder, const struct ptx_instruction *i)
{
    bool ballot = i->vote == PTX_VOTE_BALLOT;
    uint32_t a = decoder_source(decoder, &i->operands[1], 1);
    uint32_t d = decoder_destination(decoder, &i->operands[0], ballot ? 32 : 1);
    struct micro *op = emit(decoder, COLLECTIVE_VOTE, i->vote, last_operand(i, 2));
    op->d = d;
    op->a = a;
    op->width = 0;
    op->width2 = ballot ? 4 : 0;
    op->option |= COLLECTIVE_RESULT;
    if (i->vote == PTX_VOTE_NONE)
        decoder_fail(decoder);
}

void decode_match(struct decoder *decoder, const struct ptx_instruction *i)
{
    uint32_t bits = ptx_type_bits(i->type);
    uint32_t a = decoder_source(decoder, &i->operands[1], bits);
    uint32_t d = decoder_destination(decoder, &i->operands[0], 32);
    struct micro *op = emit(decoder, COLLECTIVE_MATCH, i->form, last_operand(i, 2));
    op->d = d;
    op->a = a;
    op->b = op->c = op->option & COLLECTIVE_ACTIVE ? a : op->e;
    op->width = (uint8_t)(bits / 8);
    op->option |= COLLECTIVE_RESULT;
    if (i->form != PTX_FORM_MATCH_ANY && i->form != PTX_FORM_MATCH_ALL)
        decoder_fail(decoder);
    set_second(decoder, i, decoder->code_count - 1);
}

void decode_redux(struct decoder *decoder, const struct ptx_instruction *i)
{
    uint32_t a = decoder_source(decoder, &i->operands[1], 32);
    uint32_t d = decoder_destination(decoder, &i->operands[0], 32);
    struct micro *op = emit(decoder, COLLECTIVE_REDUCE, i->atomic, last_operand(i, 2));
    op->d = d;
    op->a = op->b = op->c = a;
    const bool floats = i->type == PTX_F32;
    op->imm = (ptx_type_is_signed(i->type) && !floats ? REDUCE_SIGNED : 0) |
              (floats ? REDUCE_FLOAT : 0) | (i->abs ? REDUCE_ABSOLUTE : 0) |
              (i->nan ? REDUCE_NAN : 0);
    op->option |= COLLECTIVE_RESULT;
    bool known = i->atomic >= PTX_ATOMIC_ADD && i->atomic <= PTX_ATOMIC_XOR;
    if (floats)
        known = i->atomic == PTX_ATOMIC_MIN || i->atomic == PTX_ATOMIC_MAX;
    if (!known || (ptx_type_is_float(i->type) && !floats))
        decoder_fail(decoder);
}

void decode_elect(struct decoder *decoder, const struct ptx_instruction *i)
{
    uint32_t d = decoder_destination(decoder, &i->operands[0], 32);
    struct micro *op = emit(decoder, COLLECTIVE_ELECT, 0, &i->operands[1]);
    op->d = d;
    op->a = op->b = op->c = op->e;
    op->option |= COLLECTIVE_RESULT;
    set_second(decoder, i, decoder->code_count - 1);
}

void collective_decode_sync(struct decoder *decoder, const struct ptx_operand *mask)
{
    struct micro *op = emit(decoder, COLLECTIVE_SYNC, 0, mask);
    op->a = op->b = op->c = op->e;
}

static int active_mask(struct warp *w, const struct micro *op)
{
    uint32_t *d = slot(w, op->d), mask = w->mask;
    LANES(w, d[l] = mask);
    return FLOW_NEXT;
}

void decode_activemask(struct decoder *decoder, const struct ptx_instruction *i)
{
    uint32_t d = decoder_destination(decoder, &i->operands[0], 32);
    decoder_emit(decoder, active_mask)->d = d;
}
