/* See sync_callback.h. */
#include "runtime/hook/session/sync_callback.h"
#include "runtime/hook/session/guard.h"

#include <stdbool.h>
#include <time.h>

/* A slot's word, from its low end: 2 bits of state, 22 of threads inside, 40 of the id. A slot goes
 * from FREE to FILLING, LIVE, ENDING while threads are inside, and FREE again. */
enum slot_state { SLOT_FREE, SLOT_FILLING, SLOT_LIVE, SLOT_ENDING };
enum { SLOTS = 16, STATE_BITS = 2, ID_SHIFT = 24 };
static const uint64_t one_inside = 1 << STATE_BITS;

struct slot {
    uint64_t word; /* atomic */
    sync_callback_function *function;
    void *user;
};

static struct {
    struct slot slots[SLOTS];
    uint64_t ids; /* given so far; atomic */
} callbacks;

uint32_t sync_callback_count;

/* The slot whose function this thread is in, or NULL. */
static __thread const struct slot *inside __attribute__((tls_model("initial-exec")));

static uint64_t slot_word(const struct slot *slot)
{
    return __atomic_load_n(&slot->word, __ATOMIC_ACQUIRE);
}

static enum slot_state state_of(uint64_t word)
{
    return (enum slot_state)(word & ((1 << STATE_BITS) - 1));
}

static uint64_t id_of(uint64_t word)
{
    return word >> ID_SHIFT;
}

static bool is_occupied(uint64_t word)
{
    return (word & ((1 << ID_SHIFT) - 1)) >= one_inside;
}

/* False: it has changed, and *word is what it is now. */
static bool slot_change(struct slot *slot, uint64_t *word, uint64_t to)
{
    return __atomic_compare_exchange_n(&slot->word, word, to, false, __ATOMIC_ACQ_REL,
                                       __ATOMIC_ACQUIRE);
}

uint64_t sync_callback_add(sync_callback_function *function, void *user)
{
    const uint64_t id = __atomic_add_fetch(&callbacks.ids, 1, __ATOMIC_RELAXED);
    for (int i = 0; function && i < SLOTS; i++) {
        struct slot *slot = &callbacks.slots[i];
        uint64_t word = slot_word(slot);
        if (state_of(word) != SLOT_FREE || !slot_change(slot, &word, SLOT_FILLING))
            continue;
        slot->function = function;
        slot->user = user;
        __atomic_store_n(&slot->word, id << ID_SHIFT | SLOT_LIVE, __ATOMIC_RELEASE);
        __atomic_fetch_add(&sync_callback_count, 1, __ATOMIC_RELEASE);
        return id;
    }
    return 0;
}

static bool slot_enter(struct slot *slot)
{
    uint64_t word = slot_word(slot);
    while (state_of(word) == SLOT_LIVE)
        if (slot_change(slot, &word, word + one_inside))
            return true;
    return false;
}

static void slot_leave(struct slot *slot)
{
    uint64_t word = slot_word(slot), left;
    do {
        left = word - one_inside;
        if (state_of(left) == SLOT_ENDING && !is_occupied(left))
            left = SLOT_FREE;
    } while (!slot_change(slot, &word, left));
}

/* False: its function is another, or was taken away already. */
static bool slot_end(struct slot *slot, uint64_t id)
{
    uint64_t word = slot_word(slot);
    while (state_of(word) == SLOT_LIVE && id_of(word) == id)
        if (slot_change(slot, &word,
                        is_occupied(word) ? word - SLOT_LIVE + SLOT_ENDING : SLOT_FREE))
            return true;
    return false;
}

/* Functions are short: threads that are inside are waited for in steps of ten microseconds. */
static void wait_for_others(const struct slot *slot, uint64_t id)
{
    const struct timespec step = {.tv_nsec = 10000};
    while (id_of(slot_word(slot)) == id)
        nanosleep(&step, NULL);
}

void sync_callback_remove(uint64_t id)
{
    for (int i = 0; id && i < SLOTS; i++) {
        struct slot *slot = &callbacks.slots[i];
        if (!slot_end(slot, id))
            continue;
        __atomic_fetch_sub(&sync_callback_count, 1, __ATOMIC_RELEASE);
        if (inside != slot)
            wait_for_others(slot, id);
        return;
    }
}

static void slot_call(struct slot *slot, const struct csan_synchronization *what)
{
    if (!slot_enter(slot))
        return;
    inside = slot;
    slot->function(slot->user, what);
    inside = NULL;
    slot_leave(slot);
}

/* Not for synchronizations that a function itself makes, nor for those of calls that csan does not
 * follow. */
void sync_callback_call(const struct csan_synchronization *what)
{
    if (inside || guard_self.depth || guard_self.hosted ||
        __atomic_load_n(&session_state, __ATOMIC_ACQUIRE) != SESSION_ON)
        return;
    for (int i = 0; i < SLOTS; i++)
        slot_call(&callbacks.slots[i], what);
}
