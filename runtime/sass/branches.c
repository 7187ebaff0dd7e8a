/* Branches that parameters decide. See branches.h.
 *
 * What registers hold is followed until nothing changes (as in map_uses.c, but that a register
 * holds one value or what is not known), and then by which conditions control leaves blocks.
 */
#include "runtime/sass/branches.h"
#include "runtime/sass/regions.h"

#include <stdlib.h>
#include <string.h>

enum { WORK_MOST = 300000 };
enum { WORK_STATE = 10, STEPS_A_UNIT = 4, REGISTERS_A_UNIT = 16 };
enum { LESSERS_MOST = 32, CONDITIONS_MOST = 512, MULTIPLES_MOST = 256, BLOCKS_MOST = 1 << 13 };

/* A parameter, or none, and a number (reads.h); or a multiple of an index and a number; or nobody
 * knows. */
enum { TERM_MULTIPLE = 1 << 16, TERM_ANY = UINT32_MAX };

struct multiple {
    uint32_t index; /* as a table's: reads.h */
    uint32_t every;
};
enum { PREDICATES = 14 /* seven of threads, then the uniform data path's */ };

/* What is known at some place. */
struct state {
    uint16_t predicates[PREDICATES];        /* a condition plus one; 0: nobody knows */
    struct reads_term held[REGISTER_STACK]; /* as many as there are */
};

struct finder {
    const uint8_t *instructions;
    uint32_t params_at, words, work;
    uint32_t registers; /* without the stack's */
    struct flow flow;
    struct state **entries; /* by block; NULL: control has not come to it */
    uint32_t *turns, turn_count;
    bool *waits;
    uint16_t *decided_by; /* by block, as regions.h has it */
    uint32_t *read;       /* likewise */
    uint32_t guarded_count;
    struct regions_guarded guarded[REGIONS_GUARDED_MOST];
    uint32_t *guarded_read;
    uint64_t *guarded_in;
    uint32_t lesser_count, table_count, condition_count, multiple_count;
    struct reads_lesser lessers[LESSERS_MOST];
    struct reads_table tables[READS_TABLES_MOST];
    struct multiple multiples[MULTIPLES_MOST]; /* of TERM_MULTIPLE and on */
    struct reads_condition conditions[CONDITIONS_MOST];
};

static struct constant constant_at(const struct finder *finder, uint32_t index)
{
    struct instruction instruction;
    memcpy(&instruction, finder->instructions + (uint64_t)index * INSTRUCTION_BYTES,
           sizeof instruction);
    return instruction_constant(instruction);
}

/* ---- Values ---- */

static const struct reads_term any = {.word = TERM_ANY};

static bool is_equal(struct reads_term a, struct reads_term b)
{
    return a.word == b.word && a.number == b.number;
}

static struct reads_term number_of(uint32_t value)
{
    return (struct reads_term){READS_NO_WORD, value};
}

/* The word of the parameters that lies there in the bank. */
static struct reads_term parameter_at(const struct finder *finder, uint32_t offset)
{
    const uint32_t at = offset - finder->params_at;
    return at % 4 || at / 4 >= finder->words ? any : (struct reads_term){at / 4, 0};
}

static struct reads_term operand_read(const struct finder *finder, const struct state *state,
                                      struct step_operand operand, uint32_t which)
{
    if (operand.kind == OPERAND_CONSTANT)
        return number_of(operand.value);
    if (operand.kind == OPERAND_BANK)
        return parameter_at(finder, operand.value);
    return operand.value + which < finder->registers ? state->held[operand.value + which] : any;
}

/* ---- Indices ---- */

static bool is_multiple(struct reads_term term)
{
    return term.word >= TERM_MULTIPLE && term.word != TERM_ANY;
}

