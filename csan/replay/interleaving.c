/* See interleaving.h. */
#include "csan/replay/interleaving.h"
#include "csan/base/array.h"

/* NULL: memory is short. */
static void *copy_of(const void *items, size_t count, size_t item_bytes)
{
    void *copy = malloc((count + 1) * item_bytes);
    if (copy && count)
        memcpy(copy, items, count * item_bytes);
    return copy;
}

struct interleaving *interleaving_create(const struct link_scan *scan, size_t count)
{
    struct interleaving *made = calloc(1, sizeof *made);
    if (made)
        made->processes = calloc(count + 1, sizeof *made->processes);
    bool good = made && made->processes;
    for (size_t i = 0; good && i < count; i++) {
        const struct link_process *links = link_scan_of(scan, i);
        struct interleaving_process *process = &made->processes[made->count++];
        process->taken_count = links->taken_count;
        process->wanted_count = links->wanted_count;
        process->taken = copy_of(links->taken, links->taken_count, sizeof *links->taken);
        process->wanted = copy_of(links->wanted, links->wanted_count, sizeof *links->wanted);
        good = process->taken && process->wanted;
    }
    if (good)
        return made;
    interleaving_destroy(made);
    return NULL;
}

void interleaving_destroy(struct interleaving *interleaving)
{
    if (!interleaving)
        return;
    for (size_t i = 0; i < interleaving->count; i++) {
        free(interleaving->processes[i].taken);
        free(interleaving->processes[i].wanted);
    }
    free(interleaving->processes);
    free(interleaving->turns);
    free(interleaving);
}

void interleaving_add(struct interleaving *interleaving, size_t process)
{
    struct interleaved *turns = interleaving->turns;
    const size_t count = interleaving->turn_count;
    if (count && turns[count - 1].process == process && turns[count - 1].entries < UINT32_MAX) {
        turns[count - 1].entries++;
        return;
    }
    if (!array_room(&interleaving->turns, count, &interleaving->turn_capacity, 256, SIZE_MAX,
                    sizeof *turns))
        return;
    turns = interleaving->turns;
    turns[interleaving->turn_count++] = (struct interleaved){(uint32_t)process, 1};
}
