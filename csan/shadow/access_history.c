#include "csan/shadow/access_history.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

static_assert(sizeof(struct mark) == 32, "two marks to a cache line");

static bool same_mark(const struct mark *a, const struct mark *b)
{
    if (a->kind == 0 && b->kind == 0)
        return true;
    return a->epoch == b->epoch && a->kind == b->kind && a->bound == b->bound &&
           a->argument == b->argument && a->site == b->site && a->generation == b->generation &&
           a->element_bytes == b->element_bytes;
}

/* ---- lists */

static uint32_t list_count(const struct mark_list *list)
{
    return list ? list->count : 0;
}

static struct mark_list *list_copy(const struct mark_list *list)
{
    if (!list_count(list))
        return NULL;
    struct mark_list *copy = malloc(sizeof(*copy) + list->count * sizeof(copy->marks[0]));
    if (!copy)
        return NULL;
    copy->count = copy->capacity = list->count;
    memcpy(copy->marks, list->marks, list->count * sizeof(copy->marks[0]));
    return copy;
}

static bool list_equal(const struct mark_list *a, const struct mark_list *b)
{
    if (list_count(a) != list_count(b))
        return false;
    for (uint32_t i = 0; i < list_count(a); i++)
        if (!same_mark(&a->marks[i], &b->marks[i]))
            return false;
    return true;
}

static void list_free_empty(struct mark_list **slot)
{
    if (list_count(*slot))
        return;
    free(*slot);
    *slot = NULL;
}

/* Reads make only reads superfluous, atomics only atomics: those of other widths race with what
 * those of this width do not. */
static bool stands_for(const struct mark *by, const struct mark *earlier)
{
    if (by->kind == CSAN_WRITE)
        return true;
    return by->kind == earlier->kind && (by->kind != CSAN_ATOMIC || !earlier->element_bytes ||
                                         earlier->element_bytes == by->element_bytes);
}

/* Remove the marks that are known to have finished; with `by`: those that it stands for. */
static void list_forget(struct mark_list *list, struct knowledge knowledge, const struct mark *by)
{
    uint32_t kept = 0, count = list_count(list);
    for (uint32_t i = 0; i < count; i++)
        if (!knowledge_has(knowledge, list->marks[i].epoch) ||
            (by && !stands_for(by, &list->marks[i])))
            list->marks[kept++] = list->marks[i];
    if (kept != count)
        list->count = kept;
}

/* ---- marks */

void marks_release(struct marks *marks)
{
    free(marks->others);
}

struct marks marks_copy(const struct marks *from)
{
    return (struct marks){.write = from->write, .others = list_copy(from->others)};
}

bool marks_equal(const struct marks *a, const struct marks *b)
{
    return same_mark(&a->write, &b->write) && list_equal(a->others, b->others);
}

bool marks_known(const struct marks *marks, const struct order *order, uint32_t lane)
{
    if (marks->write.kind && !order_knows(order, lane, marks->write.epoch))
        return false;
    for (uint32_t i = 0; i < list_count(marks->others); i++)
        if (!order_knows(order, lane, marks->others->marks[i].epoch))
            return false;
    return true;
}

bool marks_race(const struct marks *marks, const struct shadow_access *access)
{
    const struct mark_list *list = marks->others;
    if (mark_races(&marks->write, access))
        return true;
    if (!list_count(list))
        return false;
    for (uint32_t i = mark_list_first(list, access); i < list->count; i++)
        if (mark_races(&list->marks[i], access))
            return true;
    return false;
}

void marks_forget(struct marks *marks, const struct shadow_access *access)
{
    const struct mark *mark = &access->mark;
    if (mark->bound != CSAN_EXACT)
        return;
    if (mark->kind == CSAN_WRITE && marks->write.kind &&
        knowledge_has(access->knowledge, marks->write.epoch))
        marks->write.kind = 0;
    list_forget(marks->others, access->knowledge, mark);
    if (marks->others && marks->others->capacity > MARK_LIST_KEPT)
        list_free_empty(&marks->others);
}

void marks_forget_finished(struct marks *marks, const struct order *order)
{
    if (order->held_back)
        return;
    if (marks->write.kind && order_is_over(order, marks->write.epoch))
        marks->write.kind = 0;
    list_forget(marks->others, order_knowledge(order, ORDER_HOST), NULL);
    list_free_empty(&marks->others);
}

void marks_filter(struct marks *marks, bool (*keep)(void *user, const struct mark *mark),
                  void *user)
{
    if (marks->write.kind && !keep(user, &marks->write))
        marks->write.kind = 0;
    struct mark_list *list = marks->others;
    uint32_t kept = 0, count = list_count(list);
    for (uint32_t i = 0; i < count; i++)
        if (keep(user, &list->marks[i]))
            list->marks[kept++] = list->marks[i];
    if (kept != count)
        list->count = kept;
    list_free_empty(&marks->others);
}

void marks_insert_slow(struct marks *marks, const struct shadow_access *access)
{
    const struct mark *mark = &access->mark;
    if (marks->others && marks->others->count == marks->others->capacity)
        marks_forget(marks, access); /* lazily: when the list would grow */
    struct mark_list *list = marks->others;
    if (!list || list->count == list->capacity) {
        uint32_t capacity = list ? list->capacity * 2 : 1;
        struct mark_list *grown = realloc(list, sizeof(*grown) + capacity * sizeof(*mark));
        if (!grown)
            return; /* one mark less: a race may go unseen, nothing worse */
        if (!list)
            grown->count = 0;
        grown->capacity = capacity;
        marks->others = list = grown;
    }
    uint32_t place = mark_list_place(list, mark_key(mark));
    memmove(list->marks + place + 1, list->marks + place,
            (list->count - place) * sizeof(list->marks[0]));
    list->marks[place] = *mark;
    list->count++;
}
