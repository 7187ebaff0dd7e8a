/* Operators from summaries (option operator_summaries): what operators made of earlier launches
 * takes the operators' place, so that the framework need not call csan at each of its operators.
 *
 *   FOLLOWED  operators are declared; each launch of theirs is added to the summaries
 *   RESTING   nobody declares operators; a launch has the accesses and the name that its summary
 *             has. One without a summary is taken to do what launches did that differ in their
 *             parameters only, if that is one thing, else nothing. It may do more: it is counted
 *             as unknown, and wakes the source
 *   WAKING    the source was asked to declare operators again; as RESTING until it does
 *
 *   FOLLOWED -> RESTING   the newest launches had all been known before, and the host has waited
 *                         for all work on memory that it shares with the device
 *   RESTING  -> WAKING    a launch without a summary; work on memory that the host shares (an
 *                         operator of the host may touch it next); a capture, after which operators
 *                         rest no more; from time to time
 *
 * A launch that needs no operator (its kernel's accesses are exact, or a library's call says them)
 * has no summary. An argument to which none of its operator's launches has a pointer is in none of
 * their summaries: the kernels cannot know where it lies, so they do not touch it, whatever the
 * operator's schema says (the input of a backward function of which only the sizes count). They may
 * know it from memory: if the operator copied something from the host, the summaries of its
 * launches are spoiled. If it works on several streams, its launches are counted anew: a library
 * may do so at its first call only, when it makes what it needs. Operators that do it again and
 * again are spoiled, since at rest nobody knows that the work on those streams is one operator's.
 */
#ifndef RUNTIME_HOOK_OPERATOR_OPERATOR_SUMMARY_H
#define RUNTIME_HOOK_OPERATOR_OPERATOR_SUMMARY_H

#include <csan/csan.h>
#include "csan/base/range_map.h"
#include "runtime/hook/observe/learning.h"

#include <stdbool.h>

struct text;

/* ---- The source of operators ---- */

/* csan_operator_source_set. */
int operator_summary_source(const struct csan_operator_source *source);
/* What each launch reads, in a line of the processor's caches that nothing else is in: csan's
 * thread writes what lies beside it for each launch. Atomic. */
extern struct operator_summary_now {
    /* 0: operators are followed. Else launches are looked up instead of operators being asked. */
    _Alignas(64) uint8_t state;
    bool has_source; /* so that operators may rest */
} operator_summary_now __attribute__((visibility("hidden")));
static inline bool operator_summary_rests(void)
{
    return __builtin_expect(__atomic_load_n(&operator_summary_now.state, __ATOMIC_ACQUIRE) != 0, 0);
}
/* Whether summaries are made or used at all. */
bool operator_summary_wanted(void);
static inline bool operator_summary_may_rest(void)
{
    return __builtin_expect(__atomic_load_n(&operator_summary_now.has_source, __ATOMIC_RELAXED), 0);
}

/* ---- A launch ---- */

/* The calling thread's stack; empty: it is not known. */
struct range operator_summary_stack(void);
/* Before what it touches is found. `stack` is that of the thread which launched: the parameters may
 * hold addresses within it. `learning` is not in use otherwise; it is until operator_summary_end.
 */
void operator_summary_begin(struct learning *learning, struct kernel *kernel, CUfunction function,
                            const struct launch_accesses_launch *what, struct range stack);
/* While operators rest: uses its summary, for accesses that are not exact. Returns who names the
 * launch; NULL: nobody. */
const struct csan_operator *operator_summary_apply(struct launch_accesses_touched *touched);
void operator_summary_end(struct learning *learning);
/* At the end of a function that the program calls between an operator's beginning and its launch:
 * what it leaves on the stack is nothing to compare. */
void operator_summary_stir(void);

/* ---- For the operators' stack ---- */

struct operator_summary_list {
    const struct csan_access *items;
    size_t count;
};
/* Of a frame. */
struct operator_summary_frame {
    size_t reached, reached_count; /* of its arguments' accesses: which are */
    size_t noted;                  /* launches noted when it began, as bytes */
    bool took_from_host;           /* it copied from memory of the host */
};
/* The thread's outermost operator, or one within, begins with accesses to so many arguments. */
void operator_summary_frame_begin(struct operator_summary_frame *frame, size_t accesses,
                                  bool outermost);
/* Adds the thread's launch to the summaries. The operator of `frame` declares that the launch
 * touches `list`; the first `argument_count` accesses are to that operator's arguments. The
 * operator `what` names the launch, and each access's `argument` is a number of its arguments. The
 * caller holds the hooks' lock. */
void operator_summary_note(struct operator_summary_frame *frame, const struct csan_operator *what,
                           struct operator_summary_list list, size_t argument_count);
/* Work within the frame, or within one inside, touches these: not by the frame's declaration. */
void operator_summary_reach(struct operator_summary_frame *frame,
                            struct operator_summary_list arguments,
                            struct operator_summary_list list);
/* Work that needs no summary; and a launch that none can be of: no operator made it. */
void operator_summary_known(void);
void operator_summary_unknown(void);
/* A copy or set on that lane touches these. After its op. `guarded`: each access of the host's to
 * what it shares of them is seen by itself (option host=guard). */
void operator_summary_shared(csan_lane lane, struct operator_summary_list list, bool guarded);
/* The host has waited for something. */
void operator_summary_waited(void);
/* The frame ends: `several`: it worked on several lanes. */
void operator_summary_frame_end(struct operator_summary_frame *frame,
                                const struct csan_operator *what,
                                struct operator_summary_list arguments, bool several,
                                bool outermost);

/* ---- Reports that lack an operator ---- */

/* Whether operators ever rested. */
bool operator_summary_has_rested(void);
/* The number of the op (csan_race_access.sequence) as of which they are followed again. */
uint64_t operator_summary_followed_since(void);
/* How many launches of operators there were. */
uint64_t operator_summary_launches(void);
/* A report waits for operators: they are followed as soon as the caller's locks allow, and do not
 * rest; until no report waits. */
void operator_summary_wanted_for_report(void);
void operator_summary_report_is_out(void);
/* Called while a report waits and operators are followed, without locks of hooks. Set before any
 * hook is entered. */
extern void (*operator_summary_on_followed)(void);

/* ---- The end ---- */

/* Lines for the summary; and what is known to the file. */
void operator_summary_notes(struct text *notes);
void operator_summary_finish(void);

#endif