/* So many times the index, and a number. */
static struct reads_term multiple_of(struct finder *finder, uint32_t index, uint32_t every,
                                     uint32_t number)
{
    uint32_t i = 0;
    if (every == 0)
        return number_of(number);
    while (i < finder->multiple_count &&
           (finder->multiples[i].index != index || finder->multiples[i].every != every))
        i++;
    if (i == MULTIPLES_MOST)
        return any;
    if (i == finder->multiple_count)
        finder->multiples[finder->multiple_count++] = (struct multiple){index, every};
    return (struct reads_term){TERM_MULTIPLE + i, number};
}

static struct multiple multiple_at(const struct finder *finder, struct reads_term term)
{
    return finder->multiples[term.word - TERM_MULTIPLE];
}

static struct reads_term sum_of(struct finder *finder, struct reads_term a, struct reads_term b)
{
    if (is_multiple(a) && is_multiple(b)) {
        const struct multiple of = multiple_at(finder, a), more = multiple_at(finder, b);
        return of.index == more.index
                   ? multiple_of(finder, of.index, of.every + more.every, a.number + b.number)
                   : any;
    }
    if (a.word == TERM_ANY || b.word == TERM_ANY ||
        (a.word != READS_NO_WORD && b.word != READS_NO_WORD))
        return any;
    return (struct reads_term){a.word == READS_NO_WORD ? b.word : a.word, a.number + b.number};
}

static struct reads_term scaled(struct finder *finder, struct reads_term term, uint32_t every)
{
    if (term.word == READS_NO_WORD || every == 0)
        return number_of(term.number * every);
    if (is_multiple(term)) {
        const struct multiple of = multiple_at(finder, term);
        return multiple_of(finder, of.index, of.every * every, term.number * every);
    }
    return every == 1 ? term : any;
}

/* Of which one is a number. */
static struct reads_term product_of(struct finder *finder, struct reads_term a, struct reads_term b)
{
    if (a.word == READS_NO_WORD)
        return scaled(finder, b, a.number);
    return b.word == READS_NO_WORD ? scaled(finder, a, b.number) : any;
}

/* ---- Tables ---- */

/* The number of the one that is read at the constant's offset and that term; READS_TABLES_MOST:
 * that is not told, or there are too many. A number is one of a single place. */
static uint32_t table_of(struct finder *finder, struct constant constant, struct reads_term term)
{
    const struct multiple of = is_multiple(term) ? multiple_at(finder, term) : (struct multiple){0};
    const struct reads_table wanted = {.offset = constant.offset + term.number - finder->params_at,
                                       .every = of.every,
                                       .bytes = constant.bytes,
                                       .index = of.index};
    uint32_t i = 0;
    if ((!is_multiple(term) && term.word != READS_NO_WORD) || of.every > INT32_MAX ||
        wanted.offset >= finder->words * 4)
        return READS_TABLES_MOST;
    while (i < finder->table_count && memcmp(&finder->tables[i], &wanted, sizeof wanted) != 0)
        i++;
    if (i == finder->table_count && i < READS_TABLES_MOST)
        finder->tables[finder->table_count++] = wanted;
    return i;
}

static struct reads_term loaded(struct finder *finder, const struct state *state,
                                const struct step *step, struct constant constant, uint32_t which)
{
    if (constant.kind == CONSTANT_KNOWN && constant.bytes >= 4)
        return parameter_at(finder, constant.offset + which * 4);
    if (constant.kind != CONSTANT_INDEXED || constant.bytes > 4 || constant.is_signed)
        return any;
    const uint32_t table =
        table_of(finder, constant, operand_read(finder, state, step->operands[0], 0));
    return table < READS_TABLES_MOST ? multiple_of(finder, READS_LOADED + table, 1, 0) : any;
}

/* ---- Steps' values ---- */

/* Of step.h's; PREDICATES: it is none of these. */
static uint32_t predicate_number(uint8_t predicate)
{
    const uint32_t number = predicate & STEP_PREDICATE;
    return number == STEP_PREDICATE ? PREDICATES : predicate & STEP_UNIFORM ? 7 + number : number;
}

