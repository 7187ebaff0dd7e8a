/* What a summary answers: whether it says what a launch touches, and launches that take its word
 * while their operators rest. */
#include "csan/base/text.h"
#include "runtime/hook/operator/access_extent.h"
#include "runtime/hook/interpose/driver.h"
#include "runtime/hook/operator/operator_summary.h"
#include "runtime/hook/operator/operator_summary_state.h"
#include "runtime/hook/session/session.h"
#include "runtime/hook/session/session_options.h"

static struct {
    uint32_t unanswered_said; /* with the summaries' lock */
} own;

/* ---- What a summary says of a launch ---- */

/* A pointer that is loose and never was: then the kernel touches what was not seen. What stands
 * where nobody sets a parameter may lead anywhere by chance. Of the process's own memory it is no
 * pointer. */
static bool is_looser_at(const struct thread *thread, const struct summary_found *found, uint32_t i)
{
    return thread->loose[i] && !found->loose[i] && operator_summary_anchor_of(thread, i) &&
           summaries_pointer_counts(operator_summary_own.summaries, &thread->key.shape, i);
}

static bool is_looser(struct thread *thread, const struct summary_found *found)
{
    bool looser = !operator_summary_loose(thread, found->accesses, found->count);
    for (uint32_t i = 0; i < thread->slots && !looser; i++)
        looser = is_looser_at(thread, found, i);
    return looser;
}

/* Whether all of it lies in the blocks that the pointers lead into. */
static bool found_fits(const struct thread *thread, const struct summary_found *found)
{
    struct csan_dim dims[CSAN_MAX_DIMS];
    struct csan_access placed;
    bool fits = true;
    for (uint32_t i = 0; fits && i < found->count; i++) {
        const struct learn_anchor *anchor =
            operator_summary_anchor_of(thread, found->accesses[i].pointer);
        if (!anchor)
            return false;
        operator_summary_place(&found->accesses[i], anchor, &placed, dims);
        const struct range extent = access_extent(&placed);
        fits = extent.start >= anchor->block.start && extent.end <= anchor->block.end &&
               extent.start < extent.end;
    }
    return fits;
}

bool operator_summary_is_answer(struct thread *thread, const struct summary_found *found)
{
    return found->state == SUMMARY_KNOWN && found->operator_ran && found_fits(thread, found) &&
           !is_looser(thread, found);
}

/* Whether it is at least what launches did that are like it. */
static bool is_bound(struct thread *thread, const struct summary_found *found)
{
    return found->state != SUMMARY_KNOWN && found->alike && found_fits(thread, found) &&
           !is_looser(thread, found);
}

/* ---- Launches without their operator ---- */

static bool found_apply(const struct thread *thread, const struct summary_found *found,
                        struct launch_accesses_touched *touched)
{
    size_t dim_count = 0;
    struct csan_dim *dims;
    for (uint32_t i = 0; i < found->count; i++)
        dim_count += found->accesses[i].dim_count;
    struct csan_access *accesses = launch_accesses_replace(touched, found->count, dim_count, &dims);
    if (!accesses)
        return false;
    for (uint32_t i = 0; i < found->count; i++) {
        operator_summary_place(&found->accesses[i],
                               operator_summary_anchor_of(thread, found->accesses[i].pointer),
                               &accesses[i], dims);
        dims += found->accesses[i].dim_count;
    }
    const bool known = found->state == SUMMARY_KNOWN;
    for (uint32_t i = 0; i < found->count && !known; i++)
        accesses[i].bound = CSAN_BOUND_ANNOTATED;
    /* What launches like it did need not be all that this one does: it is not checked. */
    touched->level = known ? CSAN_LEVEL_OPERATOR : CSAN_LEVEL_UNKNOWN;
    touched->exact = true;
    return true;
}

/* How its key differs from the nearest that is known. */
static void nearest_add(struct text *line, const struct thread *thread)
{
    struct summary_nearest nearest;
    summaries_nearest(operator_summary_own.summaries, &thread->key, &nearest);
    text_add(line, "; %u launches are like it", nearest.entries);
    if (nearest.entries)
        text_add(line, ", and the nearest differs in %u of %u words", nearest.differing,
                 nearest.counting);
    for (uint32_t i = 0; i < nearest.differing && i < SUMMARY_NEAREST_WORDS; i++)
        text_add(line, "%s byte %u%s was 0x%x, is 0x%x", i ? "," : ":", nearest.words[i] * 4,
                 operator_summary_anchor_of(thread, nearest.words[i] / 2) ? " (a pointer)" : "",
                 nearest.before[i], thread->key.words[nearest.words[i]]);
}

