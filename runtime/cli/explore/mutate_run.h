/* Runs a program once for csan mutate, unchanged or with one of its synchronizations left out, and
 * reads what csan said of it (options list_syncs and drop_sync). */
#ifndef RUNTIME_CLI_EXPLORE_MUTATE_RUN_H
#define RUNTIME_CLI_EXPLORE_MUTATE_RUN_H

#include "runtime/cli/process/child.h"
#include "runtime/cli/process/scratch.h"

#include <stddef.h>
#include <stdint.h>

/* The synchronizations of a run are an array; [k] is number k + 1. */
struct mutate_sync {
    size_t first; /* index of the first from the same place */
    char *text;   /* of the first at its place: "event wait at main app.cu:5"; NULL for others */
};

struct mutate_run {
    struct child child;
    struct mutate_sync *syncs;
    size_t sync_count;
    char **races; /* each in one line, the same in every run */
    size_t race_count;
    unsigned processes; /* that made synchronizations */
    bool dropped;       /* the one to be left out was reached */
    uint64_t output;    /* a hash of the program's standard output */
};

struct mutate_settings {
    const struct program *program;
    struct scratch scratch; /* for its files */
    double limit;           /* seconds a run may take */
};

/* `drop`: the number of the one to leave out; 0: none, and all are listed. False, with a message
 * printed, if the program cannot be started or its output not read. */
bool mutate_run_make(struct mutate_run *run, const struct mutate_settings *settings,
                     unsigned long drop);
void mutate_run_free(struct mutate_run *run);

/* Whether this race is one of the run's. */
bool mutate_run_has(const struct mutate_run *run, const char *race);

/* Prints the last lines that the program wrote to standard error. */
void mutate_run_errors(const struct mutate_settings *settings);

#endif
