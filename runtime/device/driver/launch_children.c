/* See launch_children.h.
 *
 * Device streams are queues that no handle of the host's names: one for the NULL stream of each
 * block, one for each stream that a kernel creates, and one for each fire-and-forget launch. Work
 * is appended while the parent runs, and the schedule may run it at once or late.
 *
 * The record has parts. At each launch the parent's part ends and another begins. A child comes
 * after what the parent has done so far and after what is before it in its stream; what the parent
 * does later is beside it. A tail launch comes after everything. */
#include "runtime/device/driver/launch_children.h"
#include "csan/base/array.h"
#include "runtime/device/driver/graph/graph.h"
#include "runtime/device/memory/heap.h"

#include <stdlib.h>
#include <string.h>

enum {
    SUCCESS = 0,
    INVALID_VALUE = 1,
    MEMORY_ALLOCATION = 2,
    INVALID_CONFIGURATION = 9,
    INVALID_HANDLE = 400,
    LAUNCH_FAILURE = 719,
    PENDING_EXCEEDED = 69, /* cudaErrorLaunchPendingCountExceeded */
    STREAM_TAIL = 3,       /* cudaStreamTailLaunch */
    STREAM_FORGET = 4,     /* cudaStreamFireAndForget */
    FIRST_HANDLE = 0x10000,
    NO_PART = 0xffffffff,
    PARTS_MOST = 512 /* beyond, what is launched is in the record as a whole alone */
};

enum queue_kind { QUEUE_OF_BLOCK, QUEUE_CREATED, QUEUE_FORGET, QUEUE_TAIL };

struct device_queue {
    struct CUstream_st *stream;
    uint8_t kind;
    uint64_t name;   /* of QUEUE_OF_BLOCK: the block; of QUEUE_CREATED: the handle */
    uint32_t *after; /* parts that what comes next in it comes after */
    size_t after_count, after_capacity;
};

struct device_event {
    struct mark *mark; /* NULL: never recorded */
    uint32_t *after;
    size_t after_count;
};

/* A buffer that the kernel fills. */
struct pending_launch {
    uint64_t address;
    struct exec_grid grid;
};

struct part {
    const char *kernel;
    bool child;
    uint32_t *after;
    size_t after_count;
    struct device_trace_range *ranges;
    size_t count;
};

struct tail {
    struct item *item;
    uint32_t part;
};

struct family {
    unsigned references;
    struct item *parent; /* NULL once it is gone */
    struct device_queue *queues;
    size_t queue_count, queue_capacity;
    struct device_event *events;
    size_t event_count, event_capacity;
    struct pending_launch *buffers;
    size_t buffer_count, buffer_capacity;
    struct tail *tails;
    size_t tail_count, tail_capacity;
    struct part *parts;
    size_t part_count, part_capacity;
    struct device_trace_part *reported;
    uint32_t current; /* the parent's newest part that has ended */
    size_t running;   /* children that are not done */
    size_t launched;
};

/* ---- Life -------------------------------------------------------------------------------------
 */

static struct family *family_of(struct item *kernel)
{
    struct launch_kin *kin = launch_kin(kernel);
    if (!kin->own && (kin->own = calloc(1, sizeof *kin->own))) {
        kin->own->references = 1;
        kin->own->parent = kernel;
        kin->own->current = NO_PART;
    }
    return kin->own;
}

void family_retain(struct family *family)
{
    family->references++;
}

void family_release(struct family *family)
{
    if (!family || --family->references)
        return;
    for (size_t i = 0; i < family->queue_count; i++)
        free(family->queues[i].after);
    for (size_t i = 0; i < family->event_count; i++) {
        mark_release(family->events[i].mark);
        free(family->events[i].after);
    }
    for (size_t i = 0; i < family->part_count; i++) {
        free(family->parts[i].after);
        free(family->parts[i].ranges);
    }
    for (size_t i = 0; i < family->tail_count; i++)
        queue_drop(family->tails[i].item);
    free(family->queues);
    free(family->events);
    free(family->buffers);
    free(family->tails);
    free(family->parts);
    free(family->reported);
    free(family);
}

