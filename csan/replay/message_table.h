/* Messages and collective calls between processes while their recordings are replayed together:
 * what was sent and not yet received. A message is found by its channel and number, a collective
 * call by its key. Both are forgotten once all that are to receive have done so. */
#ifndef CSAN_REPLAY_MESSAGE_TABLE_H
#define CSAN_REPLAY_MESSAGE_TABLE_H

#include <csan/csan.h>

#include <stdbool.h>

struct message_table;

/* Snapshots are the context's. NULL: memory is short. */
struct message_table *message_table_create(csan_context *context);
void message_table_destroy(struct message_table *table);

/* A message was sent, or (number 0) a process entered. Takes the snapshot. `leaves`: of a
 * collective call how many receive; 0: not known, or 1 of a message. False: memory is short, or
 * this was done already. */
bool message_table_send(struct message_table *table, uint64_t key, uint64_t number, uint64_t leaves,
                        csan_snapshot *snapshot);
/* The channel's next message was sent: the first has number 1. */
bool message_table_send_next(struct message_table *table, uint64_t key, csan_snapshot *snapshot);
/* Nobody receives that message, which was sent or will be. */
void message_table_unwant(struct message_table *table, uint64_t key, uint64_t number);
/* How many were sent under these and not received: 0 or 1, or of a collective call all that
 * entered. */
size_t message_table_count(const struct message_table *table, uint64_t key, uint64_t number);
/* Lets the lane join all of them, if there are any. `leaves`: of a collective call how many
 * receive; 0: as who entered said. They are forgotten with the last. */
void message_table_receive(struct message_table *table, uint64_t key, uint64_t number,
                           uint64_t leaves, csan_lane lane);
/* The same for a lane that goes on while it waits, as a stream does: it may be called before all
 * `need` have been sent. What the lane does then waits in the detector. */
void message_table_await(struct message_table *table, uint64_t key, uint64_t number, uint64_t need,
                         uint64_t leaves, csan_lane lane);
/* How many lanes wait so. */
size_t message_table_awaiting(const struct message_table *table);
/* The same, and the message stays. */
void message_table_look(const struct message_table *table, uint64_t key, uint64_t number,
                        csan_lane lane);
/* A value was set at that time. Takes the snapshot. Of equal values the newest are kept. */
void message_table_publish(struct message_table *table, uint64_t key, uint64_t time,
                           csan_snapshot *snapshot);
/* It was read, by that time: the lane joins all who had set it by then, or `once` the first of
 * them, which is forgotten. */
void message_table_learn(struct message_table *table, uint64_t key, uint64_t time, bool once,
                         csan_lane lane);
/* Messages and calls that wait. */
size_t message_table_waiting(const struct message_table *table);

#endif
