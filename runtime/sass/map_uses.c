/* Follows the addresses of tensor maps. See map_uses.h.
 *
 * A data-flow analysis: where paths join, so do the sets of values that registers may hold
 * (address_lattice.h). It iterates to a fixed point (Kildall, "A Unified Approach to Global Program
 * Optimization", POPL 1973). It ends because the sets only grow and are small. */
#include "runtime/sass/map_uses.h"
#include "runtime/sass/clobbers.h"
#include "runtime/sass/step.h"
#include "runtime/sass/address_lattice.h"

#include <stdlib.h>
#include <string.h>

/* Where the driver keeps generic addresses of constant bank 0 in it: of its parameters, which
 * nvcc's code loads, and of the bank itself, which nvjet's does. */
static const struct {
    uint32_t at, address_of;
} bank_addresses[] = {{0x198, 0x210}, {0x0c0, 0}};

enum { ARCHITECTURE = 90, PAIRED = REGISTERS / 2 };
/* It is done under a lock, so it is to end after some 50 ms: a unit takes a tenth of a microsecond
 * or so. What is seen takes up to 100,000. */
enum { WORK_MOST = 300000, WORK_TURN = 4, WORK_JOIN = 4, WORK_REACH = 12 };
enum { STEPS_A_UNIT = 16, WORDS_A_UNIT = 8 };
enum { BYTES_MOST = 4 << 20 }; /* of code; what is kept of each instruction takes more */
enum { CALLS_MOST = 4096 };
enum { RECONVERGE_NOWHERE, RECONVERGE_ANYWHERE = INT32_MAX };

/* What is known at some place. */
struct state {
    address_lattice_number held[PAIRED];
    uint32_t reconverge[STEP_BARRIERS]; /* where who waits goes on: an instruction plus one */
    uint8_t elected;                    /* a bit for each predicate of an elected thread */
};

/* Where some way of control enters. */
struct entry {
    bool reached, waits; /* for its turn */
    struct state state;
};

/* Places that control may come to from anywhere where it goes to one of them. */
struct gathering {
    uint32_t *places; /* instructions */
    uint32_t count;
    bool reached;
    struct state state;
};

/* Functions by where they begin. */
struct function {
    uint32_t start; /* an instruction */
    struct clobbers clobbers;
};

struct call {
    uint32_t at, function;
    bool reached;
    struct state before;
};

/* On the way from one entry to the next. What instructions with the same predicate write goes
 * together: it is kept apart until that may be another one. */
struct way {
    struct state state;
    uint32_t guards;                        /* how many pairs are kept apart */
    uint8_t guard[PAIRED];                  /* plus one; 0: nothing is kept apart */
    address_lattice_number guarded[PAIRED]; /* held if the predicate is as the guard says */
};

struct follower {
    const uint8_t *instructions;
    uint32_t count;           /* of instructions */
    struct step *steps;       /* what they do */
    bool followed[REGISTERS]; /* its value matters */
    uint32_t *entry_of;       /* by instruction: plus one; 0: control comes from the one before */
    struct entry *entries;
    uint32_t entry_count;
    uint32_t *turns, turn_count; /* instructions whose entries wait */
    struct gathering reconvergence;
    struct call *calls; /* by instruction */
    struct function *functions;
    uint32_t call_count, function_count;
    bool returns; /* from some call */
    struct state returned;
    uint32_t work;
    struct address_lattice *words;
    bool *copied; /* by instruction: a copy that control came to */
    struct map_uses *maps;
};

static struct instruction instruction_at(const struct follower *follower, uint32_t index)
{
    struct instruction instruction;
    memcpy(&instruction, follower->instructions + (uint64_t)index * INSTRUCTION_BYTES,
           sizeof instruction);
    return instruction;
}

/* ---- Reading ---- */

static uint8_t guard_of(const struct step *step)
{
    return step->always ? 0 : (uint8_t)(step->guard + 1);
}

