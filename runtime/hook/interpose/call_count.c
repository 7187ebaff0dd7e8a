/* Calls by entry point. See call_count.h. */
#include "runtime/hook/interpose/call_count.h"
#include "csan/base/environment.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

struct call_count *call_counts;

static struct {
    const char *path;
    pid_t process; /* a forked child writes nothing */
} wanted;

bool call_count_start(void)
{
    wanted.path = environment_get("CSAN_CALL_COUNTS");
    wanted.process = getpid();
    if (wanted.path && *wanted.path)
        call_counts = calloc(driver_table.count, sizeof *call_counts);
    return call_counts != NULL;
}

void call_count(const struct driver_entry *entry, CUresult result)
{
    struct call_count *count = &call_counts[entry - driver_table.entries];
    __atomic_fetch_add(&count->calls, 1, __ATOMIC_RELAXED);
    if (result != CUDA_SUCCESS)
        __atomic_fetch_add(&count->failures, 1, __ATOMIC_RELAXED);
}

void call_count_own(const char *symbol, CUresult result)
{
    const struct driver_entry *entry = call_counts ? driver_entry_of_symbol(symbol) : NULL;
    if (entry)
        call_count(entry, result);
}

static uint64_t calls_of(unsigned number)
{
    return driver_table.entries[number].unmodelled
               ? __atomic_load_n(&driver_table.entries[number].called, __ATOMIC_RELAXED)
               : __atomic_load_n(&call_counts[number].calls, __ATOMIC_RELAXED);
}

static void counts_write(FILE *file)
{
    fputs("csan calls 1\n", file);
    for (unsigned i = 0; i < driver_table.count; i++)
        if (driver_table.entries[i].hooked || driver_table.entries[i].unmodelled)
            fprintf(file, "%s %s %" PRIu64 " %" PRIu64 "\n",
                    driver_table.entries[i].hooked ? "op" : "unmodelled",
                    driver_table.entries[i].symbol, calls_of(i),
                    __atomic_load_n(&call_counts[i].failures, __ATOMIC_RELAXED));
}

/* The last thing: what the program's handlers and the runtime's own call at the end counts, too. */
__attribute__((destructor)) static void process_over(void)
{
    char path[4096];
    bool any = false;
    if (!call_counts || getpid() != wanted.process)
        return;
    for (unsigned i = 0; i < driver_table.count; i++)
        any |= calls_of(i) != 0;
    int length = snprintf(path, sizeof path, "%s.%d", wanted.path, (int)wanted.process);
    FILE *file = any && length < (int)sizeof path ? fopen(path, "we") : NULL;
    if (any && !file)
        fprintf(stderr, "csan: cannot write CSAN_CALL_COUNTS to '%s.%d'\n", wanted.path,
                (int)wanted.process);
    if (file) {
        counts_write(file);
        fclose(file);
    }
}
