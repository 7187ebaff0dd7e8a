/* Work that the program enqueued, in the words of the operators that enqueue it, with their
 * declaration if nothing better is known. See operator_work.h. */
#include "runtime/hook/operator/operator_work.h"
#include "runtime/hook/host/host_access.h"
#include "runtime/hook/operator/access_extent.h"
#include "runtime/hook/operator/operator_frame.h"
#include "runtime/hook/session/session.h"
#include "runtime/hook/state/copied_values.h"

void (*operator_on_captured)(const struct operator_captured *work);

static uint64_t newest_id; /* of frames; atomic */

/* ---- Arguments ---- */

/* The argument in whose memory the access is: of several, one that is used in the same way. */
static uint16_t argument_among(const struct csan_access *access, struct access_list arguments,
                               uint16_t otherwise)
{
    const struct range extent = access_extent(access);
    for (size_t i = 0; i < arguments.count; i++) {
        if (!extents_meet(extent, access_extent(&arguments.items[i])))
            continue;
        if (arguments.items[i].kind == access->kind)
            return arguments.items[i].argument;
        if (otherwise == CSAN_NO_ARGUMENT)
            otherwise = arguments.items[i].argument;
    }
    return otherwise;
}

static uint16_t argument_of(const struct operators *own, const struct csan_access *access,
                            const struct frame *frame)
{
    uint16_t found = argument_among(access, frame->accesses, CSAN_NO_ARGUMENT);
    found = argument_among(access, frame->host, found);
    for (size_t i = frame->made; i < own->made_count && found == CSAN_NO_ARGUMENT; i++)
        if (access->base - own->made[i].base < own->made[i].bytes)
            found = frame->what->output;
    return found;
}

void operator_name(struct csan_access *accesses, size_t count)
{
    for (size_t i = 0; operator_is_open() && i < count; i++)
        accesses[i].argument =
            argument_of(operator_self, &accesses[i], frame_naming(operator_self));
}

/* ---- Work ---- */

csan_site operator_site(const struct callsite_stack *stack, const char *name,
                        const char *const *arguments, size_t argument_count)
{
    if (!operator_is_open())
        return callsite_intern(stack, name, arguments, argument_count);
    const struct csan_operator *what = frame_naming(operator_self)->what;
    if (frame_top(operator_self)->site)
        return frame_top(operator_self)->site;
    if (frame_top(operator_self)->stack)
        stack = frame_top(operator_self)->stack;
    return callsite_intern(stack, what->name, what->arguments, what->argument_count);
}

/* Where work goes: onto a lane, or into the graph that the stream is captured into. */
struct target {
    csan_lane lane;
    bool captured, thread_default;
    CUstream stream;
};

static uint64_t frame_id(struct frame *frame)
{
    if (!frame->id)
        frame->id = __atomic_add_fetch(&newest_id, 1, __ATOMIC_RELAXED);
    return frame->id;
}

static void enqueue_captured(struct operators *own, const struct target *target, csan_site site,
                             enum csan_level level, bool declared, struct access_list list)
{
    struct operator_captured work = {.stream = target->stream,
                                     .thread_default = target->thread_default,
                                     .part.declared = declared,
                                     .site = site,
                                     .level = level,
                                     .accesses = list.items,
                                     .count = list.count};
    if (operator_is_open()) {
        work.part.outermost = frame_id(&own->frames[0]);
        work.part.innermost = frame_id(frame_top(own));
    }
    operator_on_captured(&work);
}

static void same_operator_declare(const struct operator_ops *ops, enum operator_op_kind kind,
                                  csan_lane lane)
{
    struct operator_op others[OPERATOR_OPS_MAX];
    for (uint32_t i = operator_ops_same_operator(ops, kind, lane, others); i-- > 0;)
        csan_op_same_operator(session_context(), lane, others[i].lane, others[i].first,
                              others[i].last);
}

/* An op of an operator: declares the ops of the same operator, and joins them. */
static void enqueue_op(struct operators *own, csan_lane lane, csan_site site, enum csan_level level,
                       bool declared, struct access_list list)
{
    const enum operator_op_kind kind = declared ? OPERATOR_OP_DECLARED : OPERATOR_OP_KNOWN;
    struct frame *top = frame_top(own), *frame;
    if (operator_ops_are_elsewhere(&own->frames[0].ops, lane)) {
        for (frame = own->frames; frame < top; frame++)
            same_operator_declare(&frame->ops, OPERATOR_OP_INNER, lane);
        same_operator_declare(&top->ops, kind, lane);
    }
    uint64_t number = csan_op(session_context(), lane, site, level, list.items, list.count);
    for (frame = own->frames; frame < top; frame++)
        operator_ops_add(&frame->ops, OPERATOR_OP_INNER, lane, number);
    operator_ops_add(&top->ops, kind, lane, number);
}

/* Declared accesses count for copied_values.h. */
static void copies_forget(struct access_list list)
{
    for (size_t i = 0; i < list.count; i++) {
        const struct range extent = access_extent(&list.items[i]);
        if (list.items[i].kind != CSAN_READ)
            copied_values_forget(extent.start, extent.end - extent.start);
    }
}

