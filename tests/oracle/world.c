#include "world.h"

#include <stdlib.h>
#include <string.h>

enum { NO_NODE = 0xffffffffu, LANES = 2 + THREADS + PROGRAM_OPS, BLOCKS = PROGRAM_OPS };

/* A stream's work in its order. */
struct lane {
    bool blocking;
    unsigned last;     /* newest node; NO_NODE: none */
    unsigned declared; /* what the program last said it is after */
};

struct block {
    uint64_t base, bytes;
    unsigned owner;
};

/* The rules at work. Lane 0 is the legacy stream, then one for each thread, then the created ones.
 */
struct maker {
    struct world *world;
    bool traced;
    bool behind; /* csan may not know yet what work touches by the time of the host's next step, or
                    guards nothing */
    enum waits waits;
    unsigned called; /* the host's newest node when the op's call began */
    unsigned host;   /* newest node of the host: of the op's thread, or of all in one order */
    unsigned hosts[THREADS];
    unsigned host_keys[KEYS]; /* what host threads said was before: the newest node */
    struct lane lanes[LANES];
    unsigned lane_count;
    unsigned of_slot[STREAMS];
    unsigned events[EVENTS]; /* the node of the last record; NO_NODE: never */
    unsigned before[KEYS][PROGRAM_OPS], before_count[KEYS];
    struct block blocks[BLOCKS];
    unsigned block_count;
    unsigned owners;
    unsigned functions[PROGRAM_OPS]; /* by op: the node of its host function */
    const struct play *play;
};

/* ---- Nodes ---- */

static void after(struct maker *maker, unsigned earlier, unsigned node)
{
    if (earlier != NO_NODE)
        order_edge(&maker->world->order, earlier, node);
}

/* The host goes on, after all that it did and after `waited` (NO_NODE: nothing). */
static unsigned host_step(struct maker *maker, unsigned waited)
{
    unsigned node = order_add(&maker->world->order);
    after(maker, maker->host, node);
    after(maker, waited, node);
    return maker->host = node;
}

/* The lane's work so far. "The legacy default stream first waits on all blocking streams" (Stream
 * synchronization behavior), those destroyed with work left among them: waiting for it covers
 * them. */
static void after_lane(struct maker *maker, unsigned lane, unsigned node)
{
    for (unsigned i = 0; i < maker->lane_count; i++)
        if (i == lane || (lane == 0 && maker->lanes[i].blocking)) {
            after(maker, maker->lanes[i].last, node);
            after(maker, maker->lanes[i].declared, node);
        }
}

/* Work on a stream: after the call that enqueued it, after what is before it in the stream, and
 * "all blocking streams wait on the legacy stream". Records and waits are work as well. */
static unsigned work(struct maker *maker, unsigned lane)
{
    unsigned node = order_add(&maker->world->order);
    after(maker, maker->host, node);
    after_lane(maker, lane, node);
    if (maker->lanes[lane].blocking)
        after(maker, maker->lanes[0].last, node);
    return maker->lanes[lane].last = node;
}

static void host_waits_for_lane(struct maker *maker, unsigned lane)
{
    unsigned node = order_add(&maker->world->order);
    after(maker, maker->host, node);
    after_lane(maker, lane, node);
    maker->host = node;
}

static void host_waits_for_all(struct maker *maker)
{
    unsigned node = order_add(&maker->world->order);
    after(maker, maker->host, node);
    for (unsigned i = 0; i < maker->lane_count; i++)
        after(maker, maker->lanes[i].last, node);
    maker->host = node;
}

static unsigned lane_of(const struct maker *maker, const struct op *op)
{
    unsigned stream = program_stream(op);
    return stream == 0 ? 0 : stream == 1 ? 1u + op->thread : maker->of_slot[stream];
}

/* ---- Memory ---- */

static unsigned memory_add(struct maker *maker, uint64_t base, uint64_t bytes)
{
    struct world *world = maker->world;
    world->memories[world->memory_count] =
        (struct memory){.base = base, .bytes = bytes, .owner = ++maker->owners};
    return world->memory_count++;
}

