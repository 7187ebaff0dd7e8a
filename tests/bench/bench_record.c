/* What recording costs: a launch passed to the detector without and with a recording, and to a
 * recording alone (check=0), in nanoseconds of CPU time; and the bytes that it takes in the file.
 * Once a table of kinds of steps, each a launch and what goes with it:
 *
 *   same       three ranges, again and again the same for each of 32 streams
 *   event      the same, an event record and a stream wait
 *   tiles      four strided ranges, of two dimensions each, one of 64 places in turn
 *   forward    three ranges that move on by their length a launch: no set comes twice
 *   pool       three blocks given out, the launch that uses them, and taken back
 *   anywhere   three ranges at random: no set comes twice
 *   graph      one op of 300 ranges
 *
 * Two threads: both launch "same" at once, each for streams of its own. The last column is how long
 * csan replay takes for a launch of the recording. */
#include "csan/base/tick_clock.h"
#include "csan/detector/context.h"
#include "csan/recording/recording_read.h"
#include "csan/recording/recording_write.h"
#include "csan/replay/replay.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { STREAMS = 32, ROUNDS = 9, GRAPH_RANGES = 300, MEGABYTE = 1 << 20 };
static const uint64_t first_base = 0x7f0000000000ull;

struct bench {
    csan_context *context;
    struct recording *recording;
    char path[64];
    csan_lane lanes[STREAMS];
    csan_event *events[STREAMS];
    csan_site sites[STREAMS];
    uint64_t random_state;
};

typedef void step_function(struct bench *bench, uint64_t i);

/* Of the process's threads: what compresses and writes counts, other work on the machine does not.
 */
static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

static void ignore(void *user, const struct csan_race *race)
{
    (void)user;
    (void)race;
}

static void complain(const char *line)
{
    fprintf(stderr, "bench_record: %s\n", line);
    exit(1);
}

static const void *const frames[] = {(void *)0x1000, (void *)0x2000};

static struct bench *bench_create(int record, int check)
{
    static unsigned number;
    struct bench *bench = calloc(1, sizeof *bench);
    char message[256];
    const char *arguments[] = {"x", "y", "z"};
    bench->context = csan_context_create(NULL, ignore, NULL, message, sizeof message);
    if (record) {
        snprintf(bench->path, sizeof bench->path, "/tmp/csan-bench-%d-%u.csan", (int)getpid(),
                 number++);
        bench->recording = recording_create(bench->path, 0, "", complain);
        context_record(bench->context, bench->recording, check);
    }
    for (int i = 0; i < STREAMS; i++) {
        char name[32];
        snprintf(name, sizeof name, "kernel_%d", i);
        bench->sites[i] = csan_site_intern(bench->context, name, arguments, 3, frames, 2);
        bench->lanes[i] =
            csan_lane_create(bench->context, first_base + (uint64_t)i * 4096, "stream");
        bench->events[i] = csan_event_create(bench->context);
        csan_memory_create(bench->context, CSAN_MEMORY_DEVICE,
                           first_base + (uint64_t)i * 64 * MEGABYTE, 64 * MEGABYTE, CSAN_HOST,
                           bench->sites[i]);
    }
    bench->random_state = 1;
    return bench;
}

static void bench_destroy(struct bench *bench)
{
    if (bench->recording)
        recording_finish(bench->recording, "");
    csan_context_destroy(bench->context);
    recording_destroy(bench->recording);
    free(bench);
}

/* ---- steps */

static void launch(struct bench *bench, uint64_t i, const uint64_t offset[3])
{
    uint32_t turn = (uint32_t)(i % STREAMS);
    struct csan_access accesses[3];
    for (uint16_t k = 0; k < 3; k++)
        accesses[k] = (struct csan_access){.base = first_base + (uint64_t)turn * 64 * MEGABYTE +
                                                   k * 16 * MEGABYTE + offset[k],
                                           .bytes = 4096,
                                           .kind = k == 2 ? CSAN_WRITE : CSAN_READ,
                                           .argument = k};
    csan_op(bench->context, bench->lanes[turn], bench->sites[turn], CSAN_LEVEL_RANGES, accesses, 3);
}