/* As numbers without signs, of which one is known. */
static struct reads_term lesser_of(struct finder *finder, struct reads_term a, struct reads_term b)
{
    const struct reads_term of = a.word == READS_NO_WORD ? b : a;
    const uint32_t most = a.word == READS_NO_WORD ? a.number : b.number;
    uint32_t i = 0;
    if (a.word != READS_NO_WORD && b.word != READS_NO_WORD)
        return any;
    if (of.word == READS_NO_WORD)
        return number_of(of.number < most ? of.number : most);
    if (of.word >= finder->words) /* a lesser itself, or any */
        return any;
    while (i < finder->lesser_count &&
           !(is_equal(finder->lessers[i].of, of) && finder->lessers[i].most == most))
        i++;
    if (i == LESSERS_MOST)
        return any;
    if (i == finder->lesser_count)
        finder->lessers[finder->lesser_count++] = (struct reads_lesser){of, most};
    return (struct reads_term){finder->words + i, 0};
}

/* Of two that a comparison of them chooses between, where that finds the lesser one. */
static struct reads_term chosen(struct finder *finder, const struct state *state,
                                const struct step *step, struct reads_term a, struct reads_term b)
{
    const uint32_t number = predicate_number(step->chooser);
    const uint16_t known = number < PREDICATES ? state->predicates[number] : 0;
    if (!known || finder->conditions[known - 1].is_signed)
        return any;
    const struct reads_condition *by = &finder->conditions[known - 1];
    const struct reads_term taken = step->chooser & STEP_NEGATED ? b : a,
                            left = step->chooser & STEP_NEGATED ? a : b;
    const bool is_less = is_equal(by->left, taken) && is_equal(by->right, left) &&
                         (by->comparison == READS_LESS || by->comparison == READS_LESS_EQUAL),
               is_greater =
                   is_equal(by->left, left) && is_equal(by->right, taken) &&
                   (by->comparison == READS_GREATER || by->comparison == READS_GREATER_EQUAL);
    return is_less || is_greater ? lesser_of(finder, a, b) : any;
}

/* What the step writes to the register step->to + which. */
static struct reads_term result_of(struct finder *finder, const struct state *state,
                                   const struct step *step, uint32_t index, uint32_t which)
{
    struct reads_term first = operand_read(finder, state, step->operands[0], 0), second;
    switch (step->kind) {
    case STEP_MOVES:
        return operand_read(finder, state, step->operands[0], which);
    case STEP_ADDS:
        if (step->carries || step->wide)
            return any;
        for (int i = 1; i < 3; i++)
            first = sum_of(finder, first, operand_read(finder, state, step->operands[i], 0));
        return first;
    case STEP_CHOOSES:
        second = operand_read(finder, state, step->operands[1], 0);
        return is_equal(first, second) ? first : chosen(finder, state, step, first, second);
    case STEP_LESSER:
        second = operand_read(finder, state, step->operands[1], 0);
        return lesser_of(finder, sum_of(finder, first, second),
                         operand_read(finder, state, step->operands[2], 0));
    case STEP_SCALES:
        return sum_of(finder, first,
                      product_of(finder, operand_read(finder, state, step->operands[1], 0),
                                 operand_read(finder, state, step->operands[2], 0)));
    case STEP_BLOCK:
        return multiple_of(finder, step->every, 1, 0);
    case STEP_LOADS:
        return loaded(finder, state, step, constant_at(finder, index), which);
    default:
        return any;
    }
}

/* ---- Conditions ---- */

