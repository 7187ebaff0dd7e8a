/* See recorded_run.h. */
#include "runtime/cli/findings/recorded_run.h"
#include "csan/detector/context.h"
#include "csan/replay/replay.h"
#include "csan/report/suppression.h"
#include "csan/stack/symbolizer.h"
#include "runtime/cli/findings/recorded_lines.h"
#include "runtime/cli/shown.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { NAMES_MAX = 256 };

int recorded_run_fail(const struct recorded_run *run, int code, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fprintf(stderr, "csan %s: %s%s", run->command, run->purpose ? run->purpose : "",
            run->purpose ? ": " : "");
    vfprintf(stderr, format, arguments); /* NOLINT(clang-analyzer-valist.Uninitialized) */
    fputc('\n', stderr);
    va_end(arguments);
    return code;
}

/* ---- options */

int recorded_run_set_options(struct recorded_run *run, const char *text)
{
    char message[PATH_MAX + 256];
    const char *environment = getenv("CSAN_OPTIONS");
    options_default(&run->options);
    if (environment && options_parse(&run->options, environment, message, sizeof message) != 0)
        return recorded_run_fail(run, RECORDED_RUN_BAD, "CSAN_OPTIONS: %s", message);
    if (text && options_parse(&run->options, text, message, sizeof message) != 0)
        return recorded_run_fail(run, RECORDED_RUN_BAD, "%s", message);
    if (run->options.old_name)
        fprintf(stderr, "csan: %s\n", run->options.old_name);
    if (!suppressions_check(run->options.suppressions, message, sizeof message))
        return recorded_run_fail(run, RECORDED_RUN_BAD, "%s", message);
    return 0;
}

/* ---- progress: on a terminal, once it takes longer than a moment */

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static void progress_erase(struct recorded_progress *progress)
{
    if (progress->shown)
        shown_progress("%s", "");
    progress->shown = false;
}

static void progress_draw(struct recorded_run *run, double now)
{
    enum { WIDTH = 40 };
    static const char full[] = "########################################";
    struct recording_extent extent = recording_reader_extent(run->reader);
    double part = extent.file_bytes ? (double)extent.bytes / (double)extent.file_bytes : 1;
    double took = now - run->progress.started;
    shown_progress("csan %s: [%-*.*s] %3.0f%%, %.1f million entries, %.0f s left", run->command,
                   WIDTH, (int)(part * WIDTH), full, part * 100, (double)extent.entries * 1e-6,
                   part > 0 ? took / part - took : 0);
    run->progress.shown = true;
    run->progress.drawn = now;
}

static int progress(void *user)
{
    struct recorded_run *run = user;
    if (run->progress.wanted) {
        double now = seconds();
        if (now - run->progress.started > 0.5 && now - run->progress.drawn > 0.1)
            progress_draw(run, now);
    }
    return !run->halted;
}

/* ---- life */

static void race_found(void *user, const struct csan_race *race)
{
    struct recorded_run *run = user;
    if (run->halted)
        return;
    progress_erase(&run->progress);
    run->on_race(run->user, race);
}

static csan_context *make_context(struct recorded_run *run)
{
    char text[256], message[256];
    const struct options *options = &run->options;
    snprintf(text, sizeof text,
             "pending_limit=%d:pending_timeout_ms=%d:strided_cap=%d:dedup=%d:count_unordered=%d",
             options->pending_limit, options->pending_timeout_ms, options->strided_cap,
             options->dedup, options->count_unordered);
    return csan_context_create(text, race_found, run, message, sizeof message);
}

