/* See lane_form.h. A register has a form: by how much its value grows from lane to lane. Forms flow
 * through the program until nothing changes. They hold for a group of 32 lanes that runs a segment
 * from its begin on.
 *
 * Lanes that part may meet again at any place that both sides can reach, also in different rounds
 * of a loop. Such segments are `apart`: what either side writes has no form where one of them
 * begins. (If all lanes are in a segment that one side cannot reach, then none has gone that way.)
 * Inside a segment all lanes compute together. */
#include "runtime/device/compile/lane_form.h"
#include "runtime/device/exec/exec_collective.h"
#include "runtime/device/exec/exec_decoder.h"

#include <stdlib.h>

enum {
    FORMS_MOST = 1 << 20,
    STEP_MOST = 1 << 20, /* so that what wraps, times as much, does not vanish in 64 bits */
    WRITTEN_MOST = OPERANDS_MAX * 2 + UINT8_MAX,
    WRITTEN_ANY = WRITTEN_MOST + 1
};

enum form_kind {
    FORM_NONE,  /* nothing came here yet */
    FORM_EXACT, /* lane l has the first one's value + l * step, modulo the width */
    FORM_WRAPS, /* the same, but that 32 bits may have wrapped before they were widened, once */
    FORM_UNKNOWN
};

struct form {
    uint8_t kind;
    int32_t step;
};
static const struct form UNKNOWN = {FORM_UNKNOWN, 0}, UNIFORM = {FORM_EXACT, 0};

struct analysis {
    const struct plan *plan;
    struct form *begin; /* by segment and number of a slot: where the segment begins */
    struct form *now;   /* by number: behind the step that was done last */
    uint8_t *segments;  /* by segment: SEGMENT_... */
    uint8_t *written;   /* by number: where lanes are not together */
    struct step *steps; /* by pc: as if none were called for its guard, or since it is cold */
    uint8_t *guarded;   /* by pc */
    uint8_t *accesses;
};
enum {
    SEGMENT_REACHED = 1,
    SEGMENT_PARTS = 2,  /* lanes may part in it, or at its end */
    SEGMENT_SPREAD = 4, /* which was taken into account */
    SEGMENT_APART = 8,
    SEGMENT_LEFT = 16, /* for `reach`: by the first way, by the second */
    SEGMENT_RIGHT = 32
};

/* ---- forms ---------------------------------------------------------------------------------- */

static struct form form_of(int64_t step, bool wraps)
{
    if (step > STEP_MOST || step < -STEP_MOST)
        return UNKNOWN;
    return (struct form){wraps && step ? FORM_WRAPS : FORM_EXACT, (int32_t)step};
}

static bool is_uniform(struct form a)
{
    return a.kind == FORM_EXACT && a.step == 0;
}

static struct form join(struct form a, struct form b)
{
    if (a.kind == FORM_NONE || b.kind == FORM_NONE)
        return a.kind == FORM_NONE ? b : a;
    if (a.kind == FORM_UNKNOWN || b.kind == FORM_UNKNOWN || a.step != b.step)
        return UNKNOWN;
    return a.kind > b.kind ? a : b;
}

static struct form sum(struct form a, struct form b, int64_t sign)
{
    const bool wraps = a.kind == FORM_WRAPS || b.kind == FORM_WRAPS;
    if (a.kind == FORM_UNKNOWN || b.kind == FORM_UNKNOWN ||
        (wraps && !is_uniform(a) && !is_uniform(b)))
        return UNKNOWN;
    return form_of(a.step + sign * b.step, wraps);
}

static struct form scaled(struct form a, int64_t factor)
{
    if (a.kind == FORM_UNKNOWN || factor > STEP_MOST || factor < -STEP_MOST)
        return UNKNOWN;
    return form_of(a.step * factor, a.kind == FORM_WRAPS);
}

/* ---- steps ---------------------------------------------------------------------------------- */

static struct form source(const struct analysis *analysis, uint32_t slot)
{
    return slot & SLOT_CONSTANT ? UNIFORM : analysis->now[plan_number(analysis->plan, slot)];
}