/* The newest memory there; 0: none, or none any more. */
static unsigned memory_at(const struct world *world, uint64_t address)
{
    for (unsigned i = world->memory_count; --i > 0;)
        if (address - world->memories[i].base < world->memories[i].bytes)
            return world->memories[i].gone ? 0 : i;
    return 0;
}

/* Where the newest memory at an address ends, or the next one begins. */
static uint64_t memory_end(const struct world *world, uint64_t address, uint64_t end)
{
    unsigned here = memory_at(world, address);
    for (uint64_t i = address + 1; i < end; i++)
        if (memory_at(world, i) != here)
            return i;
    return end;
}

/* The declared block that holds all of it owns it, else the memory. */
static unsigned owner_of(const struct maker *maker, unsigned memory, uint64_t base, uint64_t end)
{
    for (unsigned i = 0; i < maker->block_count; i++)
        if (base >= maker->blocks[i].base && end <= maker->blocks[i].base + maker->blocks[i].bytes)
            return maker->blocks[i].owner;
    return maker->world->memories[memory].owner;
}

static void block_remove(struct maker *maker, unsigned i)
{
    maker->blocks[i] = maker->blocks[--maker->block_count];
}

static void pool_op(struct maker *maker, const struct op *op, uint64_t base)
{
    uint64_t bytes = op->ranges[0].width;
    bool born = op->kind == OP_POOL_ALLOCATE;
    for (unsigned i = maker->block_count; i-- > 0;) {
        const struct block *block = &maker->blocks[i];
        if (born ? block->base < base + bytes && base < block->base + block->bytes
                 : block->base == base)
            block_remove(maker, i);
    }
    if (born)
        maker->blocks[maker->block_count++] = (struct block){base, bytes, ++maker->owners};
}

/* ---- Touches ---- */

static struct touch *touch_add(struct maker *maker, const struct touch *what)
{
    struct world *world = maker->world;
    if (world->touch_count == TOUCHES)
        abort();
    struct touch *touch = &world->touches[world->touch_count++];
    *touch = *what;
    if (touch->rows == 1 || touch->stride == touch->width) {
        touch->width *= touch->rows;
        touch->rows = 1;
        touch->stride = 0;
    }
    const struct memory *memory = &world->memories[touch->memory];
    uint64_t end = touch->base + (touch->rows - 1) * touch->stride + touch->width;
    touch->owner = owner_of(maker, touch->memory, touch->base, end);
    touch->late = memory->freed && touch->kind != TOUCH_FREE && touch->kind != TOUCH_BIRTH;
    touch->host = maker->host;
    touch->armed = !touch->bounded && !touch->at_call && !touch->at_host && !maker->behind;
    touch->waits = !touch->at_host && maker->behind;
    return touch;
}

/* A range of an op. What was freed may belong to several by now. */
static void touch_range(struct maker *maker, const struct op *op, const struct happening *happening,
                        unsigned i, struct touch touch)
{
    const struct rows *rows = &op->ranges[i];
    if (!rows->rows || !happening->base[i])
        return;
    touch.base = happening->base[i] + rows->offset;
    touch.width = rows->width;
    touch.stride = rows->stride;
    touch.rows = happening->stale[i] ? 1 : rows->rows;
    uint64_t end = touch.base + touch.width;
    do {
        touch.memory = memory_at(maker->world, touch.base);
        if (touch.rows == 1)
            touch.width = memory_end(maker->world, touch.base, end) - touch.base;
        touch_add(maker, &touch);
        touch.base += touch.width;
    } while (touch.rows == 1 && touch.base < end);
}

static void touch_all(struct maker *maker, unsigned memory, struct touch touch)
{
    touch.memory = memory;
    touch.base = maker->world->memories[memory].base;
    touch.width = maker->world->memories[memory].bytes;
    touch.rows = 1;
    touch_add(maker, &touch);
}

/* ---- Work ---- */

