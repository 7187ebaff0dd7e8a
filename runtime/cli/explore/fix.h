/* What csan fix finds out about a program: its races, for each of them that lacks an order of its
 * own a run with the proposed order, and a run with all orders that hold. cmds/fix.c fills it in,
 * fix_order.c makes the orders, and fix_run.c the runs. fix_report.c and fix_json.c print the
 * result. */
#ifndef RUNTIME_CLI_EXPLORE_FIX_H
#define RUNTIME_CLI_EXPLORE_FIX_H

#include "runtime/cli/process/child.h"
#include "runtime/cli/explore/explore_compare.h"
#include "runtime/cli/findings/finding_read.h"

#include <stdio.h>

enum { FIX_ORDER_BYTES = 960 }; /* characters that option add_order can hold */

/* A run, and the report it gave. */
struct fix_run {
    struct run run;
    struct finding_report report;
};

/* The result of a run with an order. fix_report.c has the words for it. */
enum fix_verdict {
    FIX_UNTRIED,    /* interrupted before */
    FIX_VERIFIED,   /* the races are gone, and nothing new is reported */
    FIX_IMPOSSIBLE, /* csan cannot put it in: `detail` says why */
    FIX_UNSTEADY,   /* a second unchanged run did not report them all, so no run proves anything */
    FIX_UNREACHED,  /* it was put in nowhere: `detail` says why */
    FIX_REMAINS,    /* a race that the order is for is still reported: `detail` */
    FIX_NEW_RACE,   /* another race is reported: `detail` */
    FIX_OUTPUT,     /* two schedules end differently: `detail` */
    FIX_FAILED,     /* the program ends otherwise than without the order: `detail` */
};

/* The order that a group of races lacks. */
struct fix_trial {
    size_t leader;               /* a finding of the plain run */
    char order[FIX_ORDER_BYTES]; /* as option add_order takes it; "": none */
    /* The races whose accesses give the order, if that is not only the leader; or NULL. */
    const struct finding *from, *to;
    bool each; /* each race has its own */
    /* The proposal did not hold, and what follows is about an event in its place. NULL: it held. */
    char *refuted;
    enum fix_verdict verdict;
    char *detail;  /* or NULL */
    bool *removed; /* for each finding of the unchanged run: it is gone with this order alone */
    size_t left;   /* of the plain run's races */
    uint64_t unordered; /* pairs of operations with it */
    unsigned schedules; /* runs that ended equal; 0: not compared, since races are left */
    unsigned other_way; /* runs that went another way, and were not compared */
    double seconds;     /* of the program with the order, the median; 0: not measured */
};

struct fixing {
    struct program program;
    struct run_settings settings;
    unsigned long runs; /* schedules for each order; on a GPU runs */
    char *schedule;     /* of the runs to compare with: the program unchanged, and each order */
    bool json;
    FILE *out;

    unsigned numbered;    /* runs so far */
    struct fix_run plain; /* the program as it is */
    struct fix_run again; /* the same, a second time */
    /* For each finding: the number of the stream that a stream proposal names; 0: none. */
    unsigned *streams;
    struct part_set ignored;
    double seconds; /* of the unchanged program, the median; 0: not measured */
    struct fix_trial *trials;
    size_t trial_count;
    struct fix_trial together; /* all that hold; its leader means nothing */
    size_t together_count;     /* how many orders hold; two or more are tried together */
};

/* ---- fix_run.c */

/* Runs the program with these orders ("": none). False: it could not be started, which is said, or
 * the command is to end. */
bool fix_run_make(struct fixing *fixing, struct fix_run *run, const char *order,
                  const char *schedule);
void fix_run_free(struct fixing *fixing, struct fix_run *run);
/* The note that the library leaves about the order at its end, behind the order's name; NULL: none.
 */
const char *fix_run_note(const struct fix_run *run, const char *order);
const struct finding *fix_run_find(const struct fix_run *run, uint64_t fingerprint);
bool fix_on_gpu(const struct fixing *fixing);
/* Shows on a terminal what is being done; "": nothing any more. */
void fix_progress(const struct fixing *fixing, const char *what);
/* The exit code for a command that could not make a run. */
int fix_cut_short(void);

/* ---- fix_order.c */

/* Its order is one before a load or store of the host's own: before that no call can be put. */
bool fix_is_of_host(const struct finding *finding);
/* The order that is proposed for the leader's races. False: none can be added, and the trial says
 * why. */
bool fix_order_choose(const struct fixing *fixing, struct fix_trial *trial);
/* One order for each race of the leader's, in place of one for all. */
bool fix_order_each(const struct fixing *fixing, struct fix_trial *trial);
/* An event between the leader's two accesses, in place of the proposal. */
bool fix_order_event(const struct fixing *fixing, struct fix_trial *trial);
/* Adds orders to those of a trial; false: there is no room. */
bool fix_order_add(struct fix_trial *trial, const char *order);
/* Makes the library report the numbers of the streams that proposals name. */
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
/* Tries the order that the trial's group lacks. 0, or the exit code: the command is to end. */
int fix_try_group(struct fixing *fixing, struct fix_trial *trial);
/* Tries all orders that hold together, if there are two. Returns likewise. */
int fix_try_together(struct fixing *fixing);
/* The median of the seconds of as many runs as were asked for, with these orders; 0 seconds if they
 * were cut short. Returns likewise. */
int fix_measure(struct fixing *fixing, const char *order, double *seconds);
/* Whether the second unchanged run reported all races of the trial's group. */
bool fix_came_back(const struct fixing *fixing, const struct fix_trial *trial);

/* ---- fix_report.c */

/* Prints it, in words or as JSON. `code`: the command's exit code. */
void fix_report(const struct fixing *fixing, int code);
/* Why the trial's order does not hold. The caller frees the text. */
char *fix_refutation(const struct fix_trial *trial);
/* Whether every race's order holds, and no race is left with all of them. */
bool fix_all_hold(const struct fixing *fixing);

/* The races of the unchanged run that a trial is about: those of its group, others that are gone
 * with its order, and those that stay. */
enum fix_choice { FIX_MEMBERS, FIX_REMOVED_TOO, FIX_LEFT };
bool fix_is_chosen(const struct fixing *fixing, const struct fix_trial *trial, size_t index,
                   enum fix_choice choice);

/* ---- fix_json.c */

void fix_json_add(struct text *text, const struct fixing *fixing, int code);

/* ---- cmds/fix.c */

/* Does all of csan fix, for a program that is prepared. Returns the exit code. */
int fix(struct fixing *fixing);

/* For csan run --verify-fix, if the program had races: does the same as csan fix, and prints the
 * result on standard error. */
void fix_after_run(const struct program *program);

#endif
