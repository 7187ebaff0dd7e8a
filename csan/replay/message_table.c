/* See message_table.h. */
#define HASH_NONFATAL_OOM 1
#include "csan/replay/message_table.h"
#include "csan/replay/channel.h"
#include "csan/base/array.h"

#include <stdlib.h>
#include <string.h>
#include <uthash.h>

/* A lane that waits for messages which are still to come. */
struct awaiting {
    struct awaiting *next;
    csan_snapshot *promise;
    uint64_t need;
};

enum { EQUAL_MAX = 1024 }; /* equal values that are kept */

struct waiting {
    struct waiting_key {
        uint64_t key, number;
    } key;
    csan_snapshot **snapshots;
    uint64_t *times; /* of values: when each was set; else NULL */
    size_t count;
    uint64_t left, leaves;
    struct awaiting *awaiting;
    bool unwanted; /* nobody receives the message that is to come */
    UT_hash_handle hh;
};

struct message_table {
    csan_context *context;
    struct waiting *waiting; /* uthash */
    struct channel *channels;
    size_t awaiting;
};

struct message_table *message_table_create(csan_context *context)
{
    struct message_table *table = calloc(1, sizeof *table);
    if (table)
        table->context = context;
    return table;
}

static void drop(struct message_table *table, struct waiting *waiting)
{
    for (size_t i = 0; i < waiting->count; i++)
        csan_snapshot_release(table->context, waiting->snapshots[i]);
    while (waiting->awaiting) {
        struct awaiting *awaiting = waiting->awaiting;
        waiting->awaiting = awaiting->next;
        csan_snapshot_release(table->context, awaiting->promise);
        free(awaiting);
    }
    HASH_DEL(table->waiting, waiting);
    free(waiting->snapshots);
    free(waiting->times);
    free(waiting);
}

void message_table_destroy(struct message_table *table)
{
    struct waiting *waiting, *next;
    if (!table)
        return;
    HASH_ITER(hh, table->waiting, waiting, next)
    {
        drop(table, waiting);
    }
    channels_free(&table->channels);
    free(table);
}

static struct waiting *find(const struct message_table *table, uint64_t key, uint64_t number)
{
    const struct waiting_key wanted = {key, number};
    struct waiting *waiting = NULL;
    HASH_FIND(hh, table->waiting, &wanted, sizeof wanted, waiting);
    return waiting;
}

static struct waiting *make(struct message_table *table, uint64_t key, uint64_t number)
{
    struct waiting *waiting = calloc(1, sizeof *waiting);
    if (!waiting)
        return NULL;
    waiting->key = (struct waiting_key){key, number};
    HASH_ADD(hh, table->waiting, key, sizeof waiting->key, waiting);
    if (waiting->hh.tbl)
        return waiting;
    free(waiting);
    return NULL;
}

static bool push(struct waiting *waiting, csan_snapshot *snapshot)
{
    if (!array_grow(&waiting->snapshots, waiting->count, sizeof(csan_snapshot *)))
        return false;
    waiting->snapshots[waiting->count++] = snapshot;
    return true;
}

static void join_all(const struct message_table *table, const struct waiting *waiting,
                     csan_lane lane)
{
    for (size_t i = 0; i < waiting->count; i++)
        csan_snapshot_join(table->context, lane, waiting->snapshots[i]);
}

static void received(struct message_table *table, struct waiting *waiting)
{
    if (++waiting->left >= waiting->leaves)
        drop(table, waiting);
}

/* A lane that stands for all that was sent keeps the promise. */
static void promise_keep(struct message_table *table, const struct waiting *waiting,
                         csan_snapshot *promise)
{
    const csan_lane lane =
        csan_lane_create_as(table->context, CSAN_LANE_CALL, 0, "messages", CSAN_HOST);
    if (lane == CSAN_NO_LANE)
        return;
    join_all(table, waiting, lane);
    csan_snapshot_keep(table->context, promise, lane);
    csan_lane_destroy(table->context, lane);
}

/* Those that have what they need go on. True: nobody is left, and it is dropped. */
static bool awaited(struct message_table *table, struct waiting *waiting)
{
    uint64_t over = 0;
    for (struct awaiting **at = &waiting->awaiting; *at;) {
        struct awaiting *awaiting = *at;
        if (awaiting->need > waiting->count) {
            at = &awaiting->next;
            continue;
        }
        promise_keep(table, waiting, awaiting->promise);
        csan_snapshot_release(table->context, awaiting->promise);
        *at = awaiting->next;
        free(awaiting);
        table->awaiting--;
        over++;
    }
    waiting->left += over;
    if (!over || waiting->awaiting || waiting->left < waiting->leaves)
        return false;
    drop(table, waiting);
    return true;
}