static void make_kernel(struct maker *maker, const struct op *op, const struct happening *happening)
{
    struct touch touch = {.node = work(maker, lane_of(maker, op)),
                          .number = happening->number,
                          .bounded = op->flags & FLAG_GUARDED && !maker->traced};
    maker->behind |= op->flags & FLAG_GUARDED && maker->traced;
    if (op->kind == OP_ADD) {
        touch.kind = TOUCH_ATOMIC;
        touch.element = op->flags & FLAG_WIDE ? 8 : 4;
        touch_range(maker, op, happening, 0, touch);
        return;
    }
    for (unsigned i = 0; i < RANGES; i++) {
        touch.kind = i == 2 ? TOUCH_WRITE : TOUCH_READ;
        touch_range(maker, op, happening, i, touch);
    }
}

static bool is_host(uint8_t buffer)
{
    return buffer == BUFFER_PINNED || buffer == BUFFER_PAGEABLE;
}

/* Before the call returned: after what the host did and knew when it called. What comes later in
 * the stream is after it. Work of streams the driver is to keep apart from it. */
static unsigned read_at_call(struct maker *maker, const struct op *op,
                             const struct happening *happening)
{
    struct touch touch = {.node = order_add(&maker->world->order),
                          .number = happening->number + 1,
                          .kind = TOUCH_READ,
                          .at_call = true};
    after(maker, maker->called, touch.node);
    touch_range(maker, op, happening, 0, touch);
    return touch.node;
}

/* "API synchronization behavior", Memcpy:
 *  synchronous, from pageable memory: "a stream sync is performed before the copy is initiated. The
 *    function will return once the pageable buffer has been copied to the staging memory [...] but
 *    the DMA to final destination may not have completed";
 *  from pinned memory, or to host memory: "synchronous with respect to the host";
 *  device to device: "no host-side synchronization is performed";
 *  host to host, with Async too: "fully synchronous with respect to the host".
 * Async: "If pageable memory must first be staged to pinned memory, the driver may synchronize with
 *    the stream and stage the copy into pinned memory": or may not, and the source is read at the
 *    call. Nothing else is taken from it. */
static void make_copy(struct maker *maker, const struct op *op, const struct happening *happening)
{
    unsigned lane = lane_of(maker, op);
    bool from_host = is_host(op->ranges[0].buffer), to_host = is_host(op->ranges[1].buffer);
    const bool counts = maker->waits != WAITS_NONE;
    bool waits = !(op->flags & FLAG_ASYNC) && (from_host || to_host);
    struct touch touch = {.number = happening->number, .kind = TOUCH_READ};
    if (program_copy_is_staged(op) && counts) {
        host_waits_for_lane(maker, lane);
        touch.node = host_step(maker, NO_NODE);
        touch.at_host = true;
        touch_range(maker, op, happening, 0, touch);
        touch.at_host = false;
        touch.number++;
        touch.node = work(maker, lane);
        waits = false;
    } else {
        const unsigned early =
            program_copy_reads_at_call(op) ? read_at_call(maker, op, happening) : NO_NODE;
        touch.node = work(maker, lane);
        after(maker, early, touch.node);
        touch_range(maker, op, happening, 0, touch);
    }
    touch.kind = TOUCH_WRITE;
    touch_range(maker, op, happening, 1, touch);
    if (counts && (waits || (from_host && to_host)))
        host_step(maker, touch.node);
}

/* The same, Memset: "asynchronous with respect to the host except when the target is pinned host
 * memory or a Unified Memory region, in which case they are fully synchronous"; Async never waits.
 */
static void make_set(struct maker *maker, const struct op *op, const struct happening *happening)
{
    struct touch touch = {
        .node = work(maker, lane_of(maker, op)), .number = happening->number, .kind = TOUCH_WRITE};
    uint8_t buffer = op->ranges[0].buffer;
    touch_range(maker, op, happening, 0, touch);
    if (!(op->flags & FLAG_ASYNC) && (is_host(buffer) || buffer == BUFFER_MANAGED) &&
        maker->waits != WAITS_NONE)
        host_step(maker, touch.node);
}

/* "The host function will be called after currently enqueued work and will block work added after
 * it" (cuLaunchHostFunc). csan's choice (option host_order=observed): it is after all the host did
 * until it runs, and before all the host does then. */