void children_forget(struct family *family)
{
    if (!family)
        return;
    family->parent = NULL;
    for (size_t i = 0; i < family->queue_count; i++)
        if (family->queues[i].stream)
            stream_abandon(family->queues[i].stream);
    family_release(family);
}

/* ---- The record -------------------------------------------------------------------------------
 */

static bool keep_after(uint32_t **list, size_t *count, const uint32_t *from, size_t from_count)
{
    free(*list);
    *list = calloc(from_count + 1, sizeof **list);
    *count = *list ? from_count : 0;
    if (*list && from_count)
        memcpy(*list, from, from_count * sizeof **list);
    return *list != NULL;
}

static uint32_t part_add(struct family *family, const char *kernel, bool child,
                         const uint32_t *after, size_t after_count)
{
    if (family->part_count >= PARTS_MOST ||
        !array_room(&family->parts, family->part_count, &family->part_capacity, 8, PARTS_MOST,
                    sizeof *family->parts))
        return NO_PART;
    struct part *part = &family->parts[family->part_count];
    *part = (struct part){.kernel = kernel, .child = child};
    if (!keep_after(&part->after, &part->after_count, after, after_count))
        return NO_PART;
    return (uint32_t)family->part_count++;
}

static void part_fill(struct part *part, const struct device_trace_range *ranges, size_t count)
{
    part->ranges = count ? malloc(count * sizeof *ranges) : NULL;
    part->count = part->ranges ? count : 0;
    if (part->ranges)
        memcpy(part->ranges, ranges, count * sizeof *ranges);
}

/* What the parent did since its last part. */
static void end_part(struct family *family, exec_state *state)
{
    size_t count;
    uint32_t part = part_add(family, launch_name(family->parent), false, &family->current,
                             family->current != NO_PART);
    if (part == NO_PART)
        return;
    const struct device_trace_range *ranges = exec_touches_since(state, &count);
    part_fill(&family->parts[part], ranges, count);
    family->current = part;
}

static bool queue_comes_after(struct device_queue *queue, uint32_t part)
{
    if (part == NO_PART)
        return true;
    if (!array_room(&queue->after, queue->after_count, &queue->after_capacity, 4, PARTS_MOST,
                    sizeof *queue->after))
        return false;
    queue->after[queue->after_count++] = part;
    return true;
}

/* A child's part, behind the parent's of now and what its queue holds. */
static uint32_t child_part(struct family *family, const char *kernel, struct device_queue *queue)
{
    uint32_t after[PARTS_MOST + 1];
    size_t count = 0;
    if (family->current != NO_PART)
        after[count++] = family->current;
    for (size_t i = 0; i < queue->after_count && count <= PARTS_MOST; i++)
        after[count++] = queue->after[i];
    uint32_t part = part_add(family, kernel, true, after, count);
    queue->after_count = part == NO_PART ? queue->after_count : 0;
    queue_comes_after(queue, part);
    return part;
}

static uint32_t tail_part(struct family *family, const char *kernel)
{
    uint32_t after[PARTS_MOST];
    for (size_t i = 0; i < family->part_count; i++)
        after[i] = (uint32_t)i;
    return part_add(family, kernel, true, after, family->part_count);
}

void child_is_done(struct family *family, uint32_t number, exec_state *state)
{
    size_t count;
    family->running--;
    exec_state *parent = family->parent ? launch_state(family->parent) : NULL;
    if (!parent || !state)
        return;
    if (number < family->part_count) {
        const struct device_trace_range *ranges = exec_touches(state, &count);
        part_fill(&family->parts[number], ranges, count);
    }
    exec_touches_add(parent, state);
}

void children_report(struct family *family, exec_state *state, struct device_trace_launch *launch)
{
    if (!family || !family->launched)
        return;
    end_part(family, state);
    free(family->reported);
    family->reported = calloc(family->part_count + 1, sizeof *family->reported);
    for (size_t i = 0; family->reported && i < family->part_count; i++) {
        const struct part *part = &family->parts[i];
        family->reported[i] = (struct device_trace_part){.kernel = part->kernel,
                                                         .child = part->child,
                                                         .after = part->after,
                                                         .after_count = part->after_count,
                                                         .ranges = part->ranges,
                                                         .count = part->count};
    }
    launch->parts = family->reported;
    launch->part_count = family->reported ? family->part_count : 0;
}