/* Plus one; 0: there are too many, or it is not known. */
static uint16_t condition_of(struct finder *finder, const struct state *state,
                             const struct step *step)
{
    struct reads_condition wanted = {.left = operand_read(finder, state, step->operands[0], 0),
                                     .right = operand_read(finder, state, step->operands[1], 0),
                                     .comparison = step->comparison,
                                     .is_signed = step->is_signed};
    uint32_t i = 0;
    if (step->kind != STEP_COMPARES || wanted.left.word >= TERM_MULTIPLE ||
        wanted.right.word >= TERM_MULTIPLE || step->predicates[0] == step->predicates[1])
        return 0;
    finder->work += 1 + finder->condition_count / STEPS_A_UNIT;
    for (; i < finder->condition_count; i++) {
        const struct reads_condition *known = &finder->conditions[i];
        if (is_equal(known->left, wanted.left) && is_equal(known->right, wanted.right) &&
            known->comparison == wanted.comparison && known->is_signed == wanted.is_signed)
            return (uint16_t)(i + 1);
    }
    if (i == CONDITIONS_MOST)
        return 0;
    finder->conditions[finder->condition_count++] = wanted;
    return (uint16_t)(i + 1);
}

static void predicates_write(struct state *state, const struct step *step, uint16_t condition)
{
    for (int i = 1; i >= 0; i--) {
        const uint32_t number = predicate_number(step->predicates[i]);
        const uint16_t now = i == 0 ? condition : 0;
        if (number < PREDICATES)
            state->predicates[number] = step->always || state->predicates[number] == now ? now : 0;
    }
}

/* ---- Steps ---- */

static size_t state_bytes(const struct finder *finder)
{
    return offsetof(struct state, held) + finder->registers * sizeof(struct reads_term);
}

static void state_forget(const struct finder *finder, struct state *state)
{
    for (uint32_t i = 0; i < finder->registers; i++)
        state->held[i] = any;
    memset(state->predicates, 0, sizeof state->predicates);
}

static void step_do(struct finder *finder, struct state *state, uint32_t index)
{
    enum { READ_FIRST = 4 };
    const struct step *step = &finder->flow.steps[index];
    const uint32_t end = step_written_end(step);
    struct reads_term results[READ_FIRST];
    if (step->kind == STEP_WRITES_ANY) {
        finder->work += WORK_STATE;
        state_forget(finder, state);
        return;
    }
    finder->work += step->count / REGISTERS_A_UNIT;
    const uint16_t condition = condition_of(finder, state, step);
    for (uint32_t i = 0; step->to + i < end && i < READ_FIRST; i++)
        results[i] = result_of(finder, state, step, index, i);
    for (uint32_t i = 0; step->to + i < end && step->to + i < finder->registers; i++) {
        struct reads_term *held = &state->held[step->to + i];
        const struct reads_term now = i < READ_FIRST ? results[i] : any;
        *held = step->always || is_equal(*held, now) ? now : any;
    }
    predicates_write(state, step, condition);
}

static void callee_forget(const struct finder *finder, const struct callee *callee,
                          struct state *state)
{
    for (uint32_t i = 0; i < finder->registers; i++)
        if (callee->registers[i])
            state->held[i] = any;
    for (uint32_t i = 0; i < PREDICATES; i++)
        if (i >= 7 || callee->predicates >> i & 1) /* of uniform ones nobody knows */
            state->predicates[i] = 0;
}

/* ---- Blocks ---- */

/* Whether the one that is there became less. */
static bool state_join(const struct finder *finder, struct state *state, const struct state *other)
{
    bool changed = false;
    for (uint32_t i = 0; i < finder->registers; i++) {
        if (is_equal(state->held[i], other->held[i]) || is_equal(state->held[i], any))
            continue;
        state->held[i] = any;
        changed = true;
    }
    for (uint32_t i = 0; i < PREDICATES; i++) {
        changed |= state->predicates[i] && state->predicates[i] != other->predicates[i];
        if (state->predicates[i] != other->predicates[i])
            state->predicates[i] = 0;
    }
    return changed;
}

/* False: memory is short. */
static bool way_to(struct finder *finder, uint32_t block, const struct state *state)
{
    if (block == FLOW_NOWHERE)
        return true;
    finder->work += WORK_STATE;
    bool changed = true;
    if (finder->entries[block])
        changed = state_join(finder, finder->entries[block], state);
    else if ((finder->entries[block] = malloc(state_bytes(finder))))
        memcpy(finder->entries[block], state, state_bytes(finder));
    else
        return false;
    if (changed && !finder->waits[block]) {
        finder->waits[block] = true;
        finder->turns[finder->turn_count++] = block;
    }
    return true;
}

