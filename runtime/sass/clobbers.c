/* What functions write. See clobbers.h. */
#include "runtime/sass/clobbers.h"

#include <stdlib.h>
#include <string.h>

enum { STEPS_A_UNIT = 16, REGISTERS_A_UNIT = 8 };

/* Instructions that control comes to. */
struct reach {
    uint32_t count; /* of all */
    bool *reached;
    uint32_t *pending, pending_count; /* to go on from */
};

static void reach_add(struct reach *reach, uint32_t index)
{
    if (index >= reach->count || reach->reached[index])
        return;
    reach->reached[index] = true;
    reach->pending[reach->pending_count++] = index;
}

/* False: it may be anything. Who waits for the others may go on in whatever called it. */
static bool step_add(struct clobbers *clobbers, const struct step *step)
{
    const uint32_t end = step_written_end(step);
    if (step->kind == STEP_WRITES_ANY || step->kind == STEP_JUMPS || step->kind == STEP_WAITS)
        return false;
    for (uint32_t number = step->to; number < end; number++)
        clobbers->registers[number] = true;
    clobbers->predicates |= step_written_predicates(step);
    if (step->kind == STEP_SETS_BARRIER || step->kind == STEP_CLEARS_BARRIER)
        clobbers->barriers[step->barrier] = true;
    return true;
}

static void writes_anything(struct clobbers *clobbers)
{
    memset(clobbers->registers, true, sizeof clobbers->registers);
    memset(clobbers->barriers, true, sizeof clobbers->barriers);
    clobbers->predicates = UINT8_MAX;
}

static void follow(struct clobbers *clobbers, const struct step *steps, struct reach *reach,
                   uint32_t *work, uint32_t most)
{
    while (reach->pending_count && *work <= most) {
        const uint32_t index = reach->pending[--reach->pending_count];
        const struct step *step = &steps[index];
        *work += 1 + step->count / REGISTERS_A_UNIT;
        if (!step_add(clobbers, step)) {
            writes_anything(clobbers);
            return;
        }
        if (step->kind == STEP_BRANCHES || step->kind == STEP_CALLS ||
            step->kind == STEP_SETS_BARRIER)
            reach_add(reach, step_index(step->target));
        if (step_falls_through(step) || step->kind == STEP_CALLS)
            reach_add(reach, index + 1);
    }
    if (clobbers->registers[REGISTER_STACK_POINTER]) /* its frame was another one */
        memset(clobbers->registers + REGISTER_STACK, true, REGISTERS - REGISTER_STACK);
}

bool clobbers_read(struct clobbers *clobbers, const struct step *steps, uint32_t count,
                   uint32_t entry, uint32_t *work, uint32_t most)
{
    struct reach reach = {.count = count,
                          .reached = calloc(count + 1, sizeof *reach.reached),
                          .pending = malloc((count + 1) * sizeof *reach.pending)};
    const bool has_room = reach.reached && reach.pending;
    *clobbers = (struct clobbers){0};
    *work += count / STEPS_A_UNIT;
    if (has_room) {
        reach_add(&reach, entry);
        follow(clobbers, steps, &reach, work, most);
    }
    free(reach.reached);
    free(reach.pending);
    return has_room;
}
