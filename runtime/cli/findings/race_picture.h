/* Chooses the moments around a race that are drawn, on a page or as a graph. These are the ones
 * next to the two accesses that concern them, the calls that explain the race, and whatever one of
 * these waits for. */
#ifndef RUNTIME_CLI_FINDINGS_RACE_PICTURE_H
#define RUNTIME_CLI_FINDINGS_RACE_PICTURE_H

#include "runtime/cli/findings/surroundings.h"

struct race_picture {
    const struct moment **shown; /* ascending; of the neighbourhood */
    size_t *skipped; /* for each moment: how many that concern the race are left out before it */
    size_t count;
    uint64_t *calls; /* for each of the finding's calls: `at` of its moment; 0: it has none */
};

/* Empty where an access was not found. False: no memory. */
bool race_picture_choose(struct race_picture *picture, const struct surroundings *surroundings,
                         const struct neighbourhood *neighbourhood, const struct finding *finding);
void race_picture_free(struct race_picture *picture);

#endif