/* By which condition alone it is done; 0: that is not known. */
static uint16_t guarded_by(const struct state *state, const struct step *step)
{
    const uint32_t number = predicate_number(step->guard);
    return step->always || number == PREDICATES ? 0 : state->predicates[number];
}

/* Both of the ways behind it. */
static uint16_t decided_by(const struct state *state, const struct step *last)
{
    const bool parts = last->kind == STEP_BRANCHES || last->kind == STEP_ENDS;
    return parts ? guarded_by(state, last) : 0;
}

/* From the block on; false: memory is short. */
static bool follow(struct finder *finder, uint32_t index)
{
    const struct flow *flow = &finder->flow;
    const struct flow_block *block = &flow->blocks[index];
    const struct step *last = &flow->steps[block->end - 1];
    struct state state;
    memcpy(&state, finder->entries[index], state_bytes(finder));
    finder->work += WORK_STATE + (block->end - block->first) / STEPS_A_UNIT;
    for (uint32_t i = block->first; i < block->end; i++)
        step_do(finder, &state, i);
    finder->decided_by[index] = decided_by(&state, last);
    bool told = way_to(finder, block->taken, &state);
    for (uint32_t i = 0; told && block->to_meetings && i < flow->meeting_count; i++)
        told = way_to(finder, flow->meetings[i], &state);
    if (last->kind == STEP_CALLS)
        callee_forget(finder, &flow->callees[block->callee], &state);
    return told && way_to(finder, block->next, &state);
}

/* ---- What they read ---- */

static void constant_note(const struct finder *finder, struct constant constant, uint32_t *read)
{
    const uint32_t end = constant.offset + constant.bytes;
    for (uint32_t at = constant.offset & ~3u; at < end; at += 4) {
        const uint32_t word = (at - finder->params_at) / 4; /* before them: behind the last */
        if (word < finder->words)
            read[word / 32] |= UINT32_C(1) << word % 32;
    }
}

/* Its number among what is guarded; REGIONS_GUARDED_MOST: it is not, as far as is known, or there
 * are too many. Of an unknown instruction nobody knows which predicates guard it. */
static uint32_t guarded_find(struct finder *finder, const struct state *state,
                             const struct step *step)
{
    const uint16_t by = guarded_by(state, step);
    if (!by || step->kind == STEP_WRITES_ANY)
        return REGIONS_GUARDED_MOST;
    const struct regions_guarded wanted = {(uint16_t)(by - 1), !(step->guard & STEP_NEGATED)};
    uint32_t i = 0;
    while (i < finder->guarded_count && (finder->guarded[i].condition != wanted.condition ||
                                         finder->guarded[i].holds != wanted.holds))
        i++;
    if (i == finder->guarded_count && i < REGIONS_GUARDED_MOST)
        finder->guarded[finder->guarded_count++] = wanted;
    return i;
}

/* Whatever guards it. False: where is not told. */
static bool index_note(struct finder *finder, const struct state *state, const struct step *step,
                       struct constant constant)
{
    const struct reads_term term = operand_read(finder, state, step->operands[0], 0);
    return step->kind == STEP_LOADS && table_of(finder, constant, term) < READS_TABLES_MOST;
}

