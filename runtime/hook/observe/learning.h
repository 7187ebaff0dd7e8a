/* Learning in the hooks. A launch is looked up before the driver's call, relative to the memory
 * that csan knows. Its trace goes to the learner (runtime/learn). Known sets replace what the PTX
 * says.
 *
 * A graph's nodes use the sets that earlier launches taught. csan keeps them, looks them up when
 * their graph is launched, and may then ask for traces (learning_node.h).
 *
 * The key's pointers are those into declared blocks and allocations, tensor maps by their content
 * without the address, and the variables that the kernel's PTX names. */
#ifndef RUNTIME_HOOK_OBSERVE_LEARNING_H
#define RUNTIME_HOOK_OBSERVE_LEARNING_H

#include "runtime/trace/trace.h"
#include "runtime/hook/kernel/launch_accesses.h"
#include "runtime/hook/observe/learning_case.h"
#include "runtime/learn/learner.h"

struct text;
struct trace_want;

enum { LEARNING_MAPPED = 64 }; /* ranges, of all tensor maps of a launch */
enum { LEARNING_PARAMETERS = 1024, LEARNING_ANCHORS = LEARNING_PARAMETERS / 8 + 16 };

/* One launch, from before the driver's call until its op is enqueued. Belongs to the thread. */
struct learning {
    struct learned_kernel *learned; /* NULL: it was not asked for */
    struct learn_launch launch;
    struct launch_key key;
    struct learn_reply reply;
    struct learning_argument
        *arguments; /* for each anchor; nothing is known before learning_apply */
    struct learn_anchor *anchors;
    uint8_t *parameters;
    uint32_t anchor_room;
    uint8_t obstacle; /* enum learning_obstacle: why the learner was not asked, or the launch not
                         traced */
    bool captured;
    bool taken;          /* learning_take gave out a case */
    bool applied;        /* its accesses are the learned ones */
    bool bounded;        /* its accesses are a bound that other launches gave (learner_bound) */
    bool maps_are_known; /* as struct trace_want has them */
    uint32_t mapped_count;
    struct device_trace_range mapped[LEARNING_MAPPED];
    struct learning_constants constants; /* known after learning_apply */
    /* Room for usual launches. */
    struct learn_anchor own_anchors[LEARNING_ANCHORS];
    struct learning_argument own_arguments[LEARNING_ANCHORS];
    uint8_t own_parameters[LEARNING_PARAMETERS];
};

/* Why nothing is learned from a launch. enum learn_reason has the learner's reasons. */
enum learning_obstacle {
    LEARNING_NO_OBSTACLE,
    LEARNING_MEMORY_SHORT,
    LEARNING_LAYOUT_UNKNOWN,
    LEARNING_PARAMETERS_UNKNOWN,
    LEARNING_MAPS_UNKNOWN,
    LEARNING_COLLECTIVE,
    LEARNING_REFUSED,
    LEARNING_UNHEARD, /* by earlier processes, the only source */
    LEARNING_UNLIKE,  /* any launch that those learned */
    LEARNING_CAPTURED,
    LEARNING_NOT_YET,
    LEARNING_OBSTACLES
};

/* What this process's learner is made with; valid for ever. */
const struct learner_options *learning_options(void);
/* Whether an earlier process stored anything, for whatever kernels. */
bool learning_was_kept(void);

/* Where the kernel's parameters lie; NULL: not known, or the learner was not asked for a launch of
 * it yet. */
const struct layout *learning_layout(const struct kernel *kernel);

/* Whether its last launches suggest that the next one needs no trace. */
bool learning_is_calm(const struct kernel *kernel);

/* Notes whether a launch that should have been traced was not: it had already been made, or it
 * could not be traced now. With NONE it was traced. After a miss the kernel is not calm until a
 * launch is traced, or many need no trace. But it is calm while there is no time for such a trace.
 */
