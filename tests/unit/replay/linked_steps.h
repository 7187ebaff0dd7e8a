/* What a random program does: each step is recorded, and added to what the search knows. See
 * test_linked_replay.c. */
#ifndef TESTS_LINKED_STEPS_H
#define TESTS_LINKED_STEPS_H

#include "linked_world.h"

/* ---- Steps: what the recording says, and what the search knows ---- */

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

static uint64_t channel_key(int from, int to, int tag)
{
    return 1000 + (uint64_t)((from * PROCESSES + to) * TAGS + tag);
}

static void step_send(struct process *process, int from)
{
    const int to = (int)random_below((uint32_t)world.count), tag = (int)random_below(TAGS);
    struct channel *channel = &world.channels[from][to][tag];
    const bool waits = random_below(3) == 0 && process->synchronous_count < MESSAGES;
    if (channel->sent_count == MESSAGES)
        return;
    if (waits) {
        struct synchronous *send = &process->synchronous[process->synchronous_count++];
        *send = (struct synchronous){channel, (uint64_t)process->synchronous_count,
                                     channel->sent_count, true};
    }
    channel->sent[channel->sent_count++] = process->known[0];
    link_host(process, CSAN_LINK_NEXT, channel_key(from, to, tag),
              waits ? (uint64_t)process->synchronous_count : 0, 0);
}

/* Nobody receives it. */
static void step_unwanted(struct process *process)
{
    const bool before = random_below(2);
    const uint64_t key = ++world.keys << 20;
    if (before)
        link_host(process, CSAN_LINK_UNWANTED, key, 1, 0);
    link_host(process, CSAN_LINK_SEND, key, 1, 0);
    if (!before)
        link_host(process, CSAN_LINK_UNWANTED, key, 1, 0);
}

/* Those that wait end in any order. */
static void step_taken(struct process *process)
{
    for (int i = 0; i < process->synchronous_count; i++) {
        struct synchronous *send = &process->synchronous[i];
        if (!send->open || !send->channel->is_posted[send->number] || random_below(3) == 0)
            continue;
        send->open = false;
        ops_join(&process->known[0], &send->channel->posted[send->number]);
        link_host(process, CSAN_LINK_TAKEN, 0, send->serial, 0);
        return;
    }
}

static void receive_end(struct process *process, struct receive *receive)
{
    uint64_t open = 0;
    for (const struct receive *at = process->receives; at < receive; at++)
        open += at->open && at->channel == receive->channel;
    receive->open = false;
    receive->channel->is_posted[receive->number] = true;
    ops_join(&process->known[0], &receive->channel->sent[receive->number]);
    link_host(process, CSAN_LINK_TAKE, receive->key, receive->serial, open);
}

static bool has_come(const struct receive *receive)
{
    return receive->open && receive->number < receive->channel->sent_count;
}

static void step_post(struct process *process, int to)
{
    const int from = (int)random_below((uint32_t)world.count), tag = (int)random_below(TAGS);
    struct channel *channel = &world.channels[from][to][tag];
    if (process->receive_count == MESSAGES)
        return;
    struct receive *receive = &process->receives[process->receive_count++];
    *receive = (struct receive){channel, channel_key(from, to, tag),
                                (uint64_t)process->receive_count, channel->posted_count++, true};
    channel->posted[receive->number] = process->known[0];
    if (random_below(2) && has_come(receive)) { /* over where it is posted */
        receive_end(process, receive);
    } else {
        channel->is_posted[receive->number] = true;
        link_host(process, CSAN_LINK_POST, 0, receive->serial, 0);
    }
}

/* Receives end in any order. */
static void step_receive(struct process *process)
{
    for (int i = 0; i < process->receive_count; i++)
        if (has_come(&process->receives[i]) && random_below(3)) {
            receive_end(process, &process->receives[i]);
            return;
        }
}

static void step_look(struct process *process, int to)
{
    const int from = (int)random_below((uint32_t)world.count), tag = (int)random_below(TAGS);
    const struct channel *channel = &world.channels[from][to][tag];
    if (channel->posted_count >= channel->sent_count)
        return;
    ops_join(&process->known[0], &channel->sent[channel->posted_count]);
    link_host(process, CSAN_LINK_LOOK, channel_key(from, to, tag),
              (uint64_t)process->receive_count + 1, 0);
}

/* ---- Locks ---- */

static void lock_link(struct process *process, int kind, int number, bool shared)
{
    link_host(process, kind, 500 + (uint64_t)number, 7, shared);
}

static void lock_known(const struct turns *lock, bool shared, struct ops *known)
{
    ops_join(known, &lock->exclusive);
    if (!shared)
        ops_join(known, &lock->shared);
}

