/* Launches of operators, which are added to the summaries, and the operators' frames: which of
 * their arguments some launch reached. See operator_summary.h. */
#include "runtime/hook/operator/operator_summary.h"
#include "runtime/hook/operator/access_extent.h"
#include "runtime/hook/operator/operator_summary_state.h"
#include "runtime/hook/session/session.h"
#include "runtime/hook/session/session_options.h"

#include <string.h>

enum { TURNS = 16 }; /* of operators that may be skipped, one is compared */

/* A launch that was added, kept until its outermost operator ends; its words follow. */
struct noted {
    struct summary_shape shape;
    uint32_t word_count, padding;
};

/* With the summaries' lock. */
static struct {
    const struct csan_operator *said[SAID_MOST]; /* with arguments out of reach */
    uint32_t said_count, narrower_said;
} own;

/* ---- Launches of operators ---- */

static void noted_keep(struct thread *thread)
{
    const size_t words = thread->key.word_count * sizeof *thread->key.words;
    const struct noted head = {thread->key.shape, thread->key.word_count, 0};
    uint8_t *bigger = operator_summary_grown(thread->noted, &thread->noted_room,
                                             thread->noted_bytes + sizeof head + words, 1);
    if (!bigger)
        return;
    thread->noted = bigger;
    memcpy(thread->noted + thread->noted_bytes, &head, sizeof head);
    if (words)
        memcpy(thread->noted + thread->noted_bytes + sizeof head, thread->key.words, words);
    thread->noted_bytes += sizeof head + words;
}

static void say_narrower(const struct thread *thread, const struct csan_operator *what)
{
    if (own.narrower_said++ < SAID_MOST)
        session_note("verify_operators: the summary of kernel %s is narrower than %s",
                     thread->kernel->name, what->name);
}

/* For who wants to know why operators do not rest: the newest kernels with launches that were not
 * known. With the lock. */
static void newest_note(const struct thread *thread, const struct summary_result *result,
                        uint8_t state)
{
    uint32_t at = 0;
    for (uint32_t i = 0; i < NEWEST; i++) {
        if (operator_summary_own.newest[i].kernel == thread->kernel->name) {
            at = i;
            break;
        }
        if (operator_summary_own.newest[i].at < operator_summary_own.newest[at].at)
            at = i;
    }
    struct newest *newest = &operator_summary_own.newest[at];
    if (newest->kernel != thread->kernel->name)
        *newest = (struct newest){.kernel = thread->kernel->name};
    newest->what = result->what->name;
    newest->state = state;
    newest->count++;
    newest->at = operator_summary_own.added;
}

/* Of the launch that is being added: whether it was known before, with that result. */
static bool result_take(struct thread *thread, struct summary_result *result, bool shared)
{
    struct summary_found found;
    operator_summary_lock();
    summaries_find(operator_summary_own.summaries, &thread->key, &found);
    const bool known = operator_summary_is_answer(thread, &found);
    if (known && operator_summary_own.verifies) {
        operator_summary_own.compared++;
        if (!summary_covers(&found, result)) {
            operator_summary_own.narrower++;
            say_narrower(thread, result->what);
        }
    }
    if (operator_summary_loose(thread, result->accesses, result->count))
        result->loose = thread->loose;
    const enum summary_change change =
        shared || !result->loose
            ? SUMMARY_DROPPED
            : summaries_add(operator_summary_own.summaries, &thread->key, result);
    operator_summary_own.added++;
    if (!known || change != SUMMARY_CONFIRMED)
        newest_note(thread, result, change == SUMMARY_DROPPED ? NEWEST_DROPPED : found.state);
    operator_summary_unlock();
    return known && change == SUMMARY_CONFIRMED;
}

/* Those that a pointer reaches, into the thread's room. */
static uint32_t list_relate(struct thread *thread, const struct operator_summary_frame *frame,
                            struct operator_summary_list list, size_t argument_count)
{
    uint32_t count = 0;
    for (size_t i = 0; i < list.count; i++) {
        const int pointer = operator_summary_pointer_of(thread->launch, &list.items[i]);
        if (pointer < 0)
            continue;
        const struct learn_anchor *anchor = &thread->launch->launch.anchors[pointer];
        operator_summary_relate(&list.items[i], anchor->address, anchor->offset / 8,
                                &thread->accesses[count++]);
        if (i < argument_count && i < frame->reached_count)
            thread->reached[frame->reached + i] = 1;
    }
    return count;
}

void operator_summary_note(struct operator_summary_frame *frame, const struct csan_operator *what,
                           struct operator_summary_list list, size_t argument_count)
{
    struct thread *thread = operator_summary_thread();
    if (!thread || !thread->asked || operator_summary_rests())
        return;
    struct summary_access *room = operator_summary_grown(thread->accesses, &thread->access_room,
                                                         list.count, sizeof *thread->accesses);
    if (!thread->launch || !room) {
        operator_summary_unknown();
        return;
    }
    thread->accesses = room;
    operator_summary_lock();
    operator_summary_pointers_relate(thread);
    operator_summary_unlock();
    struct summary_result result = {what, thread->accesses,
                                    list_relate(thread, frame, list, argument_count), NULL};
    noted_keep(thread);
    if (result_take(thread, &result, operator_summary_any_shared(list)))
        operator_summary_known();
    else
        operator_summary_unknown();
}

