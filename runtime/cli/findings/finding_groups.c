/* See finding_groups.h. */
#include "runtime/cli/findings/finding_groups.h"

#include <stdlib.h>

static int compare_number(const void *key, const void *item)
{
    const uint64_t *number = key;
    const struct finding *const *finding = item;
    return (*number > (*finding)->number) - (*number < (*finding)->number);
}

/* The first of the group may have become one of another group, by another process's word. */
static uint64_t group_of(struct finding *const *findings, size_t count, size_t index)
{
    uint64_t group = findings[index]->group;
    for (size_t steps = 0; steps < count; steps++) {
        struct finding *const *first =
            bsearch(&group, findings, count, sizeof(struct finding *), compare_number);
        if (!first || (*first)->group >= group)
            break;
        group = (*first)->group;
    }
    return group;
}

void finding_groups_number(struct finding *const *findings, size_t count)
{
    uint64_t *groups = calloc(count + 1, sizeof *groups);
    for (size_t i = 0; groups && i < count; i++)
        groups[i] = group_of(findings, count, i);
    for (size_t i = 0; i < count; i++) {
        size_t first = 0;
        while (groups && first < i && groups[first] != groups[i])
            first++;
        findings[i]->group = (groups ? first : i) + 1;
        finding_renumber(findings[i], i + 1);
    }
    free(groups);
}