/* ---- Queues -----------------------------------------------------------------------------------
 */

static struct device_queue *queue_add(struct family *family, enum queue_kind kind, uint64_t name)
{
    if (!array_room(&family->queues, family->queue_count, &family->queue_capacity, 8, SIZE_MAX,
                    sizeof *family->queues))
        return NULL;
    struct device_queue *queue = &family->queues[family->queue_count];
    *queue = (struct device_queue){.kind = (uint8_t)kind, .name = name};
    queue->stream = stream_create_branch(family->parent->stream->context);
    if (!queue->stream)
        return NULL;
    family->queue_count++;
    return queue;
}

static struct device_queue *queue_named(struct family *family, enum queue_kind kind, uint64_t name)
{
    for (size_t i = 0; i < family->queue_count; i++)
        if (family->queues[i].kind == kind && family->queues[i].name == name &&
            family->queues[i].stream)
            return &family->queues[i];
    return NULL;
}

/* Where work for a stream goes; NULL with *error. */
static struct device_queue *queue_for(struct family *family, uint64_t stream, uint64_t block,
                                      uint32_t *error)
{
    struct device_queue *queue = NULL;
    *error = MEMORY_ALLOCATION;
    if (stream >= FIRST_HANDLE) {
        queue = queue_named(family, QUEUE_CREATED, stream);
        *error = INVALID_HANDLE;
    } else if (stream == STREAM_FORGET) {
        queue = queue_add(family, QUEUE_FORGET, 0);
    } else {
        queue = queue_named(family, QUEUE_OF_BLOCK, block);
        if (!queue)
            queue = queue_add(family, QUEUE_OF_BLOCK, block);
    }
    return queue;
}

static uint64_t stream_create_here(void *user)
{
    struct family *family = family_of(user);
    static uint64_t newest = FIRST_HANDLE;
    return family && queue_add(family, QUEUE_CREATED, ++newest) ? newest : 0;
}

/* "work in it is completed": its queue goes once it is empty. */
static uint32_t stream_destroy_here(void *user, uint64_t stream)
{
    struct family *family = family_of(user);
    struct device_queue *queue = family ? queue_named(family, QUEUE_CREATED, stream) : NULL;
    if (!queue)
        return INVALID_HANDLE;
    stream_abandon(queue->stream);
    queue->stream = NULL;
    return SUCCESS;
}

/* ---- Events -----------------------------------------------------------------------------------
 */

static uint64_t event_create_here(void *user)
{
    struct family *family = family_of(user);
    if (!family || !array_room(&family->events, family->event_count, &family->event_capacity, 8,
                               SIZE_MAX, sizeof *family->events))
        return 0;
    family->events[family->event_count++] = (struct device_event){0};
    return FIRST_HANDLE + family->event_count;
}

static struct device_event *event_of(struct family *family, uint64_t event)
{
    const uint64_t place = event - FIRST_HANDLE - 1;
    return family && place < family->event_count ? &family->events[place] : NULL;
}

static uint32_t event_destroy_here(void *user, uint64_t event)
{
    return event_of(family_of(user), event) ? SUCCESS : INVALID_HANDLE;
}

static uint32_t event_record_here(void *user, uint64_t handle, uint64_t stream, uint64_t block)
{
    struct family *family = family_of(user);
    struct device_event *event = event_of(family, handle);
    uint32_t error = INVALID_HANDLE;
    struct device_queue *queue = event ? queue_for(family, stream, block, &error) : NULL;
    struct mark *mark = queue ? mark_create() : NULL;
    if (!mark)
        return error;
    if (queue_append_marker(queue->stream, mark_retain(mark), NULL) != CUDA_SUCCESS) {
        mark_release(mark);
        return MEMORY_ALLOCATION;
    }
    mark_release(event->mark);
    event->mark = mark;
    keep_after(&event->after, &event->after_count, queue->after, queue->after_count);
    return SUCCESS;
}

