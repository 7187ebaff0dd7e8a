/* See launch_item.h. */
#include "runtime/device/driver/launch_item.h"
#include "csan/base/array.h"
#include "runtime/device/driver/graph/graph_conditional.h"
#include "runtime/device/driver/worker_pool.h"
#include "runtime/device/memory/heap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool launch_find_region(void *user, uint64_t address, struct exec_region *region)
{
    const struct item *kernel = user;
    struct arena_info info;
    if (kernel && heap_find(kernel->stream->context, address, region))
        return true;
    struct arena *arenas[] = {&device.device_memory, &device.host_memory};
    for (int i = 0; i < 2; i++) {
        if (!arena_owns(arenas[i], address))
            continue;
        bool writable = true;
        if (!arena_find(arenas[i], address, &info) || !memory_mapped(address, &info, &writable))
            return false;
        *region = (struct exec_region){info.base, info.base + info.bytes, (int64_t)arenas[i]->delta,
                                       writable};
        return true;
    }
    struct memory memory = memory_at(address);
    if (memory.kind != MEMORY_REGISTERED)
        return false;
    *region = (struct exec_region){memory.base, memory.base + memory.bytes, 0,
                                   !(memory.flags & CU_MEMHOSTREGISTER_READ_ONLY)};
    return true;
}

static CUresult fault_code(enum exec_fault_kind kind)
{
    switch (kind) {
    case EXEC_FAULT_ILLEGAL_ADDRESS:
    case EXEC_FAULT_OUT_OF_RANGE:
    case EXEC_FAULT_STACK: /* as seen on an H200 with driver 580 */
        return CUDA_ERROR_ILLEGAL_ADDRESS;
    case EXEC_FAULT_MISALIGNED_ADDRESS:
        return CUDA_ERROR_MISALIGNED_ADDRESS;
    case EXEC_FAULT_ADDRESS_SPACE:
        return CUDA_ERROR_INVALID_ADDRESS_SPACE;
    case EXEC_FAULT_INVALID_PC:
        return CUDA_ERROR_INVALID_PC;
    case EXEC_FAULT_ILLEGAL_INSTRUCTION:
        return CUDA_ERROR_ILLEGAL_INSTRUCTION;
    case EXEC_FAULT_ASSERT:
        return CUDA_ERROR_ASSERT;
    case EXEC_FAULT_MEMORY:
        return CUDA_ERROR_OUT_OF_MEMORY;
    default:
        return CUDA_ERROR_LAUNCH_FAILED;
    }
}

/* Reports to the observer, without the lock; the item is running, so no other thread touches it. */
static void report_ranges(struct launch_item *work, struct device_trace_launch *launch)
{
    device_trace_done *done = device.trace.done;
    void *user = device.trace.user;
    launch->id = work->id;
    work->reported = true;
    if (!done || !work->launch.touches)
        return;
    device_unlock();
    done(user, launch);
    device_lock();
}

static void report(struct launch_item *work, bool failed)
{
    struct device_trace_launch launch = {.failed = failed};
    if (work->kin.parent)
        return; /* its parent's record has it */
    if (work->state && work->launch.touches && device.trace.done) {
        children_report(work->kin.own, work->state, &launch);
        launch.ranges = exec_touches(work->state, &launch.count);
        launch.lost = exec_touches_lost(work->state);
    }
    report_ranges(work, &launch);
}

/* What is known of a launch, whatever happened to it. */
static struct device_failure failure_of(const struct launch_item *work, const char *message)
{
    const struct exec_launch *launch = &work->launch;
    struct device_failure failure = {
        .code = (int)work->item.context_error,
        .launch = work->id,
        .device = work->module->context->ordinal,
        .kernel = launch->kernel->name,
        .message = message,
    };
    memcpy(failure.grid, launch->grid, sizeof failure.grid);
    memcpy(failure.block_size, launch->block, sizeof failure.block_size);
    return failure;
}

static enum step fault(struct launch_item *work)
{
    const struct exec_fault *why = exec_fault(work->state);
    work->item.context_error = fault_code(why->kind);
    struct device_failure failure = failure_of(work, why->message);
    failure.what = exec_fault_name(why->kind);
    failure.has_thread = why->has_thread;
    memcpy(failure.block, why->block, sizeof failure.block);
    memcpy(failure.thread, why->thread, sizeof failure.thread);
    failure.threads = why->threads;
    failure.has_address = why->has_address;
    failure.address = why->has_address ? why->address : 0;
    failure.access = why->access;
    failure.bytes = why->bytes;
    failure.function = why->function == work->launch.kernel ? NULL : why->function->name;
    failure.file = why->file;
    failure.line = why->line;
    if (why->kind == EXEC_FAULT_ASSERT) {
        failure.assertion = why->assertion.expression;
        if (!failure.file && why->assertion.file[0]) {
            failure.file = why->assertion.file;
            failure.line = why->assertion.line;
        }
    }
    failure_report(&failure, why->kind == EXEC_FAULT_ASSERT); /* its message is printed already */
    report(work, true);
    return STEP_FAULT;
}

