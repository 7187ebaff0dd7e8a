/* Of a random program: collective calls of hosts and of streams. */
#ifndef TESTS_LINKED_CALLS_H
#define TESTS_LINKED_CALLS_H

#include "linked_streams.h"

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

#endif
