#include "csan/report/report.h"
#include "csan/base/environment.h"
#include "csan/base/wrap.h"
#include "csan/report/baseline.h"
#include "csan/detector/context.h"
#include "csan/report/document.h"
#include "csan/report/fingerprint.h"
#include "csan/report/log.h"
#include "csan/report/finding_document.h"
#include "csan/options.h"
#include "csan/report/race_cause.h"
#include "csan/base/output.h"
#include "csan/report/race_text.h"
#include "csan/report/suppression.h"
#include "csan/stack/symbolizer.h"
#include "csan/base/text.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { NOTE_BYTES = 4096 };

struct report_sink {
    pthread_mutex_t lock;
    struct options options;
    struct log log;
    struct document *document; /* for tools; NULL: words go to the log */
    struct symbolizer *symbolizer;
    bool owns_symbolizer;
    bool hushed;                       /* lines are not written, but in a document */
    struct suppressions *suppressions; /* or NULL */
    struct baseline *baseline;         /* or NULL */
    uint64_t printed, withheld;
    uint64_t newest; /* the number of the last race that was printed in full */
    uint64_t known;  /* races that the baseline has */
    char directory[PATH_MAX];
    char process[16], rank[32]; /* as text; the rank "" where there is none */
    char device[128];           /* "": not known */
    struct race_words words;
};

/* What a call of the program's must find as it left it. A thread cancelled in here would also leave
 * the lock taken. */
struct entered {
    int error, cancel;
};

static struct entered sink_enter(struct report_sink *sink)
{
    struct entered entered = {.error = errno};
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &entered.cancel);
    pthread_mutex_lock(&sink->lock);
    return entered;
}

static void sink_leave(struct report_sink *sink, struct entered entered)
{
    pthread_mutex_unlock(&sink->lock);
    pthread_setcancelstate(entered.cancel, NULL);
    errno = entered.error;
}

/* ---- life */

/* A file that cannot be read, or has bad lines, costs those, and never the check. */
static void suppressions_open(struct report_sink *sink)
{
    char message[NOTE_BYTES];
    if (!sink->options.suppressions[0])
        return;
    sink->suppressions = suppressions_load(sink->options.suppressions, message, sizeof(message));
    if (message[0])
        report_note(sink, "%s; that is ignored", message);
}

void report_use_baseline(struct report_sink *sink, struct baseline *baseline)
{
    sink->baseline = baseline;
    if (sink->document)
        document_compares(sink->document);
}

/* Without the file everything is reported, which misses nothing. */
static void baseline_open(struct report_sink *sink)
{
    char message[NOTE_BYTES];
    if (!sink->options.baseline[0])
        return;
    struct baseline *baseline = baseline_read(sink->options.baseline, message, sizeof(message));
    if (baseline)
        report_use_baseline(sink, baseline);
    else
        report_note(sink, BASELINE_UNUSED ": %s", message);
}

static bool document_start(struct report_sink *sink)
{
    bool sarif = strcmp(sink->options.format, "sarif") == 0;
    sink->document = document_open(sarif ? FINDING_SARIF : FINDING_JSON, sink->options.log_path);
    if (sink->document)
        document_process_self(sink->document);
    return sink->document != NULL;
}

static struct report_sink *sink_open(const struct options *options, struct symbolizer *symbolizer,
                                     bool hushed)
{
    struct report_sink *sink = calloc(1, sizeof(*sink));
    if (!sink)
        return NULL;
    sink->hushed = hushed;
    pthread_mutex_init(&sink->lock, NULL);
    sink->options = *options;
    sink->owns_symbolizer = !symbolizer;
    sink->symbolizer = symbolizer ? symbolizer : symbolizer_create(options);
    if (!sink->symbolizer) {
        free(sink);
        return NULL;
    }
    if (strcmp(options->format, "text") != 0 && !document_start(sink)) {
        report_close(sink);
        return NULL;
    }
    log_init(&sink->log, options->log_path);
    /* "/" alone shortens nothing. */
    if (!getcwd(sink->directory, sizeof(sink->directory)) || !sink->directory[1])
        sink->directory[0] = '\0';
    sink->words.style = (struct stack_style){.symbolizer = sink->symbolizer,
                                             .strip = sink->options.strip_path_prefix,
                                             .directory = sink->directory,
                                             .full = options->full_stacks};
    const char *rank = output_rank();
    snprintf(sink->process, sizeof sink->process, "%d", (int)getpid());
    snprintf(sink->rank, sizeof sink->rank, "%s", rank ? rank : "");
    suppressions_open(sink);
    baseline_open(sink);
    return sink;
}

