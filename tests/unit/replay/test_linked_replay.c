/* Recordings of several processes, made of random programs and replayed together: the races between
 * processes must be those that a search over all pairs of ops finds.
 *
 * The search knows for each lane the set of ops that have finished before what comes next. Each
 * pair of ops has four bytes of shared memory of its own, so no race hides another. Then one
 * process's recording ends early, and each certain race must still be one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "csan/detector/context.h"
#include "csan/recording/recording_write.h"
#include "csan/replay/linked_replay.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    PROCESSES = 4,
    LANES = 3, /* the host, and streams */
    OPS = 128,
    STEPS = 160,
    EVENTS = 2,
    MESSAGES = 64,
    TAGS = 2,
    CALLS = 4,
    STREAM_CALLS = 64,
    CUT_US = 11000, /* more than two clocks may be apart */
    MEMORY_BYTES = OPS * OPS * 4
};

static char scratch[] = "/tmp/csan-linked-XXXXXX";
static uint64_t random_state = 1;

static uint32_t random_below(uint32_t bound)
{
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((random_state >> 33) % bound);
}

/* ---- Sets of ops ---- */

/* Behind the ops the calls of streams: what such a call gives may come later than who waits for it.
 */
enum { WORDS = OPS / 64 + 1, CALL_WORD = OPS / 64 };
struct ops {
    uint64_t words[WORDS];
};

static void ops_join(struct ops *to, const struct ops *from)
{
    for (int i = 0; i < WORDS; i++)
        to->words[i] |= from->words[i];
}
static void ops_add(struct ops *ops, int op)
{
    ops->words[op / 64] |= UINT64_C(1) << op % 64;
}
static bool ops_has(const struct ops *ops, int op)
{
    return ops->words[op / 64] >> op % 64 & 1;
}

/* ---- A random program ---- */

struct message {
    struct ops known;
    uint64_t key;
    bool there;
};

/* From one process to another, with a tag; messages come in the order of sends. */
struct channel {
    struct ops sent[MESSAGES];
    int sent_count, posted_count;
};

struct receive {
    struct channel *channel;
    uint64_t key, serial;
    int number; /* in its channel, from 0 */
    bool open;
};

struct collective {
    uint64_t key;
    bool gives[PROCESSES], takes[PROCESSES]; /* still to do */
    int givers, takers, entered;
    struct ops known;
    bool open;
};

/* A collective call that streams wait in, or a message between two (NCCL's). All processes take
 * part in these in one order. */
struct stream_call {
    uint64_t key;
    bool gives[PROCESSES], takes[PROCESSES], message;
    uint64_t givers, takers, given;
    struct ops known;
};

struct record {
    struct ops known;
    bool there;
};

struct process {
    csan_context *context;
    struct recording *recording;
    csan_lane lanes[LANES];
    struct ops known[LANES];
    csan_event *event;
    struct record recorded; /* the event of its own */
    uint64_t base, ticket;
    int pending; /* the op whose set comes later; -1: none */
    struct receive receives[MESSAGES];
    int receive_count;
    int stream_calls; /* so far */
    uint64_t ops;     /* recorded */
    bool cut;
};

static struct world {
    int count; /* of processes */
    struct process processes[PROCESSES];
    struct ops before[OPS];
    int owner[OPS], op_count;
    uint64_t numbers[OPS]; /* in the op's own recording */
    bool writes[OPS];
    struct message tokens[MESSAGES];
    int token_count;
    struct message values[MESSAGES]; /* of a store: each is set once, and read by any */
    int value_count;
    struct channel channels[PROCESSES][PROCESSES][TAGS];
    struct collective calls[CALLS];
    struct stream_call stream_calls[STREAM_CALLS];
    int stream_call_count;
    struct record shared[EVENTS];
    uint64_t keys, time;
} world;

static void nothing(const char *line)
{
    (void)line;
}
static void no_race(void *user, const struct csan_race *race)
{
    (void)user, (void)race;
    fail();
}

static void link_of(struct process *process, csan_lane lane, const struct csan_link *link)
{
    struct csan_link timed = *link;
    timed.time = ++world.time;
    if (!process->cut)
        context_link(process->context, lane, &timed);
}
static void link_host(struct process *process, int kind, uint64_t key, uint64_t number,
                      uint64_t peers)
{
    link_of(process, CSAN_HOST,
            &(struct csan_link){.kind = kind, .key = key, .number = number, .peers = peers});
}

