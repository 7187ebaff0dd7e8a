/* Runs a program once, under one schedule, for csan explore and csan fix: starts it, watches it,
 * and reads the files that it leaves in the explorer's directory (their forms:
 * runtime/device/schedule/outcome.c, recording.c and runtime/hook/run/run_log.h). */
#ifndef RUNTIME_CLI_EXPLORE_EXPLORE_RUN_H
#define RUNTIME_CLI_EXPLORE_EXPLORE_RUN_H

#include "runtime/cli/findings/finding_read.h"
#include "runtime/cli/process/scratch.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* When the device ran an item; clocks count steps. An item without an entry never ended. */
struct run_item {
    uint64_t item, started, ended;
};

/* An op as csan saw it: its site and its item; item 0: an access of the host at that clock. */
struct run_op {
    uint64_t sequence, item, clock;
    uint64_t key; /* names its site in every run; 0: unknown */
    uint32_t site;
};

/* The host changed what an op reads, after the op's call and before that clock. No op of the
 * program's is behind it. */
struct run_change {
    uint64_t op; /* its sequence */
    uint64_t until;
    uint64_t key; /* of the call before which it was */
    uint32_t site;
};

struct run_side {
    uint64_t op, key;
};

struct run_race {
    int kind;
    bool possible;
    bool suppressed;          /* suppressions or a baseline hide it: it only explains differences */
    struct run_side sides[2]; /* the earlier op first */
};

/* What can differ between two runs, in the order in which differences are printed. */
enum part_kind {
    PART_STATUS,
    PART_FAILURE, /* of a context; memory then means nothing */
    PART_OUTPUT,
    PART_COPY,
    PART_FREED_DEVICE,
    PART_FREED_HOST,
    PART_LEFT_DEVICE,
    PART_LEFT_HOST
};

struct run_part {
    enum part_kind kind;
    uint64_t number; /* the copy's item, the allocation's number */
    uint64_t bytes;
    uint64_t value; /* a hash; the status of waitpid; the error */
};

struct run {
    unsigned number; /* names its files */
    char schedule[SCRATCH_PATH + 16];
    int status;     /* as waitpid gives it */
    double seconds; /* it took */
    bool used_device, timed_out;
    bool failed;        /* a context did */
    bool whole;         /* the program's exit handlers ran, so the files lack nothing */
    unsigned processes; /* that csan saw use CUDA */
    uint64_t threads; /* that enqueued work. With several, numbers of copies and allocations differ
                         from run to run, so parts are numbered by their values instead */
    struct run_item *items; /* by number */
    size_t item_count;
    struct run_op *ops; /* by sequence */
    size_t op_count;
    struct run_change *changes; /* as they were found */
    size_t change_count;
    uint64_t *keys; /* of sites, by number */
    size_t key_count;
    struct run_race *races; /* in the order of their reports */
    size_t race_count;
    size_t error_count;     /* findings that are no races */
    struct run_part *parts; /* by kind and number */
    size_t part_count;
    char *reports; /* with symbols: csan's JSON report; NULL if nothing was reported */
};

struct run_settings {
    const struct program *program;
    struct scratch scratch;
    double timeout;      /* seconds a run may take */
    const char *options; /* more CSAN_OPTIONS, behind those that a run sets itself; or NULL */
};

/* Runs the program. False, with nothing in the run: it could not be started, which is said, or the
 * command is to end (child_interrupted). */
bool run_make(struct run *run, const struct run_settings *settings, unsigned number,
              const char *schedule, bool symbolize);
void run_free(struct run *run);
/* Reads what a run with symbols reported, which may be nothing. False, which is said: it cannot be
 * read. Call finding_report_free() in both cases. */
bool run_read_report(const struct run *run, const struct run_settings *settings,
                     struct finding_report *report);
/* Deletes its files, but not the schedule if that is to be kept. */
void run_delete(const struct run *run, const struct run_settings *settings, bool keep_schedule);
/* Prints the last lines that the program wrote to standard error. */
void run_print_errors(const struct run *run, const struct run_settings *settings);
/* The path of its saved schedule. */
void run_schedule_path(const struct run *run, const struct run_settings *settings,
                       char path[SCRATCH_PATH]);

/* The item with that number; NULL: it never ended. */
const struct run_item *run_find_item(const struct run *run, uint64_t item);
const struct run_op *run_find_op(const struct run *run, uint64_t sequence);
/* The item of a race's side; 0: it is the host's, or none is known. */
uint64_t run_item_of(const struct run *run, const struct run_side *side);

#endif
