/* The hooks of kernel launches: which kernel, with which parameters, on which stream; what that
 * touches, by the best source there is. */
#include "driver_hooks.h"
#include "runtime/hook/annotate.h"
#include "runtime/hook/callsite.h"
#include "runtime/hook/event.h"
#include "runtime/hook/guard.h"
#include "runtime/hook/kernel.h"
#include "runtime/hook/stream.h"
#include "runtime/hook/summary.h"
#include "runtime/hook/trace.h"

#include <stdlib.h>
#include <string.h>

/* Room on the stack; a launch with more pointers takes memory. */
enum { POINTERS_ON_STACK = 32 };

/* One launch: what the program passed. */
struct launch {
    const struct driver_entry *entry;
    CUfunction function;
    CUstream stream;
    void **parameters; /* one address for each, or NULL */
    void **extra;      /* or one buffer with all, or NULL */
    const CUlaunchAttribute *attributes;
    unsigned attribute_count;
};

/* What it touches. The arrays have room for three accesses a pointer. */
struct touched {
    struct csan_access *accesses;
    struct trace_pointer *pointers;
    size_t access_count, pointer_count;
};

/* ---- Parameters ---- */

/* The buffer of CU_LAUNCH_PARAM_BUFFER_POINTER and its bytes; 0 when there is none. */
static const uint8_t *extra_buffer(void *const *extra, size_t *bytes)
{
    const uint8_t *buffer = NULL;
    *bytes = 0;
    for (size_t i = 0; extra && extra[i] != CU_LAUNCH_PARAM_END; i += 2) {
        if (extra[i] == CU_LAUNCH_PARAM_BUFFER_POINTER)
            buffer = extra[i + 1];
        else if (extra[i] == CU_LAUNCH_PARAM_BUFFER_SIZE)
            *bytes = *(const size_t *)extra[i + 1];
        else
            break; /* nothing csan knows how to step over */
    }
    return buffer;
}

/* The 8 bytes at `offset` of the parameter buffer. */
static bool read_pointer(const struct launch *launch, const struct kernel *kernel, uint32_t offset,
                         uint64_t *value)
{
    if (launch->parameters) {
        for (uint32_t i = kernel->parameter_count; i-- > 0;) {
            uint32_t start = kernel->parameter_offsets[i];
            if (start > offset)
                continue;
            if (offset - start + sizeof *value > kernel->parameter_sizes[i] ||
                !launch->parameters[i])
                return false;
            memcpy(value, (const uint8_t *)launch->parameters[i] + (offset - start), sizeof *value);
            return true;
        }
        return false;
    }
    size_t bytes;
    const uint8_t *buffer = extra_buffer(launch->extra, &bytes);
    if (!buffer || offset + sizeof *value > bytes)
        return false;
    memcpy(value, buffer + offset, sizeof *value);
    return true;
}

/* ---- What is touched ---- */

static struct csan_access *add_access(struct touched *touched, uint64_t base, uint64_t bytes,
                                      int kind, uint16_t argument)
{
    struct csan_access *access = &touched->accesses[touched->access_count++];
    *access = (struct csan_access){.base = base,
                                   .bytes = bytes,
                                   .kind = (uint8_t)kind,
                                   .bound = CSAN_BOUND_DIRECTION,
                                   .argument = argument};
    return access;
}

/* From the pointer to the end of its allocation, for each direction. A null pointer touches
 * nothing. */
static void touch(struct touched *touched, const struct launch *launch, const struct kernel *kernel)
{
    for (size_t i = 0; i < kernel->pointer_count; i++) {
        const struct kernel_pointer *pointer = &kernel->pointers[i];
        uint64_t base = pointer->address, bytes = pointer->bytes;
        if (!pointer->is_variable) {
            bytes = CSAN_TO_END;
            if (!read_pointer(launch, kernel, pointer->offset, &base))
                continue;
        }
        if (!base ||
            (pointer->guessed && !csan_memory_find(process_context(), base, NULL, NULL, NULL)))
            continue;
        touched->pointers[touched->pointer_count++] =
            (struct trace_pointer){base, pointer->argument};
        if (pointer->reads)
            add_access(touched, base, bytes, CSAN_READ, pointer->argument);
        if (pointer->writes)
            add_access(touched, base, bytes, CSAN_WRITE, pointer->argument);
        if (pointer->atomics)
            add_access(touched, base, bytes, CSAN_ATOMIC, pointer->argument)->element_bytes =
                kernel->atomic_bytes;
    }
}

