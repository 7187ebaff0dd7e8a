/* What joins a linked process to others: messages, collective calls, shared events and handles. See
 * linked_state.h. */
#include "csan/replay/linked_state.h"

bool linked_process_ready(const struct linked_process *process, const struct recorded *recorded,
                          struct linked_want *want)
{
    if (recorded->kind != RECORDED_LINK)
        return true;
    *want = (struct linked_want){.key = recorded->value[FIELD_HANDLE],
                                 .number = recorded->value[FIELD_FIRST]};
    const struct link_source *source;
    const struct mapped_lane *lane = linked_lane_of(process, recorded->value[FIELD_LANE]);
    if (lane && !lane->host && recorded->value[FIELD_FLAGS] <= CSAN_LINK_LEAVE)
        return true; /* a stream goes on */
    switch (recorded->value[FIELD_FLAGS]) {
    case CSAN_LINK_LOCK:
    case CSAN_LINK_UNLOCK:
        return linked_lock_ready(process, recorded->value[FIELD_FLAGS] == CSAN_LINK_UNLOCK, want);
    case CSAN_LINK_TAKEN:
        source = &process->links->wanted[process->wanted_count];
        want->what = WANT_RECEIVE;
        return source->process != LINK_NONE &&
               process->linked->processes[source->process]->source_count > source->number;
    case CSAN_LINK_TAKE:
    case CSAN_LINK_LOOK:
        want->number = process->links->taken[process->taken_count];
        if (!want->key)
            return true;
        /* fall through */
    case CSAN_LINK_RECEIVE:
        want->what = WANT_MESSAGE;
        return message_table_count(process->linked->messages, want->key, want->number) != 0;
    case CSAN_LINK_LEARN:
        want->what = WANT_VALUE;
        return message_table_count(process->linked->messages, want->key, 0) != 0;
    case CSAN_LINK_LEAVE:
        want->what = WANT_COLLECTIVE;
        return message_table_count(process->linked->messages, want->key, 0) >= want->number;
    case CSAN_LINK_OPEN:
    case CSAN_LINK_WAIT:
        source = &process->links->wanted[process->wanted_count];
        want->what = recorded->value[FIELD_FLAGS] == CSAN_LINK_OPEN ? WANT_HANDLE : WANT_EVENT;
        want->process = source->process;
        return source->process == LINK_NONE ||
               process->linked->processes[source->process]->source_count > source->number;
    default:
        return true;
    }
}

/* A record of a shared event, a handle that was made, or a receive: kept for as many as will ask
 * for it. */
static const char *take_source(struct linked_process *process, csan_lane lane)
{
    const size_t number = process->source_count++;
    if (!process->uses_left[number])
        return NULL;
    if (!replay_grow((void **)&process->sources, &process->source_capacity, sizeof(csan_snapshot *),
                     number))
        return linked_no_memory;
    process->sources[number] = csan_snapshot_take(process->linked->context, lane);
    return NULL;
}

static void join_source(struct linked_process *process, csan_lane lane)
{
    const struct link_source source = process->links->wanted[process->wanted_count];
    if (source.process == LINK_NONE)
        return;
    struct linked_process *of = process->linked->processes[source.process];
    if (source.number >= of->source_count || !of->sources || !of->sources[source.number])
        return; /* it was waited for in vain */
    csan_snapshot_join(process->linked->context, lane, of->sources[source.number]);
    if (--of->uses_left[source.number] == 0) {
        csan_snapshot_release(process->linked->context, of->sources[source.number]);
        of->sources[source.number] = NULL;
    }
}

/* Another process's memory is there from here on. */
static const char *take_open(struct linked_process *process, const struct recorded *recorded)
{
    const uint64_t unified = process->links->opened[process->wanted_count];
    csan_context *context = process->linked->context;
    const uint64_t bytes = recorded->value[FIELD_BYTES];
    if (!unified)
        return NULL;
    if (!csan_memory_find(context, unified, NULL, NULL, NULL))
        csan_memory_create(context, CSAN_MEMORY_DEVICE, unified, bytes, CSAN_HOST, 0);
    return linked_share(process, recorded->value[FIELD_ADDRESS], bytes, unified);
}

/* Memory that was there before the recording began. */
static const char *take_share(struct linked_process *process, const struct recorded *recorded)
{
    const uint64_t base = recorded->value[FIELD_ADDRESS];
    const struct link_memory *memory = &process->links->births[0];
    const uint64_t bytes = recorded->value[FIELD_BYTES];
    uint64_t known;
    if (!memory->unified ||
        shared_memory_find(&process->shared, base + recorded->value[FIELD_FIRST], &known))
        return NULL;
    csan_memory_create(process->linked->context, CSAN_MEMORY_DEVICE, memory->unified, bytes,
                       CSAN_HOST, 0);
    return linked_share(process, base, bytes, memory->unified);
}

