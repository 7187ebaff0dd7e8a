/* A set of findings in all forms: text, JSON, SARIF, a page, a graph, a trace. See finding_set.h.
 */
#include "runtime/cli/findings/finding_set.h"
#include "runtime/cli/findings/finding_groups.h"
#include "runtime/cli/findings/finding_times.h"
#include "runtime/cli/findings/report_graph.h"
#include "runtime/cli/findings/report_page.h"
#include "runtime/cli/findings/suppression_text.h"
#include "runtime/cli/timeline/report_trace.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- what a baseline has */

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
        if (finding->group == finding->number) {
            text_add(text, "%s", finding->text);
            finding_times_add(text, finding);
        } else {
            text_add(text,
                     "csan: race %" PRIu64 ", by the same missing order as race %" PRIu64 ": %s\n",
                     finding->number, finding->group, finding->headline);
        }
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

static void surroundings_make(struct finding_set *set)
{
    struct surroundings_source *sources = calloc(set->recording_count, sizeof *sources);
    for (size_t i = 0; sources && i < set->recording_count; i++)
        sources[i] = (struct surroundings_source){set->recordings[i].path, set->recordings[i].name,
                                                  set->recordings[i].process};
    if (sources)
        surroundings_read(set->surroundings,
                          &(struct surroundings_request){.sources = sources,
                                                         .source_count = set->recording_count,
                                                         .interleaving = set->interleaving,
                                                         .options = &set->options,
                                                         .findings = set->findings,
                                                         .finding_count = set->finding_count,
                                                         .whole = set->traced});
    free(sources);
}

/* Read once for all outputs. Of a report there are none. */
static const struct surroundings *surroundings_of(struct finding_set *set)
{
    static const struct surroundings none;
    if (!set->surroundings && set->recording_count &&
        (set->surroundings = calloc(1, sizeof *set->surroundings)))
        surroundings_make(set);
    return set->surroundings ? set->surroundings : &none;
}

static void trace_add(struct text *text, const struct finding_set *set,
                      const struct surroundings *surroundings)
{
    static const struct trace_choice all;
    report_trace_add(text, set->findings, surroundings, set->choice ? set->choice : &all);
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
        trace_add(text, set, surroundings);
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

/* Of recordings, when they will be drawn from anyway (csan report). */
static void times_set(struct finding_set *set)
{
    if (set->drawn && set->recording_count &&
        finding_times_wanted(set->findings, set->finding_count))
        finding_times_set(set->findings, surroundings_of(set));
}

static int write_text(const struct finding_set *set, const struct text *text, const char *path)
{
    const char *name = path ? path : "standard output";
    FILE *file = path ? fopen(path, "we") : stdout;
    if (!file)
        return finding_set_fail(set, "cannot write '%s': %s", name, strerror(errno));
    bool good = fwrite(text->data, 1, text->length, file) == text->length && fflush(file) == 0;
    int error = errno;
    if (file != stdout && fclose(file) != 0 && good) {
        error = errno;
        good = false;
    }
    if (text->cut)
        return finding_set_fail(set, "out of memory; '%s' is cut off", name);
    return good ? 0 : finding_set_fail(set, "cannot write '%s': %s", name, strerror(error));
}

int finding_set_write(struct finding_set *set, enum finding_output output, const char *path)
{
    struct text text = {0};
    bool drawn = output == OUTPUT_GRAPH || output == OUTPUT_TRACE;
    if (drawn && !set->recording_count)
        return finding_set_fail(
            set, "a graph or a trace is made of a recording (csan record), not of a report");
    count_and_number(set);
    times_set(set);
    if (output == OUTPUT_TRACE && set->choice && set->choice->other &&
        !report_trace_has_times(surroundings_of(set)))
        return finding_set_fail(set,
                                "the recording has no times, so no other trace can be drawn beside "
                                "it; record it with this version of csan");
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
