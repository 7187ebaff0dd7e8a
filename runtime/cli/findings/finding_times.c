/* See finding_times.h. */
#include "runtime/cli/findings/finding_times.h"

#include <inttypes.h>

/* 0: not known. */
static uint64_t time_of(const struct neighbourhood *around, int access)
{
    const struct moment *moment =
        around->accesses[access] ? neighbourhood_find(around, around->accesses[access]) : NULL;
    return moment ? moment->time : 0;
}

void finding_times_set(struct finding *const *findings, const struct surroundings *surroundings)
{
    for (size_t i = 0; i < surroundings->count; i++) {
        const uint64_t current = time_of(&surroundings->items[i], 0);
        const uint64_t previous = time_of(&surroundings->items[i], 1);
        if (!current || !previous || !finding_has_previous(findings[i]))
            continue;
        const uint64_t tenths = current > previous ? current - previous : previous - current;
        findings[i]->apart = tenths ? tenths * 100 : 100;
    }
}

bool finding_times_wanted(struct finding *const *findings, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!findings[i]->apart && finding_has_previous(findings[i]))
            return true;
    return false;
}

void duration_add(struct text *text, uint64_t nanoseconds)
{
    static const struct {
        const char *unit;
        uint64_t nanoseconds;
    } units[] = {{"s", 1000000000}, {"ms", 1000000}, {"us", 1000}};
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        const uint64_t unit = units[i].nanoseconds;
        if (nanoseconds < unit)
            continue;
        const int decimals = nanoseconds < 10 * unit ? 2 : nanoseconds < 100 * unit ? 1 : 0;
        text_add(text, "%.*f %s", decimals, (double)nanoseconds / (double)unit, units[i].unit);
        return;
    }
    text_add(text, "%" PRIu64 " ns", nanoseconds);
}

void finding_times_add(struct text *text, const struct finding *finding)
{
    if (!finding->apart)
        return;
    text_add(text, "The calls of the two accesses came ");
    duration_add(text, finding->apart);
    text_add(text, " apart, by the host's clock.\n");
}