/* What the step finds there. */
static address_lattice_number pair_read(struct follower *follower, const struct way *way,
                                        uint32_t pair, const struct step *step)
{
    if (!way->guard[pair])
        return way->state.held[pair];
    if (way->guard[pair] == guard_of(step))
        return way->guarded[pair];
    return address_lattice_join(follower->words, way->state.held[pair], way->guarded[pair]);
}

static struct address_set operand_read(struct follower *follower, const struct way *way,
                                       const struct step *step, int which, uint32_t half)
{
    const struct step_operand operand = step->operands[which];
    const uint32_t number = operand.value + half, sign = operand.value >> 31 ? UINT32_MAX : 0;
    if (operand.kind == OPERAND_CONSTANT)
        return address_set_of(
            (struct address_value){.kind = ADDRESS_CONSTANT, .value = half ? sign : operand.value});
    if (operand.kind != OPERAND_REGISTER || number >= REGISTERS)
        return address_set_of((struct address_value){.kind = ADDRESS_ANY});
    return address_set_half(follower->words, pair_read(follower, way, number / 2, step),
                            number % 2);
}

static struct address_set sum_of(struct follower *follower, const struct way *way,
                                 const struct step *step, uint32_t half)
{
    /* what one half of a wide sum carries to the other is the instruction's own affair */
    const bool carries = step->carries || half;
    struct address_set sum = operand_read(follower, way, step, 0, half);
    for (int i = 1; i < 3; i++) {
        if (step->operands[i].kind == OPERAND_CONSTANT && !step->operands[i].value && !carries)
            continue;
        const struct address_set other = operand_read(follower, way, step, i, half);
        follower->work += sum.count * other.count / WORDS_A_UNIT;
        sum = address_set_add(&sum, &other, carries);
    }
    return sum;
}

/* The first operand, and some multiple. */
static struct address_set element_of(struct follower *follower, const struct way *way,
                                     const struct step *step, uint32_t half)
{
    const struct address_set base = operand_read(follower, way, step, 0, half);
    const struct address_value carry = {.kind = ADDRESS_OVERFLOW},
                               low = {.kind = ADDRESS_CONSTANT, .every = step->every};
    const struct address_set index = address_set_of(half ? carry : low);
    return address_set_add(&base, &index, half);
}

static struct address_value loaded(struct constant constant, uint32_t word)
{
    const uint32_t offset = constant.offset + word * 4;
    for (size_t i = 0; constant.kind == CONSTANT_KNOWN && constant.bytes >= 4 &&
                       i < sizeof bank_addresses / sizeof *bank_addresses;
         i++) {
        if (offset == bank_addresses[i].at)
            return (struct address_value){.kind = ADDRESS_LOW,
                                          .value = bank_addresses[i].address_of};
        if (offset == bank_addresses[i].at + 4)
            return (struct address_value){.kind = ADDRESS_HIGH};
    }
    return (struct address_value){.kind = ADDRESS_ANY};
}

/* What the step writes to the register step->to + which. */
static struct address_set result_of(struct follower *follower, const struct way *way,
                                    const struct step *step, uint32_t index, uint32_t which)
{
    struct address_set first, second;
    switch (step->kind) {
    case STEP_MOVES:
        return operand_read(follower, way, step, 0,
                            step->operands[0].kind == OPERAND_REGISTER ? which : 0);
    case STEP_ADDS:
        return sum_of(follower, way, step, which);
    case STEP_CHOOSES:
        first = operand_read(follower, way, step, 0, 0);
        second = operand_read(follower, way, step, 1, 0);
        address_set_join(&first, &second);
        return first;
    case STEP_LOADS:
        return address_set_of(loaded(instruction_constant(instruction_at(follower, index)), which));
    case STEP_INDEXES:
        return element_of(follower, way, step, which);
    default:
        return address_set_of((struct address_value){.kind = ADDRESS_ANY});
    }
}

/* ---- Writing ---- */

