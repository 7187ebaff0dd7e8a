/* Blocks and ways. See flow.h. */
#include "runtime/sass/flow.h"

#include <stdlib.h>
#include <string.h>

enum { BYTES_MOST = 1 << 20, CALLEES_MOST = 64 };
enum { STEPS_A_UNIT = 16, WORK_BLOCK = 4 };
/* Where threads that wait at a barrier go on, if not at a block (plus FIRST). */
enum { RECONVERGE_NOWHERE, RECONVERGE_ANYWHERE, RECONVERGE_FIRST };

/* What is known of barriers where a block is entered. */
struct entry {
    uint32_t reconverge[STEP_BARRIERS];
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
    return step->kind == STEP_BRANCHES || step->kind == STEP_CALLS ||
           step->kind == STEP_SETS_BARRIER;
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

static uint32_t callee_of(struct walker *walker, uint32_t start, const uint32_t *starts)
{
    uint32_t i = 0;
    while (i < walker->flow->callee_count && starts[i] != start)
        i++;
    return i;
}

/* False: there are too many, it would take too long, or memory is short. */
static bool clobbers_find(struct walker *walker)
{
    struct flow *flow = walker->flow;
    uint32_t starts[CALLEES_MOST];
    flow->clobbers = calloc(CALLEES_MOST, sizeof *flow->clobbers);
    for (uint32_t i = 0; flow->clobbers && i < flow->block_count; i++) {
        const struct step *last = &flow->steps[flow->blocks[i].end - 1];
        if (last->kind != STEP_CALLS)
            continue;
        const uint32_t start = step_index(last->target), callee = callee_of(walker, start, starts);
        flow->blocks[i].callee = callee;
        if (callee < flow->callee_count)
            continue;
        if (callee == CALLEES_MOST || *walker->work > walker->most ||
            !clobbers_read(&flow->clobbers[callee], flow->steps, flow->count, start, walker->work,
                           walker->most))
            return false;
        starts[flow->callee_count++] = start;
    }
    return flow->clobbers;
}

static void blocks_mark(struct walker *walker)
{
    const struct flow *flow = walker->flow;
    block_mark(walker, 0);
    for (uint32_t i = 0; i < flow->count; i++) {
        if (has_target(&flow->steps[i]))
            block_mark(walker, step_index(flow->steps[i].target));
        if (ends_block(&flow->steps[i]))
            block_mark(walker, i + 1);
    }
}

/* False: memory is short. */
static bool blocks_make(struct walker *walker)
{
    struct flow *flow = walker->flow;
    uint32_t reconvergence = 0;
    blocks_mark(walker);
    for (uint32_t i = 0; i < flow->count; i++) {
        flow->block_count += walker->block_of[i];
        reconvergence += flow->steps[i].kind == STEP_SETS_BARRIER;
    }
    flow->blocks = calloc(flow->block_count + 1, sizeof *flow->blocks);
    flow->reconvergence = calloc(reconvergence + 1, sizeof *flow->reconvergence);
    walker->entries = calloc(flow->block_count + 1, sizeof *walker->entries);
    walker->turns = calloc(flow->block_count + 1, sizeof *walker->turns);
    if (!flow->blocks || !flow->reconvergence || !walker->entries || !walker->turns)
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
        if (flow->steps[i].kind == STEP_SETS_BARRIER)
            flow->reconvergence[flow->reconvergence_count++] =
                block_at(walker, step_index(flow->steps[i].target));
    return true;
}

/* ---- Ways ---- */

/* False: there is no such block. */
static bool way_to(struct walker *walker, uint32_t block, const uint32_t *reconverge)
{
    if (block == FLOW_NOWHERE)
        return false;
    struct entry *entry = &walker->entries[block];
    bool changed = !walker->flow->blocks[block].is_reached;
    walker->flow->blocks[block].is_reached = true;
    for (int i = 0; i < STEP_BARRIERS; i++) {
        const uint32_t joined =
            reconverge[i] == RECONVERGE_NOWHERE || reconverge[i] == entry->reconverge[i]
                ? entry->reconverge[i]
            : entry->reconverge[i] == RECONVERGE_NOWHERE ? reconverge[i]
                                                         : RECONVERGE_ANYWHERE;
        changed |= joined != entry->reconverge[i];
        entry->reconverge[i] = joined;
    }
    if (changed && !entry->waits) {
        entry->waits = true;
        walker->turns[walker->turn_count++] = block;
    }
    return true;
}

static void reconverge_anywhere(uint32_t *reconverge)
{
    for (int i = 0; i < STEP_BARRIERS; i++)
        reconverge[i] = RECONVERGE_ANYWHERE;
}

static void step_reconverges(const struct walker *walker, const struct step *step,
                             uint32_t *reconverge)
{
    if (step->kind == STEP_WRITES_ANY)
        reconverge_anywhere(reconverge);
    if (step->kind == STEP_CLEARS_BARRIER)
        reconverge[step->barrier] = RECONVERGE_ANYWHERE;
    if (step->kind != STEP_SETS_BARRIER)
        return;
    const uint32_t block = block_at(walker, step_index(step->target));
    reconverge[step->barrier] =
        step->always && block != FLOW_NOWHERE ? RECONVERGE_FIRST + block : RECONVERGE_ANYWHERE;
}

/* Behind a call what the callee wrote is not known. */
static void callee_reconverges(const struct flow *flow, const struct flow_block *block,
                               uint32_t *reconverge)
{
    const bool *written = flow->clobbers[block->callee].barriers;
    for (int i = 0; i < STEP_BARRIERS; i++)
        if (written[i])
            reconverge[i] = RECONVERGE_ANYWHERE;
}

/* False: there is none. */
static bool ways_to_reconvergence(struct walker *walker, struct flow_block *block, uint32_t to,
                                  const uint32_t *reconverge)
{
    const struct flow *flow = walker->flow;
    if (to == RECONVERGE_NOWHERE)
        return true;
    if (to >= RECONVERGE_FIRST) {
        block->taken = to - RECONVERGE_FIRST;
        return way_to(walker, block->taken, reconverge);
    }
    block->taken = FLOW_NOWHERE;
    block->to_reconvergence = true;
    *walker->work += flow->reconvergence_count;
    for (uint32_t i = 0; i < flow->reconvergence_count; i++)
        if (!way_to(walker, flow->reconvergence[i], reconverge))
            return false;
    return true;
}

/* The successors at the end of the block; false: one is not known. */
static bool ways_from(struct walker *walker, uint32_t index, uint32_t *reconverge)
{
    struct flow_block *block = &walker->flow->blocks[index];
    const struct step *last = &walker->flow->steps[block->end - 1];
    const bool calls = last->kind == STEP_CALLS;
    bool known = last->kind != STEP_JUMPS;
    if (calls || last->kind == STEP_BRANCHES) {
        block->taken = block_at(walker, step_index(last->target));
        known = way_to(walker, block->taken, reconverge);
    }
    if (last->kind == STEP_WAITS)
        known = ways_to_reconvergence(walker, block, reconverge[last->barrier], reconverge);
    if (calls)
        callee_reconverges(walker->flow, block, reconverge);
    /* no known instruction has set the barrier, so threads fall through */
    if (known && (calls || last->kind == STEP_WAITS || step_falls_through(last))) {
        block->next = block_at(walker, block->end);
        known = way_to(walker, block->next, reconverge);
    }
    return known;
}

static bool ways_find(struct walker *walker)
{
    const uint32_t nothing[STEP_BARRIERS] = {RECONVERGE_NOWHERE};
    bool known = way_to(walker, 0, nothing);
    while (known && walker->turn_count) {
        const uint32_t index = walker->turns[--walker->turn_count];
        const struct flow_block *block = &walker->flow->blocks[index];
        uint32_t reconverge[STEP_BARRIERS];
        memcpy(reconverge, walker->entries[index].reconverge, sizeof reconverge);
        walker->entries[index].waits = false;
        *walker->work += WORK_BLOCK + (block->end - block->first) / STEPS_A_UNIT;
        for (uint32_t i = block->first; i < block->end; i++)
            step_reconverges(walker, &walker->flow->steps[i], reconverge);
        known = *walker->work <= walker->most && ways_from(walker, index, reconverge);
    }
    return known;
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
    bool known = flow->steps && walker.block_of;
    for (uint32_t i = 0; known && i < flow->count; i++) {
        struct instruction instruction;
        memcpy(&instruction, instructions + (uint64_t)i * INSTRUCTION_BYTES, sizeof instruction);
        flow->steps[i] = step_of(instruction, (uint64_t)i * INSTRUCTION_BYTES, architecture);
    }
    known = known && blocks_make(&walker) && clobbers_find(&walker) && ways_find(&walker);
    free(walker.block_of);
    free(walker.entries);
    free(walker.turns);
    return known;
}

void flow_free(struct flow *flow)
{
    free(flow->steps);
    free(flow->blocks);
    free(flow->reconvergence);
    free(flow->clobbers);
}
