/* Two runs of an explored program side by side: what differs in their results, and which races went
 * another way. */
#ifndef RUNTIME_CLI_EXPLORE_EXPLORE_COMPARE_H
#define RUNTIME_CLI_EXPLORE_EXPLORE_COMPARE_H

#include "runtime/cli/explore/explore_run.h"

/* Parts of results that mean nothing, because the program itself makes them differ. */
struct part_set {
    struct run_part *parts;
    size_t count;
};

/* The first difference of two runs' results: a part that one of them may lack. */
struct difference {
    const struct run_part *part;  /* one of: */
    const struct run_part *a, *b; /* into the runs; NULL: that run has no such part */
    size_t count;                 /* parts that differ; 0: the runs ended equal */
};

struct difference compare_results(const struct run *a, const struct run *b,
                                  const struct part_set *ignored);
/* The same of exit status, failure of the device, and standard output alone: what can be compared
 * of runs that went different ways. */
struct difference compare_ends(const struct run *a, const struct run *b,
                               const struct part_set *ignored);
/* From now on what differs between these two is ignored. */
void part_set_add(struct part_set *ignored, const struct run *a, const struct run *b);
/* In words, without a full stop: "what the copy that is item 9 brought to the host". */
void difference_describe(const struct difference *difference, char *text, size_t bytes);

/* Did the program make the same ops in the same order? One that was cut short by a failure went the
 * same way as far as it got. Runs that went another way (the program asked whether work was done,
 * and it was in one of them) show nothing of the order of their ops. */
bool compare_way(const struct run *a, const struct run *b);

/* Did the two accesses of a race, wherever the program makes them, come in another order, or
 * overlap in one of the runs? Ops of the same site are matched by how many came before. Also true
 * when that is not known. */
bool compare_order(const struct run *a, const struct run *b, const struct run_race *race);

/* The same race: the same two sites, in the same way. */
bool race_equal(const struct run_race *a, const struct run_race *b);

#endif
