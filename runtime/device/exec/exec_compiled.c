/* Runs a group by the compiled form of its program (exec_compiled.h), and by the interpreter where
 * that gives back. What is counted, and where the group stops, is the same as if the interpreter
 * had done it all. Called by exec_warp.c. */
#include "runtime/device/exec/exec_access.h"
#include "runtime/device/exec/exec_compiled.h"
#include "runtime/device/exec/exec_engine.h"

static int interpret(struct compiled_call *call, unsigned first, unsigned end)
{
    struct warp *warp = call->warp;
    const struct micro *code = warp->frame->program->code;
    for (unsigned pc = first; pc < end; pc++) {
        call->left--;
        int flow = code[pc].run(warp, &code[pc]);
        if (flow != FLOW_NEXT) {
            call->last = pc;
            call->pc = warp->pc;
            return flow;
        }
    }
    call->pc = end;
    return FLOW_NEXT;
}

static int access(struct compiled_call *call, unsigned pc)
{
    struct warp *warp = call->warp;
    return access_run(warp, &warp->frame->program->code[pc]);
}

static int row(struct compiled_call *call, unsigned pc)
{
    struct warp *warp = call->warp;
    const struct micro *op = &warp->frame->program->code[pc];
    return space_row(warp, op) ? FLOW_NEXT : access_run(warp, op);
}

static int affine(struct compiled_call *call, unsigned pc)
{
    struct warp *warp = call->warp;
    return space_affine(warp, &warp->frame->program->code[pc]) ? FLOW_NEXT : row(call, pc);
}

static int uniform(struct compiled_call *call, unsigned pc)
{
    struct warp *warp = call->warp;
    return space_uniform(warp, &warp->frame->program->code[pc]) ? FLOW_NEXT : row(call, pc);
}

/* Whether pc is inside an instruction, where the budget never ends: see exec_warp.c. */
static bool is_inside(const struct micro *code, unsigned pc)
{
    return code[pc].instruction == code[pc - 1].instruction;
}

/* The interpreter runs up to where a segment begins, but not beyond the stop or the budget. */
static int interpret_on(struct warp *warp, struct compiled_call *call, const struct compiled *form)
{
    const struct micro *code = warp->frame->program->code;
    const unsigned first = call->pc;
    unsigned end = first + 1;
    while (end < form->code_count && end != call->stop &&
           (is_inside(code, end) || (!form->starts[end] && call->left > (long)(end - first))))
        end++;
    return interpret(call, first, end);
}

/* Whether the group must stop before the micro-operation at call->pc. */
static bool must_stop(const struct warp *warp, const struct compiled_call *call)
{
    return call->pc == call->stop ||
           (call->left <= 0 && (call->pc == warp->pc || call->pc == 0 ||
                                !is_inside(warp->frame->program->code, call->pc)));
}

int compiled_straight(struct warp *warp, const struct compiled *form, int64_t *budget,
                      uint32_t stop)
{
    const long before = (long)*budget;
    const uint64_t lanes =
        warp->mask == ALL_LANES ? WARP_LANES : (uint64_t)__builtin_popcount(warp->mask);
    struct compiled_call call = {.warp = warp,
                                 .slots = warp->base[0],
                                 .mask = warp->mask,
                                 .pc = warp->pc,
                                 .stop = stop,
                                 .left = before,
                                 .alone = warp->group_count == 1,
                                 .strong = (const unsigned char *)&warp->strong,
                                 .spins = &warp->spins,
                                 .params = warp->state->params,
                                 .threads = warp->tid[0],
                                 .block = warp->block->id,
                                 .shape = warp->state->launch.block,
                                 .grid = warp->state->launch.grid,
                                 .window = warp->state->launch.memory.window,
                                 .interpret = interpret,
                                 .access = access,
                                 .row = row,
                                 .affine = affine,
                                 .uniform = uniform};
    int flow;
    do {
        flow = form->starts[call.pc] ? form->run(&call) : COMPILED_STOPS;
        if (flow == COMPILED_STOPS)
            flow = must_stop(warp, &call) ? FLOW_SWITCH : interpret_on(warp, &call, form);
    } while (flow == FLOW_NEXT);
    const uint64_t ran = (uint64_t)(before - call.left);
    *budget = call.left;
    warp->state->warp_instructions += ran;
    warp->state->thread_instructions += ran * lanes;
    warp->pc = call.pc;
    return flow == FLOW_JUMP && call.pc <= call.last ? FLOW_JUMPED_BACK : flow;
}
