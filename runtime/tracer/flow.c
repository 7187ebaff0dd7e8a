/* Blocks and ways. See flow.h. */
#include "runtime/tracer/flow.h"

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

struct finder {
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

static void block_mark(struct finder *finder, uint32_t instruction)
{
    if (instruction < finder->flow->count)
        finder->block_of[instruction] = 1;
}

static uint32_t block_at(const struct finder *finder, uint32_t instruction)
{
    return instruction < finder->flow->count ? finder->block_of[instruction] - 1 : FLOW_NOWHERE;
}

static uint32_t callee_of(struct finder *finder, uint32_t place, const uint32_t *places)
{
    uint32_t i = 0;
    while (i < finder->flow->callee_count && places[i] != place)
        i++;
    return i;
}

/* False: there are too many, it would take too long, or memory is short. */
static bool callees_find(struct finder *finder)
{
    struct flow *flow = finder->flow;
    uint32_t places[CALLEES_MOST];
    flow->callees = calloc(CALLEES_MOST, sizeof *flow->callees);
    for (uint32_t i = 0; flow->callees && i < flow->block_count; i++) {
        const struct step *last = &flow->steps[flow->blocks[i].end - 1];
        if (last->kind != STEP_CALLS)
            continue;
        const uint32_t place = step_place(last->target), callee = callee_of(finder, place, places);
        flow->blocks[i].callee = callee;
        if (callee < flow->callee_count)
            continue;
        if (callee == CALLEES_MOST || *finder->work > finder->most ||
            !callee_read(&flow->callees[callee], flow->steps, flow->count, place, finder->work,
                         finder->most))
            return false;
        places[flow->callee_count++] = place;
    }
    return flow->callees;
}

static void blocks_mark(struct finder *finder)
{
    const struct flow *flow = finder->flow;
    block_mark(finder, 0);
    for (uint32_t i = 0; i < flow->count; i++) {
        if (has_target(&flow->steps[i]))
            block_mark(finder, step_place(flow->steps[i].target));
        if (ends_block(&flow->steps[i]))
            block_mark(finder, i + 1);
    }
}

/* False: memory is short. */
static bool blocks_make(struct finder *finder)
{
    struct flow *flow = finder->flow;
    uint32_t meetings = 0;
    blocks_mark(finder);
    for (uint32_t i = 0; i < flow->count; i++) {
        flow->block_count += finder->block_of[i];
        meetings += flow->steps[i].kind == STEP_MEETS;
    }
    flow->blocks = calloc(flow->block_count + 1, sizeof *flow->blocks);
    flow->meetings = calloc(meetings + 1, sizeof *flow->meetings);
    finder->entries = calloc(flow->block_count + 1, sizeof *finder->entries);
    finder->turns = calloc(flow->block_count + 1, sizeof *finder->turns);
    if (!flow->blocks || !flow->meetings || !finder->entries || !finder->turns)
        return false;
    uint32_t at = 0;
    for (uint32_t i = 0; i < flow->count; i++) {
        if (finder->block_of[i])
            flow->blocks[at++] =
                (struct flow_block){.first = i, .next = FLOW_NOWHERE, .taken = FLOW_NOWHERE};
        finder->block_of[i] = finder->block_of[i] ? at : 0;
        flow->blocks[at - 1].end = i + 1;
    }
    for (uint32_t i = 0; i < flow->count; i++)
        if (flow->steps[i].kind == STEP_MEETS)
            flow->meetings[flow->meeting_count++] =
                block_at(finder, step_place(flow->steps[i].target));
    return true;
}

/* ---- Ways ---- */

/* False: there is no such block. */
static bool way_to(struct finder *finder, uint32_t block, const uint32_t *meets)
{
    if (block == FLOW_NOWHERE)
        return false;
    struct entry *entry = &finder->entries[block];
    bool changed = !finder->flow->blocks[block].is_reached;
    finder->flow->blocks[block].is_reached = true;
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
        finder->turns[finder->turn_count++] = block;
    }
    return true;
}

static void meets_anywhere(uint32_t *meets)
{
    for (int i = 0; i < STEP_BARRIERS; i++)
        meets[i] = MEETS_ANYWHERE;
}

