/* Programs that are known as a whole. See learning_program.h. */
#include "runtime/hook/learning_program.h"
#include "runtime/hook/learning.h"
#include "runtime/hook/process.h"
#include "runtime/hook/program.h"

#include <stdio.h>

static struct {
    struct learn_program program;
    bool identified, known;
    uint64_t missed; /* atomic */
} own;

bool learning_program_begin(const struct learner_options *options)
{
    const int every = process_options()->learn_every;
    if (!options->cache || !program_identify(&own.program))
        return false;
    own.identified = true;
    const int rested = programs_find(options, &own.program);
    own.known = rested >= 0 && rested + 1 < every && learning_was_kept();
    return own.known;
}

bool learning_program_is_known(void)
{
    return own.known;
}

void learning_program_missed(void)
{
    __atomic_fetch_add(&own.missed, 1, __ATOMIC_RELAXED);
}

/* A process that launched nothing tells nothing. */
void learning_program_end(const struct learner_options *options, struct learner *learner)
{
    if (!own.identified || !learner)
        return;
    if (own.known)
        programs_note(options, &own.program, own.missed ? PROGRAM_OPEN : PROGRAM_RESTED);
    else
        programs_note(options, &own.program,
                      learner_is_settled(learner) ? PROGRAM_KNOWN : PROGRAM_OPEN);
}

const char *learning_program_text(void)
{
    static char text[192];
    const uint64_t missed = __atomic_load_n(&own.missed, __ATOMIC_RELAXED);
    snprintf(
        text, sizeof text,
        "earlier runs knew all of this program's, so none was to be; %llu are new, and the next "
        "run learns of them (learn_every=1: each run learns)",
        (unsigned long long)missed);
    return missed ? text : NULL;
}