/* A part of memory that has a descriptor. */
static const char *take_map(struct linked_process *process, const struct recorded *recorded)
{
    const struct link_memory *memory = &process->links->mapped[process->mapped_count++];
    csan_context *context = process->linked->context;
    if (!csan_memory_find(context, memory->unified, NULL, NULL, NULL))
        csan_memory_create(context, CSAN_MEMORY_DEVICE, memory->unified, memory->bytes, CSAN_HOST,
                           0);
    return linked_share(process, recorded->value[FIELD_ADDRESS], recorded->value[FIELD_BYTES],
                        memory->unified + recorded->value[FIELD_FIRST]);
}

/* A message that the order of sends and receives gives a number. What was known before it came, its
 * sender may wait for. */
static const char *take_message(struct linked_process *process, const struct recorded *recorded,
                                csan_lane lane)
{
    const uint64_t key = recorded->value[FIELD_HANDLE];
    const uint32_t number = process->links->taken[process->taken_count++];
    const bool looks = recorded->value[FIELD_FLAGS] == CSAN_LINK_LOOK;
    const char *wrong = looks ? NULL : take_source(process, lane);
    if (key && looks)
        message_table_look(process->linked->messages, key, number, lane);
    else if (key)
        message_table_receive(process->linked->messages, key, number, 1, lane);
    return wrong;
}

const char *linked_take_link(struct linked_process *process, const struct recorded *recorded)
{
    struct message_table *messages = process->linked->messages;
    csan_context *context = process->linked->context;
    const struct mapped_lane *mapped = linked_lane_of(process, recorded->value[FIELD_LANE]);
    const uint64_t key = recorded->value[FIELD_HANDLE], number = recorded->value[FIELD_FIRST];
    const char *wrong = NULL;
    if (!mapped || mapped->passed_by)
        return linked_no_such_lane;
    const csan_lane lane = mapped->lane - 1;
    linked_join_host(process, mapped);
    switch (recorded->value[FIELD_FLAGS]) {
    case CSAN_LINK_SEND:
        message_table_send(messages, key, number ? number : 1, 1,
                           csan_snapshot_take(context, lane));
        return NULL;
    case CSAN_LINK_NEXT:
        message_table_send_next(messages, key, csan_snapshot_take(context, lane));
        return NULL;
    case CSAN_LINK_TAKE:
    case CSAN_LINK_LOOK:
        return take_message(process, recorded, lane);
    case CSAN_LINK_MAP:
        return take_map(process, recorded);
    case CSAN_LINK_UNWANTED:
        message_table_unwant(messages, key, number);
        return NULL;
    case CSAN_LINK_LOCK:
        return linked_take_lock(process, false, lane);
    case CSAN_LINK_UNLOCK:
        return linked_take_lock(process, true, lane);
    case CSAN_LINK_LACK: /* the first reading has it */
        return NULL;
    case CSAN_LINK_ENTER:
        message_table_send(messages, key, 0, recorded->value[FIELD_LAST],
                           csan_snapshot_take(context, lane));
        return NULL;
    case CSAN_LINK_PUBLISH:
        message_table_publish(messages, key, recorded->value[FIELD_NANOSECONDS],
                              csan_snapshot_take(context, lane));
        return NULL;
    case CSAN_LINK_LEARN:
        message_table_learn(messages, key, recorded->value[FIELD_NANOSECONDS],
                            recorded->value[FIELD_LAST] == 1, lane);
        return NULL;
    case CSAN_LINK_RECEIVE:
        if (mapped->host)
            message_table_receive(messages, key, number, 1, lane);
        else
            message_table_await(messages, key, number, 1, 1, lane);
        return NULL;
    case CSAN_LINK_LEAVE:
        if (mapped->host)
            message_table_receive(messages, key, 0, recorded->value[FIELD_LAST], lane);
        else
            message_table_await(messages, key, 0, number, recorded->value[FIELD_LAST], lane);
        return NULL;
    case CSAN_LINK_SHARE:
        wrong = take_share(process, recorded);
        return wrong ? wrong : take_source(process, lane);
    case CSAN_LINK_RECORD:
    case CSAN_LINK_POST:
        return take_source(process, lane);
    case CSAN_LINK_OPEN:
        wrong = take_open(process, recorded);
        /* fall through */
    case CSAN_LINK_WAIT:
    case CSAN_LINK_TAKEN:
        join_source(process, lane);
        process->wanted_count++;
        return wrong;
    case CSAN_LINK_CLOSE:
        shared_memory_remove(&process->shared, recorded->value[FIELD_ADDRESS],
                             recorded->value[FIELD_BYTES]);
        return NULL;
    default:
        return "a link of a kind that cannot be";
    }
}
