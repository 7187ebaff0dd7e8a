/* Compares two runs of an explored program: what differs in their results, and which races went
 * another way. */
#ifndef RUNTIME_CLI_EXPLORE_EXPLORE_COMPARE_H
#define RUNTIME_CLI_EXPLORE_EXPLORE_COMPARE_H

#include "runtime/cli/explore/explore_run.h"

/* Parts of results that mean nothing, because the program itself makes them differ. */
struct part_set {
    struct run_part *parts;
    size_t count;
};

/* The first difference of two runs' results; one of them may lack that part. */
struct difference {
    const struct run_part *part;  /* one of: */
    const struct run_part *a, *b; /* into the runs; NULL: that run does not have the part */
    size_t count;                 /* parts that differ; 0: the runs ended equal */
};

struct difference compare_results(const struct run *a, const struct run *b,
                                  const struct part_set *ignored);
/* The same for exit status, failure of the device, and standard output only, which can be compared
 * even if the runs went different ways. */
struct difference compare_ends(const struct run *a, const struct run *b,
                               const struct part_set *ignored);
/* From now on, differences between these two are ignored. */
void part_set_add(struct part_set *ignored, const struct run *a, const struct run *b);
/* In words, without a full stop: "what the copy that is item 9 brought to the host". */
void difference_describe(const struct difference *difference, char *text, size_t bytes);

/* Whether the program made the same ops in the same order. A run that a failure cut short went the
 * same way as far as it got. If a run went another way (the program asked whether work was done,
 * and it was in one of them), it shows nothing about the order of its ops. */
bool compare_way(const struct run *a, const struct run *b);

/* Whether the two accesses of a race came in another order, or overlapped in one of the runs,
 * wherever the program makes them. Ops of the same site are matched by how many came before. Also
 * true if it is not known. */
bool compare_order(const struct run *a, const struct run *b, const struct run_race *race);

/* Whether it is the same race: the same two sites, in the same way. */
bool race_equal(const struct run_race *a, const struct run_race *b);

#endif
