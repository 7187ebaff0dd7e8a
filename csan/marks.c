#include "marks.h"

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

static struct mark_list *list_copy(const struct mark_list *list)
{
    if (!list)
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
    if (!a || !b)
        return a == b;
    if (a->count != b->count)
        return false;
    for (uint32_t i = 0; i < a->count; i++)
        if (!same_mark(&a->marks[i], &b->marks[i]))
            return false;
    return true;
}

static void list_truncate(struct mark_list **slot, uint32_t count)
{
    (*slot)->count = count;
    if (count == 0) {
        free(*slot);
        *slot = NULL;
    }
}

/* Atomics of other widths race with what those of this width do not. */
static bool stands_for(const struct mark *by, const struct mark *earlier)
{
    return by->kind != CSAN_ATOMIC || !earlier->element_bytes ||
           earlier->element_bytes == by->element_bytes;
}

/* Remove the marks `lane` knows to have finished; with `by`: those that it stands for. */
static void list_forget(struct mark_list **slot, const struct order *order, uint32_t lane,
                        const struct mark *by)
{
    struct mark_list *list = *slot;
    if (!list)
        return;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < list->count; i++)
        if (!order_knows(order, lane, list->marks[i].epoch) ||
            (by && !stands_for(by, &list->marks[i])))
            list->marks[kept++] = list->marks[i];
    list_truncate(slot, kept);
}

static void list_filter(struct mark_list **slot, bool (*keep)(void *, const struct mark *),
                        void *user)
{
    struct mark_list *list = *slot;
    if (!list)
        return;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < list->count; i++)
        if (keep(user, &list->marks[i]))
            list->marks[kept++] = list->marks[i];
    list_truncate(slot, kept);
}

/* ---- marks */

void marks_release(struct marks *marks)
{
    for (int kind = CSAN_READ; kind <= CSAN_ATOMIC; kind++)
        free(marks->others[kind]);
}

struct marks marks_copy(const struct marks *from)
{
    struct marks copy = {.write = from->write};
    for (int kind = CSAN_READ; kind <= CSAN_ATOMIC; kind++)
        copy.others[kind] = list_copy(from->others[kind]);
    return copy;
}

bool marks_equal(const struct marks *a, const struct marks *b)
{
    if (!same_mark(&a->write, &b->write))
        return false;
    for (int kind = CSAN_READ; kind <= CSAN_ATOMIC; kind++)
        if (!list_equal(a->others[kind], b->others[kind]))
            return false;
    return true;
}

bool marks_known(const struct marks *marks, const struct order *order, uint32_t lane)
{
    if (marks->write.kind && !order_knows(order, lane, marks->write.epoch))
        return false;
    for (int kind = CSAN_READ; kind <= CSAN_ATOMIC; kind++) {
        const struct mark_list *list = marks->others[kind];
        for (uint32_t i = 0; list && i < list->count; i++)
            if (!order_knows(order, lane, list->marks[i].epoch))
                return false;
    }
    return true;
}

bool marks_race(const struct marks *marks, const struct shadow_access *access)
{
    if (mark_races(&marks->write, access))
        return true;
    for (int kind = CSAN_READ; kind <= CSAN_ATOMIC; kind++) {
        const struct mark_list *list = marks->others[kind];
        if (!list || (kind == CSAN_READ && access->mark.kind == CSAN_READ))
            continue;
        for (uint32_t i = 0; i < list->count; i++)
            if (mark_races(&list->marks[i], access))
                return true;
    }
    return false;
}

void marks_forget(struct marks *marks, const struct shadow_access *access)
{
    const struct mark *mark = &access->mark;
    uint32_t lane = epoch_lane(mark->epoch);
    if (mark->bound != CSAN_EXACT)
        return;
    if (mark->kind != CSAN_WRITE) {
        list_forget(&marks->others[mark->kind], access->order, lane, mark);
        return;
    }
    if (marks->write.kind && order_knows(access->order, lane, marks->write.epoch))
        marks->write.kind = 0;
    for (int kind = CSAN_READ; kind <= CSAN_ATOMIC; kind++)
        list_forget(&marks->others[kind], access->order, lane, mark);
}

void marks_forget_finished(struct marks *marks, const struct order *order)
{
    if (order->held_back)
        return;
    if (marks->write.kind && order_is_over(order, marks->write.epoch))
        marks->write.kind = 0;
    for (int kind = CSAN_READ; kind <= CSAN_ATOMIC; kind++)
        list_forget(&marks->others[kind], order, ORDER_HOST, NULL);
}

void marks_filter(struct marks *marks, bool (*keep)(void *user, const struct mark *mark),
                  void *user)
{
    if (marks->write.kind && !keep(user, &marks->write))
        marks->write.kind = 0;
    for (int kind = CSAN_READ; kind <= CSAN_ATOMIC; kind++)
        list_filter(&marks->others[kind], keep, user);
}

void marks_insert_slow(struct marks *marks, const struct shadow_access *access)
{
    const struct mark *mark = &access->mark;
    struct mark_list **slot = &marks->others[mark->kind];
    if (*slot && (*slot)->count == (*slot)->capacity)
        marks_forget(marks, access); /* lazily: when the list would grow */
    struct mark_list *list = *slot;
    if (!list || list->count == list->capacity) {
        uint32_t capacity = list ? list->capacity * 2 : 1;
        struct mark_list *grown = realloc(list, sizeof(*grown) + capacity * sizeof(*mark));
        if (!grown)
            return; /* one mark less: a race may go unseen, nothing worse */
        if (!list)
            grown->count = 0;
        grown->capacity = capacity;
        *slot = list = grown;
    }
    uint32_t place = mark_list_place(list, mark_key(mark));
    memmove(list->marks + place + 1, list->marks + place,
            (list->count - place) * sizeof(list->marks[0]));
    list->marks[place] = *mark;
    list->count++;
}