static void step_same(struct bench *bench, uint64_t i)
{
    launch(bench, i, (uint64_t[3]){0});
}

static void step_event(struct bench *bench, uint64_t i)
{
    uint32_t turn = (uint32_t)(i % STREAMS);
    step_same(bench, i);
    csan_event_record(bench->context, bench->events[turn], bench->lanes[turn]);
    csan_event_wait(bench->context, bench->events[turn], bench->lanes[(turn + 1) % STREAMS]);
}

static void step_tiles(struct bench *bench, uint64_t i)
{
    uint32_t turn = (uint32_t)(i % STREAMS);
    const struct csan_dim dims[2] = {{4096, 64}, {256, 2}};
    struct csan_access accesses[4];
    for (uint16_t k = 0; k < 4; k++)
        accesses[k] = (struct csan_access){.base = first_base + (uint64_t)turn * 64 * MEGABYTE +
                                                   k * 16ull * MEGABYTE + i / 32 % 64 * 64,
                                           .bytes = 64,
                                           .dims = dims,
                                           .dim_count = 2,
                                           .kind = k == 3 ? CSAN_WRITE : CSAN_READ,
                                           .argument = k};
    csan_op(bench->context, bench->lanes[turn], bench->sites[turn], CSAN_LEVEL_RANGES, accesses, 4);
}

static void step_forward(struct bench *bench, uint64_t i)
{
    uint64_t at = i / STREAMS * 4096 % (16 * MEGABYTE);
    launch(bench, i, (uint64_t[3]){at, at, at});
}

static void step_pool(struct bench *bench, uint64_t i)
{
    uint32_t turn = (uint32_t)(i % STREAMS);
    uint64_t base = first_base + (uint64_t)turn * 64 * MEGABYTE;
    for (uint64_t k = 0; k < 3; k++)
        csan_memory_pool_alloc(bench->context, base + k * 16 * MEGABYTE, 4096, bench->lanes[turn],
                               bench->sites[turn]);
    step_same(bench, i);
    for (uint64_t k = 0; k < 3; k++)
        csan_memory_pool_free(bench->context, base + k * 16 * MEGABYTE, bench->lanes[turn],
                              bench->sites[turn]);
}

static void step_anywhere(struct bench *bench, uint64_t i)
{
    uint64_t offset[3];
    for (int k = 0; k < 3; k++) {
        bench->random_state = bench->random_state * 6364136223846793005ull + 1;
        offset[k] = (bench->random_state >> 40) % (8 * MEGABYTE) & ~UINT64_C(255);
    }
    launch(bench, i, offset);
}

static void step_graph(struct bench *bench, uint64_t i)
{
    uint32_t turn = (uint32_t)(i % STREAMS);
    static struct csan_access accesses[STREAMS][GRAPH_RANGES];
    if (!accesses[turn][0].base)
        for (uint64_t k = 0; k < GRAPH_RANGES; k++)
            accesses[turn][k] = (struct csan_access){
                .base = first_base + (uint64_t)turn * 64 * MEGABYTE + k * 65536,
                .bytes = 4096,
                .kind = CSAN_WRITE,
                .argument = CSAN_NO_ARGUMENT};
    csan_op(bench->context, bench->lanes[turn], bench->sites[turn], CSAN_LEVEL_RANGES,
            accesses[turn], GRAPH_RANGES);
}

/* ---- measuring */

struct cost {
    double ns, bytes, replay_ns;
};

static double best_of(struct bench *bench, step_function *step, uint64_t steps)
{
    double best = 1e300;
    uint64_t at = 0;
    for (int round = 0; round <= ROUNDS; round++) {
        double start = now();
        for (uint64_t i = 0; i < steps; i++)
            step(bench, at++);
        double each = (now() - start) / (double)steps;
        if (round > 0) /* the first warms up */
            best = each < best ? each : best;
    }
    return best;
}

