/* Compares two runs: see explore_compare.h. */
#include "runtime/cli/explore/explore_compare.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

/* ---- Results ---- */

static int part_order(const struct run_part *a, const struct run_part *b)
{
    if (a->kind != b->kind)
        return a->kind < b->kind ? -1 : 1;
    return (a->number > b->number) - (a->number < b->number);
}

static bool is_ignored(const struct part_set *ignored, const struct run_part *part)
{
    for (size_t i = 0; i < ignored->count; i++)
        if (part_order(&ignored->parts[i], part) == 0)
            return true;
    return false;
}

/* The next part that differs, from *i and *j on; false at the end. */
static bool next_difference(const struct run *a, const struct run *b, size_t *i, size_t *j,
                            struct difference *found)
{
    found->count = 0;
    for (;;) {
        const struct run_part *x = *i < a->part_count ? &a->parts[*i] : NULL;
        const struct run_part *y = *j < b->part_count ? &b->parts[*j] : NULL;
        if (!x && !y)
            return false;
        int order = x && y ? part_order(x, y) : x ? -1 : 1;
        found->part = order <= 0 ? x : y;
        found->a = order <= 0 ? x : NULL;
        found->b = order >= 0 ? y : NULL;
        *i += order <= 0;
        *j += order >= 0;
        if (!found->a || !found->b || x->value != y->value || x->bytes != y->bytes)
            return true;
    }
}

struct difference compare_results(const struct run *a, const struct run *b,
                                  const struct part_set *ignored)
{
    struct difference first = {0}, next;
    size_t i = 0, j = 0;
    while (next_difference(a, b, &i, &j, &next)) {
        const struct run_part *part = next.part;
        if (is_ignored(ignored, part))
            continue;
        /* A failure cuts off what runs beside it, wherever that is, and a program that is killed
         * takes along what was not written yet: no race of the program's. */
        if ((a->failed || b->failed || !a->whole || !b->whole) && part->kind > PART_OUTPUT)
            break;
        if (!first.count)
            first = (struct difference){next.part, next.a, next.b, 0};
        first.count++;
    }
    return first;
}

struct difference compare_ends(const struct run *a, const struct run *b,
                               const struct part_set *ignored)
{
    struct difference first = {0}, next;
    size_t i = 0, j = 0;
    while (next_difference(a, b, &i, &j, &next) && next.part->kind <= PART_OUTPUT) {
        if (is_ignored(ignored, next.part))
            continue;
        if (!first.count)
            first = next;
        first.count++;
    }
    return first;
}

void part_set_add(struct part_set *ignored, const struct run *a, const struct run *b)
{
    struct difference next;
    size_t i = 0, j = 0;
    while (next_difference(a, b, &i, &j, &next)) {
        const struct run_part *part = next.part;
        if (is_ignored(ignored, part))
            continue;
        struct run_part *grown =
            realloc(ignored->parts, (ignored->count + 1) * sizeof *ignored->parts);
        if (!grown)
            return;
        ignored->parts = grown;
        ignored->parts[ignored->count++] = *part;
    }
}

static void status_describe(const struct run_part *part, char *text, size_t bytes)
{
    int status = part ? (int)part->value : 0;
    if (part && part->value == UINT64_MAX)
        snprintf(text, bytes, "stopped for taking too long");
    else if (WIFSIGNALED(status))
        snprintf(text, bytes, "killed by signal %d", WTERMSIG(status));
    else
        snprintf(text, bytes, "%d", WEXITSTATUS(status));
}

void difference_describe(const struct difference *difference, char *text, size_t bytes)
{
    static const char *const places[] = {[PART_FREED_DEVICE] = "of device memory",
                                         [PART_LEFT_DEVICE] = "of device memory",
                                         [PART_FREED_HOST] = "of pinned or managed memory",
                                         [PART_LEFT_HOST] = "of pinned or managed memory"};
    const struct run_part *part = difference->part;
    char statuses[2][64], more[48] = "";
    if (difference->count > 1)
        snprintf(more, sizeof more, " (and %zu more)", difference->count - 1);
    switch (part->kind) {
    case PART_STATUS:
        status_describe(difference->a, statuses[0], sizeof statuses[0]);
        status_describe(difference->b, statuses[1], sizeof statuses[1]);
        snprintf(text, bytes, "the exit status: %s and %s%s", statuses[0], statuses[1], more);
        break;
    case PART_FAILURE:
        snprintf(text, bytes, "the device's error: %d and %d%s",
                 difference->a ? (int)difference->a->value : 0,
                 difference->b ? (int)difference->b->value : 0, more);
        break;
    case PART_OUTPUT:
        snprintf(text, bytes, "the standard output%s", more);
        break;
    case PART_COPY:
        snprintf(text, bytes, "what the copy that is item %" PRIu64 " brought to the host%s",
                 part->number, more);
        break;
    default:
        snprintf(text, bytes, "the %" PRIu64 " bytes %s of allocation %" PRIu64 " %s%s",
                 part->bytes, places[part->kind], part->number,
                 part->kind == PART_LEFT_DEVICE || part->kind == PART_LEFT_HOST
                     ? "left at exit"
                     : "when it was freed",
                 more);
    }
}

/* ---- Order ---- */

