/* See lock_sections.h. */
#include "csan/replay/lock_sections.h"
#include "csan/base/array.h"

#include <csan/csan.h>

#include <stdlib.h>

enum { NO_UNLOCK = UINT32_MAX };

/* Numbers of sections. */
struct numbers {
    size_t *items, count;
};

struct lock_process {
    struct numbers locks, unlocks; /* by number of LOCK and UNLOCK */
    struct numbers open;           /* which lack one of the two; few */
};

bool lock_sections_init(struct lock_sections *sections, size_t processes)
{
    *sections = (struct lock_sections){.process_count = processes};
    sections->processes = calloc(processes + 1, sizeof *sections->processes);
    return sections->processes != NULL;
}

void lock_sections_clear(struct lock_sections *sections)
{
    for (size_t i = 0; sections->processes && i < sections->process_count; i++) {
        free(sections->processes[i].locks.items);
        free(sections->processes[i].unlocks.items);
        free(sections->processes[i].open.items);
    }
    free(sections->items);
    free(sections->before);
    free(sections->processes);
    *sections = (struct lock_sections){0};
}

/* ---- Reading --------------------------------------------------------------------------------- */

static bool numbers_add(struct numbers *numbers, size_t number)
{
    if (!array_grow(&numbers->items, numbers->count, sizeof *numbers->items))
        return false;
    numbers->items[numbers->count++] = number;
    return true;
}

static bool has(const struct lock_section *section, bool unlock)
{
    return unlock ? section->unlock != NO_UNLOCK : section->locked;
}

/* The open section of that key which lacks this one; SIZE_MAX: there is none. It is open no more.
 */
static size_t open_take(const struct lock_sections *sections, struct lock_process *process,
                        uint64_t key, bool unlock)
{
    struct numbers *open = &process->open;
    for (size_t i = 0; i < open->count; i++) {
        const size_t number = open->items[i];
        const struct lock_section *section = &sections->items[number];
        if (section->key != key || has(section, unlock))
            continue;
        open->count--;
        memmove(&open->items[i], &open->items[i + 1], (open->count - i) * sizeof *open->items);
        return number;
    }
    return SIZE_MAX;
}

static size_t section_add(struct lock_sections *sections, size_t process, uint64_t key)
{
    if (!array_room(&sections->items, sections->count, &sections->capacity, 64, SIZE_MAX,
                    sizeof *sections->items) ||
        !numbers_add(&sections->processes[process].open, sections->count))
        return SIZE_MAX;
    sections->items[sections->count] = (struct lock_section){.key = key,
                                                             .acquired = UINT64_MAX,
                                                             .released = UINT64_MAX,
                                                             .process = (uint32_t)process,
                                                             .unlock = NO_UNLOCK};
    return sections->count++;
}

bool lock_sections_take(struct lock_sections *sections, size_t process,
                        const struct recorded *recorded)
{
    struct lock_process *of = &sections->processes[process];
    const bool unlock = recorded->value[FIELD_FLAGS] == CSAN_LINK_UNLOCK;
    const uint64_t key = recorded->value[FIELD_HANDLE], time = recorded->value[FIELD_NANOSECONDS];
    size_t number = open_take(sections, of, key, unlock);
    if (number == SIZE_MAX)
        number = section_add(sections, process, key);
    if (number == SIZE_MAX)
        return false;
    struct lock_section *section = &sections->items[number];
    if (unlock) {
        section->released = time;
        section->unlock = (uint32_t)of->unlocks.count;
        return numbers_add(&of->unlocks, number);
    }
    section->acquired = time;
    section->locked = true;
    section->shared = recorded->value[FIELD_LAST] != 0;
    section->machine = recorded->value[FIELD_FIRST];
    return numbers_add(&of->locks, number);
}

/* ---- Order ----------------------------------------------------------------------------------- */

static uint64_t first_time(const struct lock_section *section)
{
    return section->acquired < section->released ? section->acquired : section->released;
}

/* If one comes before the other for certain, its first time is no later than the other's. */
static int compare(const void *a, const void *b)
{
    const struct lock_section *one = *(struct lock_section *const *)a;
    const struct lock_section *other = *(struct lock_section *const *)b;
    const uint64_t time = first_time(one), other_time = first_time(other);
    if (one->key != other->key)
        return one->key < other->key ? -1 : 1;
    if (time != other_time)
        return time < other_time ? -1 : 1;
    return (one->acquired > other->acquired) - (one->acquired < other->acquired);
}

/* Of one lock, while its sections are taken in their order. */
struct chain {
    struct lock_section *exclusive; /* the newest; NULL: none yet */
    struct lock_section **shared;   /* those since then */
    size_t shared_count;
    bool *uncertain;
};

static void pair_check(const struct chain *chain, const struct lock_section *first,
                       const struct lock_section *second)
{
    if (second->released >= first->acquired && first->released < second->acquired &&
        first->machine == second->machine)
        return;
    chain->uncertain[first->process] = chain->uncertain[second->process] = true;
}

static bool before_add(struct lock_sections *sections, struct lock_section *section,
                       struct lock_section *first)
{
    if (first->unlock == NO_UNLOCK)
        return true;
    if (!array_room(&sections->before, sections->before_count, &sections->before_capacity, 64,
                    SIZE_MAX, sizeof *sections->before))
        return false;
    sections->before[sections->before_count++] =
        (struct lock_source){first->process, first->unlock};
    section->count++;
    first->uses += (uint32_t)section->locked + (section->unlock != NO_UNLOCK);
    return true;
}

static bool chain_take(struct lock_sections *sections, struct chain *chain,
                       struct lock_section **at)
{
    struct lock_section *section = *at;
    section->first = sections->before_count;
    for (size_t i = 0; !section->shared && i < chain->shared_count; i++) {
        pair_check(chain, chain->shared[i], section);
        if (!before_add(sections, section, chain->shared[i]))
            return false;
    }
    if (chain->exclusive)
        pair_check(chain, chain->exclusive, section);
    /* What those that share it come behind, they pass on. */
    if (chain->exclusive && (section->shared || !chain->shared_count) &&
        !before_add(sections, section, chain->exclusive))
        return false;
    if (section->shared) {
        chain->shared = chain->shared_count ? chain->shared : at;
        chain->shared_count++;
    } else {
        chain->exclusive = section;
        chain->shared_count = 0;
    }
    return true;
}

bool lock_sections_resolve(struct lock_sections *sections, bool *uncertain)
{
    struct lock_section **sorted = malloc((sections->count + 1) * sizeof *sorted);
    bool good = sorted != NULL;
    for (size_t i = 0; good && i < sections->count; i++)
        sorted[i] = &sections->items[i];
    if (good && sections->count)
        qsort(sorted, sections->count, sizeof *sorted, compare);
    struct chain chain = {.uncertain = uncertain};
    for (size_t i = 0; good && i < sections->count; i++) {
        if (i && sorted[i]->key != sorted[i - 1]->key)
            chain = (struct chain){.uncertain = uncertain};
        good = chain_take(sections, &chain, &sorted[i]);
    }
    free(sorted);
    return good;
}

static const struct lock_section *section_of(const struct lock_sections *sections,
                                             const struct numbers *numbers, size_t number)
{
    return &sections->items[numbers->items[number]];
}

const struct lock_section *lock_sections_of_lock(const struct lock_sections *sections,
                                                 size_t process, size_t number)
{
    return section_of(sections, &sections->processes[process].locks, number);
}

const struct lock_section *lock_sections_of_unlock(const struct lock_sections *sections,
                                                   size_t process, size_t number)
{
    return section_of(sections, &sections->processes[process].unlocks, number);
}
