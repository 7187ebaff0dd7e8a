/* The end of the run in a few lines. See summary.h. */
#include "runtime/hook/summary.h"
#include "runtime/hook/driver.h"
#include "runtime/hook/guard.h"
#include "runtime/hook/stream.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

enum { NOTE_LIMIT = 64, NAME_BYTES = 64 };

static struct {
    pthread_mutex_t mutex;
    const char *unmodelled[NOTE_LIMIT];
    size_t unmodelled_count;
    struct {
        char name[NAME_BYTES];
        int version;
    } versions[NOTE_LIMIT];
    size_t version_count;
} summary = {.mutex = PTHREAD_MUTEX_INITIALIZER};

void summary_unmodelled(const char *what)
{
    pthread_mutex_lock(&summary.mutex);
    size_t i = 0;
    while (i < summary.unmodelled_count && strcmp(summary.unmodelled[i], what) != 0)
        i++;
    if (i == summary.unmodelled_count && i < NOTE_LIMIT)
        summary.unmodelled[summary.unmodelled_count++] = what;
    pthread_mutex_unlock(&summary.mutex);
}

void summary_unknown_version(const char *name, int version)
{
    pthread_mutex_lock(&summary.mutex);
    size_t i = 0;
    while (i < summary.version_count &&
           (summary.versions[i].version != version || strcmp(summary.versions[i].name, name) != 0))
        i++;
    if (i == summary.version_count && i < NOTE_LIMIT) {
        snprintf(summary.versions[i].name, NAME_BYTES, "%s", name);
        summary.versions[i].version = version;
        summary.version_count++;
    }
    pthread_mutex_unlock(&summary.mutex);
}

void summary_print(void) {}