static void path_of(int process, char path[64])
{
    snprintf(path, 64, "%s/app.%d.csan", scratch, process);
}

static void process_start(int number)
{
    char path[64], message[256];
    struct process *process = &world.processes[number];
    path_of(number, path);
    unlink(path);
    process->base = UINT64_C(0x10000000) * (uint64_t)(number + 1);
    process->pending = -1;
    process->context = csan_context_create("", no_race, NULL, message, sizeof message);
    process->recording = recording_create(path, 0, "links 1\n", nothing);
    assert_non_null(process->context);
    assert_non_null(process->recording);
    context_record(process->context, process->recording, 0);
    process->lanes[0] = CSAN_HOST;
    for (int i = 1; i < LANES; i++)
        process->lanes[i] = csan_lane_create(process->context, (uint64_t)i, "stream");
    process->event = csan_event_create(process->context);
    if (number == 0)
        csan_memory_create(process->context, CSAN_MEMORY_DEVICE, process->base, MEMORY_BYTES,
                           CSAN_HOST, 0);
    process->ops = number == 0; /* memory that is made is one */
    link_of(process, CSAN_HOST,
            &(struct csan_link){.kind = number ? CSAN_LINK_OPEN : CSAN_LINK_SHARE,
                                .key = 42,
                                .address = process->base,
                                .bytes = MEMORY_BYTES});
}

/* Without its end. */
static void file_cut(int number)
{
    struct stat file;
    char path[64];
    path_of(number, path);
    assert_int_equal(stat(path, &file), 0);
    assert_int_equal(truncate(path, file.st_size - 1), 0);
}

static void process_end(struct process *process)
{
    csan_event_destroy(process->context, process->event);
    recording_finish(process->recording, "");
    if (process->cut)
        file_cut((int)(process - world.processes));
    csan_context_destroy(process->context);
    recording_destroy(process->recording);
}

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
    if (channel->sent_count == MESSAGES)
        return;
    channel->sent[channel->sent_count++] = process->known[0];
    link_host(process, CSAN_LINK_NEXT, channel_key(from, to, tag), 0, 0);
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
}

static void receive_end(struct process *process, struct receive *receive)
{
    uint64_t open = 0;
    for (const struct receive *at = process->receives; at < receive; at++)
        open += at->open && at->channel == receive->channel;
    receive->open = false;
    ops_join(&process->known[0], &receive->channel->sent[receive->number]);
    link_host(process, CSAN_LINK_TAKE, receive->key, receive->serial, open);
}

