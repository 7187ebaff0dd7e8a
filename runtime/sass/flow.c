/* Blocks and ways. See flow.h. */
#include "runtime/sass/flow.h"

#include <stdlib.h>
#include <string.h>

enum { BYTES_MOST = 1 << 20, CALLEES_MOST = 64 };
enum { STEPS_A_UNIT = 16, WORK_BLOCK = 4 };
/* Where threads that wait at a barrier go on, if not at a block (plus FIRST). */
enum { MEETS_NOWHERE, MEETS_ANYWHERE, MEETS_FIRST };

/* What is known of barriers where a block is entered. */
struct entry {
    uint32_t meets[STEP_BARRIERS];
    bool waits; /* for its turn */
};

struct walker {
    struct flow *flow;
    uint32_t *block_of; /* of the instructions that blocks begin with: plus one */
    struct entry *entries;
    uint32_t *turns, turn_count;
    uint32_t *work, most;
};

/* ---- Blocks ---- */

static bool has_target(const struct step *step)
{
    return step->kind == STEP_BRANCHES || step->kind == STEP_CALLS || step->kind == STEP_MEETS;
}

static bool ends_block(const struct step *step)
{
    return step->kind == STEP_BRANCHES || step->kind == STEP_CALLS || step->kind == STEP_ENDS ||
           step->kind == STEP_RETURNS || step->kind == STEP_WAITS || step->kind == STEP_JUMPS;
}

static void block_mark(struct walker *walker, uint32_t instruction)
{
    if (instruction < walker->flow->count)
        walker->block_of[instruction] = 1;
}

static uint32_t block_at(const struct walker *walker, uint32_t instruction)
{
    return instruction < walker->flow->count ? walker->block_of[instruction] - 1 : FLOW_NOWHERE;
}

static uint32_t callee_of(struct walker *walker, uint32_t place, const uint32_t *places)
{
    uint32_t i = 0;
    while (i < walker->flow->callee_count && places[i] != place)
        i++;
    return i;
}

/* False: there are too many, it would take too long, or memory is short. */
static bool callees_find(struct walker *walker)
{
    struct flow *flow = walker->flow;
    uint32_t places[CALLEES_MOST];
    flow->callees = calloc(CALLEES_MOST, sizeof *flow->callees);
    for (uint32_t i = 0; flow->callees && i < flow->block_count; i++) {
        const struct step *last = &flow->steps[flow->blocks[i].end - 1];
        if (last->kind != STEP_CALLS)
            continue;
        const uint32_t place = step_place(last->target), callee = callee_of(walker, place, places);
        flow->blocks[i].callee = callee;
        if (callee < flow->callee_count)
            continue;
        if (callee == CALLEES_MOST || *walker->work > walker->most ||
            !clobbers_read(&flow->callees[callee], flow->steps, flow->count, place, walker->work,
                           walker->most))
            return false;
        places[flow->callee_count++] = place;
    }
    return flow->callees;
}

static void blocks_mark(struct walker *walker)
{
    const struct flow *flow = walker->flow;
    block_mark(walker, 0);
    for (uint32_t i = 0; i < flow->count; i++) {
        if (has_target(&flow->steps[i]))
            block_mark(walker, step_place(flow->steps[i].target));
        if (ends_block(&flow->steps[i]))
            block_mark(walker, i + 1);
    }
}

/* False: memory is short. */
static bool blocks_make(struct walker *walker)
{
    struct flow *flow = walker->flow;
    uint32_t meetings = 0;
    blocks_mark(walker);
    for (uint32_t i = 0; i < flow->count; i++) {
        flow->block_count += walker->block_of[i];
        meetings += flow->steps[i].kind == STEP_MEETS;
    }
    flow->blocks = calloc(flow->block_count + 1, sizeof *flow->blocks);
    flow->meetings = calloc(meetings + 1, sizeof *flow->meetings);
    walker->entries = calloc(flow->block_count + 1, sizeof *walker->entries);
    walker->turns = calloc(flow->block_count + 1, sizeof *walker->turns);
    if (!flow->blocks || !flow->meetings || !walker->entries || !walker->turns)
        return false;
    uint32_t at = 0;
    for (uint32_t i = 0; i < flow->count; i++) {
        if (walker->block_of[i])
            flow->blocks[at++] =
                (struct flow_block){.first = i, .next = FLOW_NOWHERE, .taken = FLOW_NOWHERE};
        walker->block_of[i] = walker->block_of[i] ? at : 0;
        flow->blocks[at - 1].end = i + 1;
    }
    for (uint32_t i = 0; i < flow->count; i++)
        if (flow->steps[i].kind == STEP_MEETS)
            flow->meetings[flow->meeting_count++] =
                block_at(walker, step_place(flow->steps[i].target));
    return true;
}

/* ---- Ways ---- */

/* False: there is no such block. */
static bool way_to(struct walker *walker, uint32_t block, const uint32_t *meets)
{
    if (block == FLOW_NOWHERE)
        return false;
    struct entry *entry = &walker->entries[block];
    bool changed = !walker->flow->blocks[block].is_reached;
    walker->flow->blocks[block].is_reached = true;
    for (int i = 0; i < STEP_BARRIERS; i++) {
        const uint32_t joined = meets[i] == MEETS_NOWHERE || meets[i] == entry->meets[i]
                                    ? entry->meets[i]
                                : entry->meets[i] == MEETS_NOWHERE ? meets[i]
                                                                   : MEETS_ANYWHERE;
        changed |= joined != entry->meets[i];
        entry->meets[i] = joined;
    }
    if (changed && !entry->waits) {
        entry->waits = true;
        walker->turns[walker->turn_count++] = block;
    }
    return true;
}