/* ---- Attributes ---- */

/* An event recorded by the launch itself fires before the kernel ends: it holds what the stream
 * held before (CUDA Driver API, CUlaunchAttributeID). Before the op, with the stream locked. */
static void record_attribute_events(const struct launch *launch, struct stream *stream)
{
    for (unsigned i = 0; i < launch->attribute_count; i++) {
        const CUlaunchAttribute *attribute = &launch->attributes[i];
        CUevent handle = NULL;
        if (attribute->id == CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT)
            handle = attribute->value.programmaticEvent.event;
        else if (attribute->id == CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT)
            handle = attribute->value.launchCompletionEvent.event;
        else if (attribute->id == CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION &&
                 attribute->value.programmaticStreamSerializationAllowed)
            summary_unmodelled("launches that may overlap the one before them in their stream");
        csan_event *event = handle ? event_of(handle) : NULL;
        if (event)
            csan_event_record(process_context(), event, stream_lane(stream));
    }
}

/* ---- Recording ---- */

/* Room for what the kernel can touch at most. */
static bool touched_room(struct touched *touched, const struct kernel *kernel,
                         struct csan_access *accesses, struct trace_pointer *pointers)
{
    size_t count = kernel->pointer_count;
    bool small = count <= POINTERS_ON_STACK;
    touched->accesses = small ? accesses : malloc(count * 3 * sizeof *accesses);
    touched->pointers = small ? pointers : malloc(count * sizeof *pointers);
    touched->access_count = touched->pointer_count = 0;
    return touched->accesses && touched->pointers;
}

/* By the kernel's PTX, or by the device's own word where it gives it. */
static void op_of_kernel(const struct launch *launch, const struct kernel *kernel, csan_lane lane,
                         csan_site site)
{
    enum csan_level level = kernel->known ? CSAN_LEVEL_DIRECTION : CSAN_LEVEL_UNKNOWN;
    struct csan_access accesses[3 * POINTERS_ON_STACK];
    struct trace_pointer pointers[POINTERS_ON_STACK];
    struct touched touched;
    if (touched_room(&touched, kernel, accesses, pointers))
        touch(&touched, launch, kernel);
    if (trace_active())
        trace_launch(lane, site, level, touched.accesses, touched.access_count, touched.pointers,
                     touched.pointer_count, kernel->atomic_bytes);
    else
        csan_op(process_context(), lane, site, level, touched.accesses, touched.access_count);
    if (touched.accesses != accesses)
        free(touched.accesses);
    if (touched.pointers != pointers)
        free(touched.pointers);
}

/* The stream and the kernel of a launch that succeeded, with the lock held, or NULL without it. */
static struct stream *launch_lock(const struct launch *launch, const struct kernel **kernel)
{
    struct stream *stream = stream_lock(launch->stream, launch->entry->thread_default);
    if (!stream || (*kernel = kernel_find(launch->function)) != NULL)
        return stream;
    guard_unlock();
    kernel_resolve(launch->function);
    stream = stream_lock(launch->stream, launch->entry->thread_default);
    if (stream && !(*kernel = kernel_find(launch->function))) {
        guard_unlock();
        return NULL;
    }
    return stream;
}