struct report_sink *report_open(const struct options *options, struct symbolizer *symbolizer)
{
    return sink_open(options, symbolizer, false);
}

struct report_sink *report_open_hushed(const struct options *options)
{
    return sink_open(options, NULL, true);
}

void report_hush(struct report_sink *sink, bool hushed)
{
    sink->hushed = hushed;
}

void report_set_directory(struct report_sink *sink, const char *directory)
{
    /* "/" alone shortens nothing. */
    snprintf(sink->directory, sizeof(sink->directory), "%s",
             directory[0] && directory[1] ? directory : "");
}

void report_set_process(struct report_sink *sink, const struct finding_process *process)
{
    snprintf(sink->process, sizeof sink->process, "%s", process->process ? process->process : "");
    snprintf(sink->rank, sizeof sink->rank, "%s", process->rank ? process->rank : "");
    if (!sink->document)
        return;
    document_processes_forget(sink->document);
    document_process(sink->document, process);
}

int report_finish(struct report_sink *sink)
{
    struct entered entered = sink_enter(sink);
    int error = sink->document ? document_finish(sink->document) : sink->log.error;
    sink_leave(sink, entered);
    return error;
}

void report_close(struct report_sink *sink)
{
    if (!sink)
        return;
    report_finish(sink);
    document_close(sink->document);
    log_close(&sink->log);
    if (sink->owns_symbolizer)
        sink->symbolizer->destroy(sink->symbolizer);
    suppressions_free(sink->suppressions);
    baseline_free(sink->baseline);
    race_words_forget(&sink->words);
    pthread_mutex_destroy(&sink->lock);
    free(sink);
}

static void text_write(struct report_sink *sink, const struct text *text)
{
    static const char short_of_memory[] = "csan: no memory to print a whole report\n";
    const size_t columns = log_is_terminal(&sink->log) ? wrap_columns(sink->log.descriptor) : 0;
    struct text wrapped = {0};
    if (columns && text->length)
        wrap_add(&wrapped, text->data, text->length, columns);
    if (wrapped.data && !wrapped.cut)
        log_write(&sink->log, wrapped.data, wrapped.length);
    else if (text->length)
        log_write(&sink->log, text->data, text->length);
    text_free(&wrapped);
    if (text->cut)
        log_write(&sink->log, short_of_memory, sizeof(short_of_memory) - 1);
}

/* ---- reports */

static bool wants_colour(const struct report_sink *sink)
{
    if (sink->document)
        return false;
    if (strcmp(sink->options.color, "auto") == 0)
        return log_is_terminal(&sink->log) && !environment_get_text("NO_COLOR");
    return strcmp(sink->options.color, "always") == 0;
}

static void document_take(struct report_sink *sink, const struct csan_race *race, const char *text)
{
    struct finding *finding = finding_create(race, &sink->words, text);
    if (finding)
        document_race(sink->document, finding);
    finding_destroy(finding);
}

/* A line of its own, for people; a document keeps it among its notes. */
static void line_write(struct report_sink *sink, struct text *line)
{
    if (!sink->document && !sink->hushed) {
        text_add(line, "\n");
        text_write(sink, line);
    } else if (sink->document && line->data) {
        const char *prefix = "csan: ";
        bool prefixed = strncmp(line->data, prefix, strlen(prefix)) == 0;
        document_note(sink->document, line->data + (prefixed ? strlen(prefix) : 0));
    }
    text_free(line);
}

static void note_trouble(struct report_sink *sink)
{
    struct text line = {0};
    const char *trouble = sink->symbolizer->trouble(sink->symbolizer);
    if (trouble) {
        text_add(&line, "csan: %s", trouble);
        line_write(sink, &line);
    }
}

