/* The end of the run in a few lines. See summary.h. */
#include "runtime/hook/host/host_access.h"
#include "runtime/hook/run/summary.h"
#include "csan/base/text.h"
#include "runtime/hook/session/counters.h"
#include "runtime/hook/session/deferred.h"
#include "runtime/hook/graph/capture.h"
#include "runtime/hook/state/device_name.h"
#include "runtime/hook/interpose/driver.h"
#include "runtime/hook/graph/graph.h"
#include "runtime/hook/session/guard.h"
#include "runtime/hook/observe/learning.h"
#include "runtime/hook/observe/trace.h"
#include "runtime/hook/operator/operator_summary.h"

#include <stdio.h>
#include <string.h>

/* Every entry point that passed through, once for all its versions, and the notes. */
static size_t gather(const char **names, size_t capacity)
{
    size_t count = 0;
    for (unsigned i = 0; i < driver_table.count && count < capacity; i++) {
        const struct driver_entry *entry = &driver_table.entries[i];
        if (!__atomic_load_n(&entry->called, __ATOMIC_RELAXED))
            continue;
        size_t k = 0;
        while (k < count && strcmp(names[k], entry->name) != 0)
            k++;
        if (k == count)
            names[count++] = entry->name;
    }
    return count + counters_unmodelled_list(names + count, capacity - count);
}

static const char *plural(uint64_t count, const char *process_end)
{
    return count == 1 ? "" : process_end;
}

static void note_graphs(struct text *notes)
{
    struct graph_counts counts;
    graph_count(&counts);
    if (counts.graphs)
        text_add(notes,
                 "%llu graph launch%s; %llu graph%s instantiated, %llu node%s, of which %llu "
                 "kernel%s of unknown accesses\n",
                 (unsigned long long)counts.launches, plural(counts.launches, "es"),
                 (unsigned long long)counts.graphs, plural(counts.graphs, "s"),
                 (unsigned long long)counts.nodes, plural(counts.nodes, "s"),
                 (unsigned long long)counts.unknown_kernels, plural(counts.unknown_kernels, "s"));
    if (counts.unread)
        text_add(notes, "%llu graph%s could not be read from the driver and %s not checked\n",
                 (unsigned long long)counts.unread, plural(counts.unread, "s"),
                 counts.unread == 1 ? "was" : "were");
}

/* "MPI (Open MPI): 40 calls, 12 messages, 49152 bytes" */
static void note_libraries(struct text *notes)
{
    const struct csan_call_counts *counts;
    for (size_t i = 0; (counts = counters_calls(i)); i++)
        if (counts->calls)
            text_add(notes, "%s: %llu call%s, %llu %s%s, %llu byte%s\n", counts->library,
                     (unsigned long long)counts->calls, plural(counts->calls, "s"),
                     (unsigned long long)counts->items, counts->item, plural(counts->items, "s"),
                     (unsigned long long)counts->bytes, plural(counts->bytes, "s"));
}

/* A line each. */
static void note_counts(struct text *notes)
{
    const char *missing = trace_missing();
    if (missing)
        text_add(notes, "launches could not be traced: %s\n", missing);
    uint64_t captured = capture_unknown_count(), interrupted = guard_interrupted();
    note_graphs(notes);
    learning_notes(notes);
    operator_summary_notes(notes);
    note_libraries(notes);
    if (captured)
        text_add(notes, "%llu calls were captured into graphs and not checked\n",
                 (unsigned long long)captured);
    if (interrupted)
        text_add(notes, "%llu driver calls of signal handlers were not checked\n",
                 (unsigned long long)interrupted);
}

static void print_counts(struct report_sink *report)
{
    struct text notes = {0};
    note_counts(&notes);
    for (const char *line = notes.data; line && *line; line = strchr(line, '\n') + 1)
        report_note(report, "%.*s", (int)strcspn(line, "\n"), line);
    text_free(&notes);
}

void summary_facts(struct text *facts)
{
    const char *names[2 * COUNTERS_NOTES];
    struct text notes = {0};
    char device[DEVICE_NAME_BYTES];
    size_t count = gather(names, sizeof names / sizeof *names);
    device_name_describe(device);
    text_add(facts, "device_name %s\n", device);
    for (size_t i = 0; i < count; i++)
        text_add(facts, "unmodelled %s\n", names[i]);
    note_counts(&notes);
    for (const char *line = notes.data; line && *line; line = strchr(line, '\n') + 1)
        text_add(facts, "note %.*s\n", (int)strcspn(line, "\n"), line);
    text_free(&notes);
}

static void print_version(void *report, const char *name, int version)
{
    report_note(report, "%s in version %d is newer than csan and was not checked", name, version);
}

static void print_deferred(struct report_sink *report)
{
    uint64_t all, within;
    deferred_counts(&all, &within);
    report_note(report,
                "%llu launches and the like were checked beside the program, %llu within its calls",
                (unsigned long long)(all - within), (unsigned long long)within);
}

void summary_print(struct report_sink *report, const struct csan_stats *stats, int verbosity)
{
    const char *names[2 * COUNTERS_NOTES];
    size_t count = gather(names, sizeof names / sizeof *names);
    struct graph_counts graphs;
    graph_count(&graphs);
    bool used = stats->ops || stats->races || stats->possible || stats->errors || graphs.graphs ||
                capture_unknown_count() || count;
    char device[DEVICE_NAME_BYTES];
    device_name_describe(device);
    if (!used)
        report_note(report, "no work was given to a CUDA device, so nothing was checked");
    if (!used && verbosity == 0)
        return; /* such as a program that asks how many devices there are */
    report_set_device(report, device);
    report_summary(report, stats, names, count);
    print_counts(report);
    char host[512];
    if (host_access_summary(host, sizeof host))
        report_note(report, "%s", host);
    if (verbosity > 0) {
        counters_unknown_versions(print_version, report);
        print_deferred(report);
    }
}
