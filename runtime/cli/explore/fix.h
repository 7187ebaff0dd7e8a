/* What csan fix learns of a program: its races as it is, for each of them that lacks an order of
 * its own a run with the proposed order, and one with all orders that hold. cmds/fix.c fills it,
 * fix_order.c makes the orders, fix_run.c the runs; fix_report.c and fix_json.c say what was found.
 */
#ifndef RUNTIME_CLI_EXPLORE_FIX_H
#define RUNTIME_CLI_EXPLORE_FIX_H

#include "runtime/cli/process/child.h"
#include "runtime/cli/explore/explore_compare.h"
#include "runtime/cli/findings/finding_read.h"

#include <stdio.h>

enum { FIX_ORDER_BYTES = 960 }; /* of option add_order: what an option holds */

/* A run, and the report it gave. */
struct fix_run {
    struct run run;
    struct finding_report report;
};

/* What a run with an order showed, in words that fix_report.c has. */
enum fix_verdict {
    FIX_UNTRIED,    /* interrupted before */
    FIX_VERIFIED,   /* the races are gone, and nothing new is reported */
    FIX_IMPOSSIBLE, /* csan cannot put it in: `detail` says why */
    FIX_UNSTEADY,   /* a second run as it is did not report them all, so that no run proves anything
                     */
    FIX_UNREACHED,  /* it was put in nowhere: `detail` says why */
    FIX_REMAINS,    /* a race that it is for is reported still: `detail` */
    FIX_NEW_RACE,   /* another race is reported: `detail` */
    FIX_OUTPUT,     /* two schedules end differently: `detail` */
    FIX_FAILED,     /* the program ends otherwise than without it: `detail` */
};

/* The order that a group of races lacks. */
struct fix_trial {
    size_t leader;               /* a finding of the plain run */
    char order[FIX_ORDER_BYTES]; /* as option add_order takes it; "": none */
    /* The races whose accesses it goes by, where that is not the leader alone; or NULL. */
    const struct finding *from, *to;
    bool each; /* each race has its own */
    /* What was proposed did not hold; what follows is of an event in its place. NULL: it did. */
    char *refuted;
    enum fix_verdict verdict;
    char *detail;       /* or NULL */
    bool *removed;      /* by finding of the plain run: gone with this order alone */
    size_t left;        /* of the plain run's races */
    uint64_t unordered; /* pairs of operations with it */
    unsigned schedules; /* that ended equal; 0: not compared, since races are left */
    unsigned other_way; /* that went another way, and were not compared */
    double seconds;     /* of the program with it, the median; 0: not measured */
};

struct fixing {
    struct program program;
    struct run_settings settings;
    unsigned long runs; /* schedules for each order; on a GPU runs */
    char *schedule;     /* of the runs that are compared with: the program as it is, each order */
    bool json;
    FILE *out;

    unsigned numbered;    /* runs so far */
    struct fix_run plain; /* the program as it is */
    struct fix_run again; /* the same, a second time */
    /* By finding: the number of the stream that a stream proposal names; 0: none. */
    unsigned *streams;
    struct part_set ignored;
    double seconds; /* of the program as it is, the median; 0: not measured */
    struct fix_trial *trials;
    size_t trial_count;
    struct fix_trial together; /* all that hold; its leader means nothing */
    size_t together_count;     /* how many; they are tried together if there are two */
};

/* ---- fix_run.c */

/* Run the program with these orders ("": none). False: it could not be started, which is said, or
 * the command is to end. */
bool fix_run_make(struct fixing *fixing, struct fix_run *run, const char *order,
                  const char *schedule);
void fix_run_free(struct fixing *fixing, struct fix_run *run);
/* The note that the library leaves of the order at the end, behind its name; NULL: none. */
const char *fix_run_note(const struct fix_run *run, const char *order);
const struct finding *fix_run_find(const struct fix_run *run, uint64_t fingerprint);
bool fix_on_gpu(const struct fixing *fixing);
/* Say on a terminal what is done now; "": nothing any more. */
void fix_progress(const struct fixing *fixing, const char *what);
/* The exit code of a command that could not make a run. */
int fix_cut_short(void);

/* ---- fix_order.c */

/* The order that is proposed for the leader's races; false: none can be put in, and the trial says
 * why. */
bool fix_order_choose(const struct fixing *fixing, struct fix_trial *trial);
/* The orders of each race of the leader's, instead of one for all. */
bool fix_order_each(const struct fixing *fixing, struct fix_trial *trial);
/* An event between the leader's two accesses, in place of what was proposed. */
bool fix_order_event(const struct fixing *fixing, struct fix_trial *trial);
/* Adds orders to those of a trial; false: there is no room. */
bool fix_order_add(struct fix_trial *trial, const char *order);
/* What asks the library for the numbers of the streams that proposals name. */
void fix_order_numbers(const struct fixing *fixing, struct fix_trial *trial);
void fix_order_take_numbers(struct fixing *fixing, const struct fix_run *run);

/* A race of the program as it is. */
static inline const struct finding *fix_finding(const struct fixing *fixing, size_t index)
{
    return fixing->plain.report.findings[index];
}

static inline bool fix_is_member(const struct fixing *fixing, const struct fix_trial *trial,
                                 size_t finding)
{
    return fix_finding(fixing, finding)->group == fix_finding(fixing, trial->leader)->number;
}

/* ---- fix_trial.c */

void fix_trial_clear(struct fix_trial *trial);
/* Try the order that the trial's group lacks. 0, or the exit code: the command is to end. */
int fix_try_group(struct fixing *fixing, struct fix_trial *trial);
/* Try all orders that hold, if there are two. Likewise. */
int fix_try_together(struct fixing *fixing);
/* The median of the seconds that as many runs take as were asked for, with these orders; 0 seconds
 * when they were cut short. Likewise. */
int fix_measure(struct fixing *fixing, const char *order, double *seconds);
/* Whether the second run as it is reported all races of the trial's group. */
bool fix_came_back(const struct fixing *fixing, const struct fix_trial *trial);

/* ---- fix_report.c */

/* Print it, in words or as JSON. `code`: what the command ends with. */
void fix_report(const struct fixing *fixing, int code);
/* Why the trial's order does not hold, as a text that the caller frees. */
char *fix_refutation(const struct fix_trial *trial);
/* Every race's order holds, and with all of them no race is left. */
bool fix_all_hold(const struct fixing *fixing);

/* The races of the plain run that a trial is about: its group's; others that are gone with its
 * order, too; those that stay. */
enum fix_choice { FIX_MEMBERS, FIX_REMOVED_TOO, FIX_LEFT };
bool fix_is_chosen(const struct fixing *fixing, const struct fix_trial *trial, size_t index,
                   enum fix_choice choice);

/* ---- fix_json.c */

void fix_json_add(struct text *text, const struct fixing *fixing, int code);

/* ---- cmds/fix.c */

/* All that csan fix does, for a program that is prepared. Returns the exit code. */
int fix(struct fixing *fixing);

/* For csan run --verify-fix, whose program had races: does as csan fix, and prints on standard
 * error what it found. */
void fix_after_run(const struct program *program);

#endif