/* From here on, whether it was written is not known. */
static void guard_end(struct follower *follower, struct way *way, uint32_t pair)
{
    if (!way->guard[pair])
        return;
    way->state.held[pair] =
        address_lattice_join(follower->words, way->state.held[pair], way->guarded[pair]);
    way->guard[pair] = 0;
    way->guards--;
}

static void guards_end(struct follower *follower, struct way *way)
{
    for (uint32_t i = 0; i < PAIRED && way->guards; i++)
        guard_end(follower, way, i);
}

/* The predicates that the step may write are others now. */
static void predicates_write(struct follower *follower, struct way *way, const struct step *step)
{
    const uint8_t written = step_written_predicates(step);
    way->state.elected &= (uint8_t)~written;
    if (step->elects && step->always)
        way->state.elected |= written;
    for (uint32_t i = 0; i < PAIRED && way->guards; i++) {
        const uint8_t predicate = (uint8_t)(way->guard[i] - 1) & (STEP_PREDICATE | STEP_UNIFORM);
        if (way->guard[i] && (predicate == step->predicates[0] || predicate == step->predicates[1]))
            guard_end(follower, way, i);
    }
}

static void register_write(struct follower *follower, struct way *way, const struct step *step,
                           uint32_t number, const struct address_set *words)
{
    const uint32_t pair = number / 2;
    const address_lattice_number before = pair_read(follower, way, pair, step);
    follower->work +=
        1 + address_lattice_get(follower->words, before)->count * words->count / WORDS_A_UNIT;
    const address_lattice_number after =
        address_lattice_put(follower->words, before, number % 2, words);
    if (way->guard[pair] != guard_of(step))
        guard_end(follower, way, pair);
    if (step->always)
        way->state.held[pair] = after;
    else {
        way->guards += way->guard[pair] == 0;
        way->guarded[pair] = after;
        way->guard[pair] = guard_of(step);
    }
}

/* An elected thread moves something to the uniform data path: that it is there is assumed, so the
 * register is written. */
static bool is_elected(const struct way *way, const struct step *step)
{
    return step->to >= REGISTER_UNIFORM && step->to < REGISTER_STACK &&
           step->guard < STEP_PREDICATE && way->state.elected >> step->guard & 1;
}

/* The frame is another one: what a function does first. */
static void stack_forget(struct follower *follower, struct way *way)
{
    for (uint32_t i = REGISTER_STACK / 2; i < PAIRED; i++) {
        guard_end(follower, way, i);
        way->state.held[i] = ADDRESS_LATTICE_ANY;
    }
}

static void step_write(struct follower *follower, struct way *way, const struct step *step,
                       uint32_t index)
{
    enum { READ_FIRST = 4 };
    const struct address_set any = address_set_of((struct address_value){.kind = ADDRESS_ANY});
    const uint32_t end = step_written_end(step);
    struct address_set results[READ_FIRST];
    for (uint32_t i = 0; step->to + i < end && i < READ_FIRST; i++)
        if (follower->followed[step->to + i])
            results[i] = result_of(follower, way, step, index, i);
    struct step written = *step;
    written.always |= is_elected(way, step);
    for (uint32_t i = 0; step->to + i < end; i++)
        if (follower->followed[step->to + i])
            register_write(follower, way, &written, step->to + i,
                           i < READ_FIRST ? &results[i] : &any);
    predicates_write(follower, way, step);
    if (step->to <= REGISTER_STACK_POINTER && end > REGISTER_STACK_POINTER)
        stack_forget(follower, way);
}

static void write_any(struct way *way)
{
    memset(way, 0, sizeof *way); /* ADDRESS_LATTICE_ANY */
    for (int i = 0; i < STEP_BARRIERS; i++)
        way->state.reconverge[i] = RECONVERGE_ANYWHERE;
}

/* ---- Copies ---- */

static bool is_before(struct map_use a, struct map_use b)
{
    return a.offset != b.offset ? a.offset < b.offset : a.every < b.every;
}