enum learning_miss { LEARNING_MISSED_NONE, LEARNING_MISSED_TO_CONFIRM, LEARNING_MISSED_TO_LEARN };
void learning_missed(const struct kernel *kernel, enum learning_miss missed);

/* Prefetches what learning_begin reads for every launch. */
void learning_prefetch(void);

/* Asks the learner, without any lock. False: nothing is learned from this launch. */
bool learning_begin(struct learning *learning, struct kernel *kernel, CUfunction function,
                    const struct launch_accesses_launch *what, bool captured);
/* A launch's parameters where the program has them: in a buffer, or one by one as the layout has
 * them. */
struct learning_passed {
    const struct layout *layout; /* NULL: only a buffer is known */
    void *const *parameters;
    const uint8_t *buffer; /* NULL: one by one */
    uint32_t bytes;
};
/* Without any lock. False: they are not known. */
bool learning_find_passed(struct kernel *kernel, CUfunction function,
                          const struct launch_accesses_launch *what,
                          struct learning_passed *passed);
/* False: some were not passed. */
bool learning_copy_passed(const struct learning_passed *passed, uint8_t *to);
/* Of parameters in a buffer, in which no byte is missing: those bytes become 0xff that the kernel
 * reads in a launch of that grid, or that decide what it reads; the others 0. Another launch of
 * that grid that has the same there reads the same. */
void learning_mark_read(struct kernel *kernel, const struct learning_passed *passed,
                        const uint32_t *grid, uint8_t *marks);
/* Whether a word of the parameters may decide which others the kernel reads. */
bool learning_word_decides(const struct kernel *kernel, uint32_t word);
/* The launch alone, without the learner and without any lock, in two steps: what was passed,
 * without what the kernel does not read of it, and then where it points and the key. Ended by
 * learning_end in any case. False: they are not known. */
bool learning_describe_passed(struct learning *learning, struct kernel *kernel, CUfunction function,
                              const struct launch_accesses_launch *what);
bool learning_describe_pointers(struct learning *learning, struct kernel *kernel);
/* Whether what it points to follows from its parameters, words and tensor maps, and from memory
 * that csan knows. After the first step. */
bool learning_points_by_parameters(const struct kernel *kernel);
/* Whether earlier launches show what it touches. */
bool learning_is_known(const struct learning *learning);
/* Bytes of the blocks that the launch's pointers lead into, without those of tensor maps. */
uint64_t learning_reach(const struct learning *learning);
/* Nothing is learned from this launch, for that reason. */
void learning_without(struct learning *learning, enum learning_obstacle obstacle);
/* It is not traced, though it should have been. Does nothing once learning_take returned a case. */
void learning_refused(struct learning *learning);
void learning_end(struct learning *learning);

/* Uses the learned set instead of the PTX's accesses if it is better. Between launch_accesses_begin
 * and launch_accesses_end. Call it before the op's site is made, since arguments may get their
 * names here. */
void learning_apply(struct learning *learning, struct kernel *kernel,
                    struct launch_accesses_touched *touched);
/* Whether it waits for an earlier launch that is being traced: learning_wait.h. */
bool learning_waits(const struct learning *learning);

/* Takes what must be kept of a launch until its trace comes. NULL: the launch is not traced to
 * learn from it, or memory is short. */
struct learning_case;
struct learning_case *learning_take(struct learning *learning);
/* Takes the trace, on any thread, without any lock. Frees the case, which may be NULL. */
void learning_take_trace(struct learning_case *taken, const struct device_trace_launch *trace);
/* No trace will come. */
void learning_drop(struct learning_case *taken);

/* A number that changes when the learner's answer for some launch may have changed. */
uint64_t learning_news(void);

/* Counts the launch for the summary, when its op is enqueued: after learning_take. */
void learning_count(const struct learning *learning, bool waited);

/* At exit: adds lines to the summary, and writes what was learned to the files. */
void learning_notes(struct text *notes);
void learning_finish(void);

#endif
