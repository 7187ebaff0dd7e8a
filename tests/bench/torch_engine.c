/* The engine behind csan_torch alone, on the workload of torch_engine.py, which runs this and
 * PyTorch's EventHandler and compares. A step is a kernel that reads two tensors and writes one, an
 * event record and a stream wait, over 32 streams and 1,000 tensors:
 *
 *   chain  any three tensors; the next step's stream waits for the event just recorded
 *   apart  any three of the stream's own tensors; the stream waits for an event it has waited for
 *          before
 *   same   the same with the same three tensors again and again
 *
 * Another thread sleeps, as in every process that uses CUDA: locks cost what they cost there.
 * Prints "speed SETTING NANOSECONDS" (best of a hundred short rounds: a busy machine interrupts
 * long ones), then runs the chain on and prints "memory LAUNCHES KIBIBYTES" (resident) at 100,000,
 * 5,000,000 and 10,000,000 launches. */
#include <csan/csan.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { STREAMS = 32, TENSORS = 1000, SPACING = 512 };

struct engine {
    csan_context *context;
    csan_lane lanes[STREAMS];
    csan_event *events[STREAMS], *old_event;
    csan_site site;
    uint64_t random, steps;
    enum setting { CHAIN, APART, SAME } setting;
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
    fprintf(stderr, "torch_engine: a race where there is none, at %#lx\n", race->address);
    exit(1);
}

static uint64_t address_of(uint64_t tensor)
{
    return 0x7f0000000000u + tensor * SPACING;
}

static void engine_begin(struct engine *engine, enum setting setting)
{
    char message[256] = "no memory";
    const char *arguments[] = {"self", "other", "out"};
    *engine = (struct engine){.random = 1, .setting = setting};
    engine->context = csan_context_create("dedup=0", fail, NULL, message, sizeof(message));
    if (!engine->context) {
        fprintf(stderr, "torch_engine: %s\n", message);
        exit(1);
    }
    engine->site = csan_site_intern(engine->context, "aten::add.out", arguments, 3, NULL, 0);
    engine->old_event = csan_event_create(engine->context);
    for (unsigned i = 0; i < STREAMS; i++) {
        engine->lanes[i] = csan_lane_create(engine->context, i, "stream");
        engine->events[i] = csan_event_create(engine->context);
    }
    for (uint64_t i = 0; i < TENSORS; i++)
        csan_memory_pool_alloc(engine->context, address_of(i), 1, CSAN_HOST, engine->site);
    csan_event_record(engine->context, engine->old_event, engine->lanes[0]);
}

static void engine_end(struct engine *engine)
{
    csan_event_destroy(engine->context, engine->old_event);
    for (unsigned i = 0; i < STREAMS; i++)
        csan_event_destroy(engine->context, engine->events[i]);
    csan_context_destroy(engine->context);
}

/* Of all tensors, or of every 32nd: the stream's own. */
static uint64_t pick(struct engine *engine, unsigned stream, uint64_t place)
{
    if (engine->setting == SAME)
        return place * STREAMS + stream;
    engine->random = engine->random * 6364136223846793005u + 1442695040888963407u;
    uint64_t number = engine->random >> 33;
    return engine->setting == APART ? number % (TENSORS / STREAMS) * STREAMS + stream
                                    : number % TENSORS;
}

static void step(struct engine *engine)
{
    unsigned stream = engine->steps++ % STREAMS, next = (stream + 1) % STREAMS;
    struct csan_access accesses[3];
    for (uint16_t i = 0; i < 3; i++)
        accesses[i] = (struct csan_access){.base = address_of(pick(engine, stream, i)),
                                           .bytes = 1,
                                           .kind = i == 2 ? CSAN_WRITE : CSAN_READ,
                                           .argument = i};
    csan_op(engine->context, engine->lanes[stream], engine->site, CSAN_LEVEL_ANNOTATED, accesses,
            3);
    csan_event_record(engine->context, engine->events[stream], engine->lanes[stream]);
    csan_event_wait(engine->context,
                    engine->setting == CHAIN ? engine->events[stream] : engine->old_event,
                    engine->lanes[next]);
}

static void run_until(struct engine *engine, uint64_t steps)
{
    while (engine->steps < steps)
        step(engine);
}

static void print_speed(const char *name, enum setting setting)
{
    enum { ROUND = 10000, ROUNDS = 100 };
    struct engine engine;
    double best = 1e300;
    engine_begin(&engine, setting);
    run_until(&engine, 20 * ROUND);
    for (int round = 0; round < ROUNDS; round++) {
        double start = now();
        run_until(&engine, engine.steps + ROUND);
        double each = (now() - start) / ROUND;
        best = each < best ? each : best;
    }
    engine_end(&engine);
    printf("speed %s %.1f\n", name, best);
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

static void print_memory(void)
{
    static const uint64_t launches[] = {100000, 5000000, 10000000};
    struct engine engine;
    engine_begin(&engine, CHAIN);
    for (size_t i = 0; i < sizeof(launches) / sizeof(launches[0]); i++) {
        run_until(&engine, launches[i]);
        printf("memory %lu %ld\n", launches[i], resident_kibibytes());
    }
    engine_end(&engine);
}

static void *sleep_on(void *user)
{
    for (;;)
        pause();
    return user;
}

int main(void)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, sleep_on, NULL) != 0)
        return 1;
    print_speed("chain", CHAIN);
    print_speed("apart", APART);
    print_speed("same", SAME);
    print_memory();
    return 0;
}