static uint32_t event_wait_here(void *user, uint64_t handle, uint64_t stream, uint64_t block)
{
    struct family *family = family_of(user);
    struct device_event *event = event_of(family, handle);
    uint32_t error = INVALID_HANDLE;
    struct device_queue *queue = event ? queue_for(family, stream, block, &error) : NULL;
    if (!queue)
        return error;
    if (!event->mark)
        return SUCCESS;
    for (size_t i = 0; i < event->after_count; i++)
        queue_comes_after(queue, event->after[i]);
    return queue_append_marker(queue->stream, NULL, mark_retain(event->mark)) == CUDA_SUCCESS
               ? SUCCESS
               : MEMORY_ALLOCATION;
}

/* ---- Launches ---------------------------------------------------------------------------------
 */

static uint64_t buffer_here(void *user, const struct exec_grid *grid)
{
    struct family *family = family_of(user);
    const uint64_t bytes = launch_param_bytes(user, grid->function);
    if (!family || !array_room(&family->buffers, family->buffer_count, &family->buffer_capacity, 8,
                               SIZE_MAX, sizeof *family->buffers))
        return 0;
    const uint64_t address = heap_allocate(user, bytes ? bytes : 1, 16);
    if (address)
        family->buffers[family->buffer_count++] =
            (struct pending_launch){.address = address, .grid = *grid};
    return address;
}

static uint32_t error_of(CUresult result)
{
    return result == CUDA_ERROR_OUT_OF_MEMORY   ? MEMORY_ALLOCATION
           : result == CUDA_ERROR_INVALID_VALUE ? INVALID_CONFIGURATION
                                                : LAUNCH_FAILURE;
}

/* The child knows its family; while it is pending, the family has one more running. */
static void adopt(struct family *family, struct item *child, uint32_t part)
{
    struct launch_kin *kin = launch_kin(child);
    family_retain(family);
    kin->parent = family;
    kin->number = part;
    family->running++;
    family->launched++;
}

static uint32_t enqueue(struct family *family, struct item *child, uint64_t stream, uint64_t block)
{
    uint32_t error = SUCCESS;
    end_part(family, launch_state(family->parent));
    if (stream == STREAM_TAIL) {
        if (!array_room(&family->tails, family->tail_count, &family->tail_capacity, 4, SIZE_MAX,
                        sizeof *family->tails)) {
            queue_drop(child);
            return MEMORY_ALLOCATION;
        }
        family->tails[family->tail_count++] = (struct tail){.item = child};
        family->launched++;
        return SUCCESS;
    }
    struct device_queue *queue = queue_for(family, stream, block, &error);
    if (!queue) {
        queue_drop(child);
        return error;
    }
    adopt(family, child, child_part(family, launch_name(child), queue));
    queue_append(queue->stream, child);
    return SUCCESS;
}

static bool take_buffer(struct family *family, uint64_t address, struct pending_launch *taken)
{
    for (size_t i = family->buffer_count; i-- > 0;)
        if (family->buffers[i].address == address) {
            *taken = family->buffers[i];
            family->buffers[i] = family->buffers[--family->buffer_count];
            return true;
        }
    return false;
}

static uint32_t launch_here(void *user, uint64_t buffer, uint64_t stream, uint64_t block)
{
    struct item *parent = user;
    struct family *family = family_of(user);
    struct pending_launch pending;
    struct exec_region region;
    CUresult result;
    uint64_t bytes;
    if (!family || !take_buffer(family, buffer, &pending) ||
        !heap_find(parent->stream->context, buffer, &region))
        return INVALID_VALUE;
    const size_t most = parent->stream->context->limits[CU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT];
    if (family->running >= most) {
        heap_release(user, buffer, &bytes);
        return PENDING_EXCEEDED;
    }
    struct item *child = launch_child(
        parent, &pending.grid, (const void *)(uintptr_t)(buffer + (uint64_t)region.delta), &result);
    heap_release(user, buffer, &bytes);
    return child ? enqueue(family, child, stream, block) : error_of(result);
}

/* What a copy or set touches of one side is in its part, and in the record as a whole. */
static void touches_put(struct family *family, uint32_t number, uint32_t kind,
                        const struct exec_rows *rows)
{
    const struct memory memory = memory_at(rows->address);
    exec_touches_put(launch_state(family->parent), kind, rows, memory.base,
                     memory.base + memory.bytes);
    if (number == NO_PART)
        return;
    struct part *part = &family->parts[number];
    struct device_trace_range *ranges =
        realloc(part->ranges, (part->count + 1) * sizeof *part->ranges);
    if (!ranges)
        return;
    part->ranges = ranges;
    ranges[part->count++] = (struct device_trace_range){.address = rows->address,
                                                        .bytes = rows->width,
                                                        .kind = kind,
                                                        .dims = rows->height > 1,
                                                        .stride = {rows->pitch},
                                                        .count = {rows->height}};
}

