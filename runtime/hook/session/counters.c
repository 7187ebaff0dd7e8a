/* See counters.h. */
#include "runtime/hook/session/counters.h"
#include "csan/base/lock_order.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

enum { NAME_BYTES = 64 };

static struct {
    pthread_mutex_t mutex;
    const char *unmodelled[COUNTERS_NOTES];
    size_t unmodelled_count;
    struct {
        char name[NAME_BYTES];
        int version;
    } versions[COUNTERS_NOTES];
    size_t version_count;
    const struct csan_call_counts *calls[COUNTERS_LIBRARIES];
} counters = {.mutex = PTHREAD_MUTEX_INITIALIZER};

void counters_unmodelled(const char *what)
{
    lock_order_take(LOCK_COUNTERS, &counters.mutex);
    size_t i = 0;
    while (i < counters.unmodelled_count && strcmp(counters.unmodelled[i], what) != 0)
        i++;
    if (i == counters.unmodelled_count && i < COUNTERS_NOTES)
        counters.unmodelled[counters.unmodelled_count++] = what;
    lock_order_give(LOCK_COUNTERS, &counters.mutex);
}

void counters_unknown_version(const char *name, int version)
{
    lock_order_take(LOCK_COUNTERS, &counters.mutex);
    size_t i = 0;
    while (i < counters.version_count && (counters.versions[i].version != version ||
                                          strcmp(counters.versions[i].name, name) != 0))
        i++;
    if (i == counters.version_count && i < COUNTERS_NOTES) {
        snprintf(counters.versions[i].name, NAME_BYTES, "%s", name);
        counters.versions[i].version = version;
        counters.version_count++;
    }
    lock_order_give(LOCK_COUNTERS, &counters.mutex);
}

size_t counters_unmodelled_list(const char **names, size_t capacity)
{
    size_t count = 0;
    lock_order_take(LOCK_COUNTERS, &counters.mutex);
    while (count < counters.unmodelled_count && count < capacity) {
        names[count] = counters.unmodelled[count];
        count++;
    }
    lock_order_give(LOCK_COUNTERS, &counters.mutex);
    return count;
}

void counters_unknown_versions(void (*each)(void *user, const char *name, int version), void *user)
{
    lock_order_take(LOCK_COUNTERS, &counters.mutex);
    for (size_t i = 0; i < counters.version_count; i++)
        each(user, counters.versions[i].name, counters.versions[i].version);
    lock_order_give(LOCK_COUNTERS, &counters.mutex);
}

void counters_calls_add(const struct csan_call_counts *counts)
{
    lock_order_take(LOCK_COUNTERS, &counters.mutex);
    size_t i = 0;
    while (i < COUNTERS_LIBRARIES && counters.calls[i] && counters.calls[i] != counts)
        i++;
    if (i < COUNTERS_LIBRARIES)
        counters.calls[i] = counts;
    lock_order_give(LOCK_COUNTERS, &counters.mutex);
}

const struct csan_call_counts *counters_calls(size_t index)
{
    lock_order_take(LOCK_COUNTERS, &counters.mutex);
    const struct csan_call_counts *counts =
        index < COUNTERS_LIBRARIES ? counters.calls[index] : NULL;
    lock_order_give(LOCK_COUNTERS, &counters.mutex);
    return counts;
}