/* What is known does not hold for where the pointers lead. */
static void misfit_add(struct text *line, struct thread *thread, const struct summary_found *found)
{
    if (!found_fits(thread, found)) { /* where they start from may be no pointer */
        text_add(line, "; its accesses do not lie in the blocks");
        return;
    }
    if (!operator_summary_loose(thread, found->accesses, found->count))
        return;
    for (uint32_t i = 0; i < thread->slots; i++)
        if (is_looser_at(thread, found, i))
            text_add(line, "; byte %u leads elsewhere, as it never did", i * 8);
}

/* For who wants to know why operators are followed again. */
static void say_unanswered(struct thread *thread, const struct summary_found *found)
{
    static const char *const states[] = {"there is none", "it was seen too seldom",
                                         "pointers lie otherwise", "it is never the same"};
    char brief[BRIEF_BYTES];
    struct text line = {0};
    if (!session_options()->verbosity || own.unanswered_said++ >= SAID_MOST)
        return;
    operator_summary_brief(thread->kernel->name, brief);
    text_add(&line, "operator summaries: no answer for a launch of %s: %s", brief,
             thread->launch ? states[found->state] : "its parameters are not known");
    if (session_options()->verbosity > 1 && thread->launch && found->state == SUMMARY_KNOWN)
        misfit_add(&line, thread, found);
    else if (session_options()->verbosity > 1 && thread->launch)
        nearest_add(&line, thread);
    session_note("%s", line.data ? line.data : "");
    text_free(&line);
}

/* With the lock. */
static void found_look(struct thread *thread, struct summary_found *found)
{
    struct summaries *summaries = operator_summary_own.summaries;
    operator_summary_pointers_relate(thread);
    summaries_find(summaries, &thread->key, found);
    if (found->state == SUMMARY_KNOWN)
        summaries_answered(summaries, &thread->key);
    else if (found->state == SUMMARY_NONE && operator_summary_state() == RESTING &&
             summaries_missed(summaries, &thread->key)) {
        operator_summary_own.shifted++;
        summaries_find(summaries, &thread->key, found);
    }
}

static __attribute__((noinline)) const struct csan_operator *
apply_slow(struct thread *thread, struct launch_accesses_touched *touched)
{
    struct summary_found found = {.state = SUMMARY_NONE};
    operator_summary_lock();
    if (thread->launch)
        found_look(thread, &found);
    const bool known =
        operator_summary_is_answer(thread, &found) && found_apply(thread, &found, touched);
    operator_summary_own.unnamed += known && !found.what;
    if (known)
        operator_summary_repeated_keep(thread, &found, touched);
    const bool bounded = !known && is_bound(thread, &found) && found_apply(thread, &found, touched);
    if (!known)
        say_unanswered(thread, &found);
    operator_summary_unlock();
    if (__atomic_load_n(&driver_capture_seen, __ATOMIC_RELAXED))
        operator_summary_wake("a stream was captured");
    if (known)
        operator_summary_answered();
    else
        operator_summary_unanswered();
    return known || bounded ? found.what : NULL;
}

/* The launch was answered before. */
static __attribute__((noinline)) const struct csan_operator *
apply_repeated(struct thread *thread, struct launch_accesses_touched *touched)
{
    const struct csan_operator *what = NULL;
    const bool known = operator_summary_repeated_apply(thread, touched, &what);
    if (__atomic_load_n(&driver_capture_seen, __ATOMIC_RELAXED))
        operator_summary_wake("a stream was captured");
    if (known)
        operator_summary_answered();
    else
        operator_summary_unanswered();
    return what;
}

const struct csan_operator *operator_summary_apply(struct launch_accesses_touched *touched)
{
    struct thread *thread = operator_summary_self;
    if (!thread || !thread->asked || touched->exact || !operator_summary_rests())
        return NULL;
    return thread->repeated ? apply_repeated(thread, touched) : apply_slow(thread, touched);
}
