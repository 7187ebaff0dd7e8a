/* The detector's own cost, without CUDA: one step is a launch with three ranges, an event record
 * and a stream wait. Prints a table of nanoseconds a step and, against the first row, ratios; then
 * the resident memory after one million and after one hundred million ops.
 *
 *   streams      lanes that take turns
 *   allocations  live at the time; ranges are 64-byte slots, each lane's own, so nothing races
 *   ranges       hot: each lane's same three again; random: any three of the lane's slots
 *   joins        known: the lane waits for an event it has waited for before;
 *                fresh: for the event its neighbour recorded one step ago
 *
 * A second table has steps whose launch touches strided ranges of one matrix, half of them read,
 * half written, with their ratio to the first row of the first table:
 *
 *   ranges    of the launch: column blocks of 64 bytes, 4,096 rows
 *   columns   own: each stream has its own, as tiles do; same: all streams the same, joins fresh
 *   others    strided ranges that another, finished launch left in the matrix before
 *
 * A machine with other work counts instructions: bench_detect --row ROW STEPS makes the steps of
 * one row of the first table, from 0. Two numbers of steps under valgrind --tool=callgrind show
 * what one takes.
 */
#include <csan/csan.h>

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

/* ---- strided ranges */

enum { MATRIX_PITCH = 1 << 20, MATRIX_ROWS = 4096, COLUMN = 64, STRIDED_MAX = 64 };

struct strided_setting {
    uint32_t streams, ranges;
    int same, fresh;
    uint32_t others;
};

static struct csan_dim matrix_rows = {MATRIX_PITCH, MATRIX_ROWS};

static void strided_op(struct bench *bench, csan_lane lane, uint32_t column, uint32_t ranges)
{
    struct csan_access accesses[STRIDED_MAX];
    for (uint32_t k = 0; k < ranges; k++)
        accesses[k] = (struct csan_access){.base = first_base + (uint64_t)(column + k) * COLUMN,
                                           .bytes = COLUMN,
                                           .dims = &matrix_rows,
                                           .dim_count = 1,
                                           .kind = k % 2 ? CSAN_WRITE : CSAN_READ,
                                           .argument = (uint16_t)(k % 3)};
    csan_op(bench->context, lane, bench->site, CSAN_LEVEL_RANGES, accesses, ranges);
}

static void strided_step(struct bench *bench, struct strided_setting setting, uint64_t i)
{
    uint32_t turn = (uint32_t)(i % setting.streams), next = (turn + 1) % setting.streams;
    strided_op(bench, bench->lanes[turn], setting.same ? 0 : turn * setting.ranges, setting.ranges);
    csan_event_record(bench->context, bench->events[turn], bench->lanes[turn]);
    csan_event_wait(bench->context, setting.fresh ? bench->events[turn] : bench->old_event,
                    bench->lanes[next]);
}

static double measure_strided(struct strided_setting setting)
{
    struct bench *bench = bench_create((struct setting){setting.streams, 1, 0, setting.fresh});
    csan_memory_create(bench->context, CSAN_MEMORY_DEVICE, first_base,
                       (uint64_t)MATRIX_PITCH * MATRIX_ROWS, CSAN_HOST, bench->site);
    for (uint32_t i = 0; i < setting.others; i++)
        strided_op(bench, bench->lanes[0], 4096 + i, 1);
    double best = 1e300;
    for (int round = 0; round < 5; round++) {
        uint64_t steps = 0;
        double start = now(), end;
        do {
            for (uint32_t i = 0; i < 16 * setting.streams; i++)
                strided_step(bench, setting, steps++);
            end = now();
        } while (end - start < 20e6);
        double each = (end - start) / (double)steps;
        best = each < best ? each : best;
    }
    bench_destroy(bench);
    return best;
}

static void print_strided(double contiguous)
{
    printf("%8s %12s %7s %6s %7s %9s %7s %9s\n", "streams", "strided", "columns", "joins", "others",
           "ns/step", "ratio", "ns/range");
    static const struct strided_setting settings[] = {
        {1, 1, 0, 0, 0},   {1, 3, 0, 0, 0},  {1, 8, 0, 0, 0},  {1, 32, 0, 0, 0}, {1, 64, 0, 0, 0},
        {1, 8, 0, 0, 500}, {2, 32, 1, 1, 0}, {8, 1, 0, 0, 0},  {8, 8, 0, 0, 0},  {8, 32, 0, 0, 0},
        {8, 64, 0, 0, 0},  {8, 8, 0, 1, 0},  {8, 32, 1, 1, 0}, {8, 64, 0, 1, 0}, {8, 8, 0, 0, 500},
    };
    for (size_t i = 0; i < sizeof(settings) / sizeof(settings[0]); i++) {
        struct strided_setting setting = settings[i];
        double each = measure_strided(setting);
        printf("%8u %12u %7s %6s %7u %9.1f %7.2f %9.1f\n", setting.streams, setting.ranges,
               setting.same ? "same" : "own", setting.fresh ? "fresh" : "known", setting.others,
               each, each / contiguous, each / setting.ranges);
        fflush(stdout);
    }
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

enum { ROWS = 24 };

static struct setting row_of(unsigned row)
{
    static const uint32_t streams[] = {2, 32, 1024}, allocations[] = {100, 1000000};
    return (struct setting){streams[row % 3], allocations[row / 12], row / 6 % 2, row / 3 % 2};
}

/* The first row's nanoseconds a step. */
static double print_speed(void)
{
    printf("%8s %12s %7s %6s %9s %7s\n", "streams", "allocations", "ranges", "joins", "ns/step",
           "ratio");
    double first = 0;
    for (unsigned row = 0; row < ROWS; row++) {
        const struct setting setting = row_of(row);
        const double each = measure(setting);
        first = first > 0 ? first : each;
        printf("%8u %12u %7s %6s %9.1f %7.2f\n", setting.streams, setting.allocations,
               setting.random ? "random" : "hot", setting.fresh ? "fresh" : "known", each,
               each / first);
        fflush(stdout);
    }
    return first;
}

static void make_steps(unsigned row, uint64_t steps)
{
    struct bench *bench = bench_create(row_of(row));
    for (uint64_t i = 0; i < steps; i++)
        step(bench, i);
    bench_destroy(bench);
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
    if (argc > 3 && strcmp(argv[1], "--row") == 0) {
        make_steps((unsigned)strtoul(argv[2], NULL, 10) % ROWS, strtoull(argv[3], NULL, 10));
        return 0;
    }
    if (argc > 1 && strcmp(argv[1], "--strided") == 0) {
        print_strided(measure((struct setting){2, 100, 0, 0}));
        return 0;
    }
    print_memory(100000000); /* first: the heap is still small */
    print_strided(print_speed());
    return 0;
}