/* Copies and sets are enqueued as the host's are. `from`: NULL for a set. */
static uint32_t append_work(struct family *family, CUresult result, struct item *work,
                            const struct exec_rows *to, const struct exec_rows *from,
                            uint64_t stream, uint64_t block)
{
    uint32_t error = INVALID_VALUE;
    if (result != CUDA_SUCCESS)
        return result == CUDA_ERROR_OUT_OF_MEMORY ? MEMORY_ALLOCATION : INVALID_VALUE;
    struct device_queue *queue = family ? queue_for(family, stream, block, &error) : NULL;
    if (!queue) {
        queue_drop(work);
        return error;
    }
    end_part(family, launch_state(family->parent));
    uint32_t part = child_part(family, from ? "cudaMemcpyAsync" : "cudaMemsetAsync", queue);
    if (from)
        touches_put(family, part, DEVICE_TRACE_READ, from);
    touches_put(family, part, DEVICE_TRACE_WRITE, to);
    family->launched++;
    queue_append(queue->stream, work);
    return SUCCESS;
}

static uint32_t copy_here(void *user, const struct exec_rows *to, const struct exec_rows *from,
                          uint64_t stream, uint64_t block)
{
    struct item *work = NULL;
    const CUDA_MEMCPY3D copy = {.srcMemoryType = CU_MEMORYTYPE_DEVICE,
                                .srcDevice = from->address,
                                .srcPitch = from->pitch,
                                .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                                .dstDevice = to->address,
                                .dstPitch = to->pitch,
                                .WidthInBytes = to->width,
                                .Height = to->height,
                                .Depth = 1};
    if (!to->width || !to->height)
        return SUCCESS;
    CUresult result = copy_of_node(&copy, &work);
    return append_work(family_of(user), result, work, to, from, stream, block);
}

static uint32_t set_here(void *user, const struct exec_rows *to, uint8_t value, uint64_t stream,
                         uint64_t block)
{
    struct item *work = NULL;
    const CUDA_MEMSET_NODE_PARAMS_v1 set = {.dst = to->address,
                                            .pitch = to->pitch,
                                            .value = value,
                                            .elementSize = 1,
                                            .width = to->width,
                                            .height = to->height};
    if (!to->width || !to->height)
        return SUCCESS;
    CUresult result = set_of_node(&set, &work);
    return append_work(family_of(user), result, work, to, NULL, stream, block);
}

const struct exec_runtime children_runtime = {
    .buffer = buffer_here,
    .launch = launch_here,
    .stream_create = stream_create_here,
    .stream_destroy = stream_destroy_here,
    .event_create = event_create_here,
    .event_destroy = event_destroy_here,
    .event_record = event_record_here,
    .event_wait = event_wait_here,
    .copy = copy_here,
    .set = set_here,
};

/* ---- The end ----------------------------------------------------------------------------------
 */

static bool queues_are_empty(const struct family *family)
{
    for (size_t i = 0; i < family->queue_count; i++)
        if (family->queues[i].stream && family->queues[i].stream->head)
            return false;
    return true;
}

/* "tail launches execute in order", each when all before it is done. */
static bool begin_tails(struct family *family)
{
    struct device_queue *queue = queue_add(family, QUEUE_TAIL, 0);
    if (!queue)
        return false;
    for (size_t i = 0; i < family->tail_count; i++) {
        struct item *child = family->tails[i].item;
        adopt(family, child, tail_part(family, launch_name(child)));
        family->launched--; /* counted before */
        queue_append(queue->stream, child);
    }
    family->tail_count = 0;
    return true;
}

bool children_are_done(struct family *family)
{
    if (!family)
        return true;
    if (family->running || !queues_are_empty(family))
        return false;
    if (!family->tail_count)
        return true;
    end_part(family, launch_state(family->parent));
    return !begin_tails(family);
}