/* What was known to the one that gives it back, and to those before. */
static void lock_given_back(struct turns *lock, bool shared, const struct ops *known)
{
    struct ops release = *known;
    lock_known(lock, shared, &release);
    if (shared) {
        ops_join(&lock->shared, &release);
    } else {
        lock->exclusive = release;
        lock->shared = (struct ops){{0}};
    }
}

/* It learns only now that it had the lock. */
static void lock_pass_on(struct turns *lock, int number)
{
    struct process *waiting = &world.processes[lock->waiting];
    lock->waiting = -1;
    waiting->blocked = false;
    lock_known(lock, lock->waits_shared, &waiting->known[0]);
    lock_link(waiting, CSAN_LINK_LOCK, number, lock->waits_shared);
    lock_given_back(lock, lock->waits_shared, &lock->waits_known);
}

static void lock_end(struct process *process, int number)
{
    struct turns *lock = &world.locks[number];
    process->holds[number] = false;
    lock->holders--;
    lock_link(process, CSAN_LINK_UNLOCK, number, lock->is_shared);
    lock_given_back(lock, lock->is_shared, &process->known[0]);
    if (!lock->holders && lock->waiting >= 0)
        lock_pass_on(lock, number);
}

/* The whole section in one call: it has begun to give the lock back before it knows. */
static void lock_lazily(struct process *process, int number, bool shared)
{
    struct turns *lock = &world.locks[number];
    lock_link(process, CSAN_LINK_UNLOCK, number, shared);
    lock->waiting = (int)(process - world.processes);
    lock->waits_shared = shared;
    lock->waits_known = process->known[0];
    if (lock->holders && !(shared && lock->is_shared))
        process->blocked = true;
    else
        lock_pass_on(lock, number);
}

static void step_lock(struct process *process)
{
    const int number = (int)random_below(LOCKS);
    const bool shared = random_below(2);
    struct turns *lock = &world.locks[number];
    if (process->holds[number]) {
        lock_end(process, number);
    } else if (lock->waiting >= 0 || process->holds[!number]) { /* who has one may wait forever */
        return;
    } else if (random_below(2)) {
        lock_lazily(process, number, shared);
    } else if (!lock->holders || (shared && lock->is_shared)) {
        lock->is_shared = shared;
        lock->holders++;
        process->holds[number] = true;
        lock_known(lock, shared, &process->known[0]);
        lock_link(process, CSAN_LINK_LOCK, number, shared);
    }
}

/* All wait for all, all for one, or one for all. */
static void call_open(struct collective *call)
{
    const uint32_t shape = random_below(3), root = random_below((uint32_t)world.count);
    *call = (struct collective){.key = ++world.keys << 20, .open = true};
    for (uint32_t i = 0; i < (uint32_t)world.count; i++) {
        call->gives[i] = shape == 0 || (shape == 1) == (i == root);
        call->takes[i] = shape == 0 || (shape == 2) == (i == root);
        call->givers += call->gives[i];
        call->takers += call->takes[i];
    }
}

static bool call_goes_on(struct collective *call, struct process *process, int number)
{
    if (call->gives[number]) {
        call->gives[number] = false;
        call->entered++;
        ops_join(&call->known, &process->known[0]);
        link_host(process, CSAN_LINK_ENTER, call->key, 0, (uint64_t)call->takers);
        return true;
    }
    if (!call->takes[number] || call->entered < call->givers)
        return false;
    call->takes[number] = false;
    ops_join(&process->known[0], &call->known);
    link_host(process, CSAN_LINK_LEAVE, call->key, (uint64_t)call->givers,
              random_below(2) ? (uint64_t)call->takers : 0);
    for (int i = 0; i < world.count; i++)
        if (call->gives[i] || call->takes[i])
            return true;
    call->open = false;
    return true;
}

static void step_call(struct process *process, int number)
{
    struct collective *call = &world.calls[random_below(CALLS)];
    if (!call->open)
        call_open(call);
    call_goes_on(call, process, number);
}

static void stream_call_make(struct stream_call *call)
{
    const uint32_t shape = random_below(4), one = random_below((uint32_t)world.count);
    const uint32_t other = random_below((uint32_t)world.count);
    call->key = ++world.keys << 20;
    call->message = shape == 3;
    for (uint32_t i = 0; i < (uint32_t)world.count; i++) {
        call->gives[i] = shape == 0 || (shape == 2 ? i != one : i == one);
        call->takes[i] = shape == 0 || (shape == 1 ? i != one : i == (shape == 2 ? one : other));
        call->givers += call->gives[i];
        call->takers += call->takes[i];
    }
}

