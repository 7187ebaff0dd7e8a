/* Branches that parameters decide. See branches.h.
 *
 * What registers hold is followed until nothing changes (as in map_uses.c, but that a register
 * holds one term of terms.h or what is not known), and then by which conditions control leaves
 * blocks. */
#include "runtime/sass/branches.h"
#include "runtime/sass/regions.h"
#include "runtime/sass/terms.h"

#include <stdlib.h>
#include <string.h>

enum { WORK_MOST = 300000 };
enum { WORK_STATE = 10, STEPS_A_UNIT = 4, REGISTERS_A_UNIT = 16 };
enum { CONDITIONS_MOST = 512, BLOCKS_MOST = 1 << 13 };
/* JOINED_MOST: a loop would else be gone round for each number that it counts. */
enum { GUARDED_MOST = 8, JOINED_MOST = 3 };
enum { PREDICATES = 14 /* seven of threads, then the uniform data path's */ };

/* What a register holds where that guard lets instructions be done: nothing has changed either
 * since. */
struct guarded {
    uint8_t guard; /* as a step's */
    uint16_t to;
    struct reads_term term;
};

/* What is known at some place. */
struct state {
    uint16_t predicates[PREDICATES]; /* a condition plus one; 0: nobody knows */
    uint16_t joined;                 /* where a block begins: how often a join changed registers */
    uint16_t guarded_count;          /* within a block */
    struct guarded guarded[GUARDED_MOST];
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
    uint32_t table_count, condition_count;
    struct terms terms;
    struct reads_table tables[READS_TABLES_MOST];
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

/* The word of the parameters that lies there in the bank. */
static struct reads_term parameter_at(const struct finder *finder, uint32_t offset)
{
    const uint32_t at = offset - finder->params_at;
    return at % 4 || at / 4 >= finder->words ? term_any : (struct reads_term){at / 4, 0};
}

static const struct guarded *guarded_at(const struct state *state, uint8_t guard, uint32_t to)
{
    for (uint32_t i = 0; i < state->guarded_count; i++)
        if (state->guarded[i].to == to && state->guarded[i].guard == guard)
            return &state->guarded[i];
    return NULL;
}

/* What the step has as its operand `which`, or in the register that is `beside` behind that one. */
static struct reads_term operand_read(const struct finder *finder, const struct state *state,
                                      const struct step *step, uint32_t which, uint32_t beside)
{
    const struct step_operand operand = step->operands[which];
    if (operand.kind == OPERAND_CONSTANT)
        return term_number(operand.value);
    if (operand.kind == OPERAND_BANK)
        return parameter_at(finder, operand.value);
    const uint32_t from = operand.value + beside;
    const struct guarded *guarded = step->always ? NULL : guarded_at(state, step->guard, from);
    if (guarded)
        return guarded->term;
    return from < finder->registers ? state->held[from] : term_any;
}

/* ---- Tables ---- */

/* Its number; READS_TABLES_MOST: there are too many. */
static uint32_t table_add(struct finder *finder, const struct reads_table *wanted)
{
    uint32_t i = 0;
    while (i < finder->table_count && memcmp(&finder->tables[i], wanted, sizeof *wanted) != 0)
        i++;
    if (i == finder->table_count && i < READS_TABLES_MOST)
        finder->tables[finder->table_count++] = *wanted;
    return i;
}

/* What a table has for an index. A word of the parameters is the one entry of a table before.
 * False: there are too many. */
static bool table_index(struct finder *finder, uint32_t *index)
{
    if (*index < TERM_INDEX_WORD)
        return true;
    const struct reads_table word = {.offset = (*index - TERM_INDEX_WORD) * 4, .bytes = 4};
    const uint32_t number = table_add(finder, &word);
    *index = READS_LOADED + number;
    return number < READS_TABLES_MOST;
}

/* Of a word of the parameters and a number: once that word. */
static struct term_multiple multiple_of(const struct finder *finder, struct reads_term term)
{
    if (term.word < finder->words)
        return (struct term_multiple){TERM_INDEX_WORD + term.word, 1};
    return term_is_multiple(term) ? terms_multiple_at(&finder->terms, term)
                                  : (struct term_multiple){0};
}

/* The number of the one that is read at the constant's offset and that term; READS_TABLES_MOST: the
 * table is not known, or there are too many. A plain number has one entry. */
static uint32_t table_of(struct finder *finder, struct constant constant, struct reads_term term)
{
    struct term_multiple of = multiple_of(finder, term);
    const uint32_t offset = constant.offset + term.number - finder->params_at;
    if ((!of.every && term.word != READS_NO_WORD) || of.every > INT32_MAX ||
        offset >= finder->words * 4 || !table_index(finder, &of.index))
        return READS_TABLES_MOST;
    return table_add(finder, &(struct reads_table){.offset = offset,
                                                   .every = of.every,
                                                   .bytes = constant.bytes,
                                                   .index = of.index});
}

static struct reads_term loaded(struct finder *finder, const struct state *state,
                                const struct step *step, struct constant constant, uint32_t which)
{
    if (constant.kind == CONSTANT_KNOWN && constant.bytes >= 4)
        return parameter_at(finder, constant.offset + which * 4);
    if (constant.kind != CONSTANT_INDEXED || constant.bytes > 4 || constant.is_signed)
        return term_any;
    const uint32_t table = table_of(finder, constant, operand_read(finder, state, step, 0, 0));
    return table < READS_TABLES_MOST ? terms_multiple(&finder->terms, READS_LOADED + table, 1, 0)
                                     : term_any;
}

/* ---- Steps' values ---- */

/* Of step.h's; PREDICATES: it is none of these. */
static uint32_t predicate_number(uint8_t predicate)
{
    const uint32_t number = predicate & STEP_PREDICATE;
    return number == STEP_PREDICATE ? PREDICATES : predicate & STEP_UNIFORM ? 7 + number : number;
}

/* One of two: where a comparison of them finds the lesser one, that. */
static struct reads_term chosen(struct finder *finder, const struct state *state,
                                const struct step *step, struct reads_term a, struct reads_term b)
{
    const uint32_t number = predicate_number(step->chooser);
    const uint16_t known = number < PREDICATES ? state->predicates[number] : 0;
    if (!known || finder->conditions[known - 1].is_signed)
        return terms_either(&finder->terms, a, b);
    const struct reads_condition *by = &finder->conditions[known - 1];
    const struct reads_term taken = step->chooser & STEP_NEGATED ? b : a,
                            left = step->chooser & STEP_NEGATED ? a : b;
    const bool is_less = term_is_equal(by->left, taken) && term_is_equal(by->right, left) &&
                         (by->comparison == READS_LESS || by->comparison == READS_LESS_EQUAL),
               is_greater =
                   term_is_equal(by->left, left) && term_is_equal(by->right, taken) &&
                   (by->comparison == READS_GREATER || by->comparison == READS_GREATER_EQUAL);
    return is_less || is_greater ? terms_lesser(&finder->terms, a, b)
                                 : terms_either(&finder->terms, a, b);
}

/* What the step writes to the register step->to + which. */
static struct reads_term result_of(struct finder *finder, const struct state *state,
                                   const struct step *step, uint32_t index, uint32_t which)
{
    struct terms *terms = &finder->terms;
    const struct reads_term first = operand_read(finder, state, step, 0, 0),
                            second = operand_read(finder, state, step, 1, 0),
                            third = operand_read(finder, state, step, 2, 0);
    switch (step->kind) {
    case STEP_MOVES:
        return operand_read(finder, state, step, 0, which);
    case STEP_ADDS:
        return step->carries || step->wide
                   ? term_any
                   : terms_sum(terms, terms_sum(terms, first, second), third);
    case STEP_CHOOSES:
        return chosen(finder, state, step, first, second);
    case STEP_LESSER:
        return terms_lesser(terms, terms_sum(terms, first, second), third);
    case STEP_SCALES:
        return terms_sum(terms, first, terms_product(terms, second, third));
    case STEP_BLOCK:
        return terms_multiple(terms, step->every, 1, 0);
    case STEP_LOADS:
        return loaded(finder, state, step, constant_at(finder, index), which);
    default:
        return term_any;
    }
}

/* ---- Conditions ---- */

/* Plus one; 0: there are too many, or it is not known. */
static uint16_t condition_of(struct finder *finder, const struct state *state,
                             const struct step *step)
{
    struct reads_condition wanted = {.left = operand_read(finder, state, step, 0, 0),
                                     .right = operand_read(finder, state, step, 1, 0),
                                     .comparison = step->comparison,
                                     .is_signed = step->is_signed};
    uint32_t i = 0;
    if (step->kind != STEP_COMPARES || wanted.left.word >= TERM_MULTIPLE ||
        wanted.right.word >= TERM_MULTIPLE || step->predicates[0] == step->predicates[1])
        return 0;
    finder->work += 1 + finder->condition_count / STEPS_A_UNIT;
    for (; i < finder->condition_count; i++) {
        const struct reads_condition *known = &finder->conditions[i];
        if (term_is_equal(known->left, wanted.left) && term_is_equal(known->right, wanted.right) &&
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
        state->held[i] = term_any;
    memset(state->predicates, 0, sizeof state->predicates);
    state->guarded_count = 0;
}

static bool is_written(const struct step *step, const struct guarded *guarded)
{
    const uint32_t by = predicate_number(guarded->guard);
    return (guarded->to >= step->to && guarded->to < step_written_end(step)) ||
           by == predicate_number(step->predicates[0]) ||
           by == predicate_number(step->predicates[1]);
}

/* What the step does changes what others did before it, and is done itself by a guard. */
static void guarded_write(const struct finder *finder, struct state *state, const struct step *step,
                          const struct reads_term *results, uint32_t count)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < state->guarded_count; i++)
        if (!is_written(step, &state->guarded[i]))
            state->guarded[kept++] = state->guarded[i];
    if (step->always || step->to + count > finder->registers)
        count = 0;
    for (uint32_t i = 0; i < count && kept < GUARDED_MOST; i++) {
        const struct guarded now = {step->guard, (uint16_t)(step->to + i), results[i]};
        const uint32_t by = predicate_number(step->guard);
        if (by != PREDICATES && by != predicate_number(step->predicates[0]) &&
            by != predicate_number(step->predicates[1]))
            state->guarded[kept++] = now;
    }
    state->guarded_count = (uint16_t)kept;
}

static void step_do(struct finder *finder, struct state *state, uint32_t index)
{
    enum { READ_FIRST = 4 };
    const struct step *step = &finder->flow.steps[index];
    const uint32_t end = step_written_end(step);
    struct reads_term results[READ_FIRST];
    uint32_t count = 0;
    if (step->kind == STEP_WRITES_ANY) {
        finder->work += WORK_STATE;
        state_forget(finder, state);
        return;
    }
    finder->work += step->count / REGISTERS_A_UNIT;
    const uint16_t condition = condition_of(finder, state, step);
    for (; step->to + count < end && count < READ_FIRST; count++)
        results[count] = result_of(finder, state, step, index, count);
    for (uint32_t i = 0; step->to + i < end && step->to + i < finder->registers; i++) {
        struct reads_term *held = &state->held[step->to + i];
        const struct reads_term now = i < READ_FIRST ? results[i] : term_any;
        *held = step->always ? now : terms_either(&finder->terms, *held, now);
    }
    guarded_write(finder, state, step, results, count);
    predicates_write(state, step, condition);
}

static void clobbers_forget(const struct finder *finder, const struct clobbers *callee,
                            struct state *state)
{
    for (uint32_t i = 0; i < finder->registers; i++)
        if (callee->registers[i])
            state->held[i] = term_any;
    for (uint32_t i = 0; i < PREDICATES; i++)
        if (i >= 7 || callee->predicates >> i & 1) /* of uniform ones nobody knows */
            state->predicates[i] = 0;
}

/* ---- Blocks ---- */

/* Whether less is known of the one that is there now. */
static bool state_join(struct finder *finder, struct state *state, const struct state *other)
{
    bool changed = false, more = false;
    for (uint32_t i = 0; i < finder->registers; i++) {
        const struct reads_term held = state->held[i],
                                now = terms_either(&finder->terms, held, other->held[i]);
        if (term_is_equal(now, held))
            continue;
        state->held[i] = state->joined < JOINED_MOST ? now : term_any;
        more |= state->held[i].word != TERM_ANY;
        changed = true;
    }
    state->joined += more;
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
    else if ((finder->entries[block] = malloc(state_bytes(finder)))) {
        memcpy(finder->entries[block], state, state_bytes(finder));
        finder->entries[block]->joined = finder->entries[block]->guarded_count = 0;
    } else {
        return false;
    }
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
    bool known = way_to(finder, block->taken, &state);
    for (uint32_t i = 0; known && block->to_reconvergence && i < flow->reconvergence_count; i++)
        known = way_to(finder, flow->reconvergence[i], &state);
    if (last->kind == STEP_CALLS)
        clobbers_forget(finder, &flow->clobbers[block->callee], &state);
    return known && way_to(finder, block->next, &state);
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

/* A load from a table, or from several tables of one entry each, under any guard. False: the
 * address is not known. */
static bool index_note(struct finder *finder, const struct state *state, const struct step *step,
                       struct constant constant)
{
    uint32_t numbers[TERM_NUMBERS_MOST];
    const struct reads_term term = operand_read(finder, state, step, 0, 0);
    const uint32_t count = terms_numbers(&finder->terms, term, numbers);
    bool known = step->kind == STEP_LOADS;
    if (!count)
        return known && table_of(finder, constant, term) < READS_TABLES_MOST;
    for (uint32_t i = 0; known && i < count; i++)
        known = table_of(finder, constant, term_number(numbers[i])) < READS_TABLES_MOST;
    return known;
}

/* Called once nothing changes. False: the address of a read is not known. */
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
    finder->words = finder->terms.words = words;
    finder->registers = REGISTER_UNIFORM + (architecture < 100 ? 63 : 255);
    bool known =
        words <= READS_WORDS_MOST &&
        flow_find(&finder->flow, instructions, bytes, architecture, &finder->work, WORK_MOST) &&
        finder->flow.block_count < BLOCKS_MOST && finder_open(finder);
    while (known && finder->turn_count) {
        const uint32_t index = finder->turns[--finder->turn_count];
        finder->waits[index] = false;
        known = finder->work + finder->terms.work <= WORK_MOST && follow(finder, index);
    }
    for (uint32_t i = 0; known && i < finder->flow.block_count; i++)
        known = block_note(finder, i);
    if (known && (finder->condition_count || finder->table_count))
        reads = regions_find(&(struct regions_of){.flow = &finder->flow,
                                                  .words = words,
                                                  .lesser_count = finder->terms.lesser_count,
                                                  .lessers = finder->terms.lessers,
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