int recorded_run_open(struct recorded_run *run,
                      void (*on_race)(void *user, const struct csan_race *race), void *user)
{
    char message[PATH_MAX + 256];
    run->reader = recording_reader_open(run->path, message, sizeof message);
    if (!run->reader)
        return recorded_run_fail(run, RECORDED_RUN_BAD, "%s", message);
    run->on_race = on_race;
    run->user = user;
    run->context = make_context(run);
    run->replay = run->context ? replay_create(run->context) : NULL;
    run->symbolizer =
        run->replay ? symbolizer_create_for(&run->options, replay_modules(run->replay)) : NULL;
    if (!run->symbolizer)
        return recorded_run_fail(run, RECORDED_RUN_BAD, "out of memory");
    recorded_lines_use(replay_definitions_of(run->replay));
    run->progress =
        (struct recorded_progress){.wanted = isatty(STDERR_FILENO), .started = seconds()};
    return 0;
}

int recorded_run_play(struct recorded_run *run)
{
    enum recorded_status status = replay_run(run->replay, run->reader, progress, run);
    progress_erase(&run->progress);
    if (status == RECORDED_DAMAGED)
        return recorded_run_fail(run, RECORDED_RUN_BAD, "%s",
                                 recording_reader_message(run->reader));
    return 0;
}

void recorded_run_halt(struct recorded_run *run)
{
    run->halted = true;
}

static bool suppresses(void *user, const struct csan_race *race)
{
    const struct recorded_run *run = user;
    return !run->halted && report_suppresses(run->sink, race);
}

void recorded_run_process(const struct recorded_run *run, struct recorded_process *recorded)
{
    static const char *const keys[] = {"rank", "process", "machine", "command", "directory"};
    char *known[5];
    for (int i = 0; i < 5; i++) {
        char *fact = recorded->facts[i];
        recording_reader_fact(run->reader, keys[i], NULL, fact, sizeof recorded->facts[i]);
        known[i] = *fact ? fact : NULL;
    }
    recorded->process = (struct finding_process){known[0], known[1], known[2],
                                                 known[3], known[4], (char *)run->path};
}

struct report_sink *recorded_run_report(struct recorded_run *run)
{
    static struct options options;
    static struct recorded_process recorded;
    options = run->options;
    options.baseline[0] = '\0';
    struct report_sink *sink = report_open(&options, run->symbolizer);
    recorded_run_process(run, &recorded);
    if (sink && recorded.process.directory)
        report_set_directory(sink, recorded.process.directory);
    if (sink)
        report_set_process(sink, &recorded.process);
    run->sink = sink;
    if (sink)
        context_set_filter(run->context, suppresses, run);
    return sink;
}

/* Its end has the name; one that was cut off has only which kind of device was asked for. */
bool recorded_run_device(const struct recorded_run *run, char *name, size_t bytes)
{
    if (recording_reader_fact(run->reader, "device_name", NULL, name, bytes))
        return true;
    if (!recording_reader_fact(run->reader, "device", NULL, name, bytes))
        return false;
    snprintf(name, bytes, "%s", strcmp(name, "embedded") == 0 ? "the embedded device" : "a GPU");
    return true;
}

void recorded_run_summarize(struct recorded_run *run, struct report_sink *sink)
{
    static char names[NAMES_MAX][128];
    const char *pointers[NAMES_MAX], *at = NULL;
    char note[1024];
    size_t count = 0;
    struct csan_stats stats;
    csan_context_stats(run->context, &stats);
    while (count < NAMES_MAX && (at = recording_reader_fact(run->reader, "unmodelled", at,
                                                            names[count], sizeof names[count]))) {
        pointers[count] = names[count];
        count++;
    }
    report_occurrences(sink, run->context);
    report_set_device(sink, recorded_run_device(run, note, sizeof note) ? note : NULL);
    report_summary(sink, &stats, pointers, count);
    report_suppressions(sink);
    for (at = NULL; (at = recording_reader_fact(run->reader, "note", at, note, sizeof note));)
        report_note(sink, "%s", note);
}

void recorded_run_close(struct recorded_run *run)
{
    recorded_lines_use(NULL);
    if (run->symbolizer)
        run->symbolizer->destroy(run->symbolizer);
    run->halted = true; /* what is decided by ending is reported to nobody */
    replay_destroy(run->replay);
    csan_context_destroy(run->context);
    recording_reader_close(run->reader);
    *run = (struct recorded_run){0};
}
