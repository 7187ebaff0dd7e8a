/* See value_search.h. */
#include "runtime/sass/value_search.h"
#include "runtime/ptx/unaligned.h"

#include <stdlib.h>

enum { LOOKS_MOST = 20000, DEPTH_MOST = 24 };
#define NOWHERE UINT32_MAX

/* ---- The code ---- */

struct instruction value_search_instruction(const struct value_search *search, uint32_t place)
{
    const uint8_t *at = search->code + (size_t)place * INSTRUCTION_BYTES;
    return (struct instruction){read64(at), read64(at + 8)};
}

static bool is_move(uint32_t opcode)
{
    return opcode == OPCODE_MOV || opcode == OPCODE_IMAD /* of zeros */ || opcode == OPCODE_UMOV;
}

/* An operand of that bank, which becomes the number that its offset is; false: it has none. */
static bool names_address(struct instruction *instruction)
{
    const uint32_t form = instruction_form(*instruction);
    const uint64_t low = instruction->low;
    if ((form != 3 && form != 5) || !is_move(instruction_opcode(*instruction)) ||
        low >> 54 != VALUE_SEARCH_BANK || (instruction->high & INSTRUCTION_UNIFORM))
        return false;
    instruction->low = (low & UINT32_MAX) | (uint64_t)instruction_bits(low, 38, 16) << 32;
    instruction->low -= 1 << 9; /* form 5 is 4 then, and 3 is 2 */
    return true;
}

static struct step step_at(const struct value_search *search, uint32_t place, bool *of_address)
{
    struct instruction instruction = value_search_instruction(search, place);
    *of_address = names_address(&instruction);
    struct step step =
        step_of(instruction, (uint64_t)place * INSTRUCTION_BYTES, search->architecture);
    if (instruction_opcode(instruction) == OPCODE_LEPC) { /* it is known to write a pair */
        step.kind = STEP_WRITES;
        step.to = (uint16_t)instruction_bits(instruction.low, 16, 8);
        step.count = 2;
    }
    return step;
}

static int compare_branches(const void *one, const void *other)
{
    const struct value_branch *a = one, *b = other;
    return (a->to > b->to) - (a->to < b->to);
}

/* Threads that meet come from wherever they waited, and what is called from wherever it is called.
 */
static bool branches_read(struct value_search *search)
{
    bool of_address;
    search->branches = malloc(((size_t)search->count + 1) * sizeof *search->branches);
    for (uint32_t place = 0; search->branches && place < search->count; place++) {
        const struct step step = step_at(search, place, &of_address);
        search->leads_anywhere |= step.kind == STEP_JUMPS;
        if (step.kind == STEP_BRANCHES || step.kind == STEP_SETS_BARRIER || step.kind == STEP_CALLS)
            search->branches[search->branch_count++] =
                (struct value_branch){.from = step.kind == STEP_BRANCHES ? place : NOWHERE,
                                      .to = step_index(step.target)};
    }
    if (!search->branches)
        return false;
    qsort(search->branches, search->branch_count, sizeof *search->branches, compare_branches);
    return true;
}