static void enqueue_all(struct operators *own, const struct target *target, csan_site site,
                        enum csan_level level, bool declared, struct access_list list)
{
    if (copied_values_any())
        copies_forget(list);
    if (target->captured)
        enqueue_captured(own, target, site, level, declared, list);
    else if (operator_is_open())
        enqueue_op(own, target->lane, site, level, declared, list);
    else
        csan_op(session_context(), target->lane, site, level, list.items, list.count);
}

/* What the operator says that its launches touch: its arguments, and the memory that it made. A
 * library makes memory for itself. */
static struct access_list list_declared(struct operators *own, const struct frame *frame)
{
    size_t count = frame->accesses.count;
    if (own->made_count == frame->made || frame->library)
        return frame->accesses;
    struct csan_access *items = operators_scratch(own, count + own->made_count - frame->made);
    if (!items)
        return frame->accesses;
    for (size_t i = 0; i < count; i++)
        items[i] = frame->accesses.items[i];
    for (size_t i = frame->made; i < own->made_count; i++)
        if (own->made[i].bytes)
            items[count++] = (struct csan_access){.base = own->made[i].base,
                                                  .bytes = own->made[i].bytes,
                                                  .kind = CSAN_WRITE,
                                                  .argument = frame->what->output};
    return (struct access_list){items, count};
}

/* An operator that works on several streams shares its arguments out among them, which its word
 * does not say: of the second and later ones it is a bound. */
static struct access_list list_shared(struct operators *own, struct access_list list,
                                      const struct frame *frame, const struct target *target)
{
    if (target->captured ? frame->stream == target->stream : frame->lane == target->lane)
        return list;
    struct csan_access *items =
        list.items == own->scratch ? own->scratch : operators_scratch(own, list.count);
    for (size_t i = 0; items && i < list.count; i++) {
        items[i] = list.items[i];
        items[i].bound = CSAN_BOUND_ANNOTATED;
    }
    return items ? (struct access_list){items, list.count} : list;
}

/* The list in the words of the naming operator; it may be the scratch itself. */
static struct access_list list_named(struct operators *own, struct access_list list,
                                     const struct frame *naming)
{
    struct csan_access *items =
        list.items == own->scratch ? own->scratch : operators_scratch(own, list.count);
    for (size_t i = 0; items && i < list.count; i++) {
        items[i] = list.items[i];
        items[i].argument = argument_of(own, &items[i], naming);
    }
    return items ? (struct access_list){items, list.count} : list;
}

/* If the list is `declared`, it begins with the accesses of the top frame. */
static void enqueue_summarized(struct operators *own, bool declared, struct access_list list,
                               const struct csan_operator *what)
{
    struct frame *top = frame_top(own);
    if (declared && !top->library)
        operator_summary_note(&top->summary, what, summary_list(list), top->accesses.count);
    else
        operator_summary_known();
    for (struct frame *frame = own->frames; frame <= top; frame++)
        if ((frame != top || !declared) && !frame->library)
            operator_summary_reach(&frame->summary, summary_list(frame->accesses),
                                   summary_list(list));
}

static void enqueue(const struct target *target, csan_site site, enum csan_level level, bool exact,
                    const struct csan_access *accesses, size_t count)
{
    struct operators *own = operator_self;
    struct access_list list = {accesses, count}, declared = {0};
    if (operator_is_open()) {
        struct frame *top = frame_top(own);
        const struct frame *naming = frame_naming(own);
        own->launches++;
        if (top->apart)
            return;
        if (!exact)
            declared = list_declared(own, top);
        if (declared.count) {
            if (top->lane == CSAN_NO_LANE) {
                top->lane = target->lane;
                top->stream = target->stream;
            }
            list = list_shared(own, declared, top, target);
            level = top->library ? CSAN_LEVEL_LIBRARY : CSAN_LEVEL_OPERATOR;
        }
        if (!declared.count || top != naming)
            list = list_named(own, list, naming);
        if (operator_summary_wanted())
            enqueue_summarized(own, declared.count != 0, list, naming->what);
    }
    const bool may_be_shared =
        operator_summary_may_rest() && level != CSAN_LEVEL_OPERATOR && !target->captured;
    const struct host_access_guarded guarded =
        may_be_shared ? host_access_guarded() : (struct host_access_guarded){0};
    enqueue_all(own, target, site, level, declared.count != 0, list);
    if (may_be_shared)
        operator_summary_shared(target->lane, summary_list(list), host_access_all_guarded(guarded));
}

void operator_enqueue(csan_lane lane, csan_site site, enum csan_level level, bool exact,
                      const struct csan_access *accesses, size_t count)
{
    enqueue(&(struct target){.lane = lane}, site, level, exact, accesses, count);
}

void operator_capture(CUstream stream, bool thread_default, csan_site site, enum csan_level level,
                      bool exact, const struct csan_access *accesses, size_t count)
{
    struct target target = {.captured = true, .thread_default = thread_default, .stream = stream};
    enqueue(&target, site, level, exact, accesses, count);
}
