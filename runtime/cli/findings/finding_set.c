/* See finding_set.h. */
#include "runtime/cli/findings/finding_set.h"
#include "csan/report/baseline.h"
#include "csan/recording/recording_format.h"
#include "csan/base/array.h"
#include "runtime/cli/findings/baseline_file.h"
#include "runtime/cli/findings/finding_read.h"
#include "runtime/cli/findings/recorded_run.h"
#include "runtime/cli/findings/surroundings.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { BAD = 2, FACT_BYTES = 4096, REPORT_BYTES_MAX = 1 << 30 };
/* A report has the numbers of ops, and no recording of them. */
enum { NO_OWNER = 0xffffffffu };

int finding_set_fail(const struct finding_set *set, const char *format, ...)
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
    finding->owner[0] = later;
    finding->owner[1] = earlier;
    set->numbered_count = 0;
    finding_take(set, finding, 0);
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

/* "rank 3", or what else distinguishes the processes. */
static void name_of(const struct finding_process *process, size_t number, char *name)
{
    if (process->rank && process->rank[0])
        snprintf(name, SET_NAME_BYTES, "rank %s", process->rank);
    else if (process->process && process->process[0])
        snprintf(name, SET_NAME_BYTES, "process %s", process->process);
    else
        snprintf(name, SET_NAME_BYTES, "file %zu", number + 1);
}

static void recording_add(struct finding_set *set, const char *path, uint32_t process)
{
    struct set_recording added = {.path = path, .process = process};
    if (!array_grow(&set->recordings, set->recording_count, sizeof *set->recordings))
        return;
    name_of(&set->processes[process], set->recording_count, added.name);
    set->recordings[set->recording_count++] = added;
}

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
    if (!finding)
        return;
    finding->owner[0] = finding->owner[1] = playing->process;
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
        return finding_set_fail(playing->set, "out of memory");
    recorded_run_process(run, &recorded);
    playing->process = process_add(playing->set, &recorded.process);
    recording_add(playing->set, run->path, playing->process);
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
        if (!array_room(&text, *bytes, &room, 65536, REPORT_BYTES_MAX, 1)) {
            free(text);
            errno = EFBIG;
            return NULL;
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
    for (size_t i = 0; i < report->finding_count; i++) {
        struct finding *finding = report->findings[i];
        finding->owner[0] = finding->owner[1] = NO_OWNER;
        finding_take(set, finding, first);
    }
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
        return finding_set_fail(set, "cannot read '%s': %s", path, strerror(errno));
    bool good = finding_report_read(&report, text, bytes, message, sizeof message);
    free(text);
    if (!good)
        return finding_set_fail(set, "%s: %s", path, message);
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
        return finding_set_fail(set, "cannot read '%s': %s", path, strerror(errno));
    int first = fgetc(file), code = 0;
    ungetc(first, file);
    if (first == '{')
        code = add_report(set, file, path);
    else if (first != EOF && first != (unsigned char)RECORDING_MAGIC[0])
        code = finding_set_fail(
            set,
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
    free(set->recordings);
    interleaving_destroy(set->interleaving);
    free(set->numbered);
    array_free_strings(set->unmodelled, set->unmodelled_count);
    array_free_strings(set->notes, set->note_count);
    array_free_strings(set->devices, set->device_count);
}
