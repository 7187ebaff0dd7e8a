/* Addresses of the process's own memory, from /proc/self/maps (proc(5)): readable mappings that are
 * private. Memory that a device has, too, is mapped shared or is not readable. See host_address.h.
 *
 * A table is read anew after so many misses, and the next time after twice as many: a miss may be
 * an address that nobody mapped. Tables stay, for who looks at an older one. */
#include "runtime/hook/operator/host_address.h"
#include "csan/base/array.h"
#include "csan/base/range_map.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MISSES_FIRST = 16 };
#define LEAST (UINT64_C(1) << 32) /* two numbers of four bytes, one of them small, are below */

struct table {
    struct table *older;
    size_t count, room;
    struct range *ranges; /* in order, apart */
    uint64_t least;       /* the first address that one has from LEAST on */
};

static struct {
    struct table *newest; /* atomic */
    uint64_t misses, misses_next;
    pthread_mutex_t mutex; /* of who reads a table */
} own = {.misses_next = 1, .mutex = PTHREAD_MUTEX_INITIALIZER};

static void range_take(struct table *table, struct range range)
{
    if (range.end <= LEAST) /* no number is looked up there */
        return;
    if (!table->count)
        table->least = range.start < LEAST ? LEAST : range.start;
    if (table->count && table->ranges[table->count - 1].end == range.start)
        table->ranges[table->count - 1].end = range.end;
    else if (array_room(&table->ranges, table->count, &table->room, 256, SIZE_MAX,
                        sizeof *table->ranges))
        table->ranges[table->count++] = range;
}

static void line_take(struct table *table, const char *line)
{
    unsigned long long start, end;
    char may[5];
    int name = 0;
    if (sscanf(line, "%llx-%llx %4s %*x %*s %*u %n", &start, &end, may, &name) == 3 &&
        may[0] == 'r' && may[3] == 'p' && name && strncmp(line + name, "/dev/", 5) != 0)
        range_take(table, (struct range){start, end});
}

/* NULL: it cannot be read, or memory is short. */
static struct table *table_read(void)
{
    FILE *file = fopen("/proc/self/maps", "re");
    struct table *table = file ? calloc(1, sizeof *table) : NULL;
    char *line = NULL;
    size_t room = 0;
    while (table && getline(&line, &room, file) > 0)
        line_take(table, line);
    free(line);
    if (file)
        fclose(file);
    return table;
}

static void table_renew(void)
{
    pthread_mutex_lock(&own.mutex);
    if (__atomic_load_n(&own.misses, __ATOMIC_RELAXED) >= own.misses_next) {
        struct table *fresh = table_read();
        if (fresh) {
            fresh->older = own.newest;
            __atomic_store_n(&own.newest, fresh, __ATOMIC_RELEASE);
        }
        __atomic_store_n(&own.misses_next,
                         own.misses_next < MISSES_FIRST ? MISSES_FIRST : 2 * own.misses_next,
                         __ATOMIC_RELAXED);
    }
    pthread_mutex_unlock(&own.mutex);
}

static bool table_has(const struct table *table, uint64_t number)
{
    size_t low = 0, high = table ? table->count : 0;
    while (low < high) {
        const size_t middle = (low + high) / 2;
        if (table->ranges[middle].end <= number)
            low = middle + 1;
        else
            high = middle;
    }
    return table && low < table->count && table->ranges[low].start <= number;
}

/* Most numbers are below all that is mapped there: they are no misses. */
static bool is_below(const struct table *table, uint64_t number)
{
    return table && table->count && number < table->least;
}

bool host_address_is(uint64_t number)
{
    const struct table *table = __atomic_load_n(&own.newest, __ATOMIC_ACQUIRE);
    if (number < LEAST || number >> 47 || is_below(table, number))
        return false;
    if (table_has(table, number))
        return true;
    if (__atomic_add_fetch(&own.misses, 1, __ATOMIC_RELAXED) <
        __atomic_load_n(&own.misses_next, __ATOMIC_RELAXED))
        return false;
    table_renew();
    return table_has(__atomic_load_n(&own.newest, __ATOMIC_ACQUIRE), number);
}