enum { MOST_PAIRS = 1 << 16 }; /* compared per race and pair of runs */

enum relation { BEFORE, AFTER, TOGETHER };

/* When an op ran, in half steps: items at whole ones, the host's accesses between. */
struct span {
    uint64_t first, last;
};

static struct span span_of(const struct run *run, const struct run_op *op)
{
    if (!op->item)
        return (struct span){2 * op->clock + 1, 2 * op->clock + 1};
    const struct run_item *item = run_find_item(run, op->item);
    return item ? (struct span){2 * item->started, 2 * item->ended}
                : (struct span){UINT64_MAX, UINT64_MAX};
}

static enum relation spans_relation(struct span a, struct span b)
{
    if (a.last < b.first)
        return BEFORE;
    return a.first > b.last ? AFTER : TOGETHER;
}

static enum relation relation_of(const struct run *run, const struct run_op *x,
                                 const struct run_op *y)
{
    return spans_relation(span_of(run, x), span_of(run, y));
}

/* The ops of a site in the order in which the program made them. */
struct op_list {
    const struct run_op **ops;
    size_t count;
};

static struct op_list ops_of(const struct run *run, uint64_t key)
{
    struct op_list list = {.ops = malloc((run->op_count + 1) * sizeof *list.ops)};
    for (size_t i = 0; list.ops && i < run->op_count; i++)
        if (run->ops[i].key == key)
            list.ops[list.count++] = &run->ops[i];
    return list;
}

bool race_equal(const struct run_race *a, const struct run_race *b)
{
    const struct run_side *x = a->sides, *y = b->sides;
    return a->kind == b->kind && ((x[0].key == y[0].key && x[1].key == y[1].key) ||
                                  (x[0].key == y[1].key && x[1].key == y[0].key));
}

static bool lists_differ(const struct run *a, const struct run *b, const struct op_list lists[2][2],
                         bool same_site)
{
    size_t count[2];
    for (int k = 0; k < 2; k++)
        count[k] = lists[0][k].count < lists[1][k].count ? lists[0][k].count : lists[1][k].count;
    if (count[0] && count[1] > MOST_PAIRS / count[0])
        return true;
    for (size_t i = 0; i < count[0]; i++)
        for (size_t j = same_site ? i + 1 : 0; j < count[1]; j++) {
            enum relation relation = relation_of(a, lists[0][0].ops[i], lists[0][1].ops[j]);
            /* Two runs in which they overlap may have interleaved them in two ways. */
            if (relation == TOGETHER ||
                relation != relation_of(b, lists[1][0].ops[i], lists[1][1].ops[j]))
                return true;
        }
    return false;
}

/* ---- Changes by the host: each belongs to one op ---- */

/* TOGETHER, too, if it is not known. */
static enum relation change_relation(const struct run *run, const struct run_change *change)
{
    const struct run_op *op = run_find_op(run, change->op);
    return op ? spans_relation(span_of(run, op),
                               (struct span){2 * op->clock + 1, 2 * change->until + 1})
              : TOGETHER;
}

static const struct run_change *next_change(const struct run *run, size_t *at, uint64_t key)
{
    while (*at < run->change_count && run->changes[*at].key != key)
        ++*at;
    return *at < run->change_count ? &run->changes[(*at)++] : NULL;
}

/* In the order in which they were found. */
static bool changes_differ(const struct run *a, const struct run *b, uint64_t key)
{
    size_t i = 0, j = 0;
    for (;;) {
        const struct run_change *x = next_change(a, &i, key), *y = next_change(b, &j, key);
        if (!x || !y)
            return false;
        const enum relation relation = change_relation(a, x);
        if (relation == TOGETHER || relation != change_relation(b, y))
            return true;
    }
}

static bool is_change(const struct run *a, const struct run *b, uint64_t key)
{
    size_t i = 0, j = 0;
    return next_change(a, &i, key) || next_change(b, &j, key);
}

static uint64_t status_of(const struct run *run)
{
    return run->part_count ? run->parts[0].value : 0; /* the first of its kinds */
}

bool compare_way(const struct run *a, const struct run *b)
{
    if (a->threads > 1 || b->threads > 1)
        return true; /* their ops come in any order */
    const struct run *shorter = a->op_count < b->op_count ? a : b;
    for (size_t i = 0; i < shorter->op_count; i++)
        if (a->ops[i].key != b->ops[i].key)
            return false;
    return a->op_count == b->op_count || shorter->failed || !shorter->whole || status_of(shorter);
}

bool compare_order(const struct run *a, const struct run *b, const struct run_race *race)
{
    const struct run *runs[] = {a, b};
    struct op_list lists[2][2] = {{{0}}};
    bool differ = false;
    for (int k = 0; k < 2; k++)
        if (is_change(a, b, race->sides[k].key))
            return changes_differ(a, b, race->sides[k].key);
    for (int r = 0; r < 2; r++)
        for (int k = 0; k < 2; k++) {
            lists[r][k] = ops_of(runs[r], race->sides[k].key);
            differ |= !lists[r][k].ops;
        }
    differ = differ || lists_differ(a, b, lists, race->sides[0].key == race->sides[1].key);
    for (int r = 0; r < 4; r++)
        free(lists[r / 2][r % 2].ops);
    return differ;
}
