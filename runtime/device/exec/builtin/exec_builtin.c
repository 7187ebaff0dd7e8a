/* Functions of the device's run-time, which PTX declares and no module has: printf and assert. The
 * heap is in exec_heap.c. */
#include "runtime/device/exec/exec_call.h"
#include "runtime/device/exec/builtin/exec_print.h"

static uint32_t smaller(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

void builtin_argument_bytes(struct warp *w, const struct call_site *site, uint32_t k, int lane,
                            void *to, uint32_t bytes)
{
    const struct argument *argument = &site->arguments[k];
    memset(to, 0, bytes);
    bytes = smaller(argument->bytes, bytes);
    if (argument->in_memory)
        memcpy(to, space_local(w, lane, w->frame->local_base + argument->offset), bytes);
    else
        memcpy(to, (uint8_t *)slot(w, argument->slot) + (size_t)lane * argument->bytes, bytes);
}

uint64_t builtin_argument(struct warp *w, const struct call_site *site, uint32_t k, int lane)
{
    uint64_t value;
    builtin_argument_bytes(w, site, k, lane, &value, sizeof value);
    return value;
}

void builtin_return(struct warp *w, const struct call_site *site, int lane, uint64_t value)
{
    if (site->return_count == 0)
        return;
    const struct argument *result = &site->returns[0];
    uint32_t bytes = smaller(result->bytes, sizeof value);
    if (result->in_memory)
        memcpy(space_local(w, lane, w->frame->local_base + result->offset), &value, bytes);
    else
        memcpy((uint8_t *)slot(w, result->slot) + (size_t)lane * result->bytes, &value, bytes);
}

/* int vprintf(const char *format, const void *arguments) */
static int call_vprintf(struct warp *w, const struct micro *op)
{
    const struct call_site *site = op->pointer;
    for (uint32_t m = w->mask; m; m &= m - 1) {
        int lane = __builtin_ctz(m);
        uint64_t format = builtin_argument(w, site, 0, lane);
        uint64_t arguments = builtin_argument(w, site, 1, lane);
        int result = print_format(w, lane, format, arguments);
        builtin_return(w, site, lane, (uint32_t)result);
    }
    return FLOW_NEXT;
}

static void string_read(struct warp *w, int lane, const struct call_site *site, uint32_t number,
                        char *text, size_t bytes)
{
    const uint64_t address = builtin_argument(w, site, number, lane);
    text[0] = '\0';
    if (address)
        space_text(w, lane, address, text, bytes);
}

static void assertion_read(struct warp *w, int lane, const struct call_site *site,
                           struct exec_assertion *assertion)
{
    string_read(w, lane, site, 0, assertion->expression, sizeof assertion->expression);
    string_read(w, lane, site, 1, assertion->file, sizeof assertion->file);
    assertion->line = (uint32_t)builtin_argument(w, site, 2, lane);
    string_read(w, lane, site, 3, assertion->function, sizeof assertion->function);
}

/* void __assertfail(message, file, unsigned line, function, size_t character_bytes) */
static int call_assertfail(struct warp *w, const struct micro *op)
{
    const struct call_site *site = op->pointer;
    const bool is_first = w->state->fault.kind == EXEC_FAULT_NONE;
    struct exec_assertion first = {0}, assertion;
    for (uint32_t m = w->mask; m; m &= m - 1) {
        int lane = __builtin_ctz(m);
        assertion_read(w, lane, site, &assertion);
        print_assertion(w, lane, &assertion);
        if (m == w->mask)
            first = assertion;
    }
    const int flow = fault_raise(w, op, w->mask, EXEC_FAULT_ASSERT, 0);
    if (is_first)
        w->state->fault.assertion = first;
    return flow;
}

/* void cudaGraphSetConditional(cudaGraphConditionalHandle handle, unsigned value) */
static int call_set_conditional(struct warp *w, const struct micro *op)
{
    const struct call_site *site = op->pointer;
    const struct exec_memory *memory = &w->state->launch.memory;
    for (uint32_t m = w->mask; m && memory->set_condition; m &= m - 1) {
        const int lane = __builtin_ctz(m);
        memory->set_condition(memory->user, builtin_argument(w, site, 0, lane),
                              (uint32_t)builtin_argument(w, site, 1, lane));
    }
    w->state->progress++;
    return FLOW_NEXT;
}

static const struct {
    const char *name;
    micro_run *run;
    uint32_t arguments;
} builtins[] = {{"vprintf", call_vprintf, 2},
                {"__assertfail", call_assertfail, 5},
                {"cudaGraphSetConditional", call_set_conditional, 2},
                {"malloc", builtin_malloc, 1},
                {"__nv_aligned_device_malloc", builtin_aligned_malloc, 2},
                {"free", builtin_free, 1}};

bool builtin_replaces(const struct ptx_function *function)
{
    static const char prefix[] = "__cudaCDP2";
    return function && strncmp(function->name, prefix, sizeof prefix - 1) == 0;
}

micro_run *builtin_find(const struct ptx_function *function, uint32_t arguments, uint32_t *number)
{
    for (size_t k = 0; function && k < sizeof builtins / sizeof *builtins; k++)
        if (!strcmp(function->name, builtins[k].name) && arguments >= builtins[k].arguments)
            return builtins[k].run;
    return function ? launch_builtin_find(function->name, arguments, number) : NULL;
}