static double replay_time(const char *path, uint64_t steps)
{
    char message[256];
    struct recording_reader *reader = recording_reader_open(path, message, sizeof message);
    csan_context *context = csan_context_create(NULL, ignore, NULL, message, sizeof message);
    struct replay *replay = replay_create(context);
    double start = now();
    if (!reader || replay_run(replay, reader, NULL, NULL) != RECORDED_END)
        complain(reader ? recording_reader_message(reader) : message);
    double took = now() - start;
    replay_destroy(replay);
    csan_context_destroy(context);
    recording_reader_close(reader);
    return took / (double)steps;
}

static struct cost measure(step_function *step, uint64_t steps, int record, int check)
{
    struct bench *bench = bench_create(record, check);
    struct cost cost = {.ns = best_of(bench, step, steps)};
    if (record) {
        const char *path;
        uint64_t entries, bytes;
        recording_finish(bench->recording, "");
        if (!recording_totals(bench->recording, &path, &entries, &bytes))
            complain("the recording failed");
        cost.bytes = (double)bytes / (double)(steps * (ROUNDS + 1));
        cost.replay_ns = replay_time(path, steps * (ROUNDS + 1));
        unlink(path);
    }
    bench_destroy(bench);
    return cost;
}

/* ---- two threads */

struct half {
    struct bench *bench;
    uint64_t first, steps;
};

static void *half_run(void *user)
{
    const struct half *half = user;
    for (uint64_t i = 0; i < half->steps; i++) /* the streams of one half */
        step_same(half->bench, i % (STREAMS / 2) + half->first);
    return NULL;
}

static double measure_threads(int record, uint64_t steps)
{
    struct bench *bench = bench_create(record, 1);
    double best = 1e300;
    for (int round = 0; round < ROUNDS; round++) {
        pthread_t thread;
        struct half halves[2] = {{bench, 0, steps}, {bench, STREAMS / 2, steps}};
        double start = now();
        pthread_create(&thread, NULL, half_run, &halves[1]);
        half_run(&halves[0]);
        pthread_join(thread, NULL);
        double each = (now() - start) / (double)(2 * steps);
        best = each < best ? each : best;
    }
    char path[sizeof bench->path];
    memcpy(path, bench->path, sizeof path);
    bench_destroy(bench);
    unlink(path);
    return best;
}

/* ---- the time of an op */

static double measure_clock(void)
{
    enum { LOOKS = 2000000 };
    struct tick_clock clock = {0};
    double best = 1e300;
    for (int round = 0; round < ROUNDS; round++) {
        uint64_t sum = 0;
        const double start = now();
        for (int i = 0; i < LOOKS; i++)
            sum += tick_clock_now(&clock);
        const double each = (now() - start) / LOOKS;
        __asm__ volatile("" : : "r"(sum));
        best = each < best ? each : best;
    }
    return best;
}

int main(void)
{
    static const struct {
        const char *name;
        step_function *step;
        uint64_t steps;
    } kinds[] = {{"same", step_same, 200000},   {"event", step_event, 200000},
                 {"tiles", step_tiles, 100000}, {"forward", step_forward, 10000},
                 {"pool", step_pool, 20000},    {"anywhere", step_anywhere, 5000},
                 {"graph", step_graph, 2000}};
    printf("| a launch | detector alone | recorded, too | costs | only recorded | bytes | replayed "
           "|\n|---|---|---|---|---|---|---|\n");
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        struct cost alone = measure(kinds[i].step, kinds[i].steps, 0, 1);
        struct cost both = measure(kinds[i].step, kinds[i].steps, 1, 1);
        struct cost only = measure(kinds[i].step, kinds[i].steps, 1, 0);
        printf("| %s | %.0f ns | %.0f ns | %.0f ns | %.0f ns | %.2f | %.0f ns |\n", kinds[i].name,
               alone.ns, both.ns, both.ns - alone.ns, only.ns, both.bytes, both.replay_ns);
    }
    double alone = measure_threads(0, 400000), both = measure_threads(1, 400000);
    printf("| two threads | %.0f ns | %.0f ns | %.0f ns | | | |\n", alone, both, both - alone);
    printf("a look at the clock, once an op: %.1f ns (aim: at most 15)\n", measure_clock());
    return 0;
}