static void make_function(struct maker *maker, const struct op *op,
                          const struct happening *happening)
{
    maker->functions[happening - maker->play->happenings] = work(maker, lane_of(maker, op));
}

/* What csan did not see has none of csan's. */
static uint64_t number_of(const struct maker *maker, const struct happening *happening)
{
    return happening->unseen ? UINT64_MAX - (uint64_t)(happening - maker->play->happenings)
                             : happening->number;
}

static void run_functions(struct maker *maker, const struct program *program, unsigned during)
{
    for (unsigned turn = 1; turn <= PROGRAM_OPS; turn++)
        for (size_t i = 0; i < program->count; i++) {
            const struct op *op = &program->ops[i];
            const struct happening *happening = &maker->play->happenings[i];
            if (op->kind != OP_HOST_FUNCTION || !happening->done || happening->turn != turn ||
                happening->ran != during)
                continue;
            struct touch touch = {.node = maker->functions[i],
                                  .number = number_of(maker, happening),
                                  .kind = op->flags & FLAG_WIDE ? TOUCH_WRITE : TOUCH_READ,
                                  .unseen = happening->unseen,
                                  .at_host = true};
            if (!happening->unseen) /* it is csan's op that comes after the host's */
                after(maker, maker->host, touch.node);
            touch_range(maker, op, happening, 0, touch);
            host_step(maker, touch.node);
        }
}

static void make_host_access(struct maker *maker, const struct op *op,
                             const struct happening *happening)
{
    struct touch touch = {.node = host_step(maker, NO_NODE),
                          .number = number_of(maker, happening),
                          .kind = op->kind == OP_HOST_READ ? TOUCH_READ : TOUCH_WRITE,
                          .unseen = happening->unseen,
                          .at_host = true};
    touch_range(maker, op, happening, 0, touch);
}

/* cuMemAllocAsync: the memory is there for what is ordered after the allocation in its stream
 * ("Stream Ordered Memory Allocator"); cuMemAlloc: for everything from then on. Then it is filled.
 */
static void make_allocation(struct maker *maker, const struct op *op,
                            const struct happening *happening)
{
    unsigned lane = lane_of(maker, op);
    unsigned memory = memory_add(maker, happening->block, happening->block_bytes);
    struct touch touch = {.number = happening->number, .kind = TOUCH_BIRTH};
    if (op->flags & FLAG_ASYNC) {
        touch.node = work(maker, lane);
        touch_all(maker, memory, touch);
    }
    if (op->flags & FLAG_BARE)
        return;
    touch.number = happening->second;
    touch.kind = TOUCH_WRITE;
    touch.node = work(maker, lane);
    touch_all(maker, memory, touch);
}

/* cuMemFreeAsync is work of its stream. cuMemFree waits for all work ("may"; every driver does, and
 * by default the design counts on it; else it is an access of the host), but not for memory of
 * cuMemAllocAsync: that is checked, as an access of the host. */
static void make_free(struct maker *maker, const struct op *op, const struct happening *happening)
{
    struct world *world = maker->world;
    unsigned memory = memory_at(world, happening->block);
    struct touch touch = {.number = happening->number, .kind = TOUCH_FREE};
    if (!happening->streamed && maker->waits == WAITS_OBSERVED) {
        world->memories[memory].gone = true;
        host_waits_for_all(maker);
        return;
    }
    if (!happening->streamed) { /* not reported again when the address is */
        touch.node = host_step(maker, NO_NODE);
        touch_all(maker, memory, touch);
        world->memories[memory].gone = true;
        return;
    }
    touch.node =
        op->flags & FLAG_ASYNC ? work(maker, lane_of(maker, op)) : host_step(maker, NO_NODE);
    world->memories[memory].free = world->touch_count;
    touch_all(maker, memory, touch);
    world->memories[memory].freed = true;
}

/* ---- Order ---- */

static void make_stream(struct maker *maker, const struct op *op)
{
    if (op->kind == OP_STREAM_DESTROY) /* its work goes on; nothing waits */
        return;
    maker->of_slot[op->stream] = maker->lane_count;
    maker->lanes[maker->lane_count++] = (struct lane){
        .blocking = !(op->flags & FLAG_NON_BLOCKING), .last = NO_NODE, .declared = NO_NODE};
}

