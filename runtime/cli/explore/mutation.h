/* What csan mutate finds out about a program: its synchronizations in order, and for each what a
 * run without it showed. mutate.c fills it in, and mutation.c prints it. */
#ifndef RUNTIME_CLI_EXPLORE_MUTATION_H
#define RUNTIME_CLI_EXPLORE_MUTATION_H

#include "runtime/cli/explore/mutate_run.h"

/* What a run without the synchronization showed, the strongest first. */
enum finding { NEEDED, POSSIBLY_NEEDED, FAILED, TIMED_OUT, OUTPUT, UNSEEN, UNREACHED, UNTRIED };

struct trial {
    enum finding finding;
    char *race; /* NEEDED, POSSIBLY_NEEDED: the first new race */
    int status; /* FAILED: as waitpid gives it */
};

struct mutation {
    struct program program;
    struct mutate_settings settings;
    unsigned long runs; /* at most */
    struct mutate_run plain;
    bool json;            /* what is printed is one document */
    bool steady;          /* the program's output is the same each time */
    struct trial *trials; /* one for each of plain.syncs */
    size_t chosen, tried;
};

/* Prints the races that the program has with all its synchronizations. */
void mutation_print_plain(const struct mutation *mutation);
/* Prints what was found, place by place, and the totals. */
void mutation_print(const struct mutation *mutation);
/* The same as one document. `code`: the command's exit code. */
void mutation_print_json(const struct mutation *mutation, int code);

#endif
