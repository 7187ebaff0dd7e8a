/* The detector's own cost, without CUDA: one step is a launch with three ranges, an event record
 * and a stream wait. Prints a table of nanoseconds a step and, against the first row, ratios; then
 * the resident memory after one million and after one hundred million ops.
 *
 *   streams      lanes that take turns
 *   allocations  live at the time; ranges are 64-byte slots, each lane's own, so nothing races
 *   ranges       hot: each lane's same three again; random: any three of the lane's slots
 *   joins        known: the lane waits for an event it has waited for before;
 *                fresh: for the event its neighbour recorded one step ago */
#include "csan/csan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { SLOT = 64, SPACING = 1 << 16 };
static const uint64_t first_base = 0x100000000ull;

struct setting {
    uint32_t streams, allocations;
    int random, fresh;
};

struct bench {
    csan_context *context;
    struct setting setting;
    csan_lane *lanes;
    csan_event **events;
    csan_event *old_event;
    uint64_t slots_per_lane;
    csan_site site;
    uint64_t random_state;
};

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

static void fail(void *user, const struct csan_race *race)
{
    (void)user;
    fprintf(stderr, "bench_detect: a race where there is none, at %#lx\n", race->address);
    exit(1);
}

static struct bench *bench_create(struct setting setting)
{
    struct bench *bench = calloc(1, sizeof(*bench));
    char message[256];
    bench->setting = setting;
    bench->context = csan_context_create(NULL, fail, NULL, message, sizeof(message));
    bench->lanes = calloc(setting.streams, sizeof(*bench->lanes));
    bench->events = calloc(setting.streams, sizeof(csan_event *));
    bench->random_state = 1;
    const char *arguments[] = {"x", "y", "z"};
    bench->site = csan_site_intern(bench->context, "kernel", arguments, 3, NULL, 0);
    for (uint32_t i = 0; i < setting.allocations; i++)
        csan_memory_create(bench->context, CSAN_MEMORY_DEVICE, first_base + (uint64_t)i * SPACING,
                           SPACING, CSAN_HOST, bench->site);
    bench->old_event = csan_event_create(bench->context);
    for (uint32_t i = 0; i < setting.streams; i++) {
        bench->lanes[i] = csan_lane_create(bench->context, i + 1, "stream");
        bench->events[i] = csan_event_create(bench->context);
    }
    csan_event_record(bench->context, bench->old_event, bench->lanes[0]);
    uint64_t slots = setting.allocations > setting.streams * 48ull ? setting.allocations
                                                                   : setting.streams * 48ull;
    bench->slots_per_lane = slots / setting.streams;
    return bench;
}

static void bench_destroy(struct bench *bench)
{
    csan_context_destroy(bench->context);
    free(bench->lanes);
    free(bench->events);
    free(bench);
}

/* The k-th slot of a lane: slots are dealt round the lanes, then round the allocations. */
static uint64_t slot_address(const struct bench *bench, uint32_t lane, uint64_t k)
{
    uint64_t slot = k * bench->setting.streams + lane;
    return first_base + slot % bench->setting.allocations * SPACING +
           slot / bench->setting.allocations * SLOT;
}

static uint64_t pick(struct bench *bench, uint64_t hot)
{
    if (!bench->setting.random)
        return hot;
    bench->random_state = bench->random_state * 6364136223846793005ull + 1;
    return (bench->random_state >> 33) % bench->slots_per_lane;
}

static void step(struct bench *bench, uint64_t i)
{
    uint32_t turn = (uint32_t)(i % bench->setting.streams);
    struct csan_access accesses[3];
    for (uint16_t k = 0; k < 3; k++)
        accesses[k] = (struct csan_access){.base = slot_address(bench, turn, pick(bench, k)),
                                           .bytes = SLOT,
                                           .kind = k == 2 ? CSAN_WRITE : CSAN_READ,
                                           .argument = k};
    csan_op(bench->context, bench->lanes[turn], bench->site, CSAN_LEVEL_RANGES, accesses, 3);
    csan_event_record(bench->context, bench->events[turn], bench->lanes[turn]);
    uint32_t next = (turn + 1) % bench->setting.streams;
    csan_event_wait(bench->context, bench->setting.fresh ? bench->events[turn] : bench->old_event,
                    bench->lanes[next]);
}

static double measure(struct setting setting)
{
    struct bench *bench = bench_create(setting);
    uint64_t warm = 4ull * setting.streams + 20000, steps = 400000;
    if (setting.random)
        warm += 1000000;
    if (setting.fresh && setting.streams > 100)
        steps /= 4;
    for (uint64_t i = 0; i < warm; i++)
        step(bench, i);
    double best = 1e300;
    for (int round = 0; round < 5; round++) {
        double start = now();
        for (uint64_t i = 0; i < steps / 5; i++)
            step(bench, i);
        double each = (now() - start) / (double)(steps / 5);
        best = each < best ? each : best;
    }
    bench_destroy(bench);
    return best;
}

static long resident_kibibytes(void)
{
    FILE *file = fopen("/proc/self/statm", "r");
    long size = 0, resident = 0;
    if (file && fscanf(file, "%ld %ld", &size, &resident) != 2)
        resident = 0;
    if (file)
        fclose(file);
    return resident * 4;
}

static void print_speed(void)
{
    printf("%8s %12s %7s %6s %9s %7s\n", "streams", "allocations", "ranges", "joins", "ns/step",
           "ratio");
    double first = 0;
    static const uint32_t streams[] = {2, 32, 1024}, allocations[] = {100, 1000000};
    for (int a = 0; a < 2; a++)
        for (int random = 0; random < 2; random++)
            for (int fresh = 0; fresh < 2; fresh++)
                for (int s = 0; s < 3; s++) {
                    struct setting setting = {streams[s], allocations[a], random, fresh};
                    double each = measure(setting);
                    first = first > 0 ? first : each;
                    printf("%8u %12u %7s %6s %9.1f %7.2f\n", streams[s], allocations[a],
                           random ? "random" : "hot", fresh ? "fresh" : "known", each,
                           each / first);
                    fflush(stdout);
                }
}

static void print_memory(uint64_t more)
{
    struct bench *bench = bench_create((struct setting){32, 1000, 1, 1});
    uint64_t i = 0;
    for (; i < 1000000; i++)
        step(bench, i);
    long early = resident_kibibytes();
    for (; i < more; i++)
        step(bench, i);
    long late = resident_kibibytes();
    struct csan_stats stats;
    csan_context_stats(bench->context, &stats);
    printf("memory: %ld KiB after 1000000 ops, %ld KiB after %lu ops, ratio %.3f (%lu cells)\n",
           early, late, more, (double)late / (double)early, stats.cells);
    bench_destroy(bench);
}

int main(int argc, char **argv)
{
    if (argc > 2 && strcmp(argv[1], "--memory") == 0) {
        print_memory(strtoull(argv[2], NULL, 10));
        return 0;
    }
    print_memory(100000000); /* first: the heap is still small */
    print_speed();
    return 0;
}