/* False: there are too many. */
static bool map_note(struct map_uses *maps, struct map_use use)
{
    uint32_t at = 0;
    while (at < maps->count && is_before(maps->uses[at], use))
        at++;
    if (at == maps->count || is_before(use, maps->uses[at])) {
        if (maps->count == MAP_USES_MOST)
            return false;
        memmove(maps->uses + at + 1, maps->uses + at, (maps->count - at) * sizeof *maps->uses);
        maps->uses[at] = (struct map_use){.offset = use.offset, .every = use.every};
        maps->count++;
    }
    maps->uses[at].copies |= use.copies;
    return true;
}

/* False: the copy may use a map that is not known. */
static bool copy_note(struct follower *follower, const struct way *way, const struct step *step)
{
    const uint32_t number = step->operands[0].value;
    if (step->operands[0].kind != OPERAND_REGISTER || number % 2)
        return false;
    const struct pair_set *set =
        address_lattice_get(follower->words, pair_read(follower, way, number / 2, step));
    for (uint32_t i = 0; i < set->count; i++) {
        const struct address_value low = set->pairs[i].halves[0], high = set->pairs[i].halves[1];
        if (low.kind != ADDRESS_LOW || high.kind != ADDRESS_HIGH ||
            !map_note(follower->maps, (struct map_use){low.value, step->copy, low.every}))
            return false;
    }
    return true;
}

/* ---- Ways ---- */

/* Whether the one that is there became more. */
static bool state_join(struct follower *follower, struct state *state, const struct state *other)
{
    bool changed = false;
    follower->work += WORK_JOIN;
    for (uint32_t i = 0; i < PAIRED; i++) {
        if (state->held[i] == other->held[i])
            continue;
        follower->work++;
        const address_lattice_number joined =
            address_lattice_join(follower->words, state->held[i], other->held[i]);
        changed |= joined != state->held[i];
        state->held[i] = joined;
    }
    for (int i = 0; i < STEP_BARRIERS; i++) {
        const uint32_t a = state->reconverge[i], b = other->reconverge[i];
        const uint32_t joined = a == b || b == RECONVERGE_NOWHERE ? a
                                : a == RECONVERGE_NOWHERE         ? b
                                                                  : RECONVERGE_ANYWHERE;
        changed |= joined != a;
        state->reconverge[i] = joined;
    }
    changed |= (state->elected & ~other->elected) != 0;
    state->elected &= other->elected;
    return changed;
}

/* False: there is no such place. */
static bool way_to(struct follower *follower, uint32_t index, const struct state *state)
{
    if (index >= follower->count || !follower->entry_of[index])
        return false;
    struct entry *entry = &follower->entries[follower->entry_of[index] - 1];
    bool changed = true;
    if (entry->reached)
        changed = state_join(follower, &entry->state, state);
    else
        entry->state = *state;
    follower->work += entry->reached ? 0 : WORK_REACH;
    entry->reached = true;
    if (changed && !entry->waits) {
        entry->waits = true;
        follower->turns[follower->turn_count++] = (uint32_t)index;
    }
    return true;
}

/* To all of them. False: there is none. */
static bool ways_gather(struct follower *follower, struct gathering *gathering,
                        const struct state *state)
{
    if (gathering->reached && !state_join(follower, &gathering->state, state))
        return true;
    if (!gathering->reached)
        gathering->state = *state;
    gathering->reached = true;
    for (uint32_t i = 0; i < gathering->count; i++)
        if (follower->work > WORK_MOST ||
            !way_to(follower, gathering->places[i], &gathering->state))
            return false;
    return gathering->count > 0;
}

/* Behind the call, once control comes back from what it calls: the rest is as it was. False: there
 * is no such place. */