static void step_meets(const struct finder *finder, const struct step *step, uint32_t *meets)
{
    if (step->kind == STEP_WRITES_ANY)
        meets_anywhere(meets);
    if (step->kind != STEP_MEETS)
        return;
    const uint32_t block = block_at(finder, step_place(step->target));
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
static bool ways_to_meetings(struct finder *finder, struct flow_block *block, uint32_t to,
                             const uint32_t *meets)
{
    const struct flow *flow = finder->flow;
    if (to >= MEETS_FIRST) {
        block->taken = to - MEETS_FIRST;
        return way_to(finder, block->taken, meets);
    }
    block->taken = FLOW_NOWHERE;
    block->to_meetings = to == MEETS_ANYWHERE;
    *finder->work += flow->meeting_count;
    for (uint32_t i = 0; block->to_meetings && i < flow->meeting_count; i++)
        if (!way_to(finder, flow->meetings[i], meets))
            return false;
    return block->to_meetings && flow->meeting_count;
}

/* From the end of the block; false: that is not told. */
static bool ways_from(struct finder *finder, uint32_t index, uint32_t *meets)
{
    struct flow_block *block = &finder->flow->blocks[index];
    const struct step *last = &finder->flow->steps[block->end - 1];
    const bool calls = last->kind == STEP_CALLS;
    bool told = last->kind != STEP_JUMPS;
    if (calls || last->kind == STEP_BRANCHES) {
        block->taken = block_at(finder, step_place(last->target));
        told = way_to(finder, block->taken, meets);
    }
    if (last->kind == STEP_WAITS)
        told = ways_to_meetings(finder, block, meets[last->barrier], meets);
    if (calls)
        callee_meets(finder->flow, block, meets);
    if (told && (calls || step_goes_on(last))) {
        block->next = block_at(finder, block->end);
        told = way_to(finder, block->next, meets);
    }
    return told;
}

static bool ways_find(struct finder *finder)
{
    const uint32_t nothing[STEP_BARRIERS] = {MEETS_NOWHERE};
    bool told = way_to(finder, 0, nothing);
    while (told && finder->turn_count) {
        const uint32_t index = finder->turns[--finder->turn_count];
        const struct flow_block *block = &finder->flow->blocks[index];
        uint32_t meets[STEP_BARRIERS];
        memcpy(meets, finder->entries[index].meets, sizeof meets);
        finder->entries[index].waits = false;
        *finder->work += WORK_BLOCK + (block->end - block->first) / STEPS_A_UNIT;
        for (uint32_t i = block->first; i < block->end; i++)
            step_meets(finder, &finder->flow->steps[i], meets);
        told = *finder->work <= finder->most && ways_from(finder, index, meets);
    }
    return told;
}

bool flow_find(struct flow *flow, const uint8_t *instructions, uint64_t bytes, uint32_t *work,
               uint32_t most)
{
    struct finder finder = {.flow = flow, .work = work, .most = most};
    *flow = (struct flow){0};
    if (bytes < INSTRUCTION_BYTES || bytes > BYTES_MOST)
        return false;
    flow->count = (uint32_t)(bytes / INSTRUCTION_BYTES);
    *work += flow->count;
    flow->steps = malloc(flow->count * sizeof *flow->steps);
    finder.block_of = calloc(flow->count, sizeof *finder.block_of);
    bool told = flow->steps && finder.block_of;
    for (uint32_t i = 0; told && i < flow->count; i++) {
        struct instruction instruction;
        memcpy(&instruction, instructions + (uint64_t)i * INSTRUCTION_BYTES, sizeof instruction);
        flow->steps[i] = step_of(instruction, (uint64_t)i * INSTRUCTION_BYTES);
    }
    told = told && blocks_make(&finder) && callees_find(&finder) && ways_find(&finder);
    free(finder.block_of);
    free(finder.entries);
    free(finder.turns);
    return told;
}

void flow_free(struct flow *flow)
{
    free(flow->steps);
    free(flow->blocks);
    free(flow->meetings);
    free(flow->callees);
}