/* Once nothing changes. False: where something is read is not told. */
static bool block_note(struct finder *finder, uint32_t index)
{
    const struct flow_block *block = &finder->flow.blocks[index];
    const uint32_t chunks = reads_chunks(finder->words);
    struct state state;
    if (finder->entries[index])
        memcpy(&state, finder->entries[index], state_bytes(finder));
    else
        state_forget(finder, &state);
    for (uint32_t i = block->first; i < block->end; i++) {
        const struct constant constant = constant_at(finder, i);
        if (constant.kind == CONSTANT_ANY ||
            (constant.kind == CONSTANT_INDEXED &&
             !index_note(finder, &state, &finder->flow.steps[i], constant)))
            return false;
        if (constant.kind == CONSTANT_KNOWN) {
            const uint32_t guarded = guarded_find(finder, &state, &finder->flow.steps[i]);
            if (guarded < REGIONS_GUARDED_MOST)
                finder->guarded_in[index] |= UINT64_C(1) << guarded;
            constant_note(finder, constant,
                          guarded < REGIONS_GUARDED_MOST
                              ? finder->guarded_read + (size_t)guarded * chunks
                              : finder->read + (size_t)index * chunks);
        }
        step_do(finder, &state, i);
    }
    return true;
}

/* ---- All ---- */

/* False: memory is short. */
static bool finder_open(struct finder *finder)
{
    const uint32_t count = finder->flow.block_count;
    finder->entries = calloc(count, sizeof(struct state *));
    finder->turns = calloc(count, sizeof *finder->turns);
    finder->waits = calloc(count, sizeof *finder->waits);
    finder->decided_by = calloc(count, sizeof *finder->decided_by);
    finder->read = calloc((size_t)count * reads_chunks(finder->words) + 1, sizeof *finder->read);
    finder->guarded_read = calloc((size_t)REGIONS_GUARDED_MOST * reads_chunks(finder->words) + 1,
                                  sizeof *finder->guarded_read);
    finder->guarded_in = calloc(count, sizeof *finder->guarded_in);
    struct state nothing;
    state_forget(finder, &nothing);
    return finder->entries && finder->turns && finder->waits && finder->decided_by &&
           finder->read && finder->guarded_read && finder->guarded_in &&
           way_to(finder, 0, &nothing);
}

static void finder_close(struct finder *finder)
{
    for (uint32_t i = 0; finder->entries && i < finder->flow.block_count; i++)
        free(finder->entries[i]);
    free(finder->entries);
    free(finder->turns);
    free(finder->waits);
    free(finder->decided_by);
    free(finder->read);
    free(finder->guarded_read);
    free(finder->guarded_in);
    flow_free(&finder->flow);
    free(finder);
}

struct reads *branches_find(const uint8_t *instructions, uint64_t bytes, uint32_t architecture,
                            uint32_t params_at, uint32_t words)
{
    struct finder *finder = calloc(1, sizeof *finder);
    struct reads *reads = NULL;
    if (!finder)
        return NULL;
    finder->instructions = instructions;
    finder->params_at = params_at;
    finder->words = words;
    finder->registers = REGISTER_UNIFORM + (architecture < 100 ? 63 : 255);
    bool told =
        words <= READS_WORDS_MOST &&
        flow_find(&finder->flow, instructions, bytes, architecture, &finder->work, WORK_MOST) &&
        finder->flow.block_count < BLOCKS_MOST && finder_open(finder);
    while (told && finder->turn_count) {
        const uint32_t index = finder->turns[--finder->turn_count];
        finder->waits[index] = false;
        told = finder->work <= WORK_MOST && follow(finder, index);
    }
    for (uint32_t i = 0; told && i < finder->flow.block_count; i++)
        told = block_note(finder, i);
    if (told && (finder->condition_count || finder->table_count))
        reads = regions_find(&(struct regions_of){.flow = &finder->flow,
                                                  .words = words,
                                                  .lesser_count = finder->lesser_count,
                                                  .lessers = finder->lessers,
                                                  .table_count = finder->table_count,
                                                  .tables = finder->tables,
                                                  .condition_count = finder->condition_count,
                                                  .conditions = finder->conditions,
                                                  .decided_by = finder->decided_by,
                                                  .read = finder->read,
                                                  .guarded_count = finder->guarded_count,
                                                  .guarded = finder->guarded,
                                                  .guarded_read = finder->guarded_read,
                                                  .guarded_in = finder->guarded_in},
                             &finder->work, WORK_MOST);
    finder_close(finder);
    return reads;
}