static bool way_behind(struct follower *follower, const struct call *call)
{
    const struct clobbers *clobbers = &follower->functions[call->function].clobbers;
    follower->work++;
    if (!call->reached || !follower->returns)
        return true;
    struct state state = call->before;
    for (uint32_t number = 0; number < REGISTERS; number++) {
        if (!clobbers->registers[number] || !follower->followed[number])
            continue;
        follower->work++;
        const struct address_set words =
            address_set_half(follower->words, follower->returned.held[number / 2], number % 2);
        state.held[number / 2] =
            address_lattice_put(follower->words, state.held[number / 2], number % 2, &words);
    }
    for (int i = 0; i < STEP_BARRIERS; i++)
        if (clobbers->barriers[i])
            state.reconverge[i] = follower->returned.reconverge[i];
    state.elected &= (uint8_t)~clobbers->predicates;
    follower->work += WORK_JOIN;
    return way_to(follower, call->at + 1, &state);
}

static bool way_into(struct follower *follower, uint32_t index, uint32_t target,
                     const struct state *state)
{
    uint32_t at = 0;
    for (uint32_t end = follower->call_count; at < end;) {
        const uint32_t middle = at + (end - at) / 2;
        if (follower->calls[middle].at < index)
            at = middle + 1;
        else
            end = middle;
    }
    struct call *call = &follower->calls[at];
    if (call->reached)
        state_join(follower, &call->before, state);
    else
        call->before = *state;
    call->reached = true;
    return way_to(follower, target, state) && way_behind(follower, call);
}

/* Behind whatever was called. False: nothing is. */
static bool ways_back(struct follower *follower, const struct state *state)
{
    if (follower->returns && !state_join(follower, &follower->returned, state))
        return true;
    if (!follower->returns)
        follower->returned = *state;
    follower->returns = true;
    for (uint32_t i = 0; i < follower->call_count; i++)
        if (follower->work > WORK_MOST || !way_behind(follower, &follower->calls[i]))
            return false;
    return follower->call_count > 0;
}

/* To the reconvergence points of that barrier; an instruction may have moved another barrier's
 * point to it. */
static bool ways_to_reconvergence(struct follower *follower, uint8_t barrier,
                                  const struct state *state)
{
    if (state->reconverge[barrier] == RECONVERGE_NOWHERE)
        return false;
    if (state->reconverge[barrier] != RECONVERGE_ANYWHERE)
        return way_to(follower, state->reconverge[barrier] - 1, state);
    return ways_gather(follower, &follower->reconvergence, state);
}

/* Where control goes on, or does not, a predicate is known: in threads in which it does not hold,
 * none is elected. */
static void elected_ask(struct state *state, const struct step *step, bool taken)
{
    const uint8_t predicate = step->guard & STEP_PREDICATE;
    const bool holds = taken == !(step->guard & STEP_NEGATED);
    if (step->always || (step->guard & STEP_UNIFORM))
        return;
    if (predicate == STEP_PREDICATE) /* it asks for another one */
        state->elected = 0;
    else if (!holds)
        state->elected &= (uint8_t) ~(1u << predicate);
}

/* What is known where it goes, if it does, and where it goes on. */
static void ways_part(struct follower *follower, struct way *way, const struct step *step,
                      struct state *leaving)
{
    switch (step->kind) {
    case STEP_BRANCHES:
    case STEP_CALLS:
    case STEP_RETURNS:
    case STEP_WAITS:
        guards_end(follower, way);
        *leaving = way->state;
        elected_ask(leaving, step, true);
        elected_ask(&way->state, step, false);
        break;
    case STEP_ENDS:
        elected_ask(&way->state, step, false);
        break;
    default:
        break;
    }
}