/* Whose report it is, and when the race was found. */
static void origin_add(struct text *text, const struct report_sink *sink,
                       const struct csan_race *race)
{
    char when[32] = "";
    const time_t seconds = (time_t)(race->time / 1000000000u);
    struct tm local;
    if (race->time > CSAN_TIME_UNKNOWN && localtime_r(&seconds, &local))
        strftime(when, sizeof when, ", %Y-%m-%d %H:%M:%S", &local);
    text_add(text, "In process %s", sink->process);
    if (sink->rank[0])
        text_add(text, " (rank %s)", sink->rank);
    text_add(text, "%s.\n", when);
}

struct finding *report_finding(struct report_sink *sink, const struct csan_race *race)
{
    struct text text = {0};
    struct entered entered = sink_enter(sink);
    race_text_add(&text, &sink->words, race, false);
    origin_add(&text, sink, race);
    struct finding *finding = text.data ? finding_create(race, &sink->words, text.data) : NULL;
    text_free(&text);
    sink_leave(sink, entered);
    return finding;
}

/* A race that the same missing order explains as one that was printed. */
static void print_grouped(struct report_sink *sink, const struct csan_race *race)
{
    struct text line = {0};
    text_add(&line, "csan: race %llu, by the same missing order as race %llu: ",
             (unsigned long long)race->number, (unsigned long long)race->group);
    race_line_add(&line, &sink->words, race);
    race_group_fix_add(&line, &sink->words, race);
    line_write(sink, &line);
}

/* Does the limit leave room for it? A line belongs to its group's report, and uses none up. */
static bool is_within_limit(const struct report_sink *sink, const struct csan_race *race,
                            bool brief)
{
    const uint64_t limit = (uint64_t)sink->options.report_limit;
    return limit == 0 || (brief ? race->group <= sink->newest : sink->printed < limit);
}

char *report_race(struct report_sink *sink, const struct csan_race *race, bool wanted)
{
    struct text text = {0};
    char *whole = NULL;
    struct entered entered = sink_enter(sink);
    const bool brief = !sink->document && race->group != race->number;
    const bool printed = is_within_limit(sink, race, brief);
    if (wanted || (printed && !brief)) {
        race_text_add(&text, &sink->words, race, wants_colour(sink));
        origin_add(&text, sink, race);
        whole = wanted && text.data ? strdup(text.data) : NULL;
    }
    if (printed) {
        sink->printed += !brief;
        sink->newest = brief ? sink->newest : race->number;
        if (brief)
            print_grouped(sink, race);
        else if (sink->document && text.data)
            document_take(sink, race, text.data);
        else
            text_write(sink, &text);
        note_trouble(sink);
    } else if (sink->withheld++ == 0) {
        struct text line = {0};
        text_add(&line, "csan: report_limit=%d is reached; further races are only counted",
                 sink->options.report_limit);
        line_write(sink, &line);
    }
    text_free(&text);
    sink_leave(sink, entered);
    return whole;
}

void report_race_line(struct report_sink *sink, const struct csan_race *race)
{
    struct text text = {0};
    struct entered entered = sink_enter(sink);
    text_add(&text, "csan: race: ");
    race_line_add(&text, &sink->words, race);
    line_write(sink, &text);
    sink_leave(sink, entered);
}

void report_note(struct report_sink *sink, const char *format, ...)
{
    char line[NOTE_BYTES];
    struct text text = {0};
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line, sizeof(line), format, arguments);
    va_end(arguments);
    struct entered entered = sink_enter(sink);
    text_add(&text, "csan: %s", line);
    line_write(sink, &text);
    sink_leave(sink, entered);
}

void report_note_stack(struct report_sink *sink, const void *const *frames, size_t frame_count,
                       const char *line)
{
    struct text text = {0};
    struct entered entered = sink_enter(sink);
    text_add(&text, "csan: %s", line);
    race_words_forget(&sink->words);
    race_stack_add(&text, &sink->words, frames, frame_count, "");
    line_write(sink, &text);
    sink_leave(sink, entered);
}

/* ---- suppressions */