static void make_event_wait(struct maker *maker, const struct op *op)
{
    unsigned node = work(maker, lane_of(maker, op));
    after(maker, maker->events[op->event], node);
}

static unsigned meet(struct maker *maker, unsigned before, unsigned host)
{
    unsigned node = order_add(&maker->world->order);
    after(maker, before, node);
    after(maker, host, node);
    return node;
}

/* "Everything enqueued on `stream` before csan_happens_before(key, stream) is ordered before
 * everything enqueued on any stream after a later csan_happens_after(key, stream)" (csan.h). What
 * waits for a stream waits for what was declared of it, too; and nothing of CUDA's happens, so that
 * no stream joins the legacy one. */
static void make_key(struct maker *maker, const struct op *op)
{
    unsigned key = op->event % KEYS, lane = lane_of(maker, op);
    unsigned node = order_add(&maker->world->order);
    if (op->kind == OP_BEFORE)
        maker->host_keys[key] = meet(maker, maker->host_keys[key], maker->host);
    else
        host_step(maker, maker->host_keys[key]);
    if (op->kind == OP_BEFORE) {
        after_lane(maker, lane, node);
        maker->before[key][maker->before_count[key]++] = node;
        return;
    }
    after(maker, maker->lanes[lane].declared, node);
    for (unsigned i = 0; i < maker->before_count[key]; i++)
        after(maker, maker->before[key][i], node);
    maker->lanes[lane].declared = node;
}

static void make_op(struct maker *maker, const struct op *op, const struct happening *happening)
{
    switch (op->kind) {
    case OP_STREAM_CREATE:
    case OP_STREAM_DESTROY:
        make_stream(maker, op);
        break;
    case OP_STREAM_QUERY:
        if (!happening->success)
            break; /* fall through */
    case OP_STREAM_SYNCHRONIZE:
        host_waits_for_lane(maker, lane_of(maker, op));
        break;
    case OP_DEVICE_SYNCHRONIZE:
        host_waits_for_all(maker);
        break;
    case OP_EVENT_RECORD:
        maker->events[op->event] = work(maker, lane_of(maker, op));
        break;
    case OP_EVENT_WAIT:
        make_event_wait(maker, op);
        break;
    case OP_EVENT_QUERY:
        if (!happening->success)
            break; /* fall through */
    case OP_EVENT_SYNCHRONIZE:
        host_step(maker, maker->events[op->event]);
        break;
    case OP_EVENT_ELAPSED:
        if (happening->success) {
            host_step(maker, maker->events[op->event]);
            host_step(maker, maker->events[op->other]);
        }
        break;
    case OP_EVENT_RENEW:
        maker->events[op->event] = NO_NODE;
        break;
    case OP_KERNEL:
    case OP_ADD:
        make_kernel(maker, op, happening);
        break;
    case OP_COPY:
        make_copy(maker, op, happening);
        break;
    case OP_SET:
        make_set(maker, op, happening);
        break;
    case OP_ALLOCATE:
        make_allocation(maker, op, happening);
        break;
    case OP_FREE:
        make_free(maker, op, happening);
        break;
    case OP_HOST_READ:
    case OP_HOST_WRITE:
        make_host_access(maker, op, happening);
        break;
    case OP_HOST_FUNCTION:
        make_function(maker, op, happening);
        break;
    case OP_POOL_ALLOCATE:
    case OP_POOL_FREE:
        pool_op(maker, op, happening->base[0] + op->ranges[0].offset);
        break;
    default:
        make_key(maker, op);
    }
}

static void maker_start(struct maker *maker)
{
    maker->host = NO_NODE;
    maker->lane_count = 1 + THREADS;
    for (unsigned i = 0; i < maker->lane_count; i++)
        maker->lanes[i] = (struct lane){.blocking = i > 0, .last = NO_NODE, .declared = NO_NODE};
    for (unsigned i = 0; i < EVENTS; i++)
        maker->events[i] = NO_NODE;
    for (unsigned i = 0; i < KEYS; i++)
        maker->host_keys[i] = NO_NODE;
    host_step(maker, NO_NODE);
    for (unsigned i = 0; i < THREADS; i++)
        maker->hosts[i] = maker->host;
}