static enum step begin(struct launch_item *work)
{
    char message[512];
    work->launch.memory.window = device.window;
    work->launch.memory.find = launch_find_region;
    work->launch.memory.find_texture = texture_find;
    work->launch.memory.find_surface = surface_find;
    work->launch.memory.allocate = heap_allocate;
    work->launch.memory.release = heap_release;
    work->launch.memory.set_condition = conditional_set;
    work->launch.memory.runtime = &children_runtime;
    work->launch.memory.user = &work->item;
    work->launch.parts = schedule_is_free() ? worker_pool_size() : 1;
    work->launch.together = worker_pool_run;
    work->state = exec_begin(&work->launch, message, sizeof message);
    if (work->state)
        return STEP_AGAIN;
    work->item.context_error = CUDA_ERROR_LAUNCH_FAILED;
    struct device_failure failure = failure_of(work, message);
    failure.what = "cannot be run";
    failure_report(&failure, false);
    report(work, true);
    return STEP_FAULT;
}

/* ---- Native kernels: see native.h ---- */

static enum step native_fault(struct launch_item *work, const struct device_native *native)
{
    static const char *const words[] = {"reads", "writes"};
    char message[256];
    work->item.context_error = CUDA_ERROR_ILLEGAL_ADDRESS;
    snprintf(message, sizeof message,
             "%s %s %llu bytes at 0x%llx, which are not all memory that a kernel may touch",
             work->launch.kernel->name, words[native->access], (unsigned long long)native->bytes,
             (unsigned long long)native->address);
    struct device_failure failure = failure_of(work, message);
    failure.what = exec_fault_name(EXEC_FAULT_ILLEGAL_ADDRESS);
    failure.has_address = true;
    failure.address = native->address;
    failure.bytes = native->bytes <= UINT32_MAX ? (uint32_t)native->bytes : 0;
    failure.access =
        native->access == DEVICE_NATIVE_WRITE ? DEVICE_FAILURE_WRITE : DEVICE_FAILURE_READ;
    failure_report(&failure, false);
    return STEP_FAULT;
}

static enum step native_step(struct launch_item *work)
{
    struct device_native native = {.touch = work->launch.touches ? touch_create() : NULL};
    struct device_trace_launch launch = {0};
    work->native.run(&native, work->params);
    enum step step = native.failed ? native_fault(work, &native) : STEP_DONE;
    if (work->launch.touches) {
        launch.failed = native.failed;
        struct device_trace_range *ranges =
            native.touch ? touch_ranges(native.touch, &launch.count) : NULL;
        launch.lost = !native.touch || touch_failed(native.touch) ||
                      (!ranges && !touch_is_empty(native.touch));
        launch.ranges = ranges;
        report_ranges(work, &launch);
        free(ranges);
    }
    touch_destroy(native.touch);
    return step;
}

/* All threads have ended; the kernel has when its children have. */
static enum step finish(struct launch_item *work)
{
    if (!children_are_done(work->kin.own))
        return STEP_SPINNING;
    report(work, false);
    return STEP_DONE;
}

enum step launch_step(struct item *item)
{
    struct launch_item *work = (struct launch_item *)item;
    if (work->native.run)
        return native_step(work);
    if (!work->state && begin(work) == STEP_FAULT)
        return STEP_FAULT;
    if (work->executed)
        return finish(work);
    enum exec_status status = exec_step(work->state, schedule_budget());
    if (work->lets && !work->lets->done && exec_lets(work->state))
        mark_pass(work->lets, CUDA_SUCCESS);
    switch (status) {
    case EXEC_RUNNING:
        return STEP_AGAIN;
    case EXEC_SPINNING:
        return STEP_SPINNING;
    case EXEC_DONE:
        work->executed = true;
        return finish(work);
    default:
        return fault(work);
    }
}

static void note_dropped(uint64_t id)
{
    struct trace_state *trace = &device.trace;
    if (!array_room(&trace->dropped, trace->dropped_count, &trace->dropped_capacity, 16, SIZE_MAX,
                    sizeof *trace->dropped))
        return;
    trace->dropped[trace->dropped_count++] = id;
}

void launch_report_dropped(void)
{
    while (device.trace.dropped_count) {
        struct device_trace_launch launch = {
            .id = device.trace.dropped[--device.trace.dropped_count], .failed = 1};
        device_trace_done *done = device.trace.done;
        void *user = device.trace.user;
        if (!done)
            continue;
        device_unlock();
        done(user, &launch);
        device_lock();
    }
}

void launch_discard(struct item *item)
{
    struct launch_item *work = (struct launch_item *)item;
    if (work->id && work->launch.touches && !work->reported)
        note_dropped(work->id);
    if (work->kin.parent)
        child_is_done(work->kin.parent, work->kin.number, work->state);
    family_release(work->kin.parent);
    children_forget(work->kin.own);
    exec_end(work->state);
    if (work->workspace && !device.fixed_memory)
        arena_free_now(&device.device_memory, work->workspace);
    module_release(work->module);
    if (work->lets && !work->lets->done)
        mark_pass(work->lets, CUDA_SUCCESS);
    mark_release(work->lets);
    mark_release(work->previous);
    free(work->addresses);
    free(work);
}
