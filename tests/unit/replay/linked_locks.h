/* Of a random program: locks that processes hold, shared or not, in turns. */
#ifndef TESTS_LINKED_LOCKS_H
#define TESTS_LINKED_LOCKS_H

#include "linked_world.h"

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

#endif