/* The first branch to the place, or the first to one behind it. */
static uint32_t branch_first(const struct value_search *search, uint32_t place)
{
    uint32_t low = 0, high = search->branch_count;
    while (low < high) {
        const uint32_t middle = (low + high) / 2;
        if (search->branches[middle].to < place)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* ---- Values ---- */

static const struct value unknown = {VALUE_UNKNOWN, 0};

static struct value value_before(struct value_search *search, uint32_t reg, uint32_t place,
                                 int depth);

/* Of LDC and its like. */
static struct value value_loaded(struct value_search *search, const struct step *step, uint32_t reg,
                                 uint32_t place, int depth)
{
    const struct constant constant =
        instruction_constant_load(value_search_instruction(search, place));
    struct value index = {VALUE_NUMBER, 0};
    if ((constant.kind != CONSTANT_KNOWN && constant.kind != CONSTANT_INDEXED) ||
        constant.bank != VALUE_SEARCH_BANK || constant.bytes < 4)
        return unknown;
    if (constant.kind == CONSTANT_INDEXED)
        index = value_before(search,
                             constant.index + (constant.is_index_uniform ? REGISTER_UNIFORM : 0),
                             place, depth + 1);
    if (index.kind != VALUE_NUMBER)
        return unknown;
    return (struct value){VALUE_WORD, constant.offset + index.value + 4 * (reg - step->to)};
}

/* What the step, which writes the register whatever happens, puts there. */
static struct value value_written(struct value_search *search, const struct step *step,
                                  bool of_address, uint32_t reg, uint32_t place, int depth)
{
    const struct step_operand *from = &step->operands[0];
    if (step->kind == STEP_LOADS)
        return value_loaded(search, step, reg, place, depth);
    if (step->kind != STEP_MOVES || step->carries)
        return unknown;
    if (from->kind == OPERAND_REGISTER)
        return value_before(search, from->value + (reg - step->to), place, depth + 1);
    if (from->kind != OPERAND_CONSTANT || reg != step->to)
        return unknown;
    return (struct value){of_address ? VALUE_WORD : VALUE_NUMBER, from->value};
}

/* Once the step at the place is done. */
static struct value value_behind(struct value_search *search, uint32_t reg, uint32_t place,
                                 int depth)
{
    bool of_address;
    const struct step step = step_at(search, place, &of_address);
    if (step.kind == STEP_WRITES_ANY || step.kind == STEP_CALLS || step.kind == STEP_RETURNS)
        return unknown;
    if (reg < step.to || reg - step.to >= step.count)
        return value_before(search, reg, place, depth);
    return step.always ? value_written(search, &step, of_address, reg, place, depth) : unknown;
}

/* Where control comes to the place by branches, and perhaps by itself: what all ways say. */
static struct value value_of_ways(struct value_search *search, uint32_t reg, uint32_t place,
                                  uint32_t branch, bool goes_on, int depth)
{
    struct value all = goes_on ? value_behind(search, reg, place - 1, depth + 1) : unknown;
    bool any = goes_on;
    for (; branch < search->branch_count && search->branches[branch].to == place; branch++) {
        const uint32_t from = search->branches[branch].from;
        const struct value way =
            from == NOWHERE ? unknown : value_behind(search, reg, from, depth + 1);
        if (any && (way.kind != all.kind || way.value != all.value))
            return unknown;
        all = way;
        any = true;
    }
    return all;
}

/* Before the step at the place is done. */
static struct value value_before(struct value_search *search, uint32_t reg, uint32_t place,
                                 int depth)
{
    bool of_address;
    if (reg == REGISTER_ZERO || reg == REGISTER_UNIFORM_ZERO)
        return (struct value){VALUE_NUMBER, 0};
    while (place > 0 && depth < DEPTH_MOST && search->looks++ < LOOKS_MOST) {
        const struct step step = step_at(search, place - 1, &of_address);
        const bool goes_on = step_falls_through(&step) || step.kind == STEP_WRITES_ANY;
        const uint32_t branch = branch_first(search, place);
        if (branch < search->branch_count && search->branches[branch].to == place)
            return value_of_ways(search, reg, place, branch, goes_on, depth);
        if (!goes_on)
            return unknown;
        if (step.kind == STEP_WRITES_ANY || step.kind == STEP_CALLS ||
            (reg >= step.to && reg - step.to < step.count))
            return value_behind(search, reg, place - 1, depth + 1);
        place--;
    }
    return unknown;
}

/* ---- A search ---- */

bool value_search_open(struct value_search *search, const uint8_t *code, uint64_t bytes,
                       uint32_t architecture)
{
    *search = (struct value_search){
        .code = code, .count = (uint32_t)(bytes / INSTRUCTION_BYTES), .architecture = architecture};
    return branches_read(search) && !search->leads_anywhere;
}

void value_search_close(struct value_search *search)
{
    free(search->branches);
}

struct value value_search_before(struct value_search *search, uint32_t reg, uint32_t place)
{
    return value_before(search, reg, place, 0);
}
