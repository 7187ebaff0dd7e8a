#include "replay.h"
#include <csan/csan.h>

#include <stdio.h>
#include <stdlib.h>
#include <uthash.h>

/* What a number of the program stands for. */
struct object {
    uint64_t id;
    csan_lane lane;    /* of a stream */
    csan_event *event; /* of an event; a tensor has neither */
    UT_hash_handle hh;
};

enum { SITES = 64 };

struct replay {
    csan_context *context;
    struct object *streams, *events, *tensors;
    csan_site sites[SITES]; /* by number of touches: its arguments are called "0", "1", ... */
    uint64_t launches, launches_before; /* in all; of former programs */
    struct reported *reported;
    size_t reported_count, reported_capacity;
};

static void *must(void *memory)
{
    if (!memory)
        abort();
    return memory;
}

static void on_race(void *user, const struct csan_race *race)
{
    struct replay *replay = user;
    if (replay->reported_count == replay->reported_capacity) {
        replay->reported_capacity = replay->reported_capacity ? replay->reported_capacity * 2 : 16;
        replay->reported =
            must(realloc(replay->reported, replay->reported_capacity * sizeof(*replay->reported)));
    }
    replay->reported[replay->reported_count++] =
        (struct reported){.touch = (uint32_t)atoi(race->current.arguments),
                          .launch = (uint32_t)(race->previous.sequence - replay->launches_before),
                          .kind = (uint32_t)race->previous.kind,
                          .reuse = race->kind == CSAN_RACE_REUSE};
}

static struct object *find(struct object *table, uint64_t id)
{
    struct object *object;
    HASH_FIND(hh, table, &id, sizeof(id), object);
    return object;
}

static struct object *add(struct object **table, uint64_t id)
{
    struct object *object = must(calloc(1, sizeof(*object)));
    object->id = id;
    HASH_ADD(hh, *table, id, sizeof(object->id), object);
    return object;
}

static void discard(struct object **table, struct object *object)
{
    HASH_DEL(*table, object);
    free(object);
}

static csan_lane lane_of(struct replay *replay, uint64_t id)
{
    struct object *stream = find(replay->streams, id);
    if (!stream) {
        stream = add(&replay->streams, id);
        stream->lane = csan_lane_create(replay->context, id, "stream");
    }
    return stream->lane;
}

static csan_event *event_of(struct replay *replay, uint64_t id)
{
    struct object *event = find(replay->events, id);
    if (!event) {
        event = add(&replay->events, id);
        event->event = csan_event_create(replay->context);
    }
    return event->event;
}

static void delete_event(struct replay *replay, uint64_t id)
{
    struct object *event = find(replay->events, id);
    if (!event)
        return;
    csan_event_destroy(replay->context, event->event);
    discard(&replay->events, event);
}

static void ensure_tensor(struct replay *replay, uint64_t data_ptr)
{
    if (find(replay->tensors, data_ptr))
        return;
    add(&replay->tensors, data_ptr);
    csan_memory_pool_alloc(replay->context, data_ptr, 1, CSAN_HOST, 0);
}

static void delete_tensor(struct replay *replay, uint64_t data_ptr)
{
    struct object *tensor = find(replay->tensors, data_ptr);
    if (!tensor)
        return;
    csan_memory_pool_free(replay->context, data_ptr, CSAN_HOST, 0);
    discard(&replay->tensors, tensor);
}

struct replay *replay_create(void)
{
    struct replay *replay = must(calloc(1, sizeof(*replay)));
    char message[256] = "no memory";
    replay->context = csan_context_create("dedup=0", on_race, replay, message, sizeof(message));
    if (!replay->context) {
        fprintf(stderr, "replay: %s\n", message);
        free(replay);
        return NULL;
    }
    lane_of(replay, 0); /* PyTorch's default stream is there from the start */
    return replay;
}

static void synchronize_device(struct replay *replay)
{
    csan_snapshot *everything = csan_snapshot_take_all(replay->context);
    csan_snapshot_join(replay->context, CSAN_HOST, everything);
    csan_snapshot_release(replay->context, everything);
}

