/* Learning in the hooks. A launch is looked up before the driver's call, relative to the memory
 * that csan knows. Its trace goes to the learner (runtime/learn). Known sets replace what PTX says.
 *
 * A graph's nodes have the sets that earlier launches taught, and are kept, to be looked up and
 * asked for when their graph is launched (learning_node.h).
 *
 * Arguments of the key are pointers into declared blocks and allocations, tensor maps by their
 * content without the address, and the variables that the kernel's PTX names. */
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

/* One launch, from before the driver's call until its op is enqueued. Thread's own. */
struct learning {
    struct learned_kernel *learned; /* NULL: it was not asked for */
    struct learn_launch launch;
    struct launch_key key;
    struct learn_reply reply;
    struct learning_argument
        *arguments; /* of each anchor; nothing is known before learning_apply */
    struct learn_anchor *anchors;
    uint8_t *parameters;
    uint8_t obstacle; /* enum learning_obstacle: why it was not asked for, or not traced */
    bool captured;
    bool taken;          /* learning_take gave out a case */
    bool applied;        /* its accesses are the learned ones */
    bool bounded;        /* they are a bound by other launches' (learner_bound) */
    bool maps_are_known; /* as struct trace_want has them */
    uint32_t mapped_count;
    struct device_trace_range mapped[LEARNING_MAPPED];
    /* Room for usual launches. */
    struct learn_anchor own_anchors[LEARNING_ANCHORS];
    struct learning_argument own_arguments[LEARNING_ANCHORS];
    uint8_t own_parameters[LEARNING_PARAMETERS];
};

/* Why nothing is learned of a launch; enum learn_reason has the learner's. */
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

/* What the learner of this process is made by; good for ever. */
const struct learner_options *learning_options(void);
/* Whether an earlier process kept something, of whatever kernels. */
bool learning_was_kept(void);

/* Where the kernel's parameters lie; NULL: not known, or no launch of it was asked for yet. */
const struct layout *learning_layout(const struct kernel *kernel);

/* Whether its last launches suggest that the next one needs no trace. */
bool learning_is_calm(const struct kernel *kernel);

/* A launch of it that was to be traced was not, for it had been made before that was known, or
 * could not be now; or it was: none was missed. After a miss it is not calm before the next is
 * traced, or many were not to be; but it is while there is no time for what the launch would have
 * been traced for. */
enum learning_miss { LEARNING_MISSED_NONE, LEARNING_MISSED_TO_CONFIRM, LEARNING_MISSED_TO_LEARN };
void learning_missed(const struct kernel *kernel, enum learning_miss missed);

/* Brings near what learning_begin reads of every launch. */
void learning_prefetch(void);

/* Asks the learner, without any lock. False: nothing is learned of this launch. */
bool learning_begin(struct learning *learning, struct kernel *kernel, CUfunction function,
                    const struct launch_accesses_launch *what, bool captured);
/* Whether earlier launches give what it touches. */
bool learning_is_known(const struct learning *learning);
/* Bytes of the blocks that the launch's pointers lead into, but for those of tensor maps. */
uint64_t learning_reach(const struct learning *learning);
/* A launch that nothing is learned of, and why. */
void learning_without(struct learning *learning, enum learning_obstacle obstacle);
/* It is not traced, though it was to be; nothing once learning_take gave out a case. */
void learning_refused(struct learning *learning);
void learning_end(struct learning *learning);

/* Uses the learned set instead of PTX's accesses if it is better. Between launch_accesses_begin and
 * launch_accesses_end; before the op's site is made, for arguments may get their names. */
void learning_apply(struct learning *learning, struct kernel *kernel,
                    struct launch_accesses_touched *touched);
/* It waits for a launch before it, whose trace is under way: learning_wait.h. */
bool learning_waits(const struct learning *learning);

/* What is kept of a launch until its trace comes; NULL: the launch is not traced to be learned of,
 * or memory is short. */
struct learning_case;
struct learning_case *learning_take(struct learning *learning);
/* The trace, on any thread, without any lock. Frees it. NULL is no case. */
void learning_take_trace(struct learning_case *taken, const struct device_trace_launch *trace);
/* No trace will come. */
void learning_drop(struct learning_case *taken);

/* Changes when what the learner says of some launch may have. */
uint64_t learning_news(void);

/* Counts it for the summary, when its op is enqueued: after learning_take. */
void learning_count(const struct learning *learning, bool waited);

/* Lines for the summary; and what was learned to the files. At exit. */
void learning_notes(struct text *notes);
void learning_finish(void);

#endif
