/* Of a random program: messages that are sent, posted, received and looked for. */
#ifndef TESTS_LINKED_MESSAGES_H
#define TESTS_LINKED_MESSAGES_H

#include "linked_world.h"

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

#endif