static bool has_come(const struct receive *receive)
{
    return receive->open && receive->number < receive->channel->sent_count;
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
    if (random_below(3) == 0)
        resolve(process);
    switch (random_below(16)) {
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

/* ---- The replay ---- */

static struct found {
    struct linked_replay *replay;
    bool certain[OPS][OPS], possible[OPS][OPS];
    size_t count;
} found;

static void race_found(void *user, const struct csan_race *race)
{
    size_t one_process, other_process;
    (void)user;
    if (!found.replay || !linked_replay_process(found.replay, race->previous.site, &one_process) ||
        !linked_replay_process(found.replay, race->current.site, &other_process) ||
        one_process == other_process)
        return;
    const int one = atoi(race->previous.name), other = atoi(race->current.name);
    assert_int_equal(world.owner[one], one_process);
    assert_int_equal(world.owner[other], other_process);
    assert_int_equal(linked_replay_op(found.replay, race->previous.sequence), world.numbers[one]);
    assert_int_equal(linked_replay_op(found.replay, race->current.sequence), world.numbers[other]);
    const bool possible = race->possible || linked_replay_doubts(found.replay);
    bool(*where)[OPS] = possible ? found.possible : found.certain;
    where[one][other] = where[other][one] = true;
    found.count++;
}

static bool passes_by(void *user, const struct csan_race *race)
{
    size_t one, other;
    (void)user;
    return !found.replay || !linked_replay_process(found.replay, race->previous.site, &one) ||
           !linked_replay_process(found.replay, race->current.site, &other) || one == other;
}

static void said(void *user, const char *line)
{
    (void)line;
    (*(size_t *)user)++;
}

/* Each recording's entries, all of them and no more. */
static void interleaving_check(const struct interleaving *interleaving,
                               const struct linked_source *sources)
{
    uint64_t entries[PROCESSES] = {0};
    char message[512];
    struct recorded recorded;
    for (size_t i = 0; i < interleaving->turn_count; i++)
        entries[interleaving->turns[i].process] += interleaving->turns[i].entries;
    for (size_t i = 0; i < interleaving->count; i++) {
        struct recording_reader *reader =
            recording_reader_open(sources[i].path, message, sizeof message);
        while (recording_reader_next(reader, &recorded) == RECORDED_ENTRY)
            assert_true(entries[i]-- > 0);
        assert_int_equal(entries[i], 0);
        recording_reader_close(reader);
    }
}

/* How much the replay said. */
static size_t replay_all(int count)
{
    char paths[PROCESSES][64], message[512];
    static const char *const names[] = {"rank 0", "rank 1", "rank 2", "rank 3"};
    struct linked_source sources[PROCESSES];
    size_t lines = 0;
    memset(&found, 0, sizeof found);
    for (int i = 0; i < count; i++) {
        path_of(i, paths[i]);
        sources[i] = (struct linked_source){paths[i], names[i]};
    }
    csan_context *context =
        csan_context_create("dedup=0", race_found, NULL, message, sizeof message);
    assert_non_null(context);
    context_set_filter(context, passes_by, NULL);
    found.replay = linked_replay_create(context, sources, (size_t)count, message, sizeof message);
    if (!found.replay)
        fail_msg("%s", message);
    assert_true(linked_replay_interleaves(found.replay));
    linked_replay_run(found.replay, said, &lines);
    struct linked_replay *replay = found.replay;
    struct interleaving *interleaving = linked_replay_interleaving(replay);
    interleaving_check(interleaving, sources);
    interleaving_destroy(interleaving);
    found.replay = NULL;
    linked_replay_destroy(replay);
    csan_context_destroy(context);
    return lines;
}

static void same_races(void **state)
{
    (void)state;
    size_t races = 0, ordered = 0, programs = 0;
    for (uint64_t seed = 1; seed <= 400; seed++) {
        const int count = 2 + (int)(seed % (PROCESSES - 1));
        program_record(seed, count, -1);
        if (hangs())
            continue;
        const size_t lines = replay_all(count);
        programs++;
        if (lines)
            fail_msg("seed %d: something is missing, says the replay", (int)seed);
        for (int i = 0; i < world.op_count; i++)
            for (int j = i + 1; j < world.op_count; j++) {
                if (found.certain[i][j] != is_race(i, j) || found.possible[i][j])
                    fail_msg("seed %d: ops %d of process %d and %d of process %d: %s", (int)seed, i,
                             world.owner[i], j, world.owner[j],
                             is_race(i, j) ? "the race is not found" : "there is no race");
                races += is_race(i, j);
                ordered += world.owner[i] != world.owner[j] && !is_race(i, j);
            }
    }
    assert_true(races > 1000);
    assert_true(ordered > 1000);
    assert_true(programs > 300);
}

/* What is cut off may order what seems to race. */
static void certain_races_of_cut_recordings(void **state)
{
    (void)state;
    size_t certain = 0, possible = 0;
    for (uint64_t seed = 1; seed <= 150; seed++) {
        const int count = 2 + (int)(seed % (PROCESSES - 1));
        program_record(1000 + seed, count, (int)(seed % (uint64_t)count));
        if (hangs())
            continue;
        replay_all(count);
        for (int i = 0; i < world.op_count; i++)
            for (int j = i + 1; j < world.op_count; j++) {
                if (found.certain[i][j] && !is_race(i, j))
                    fail_msg("seed %d: ops %d of %d and %d of %d are no race, but a certain one",
                             (int)seed, i, world.owner[i], j, world.owner[j]);
                certain += found.certain[i][j];
                possible += found.possible[i][j];
            }
    }
    assert_true(certain > 100);
    assert_true(possible > 100);
}

static int scratch_make(void **state)
{
    (void)state;
    return mkdtemp(scratch) ? 0 : -1;
}
static int scratch_remove(void **state)
{
    char path[64];
    (void)state;
    for (int i = 0; i < PROCESSES; i++) {
        path_of(i, path);
        unlink(path);
    }
    return rmdir(scratch);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same_races),
        cmocka_unit_test(certain_races_of_cut_recordings),
    };
    return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}