static void meets_anywhere(uint32_t *meets)
{
    for (int i = 0; i < STEP_BARRIERS; i++)
        meets[i] = MEETS_ANYWHERE;
}

static void step_meets(const struct walker *walker, const struct step *step, uint32_t *meets)
{
    if (step->kind == STEP_WRITES_ANY)
        meets_anywhere(meets);
    if (step->kind != STEP_MEETS)
        return;
    const uint32_t block = block_at(walker, step_place(step->target));
    meets[step->barrier] =
        step->always && block != FLOW_NOWHERE ? MEETS_FIRST + block : MEETS_ANYWHERE;
}

/* Behind a call what the callee wrote is not known. */
static void callee_meets(const struct flow *flow, const struct flow_block *block, uint32_t *meets)
{
    const bool *written = flow->callees[block->callee].barriers;
    for (int i = 0; i < STEP_BARRIERS; i++)
        if (written[i])
            meets[i] = MEETS_ANYWHERE;
}

/* False: there is none. */
static bool ways_to_meetings(struct walker *walker, struct flow_block *block, uint32_t to,
                             const uint32_t *meets)
{
    const struct flow *flow = walker->flow;
    if (to == MEETS_NOWHERE)
        return true;
    if (to >= MEETS_FIRST) {
        block->taken = to - MEETS_FIRST;
        return way_to(walker, block->taken, meets);
    }
    block->taken = FLOW_NOWHERE;
    block->to_meetings = true;
    *walker->work += flow->meeting_count;
    for (uint32_t i = 0; i < flow->meeting_count; i++)
        if (!way_to(walker, flow->meetings[i], meets))
            return false;
    return true;
}

/* From the end of the block; false: that is not told. */
static bool ways_from(struct walker *walker, uint32_t index, uint32_t *meets)
{
    struct flow_block *block = &walker->flow->blocks[index];
    const struct step *last = &walker->flow->steps[block->end - 1];
    const bool calls = last->kind == STEP_CALLS;
    bool told = last->kind != STEP_JUMPS;
    if (calls || last->kind == STEP_BRANCHES) {
        block->taken = block_at(walker, step_place(last->target));
        told = way_to(walker, block->taken, meets);
    }
    if (last->kind == STEP_WAITS)
        told = ways_to_meetings(walker, block, meets[last->barrier], meets);
    if (calls)
        callee_meets(walker->flow, block, meets);
    /* threads that nobody said where to meet, as far as is known, go on */
    if (told && (calls || last->kind == STEP_WAITS || step_goes_on(last))) {
        block->next = block_at(walker, block->end);
        told = way_to(walker, block->next, meets);
    }
    return told;
}

static bool ways_find(struct walker *walker)
{
    const uint32_t nothing[STEP_BARRIERS] = {MEETS_NOWHERE};
    bool told = way_to(walker, 0, nothing);
    while (told && walker->turn_count) {
        const uint32_t index = walker->turns[--walker->turn_count];
        const struct flow_block *block = &walker->flow->blocks[index];
        uint32_t meets[STEP_BARRIERS];
        memcpy(meets, walker->entries[index].meets, sizeof meets);
        walker->entries[index].waits = false;
        *walker->work += WORK_BLOCK + (block->end - block->first) / STEPS_A_UNIT;
        for (uint32_t i = block->first; i < block->end; i++)
            step_meets(walker, &walker->flow->steps[i], meets);
        told = *walker->work <= walker->most && ways_from(walker, index, meets);
    }
    return told;
}

bool flow_find(struct flow *flow, const uint8_t *instructions, uint64_t bytes,
               uint32_t architecture, uint32_t *work, uint32_t most)
{
    struct walker walker = {.flow = flow, .work = work, .most = most};
    *flow = (struct flow){0};
    if (bytes < INSTRUCTION_BYTES || bytes > BYTES_MOST)
        return false;
    flow->count = (uint32_t)(bytes / INSTRUCTION_BYTES);
    *work += flow->count;
    flow->steps = malloc(flow->count * sizeof *flow->steps);
    walker.block_of = calloc(flow->count, sizeof *walker.block_of);
    bool told = flow->steps && walker.block_of;
    for (uint32_t i = 0; told && i < flow->count; i++) {
        struct instruction instruction;
        memcpy(&instruction, instructions + (uint64_t)i * INSTRUCTION_BYTES, sizeof instruction);
        flow->steps[i] = step_of(instruction, (uint64_t)i * INSTRUCTION_BYTES, architecture);
    }
    told = told && blocks_make(&walker) && callees_find(&walker) && ways_find(&walker);
    free(walker.block_of);
    free(walker.entries);
    free(walker.turns);
    return told;
}

void flow_free(struct flow *flow)
{
    free(flow->steps);
    free(flow->blocks);
    free(flow->meetings);
    free(flow->callees);
}
