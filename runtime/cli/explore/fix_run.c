/* One run for csan fix. See fix.h. */
#include "runtime/cli/explore/fix.h"
#include "runtime/cli/shown.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { EXIT_INTERRUPTED = 128 /* and the signal */ };

/* A kernel that fails, a leak: no order is missing. How the program ends says whether one helps. */
static void keep_races(struct finding_report *report)
{
    size_t kept = 0;
    for (size_t i = 0; i < report->finding_count; i++) {
        if (finding_is_error(report->findings[i]))
            finding_destroy(report->findings[i]);
        else
            report->findings[kept++] = report->findings[i];
    }
    report->stats.errors = report->finding_count - kept;
    report->finding_count = kept;
}

bool fix_run_make(struct fixing *fixing, struct fix_run *run, const char *order,
                  const char *schedule)
{
    char options[FIX_ORDER_BYTES + 128];
    struct run_settings settings = fixing->settings;
    *run = (struct fix_run){0};
    snprintf(options, sizeof options,
             "format=json:print_summary=1:count_unordered=1:drop_sync=0:record='':add_order='%s'",
             order);
    settings.options = options;
    if (!run_make(&run->run, &settings, ++fixing->numbered, schedule, true))
        return false;
    if (run_read_report(&run->run, &settings, &run->report)) {
        keep_races(&run->report);
        return true;
    }
    fix_run_free(fixing, run);
    return false;
}

void fix_run_free(struct fixing *fixing, struct fix_run *run)
{
    run_delete(&run->run, &fixing->settings, false);
    run_free(&run->run);
    finding_report_free(&run->report);
}

const char *fix_run_note(const struct fix_run *run, const char *order)
{
    static const char prefix[] = "add_order ";
    const size_t length = strcspn(order, ",");
    for (size_t i = 0; i < run->report.note_count; i++) {
        const char *note = run->report.notes[i];
        if (strncmp(note, prefix, sizeof prefix - 1) == 0 &&
            strncmp(note + sizeof prefix - 1, order, length) == 0)
            return note + sizeof prefix - 1 + length;
    }
    return NULL;
}

const struct finding *fix_run_find(const struct fix_run *run, uint64_t fingerprint)
{
    for (size_t i = 0; i < run->report.finding_count; i++)
        if (run->report.findings[i]->fingerprint == fingerprint)
            return run->report.findings[i];
    return NULL;
}

/* ---- What is common to runs ---- */

bool fix_on_gpu(const struct fixing *fixing)
{
    return fixing->program.device == PROGRAM_GPU;
}

void fix_progress(const struct fixing *fixing, const char *what)
{
    if (isatty(STDERR_FILENO))
        shown_progress(*what ? "csan fix: %s, run %u" : "%s", what, fixing->numbered + 1);
}

int fix_cut_short(void)
{
    return child_interrupted() ? EXIT_INTERRUPTED + child_interrupted() : EXIT_CANNOT_RUN;
}
