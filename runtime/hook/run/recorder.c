/* See recorder.h. */
#include "runtime/hook/run/recorder.h"
#include "csan/detector/context.h"
#include "csan/base/environment.h"
#include "csan/options.h"
#include "csan/recording/recording_write.h"
#include "csan/base/text.h"
#include "runtime/hook/run/fatal_signal.h"
#include "runtime/hook/session/guard.h"
#include "runtime/hook/session/session.h"
#include "runtime/hook/run/summary.h"

#include <stdlib.h>

static struct {
    struct recording *recording; /* NULL: there is none */
    bool only, finished;
} recorder;

static void note(const char *line)
{
    session_note("%s", line);
}

/* Else its allocations would make it a host thread of the program's that waits for others, by the
 * allocator's locks: within a block's writing that enters the recording again. */
static void thread_is_csans(void)
{
    guard_self.depth = 1;
}

bool recorder_start(csan_context *context, const struct options *options)
{
    const char *since = environment_get("CSAN_RECORD_SINCE"),
               *device = environment_get("CSAN_DEVICE");
    const char *text = environment_get("CSAN_OPTIONS");
    struct text facts = {0};
    if (!options->record[0]) {
        if (!options->check)
            session_note("check=0, and no record=FILE: nothing is checked or recorded");
        return options->check;
    }
    text_add(&facts, "check %d\nlinks 1\n", options->check);
    if (device && *device)
        text_add(&facts, "device %s\n", device);
    if (text)
        text_add(&facts, "options %s\n", text);
    recorder.recording = recording_create(options->record, since ? strtoull(since, NULL, 10) : 0,
                                          facts.data ? facts.data : "", note);
    text_free(&facts);
    if (!recorder.recording) {
        session_note("cannot record into '%s': out of memory, or the path is too long; nothing is "
                     "recorded%s",
                     options->record, options->check ? "" : ", and check=0: nothing is checked");
        return options->check;
    }
    recording_on_thread(recorder.recording, thread_is_csans);
    recorder.only = !options->check;
    context_record(context, recorder.recording, options->check);
    return true;
}

void recorder_begin(void)
{
    if (recorder.recording)
        fatal_signal_watch();
}

bool recorder_only_records(void)
{
    return recorder.only;
}

void recorder_finish(bool say, bool halted)
{
    struct text facts = {0};
    const char *path;
    uint64_t entries, bytes;
    if (!recorder.recording || recorder.finished)
        return;
    recorder.finished = true;
    if (halted)
        text_add(&facts, "halted 1\n");
    else
        summary_facts(&facts);
    recording_finish(recorder.recording, facts.data ? facts.data : "");
    text_free(&facts);
    if (recording_totals(recorder.recording, &path, &entries, &bytes) && say)
        session_note("recorded %llu entries in %llu bytes: csan replay %s",
                     (unsigned long long)entries, (unsigned long long)bytes, path);
}
