/* See plan.h. */
#include "runtime/device/compile/plan.h"
#include "runtime/device/exec/exec_access.h"
#include "runtime/device/exec/exec_decoder.h"

#include <stdlib.h>

enum {
    CODE_MOST = 20000,
    SEGMENT_MOST = 96, /* what does not fit into a turn any more is interpreted */
    COLD_MOST = 2,     /* so few operations outside loops are not worth compiling */
    REGISTERS_MOST = 1 << 20,
    SETS_MOST = 4 << 20 /* bytes */
};

/* ---- steps ---------------------------------------------------------------------------------- */

static uint8_t width_of(const char *type)
{
    static const struct {
        const char *name;
        uint8_t width;
    } types[] = {{"uint16_t", 2}, {"int16_t", 2},  {"uint32_t", 4}, {"int32_t", 4},
                 {"float", 4},    {"uint64_t", 8}, {"int64_t", 8},  {"double", 8}};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (!strcmp(types[i].name, type))
            return types[i].width;
    return WIDTH_ANY;
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/* Whether the expression names the variable. */
static bool mentions(const char *expression, char variable)
{
    for (const char *at = strchr(expression, variable); at; at = strchr(at + 1, variable))
        if ((at == expression || !is_letter(at[-1])) && !is_letter(at[1]))
            return true;
    return false;
}

static void reads(struct step *step, uint32_t slot, uint8_t width)
{
    if (!(slot & SLOT_CONSTANT))
        step->reads[step->read_count++] = (struct operand){slot, width};
}

static void writes(struct step *step, uint32_t slot, uint8_t width)
{
    step->writes[step->write_count++] = (struct operand){slot, width};
}

static void place_lanes(struct step *step, const struct micro *op)
{
    const struct lowering *entry = step->entry;
    const bool select = entry->kind == LOWERING_SELECT;
    const uint32_t slots[] = {op->a, op->b, op->c};
    const char *types[] = {entry->a, entry->b, entry->c};
    step->kind = STEP_LANES;
    step->alone = entry->kind == LOWERING_ALONE;
    for (int k = 0; k < 3; k++)
        if (types[k] && (select || mentions(entry->expression, "abc"[k])))
            reads(step, slots[k], width_of(types[k]));
    if (select)
        reads(step, op->c, WIDTH_PREDICATE);
    writes(step, op->d, width_of(entry->d));
}

static void place_predicate(struct step *step, const struct micro *op)
{
    step->kind = STEP_LANES;
    reads(step, op->a, WIDTH_PREDICATE);
    if (mentions(step->entry->expression, 'b'))
        reads(step, op->b, WIDTH_PREDICATE);
    writes(step, op->d, WIDTH_PREDICATE);
}

static void place_setp(struct step *step, const struct micro *op)
{
    if (!lowering_comparison_of(op, &step->comparison)) {
        step->reads_all = true;
        return;
    }
    const struct lowering *compare = step->comparison.compare;
    step->kind = STEP_LANES;
    reads(step, op->a, width_of(compare->a));
    reads(step, op->b, width_of(compare->b));
    if (step->comparison.combine)
        reads(step, op->c, WIDTH_PREDICATE);
    writes(step, op->d, WIDTH_PREDICATE);
    if (step->comparison.second)
        writes(step, op->q, WIDTH_PREDICATE);
}

static void place_access(struct step *step, const struct micro *op)
{
    const bool store = op->option & ACCESS_WRITES;
    step->kind = STEP_ACCESS;
    reads(step, op->a, op->width);
    for (uint32_t k = 0; k < op->count; k++) {
        uint32_t slot = op->count == 1 ? op->d : op->slots[k];
        if (store)
            reads(step, slot, op->width2 > 8 ? WIDTH_ANY : op->width2);
        else
            writes(step, slot, op->width2 > 8 ? WIDTH_ANY : op->width2);
    }
}

/* What some handlers read besides slots. */
static bool place_source(struct step *step, const struct micro *op)
{
    const uint8_t kind = step->entry->kind;
    if (kind == LOWERING_PARAM && op->count == 1 && op->bytes == op->width2 && op->bytes > 1 &&
        op->bytes <= 8)
        writes(step, op->d, op->bytes);
    else if (kind == LOWERING_SPECIAL && lowering_special_of(op))
        writes(step, op->d, 4);
    else if (kind == LOWERING_WINDOW && op->width == 8 && op->width2 == 8)
        reads(step, op->a, 8), writes(step, op->d, 8);
    else
        return false;
    step->kind = STEP_LANES;
    return true;
}

static void place_fields(struct step *step, const struct micro *op)
{
    const uint32_t slots[] = {op->d, op->a, op->b, op->c, op->e, op->q};
    for (int k = 0; k < 6; k++)
        reads(step, slots[k], WIDTH_ANY);
}

static void place_barrier(struct step *step, const struct micro *op)
{
    reads(step, op->a, 4);
    if (op->option)
        reads(step, op->b, 4);
    if (op->kind == PTX_FORM_BAR_SYNC && !step->read_count && !op->option)
        step->kind = STEP_BARRIER;
}

static void place_step(struct step *step, const struct micro *op, bool kernel)
{
    step->kind = STEP_CALLED;
    step->entry = lowering_find((lowering_handler *)op->run);
    if (op->run == control_jump || op->run == control_branch || op->run == control_branch_not) {
        step->kind = op->run == control_jump ? STEP_JUMP : STEP_BRANCH;
        step->negated = op->run == control_branch_not;
        if (step->kind == STEP_BRANCH)
            reads(step, op->a, WIDTH_PREDICATE);
        return;
    }
    if (op->run == control_guard_on || op->run == control_guard_off)
        return;
    switch (step->entry ? step->entry->kind : 0) {
    case LOWERING_LANES:
    case LOWERING_ALONE:
    case LOWERING_SELECT:
        place_lanes(step, op);
        return;
    case LOWERING_PREDICATE:
        place_predicate(step, op);
        return;
    case LOWERING_SETP:
        place_setp(step, op);
        return;
    case LOWERING_ACCESS:
        place_access(step, op);
        return;
    case LOWERING_PARAM:
    case LOWERING_SPECIAL:
    case LOWERING_WINDOW:
        if (!place_source(step, op))
            place_fields(step, op);
        return;
    case LOWERING_BARRIER:
        if (op->kind == PTX_FORM_BAR_RED)
            place_fields(step, op);
        else
            place_barrier(step, op);
        return;
    case LOWERING_ATOMIC:
    case LOWERING_FIELDS:
        place_fields(step, op);
        return;
    case LOWERING_RETURN:
        step->reads_all = !kernel;
        return;
    default:
        step->reads_all = true;
    }
}

struct step plan_step_of(const struct micro *op, bool kernel)
{
    struct step step = {0};
    place_step(&step, op, kernel);
    return step;
}

bool plan_names_slots(const struct step *step)
{
    return !step->reads_all;
}

/* What is guarded runs under a mask of its own: all of it is called. */
static void place_steps(struct plan *plan)
{
    const struct program *program = plan->program;
    uint32_t guarded = 0;
    for (uint32_t pc = 0; pc < program->code_count; pc++) {
        const struct micro *op = &program->code[pc];
        if (op->run == control_guard_on)
            guarded = op->e;
        if (pc < guarded)
            plan->steps[pc] = (struct step){.kind = STEP_CALLED, .reads_all = true};
        else
            place_step(&plan->steps[pc], op, program->function->is_entry);
    }
}

/* ---- slots ---------------------------------------------------------------------------------- */

static bool number_slot(struct plan *plan, const struct operand *operand)
{
    if (operand->slot >= plan->program->register_bytes || operand->slot % 4)
        return operand->width == WIDTH_ANY;
    uint32_t *number = &plan->numbers[operand->slot / 4];
    if (!*number) {
        *number = ++plan->slot_count;
        plan->widths[*number] = WIDTH_ANY;
    }
    uint8_t *width = &plan->widths[*number];
    if (operand->width == WIDTH_ANY || *width == operand->width)
        return true;
    const bool first = *width == WIDTH_ANY;
    *width = operand->width;
    return first;
}

static bool number_slots(struct plan *plan)
{
    bool alike = true;
    for (uint32_t pc = 0; pc < plan->program->code_count; pc++) {
        const struct step *step = &plan->steps[pc];
        for (uint32_t k = 0; k < step->read_count; k++)
            alike &= number_slot(plan, &step->reads[k]);
        for (uint32_t k = 0; k < step->write_count; k++)
            alike &= number_slot(plan, &step->writes[k]);
    }
    plan->words = plan->slot_count / 64 + 1;
    return alike;
}

/* ---- segments ------------------------------------------------------------------------------- */

static void mark_targets(struct plan *plan)
{
    const struct program *program = plan->program;
    plan->starts[0] = 1;
    for (uint32_t pc = 0; pc < program->code_count; pc++) {
        const struct micro *op = &program->code[pc];
        const uint8_t kind = plan->steps[pc].kind;
        if (kind == STEP_JUMP || kind == STEP_BRANCH || op->run == control_guard_on)
            plan->starts[op->e] = 1;
        if (op->kind == MICRO_BRANCH_TABLE)
            for (uint32_t k = 0; k < op->e; k++)
                plan->starts[op->slots[k]] = 1;
        if (kind == STEP_JUMP || kind == STEP_BRANCH || kind == STEP_BARRIER)
            plan->starts[pc + 1] = 1;
        if (kind == STEP_BARRIER)
            plan->starts[pc] = 1;
        if (pc && (kind == STEP_CALLED) != (plan->steps[pc - 1].kind == STEP_CALLED))
            plan->starts[pc] = 1;
    }
}

/* Marks what lies between a jump back and its target. A function may be called in a loop. */
static void mark_loops(const struct plan *plan, uint8_t *in_loop)
{
    const struct program *program = plan->program;
    for (uint32_t pc = 0; pc < program->code_count; pc++) {
        const struct micro *op = &program->code[pc];
        const uint8_t kind = plan->steps[pc].kind;
        const bool jumps = kind == STEP_JUMP || kind == STEP_BRANCH;
        if (!program->function->is_entry || op->kind == MICRO_BRANCH_TABLE)
            memset(in_loop, 1, program->code_count);
        else if (jumps && op->e <= pc)
            memset(in_loop + op->e, 1, pc + 1 - op->e);
    }
}

/* Short pieces that run once are left to the interpreter: each would take the C compiler some
 * milliseconds. */
static bool leave_cold(struct plan *plan)
{
    const uint32_t count = plan->program->code_count;
    uint8_t *in_loop = calloc(count, 1);
    if (!in_loop)
        return false;
    mark_loops(plan, in_loop);
    for (uint32_t first = 0, end; first < count; first = end) {
        for (end = first + 1; end < count && !plan->starts[end];)
            end++;
        for (uint32_t pc = first; !in_loop[first] && end - first <= COLD_MOST && pc < end; pc++)
            if (plan->steps[pc].kind == STEP_LANES || plan->steps[pc].kind == STEP_ACCESS)
                plan->steps[pc].kind = STEP_CALLED;
    }
    free(in_loop);
    return true;
}

static bool cut_segments(struct plan *plan)
{
    const uint32_t count = plan->program->code_count;
    mark_targets(plan);
    if (!leave_cold(plan))
        return false;
    memset(plan->starts, 0, count);
    mark_targets(plan);
    for (uint32_t pc = 0, since = 0; pc < count; pc++) {
        since = plan->starts[pc] ? 0 : since + 1;
        if (since == SEGMENT_MOST) {
            plan->starts[pc] = 1;
            since = 0;
        }
        plan->segment_count += plan->starts[pc];
    }
    const size_t bytes = (size_t)plan->segment_count * plan->words * sizeof(uint64_t);
    plan->segments = calloc(plan->segment_count, sizeof *plan->segments);
    plan->live_sets = bytes <= SETS_MOST ? calloc(1, bytes) : NULL;
    if (!plan->segments || !plan->live_sets)
        return false;
    uint32_t at = 0;
    for (uint32_t pc = 0; pc < count; pc++) {
        if (pc && !plan->starts[pc])
            continue;
        plan->segments[at].first = pc;
        plan->segments[at].called = plan->steps[pc].kind == STEP_CALLED;
        if (at)
            plan->segments[at - 1].end = pc;
        at++;
    }
    plan->segments[at - 1].end = count;
    return true;
}

const struct segment *plan_segment(const struct plan *plan, uint32_t pc)
{
    uint32_t low = 0, high = plan->segment_count;
    while (high - low > 1) {
        uint32_t middle = (low + high) / 2;
        if (plan->segments[middle].first <= pc)
            low = middle;
        else
            high = middle;
    }
    return &plan->segments[low];
}

/* ---- liveness ------------------------------------------------------------------------------- */

uint32_t plan_number(const struct plan *plan, uint32_t slot)
{
    return slot < plan->program->register_bytes ? plan->numbers[slot / 4] : 0;
}

bool plan_is_live(const struct plan *plan, const uint64_t *set, uint32_t slot)
{
    const uint32_t number = plan_number(plan, slot);
    return set[number / 64] >> (number % 64) & 1;
}

/* Of what is guarded no writes are known: its mask is another. */
void plan_step_back(const struct plan *plan, const struct step *step, uint64_t *set)
{
    for (uint32_t k = 0; k < step->write_count; k++) {
        const uint32_t number = plan_number(plan, step->writes[k].slot);
        set[number / 64] &= ~(1ull << (number % 64));
    }
    for (uint32_t k = 0; k < step->read_count; k++) {
        const uint32_t number = plan_number(plan, step->reads[k].slot);
        set[number / 64] |= 1ull << (number % 64);
    }
    if (step->reads_all)
        memset(set, 0xff, plan->words * sizeof *set);
}

/* Slots that are read before they are written, from the segment's begin on. */
static uint64_t *live_of(const struct plan *plan, const struct segment *segment)
{
    return plan->live_sets + (size_t)(segment - plan->segments) * plan->words;
}

static void add(const struct plan *plan, uint64_t *set, const struct segment *other)
{
    const uint64_t *live = live_of(plan, other);
    for (uint32_t k = 0; k < plan->words; k++)
        set[k] |= live[k];
}

void plan_live_after(const struct plan *plan, const struct segment *segment, uint64_t *set)
{
    const struct step *last = &plan->steps[segment->end - 1];
    memset(set, 0, plan->words * sizeof *set);
    if (last->kind == STEP_JUMP || last->kind == STEP_BRANCH)
        add(plan, set, plan_segment(plan, plan->program->code[segment->end - 1].e));
    if (last->kind != STEP_JUMP && segment + 1 < plan->segments + plan->segment_count)
        add(plan, set, segment + 1);
}

static bool flow_back(struct plan *plan, struct segment *segment, uint64_t *set)
{
    plan_live_after(plan, segment, set);
    for (uint32_t pc = segment->end; pc > segment->first; pc--)
        plan_step_back(plan, &plan->steps[pc - 1], set);
    const size_t bytes = plan->words * sizeof *set;
    uint64_t *live = live_of(plan, segment);
    const bool changed = memcmp(live, set, bytes) != 0;
    memcpy(live, set, bytes);
    return changed;
}

static bool find_live(struct plan *plan)
{
    uint64_t *set = calloc(plan->words, sizeof *set);
    bool changed = set != NULL;
    while (changed) {
        changed = false;
        for (uint32_t k = plan->segment_count; k > 0; k--)
            changed |= flow_back(plan, &plan->segments[k - 1], set);
    }
    const bool found = set != NULL;
    free(set);
    return found;
}

bool plan_writes_first(const struct plan *plan)
{
    uint64_t any = 0;
    for (uint32_t k = 0; k < plan->words; k++) /* number 0 is no slot */
        any |= plan->live_sets[k] & (k ? ~0ull : ~1ull);
    return !any;
}

bool plan_skips(const struct plan *plan, const struct segment *segment)
{
    const struct segment *next = segment + 1;
    if (plan->steps[segment->end - 1].kind != STEP_BRANCH ||
        next == plan->segments + plan->segment_count || next->called)
        return false;
    const uint8_t last = plan->steps[next->end - 1].kind;
    return (last == STEP_LANES || last == STEP_ACCESS) &&
           plan->program->code[segment->end - 1].e == next->end;
}

/* ---- life ----------------------------------------------------------------------------------- */

struct plan *plan_create(const struct program *program)
{
    struct plan *plan = NULL;
    if (program->code_count == 0 || program->code_count > CODE_MOST ||
        program->register_bytes > REGISTERS_MOST || !(plan = calloc(1, sizeof *plan)))
        return NULL;
    plan->program = program;
    plan->steps = calloc(program->code_count, sizeof *plan->steps);
    plan->starts = calloc(program->code_count + 1, 1);
    plan->numbers = calloc(program->register_bytes / 4 + 1, sizeof *plan->numbers);
    plan->widths = calloc(program->register_bytes / 4 + 2, 1);
    bool made = plan->steps && plan->starts && plan->numbers && plan->widths;
    if (made)
        place_steps(plan);
    made = made && number_slots(plan) && cut_segments(plan) && find_live(plan);
    if (made)
        return plan;
    plan_destroy(plan);
    return NULL;
}

void plan_destroy(struct plan *plan)
{
    if (!plan)
        return;
    free(plan->steps);
    free(plan->starts);
    free(plan->segments);
    free(plan->numbers);
    free(plan->widths);
    free(plan->live_sets);
    free(plan);
}