/* The baseline has it: counted, and in a document; in one that has it whole, with a report. */
static void known_add(struct report_sink *sink, const struct csan_race *race, uint64_t fingerprint)
{
    struct text text = {0};
    struct finding *finding = NULL;
    sink->known++;
    if (!sink->document)
        return;
    if (document_has_known(sink->document)) {
        race_text_add(&text, &sink->words, race, false);
        finding = text.data ? finding_create(race, &sink->words, text.data) : NULL;
    }
    document_known(sink->document, fingerprint, finding);
    finding_destroy(finding);
    text_free(&text);
}

bool report_has_suppressions(const struct report_sink *sink)
{
    return sink->suppressions || sink->baseline;
}

void report_hurry(struct report_sink *sink)
{
    if (sink->symbolizer->hurry)
        sink->symbolizer->hurry(sink->symbolizer);
}

bool report_device_line(struct report_sink *sink, const char *path, uint64_t address, char *file,
                        size_t bytes, uint32_t *line)
{
    struct symbolizer *symbolizer = sink->symbolizer;
    return symbolizer->device_line &&
           symbolizer->device_line(symbolizer, path, address, file, bytes, line);
}

void report_set_device(struct report_sink *sink, const char *device)
{
    struct entered entered = sink_enter(sink);
    snprintf(sink->device, sizeof sink->device, "%s", device ? device : "");
    sink_leave(sink, entered);
}

bool report_suppresses(struct report_sink *sink, const struct csan_race *race)
{
    if (!sink->suppressions && !sink->baseline)
        return false;
    struct entered entered = sink_enter(sink);
    bool named = sink->baseline || suppressions_have_fingerprints(sink->suppressions);
    uint64_t fingerprint = named ? fingerprint_of_race(race, &sink->words.style) : 0;
    bool suppresses = suppressions_match(sink->suppressions, sink->symbolizer, race, fingerprint);
    if (!suppresses && sink->baseline && baseline_has(sink->baseline, fingerprint)) {
        known_add(sink, race, fingerprint);
        suppresses = true;
    }
    sink_leave(sink, entered);
    return suppresses;
}

void report_suppressions(struct report_sink *sink)
{
    struct text text = {0};
    const char *line;
    uint64_t count;
    if (!sink->options.print_suppressions)
        return;
    struct entered entered = sink_enter(sink);
    for (size_t i = 0; suppressions_next_used(sink->suppressions, &i, &line, &count);) {
        if (sink->document) {
            document_suppression(sink->document, line, count);
            continue;
        }
        if (!text.length)
            text_add(&text, "csan: suppressions that matched, with how many races each:\n");
        text_add(&text, "  %llu %s\n", (unsigned long long)count, line);
    }
    text_write(sink, &text);
    text_free(&text);
    sink_leave(sink, entered);
}

/* ---- how often */

static void times_add(struct text *text, uint64_t count)
{
    text_add(text, "%llu time%s", (unsigned long long)count, count == 1 ? "" : "s");
}

/* One after the other by group: its first race, then the others. */
static int by_group(const void *left, const void *right)
{
    const struct csan_race *a = left, *b = right;
    if (a->group != b->group)
        return a->group < b->group ? -1 : 1;
    return a->number < b->number ? -1 : a->number > b->number;
}

static void group_print(struct report_sink *sink, csan_context *context,
                        const struct csan_race *races, size_t count)
{
    struct text line = {0};
    text_add(&line, "csan: race %llu was met ", (unsigned long long)races[0].number);
    times_add(&line, context_occurrences(context, races[0].number));
    for (size_t i = 1; i < count; i++) {
        text_add(&line, "%s%llu ", i == 1 ? "; by the same missing order race " : ", race ",
                 (unsigned long long)races[i].number);
        times_add(&line, context_occurrences(context, races[i].number));
    }
    line_write(sink, &line);
}

/* Groups of several. */
static void groups_print(struct report_sink *sink, csan_context *context, struct csan_race *races,
                         size_t count)
{
    qsort(races, count, sizeof *races, by_group);
    for (size_t first = 0, end; first < count; first = end) {
        for (end = first + 1; end < count && races[end].group == races[first].group;)
            end++;
        if (races[first].group == races[first].number && end - first > 1)
            group_print(sink, context, races + first, end - first);
    }
}