/* The value of a constant of `bytes` bytes. */
static bool constant(const struct analysis *analysis, uint32_t slot, const char *type,
                     int64_t *value)
{
    const uint8_t *at = analysis->plan->program->constants + (slot & ~SLOT_CONSTANT);
    int32_t narrow;
    if (!(slot & SLOT_CONSTANT))
        return false;
    if (strstr(type, "32")) {
        memcpy(&narrow, at, sizeof narrow);
        *value = !strcmp(type, "uint32_t") ? (int64_t)(uint32_t)narrow : narrow;
    } else if (strstr(type, "64")) {
        memcpy(value, at, sizeof *value);
    } else {
        return false;
    }
    return true;
}

static bool is_whole(const char *type)
{
    return type && (strstr(type, "int32") || strstr(type, "int64"));
}

/* As a 64-bit result takes a 32-bit source. */
static struct form widened(const struct step *step, struct form a, const char *type)
{
    const bool widens = strstr(step->entry->d, "64") && strstr(type, "32");
    return widens && a.kind == FORM_EXACT ? form_of(a.step, true) : a;
}

static struct form product(const struct analysis *analysis, const struct step *step,
                           const struct micro *op)
{
    const struct lowering *entry = step->entry;
    int64_t factor;
    if (constant(analysis, op->b, entry->b, &factor))
        return scaled(widened(step, source(analysis, op->a), entry->a), factor);
    if (constant(analysis, op->a, entry->a, &factor))
        return scaled(widened(step, source(analysis, op->b), entry->b), factor);
    return is_uniform(source(analysis, op->a)) && is_uniform(source(analysis, op->b)) ? UNIFORM
                                                                                      : UNKNOWN;
}

static bool starts_with(const char *text, const char *start)
{
    return strncmp(text, start, strlen(start)) == 0;
}

/* What the handlers of sums, products and shifts to the left compute: alu_integer.c, alu_bits.c. */
static struct form computed(const struct analysis *analysis, const struct step *step,
                            const struct micro *op)
{
    const struct lowering *entry = step->entry;
    const char *text = entry->expression;
    int64_t count;
    if (!is_whole(entry->d) || !is_whole(entry->a))
        return UNKNOWN;
    if (!strcmp(text, "a"))
        return widened(step, source(analysis, op->a), entry->a);
    if (!strcmp(text, "a + b") || !strcmp(text, "a - b"))
        return sum(source(analysis, op->a), source(analysis, op->b), text[2] == '+' ? 1 : -1);
    if (!strcmp(text, "(uint64_t)a *(uint64_t)b") ||
        !strcmp(text, "(uint64_t)a *(uint64_t)b + c") || !strcmp(text, "(int64_t)a *(int64_t)b") ||
        !strcmp(text, "(int64_t)a *(int64_t)b + c") ||
        !strcmp(text, "(uint64_t)a *(uint64_t)b + (uint64_t)c")) {
        const struct form found = product(analysis, step, op);
        return strchr(text, '+') ? sum(found, source(analysis, op->c), 1) : found;
    }
    if (starts_with(text, "b < ") && strstr(text, "(uint64_t)a << (b & ") &&
        constant(analysis, op->b, entry->b, &count) && count >= 0 && count < 20)
        return scaled(source(analysis, op->a), (int64_t)1 << count);
    return UNKNOWN;
}

static struct form result(const struct analysis *analysis, const struct step *step,
                          const struct micro *op)
{
    bool uniform = true;
    for (uint32_t k = 0; k < step->read_count; k++)
        uniform &= is_uniform(source(analysis, step->reads[k].slot));
    switch (step->entry->kind) {
    case LOWERING_SPECIAL:
        return form_of(lowering_special_of(op)->step, false);
    case LOWERING_WINDOW:
        return source(analysis, op->a);
    case LOWERING_LANES:
        return uniform ? UNIFORM : computed(analysis, step, op);
    default:
        return uniform ? UNIFORM : UNKNOWN;
    }
}

