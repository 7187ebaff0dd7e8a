/* The notes on operators from summaries in a run's summary, and what is kept for the next run. */
#include "csan/base/text.h"
#include "csan/report/race_text.h"
#include "runtime/hook/operator/operator_summary.h"
#include "runtime/hook/operator/operator_summary_state.h"
#include "runtime/hook/session/session.h"
#include "runtime/hook/session/session_options.h"

#include <stdlib.h>
#include <string.h>

void operator_summary_brief(const char *name, char *brief)
{
    race_name_shorten(brief, BRIEF_BYTES, name);
}

static int newest_compare(const void *left, const void *right)
{
    const struct newest *a = left, *b = right;
    return (a->at < b->at) - (a->at > b->at);
}

static void newest_notes(struct text *notes)
{
    static const char *const states[] = {"new", "seen too seldom", "another than before",
                                         "never the same", "not to be kept"};
    struct newest newest[NEWEST];
    char brief[BRIEF_BYTES];
    memcpy(newest, operator_summary_own.newest, sizeof newest);
    qsort(newest, NEWEST, sizeof *newest, newest_compare);
    for (uint32_t i = 0; i < NEWEST && newest[i].kernel; i++) {
        operator_summary_brief(newest[i].kernel, brief);
        text_add(notes,
                 "operator summaries: %llu launches of %s in %.*s, the last one %s, after %llu "
                 "others\n",
                 (unsigned long long)newest[i].count, brief, (int)strcspn(newest[i].what, "("),
                 newest[i].what, states[newest[i].state], (unsigned long long)newest[i].at);
    }
}

/* What kept operators from resting, though the newest launches were known. */
static void hindrances_add(struct text *notes)
{
    const struct newest_shared *shared = &operator_summary_own.newest_shared;
    if (operator_summary_own.spoiled)
        text_add(notes, "operator summaries: %llu operators did what their launches do not show\n",
                 (unsigned long long)operator_summary_own.spoiled);
    if (operator_summary_own.shared)
        text_add(notes,
                 "operator summaries: %llu times work used memory that the host shares, the last "
                 "after %llu launches (%llu bytes at 0x%llx); operators waited %llu times for the "
                 "host to wait for such work\n",
                 (unsigned long long)operator_summary_own.shared, (unsigned long long)shared->added,
                 (unsigned long long)shared->bytes, (unsigned long long)shared->base,
                 (unsigned long long)operator_summary_own.shared_waits);
    if (operator_summary_own.shifted)
        text_add(
            notes,
            "operator summaries: %llu kinds of launches had words that only operators change\n",
            (unsigned long long)operator_summary_own.shifted);
    if (operator_summary_own.capture_waits)
        text_add(notes, "operator summaries: operators do not rest any more after the capture of a "
                        "stream\n");
}

void operator_summary_notes(struct text *notes)
{
    struct summary_counts counts;
    if (!operator_summary_own.summaries ||
        !(operator_summary_own.added + operator_summary_own.answered +
          operator_summary_own.unanswered))
        return;
    summaries_count(operator_summary_own.summaries, &counts);
    text_add(
        notes,
        "operator summaries: %llu launches of operators added, %llu answered without their "
        "operators (%llu of them as before, %llu by several names), %llu not; %llu known of %llu "
        "kinds, %llu "
        "unsteady, %zu KiB",
        (unsigned long long)operator_summary_own.added,
        (unsigned long long)operator_summary_own.answered,
        (unsigned long long)operator_summary_own.repeated,
        (unsigned long long)operator_summary_own.unnamed,
        (unsigned long long)operator_summary_own.unanswered, (unsigned long long)counts.known,
        (unsigned long long)counts.entries, (unsigned long long)counts.unsteady,
        counts.bytes >> 10);
    if (operator_summary_own.rests)
        text_add(notes, "; operators rested %llu time%s, first after %llu launches",
                 (unsigned long long)operator_summary_own.rests,
                 operator_summary_own.rests == 1 ? "" : "s",
                 (unsigned long long)operator_summary_own.first_rest);
    if (operator_summary_own.unreached || operator_summary_own.several)
        text_add(notes,
                 "; %llu operators had arguments that no launch reached, %llu several streams",
                 (unsigned long long)operator_summary_own.unreached,
                 (unsigned long long)operator_summary_own.several);
    text_add(notes, "\n");
    if (session_options()->verbosity > 0)
        hindrances_add(notes);
    if (session_options()->verbosity > 0)
        newest_notes(notes);
    if (operator_summary_own.verifies)
        text_add(notes, "verify_operators: %llu launches compared, %llu narrower\n",
                 (unsigned long long)operator_summary_own.compared,
                 (unsigned long long)operator_summary_own.narrower);
}

void operator_summary_finish(void)
{
    if (!operator_summary_own.summaries || !operator_summary_own.identified ||
        operator_summary_own.verifies)
        return;
    const bool settled = operator_summary_own.rests && operator_summary_state() != WAKING &&
                         (!operator_summary_own.began_resting || !operator_summary_own.unanswered ||
                          operator_summary_state() == RESTING);
    const struct summary_program noted = {
        settled, operator_summary_own.began_resting ? operator_summary_own.noted.rested + 1 : 0};
    if (!summary_file_write(learning_options(), &operator_summary_own.program,
                            operator_summary_own.summaries, &noted) &&
        session_options()->verbosity > 0)
        session_note("the summaries of operators could not be kept for the next run");
}
