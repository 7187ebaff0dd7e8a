/* What csan explore knows while it explores, shared by what explores and what prints. */
#ifndef RUNTIME_CLI_EXPLORE_EXPLORE_H
#define RUNTIME_CLI_EXPLORE_EXPLORE_H

#include "csan/base/text.h"
#include "runtime/cli/explore/explore_compare.h"
#include "runtime/cli/explore/explore_run.h"

enum {
    MOST_RACES = 64, /* that are distinguished; one bit each */
    MOST_KEPT = 24,  /* runs with different results, with which later runs are compared */
    DESCRIPTION = 256,
    SCHEDULE_BYTES = 128, /* part of a schedule's name, in the form of --schedule */
};

/* Two runs that end differently. */
struct evidence {
    unsigned runs[2]; /* their numbers; 0: none */
    char schedules[2][SCHEDULE_BYTES];
    char what[DESCRIPTION];
};

struct explored_race {
    struct run_race race;
    uint64_t items[2]; /* the device's numbers of the two accesses; 0: the host's access, or none */
    char *text;        /* csan's report; NULL: suppressed, or a second run did not show it again */
    char schedule[SCHEDULE_BYTES]; /* the first that showed it */
    bool alone;                    /* the evidence is of this race only */
    uint64_t together;             /* else: all races that went another way, as bits */
    struct evidence evidence;
    unsigned in_vain;  /* runs in which it went another way and the results were the same */
    unsigned targeted; /* schedules made for it so far */
};

struct explorer {
    struct program program;
    struct run_settings settings;
    const char *keep;     /* the directory that schedules are kept in, or NULL: none are kept */
    unsigned long wanted; /* runs */
    bool until_confirmed;
    bool json;         /* what is printed is one document */
    unsigned made;     /* schedules run */
    unsigned numbered; /* runs, with those that only repeat one */
    uint64_t seed;
    struct run kept[MOST_KEPT]; /* the first is eager */
    size_t kept_count;
    struct explored_race findings[MOST_RACES];
    size_t finding_count;
    unsigned untracked; /* races beyond MOST_RACES */
    size_t errors;      /* findings that are no races, from the run that had most */
    struct part_set ignored;
    bool unsteady; /* the same schedule gave different results */
    bool threaded; /* several host threads enqueue work */
    struct evidence unreported;
    unsigned unreported_runs;
    struct evidence parted; /* of two runs that went different ways and ended differently */
    unsigned ways;          /* that the program took */
};

static inline bool finding_confirmed(const struct explored_race *finding)
{
    return finding->alone || finding->together;
}

/* Prints all races with their evidence, and what else was found, on standard output. */
void explore_report(const struct explorer *explorer);
/* The same as one document. `code`: the command's exit code. */
void explore_report_json(const struct explorer *explorer, int code);

/* Where the schedule of an evidence's first or second run is kept. False: no schedules are kept. */
bool explore_schedule_path(const struct explorer *explorer, const struct evidence *evidence,
                           int which, char path[SCRATCH_PATH]);
/* The shell command that runs it again: by that file, or else by the schedule's name. */
void explore_command_add(struct text *text, const struct explorer *explorer,
                         const struct evidence *evidence, int which);

#endif