/* The process goes on, whether the others have come or not. */
static void step_stream_call(struct process *process, int number, int lane)
{
    if (process->stream_calls == STREAM_CALLS)
        return;
    const int index = process->stream_calls++;
    struct stream_call *call = &world.stream_calls[index];
    if (index == world.stream_call_count) {
        stream_call_make(call);
        world.stream_call_count++;
    }
    ops_join(&process->known[lane], &process->known[0]);
    if (call->gives[number]) {
        call->given++;
        ops_join(&call->known, &process->known[lane]);
        link_of(process, process->lanes[lane],
                &(struct csan_link){.kind = call->message ? CSAN_LINK_SEND : CSAN_LINK_ENTER,
                                    .key = call->key,
                                    .number = call->message,
                                    .peers = call->takers});
    }
    if (call->takes[number]) {
        process->known[lane].words[CALL_WORD] |= UINT64_C(1) << index;
        link_of(process, process->lanes[lane],
                &(struct csan_link){.kind = call->message ? CSAN_LINK_RECEIVE : CSAN_LINK_LEAVE,
                                    .key = call->key,
                                    .number = call->message ? 1 : call->givers,
                                    .peers = call->takers});
    }
}

/* Once all have given. */
static void expand_all(void)
{
    for (bool more = true; more;) {
        more = false;
        for (int i = 0; i < world.stream_call_count; i++)
            more |= expand(&world.stream_calls[i].known);
    }
    for (int i = 0; i < world.op_count; i++)
        while (expand(&world.before[i]))
            ;
}

/* Streams that wait for each other in a circle: such a program hangs. */
static bool hangs(void)
{
    bool does = false;
    for (int i = 0; i < world.stream_call_count; i++)
        does |= world.stream_calls[i].known.words[CALL_WORD] >> i & 1;
    return does;
}

static void step(int number)
{
    struct process *process = &world.processes[number];
    const int lane = 1 + (int)random_below(LANES - 1);
    if (process->blocked)
        return;
    if (random_below(3) == 0)
        resolve(process);
    switch (random_below(20)) {
    case 0:
    case 1:
    case 2:
        step_op(process, lane);
        break;
    case 3:
        step_op(process, 0);
        break;
    case 4:
        step_wait(process, 0, lane);
        break;
    case 5:
        step_wait(process, lane, 1 + (int)random_below(LANES - 1));
        break;
    case 6:
        step_event(process, lane);
        break;
    case 7:
        step_shared_event(process, lane);
        break;
    case 8:
        step_token(process);
        break;
    case 9:
        step_send(process, number);
        break;
    case 10:
        step_post(process, number);
        break;
    case 11:
        step_receive(process);
        break;
    case 12:
        step_call(process, number);
        break;
    case 13:
        step_stream_call(process, number, lane);
        break;
    case 14:
        step_value(process);
        break;
    case 15:
        step_taken(process);
        break;
    case 16:
    case 17:
        step_lock(process);
        break;
    case 18:
        if (random_below(4) == 0)
            step_unwanted(process);
        break;
    default:
        if (random_below(3) == 0)
            step_wait_for_all(process);
        else
            step_look(process, number);
        break;
    }
}

/* Receives that nothing was sent to are cancelled. */
static void finish(struct process *process)
{
    resolve(process);
    for (int i = 0; i < process->receive_count; i++) {
        struct receive *receive = &process->receives[i];
        if (has_come(receive))
            receive_end(process, receive);
        else if (receive->open)
            link_host(process, CSAN_LINK_TAKE, 0, receive->serial, 0);
    }
}

/* `cut`: the process whose recording ends early, or -1. */
static void program_record(uint64_t seed, int count, int cut)
{
    random_state = seed;
    memset(&world, 0, sizeof world);
    world.count = count;
    for (int i = 0; i < LOCKS; i++)
        world.locks[i].waiting = -1;
    const int cut_at = cut < 0 ? STEPS : (int)random_below(STEPS);
    for (int i = 0; i < count; i++)
        process_start(i);
    for (int i = 0; i < STEPS; i++) {
        if (i == cut_at)
            world.processes[cut].cut = true;
        if (cut >= 0 && (i == cut_at || i == cut_at / 2))
            usleep(CUT_US);
        step((int)random_below((uint32_t)count));
    }
    for (int i = 0; i < count; i++)
        for (int k = 0; k < LOCKS; k++)
            if (world.processes[i].holds[k])
                lock_end(&world.processes[i], k);
    for (int i = 0; i < count; i++) {
        while (world.processes[i].stream_calls < world.stream_call_count)
            step_stream_call(&world.processes[i], i, 1);
        finish(&world.processes[i]);
    }
    expand_all();
    for (int i = 0; i < count; i++)
        process_end(&world.processes[i]);
}

static bool is_race(int one, int other)
{
    return world.owner[one] != world.owner[other] && (world.writes[one] || world.writes[other]) &&
           !ops_has(&world.before[other], one) && !ops_has(&world.before[one], other);
}

#endif
