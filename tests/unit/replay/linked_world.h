/* Random programs of several processes: what they have, their recordings, and the sets of ops that
 * have finished before what comes next. See test_linked_replay.c. */
#ifndef TESTS_LINKED_WORLD_H
#define TESTS_LINKED_WORLD_H

#include "csan/detector/context.h"
#include "csan/recording/recording_write.h"

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
    LOCKS = 2,
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
    struct ops sent[MESSAGES], posted[MESSAGES]; /* what was known there */
    bool is_posted[MESSAGES];                    /* and the recording says so */
    int sent_count, posted_count;
};

struct receive {
    struct channel *channel;
    uint64_t key, serial;
    int number; /* in its channel, from 0 */
    bool open;
};

/* A send that is over when its receive is posted. */
struct synchronous {
    const struct channel *channel;
    uint64_t serial;
    int number; /* in its channel, from 0 */
    bool open;
};

/* A lock, exclusive or shared. Of those that share it others are behind the last exclusive one. */
struct turns {
    struct ops exclusive, shared; /* what was known where it was given back */
    int holders;
    bool is_shared;
    int waiting; /* a process that has begun to give back what it does not have yet; -1: none */
    bool waits_shared;
    struct ops waits_known;
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
    struct synchronous synchronous[MESSAGES];
    int synchronous_count;
    bool holds[LOCKS];
    bool blocked;     /* it waits for a lock */
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
    struct turns locks[LOCKS];
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

#endif
