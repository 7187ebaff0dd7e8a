/* The races of one process or many, gathered from recordings and JSON reports, each race once. csan
 * report and csan merge print them. */
#ifndef RUNTIME_CLI_FINDINGS_FINDING_SET_H
#define RUNTIME_CLI_FINDINGS_FINDING_SET_H

#include "csan/report/finding_document.h"
#include "csan/options.h"
#include "csan/replay/interleaving.h"

#include <stdio.h>

struct surroundings;
struct trace_choice;

enum { SET_NAME_BYTES = 64 };

struct set_recording {
    const char *path; /* the caller's */
    uint32_t process;
    char name[SET_NAME_BYTES]; /* of the process: "rank 3" */
};

struct numbered {
    uint64_t number, taken; /* in its file; in the set */
};

struct finding_set {
    const char *command;    /* the subcommand, for messages */
    const char *purpose;    /* see struct recorded_run */
    struct options options; /* of finding_set_options */

    struct finding_process *processes;
    size_t process_count;
    struct finding **findings;
    size_t finding_count, finding_capacity;
    struct finding **known; /* those that the baseline has, too */
    size_t known_count;
    uint64_t *known_before; /* fingerprints that reports call known, without the races themselves */
    size_t known_before_count;
    struct csan_stats stats; /* sums; races and possible are of this set */
    bool begun, ended;       /* ended: every file was read, and every process has a summary */
    uint64_t withheld;
    const char *editor;        /* of a page: see report_page.h */
    bool without_source;       /* the same */
    struct numbered *numbered; /* races of the file that is being added */
    size_t numbered_count;
    struct set_recording *recordings; /* in their order; for what is around races */
    size_t recording_count;
    bool drawn;                        /* what is around races will be asked for */
    struct interleaving *interleaving; /* of the recordings, if they were replayed together */
    bool traced;                       /* a trace is among what will be written */
    const struct trace_choice *choice; /* what of the trace is wanted; NULL: all */
    struct surroundings *surroundings; /* of the recordings' races, once read */
    char **unmodelled, **notes, **devices;
    size_t unmodelled_count, note_count, device_count;
};

/* Takes options from CSAN_OPTIONS, then from text (NULL: none). 0, or the exit code (2), with a
 * message printed. Call it before the first file. */
int finding_set_options(struct finding_set *set, const char *text);

/* Prints "csan COMMAND: ..." on standard error. Returns the exit code (2). */
int finding_set_fail(const struct finding_set *set, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Adds the races of a file: a recording, or a report that csan wrote as JSON. 0, or the exit code
 * (2), with a message printed; what could be read is added. */
int finding_set_add(struct finding_set *set, const char *path);

/* Adds a finding that is between two processes of the set, by their index, and takes it over. */
void finding_set_take(struct finding_set *set, struct finding *finding, uint32_t earlier,
                      uint32_t later);

/* Call it after the last file. Sets races apart that option baseline knows. */
void finding_set_compare(struct finding_set *set);

enum finding_output {
    OUTPUT_TEXT,
    OUTPUT_JSON,
    OUTPUT_SARIF,
    OUTPUT_SUPPRESSIONS,
    OUTPUT_PAGE,
    OUTPUT_GRAPH,
    OUTPUT_TRACE
};

/* "text", "json" or "sarif". False: it is no such format. */
bool finding_output_named(const char *name, enum finding_output *output);

/* Prints all of it to a file, or to standard output (NULL). 0, or the exit code with a message
 * printed. */
int finding_set_write(struct finding_set *set, enum finding_output output, const char *path);

void finding_set_free(struct finding_set *set);

#endif
