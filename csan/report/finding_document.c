/* See finding_document.h. */
#include "csan/report/finding_document.h"

#include <stdlib.h>
#include <string.h>

static char *copy(const char *string)
{
    return string ? strdup(string) : NULL;
}

void finding_process_copy(struct finding_process *to, const struct finding_process *from)
{
    *to = (struct finding_process){.rank = copy(from->rank),
                                   .process = copy(from->process),
                                   .machine = copy(from->machine),
                                   .command = copy(from->command),
                                   .directory = copy(from->directory),
                                   .file = copy(from->file)};
}

void finding_process_clear(struct finding_process *process)
{
    free(process->rank);
    free(process->process);
    free(process->machine);
    free(process->command);
    free(process->directory);
    free(process->file);
    *process = (struct finding_process){0};
}

void finding_checked_add(struct text *text, const struct csan_stats *stats, const char *device)
{
    const unsigned long long ops = stats->ops, unknown = stats->launches[CSAN_LEVEL_UNKNOWN];
    text_add(text, "; checked %llu of %llu op%s", ops - unknown, ops, ops == 1 ? "" : "s");
    if (unknown)
        text_add(text, " (%llu unknown)", unknown);
    if (device && device[0])
        text_add(text, " on %s", device);
}

void finding_head_add(struct text *text, enum finding_format format,
                      const struct finding_process *processes, size_t count)
{
    if (format == FINDING_SARIF)
        finding_sarif_head(text, processes, count);
    else
        finding_json_head(text, processes, count);
}

void finding_add(struct text *text, enum finding_format format, const struct finding *finding)
{
    if (format == FINDING_SARIF)
        finding_sarif_add(text, finding);
    else
        finding_json_add(text, finding);
}

void finding_tail_add(struct text *text, enum finding_format format,
                      const struct finding_process *processes, size_t count,
                      const struct finding_tail *tail)
{
    if (format == FINDING_SARIF)
        finding_sarif_tail(text, processes, count, tail);
    else
        finding_json_tail(text, tail);
}