bool message_table_send(struct message_table *table, uint64_t key, uint64_t number, uint64_t leaves,
                        csan_snapshot *snapshot)
{
    struct waiting *waiting = find(table, key, number);
    if (!waiting)
        waiting = make(table, key, number);
    else if (number && waiting->count) /* a message that was sent already */
        waiting = NULL;
    if (waiting && push(waiting, snapshot)) {
        if (leaves > waiting->leaves)
            waiting->leaves = leaves;
        if (!awaited(table, waiting) && waiting->unwanted)
            drop(table, waiting);
        return true;
    }
    csan_snapshot_release(table->context, snapshot);
    return false;
}

void message_table_unwant(struct message_table *table, uint64_t key, uint64_t number)
{
    struct waiting *waiting = find(table, key, number);
    if (waiting) {
        drop(table, waiting);
        return;
    }
    waiting = make(table, key, number);
    if (waiting)
        waiting->unwanted = true;
}

bool message_table_send_next(struct message_table *table, uint64_t key, csan_snapshot *snapshot)
{
    const uint64_t number = channel_next(&table->channels, key);
    if (number)
        return message_table_send(table, key, number, 1, snapshot);
    csan_snapshot_release(table->context, snapshot);
    return false;
}

size_t message_table_count(const struct message_table *table, uint64_t key, uint64_t number)
{
    const struct waiting *waiting = find(table, key, number);
    return waiting ? waiting->count : 0;
}

void message_table_receive(struct message_table *table, uint64_t key, uint64_t number,
                           uint64_t leaves, csan_lane lane)
{
    struct waiting *waiting = find(table, key, number);
    if (!waiting)
        return;
    if (leaves > waiting->leaves)
        waiting->leaves = leaves;
    join_all(table, waiting, lane);
    received(table, waiting);
}

/* The promise holds the lane's later work back. */
static bool await(struct message_table *table, struct waiting *waiting, uint64_t need,
                  csan_lane lane)
{
    struct awaiting *awaiting = malloc(sizeof *awaiting);
    csan_snapshot *promise = awaiting ? csan_snapshot_promise(table->context) : NULL;
    if (!promise) {
        free(awaiting);
        return false;
    }
    *awaiting = (struct awaiting){waiting->awaiting, promise, need};
    waiting->awaiting = awaiting;
    table->awaiting++;
    csan_snapshot_join(table->context, lane, promise);
    return true;
}

void message_table_await(struct message_table *table, uint64_t key, uint64_t number, uint64_t need,
                         uint64_t leaves, csan_lane lane)
{
    struct waiting *waiting = find(table, key, number);
    if (!waiting)
        waiting = make(table, key, number);
    if (!waiting)
        return;
    if (leaves > waiting->leaves)
        waiting->leaves = leaves;
    if (waiting->count < need) {
        await(table, waiting, need, lane);
        return;
    }
    join_all(table, waiting, lane);
    received(table, waiting);
}

size_t message_table_awaiting(const struct message_table *table)
{
    return table->awaiting;
}

void message_table_look(const struct message_table *table, uint64_t key, uint64_t number,
                        csan_lane lane)
{
    const struct waiting *waiting = find(table, key, number);
    if (waiting)
        join_all(table, waiting, lane);
}

/* ---- Values ---- */

static void forget(struct message_table *table, struct waiting *waiting, size_t index)
{
    csan_snapshot_release(table->context, waiting->snapshots[index]);
    waiting->count--;
    memmove(&waiting->snapshots[index], &waiting->snapshots[index + 1],
            (waiting->count - index) * sizeof(csan_snapshot *));
    memmove(&waiting->times[index], &waiting->times[index + 1],
            (waiting->count - index) * sizeof *waiting->times);
}

void message_table_publish(struct message_table *table, uint64_t key, uint64_t time,
                           csan_snapshot *snapshot)
{
    struct waiting *waiting = find(table, key, 0);
    if (!waiting)
        waiting = make(table, key, 0);
    if (waiting && waiting->count == EQUAL_MAX)
        forget(table, waiting, 0);
    if (!waiting || !array_grow(&waiting->times, waiting->count, sizeof *waiting->times) ||
        !push(waiting, snapshot))
        csan_snapshot_release(table->context, snapshot);
    else
        waiting->times[waiting->count - 1] = time;
}

void message_table_learn(struct message_table *table, uint64_t key, uint64_t time, bool once,
                         csan_lane lane)
{
    struct waiting *waiting = find(table, key, 0);
    bool joined = false;
    if (!waiting || !waiting->times || !waiting->count)
        return;
    if (once) {
        csan_snapshot_join(table->context, lane, waiting->snapshots[0]);
        forget(table, waiting, 0);
        if (!waiting->count)
            drop(table, waiting);
        return;
    }
    for (size_t i = 0; i < waiting->count; i++) {
        if (waiting->times[i] > time)
            continue;
        csan_snapshot_join(table->context, lane, waiting->snapshots[i]);
        joined = true;
    }
    if (!joined) /* clocks of two machines */
        join_all(table, waiting, lane);
}

size_t message_table_waiting(const struct message_table *table)
{
    return HASH_COUNT(table->waiting);
}
