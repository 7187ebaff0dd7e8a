/* Races that wait for their operators. See held_race.h. */
#include "runtime/hook/run/held_race.h"
#include "csan/base/now.h"
#include "csan/detector/context.h"
#include "runtime/hook/operator/operator_summary.h"
#include "runtime/hook/session/session.h"

#include <pthread.h>
#include <string.h>

enum { HELD_MOST = 16, WAIT_LAUNCHES = 20000, WAIT_MS = 10000 };

struct held {
    const struct csan_race *race;
    uint64_t launches; /* as of when it was held */
    int64_t since;     /* milliseconds */
    bool followed;     /* operators were, once it was held */
};

static struct {
    pthread_mutex_t mutex;
    struct held items[HELD_MOST];
    uint32_t count; /* atomic */
} table = {.mutex = PTHREAD_MUTEX_INITIALIZER};

/* ---- What a report lacks ---- */

/* A schema: "aten::add(Tensor self, ...". */
static bool is_operator(const char *name)
{
    const char *colons = strstr(name, "::"), *bracket = strchr(name, '(');
    return colons && bracket && colons < bracket;
}

/* A frame of the adapter's (csan/adapter.h) is a heading of those behind it. As the last one it
 * stands for what is not known: all, of a thread that runs no Python, or a forward call. */
static bool lacks_stack(const void *const *frames, size_t count)
{
    const uint64_t adapters = (uint64_t)1 << 63, end = adapters + (1 << 20);
    const uint64_t last = count ? (uintptr_t)frames[count - 1] : adapters;
    return last >= adapters && last < end;
}

static bool lacks_operator(const struct csan_race_access *access)
{
    const bool enqueued =
        access->kind != CSAN_ALLOCATE && access->kind != CSAN_FREE && !access->host;
    return enqueued &&
           (!is_operator(access->name) || lacks_stack(access->frames, access->frame_count));
}

static bool lacks(const struct csan_race *race)
{
    if (csan_is_error(race))
        return false;
    if (operator_summary_rests())
        return lacks_operator(&race->current) || lacks_operator(&race->previous) ||
               (race->allocation_frame_count &&
                lacks_stack(race->allocation_frames, race->allocation_frame_count));
    return lacks_operator(&race->previous) &&
           race->previous.sequence <= operator_summary_followed_since();
}

/* ---- Whether a race is one that is held ---- */

static bool same_frames(const struct csan_race_access *held, const struct csan_race_access *access)
{
    size_t count = held->frame_count;
    count -= count && lacks_stack(held->frames, count);
    return count <= access->frame_count &&
           memcmp(held->frames, access->frames, count * sizeof *held->frames) == 0;
}

static bool same_side(const struct csan_race_access *held, const struct csan_race_access *access)
{
    const bool named = !lacks_operator(held);
    return held->kind == access->kind && held->lane_kind == access->lane_kind &&
           same_frames(held, access) && (!named || strcmp(held->name, access->name) == 0);
}

static bool is_again(const struct csan_race *held, const struct csan_race *race)
{
    return held->kind == race->kind && held->possible == race->possible &&
           same_side(&held->current, &race->current) && same_side(&held->previous, &race->previous);
}

/* ---- Holding ---- */

static void remove_at(uint32_t at)
{
    table.items[at] = table.items[table.count - 1];
    __atomic_store_n(&table.count, table.count - 1, __ATOMIC_RELEASE);
}

/* The race is reported in place of those: of itself without operators, and of the one whose missing
 * order it shares, or it would be a line of a report that is not out. */
static void withdraw(const struct csan_race *race)
{
    context_group(session_context(), race);
    pthread_mutex_lock(&table.mutex);
    for (uint32_t i = table.count; i-- > 0;)
        if (is_again(table.items[i].race, race) || race->group == table.items[i].race->number) {
            context_withdraw(session_context(), table.items[i].race);
            remove_at(i);
        }
    if (!table.count)
        operator_summary_report_is_out();
    pthread_mutex_unlock(&table.mutex);
    context_group(session_context(), race);
}

static bool hold(const struct csan_race *race)
{
    pthread_mutex_lock(&table.mutex);
    const bool room = table.count < HELD_MOST;
    if (room) {
        table.items[table.count] =
            (struct held){.race = race, .launches = operator_summary_launches(), .since = now_ms()};
        __atomic_store_n(&table.count, table.count + 1, __ATOMIC_RELEASE);
    }
    pthread_mutex_unlock(&table.mutex);
    return room;
}

bool held_race_take(const struct csan_race *race)
{
    if (!operator_summary_has_rested())
        return false;
    if (lacks(race) && hold(race)) {
        operator_summary_wanted_for_report();
        return true;
    }
    if (__atomic_load_n(&table.count, __ATOMIC_ACQUIRE))
        withdraw(race);
    return false;
}

/* ---- Letting go ---- */

/* With operators followed it may come again just as it is, as one of a thread that runs no Python:
 * then it is another race all the same, of memory that has its stack by now. */
static void renew_once(struct held *held)
{
    if (held->followed || operator_summary_rests())
        return;
    held->followed = true;
    context_renew(session_context(), held->race);
}

static bool has_waited(struct held *held)
{
    renew_once(held);
    return now_ms() - held->since > WAIT_MS ||
           operator_summary_launches() - held->launches > WAIT_LAUNCHES;
}

static const struct csan_race *take_one(bool all)
{
    const struct csan_race *race = NULL;
    pthread_mutex_lock(&table.mutex);
    for (uint32_t i = 0; i < table.count && !race; i++)
        if (all || has_waited(&table.items[i])) {
            race = table.items[i].race;
            remove_at(i);
        }
    if (!table.count)
        operator_summary_report_is_out();
    pthread_mutex_unlock(&table.mutex);
    return race;
}

void held_race_release(bool all, void (*report)(const struct csan_race *race))
{
    const struct csan_race *race;
    while (__atomic_load_n(&table.count, __ATOMIC_ACQUIRE) && (race = take_one(all))) {
        session_note(
            "operators rested when the following race was found, and it did not come again "
            "while they were followed: a side may lack its operator, or its forward call");
        report(race);
    }
}
