/* See steps.h. */
#include "csan/detector/steps.h"

#include <stdlib.h>

void steps_add(struct steps *steps, const struct step *step)
{
    if (!steps->ring)
        steps->ring = malloc(STEPS_KEPT * sizeof *steps->ring);
    if (!steps->ring)
        return;
    steps->ring[steps->count++ % STEPS_KEPT] = *step;
}

void steps_clear(struct steps *steps)
{
    free(steps->ring);
    *steps = (struct steps){0};
}
