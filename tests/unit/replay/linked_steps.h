/* What a random program does, step by step, and which races it has. See test_linked_replay.c. */
#ifndef TESTS_LINKED_STEPS_H
#define TESTS_LINKED_STEPS_H

#include "linked_calls.h"
#include "linked_locks.h"
#include "linked_messages.h"
#include "linked_streams.h"

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
