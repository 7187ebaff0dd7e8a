/* What a run did and left behind, written to the file that CSAN_OUTCOME names, so that two runs of
 * a program under different schedules can be compared (csan explore does). Lines of text:
 *
 *   csan outcome 1
 *   item 7 120 131          item 7 ran from step 120 to step 131
 *   failed 700              a context failed with that error; what was under way is cut off
 *   copy 9 00c0ffee...      what the copy that is item 9 brought to the host: a hash
 *   freed device 3 16384 0badcafe...   allocation 3 of device memory when it was freed
 *   left host 1 4096 ...    allocation 1 of pinned and managed memory at exit
 *   threads 1               so many threads enqueued work
 *   end                     the process ended in an orderly way
 *
 * Memory is looked at when nobody may use it any more: at the moment its free is executed, or at
 * exit when all work is done. Numbers count the allocations of each kind, in the program's order.
 *
 * For runs to be comparable, addresses must not depend on the schedule: with device.fixed_memory
 * the pools reuse only what the program's own order allows, and give nothing back. And device
 * memory is born with a pattern, since a real device promises nothing: a kernel that reads it too
 * early shows. Recorded schedules remember this, and replaying one sets it too. */
#include "csan/base/hash.h"
#include "runtime/device/driver/driver.h"
#include "csan/base/environment.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* As a float, 48.6; as an integer, an index far out: neither vanishes in arithmetic. Larger
 * allocations stay zero, else they would become real memory. */
enum { PATTERN = 0x42, PATTERN_BYTES = 64 << 20 };

static struct {
    FILE *file;
} outcome;

void outcome_start(void)
{
    const char *path = environment_get("CSAN_OUTCOME");
    if (!path || !*path)
        return;
    outcome.file = fopen(path, "we");
    if (!outcome.file) {
        device_say("cannot write the outcome to '%s': %s", path, strerror(errno));
        return;
    }
    fputs("csan outcome 1\n", outcome.file);
    device.fixed_memory = true;
}

bool outcome_wanted(void)
{
    return outcome.file != NULL;
}

void outcome_born(uint64_t address, uint64_t bytes)
{
    if (device.fixed_memory && address && bytes <= PATTERN_BYTES)
        memset(memory_pointer(address), PATTERN, bytes);
}

void outcome_item(uint64_t item, uint64_t started)
{
    if (outcome.file)
        fprintf(outcome.file, "item %" PRIu64 " %" PRIu64 " %" PRIu64 "\n",
                item - device.schedule.base, started, device.schedule.clock);
}

void outcome_copy(uint64_t item, uint64_t hash)
{
    if (outcome.file)
        fprintf(outcome.file, "copy %" PRIu64 " %016" PRIx64 "\n", item - device.schedule.base,
                hash);
}

void outcome_failed(CUresult error)
{
    if (outcome.file)
        fprintf(outcome.file, "failed %d\n", (int)error);
}

static void memory_line(const char *how, const struct arena_info *info)
{
    bool is_device = arena_owns(&device.device_memory, info->base);
    uint64_t hash = hash_mix_bytes(0, memory_pointer(info->base), info->bytes);
    fprintf(outcome.file, "%s %s %" PRIu64 " %" PRIu64 " %016" PRIx64 "\n", how,
            is_device ? "device" : "host", info->id, info->bytes, hash);
}

void outcome_freed(const struct arena_info *info)
{
    if (outcome.file)
        memory_line("freed", info);
}

void outcome_freed_at(const struct arena *arena, uint64_t base)
{
    struct arena_info info;
    if (outcome.file && arena_find(arena, base, &info))
        memory_line("freed", &info);
}

static bool is_programs(const struct arena_info *info)
{
    enum memory_owner owner = memory_tag_owner(info->tag);
    return owner == OWNER_PROGRAM || owner == OWNER_MANAGED || owner == OWNER_POOL ||
           owner == OWNER_MODULE;
}

void outcome_flush(void)
{
    if (outcome.file)
        fflush(outcome.file);
}

void outcome_close(void)
{
    const struct arena *arenas[] = {&device.device_memory, &device.host_memory};
    struct arena_info info;
    if (!outcome.file)
        return;
    for (int i = 0; i < 2; i++)
        for (uint64_t from = 0; arena_next(arenas[i], from, &info); from = info.base + 1)
            if (is_programs(&info))
                memory_line("left", &info);
    fprintf(outcome.file, "threads %" PRIu64 "\nend\n", device.schedule.threads);
    fclose(outcome.file);
    outcome.file = NULL;
}