/* A guard opens a page to the first access that it reports, until other work touches the page. Of a
 * buffer, which has a page of its own. The embedded device copies with pageable memory by system
 * calls, for which the guard opens the page: the op closes it again, but not while it waits. */
static bool may_be_left_out(const struct world *world, const struct touch *unseen)
{
    for (const struct touch *touch = unseen; touch-- > world->touches;) {
        if (touch->memory != unseen->memory)
            continue;
        if (touch->at_host && !touch->unseen)
            return true;
        if (touch->armed)
            return false;
        if (touch->waits)
            return true;
    }
    return true;
}

/* What is known only now. */
static void finish(struct world *world)
{
    for (unsigned i = 0; i < world->touch_count; i++)
        if (world->touches[i].unseen)
            world->touches[i].excused = may_be_left_out(world, &world->touches[i]);
    for (unsigned i = 0; i < world->touch_count; i++) {
        struct touch *touch = &world->touches[i];
        unsigned free = touch->late ? world->touches[world->memories[touch->memory].free].node : 0;
        touch->forgotten =
            touch->late && (free == touch->host || order_before(&world->order, free, touch->host));
    }
}

/* A function that runs during a call has run when the call's work is enqueued; but a free is looked
 * at before. A call that enqueues a function may run it at once. */
bool world_make(struct world *world, const struct program *program, const struct play *play,
                bool traced, enum waits waits)
{
    struct maker maker = {.world = world,
                          .traced = traced,
                          .waits = waits,
                          .behind = play->way != HOST_GUARDED,
                          .play = play};
    bool functions = program_has_functions(program);
    world->order.count = world->order.edge_count = world->touch_count = 0;
    world->memory_count = 1; /* 0: memory in no allocation */
    world->memories[0] = (struct memory){0};
    maker_start(&maker);
    for (unsigned i = 0; i < BUFFER_DYNAMIC; i++)
        if (i != BUFFER_PAGEABLE)
            memory_add(&maker, play->buffers[i], BUFFER_BYTES);
    for (unsigned i = 0; i < program->count; i++) {
        const struct op *op = &program->ops[i];
        bool early =
            (op->kind == OP_FREE && (play->happenings[i].streamed || waits != WAITS_OBSERVED)) ||
            op->kind == OP_HOST_FUNCTION;
        maker.called = maker.host;
        if (functions && !early)
            run_functions(&maker, program, i);
        if (program->host_threads)
            maker.called = maker.host = maker.hosts[op->thread];
        if (play->happenings[i].done)
            make_op(&maker, op, &play->happenings[i]);
        maker.hosts[op->thread] = maker.host;
        if (functions && early)
            run_functions(&maker, program, i);
    }
    if (functions)
        run_functions(&maker, program, (unsigned)program->count);
    if (!order_close(&world->order))
        return false;
    finish(world);
    return true;
}

/* ---- Races ---- */

static bool conflict(const struct touch *a, const struct touch *b)
{
    if (a->kind == TOUCH_READ && b->kind == TOUCH_READ)
        return false;
    if (a->kind == TOUCH_ATOMIC && b->kind == TOUCH_ATOMIC)
        return a->element != b->element;
    return true;
}

/* Over the same bytes, with other owners of the memory in between: the driver's pool orders nothing
 * that anybody sees, but what was ordered before a free is over. */
static bool reaches(const struct touch *touch, const struct memory *memory)
{
    return memory->base < touch->base + (touch->rows - 1) * touch->stride + touch->width &&
           touch->base < memory->base + memory->bytes;
}