/* Where control may go from the step, other than to the next one; false: a target is not known. */
static bool ways_take(struct follower *follower, struct way *way, const struct step *step,
                      uint32_t index)
{
    const uint32_t target = step_index(step->target);
    struct state state;
    ways_part(follower, way, step, &state);
    switch (step->kind) {
    case STEP_BRANCHES:
        return way_to(follower, target, &state);
    case STEP_CALLS:
        return way_into(follower, index, target, &state);
    case STEP_JUMPS:
        return false;
    case STEP_RETURNS:
        return ways_back(follower, &state);
    case STEP_SETS_BARRIER:
        way->state.reconverge[step->barrier] =
            step->always && target < follower->count ? target + 1 : RECONVERGE_ANYWHERE;
        return true;
    case STEP_CLEARS_BARRIER:
        way->state.reconverge[step->barrier] = RECONVERGE_ANYWHERE;
        return true;
    case STEP_WAITS:
        return ways_to_reconvergence(follower, step->barrier, &state);
    default:
        return true;
    }
}

/* From one entry to the next. False: a copy's map or a branch target is not known, or the code ends
 * here. */
static bool follow(struct follower *follower, uint32_t index)
{
    struct entry *entry = &follower->entries[follower->entry_of[index] - 1];
    struct way way = {.state = entry->state};
    entry->waits = false;
    follower->work += WORK_TURN;
    for (bool first = true; index < follower->count; index++, first = false) {
        if (!first && follower->entry_of[index]) {
            guards_end(follower, &way);
            return way_to(follower, index, &way.state);
        }
        const struct step *step = &follower->steps[index];
        if (++follower->work > WORK_MOST)
            return false;
        follower->copied[index] = step->kind == STEP_COPIES;
        if (step->kind == STEP_COPIES && !copy_note(follower, &way, step))
            return false;
        if (step->kind == STEP_WRITES_ANY)
            write_any(&way);
        else
            step_write(follower, &way, step, index);
        if (!ways_take(follower, &way, step, index))
            return false;
        if (!step_falls_through(step))
            return true;
    }
    return false;
}

/* ---- Before ---- */

static bool carries_values(const struct step *step)
{
    return step->kind == STEP_MOVES || step->kind == STEP_ADDS || step->kind == STEP_CHOOSES ||
           step->kind == STEP_INDEXES;
}

/* The registers that values of interest come through: those that copies use, and what is written to
 * such. */
static void followed_find(struct follower *follower)
{
    for (bool more = true; more && follower->work <= WORK_MOST;) {
        more = false;
        follower->work += follower->count / STEPS_A_UNIT;
        for (uint32_t i = follower->count; i-- > 0;) {
            const struct step *step = &follower->steps[i];
            bool matters = step->kind == STEP_COPIES;
            if (carries_values(step))
                for (uint32_t k = step->to; k < step_written_end(step); k++)
                    matters |= follower->followed[k];
            for (int k = 0; matters && k < 3; k++) {
                const struct step_operand operand = step->operands[k];
                const uint32_t width = step->wide || step->kind == STEP_COPIES ? 2
                                       : step->kind == STEP_MOVES              ? step->count
                                                                               : 1;
                for (uint32_t w = 0; operand.kind == OPERAND_REGISTER && w < width; w++)
                    if (operand.value + w < REGISTERS && !follower->followed[operand.value + w])
                        follower->followed[operand.value + w] = more = true;
            }
        }
    }
}

static void entry_mark(struct follower *follower, uint32_t index)
{
    if (index < follower->count && !follower->entry_of[index])
        follower->entry_of[index] = ++follower->entry_count;
}

static void entries_find(struct follower *follower)
{
    entry_mark(follower, 0);
    for (uint32_t i = 0; i < follower->count; i++) {
        const struct step *step = &follower->steps[i];
        if (step->kind == STEP_BRANCHES || step->kind == STEP_CALLS ||
            step->kind == STEP_SETS_BARRIER)
            entry_mark(follower, step_index(step->target));
        if (step->kind == STEP_CALLS)
            entry_mark(follower, i + 1);
    }
}

static uint32_t steps_count(const struct follower *follower, enum step_kind kind)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < follower->count; i++)
        count += follower->steps[i].kind == kind;
    return count;
}