/* The slots that an operation may write, or WRITTEN_ANY. Of what is called they are all that its
 * fields name; what has a struct of its own may name others there. */
static uint32_t find_written(const struct step *step, const struct micro *op, uint32_t *slots)
{
    const uint32_t named[] = {op->d, op->a, op->b, op->c, op->e, op->q};
    uint32_t count = 0;
    for (uint32_t k = 0; k < step->write_count; k++)
        slots[count++] = step->writes[k].slot;
    if (step->kind != STEP_CALLED || (step->entry && step->entry->kind == LOWERING_RETURN))
        return count;
    if (!plan_names_slots(step) && (op->pointer || op->slots))
        return WRITTEN_ANY;
    for (uint32_t k = 0; k < sizeof named / sizeof *named; k++)
        if (!(named[k] & SLOT_CONSTANT))
            slots[count++] = named[k];
    for (uint32_t k = 0; op->slots && k < op->count; k++)
        slots[count++] = op->slots[k];
    return count;
}

static void set_written(struct analysis *analysis, const struct step *step, const struct micro *op,
                        struct form form)
{
    uint32_t slots[WRITTEN_MOST];
    const uint32_t count = find_written(step, op, slots);
    for (uint32_t k = 1; count == WRITTEN_ANY && k <= analysis->plan->slot_count; k++)
        analysis->now[k] = UNKNOWN;
    for (uint32_t k = 0; count != WRITTEN_ANY && k < count; k++) {
        const uint32_t number = plan_number(analysis->plan, slots[k]);
        if (number)
            analysis->now[number] = form;
    }
}

static uint8_t access_of(const struct analysis *analysis, const struct micro *op)
{
    const struct form address = source(analysis, op->a);
    if (is_uniform(address))
        return op->option & ACCESS_WRITES ? ACCESS_FORM_UNKNOWN : ACCESS_FORM_UNIFORM;
    return address.kind != FORM_UNKNOWN && address.step == op->bytes ? ACCESS_FORM_ROW
                                                                     : ACCESS_FORM_UNKNOWN;
}

static void take(struct analysis *analysis, uint32_t pc)
{
    const struct micro *op = &analysis->plan->program->code[pc];
    const struct step *step = &analysis->steps[pc];
    const bool computes = step->kind == STEP_LANES && !analysis->guarded[pc];
    if (step->kind == STEP_ACCESS)
        analysis->accesses[pc] = access_of(analysis, op);
    set_written(analysis, step, op, computes ? result(analysis, step, op) : UNKNOWN);
}

static void mark_written(struct analysis *analysis, const struct segment *segment)
{
    for (uint32_t pc = segment->first; pc < segment->end; pc++) {
        const struct micro *op = &analysis->plan->program->code[pc];
        uint32_t slots[WRITTEN_MOST];
        const uint32_t count = find_written(&analysis->steps[pc], op, slots);
        if (count == WRITTEN_ANY)
            memset(analysis->written, 1, analysis->plan->slot_count + 1);
        for (uint32_t k = 0; count != WRITTEN_ANY && k < count; k++)
            analysis->written[plan_number(analysis->plan, slots[k])] = 1;
    }
}

/* ---- where lanes part ----------------------------------------------------------------------- */

/* Whether lanes of a full warp may part at a step that a handler does. */
static bool called_parts(const struct analysis *analysis, uint32_t pc)
{
    const struct step *step = &analysis->steps[pc];
    const struct micro *op = &analysis->plan->program->code[pc];
    uint32_t members = 0;
    if (step->kind == STEP_LANES || step->kind == STEP_ACCESS || op->run == control_guard_on ||
        op->run == control_guard_off)
        return false;
    if (op->run == collective_run && op->e & SLOT_CONSTANT)
        memcpy(&members, analysis->plan->program->constants + (op->e & ~SLOT_CONSTANT), 4);
    if (members == ALL_LANES)
        return false;
    switch (step->entry ? step->entry->kind : 0) {
    case LOWERING_PARAM:
    case LOWERING_SPECIAL:
    case LOWERING_WINDOW:
    case LOWERING_ATOMIC:
    case LOWERING_RETURN: /* who leaves does not come back */
        return false;
    case LOWERING_BARRIER:
        return !(op->a & SLOT_CONSTANT);
    default:
        return true;
    }
}

