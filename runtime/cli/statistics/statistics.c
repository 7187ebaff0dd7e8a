/* See statistics.h. */
#define HASH_NONFATAL_OOM 1
#include "runtime/cli/statistics/statistics.h"

#include "csan/base/json_text.h"

#include <csan/detector.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <uthash.h>

enum { CLASSES = 6, NAMES_SHOWN = 40, CLASS_BYTES = 1024, CLASS_FACTOR = 32 };

/* Of all ops of a name. */
struct row {
    UT_hash_handle hh;
    uint64_t ops;
    double read, written; /* bytes; an atomic access counts as both */
    char name[];
};

struct site {
    UT_hash_handle hh;
    uint64_t number;
    struct row *row;
};

struct statistics {
    struct row *rows;
    struct site *sites;
    uint64_t classes[CLASSES];
};

struct statistics *statistics_create(void)
{
    return calloc(1, sizeof(struct statistics));
}

void statistics_destroy(struct statistics *statistics)
{
    struct site *site, *next_site;
    struct row *row, *next_row;
    if (!statistics)
        return;
    HASH_ITER(hh, statistics->sites, site, next_site)
    {
        HASH_DELETE(hh, statistics->sites, site);
        free(site);
    }
    HASH_ITER(hh, statistics->rows, row, next_row)
    {
        HASH_DELETE(hh, statistics->rows, row);
        free(row);
    }
    free(statistics);
}

static struct row *row_of(struct statistics *statistics, const char *name)
{
    struct row *row;
    const size_t bytes = strlen(name) + 1;
    HASH_FIND_STR(statistics->rows, name, row);
    if (row || !(row = calloc(1, sizeof *row + bytes)))
        return row;
    memcpy(row->name, name, bytes);
    HASH_ADD_STR(statistics->rows, name, row);
    return row;
}

static void take_site(struct statistics *statistics, uint64_t number, const char *name)
{
    struct site *site;
    HASH_FIND(hh, statistics->sites, &number, sizeof number, site);
    if (!site && (site = calloc(1, sizeof *site)) != NULL) {
        site->number = number;
        HASH_ADD(hh, statistics->sites, number, sizeof site->number, site);
    }
    if (site)
        site->row = row_of(statistics, name ? name : "");
}

static double bytes_of(const struct csan_access *access)
{
    double bytes = access->bytes == CSAN_TO_END ? 0 : (double)access->bytes;
    for (int i = 0; i < access->dim_count; i++)
        bytes *= (double)access->dims[i].count;
    return bytes;
}

static void take_set(struct statistics *statistics, const struct recording_set *set)
{
    const uint64_t number = set->site;
    double read = 0, written = 0, limit = CLASS_BYTES;
    struct site *site;
    int class = 0;
    for (size_t i = 0; i < set->count; i++) {
        const double bytes = bytes_of(&set->accesses[i]);
        read += set->accesses[i].kind == CSAN_WRITE ? 0 : bytes;
        written += set->accesses[i].kind == CSAN_READ ? 0 : bytes;
    }
    for (; class < CLASSES - 1 && read + written >= limit; class ++)
        limit *= CLASS_FACTOR;
    statistics->classes[class]++;
    HASH_FIND(hh, statistics->sites, &number, sizeof number, site);
    if (!site || !site->row)
        return;
    site->row->ops++;
    site->row->read += read;
    site->row->written += written;
}

void statistics_take(struct statistics *statistics, const struct recorded *recorded)
{
    if (recorded->kind == RECORDED_SITE)
        take_site(statistics, recorded->value[FIELD_SITE], recorded->text);
    else if ((recorded->kind == RECORDED_OP || recorded->kind == RECORDED_RESOLVE) && recorded->set)
        take_set(statistics, recorded->set);
}

static int by_ops(const struct row *a, const struct row *b)
{
    return a->ops != b->ops ? (a->ops < b->ops ? 1 : -1) : strcmp(a->name, b->name);
}

void statistics_print(struct statistics *statistics)
{
    static const char *const names[CLASSES] = {"less than 1 KiB", "less than 32 KiB",
                                               "less than 1 MiB", "less than 32 MiB",
                                               "less than 1 GiB", "1 GiB and more"};
    unsigned shown = 0, more = 0;
    HASH_SORT(statistics->rows, by_ops);
    printf("\n%12s %16s %16s  %s\n", "ops", "bytes read", "bytes written", "name (means)");
    for (struct row *row = statistics->rows; row; row = row->hh.next) {
        if (!row->ops)
            continue;
        if (shown++ >= NAMES_SHOWN) {
            more++;
            continue;
        }
        printf("%12" PRIu64 " %16.0f %16.0f  %s\n", row->ops, row->read / (double)row->ops,
               row->written / (double)row->ops, row->name);
    }
    if (more)
        printf("%12s %u names more\n", "", more);
    printf("\n%12s  bytes that an op reads and writes\n", "ops");
    for (int i = 0; i < CLASSES; i++)
        if (statistics->classes[i])
            printf("%12" PRIu64 "  %s\n", statistics->classes[i], names[i]);
}

static void row_json(struct text *text, const struct row *row)
{
    text_add(text, "\n    {");
    json_member_string(text, "name", row->name);
    json_member_number(text, "ops", row->ops);
    text_add(text, "\"read\": %.0f, \"written\": %.0f}, ", row->read, row->written);
}

void statistics_json(struct statistics *statistics, struct text *text)
{
    double limit = CLASS_BYTES;
    HASH_SORT(statistics->rows, by_ops);
    text_add(text, "\"names\": [");
    for (const struct row *row = statistics->rows; row; row = row->hh.next)
        if (row->ops)
            row_json(text, row);
    json_comma_drop(text);
    text_add(text, "],\n \"op_bytes\": [");
    for (int i = 0; i < CLASSES; i++, limit *= CLASS_FACTOR) {
        text_add(text, "{");
        json_member_maybe(text, "below", i < CLASSES - 1, (uint64_t)limit);
        json_member_number(text, "ops", statistics->classes[i]);
        json_comma_drop(text);
        text_add(text, "}, ");
    }
    json_comma_drop(text);
    text_add(text, "],\n ");
}