static bool survives(const struct world *world, const struct touch *first,
                     const struct touch *second)
{
    if (first->late || first->kind == TOUCH_BIRTH || first->kind == TOUCH_FREE ||
        second->kind == TOUCH_BIRTH)
        return false;
    for (unsigned i = first->memory; i < second->memory; i++) {
        const struct memory *memory = &world->memories[i];
        if (memory->gone && reaches(first, memory) && reaches(second, memory))
            return false; /* the free waited for the device, and the allocator for the free */
        if (memory->freed && reaches(first, memory) && reaches(second, memory) &&
            order_before(&world->order, first->node, world->touches[memory->free].node))
            return false;
    }
    return true;
}

/* The host has learned of it during the call, so that csan may have forgotten it. */
static bool known_by_then(const struct world *world, const struct touch *first,
                          const struct touch *second)
{
    return second->at_call &&
           (first->node == second->host || order_before(&world->order, first->node, second->host));
}

static bool meets(const struct touch *a, const struct touch *b)
{
    return a->base < b->base + (b->rows - 1) * b->stride + b->width &&
           b->base < a->base + (a->rows - 1) * a->stride + a->width;
}

/* What the host did was written over in a stream since: csan keeps that write, which it does not
 * take for a race with what a call does. */
static bool covered_by_stream(const struct world *world, const struct touch *first,
                              const struct touch *second)
{
    const struct touch *at_host = first->at_call ? second : first;
    for (unsigned i = 0; i < world->touch_count && (first->at_call || second->at_call); i++) {
        const struct touch *other = &world->touches[i];
        if (other->kind == TOUCH_WRITE && !other->at_host && meets(other, at_host) &&
            order_before(&world->order, at_host->node, other->node))
            return true;
    }
    return false;
}

enum verdict world_verdict(const struct world *world, const struct touch *first,
                           const struct touch *second)
{
    bool use_after_free = first->kind == TOUCH_FREE && first->memory == second->memory;
    if (first->number == second->number || !conflict(first, second))
        return VERDICT_NONE;
    if (order_before(&world->order, first->node, second->node) && !use_after_free)
        return VERDICT_NONE;
    if (order_before(&world->order, second->node, first->node)) /* by way of a host function */
        return first->kind == TOUCH_BIRTH || second->kind == TOUCH_FREE ? VERDICT_OPTIONAL
                                                                        : VERDICT_NONE;
    if (first->memory != second->memory && !survives(world, first, second))
        return VERDICT_NONE;
    if (first->unseen || (second->unseen && (second->excused || !first->armed)))
        return VERDICT_LEFT_OUT;
    if ((first->at_call && !second->at_host) || (second->at_call && !first->at_host))
        return VERDICT_NONE;
    if (first->forgotten || second->forgotten || known_by_then(world, first, second) ||
        covered_by_stream(world, first, second))
        return VERDICT_OPTIONAL;
    return first->bounded || second->bounded ? VERDICT_POSSIBLE : VERDICT_CERTAIN;
}

int world_race_kind(const struct world *world, const struct touch *first,
                    const struct touch *second)
{
    if (first->kind == TOUCH_FREE)
        return order_before(&world->order, first->node, second->node) ? CSAN_RACE_USE_AFTER_FREE
                                                                      : CSAN_RACE_FREE;
    if (first->kind == TOUCH_BIRTH)
        return CSAN_RACE_BIRTH;
    if (second->kind == TOUCH_FREE)
        return CSAN_RACE_FREE;
    if (first->owner != second->owner)
        return CSAN_RACE_REUSE;
    return first->kind == TOUCH_ATOMIC || second->kind == TOUCH_ATOMIC ? CSAN_RACE_ATOMIC
                                                                       : CSAN_RACE_DATA;
}

void world_common(const struct touch *first, const struct touch *second,
                  void (*run)(void *user, uint64_t start, uint64_t end), void *user)
{
    for (uint64_t i = 0; i < first->rows; i++)
        for (uint64_t j = 0; j < second->rows; j++) {
            uint64_t a = first->base + i * first->stride, b = second->base + j * second->stride;
            uint64_t start = a > b ? a : b;
            uint64_t a_end = a + first->width, b_end = b + second->width;
            uint64_t end = a_end < b_end ? a_end : b_end;
            if (start < end)
                run(user, start, end);
        }
}