static bool segment_parts(const struct analysis *analysis, const struct segment *segment)
{
    const struct plan *plan = analysis->plan;
    const struct micro *last = &plan->program->code[segment->end - 1];
    if (plan->steps[segment->end - 1].kind == STEP_BRANCH)
        return !is_uniform(source(analysis, last->a));
    for (uint32_t pc = segment->first; segment->called && pc < segment->end; pc++)
        if (called_parts(analysis, pc))
            return true;
    return false;
}

/* Where control goes from a segment: behind it, to a target; UINT32_MAX: not. (Of a jump table
 * nothing is analysed.) */
static void find_next(const struct analysis *analysis, uint32_t at, uint32_t next[2])
{
    const struct plan *plan = analysis->plan;
    const uint32_t last = plan->segments[at].end - 1;
    const struct step *step = &plan->steps[last];
    const bool jumps = step->kind == STEP_JUMP || step->kind == STEP_BRANCH;
    const bool ends = step->kind == STEP_JUMP || (step->entry && !analysis->guarded[last] &&
                                                  step->entry->kind == LOWERING_RETURN);
    next[0] = !ends && at + 1 < plan->segment_count ? at + 1 : UINT32_MAX;
    next[1] = jumps ? (uint32_t)(plan_segment(plan, plan->program->code[last].e) - plan->segments)
                    : UINT32_MAX;
}

/* Marks all segments that can be reached from one, itself too. */
static void reach(struct analysis *analysis, uint32_t from, uint8_t mark)
{
    bool more = from != UINT32_MAX && !(analysis->segments[from] & mark);
    if (more)
        analysis->segments[from] |= mark;
    while (more) {
        more = false;
        for (uint32_t at = 0; at < analysis->plan->segment_count; at++) {
            uint32_t next[2];
            find_next(analysis, at, next);
            for (int k = 0; k < 2; k++)
                if (analysis->segments[at] & mark && next[k] != UINT32_MAX &&
                    !(analysis->segments[next[k]] & mark)) {
                    analysis->segments[next[k]] |= mark;
                    more = true;
                }
        }
    }
}

/* Marks what is apart since lanes part at one segment. */
static void spread_from(struct analysis *analysis, uint32_t segment)
{
    const struct plan *plan = analysis->plan;
    const bool branches = plan->steps[plan->segments[segment].end - 1].kind == STEP_BRANCH;
    uint32_t next[2];
    find_next(analysis, segment, next);
    reach(analysis, next[0], SEGMENT_LEFT);
    reach(analysis, branches ? next[1] : next[0], SEGMENT_RIGHT);
    for (uint32_t at = 0; at < plan->segment_count; at++) {
        const uint8_t both = SEGMENT_LEFT | SEGMENT_RIGHT;
        if (analysis->segments[at] & both)
            mark_written(analysis, &plan->segments[at]);
        if ((analysis->segments[at] & both) == both)
            analysis->segments[at] |= SEGMENT_APART;
        analysis->segments[at] &= (uint8_t)~both;
    }
}

/* False: nothing was new. */
static bool spread(struct analysis *analysis)
{
    bool any = false;
    for (uint32_t at = 0; at < analysis->plan->segment_count; at++) {
        const uint8_t state = analysis->segments[at];
        if (!(state & SEGMENT_PARTS) || state & SEGMENT_SPREAD)
            continue;
        analysis->segments[at] |= SEGMENT_SPREAD;
        spread_from(analysis, at);
        any = true;
    }
    return any;
}

/* ---- the flow ------------------------------------------------------------------------------- */

static struct form *begin_of(const struct analysis *analysis, uint32_t segment)
{
    return analysis->begin + (size_t)segment * (analysis->plan->slot_count + 1);
}

