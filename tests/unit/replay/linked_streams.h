/* Of a random program: ops, and what orders them within a process or by single words between two:
 * waits, events, tokens and values. Each step is recorded, and added to what the search knows. */
#ifndef TESTS_LINKED_STREAMS_H
#define TESTS_LINKED_STREAMS_H

#include "linked_world.h"

/* The op's bytes that it has in common with each other: two accesses. */
static size_t accesses_of(const struct process *process, int op, struct csan_access accesses[2],
                          struct csan_dim *dim)
{
    const uint8_t kind = world.writes[op] ? CSAN_WRITE : CSAN_READ;
    const uint64_t number = (uint64_t)op;
    accesses[0] = (struct csan_access){.base = process->base + (number * OPS + number) * 4,
                                       .bytes = (OPS - number) * 4,
                                       .kind = kind,
                                       .argument = CSAN_NO_ARGUMENT};
    *dim = (struct csan_dim){.stride = OPS * 4, .count = number};
    accesses[1] = (struct csan_access){.base = process->base + number * 4,
                                       .bytes = 4,
                                       .dims = dim,
                                       .dim_count = 1,
                                       .kind = kind,
                                       .argument = CSAN_NO_ARGUMENT};
    return op ? 2 : 1;
}

static void resolve(struct process *process)
{
    struct csan_access accesses[2];
    struct csan_dim dim;
    if (process->pending >= 0 && !process->cut)
        csan_op_resolve(process->context, process->ticket, CSAN_LEVEL_RANGES, accesses,
                        accesses_of(process, process->pending, accesses, &dim));
    process->pending = -1;
}

static void step_op(struct process *process, int lane)
{
    char name[16];
    struct csan_access accesses[2];
    struct csan_dim dim;
    if (world.op_count == OPS)
        return;
    const int op = world.op_count++;
    world.owner[op] = (int)(process - world.processes);
    world.writes[op] = random_below(2);
    ops_join(&process->known[lane], &process->known[0]);
    world.before[op] = process->known[lane];
    ops_add(&process->known[lane], op);
    if (process->cut)
        return;
    world.numbers[op] = ++process->ops;
    snprintf(name, sizeof name, "%d", op);
    const csan_site site = csan_site_intern(process->context, name, NULL, 0, NULL, 0);
    const size_t count = accesses_of(process, op, accesses, &dim);
    if (lane && process->pending < 0 && random_below(4) == 0) {
        process->ticket = csan_op_pending(process->context, process->lanes[lane], site,
                                          CSAN_LEVEL_TRACED, NULL, 0);
        process->pending = op;
    } else {
        csan_op(process->context, process->lanes[lane], site, CSAN_LEVEL_RANGES, accesses, count);
    }
}

/* What the calls in the set give, as far as they have. True: it was more. */
static bool expand(struct ops *ops)
{
    const struct ops before = *ops;
    for (int i = 0; i < world.stream_call_count; i++)
        if (ops->words[CALL_WORD] >> i & 1)
            ops_join(ops, &world.stream_calls[i].known);
    return memcmp(&before, ops, sizeof before) != 0;
}

/* The host waits for a stream as long as that waits in a call. */
static bool is_over(const struct ops *ops)
{
    struct ops all = *ops;
    while (expand(&all))
        ;
    for (int i = 0; i < world.stream_call_count; i++)
        if ((all.words[CALL_WORD] >> i & 1) &&
            world.stream_calls[i].given < world.stream_calls[i].givers)
            return false;
    return true;
}

static void step_wait(struct process *process, int lane, int other)
{
    if (lane == 0 && !is_over(&process->known[other]))
        return;
    ops_join(&process->known[lane], &process->known[other]);
    if (!process->cut)
        csan_lane_waits(process->context, process->lanes[lane], process->lanes[other]);
}

static void step_wait_for_all(struct process *process)
{
    for (int i = 1; i < LANES; i++)
        if (!is_over(&process->known[i]))
            return;
    for (int i = 1; i < LANES; i++)
        ops_join(&process->known[0], &process->known[i]);
    if (process->cut)
        return;
    csan_snapshot *snapshot = csan_snapshot_take_all(process->context);
    csan_snapshot_join(process->context, CSAN_HOST, snapshot);
    csan_snapshot_release(process->context, snapshot);
}

static void step_event(struct process *process, int lane)
{
    ops_join(&process->known[lane], &process->known[0]);
    if (random_below(2)) {
        process->recorded = (struct record){process->known[lane], true};
        if (!process->cut)
            csan_event_record(process->context, process->event, process->lanes[lane]);
    } else {
        if (process->recorded.there)
            ops_join(&process->known[lane], &process->recorded.known);
        if (!process->cut)
            csan_event_wait(process->context, process->event, process->lanes[lane]);
    }
}

static void step_shared_event(struct process *process, int lane)
{
    const uint32_t number = random_below(EVENTS);
    struct record *shared = &world.shared[number];
    const bool waits = random_below(2);
    ops_join(&process->known[lane], &process->known[0]);
    if (!waits)
        *shared = (struct record){process->known[lane], true};
    else if (shared->there)
        ops_join(&process->known[lane], &shared->known);
    link_of(process, process->lanes[lane],
            &(struct csan_link){.kind = waits ? CSAN_LINK_WAIT : CSAN_LINK_RECORD,
                                .key = 100 + number});
}

static void step_token(struct process *process)
{
    if (random_below(2) && world.token_count < MESSAGES) {
        struct message *token = &world.tokens[world.token_count++];
        *token = (struct message){process->known[0], ++world.keys << 20, true};
        link_host(process, CSAN_LINK_SEND, token->key, 1, 0);
        return;
    }
    for (int i = 0; i < world.token_count; i++) {
        struct message *token = &world.tokens[i];
        if (!token->there || random_below(2))
            continue;
        token->there = false;
        ops_join(&process->known[0], &token->known);
        link_host(process, CSAN_LINK_RECEIVE, token->key, 1, 0);
        return;
    }
}

static void step_value(struct process *process)
{
    if (random_below(4) == 0 && world.value_count < MESSAGES) {
        struct message *value = &world.values[world.value_count++];
        *value = (struct message){process->known[0], ++world.keys << 20, true};
        link_host(process, CSAN_LINK_PUBLISH, value->key, 0, 0);
    } else if (world.value_count) {
        const struct message *value = &world.values[random_below((uint32_t)world.value_count)];
        ops_join(&process->known[0], &value->known);
        link_host(process, CSAN_LINK_LEARN, value->key, 0, 0);
    }
}

#endif