/* ---- Frames ---- */

void operator_summary_frame_begin(struct operator_summary_frame *frame, size_t accesses,
                                  bool outermost)
{
    struct thread *thread = operator_summary_thread();
    *frame = (struct operator_summary_frame){0};
    if (!thread)
        return;
    if (outermost) {
        operator_summary_woken();
        thread->reached_count = thread->noted_bytes = 0;
        thread->skips = operator_summary_may_skip() && thread->turns++ % TURNS != 0;
    }
    frame->reached = thread->reached_count;
    frame->noted = thread->noted_bytes;
    uint8_t *bigger = operator_summary_grown(thread->reached, &thread->reached_room,
                                             thread->reached_count + accesses, 1);
    if (!bigger)
        return;
    thread->reached = bigger;
    if (accesses)
        memset(thread->reached + thread->reached_count, 0, accesses);
    thread->reached_count += accesses;
    frame->reached_count = accesses;
}

/* Whether it is no memory of a device alone. */
static bool is_of_host(const struct csan_access *access)
{
    enum csan_memory_kind kind;
    return !csan_memory_find(session_context(), access->base, NULL, NULL, &kind) ||
           kind == CSAN_MEMORY_HOST || kind == CSAN_MEMORY_MANAGED;
}

void operator_summary_reach(struct operator_summary_frame *frame,
                            struct operator_summary_list arguments,
                            struct operator_summary_list list)
{
    struct thread *thread = operator_summary_self;
    for (size_t k = 0; thread && k < list.count && !frame->took_from_host; k++)
        frame->took_from_host = list.items[k].kind == CSAN_READ && is_of_host(&list.items[k]);
    for (size_t i = 0; thread && i < arguments.count && i < frame->reached_count; i++) {
        if (thread->reached[frame->reached + i])
            continue;
        const struct range argument = access_extent(&arguments.items[i]);
        for (size_t k = 0; k < list.count; k++)
            if (extents_meet(access_extent(&list.items[k]), argument))
                thread->reached[frame->reached + i] = 1;
    }
}

/* Once for each operator. */
static void say_unreached(const struct csan_operator *what, const struct csan_access *access)
{
    const bool named = access->argument < what->argument_count;
    uint32_t at = 0;
    while (at < own.said_count && own.said[at] != what)
        at++;
    if (at < own.said_count || at == SAID_MOST)
        return;
    own.said[own.said_count++] = what;
    if (session_options()->verbosity > 0)
        session_note("operator summaries: no launch of %s has a pointer to its argument %s",
                     what->name, named ? what->arguments[access->argument] : "?");
}

/* An argument that none of the operator's launches reaches, rather one that is written; NULL: none.
 */
static const struct csan_access *unreached_find(const struct thread *thread,
                                                const struct operator_summary_frame *frame,
                                                struct operator_summary_list arguments)
{
    const struct csan_access *found = NULL;
    for (size_t i = 0; i < arguments.count; i++)
        if ((i >= frame->reached_count || !thread->reached[frame->reached + i]) &&
            (!found || arguments.items[i].kind != CSAN_READ))
            found = &arguments.items[i];
    return found;
}

/* The launches of an operator from there on: `change` is summaries_spoil or summaries_doubt. */
static void noted_change(const struct thread *thread, size_t from,
                         void (*change)(struct summaries *, const struct summary_key *))
{
    struct noted head;
    for (size_t at = from; at < thread->noted_bytes;) {
        memcpy(&head, thread->noted + at, sizeof head);
        at += sizeof head;
        change(operator_summary_own.summaries,
               &(struct summary_key){head.shape, (const uint32_t *)(thread->noted + at),
                                     head.word_count});
        at += head.word_count * sizeof(uint32_t);
    }
    operator_summary_own.spoiled += change == summaries_spoil;
    operator_summary_unknown();
}

void operator_summary_frame_end(struct operator_summary_frame *frame,
                                const struct csan_operator *what,
                                struct operator_summary_list arguments, bool several,
                                bool outermost)
{
    struct thread *thread = operator_summary_self;
    if (!thread)
        return;
    if (thread->noted_bytes > frame->noted && !operator_summary_rests()) {
        const struct csan_access *unreached = unreached_find(thread, frame, arguments);
        if (unreached || several) {
            operator_summary_lock();
            operator_summary_own.unreached += unreached != NULL;
            operator_summary_own.several += several;
            if (unreached)
                say_unreached(what, unreached);
            if (unreached && (frame->took_from_host || unreached->kind != CSAN_READ))
                noted_change(thread, frame->noted, summaries_spoil);
            else if (several)
                noted_change(thread, frame->noted, summaries_doubt);
            operator_summary_unlock();
        }
    }
    thread->reached_count = frame->reached;
    if (outermost) {
        thread->noted_bytes = 0;
        operator_summary_rest_if_known();
    }
}