static bool flow_to(struct analysis *analysis, uint32_t next)
{
    struct form *begin = begin_of(analysis, next);
    bool changed = !(analysis->segments[next] & SEGMENT_REACHED);
    analysis->segments[next] |= SEGMENT_REACHED;
    for (uint32_t k = 1; k <= analysis->plan->slot_count; k++) {
        struct form form = join(begin[k], analysis->now[k]);
        if (analysis->segments[next] & SEGMENT_APART && analysis->written[k])
            form = UNKNOWN;
        changed |= form.kind != begin[k].kind || form.step != begin[k].step;
        begin[k] = form;
    }
    return changed;
}

/* Does a segment. True: what comes behind it has changed. */
static bool flow(struct analysis *analysis, uint32_t at)
{
    const struct plan *plan = analysis->plan;
    const struct segment *segment = &plan->segments[at];
    uint32_t next[2];
    bool changed = false;
    if (!(analysis->segments[at] & SEGMENT_REACHED))
        return false;
    memcpy(analysis->now, begin_of(analysis, at), (plan->slot_count + 1) * sizeof *analysis->now);
    analysis->now[0] = UNKNOWN;
    for (uint32_t pc = segment->first; pc < segment->end; pc++)
        take(analysis, pc);
    if (segment_parts(analysis, segment))
        analysis->segments[at] |= SEGMENT_PARTS;
    find_next(analysis, at, next);
    for (int k = 0; k < 2; k++)
        if (next[k] != UINT32_MAX)
            changed |= flow_to(analysis, next[k]);
    return changed;
}

static bool can_analyse(const struct plan *plan)
{
    for (uint32_t pc = 0; pc < plan->program->code_count; pc++)
        if (plan->program->code[pc].kind == MICRO_BRANCH_TABLE)
            return false;
    return plan->program->function->is_entry &&
           (uint64_t)plan->segment_count * (plan->slot_count + 1) <= FORMS_MOST;
}

static void analyse(struct analysis *analysis)
{
    const struct plan *plan = analysis->plan;
    for (uint32_t pc = 0, end = 0; pc < plan->program->code_count; pc++) {
        const struct micro *op = &plan->program->code[pc];
        if (op->run == control_guard_on)
            end = op->e;
        analysis->guarded[pc] = pc < end;
        analysis->steps[pc] = plan_step_of(op, true);
    }
    for (uint32_t k = 1; k <= plan->slot_count; k++)
        begin_of(analysis, 0)[k] = UNIFORM; /* registers begin as zeros */
    analysis->segments[0] |= SEGMENT_REACHED;
    do {
        bool changed;
        do {
            changed = false;
            for (uint32_t at = 0; at < plan->segment_count; at++)
                changed |= flow(analysis, at);
        } while (changed);
    } while (spread(analysis));
}

uint8_t *lane_form_accesses(const struct plan *plan)
{
    const size_t slots = plan->slot_count + 1, segments = plan->segment_count;
    uint8_t *accesses = calloc(plan->program->code_count, 1);
    struct analysis analysis = {.plan = plan, .accesses = accesses};
    if (!accesses || !can_analyse(plan))
        return accesses;
    analysis.begin = calloc(slots * segments, sizeof *analysis.begin);
    analysis.now = calloc(slots, sizeof *analysis.now);
    analysis.segments = calloc(segments, 1);
    analysis.written = calloc(slots, 1);
    analysis.guarded = calloc(plan->program->code_count, 1);
    analysis.steps = calloc(plan->program->code_count, sizeof *analysis.steps);
    if (analysis.begin && analysis.now && analysis.segments && analysis.written &&
        analysis.guarded && analysis.steps) {
        analyse(&analysis);
    } else {
        free(accesses);
        accesses = NULL;
    }
    free(analysis.begin);
    free(analysis.now);
    free(analysis.segments);
    free(analysis.written);
    free(analysis.guarded);
    free(analysis.steps);
    return accesses;
}
