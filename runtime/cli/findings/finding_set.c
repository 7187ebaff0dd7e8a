/* See finding_set.h. */
#include "runtime/cli/findings/finding_set.h"
#include "csan/report/baseline.h"
#include "csan/recording/recording_format.h"
#include "csan/base/array.h"
#include "runtime/cli/findings/baseline_file.h"
#include "runtime/cli/findings/finding_groups.h"
#include "runtime/cli/findings/finding_read.h"
#include "runtime/cli/findings/recorded_run.h"
#include "runtime/cli/findings/report_graph.h"
#include "runtime/cli/findings/report_page.h"
#include "runtime/cli/findings/report_trace.h"
#include "runtime/cli/findings/suppression_text.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { BAD = 2, FACT_BYTES = 4096, REPORT_BYTES_MAX = 1 << 30 };

static int fail(const struct finding_set *set, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static int fail(const struct finding_set *set, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fprintf(stderr, "csan %s: %s%s", set->command, set->purpose ? set->purpose : "",
            set->purpose ? ": " : "");
    vfprintf(stderr, format, arguments); /* NOLINT(clang-analyzer-valist.Uninitialized) */
    fputc('\n', stderr);
    va_end(arguments);
    return BAD;
}

int finding_set_options(struct finding_set *set, const char *text)
{
    static struct recorded_run run;
    run = (struct recorded_run){.command = set->command};
    int code = recorded_run_set_options(&run, text);
    set->options = run.options;
    return code;
}

/* ---- gathering */

static void string_add(char ***strings, size_t *count, const char *string)
{
    for (size_t i = 0; i < *count; i++)
        if (strcmp((*strings)[i], string) == 0)
            return;
    char **grown = realloc(*strings, (*count + 1) * sizeof *grown);
    char *copy = grown ? strdup(string) : NULL;
    if (grown)
        *strings = grown;
    if (copy)
        grown[(*count)++] = copy;
}

/* Returns its index. */
static uint32_t process_add(struct finding_set *set, const struct finding_process *process)
{
    struct finding_process *grown =
        realloc(set->processes, (set->process_count + 1) * sizeof *grown);
    if (!grown)
        return 0;
    set->processes = grown;
    finding_process_copy(&grown[set->process_count], process);
    return (uint32_t)set->process_count++;
}

static void seen_add(struct finding *finding, uint32_t process)
{
    size_t at = 0;
    while (at < finding->seen_count && finding->seen_by[at] < process)
        at++;
    if (at < finding->seen_count && finding->seen_by[at] == process)
        return;
    uint32_t *grown = realloc(finding->seen_by, (finding->seen_count + 1) * sizeof *grown);
    if (!grown)
        return;
    memmove(&grown[at + 1], &grown[at], (finding->seen_count++ - at) * sizeof *grown);
    grown[at] = process;
    finding->seen_by = grown;
}

/* Its place in the set by its number in the file that is being added. */
static void number_keep(struct finding_set *set, uint64_t number, uint64_t taken)
{
    struct numbered *grown = realloc(set->numbered, (set->numbered_count + 1) * sizeof *grown);
    if (!grown)
        return;
    set->numbered = grown;
    grown[set->numbered_count++] = (struct numbered){number, taken};
}

/* Number the finding as the set's number `taken`. Its group's first came before it. */
static void finding_number(struct finding_set *set, struct finding *finding, uint64_t taken)
{
    uint64_t group = taken;
    number_keep(set, finding->number, taken);
    for (size_t i = 0; finding->group != finding->number && i < set->numbered_count; i++)
        if (set->numbered[i].number == finding->group && set->numbered[i].taken < taken)
            group = set->numbered[i].taken;
    finding->group = group;
    finding_renumber(finding, taken);
}

/* Takes it over, its processes counted from `first`. The race may be known: a certain one says more
 * than a possible one. */
static void finding_take(struct finding_set *set, struct finding *finding, uint32_t first)
{
    size_t at = 0;
    for (size_t i = 0; i < finding->seen_count; i++)
        finding->seen_by[i] += first;
    while (at < set->finding_count && set->findings[at]->fingerprint != finding->fingerprint)
        at++;
    finding_number(set, finding, at + 1);
    if (at == set->finding_count) {
        struct finding **grown =
            realloc(set->findings, (set->finding_count + 1) * sizeof(struct finding *));
        if (!grown) {
            finding_destroy(finding);
            return;
        }
        set->findings = grown;
        grown[set->finding_count++] = finding;
        return;
    }
    if (set->findings[at]->possible && !finding->possible) {
        struct finding *better = finding;
        finding = set->findings[at];
        set->findings[at] = better;
    }
    for (size_t i = 0; i < finding->seen_count; i++)
        seen_add(set->findings[at], finding->seen_by[i]);
    finding_destroy(finding);
}

void finding_set_take(struct finding_set *set, struct finding *finding, uint32_t earlier,
                      uint32_t later)
{
    finding->seen_count = 0;
    seen_add(finding, earlier);
    seen_add(finding, later);
    set->numbered_count = 0;
    finding_take(set, finding, 0);
}

bool finding_set_process(const struct finding_set *set, const char *path, uint32_t *index)
{
    for (size_t i = 0; i < set->process_count; i++)
        if (set->processes[i].file && strcmp(set->processes[i].file, path) == 0) {
            *index = (uint32_t)i;
            return true;
        }
    return false;
}

static void stats_add(struct csan_stats *sum, const struct csan_stats *stats)
{
    sum->ops += stats->ops;
    for (int i = 0; i < CSAN_LEVEL_COUNT; i++)
        sum->launches[i] += stats->launches[i];
    sum->suppressed += stats->suppressed;
    sum->pending_timeouts += stats->pending_timeouts;
    sum->pending_overflows += stats->pending_overflows;
    sum->promises_broken += stats->promises_broken;
    sum->strided_dropped += stats->strided_dropped;
    sum->unknown_frees += stats->unknown_frees;
    sum->unordered += stats->unordered;
    sum->unordered_counted |= stats->unordered_counted;
}

/* ---- a recording */

struct playing {
    struct recorded_run run;
    struct finding_set *set;
    struct report_sink *sink;
    uint32_t process;
};

static void race_found(void *user, const struct csan_race *race)
{
    struct playing *playing = user;
    struct finding *finding = report_finding(playing->sink, race);
    if (finding)
        finding_take(playing->set, finding, playing->process);
}

static void facts_add(struct playing *playing)
{
    static char value[FACT_BYTES];
    struct finding_set *set = playing->set;
    const struct recording_reader *reader = playing->run.reader;
    for (const char *at = NULL;
         (at = recording_reader_fact(reader, "unmodelled", at, value, sizeof value));)
        string_add(&set->unmodelled, &set->unmodelled_count, value);
    for (const char *at = NULL;
         (at = recording_reader_fact(reader, "note", at, value, sizeof value));)
        string_add(&set->notes, &set->note_count, value);
    if (recorded_run_device(&playing->run, value, sizeof value))
        string_add(&set->devices, &set->device_count, value);
}

static int play(struct playing *playing)
{
    static struct recorded_process recorded;
    struct csan_stats stats;
    struct recorded_run *run = &playing->run;
    run->options = playing->set->options;
    strcpy(run->options.format, "text");
    int code = recorded_run_open(run, race_found, playing);
    if (code)
        return code;
    if (!(playing->sink = recorded_run_report(run)))
        return fail(playing->set, "out of memory");
    recorded_run_process(run, &recorded);
    playing->process = process_add(playing->set, &recorded.process);
    code = recorded_run_play(run);
    csan_context_stats(run->context, &stats);
    stats_add(&playing->set->stats, &stats);
    playing->set->ended &= code == 0;
    facts_add(playing);
    return code;
}

static int add_recording(struct finding_set *set, const char *path)
{
    static struct playing playing;
    playing = (struct playing){
        .run = {.command = set->command, .purpose = set->purpose, .path = path}, .set = set};
    int code = play(&playing);
    free(set->recording);
    set->recording = strdup(path);
    report_close(playing.sink);
    recorded_run_close(&playing.run);
    return code;
}

/* ---- a report */

/* All of a file; NULL: it cannot be read, errno says why. */
static char *read_all(FILE *file, size_t *bytes)
{
    char *text = NULL;
    size_t room = 0;
    *bytes = 0;
    do {
        if (*bytes == room) {
            char *grown =
                room < REPORT_BYTES_MAX ? realloc(text, room = room ? room * 2 : 65536) : NULL;
            if (!grown) {
                free(text);
                errno = EFBIG;
                return NULL;
            }
            text = grown;
        }
        *bytes += fread(text + *bytes, 1, room - *bytes, file);
    } while (!feof(file) && !ferror(file));
    return text;
}

static void known_take(struct finding_set *set, const struct finding_report *report)
{
    size_t count = set->known_before_count + report->known_count;
    uint64_t *grown = realloc(set->known_before, (count + 1) * sizeof *grown);
    if (!grown)
        return;
    set->known_before = grown;
    for (size_t i = 0; i < report->known_count; i++) {
        size_t at = 0;
        while (at < set->known_before_count && grown[at] != report->known[i])
            at++;
        if (at == set->known_before_count)
            grown[set->known_before_count++] = report->known[i];
    }
}

static void take_report(struct finding_set *set, struct finding_report *report, const char *path)
{
    uint32_t first = (uint32_t)set->process_count;
    for (size_t i = 0; i < report->process_count; i++) {
        struct finding_process *process = &report->processes[i];
        if (!process->file)
            process->file = strdup(path);
        process_add(set, process);
    }
    for (size_t i = 0; i < report->finding_count; i++)
        finding_take(set, report->findings[i], first);
    report->finding_count = 0;
    for (size_t i = 0; i < report->unmodelled_count; i++)
        string_add(&set->unmodelled, &set->unmodelled_count, report->unmodelled[i]);
    for (size_t i = 0; i < report->note_count; i++)
        string_add(&set->notes, &set->note_count, report->notes[i]);
    known_take(set, report);
    if (report->device)
        string_add(&set->devices, &set->device_count, report->device);
    stats_add(&set->stats, &report->stats);
    set->withheld += report->withheld;
    set->ended &= report->ended;
}

static int add_report(struct finding_set *set, FILE *file, const char *path)
{
    char message[256];
    struct finding_report report;
    size_t bytes;
    char *text = read_all(file, &bytes);
    if (!text)
        return fail(set, "cannot read '%s': %s", path, strerror(errno));
    bool good = finding_report_read(&report, text, bytes, message, sizeof message);
    free(text);
    if (!good)
        return fail(set, "%s: %s", path, message);
    take_report(set, &report, path);
    finding_report_free(&report);
    return 0;
}

/* A recording begins with RECORDING_MAGIC, a report with a brace. */
static int add(struct finding_set *set, const char *path)
{
    set->numbered_count = 0;
    FILE *file = fopen(path, "re");
    if (!file)
        return fail(set, "cannot read '%s': %s", path, strerror(errno));
    int first = fgetc(file), code = 0;
    ungetc(first, file);
    if (first == '{')
        code = add_report(set, file, path);
    else if (first != EOF && first != (unsigned char)RECORDING_MAGIC[0])
        code = fail(set,
                    "%s: it is neither a recording (csan record) nor a report of csan's in JSON "
                    "(format=json)",
                    path);
    fclose(file);
    return code || first == '{' ? code : add_recording(set, path);
}

int finding_set_add(struct finding_set *set, const char *path)
{
    set->ended |= !set->begun;
    set->begun = true;
    int code = add(set, path);
    set->ended &= code == 0;
    return code;
}

/* ---- beside a baseline */

void finding_set_compare(struct finding_set *set)
{
    struct baseline *baseline = baseline_file_read(set->command, set->options.baseline);
    size_t kept = 0;
    set->known = baseline ? calloc(set->finding_count + 1, sizeof(struct finding *)) : NULL;
    for (size_t i = 0; set->known && i < set->finding_count; i++) {
        struct finding *finding = set->findings[i];
        bool known = baseline_has(baseline, finding->fingerprint);
        finding->state = known ? FINDING_UNCHANGED : FINDING_NEW;
        if (known)
            set->known[set->known_count++] = finding;
        else
            set->findings[kept++] = finding;
    }
    if (set->known)
        set->finding_count = kept;
    baseline_free(baseline);
}

static bool is_known_here(const struct finding_set *set, uint64_t fingerprint)
{
    for (size_t i = 0; i < set->known_count; i++)
        if (set->known[i]->fingerprint == fingerprint)
            return true;
    return false;
}

static bool is_reported(const struct finding_set *set, uint64_t fingerprint)
{
    for (size_t i = 0; i < set->finding_count; i++)
        if (set->findings[i]->fingerprint == fingerprint)
            return true;
    return false;
}

/* Fingerprints of all that a baseline has, here or where a report was written, each once. What is
 * reported here is none of them, though another report knew it. free() them. */
static uint64_t *known_list(const struct finding_set *set, size_t *count)
{
    uint64_t *list = calloc(set->known_count + set->known_before_count + 1, sizeof *list);
    *count = 0;
    for (size_t i = 0; list && i < set->known_count; i++)
        list[(*count)++] = set->known[i]->fingerprint;
    for (size_t i = 0; list && i < set->known_before_count; i++)
        if (!is_known_here(set, set->known_before[i]) && !is_reported(set, set->known_before[i]))
            list[(*count)++] = set->known_before[i];
    return list;
}

/* ---- printing */

bool finding_output_named(const char *name, enum finding_output *output)
{
    static const char *const names[] = {"text", "json", "sarif"};
    for (int i = 0; i < 3; i++) {
        if (strcmp(name, names[i]) == 0) {
            *output = (enum finding_output)i;
            return true;
        }
    }
    return false;
}

/* "rank 3", or what else names a process. */
static void process_text(struct text *text, const struct finding_process *process)
{
    if (process->rank && process->rank[0])
        text_add(text, "%s", process->rank);
    else if (process->file)
        text_add(text, "%s", process->file);
    else
        text_add(text, "process %s", process->process ? process->process : "?");
}

static void seen_text(struct text *text, const struct finding_set *set,
                      const struct finding *finding)
{
    bool ranks = true;
    for (size_t i = 0; i < finding->seen_count; i++)
        ranks &= set->processes[finding->seen_by[i]].rank != NULL;
    text_add(text, "Seen by %s", !ranks ? "" : finding->seen_count == 1 ? "rank " : "ranks ");
    for (size_t i = 0; i < finding->seen_count; i++) {
        text_add(text, "%s", i ? ", " : "");
        process_text(text, &set->processes[finding->seen_by[i]]);
    }
    text_add(text, " of %zu processes.\n", set->process_count);
}

/* NULL: not known. */
static const char *devices_of(const struct finding_set *set)
{
    return set->device_count == 0   ? NULL
           : set->device_count == 1 ? set->devices[0]
                                    : "several devices";
}

static void all_text(struct text *text, const struct finding_set *set)
{
    const struct csan_stats *stats = &set->stats;
    size_t known_count;
    free(known_list(set, &known_count));
    for (size_t i = 0; i < set->finding_count; i++) {
        const struct finding *finding = set->findings[i];
        if (finding->group == finding->number)
            text_add(text, "%s", finding->text);
        else
            text_add(text,
                     "csan: race %" PRIu64 ", by the same missing order as race %" PRIu64 ": %s\n",
                     finding->number, finding->group, finding->headline);
        if (set->process_count > 1)
            seen_text(text, set, finding);
    }
    text_add(text, "csan: %" PRIu64 " op%s", stats->ops, stats->ops == 1 ? "" : "s");
    if (set->process_count > 1)
        text_add(text, " of %zu processes", set->process_count);
    text_add(text, ", %" PRIu64 " race%s, %" PRIu64 " possible race%s", stats->races,
             stats->races == 1 ? "" : "s", stats->possible, stats->possible == 1 ? "" : "s");
    if (stats->errors)
        text_add(text, ", %" PRIu64 " other finding%s", stats->errors,
                 stats->errors == 1 ? "" : "s");
    if (stats->suppressed)
        text_add(text, ", %" PRIu64 " suppressed (suppressions)", stats->suppressed);
    if (known_count)
        text_add(text, ", %zu known (baseline)", known_count);
    finding_checked_add(text, stats, devices_of(set));
    for (size_t i = 0; i < set->unmodelled_count; i++)
        text_add(text, "%s%s", i ? ", " : "; not modelled: ", set->unmodelled[i]);
    text_add(text, "\n");
    for (size_t i = 0; i < set->note_count; i++)
        text_add(text, "csan: %s\n", set->notes[i]);
}

static void all_document(struct text *text, const struct finding_set *set,
                         enum finding_format format)
{
    size_t known_count, written = 0;
    uint64_t *known = known_list(set, &known_count);
    const struct finding_tail tail = {.known = known,
                                      .known_count = known_count,
                                      .stats = set->ended ? &set->stats : NULL,
                                      .device = devices_of(set),
                                      .unmodelled = (const char *const *)set->unmodelled,
                                      .unmodelled_count = set->unmodelled_count,
                                      .withheld = set->withheld,
                                      .notes = (const char *const *)set->notes,
                                      .note_count = set->note_count};
    finding_head_add(text, format, set->processes, set->process_count);
    for (size_t i = 0; i < set->finding_count; i++) {
        text_add(text, "%s", written++ ? "," : "");
        finding_add(text, format, set->findings[i]);
    }
    for (size_t i = 0; format == FINDING_SARIF && i < set->known_count; i++) {
        text_add(text, "%s", written++ ? "," : "");
        finding_add(text, format, set->known[i]);
    }
    finding_tail_add(text, format, set->processes, set->process_count, &tail);
    free(known);
}

static void page_text(struct text *text, const struct finding_set *set,
                      const struct surroundings *surroundings)
{
    struct text document = {0};
    all_document(&document, set, FINDING_JSON);
    report_page_add(text, &(struct report_page){.document = document.data ? document.data : "null",
                                                .findings = set->findings,
                                                .processes = set->processes,
                                                .surroundings = surroundings,
                                                .finding_count = set->finding_count,
                                                .process_count = set->process_count,
                                                .editor = set->editor,
                                                .without_source = set->without_source});
    text->cut |= document.cut;
    text_free(&document);
}

/* Read once for all outputs. Of a report there are none. */
static const struct surroundings *surroundings_of(struct finding_set *set)
{
    static const struct surroundings none;
    if (!set->surroundings && set->recording &&
        (set->surroundings = calloc(1, sizeof *set->surroundings)))
        surroundings_read(set->surroundings, set->recording, &set->options, set->findings,
                          set->finding_count, set->traced);
    return set->surroundings ? set->surroundings : &none;
}

/* What is drawn with what happened around the races. */
static void all_drawn(struct text *text, struct finding_set *set, enum finding_output output)
{
    const struct surroundings *surroundings = surroundings_of(set);
    if (output == OUTPUT_PAGE)
        page_text(text, set, surroundings);
    else if (output == OUTPUT_GRAPH)
        report_graph_add(text, set->findings, surroundings);
    else
        report_trace_add(text, set->findings, surroundings);
}

static void count_and_number(struct finding_set *set)
{
    set->stats.races = set->stats.possible = set->stats.errors = 0;
    finding_groups_number(set->findings, set->finding_count);
    for (size_t i = 0; i < set->finding_count; i++) {
        if (finding_is_error(set->findings[i]))
            set->stats.errors++;
        else if (set->findings[i]->possible)
            set->stats.possible++;
        else
            set->stats.races++;
    }
}

static int write_text(const struct finding_set *set, const struct text *text, const char *path)
{
    const char *name = path ? path : "standard output";
    FILE *file = path ? fopen(path, "we") : stdout;
    if (!file)
        return fail(set, "cannot write '%s': %s", name, strerror(errno));
    bool good = fwrite(text->data, 1, text->length, file) == text->length && fflush(file) == 0;
    int error = errno;
    if (file != stdout && fclose(file) != 0 && good) {
        error = errno;
        good = false;
    }
    if (text->cut)
        return fail(set, "out of memory; '%s' is cut off", name);
    return good ? 0 : fail(set, "cannot write '%s': %s", name, strerror(error));
}

int finding_set_write(struct finding_set *set, enum finding_output output, const char *path)
{
    struct text text = {0};
    bool drawn = output == OUTPUT_GRAPH || output == OUTPUT_TRACE;
    if (drawn && !set->recording)
        return fail(set,
                    "a graph or a trace is made of a recording (csan record), not of a report");
    count_and_number(set);
    if (output == OUTPUT_TEXT)
        all_text(&text, set);
    else if (output == OUTPUT_SUPPRESSIONS)
        suppression_text_add(&text, (const struct finding *const *)set->findings,
                             set->finding_count);
    else if (output == OUTPUT_PAGE || drawn)
        all_drawn(&text, set, output);
    else
        all_document(&text, set, output == OUTPUT_SARIF ? FINDING_SARIF : FINDING_JSON);
    text_add(&text, "%s", "");
    int code = write_text(set, &text, path);
    text_free(&text);
    return code;
}

void finding_set_free(struct finding_set *set)
{
    for (size_t i = 0; i < set->finding_count; i++)
        finding_destroy(set->findings[i]);
    for (size_t i = 0; i < set->known_count; i++)
        finding_destroy(set->known[i]);
    for (size_t i = 0; i < set->process_count; i++)
        finding_process_clear(&set->processes[i]);
    free(set->findings);
    free(set->known);
    free(set->known_before);
    free(set->processes);
    if (set->surroundings)
        surroundings_free(set->surroundings);
    free(set->surroundings);
    free(set->recording);
    free(set->numbered);
    array_free_strings(set->unmodelled, set->unmodelled_count);
    array_free_strings(set->notes, set->note_count);
    array_free_strings(set->devices, set->device_count);
}
