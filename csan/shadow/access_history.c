#include "csan/shadow/access_history.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

static_assert(sizeof(struct past_access) == 32, "two accesses to a cache line");

static bool same_past_access(const struct past_access *a, const struct past_access *b)
{
    if (a->kind == 0 && b->kind == 0)
        return true;
    return a->epoch == b->epoch && a->kind == b->kind && a->bound == b->bound &&
           a->argument == b->argument && a->site == b->site && a->generation == b->generation &&
           a->element_bytes == b->element_bytes;
}

/* ---- lists */

static uint32_t list_count(const struct past_access_list *list)
{
    return list ? list->count : 0;
}

static struct past_access_list *list_copy(const struct past_access_list *list)
{
    if (!list_count(list))
        return NULL;
    struct past_access_list *copy = malloc(sizeof(*copy) + list->count * sizeof(copy->accesses[0]));
    if (!copy)
        return NULL;
    copy->count = copy->capacity = list->count;
    memcpy(copy->accesses, list->accesses, list->count * sizeof(copy->accesses[0]));
    return copy;
}

static bool list_equal(const struct past_access_list *a, const struct past_access_list *b)
{
    if (list_count(a) != list_count(b))
        return false;
    for (uint32_t i = 0; i < list_count(a); i++)
        if (!same_past_access(&a->accesses[i], &b->accesses[i]))
            return false;
    return true;
}

static void list_free_empty(struct past_access_list **slot)
{
    if (list_count(*slot))
        return;
    free(*slot);
    *slot = NULL;
}

/* Reads make only reads superfluous, atomics only atomics: those of other widths race with what
 * those of this width do not. */
static bool stands_for(const struct past_access *by, const struct past_access *earlier)
{
    if (by->kind == CSAN_WRITE)
        return true;
    return by->kind == earlier->kind && (by->kind != CSAN_ATOMIC || !earlier->element_bytes ||
                                         earlier->element_bytes == by->element_bytes);
}

/* Removes the accesses that are known to have finished; with `by`, only those that `by` stands for.
 */
static void list_forget(struct past_access_list *list, struct knowledge knowledge,
                        const struct past_access *by)
{
    uint32_t kept = 0, count = list_count(list);
    for (uint32_t i = 0; i < count; i++)
        if (!knowledge_has(knowledge, list->accesses[i].epoch) ||
            (by && !stands_for(by, &list->accesses[i])))
            list->accesses[kept++] = list->accesses[i];
    if (kept != count)
        list->count = kept;
}

/* ---- histories */

void access_history_release(struct access_history *history)
{
    free(history->others);
}

struct access_history access_history_copy(const struct access_history *from)
{
    return (struct access_history){.write = from->write, .others = list_copy(from->others)};
}

bool access_history_equal(const struct access_history *a, const struct access_history *b)
{
    return same_past_access(&a->write, &b->write) && list_equal(a->others, b->others);
}

bool access_history_known(const struct access_history *history, const struct order *order,
                          uint32_t lane)
{
    if (history->write.kind && !order_knows(order, lane, history->write.epoch))
        return false;
    for (uint32_t i = 0; i < list_count(history->others); i++)
        if (!order_knows(order, lane, history->others->accesses[i].epoch))
            return false;
    return true;
}

bool access_history_race(const struct access_history *history, const struct shadow_access *access)
{
    const struct past_access_list *list = history->others;
    if (past_access_races(&history->write, access))
        return true;
    if (!list_count(list))
        return false;
    for (uint32_t i = past_access_list_first(list, access); i < list->count; i++)
        if (past_access_races(&list->accesses[i], access))
            return true;
    return false;
}

void access_history_forget(struct access_history *history, const struct shadow_access *access)
{
    const struct past_access *past = &access->self;
    if (past->bound != CSAN_EXACT)
        return;
    if (past->kind == CSAN_WRITE && history->write.kind &&
        knowledge_has(access->knowledge, history->write.epoch))
        history->write.kind = 0;
    list_forget(history->others, access->knowledge, past);
    if (history->others && history->others->capacity > PAST_ACCESS_LIST_KEPT)
        list_free_empty(&history->others);
}

void access_history_forget_finished(struct access_history *history, const struct order *order)
{
    if (order->held_back)
        return;
    if (history->write.kind && order_is_over(order, history->write.epoch))
        history->write.kind = 0;
    list_forget(history->others, order_knowledge(order, ORDER_HOST), NULL);
    list_free_empty(&history->others);
}

void access_history_filter(struct access_history *history,
                           bool (*keep)(void *user, const struct past_access *past), void *user)
{
    if (history->write.kind && !keep(user, &history->write))
        history->write.kind = 0;
    struct past_access_list *list = history->others;
    uint32_t kept = 0, count = list_count(list);
    for (uint32_t i = 0; i < count; i++)
        if (keep(user, &list->accesses[i]))
            list->accesses[kept++] = list->accesses[i];
    if (kept != count)
        list->count = kept;
    list_free_empty(&history->others);
}

void access_history_insert_slow(struct access_history *history, const struct shadow_access *access)
{
    const struct past_access *past = &access->self;
    if (history->others && history->others->count == history->others->capacity)
        access_history_forget(history, access); /* lazily: when the list would grow */
    struct past_access_list *list = history->others;
    if (!list || list->count == list->capacity) {
        uint32_t capacity = list ? list->capacity * 2 : 1;
        struct past_access_list *grown = realloc(list, sizeof(*grown) + capacity * sizeof(*past));
        if (!grown)
            return; /* one past access less: a race may go unseen, nothing worse */
        if (!list)
            grown->count = 0;
        grown->capacity = capacity;
        history->others = list = grown;
    }
    uint32_t place = past_access_list_position(list, past_access_key(past));
    memmove(list->accesses + place + 1, list->accesses + place,
            (list->count - place) * sizeof(list->accesses[0]));
    list->accesses[place] = *past;
    list->count++;
}
