/* Programs whose launches are all known. See learning_program.h. */
#include "runtime/hook/observe/learning_program.h"
#include "runtime/hook/observe/learning.h"
#include "runtime/hook/session/session.h"
#include "runtime/hook/session/session_options.h"
#include "runtime/hook/observe/program.h"

#include <unistd.h>

static struct {
    struct learn_program program;
    bool identified;
    bool noted;      /* what is found will be */
    bool rests;      /* atomic */
    uint64_t missed; /* atomic */
} own;

void learning_program_identify(void)
{
    own.identified = program_identify(&own.program);
}

/* Where nothing can be noted, nobody would ever learn again. */
bool learning_program_begin(const struct learner_options *options)
{
    own.noted = options->cache && own.identified;
    const int rested = own.noted && access(options->cache, W_OK) == 0 && learning_was_kept()
                           ? programs_find(options, &own.program)
                           : -1;
    const bool rests = rested >= 0 && rested + 1 < session_options()->learn_every;
    __atomic_store_n(&own.rests, rests, __ATOMIC_RELEASE);
    return rests;
}

bool learning_program_rests(void)
{
    return __atomic_load_n(&own.rests, __ATOMIC_ACQUIRE);
}

void learning_program_missed(void)
{
    __atomic_fetch_add(&own.missed, 1, __ATOMIC_RELAXED);
}

uint64_t learning_program_missed_count(void)
{
    return __atomic_load_n(&own.missed, __ATOMIC_RELAXED);
}

static void left_say(const struct learner_left *left)
{
    if (left->open && session_options()->verbosity > 0)
        session_note(
            "launches of %zu kind%s (one is of %s) are left to learn for later runs, those "
            "of %zu are known",
            left->open, left->open == 1 ? "" : "s", left->kernel, left->complete);
}

static enum program_note note_of(struct learner *learner, bool untaught)
{
    struct learner_left left;
    if (learning_program_rests())
        return learning_program_missed_count() ? PROGRAM_MISSED : PROGRAM_RESTED;
    learner_left(learner, &left);
    left_say(&left);
    return !untaught && learner_is_settled(&left) ? PROGRAM_SETTLED : PROGRAM_OPEN;
}

bool learning_program_end(const struct learner_options *options, struct learner *learner,
                          bool untaught)
{
    const bool launched = learner != NULL; /* by who launched nothing, nothing is known */
    return !own.noted || !launched ||
           programs_note(options, &own.program, note_of(learner, untaught));
}