static void forget_program(struct replay *replay)
{
    struct object *object, *next;
    HASH_ITER(hh, replay->events, object, next)
    {
        csan_event_destroy(replay->context, object->event);
        discard(&replay->events, object);
    }
    HASH_ITER(hh, replay->streams, object, next)
    {
        csan_lane_destroy(replay->context, object->lane);
        discard(&replay->streams, object);
    }
    HASH_ITER(hh, replay->tensors, object, next)
    {
        csan_memory_pool_free(replay->context, object->id, CSAN_HOST, 0);
        discard(&replay->tensors, object);
    }
}

void replay_restart(struct replay *replay)
{
    synchronize_device(replay);
    forget_program(replay);
    replay->launches_before = replay->launches;
    lane_of(replay, 0);
}

void replay_destroy(struct replay *replay)
{
    if (!replay)
        return;
    forget_program(replay);
    csan_context_destroy(replay->context);
    free(replay->reported);
    free(replay);
}

static csan_site make_site(struct replay *replay, size_t count)
{
    char(*texts)[12] = must(malloc((count + 1) * sizeof(*texts)));
    const char **names = must(malloc((count + 1) * sizeof(*names)));
    for (size_t i = 0; i < count; i++) {
        snprintf(texts[i], sizeof(texts[i]), "%zu", i);
        names[i] = texts[i];
    }
    csan_site site = csan_site_intern(replay->context, "kernel", names, count, NULL, 0);
    free(texts);
    free(names);
    return site;
}

static csan_site site_of(struct replay *replay, size_t count)
{
    if (count >= SITES)
        return make_site(replay, count);
    if (!replay->sites[count])
        replay->sites[count] = make_site(replay, count);
    return replay->sites[count];
}

static void launch(struct replay *replay, const struct call *call)
{
    csan_lane lane = lane_of(replay, call->stream);
    struct csan_access *accesses = must(calloc(call->touch_count + 1u, sizeof(*accesses)));
    for (uint32_t i = 0; i < call->touch_count; i++) {
        ensure_tensor(replay, call->touches[i].data_ptr);
        accesses[i] = (struct csan_access){.base = call->touches[i].data_ptr,
                                           .bytes = 1,
                                           .kind = (uint8_t)call->touches[i].kind,
                                           .argument = (uint16_t)i};
    }
    replay->launches++;
    csan_op(replay->context, lane, site_of(replay, call->touch_count), CSAN_LEVEL_ANNOTATED,
            accesses, call->touch_count);
    free(accesses);
}

static void make(struct replay *replay, const struct call *call)
{
    csan_context *context = replay->context;
    switch ((enum call_kind)call->kind) {
    case CALL_KERNEL_LAUNCH:
        launch(replay, call);
        return;
    case CALL_EVENT_CREATION:
        delete_event(replay, call->event);
        event_of(replay, call->event);
        return;
    case CALL_EVENT_DELETION:
        delete_event(replay, call->event);
        return;
    case CALL_EVENT_RECORD:
        csan_event_record(context, event_of(replay, call->event), lane_of(replay, call->stream));
        return;
    case CALL_EVENT_WAIT:
        csan_event_wait(context, event_of(replay, call->event), lane_of(replay, call->stream));
        return;
    case CALL_MEMORY_ALLOCATION:
        delete_tensor(replay, call->data_ptr);
        ensure_tensor(replay, call->data_ptr);
        return;
    case CALL_MEMORY_DEALLOCATION:
        delete_tensor(replay, call->data_ptr);
        return;
    case CALL_STREAM_CREATION:
        lane_of(replay, call->stream);
        return;
    case CALL_DEVICE_SYNCHRONIZATION:
        synchronize_device(replay);
        return;
    case CALL_STREAM_SYNCHRONIZATION:
        csan_lane_waits(context, CSAN_HOST, lane_of(replay, call->stream));
        return;
    case CALL_EVENT_SYNCHRONIZATION:
        csan_event_wait(context, event_of(replay, call->event), CSAN_HOST);
        return;
    case CALL_KINDS:
        abort();
    }
}

size_t replay_call(struct replay *replay, const struct call *call, const struct reported **reported)
{
    replay->reported_count = 0;
    make(replay, call);
    *reported = replay->reported;
    return replay->reported_count;
}