/* False: memory is short. */
static bool reconvergence_find(struct follower *follower)
{
    struct gathering *reconvergence = &follower->reconvergence;
    reconvergence->places =
        malloc((steps_count(follower, STEP_SETS_BARRIER) + 1) * sizeof *reconvergence->places);
    for (uint32_t i = 0; reconvergence->places && i < follower->count; i++)
        if (follower->steps[i].kind == STEP_SETS_BARRIER)
            reconvergence->places[reconvergence->count++] = step_index(follower->steps[i].target);
    return reconvergence->places;
}

static uint32_t function_of(struct follower *follower, uint32_t start)
{
    uint32_t i = 0;
    while (i < follower->function_count && follower->functions[i].start != start)
        i++;
    follower->work += 1 + i / STEPS_A_UNIT;
    if (i == follower->function_count)
        follower->functions[follower->function_count++] = (struct function){.start = start};
    return i;
}

/* False: there are too many, it is too much, or memory is short. */
static bool calls_find(struct follower *follower)
{
    const uint32_t count = steps_count(follower, STEP_CALLS);
    if (count > CALLS_MOST)
        return false;
    follower->calls = calloc(count + 1, sizeof *follower->calls);
    follower->functions = calloc(count + 1, sizeof *follower->functions);
    if (!follower->calls || !follower->functions)
        return false;
    for (uint32_t i = 0; i < follower->count; i++)
        if (follower->steps[i].kind == STEP_CALLS)
            follower->calls[follower->call_count++] = (struct call){
                .at = i, .function = function_of(follower, step_index(follower->steps[i].target))};
    for (uint32_t i = 0; i < follower->function_count && follower->work <= WORK_MOST; i++)
        if (!clobbers_read(&follower->functions[i].clobbers, follower->steps, follower->count,
                           follower->functions[i].start, &follower->work, WORK_MOST))
            return false;
    return follower->work <= WORK_MOST;
}

static bool follower_open(struct follower *follower, uint64_t bytes)
{
    const struct state nothing = {{ADDRESS_LATTICE_ANY}, {RECONVERGE_NOWHERE}, 0};
    if (bytes > BYTES_MOST)
        return false;
    follower->count = (uint32_t)(bytes / INSTRUCTION_BYTES);
    follower->words = address_lattice_create();
    follower->copied = calloc(follower->count + 1, sizeof *follower->copied);
    follower->steps = malloc((follower->count + 1) * sizeof *follower->steps);
    follower->entry_of = calloc(follower->count + 1, sizeof *follower->entry_of);
    if (!follower->words || !follower->entry_of || !follower->steps || !follower->copied)
        return false;
    for (uint32_t i = 0; i < follower->count; i++)
        follower->steps[i] =
            step_of(instruction_at(follower, i), (uint64_t)i * INSTRUCTION_BYTES, ARCHITECTURE);
    followed_find(follower);
    entries_find(follower);
    if (!reconvergence_find(follower) || !calls_find(follower))
        return false;
    follower->entries = calloc(follower->entry_count + 1, sizeof *follower->entries);
    follower->turns = calloc(follower->entry_count + 1, sizeof *follower->turns);
    return follower->entries && follower->turns && way_to(follower, 0, &nothing);
}

static void follower_close(struct follower *follower)
{
    address_lattice_free(follower->words);
    free(follower->steps);
    free(follower->copied);
    free(follower->entry_of);
    free(follower->entries);
    free(follower->turns);
    free(follower->calls);
    free(follower->functions);
    free(follower->reconvergence.places);
}

bool map_uses_find(struct map_uses *maps, const uint8_t *instructions, uint64_t bytes)
{
    struct follower follower = {.instructions = instructions, .maps = maps};
    maps->count = 0;
    bool known = follower_open(&follower, bytes);
    while (known && follower.turn_count)
        known = follow(&follower, follower.turns[--follower.turn_count]);
    /* one that it did not come to may be behind a jump that is not known */
    for (uint32_t i = 0; known && i < follower.count; i++)
        known = follower.steps[i].kind != STEP_COPIES || follower.copied[i];
    follower_close(&follower);
    return known;
}