void report_occurrences(struct report_sink *sink, csan_context *context)
{
    const size_t count = csan_context_races_since(context, 0, NULL, 0);
    struct csan_race *races = calloc(count + 1, sizeof *races);
    const size_t known = races ? csan_context_races_since(context, 0, races, count) : 0;
    const uint64_t last = csan_context_race_mark(context);
    struct entered entered = sink_enter(sink);
    for (uint64_t number = 1; sink->document && number <= last; number++)
        document_occurrences(sink->document, context_occurrences(context, number));
    if (races && !sink->document)
        groups_print(sink, context, races, known < count ? known : count);
    sink_leave(sink, entered);
    free(races);
}

/* ---- the summary */

static void launches_add(struct text *text, const struct csan_stats *stats)
{
    const char *separator = " (";
    for (int i = 0; i < CSAN_LEVEL_COUNT; i++) {
        if (!stats->launches[i])
            continue;
        text_add(text, "%s%llu %s", separator, (unsigned long long)stats->launches[i],
                 finding_level_words(i));
        separator = ", ";
    }
    if (separator[0] == ',')
        text_add(text, ")");
}

/* What should be 0, and is said only when it is not. */
static void losses_add(struct text *text, const struct csan_stats *stats,
                       const struct report_sink *sink)
{
    const struct {
        uint64_t count;
        const char *what;
    } losses[] = {
        {stats->suppressed, "suppressed (suppressions)"},
        {sink->known, "known (baseline)"},
        {sink->withheld, "reports withheld (report_limit)"},
        {stats->pending_timeouts, "access sets that came too late (pending_timeout_ms)"},
        {stats->pending_overflows, "access sets there was no room to wait for (pending_limit)"},
        {stats->promises_broken, "waits whose release was never seen (pending_timeout_ms)"},
        {stats->strided_dropped, "strided accesses forgotten (strided_cap)"},
        {stats->unknown_frees, "frees of unknown pool blocks"},
    };
    for (size_t i = 0; i < sizeof(losses) / sizeof(losses[0]); i++)
        if (losses[i].count)
            text_add(text, ", %llu %s", (unsigned long long)losses[i].count, losses[i].what);
}

void report_summary(struct report_sink *sink, const struct csan_stats *all,
                    const char *const *unmodelled, size_t unmodelled_count)
{
    struct text text = {0};
    struct entered entered = sink_enter(sink);
    struct csan_stats own = *all, *stats = &own;
    own.suppressed -= sink->known; /* the detector counts both alike */
    if (sink->document) {
        document_summary(sink->document, stats, unmodelled, unmodelled_count, sink->withheld);
        document_device(sink->document, sink->device);
        sink_leave(sink, entered);
        return;
    }
    text_add(&text, "csan: %llu op%s", (unsigned long long)stats->ops, stats->ops == 1 ? "" : "s");
    launches_add(&text, stats);
    text_add(&text, ", %llu race%s, %llu possible race%s", (unsigned long long)stats->races,
             stats->races == 1 ? "" : "s", (unsigned long long)stats->possible,
             stats->possible == 1 ? "" : "s");
    if (stats->errors)
        text_add(&text, ", %llu other finding%s", (unsigned long long)stats->errors,
                 stats->errors == 1 ? "" : "s");
    if (stats->grouped)
        text_add(&text, " (%llu report%s: one for each missing order)",
                 (unsigned long long)(stats->races + stats->possible - stats->grouped),
                 stats->races + stats->possible - stats->grouped == 1 ? "" : "s");
    if (stats->unordered_counted)
        text_add(&text, ", %llu pair%s of ops that nothing orders",
                 (unsigned long long)stats->unordered, stats->unordered == 1 ? "" : "s");
    losses_add(&text, stats, sink);
    finding_checked_add(&text, stats, sink->device);
    for (size_t i = 0; i < unmodelled_count; i++)
        text_add(&text, "%s%s", i ? ", " : "; not modelled: ", unmodelled[i]);
    text_add(&text, "\n");
    text_write(sink, &text);
    text_free(&text);
    sink_leave(sink, entered);
}