static void launch_record(const struct launch *launch)
{
    size_t annotated_count;
    const struct csan_access *annotated = annotate_take_launch(&annotated_count);
    struct callsite_stack stack;
    const struct kernel *kernel = NULL;
    struct stream *stream = NULL;
    if (!stream_is_captured(launch->stream, launch->entry->thread_default)) {
        callsite_capture(&stack);
        stream = launch_lock(launch, &kernel);
    }
    if (!stream) {
        trace_skip();
        return;
    }
    stream_use(stream);
    if (launch->attribute_count)
        record_attribute_events(launch, stream);
    if (annotated_count) {
        csan_site site = callsite_intern(&stack, kernel->name, annotate_arguments, 1);
        csan_op(process_context(), stream_lane(stream), site, CSAN_LEVEL_ANNOTATED, annotated,
                annotated_count);
        trace_skip();
    } else {
        csan_site site =
            callsite_intern(&stack, kernel->name, kernel->arguments, kernel->argument_count);
        op_of_kernel(launch, kernel, stream_lane(stream), site);
    }
    guard_unlock();
}

static bool launch_enter(void)
{
    if (!guard_enter())
        return false;
    trace_active(); /* the device tells of launches made after this */
    return true;
}

CUresult hook_launch_kernel(const struct driver_entry *entry, CUfunction f, unsigned int gridDimX,
                            unsigned int gridDimY, unsigned int gridDimZ, unsigned int blockDimX,
                            unsigned int blockDimY, unsigned int blockDimZ,
                            unsigned int sharedMemBytes, CUstream hStream, void **kernelParams,
                            void **extra)
{
    PFN_cuLaunchKernel_v4000 real = DRIVER_REAL(entry, cuLaunchKernel_v4000);
    if (!launch_enter())
        return real(f, gridDimX, gridDimY, gridDimZ, blockDimX, blockDimY, blockDimZ,
                    sharedMemBytes, hStream, kernelParams, extra);
    CUresult result = real(f, gridDimX, gridDimY, gridDimZ, blockDimX, blockDimY, blockDimZ,
                           sharedMemBytes, hStream, kernelParams, extra);
    if (result == CUDA_SUCCESS)
        launch_record(&(struct launch){.entry = entry,
                                       .function = f,
                                       .stream = hStream,
                                       .parameters = kernelParams,
                                       .extra = extra});
    guard_leave();
    return result;
}

CUresult hook_launch_kernel_ex(const struct driver_entry *entry, const CUlaunchConfig *config,
                               CUfunction f, void **kernelParams, void **extra)
{
    PFN_cuLaunchKernelEx_v11060 real = DRIVER_REAL(entry, cuLaunchKernelEx_v11060);
    if (!launch_enter())
        return real(config, f, kernelParams, extra);
    CUresult result = real(config, f, kernelParams, extra);
    if (result == CUDA_SUCCESS)
        launch_record(&(struct launch){.entry = entry,
                                       .function = f,
                                       .stream = config->hStream,
                                       .parameters = kernelParams,
                                       .extra = extra,
                                       .attributes = config->attrs,
                                       .attribute_count = config->attrs ? config->numAttrs : 0});
    guard_leave();
    return result;
}

CUresult hook_launch_cooperative_kernel(const struct driver_entry *entry, CUfunction f,
                                        unsigned int gridDimX, unsigned int gridDimY,
                                        unsigned int gridDimZ, unsigned int blockDimX,
                                        unsigned int blockDimY, unsigned int blockDimZ,
                                        unsigned int sharedMemBytes, CUstream hStream,
                                        void **kernelParams)
{
    PFN_cuLaunchCooperativeKernel_v9000 real = DRIVER_REAL(entry, cuLaunchCooperativeKernel_v9000);
    if (!launch_enter())
        return real(f, gridDimX, gridDimY, gridDimZ, blockDimX, blockDimY, blockDimZ,
                    sharedMemBytes, hStream, kernelParams);
    CUresult result = real(f, gridDimX, gridDimY, gridDimZ, blockDimX, blockDimY, blockDimZ,
                           sharedMemBytes, hStream, kernelParams);
    if (result == CUDA_SUCCESS)
        launch_record(&(struct launch){
            .entry = entry, .function = f, .stream = hStream, .parameters = kernelParams});
    guard_leave();
    return result;
}
