/* What recording costs each program of samples/, a launch: a kernel, copy or set. Each is recorded
 * on the embedded device, once, as it is. Then a detector gets its work again and again, as if a
 * loop were around it: all that lies between its first launch (or stream-ordered allocation) and
 * its last wait, with the events, waits and host synchronizations between; streams, events and
 * memory of the host are made once.
 *
 *   one run     bytes of the whole file: names, stacks, modules and facts are most of it
 *   repeated    bytes by which the file grows with each further launch
 *   host        CPU time of the launching thread, less the same without a recording
 *   all         CPU time of the recording's own thread, too, which compresses and writes */
#include "csan/detector/context.h"
#include "csan/recording/recording_read.h"
#include "csan/recording/recording_write.h"
#include "csan/replay/replay.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { LAUNCHES = 100000, ROUNDS = 9, WORK_MAX = 4096, FOUND_RACES = 66 };

/* A sample's recording: what comes before its work, played once, and the work itself. */
struct sample {
    struct recording_reader *reader;
    struct recorded work[WORK_MAX];
    size_t count, launches;
    double file_bytes;
};

struct times {
    double host, all;
};

static void complain(const char *line)
{
    fprintf(stderr, "bench_samples: %s\n", line);
    exit(1);
}

static void ignore(void *user, const struct csan_race *race)
{
    (void)user;
    (void)race;
}

static double clock_now(clockid_t clock)
{
    struct timespec time;
    clock_gettime(clock, &time);
    return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

/* ---- a sample's work */

/* The unit tests among the samples ask for races, so they are checked while they are recorded. */
static void record(const char *program, const char *path)
{
    char command[1024];
    snprintf(command, sizeof command,
             "CSAN_DEVICE=embedded '" CSAN "' record --check -o '%s' -- '%s' >/dev/null 2>&1", path,
             program);
    unlink(path);
    int status = system(command);
    if (!WIFEXITED(status) || (WEXITSTATUS(status) != 0 && WEXITSTATUS(status) != FOUND_RACES))
        complain(command);
}

static int is_launch(const struct recorded *recorded)
{
    return recorded->kind == RECORDED_OP && recorded->value[FIELD_LANE] != CSAN_HOST;
}

static int begins_work(const struct recorded *recorded)
{
    return is_launch(recorded) ||
           (recorded->kind == RECORDED_BIRTH && recorded->value[FIELD_LANE] != CSAN_HOST);
}

/* What a loop around the work would leave outside, and what is played once however often it is
 * used. */
static int is_outside(const struct recorded *recorded)
{
    switch (recorded->kind) {
    case RECORDED_OP:
    case RECORDED_JOIN_LANE:
    case RECORDED_JOIN:
    case RECORDED_SNAPSHOT:
    case RECORDED_SNAPSHOT_ALL:
    case RECORDED_SNAPSHOT_EVENT:
    case RECORDED_RELEASE:
    case RECORDED_RECORD:
    case RECORDED_WAIT:
    case RECORDED_FREE_END:
        return 0;
    case RECORDED_BIRTH:
    case RECORDED_FREE_BEGIN:
        return recorded->value[FIELD_LANE] == CSAN_HOST;
    default:
        return 1;
    }
}

static int ends_work(const struct recorded *recorded)
{
    return recorded->kind == RECORDED_LANE_DESTROY || recorded->kind == RECORDED_EVENT_DESTROY ||
           (recorded->kind == RECORDED_FREE_BEGIN && recorded->value[FIELD_LANE] == CSAN_HOST);
}

static struct recording_reader *reader_open(const char *path)
{
    char message[256];
    struct recording_reader *reader = recording_reader_open(path, message, sizeof message);
    if (!reader)
        complain(message);
    return reader;
}

/* The sets that entries refer to stay in the reader's slots. */
static void sample_read(struct sample *sample, const char *path)
{
    struct recorded recorded;
    int begun = 0, over = 0;
    *sample = (struct sample){.reader = reader_open(path)};
    while (recording_reader_next(sample->reader, &recorded) == RECORDED_ENTRY) {
        begun |= begins_work(&recorded);
        over |= begun && ends_work(&recorded);
        if (!begun || over || is_outside(&recorded))
            continue;
        if (sample->count == WORK_MAX)
            complain("a sample does too much");
        sample->work[sample->count++] = recorded;
        sample->launches += (size_t)is_launch(&recorded);
    }
    sample->file_bytes = (double)recording_reader_extent(sample->reader).bytes;
    if (!sample->launches)
        complain("a sample launches nothing");
}

/* ---- playing it */

static void take(struct replay *replay, const struct recorded *recorded)
{
    const char *wrong = replay_take(replay, recorded);
    if (wrong)
        complain(wrong);
}

/* Everything once, up to the end of the work. */
static void play_begin(struct replay *replay, const char *path)
{
    struct recording_reader *reader = reader_open(path);
    struct recorded recorded;
    int begun = 0;
    while (recording_reader_next(reader, &recorded) == RECORDED_ENTRY) {
        begun |= begins_work(&recorded);
        if (begun && ends_work(&recorded))
            break;
        take(replay, &recorded);
    }
    recording_reader_close(reader);
}

/* The work, `passes` times; recorded at `copy`, unless that is NULL. */
static struct times play(const struct sample *sample, const char *path, size_t passes,
                         const char *copy, uint64_t *bytes)
{
    char message[256];
    csan_context *context = csan_context_create(NULL, ignore, NULL, message, sizeof message);
    struct recording *recording = copy ? recording_create(copy, 0, "", complain) : NULL;
    struct replay *replay = replay_create(context);
    if (recording)
        context_record(context, recording, 1);
    play_begin(replay, path);
    struct times start = {clock_now(CLOCK_THREAD_CPUTIME_ID), clock_now(CLOCK_PROCESS_CPUTIME_ID)};
    for (size_t pass = 0; pass < passes; pass++)
        for (size_t i = 0; i < sample->count; i++)
            take(replay, &sample->work[i]);
    struct times took = {clock_now(CLOCK_THREAD_CPUTIME_ID) - start.host, 0};
    if (recording)
        recording_finish(recording, "");
    took.all = clock_now(CLOCK_PROCESS_CPUTIME_ID) - start.all;
    if (recording) {
        const char *name;
        uint64_t entries;
        if (!recording_totals(recording, &name, &entries, bytes))
            complain("the recording failed");
        unlink(copy);
    }
    replay_destroy(replay);
    csan_context_destroy(context);
    recording_destroy(recording);
    return took;
}

static struct times least(struct times a, struct times b)
{
    return (struct times){a.host < b.host ? a.host : b.host, a.all < b.all ? a.all : b.all};
}

struct cost {
    double entries, once, repeated, host, all;
};

static void cost_add(struct cost *sum, const struct cost *cost, double times)
{
    sum->entries += cost->entries * times;
    sum->once += cost->once * times;
    sum->repeated += cost->repeated * times;
    sum->host += cost->host * times;
    sum->all += cost->all * times;
}

static void cost_print(const char *name, double launches, const struct cost *sum, double count)
{
    printf("| %s | %.0f | %.1f | %.0f | %.2f | %.0f ns | %.0f ns |\n", name, launches,
           sum->entries / count, sum->once / count, sum->repeated / count, sum->host / count,
           sum->all / count);
    fflush(stdout);
}

/* The best of each, taken in turn: what else the machine does comes to both. */
static struct cost measure(const struct sample *sample, const char *path)
{
    char copy[64];
    uint64_t bytes = 0, twice = 0;
    size_t passes = LAUNCHES / sample->launches;
    double launches = (double)(passes * sample->launches);
    struct times without = {1e300, 1e300}, with = without;
    snprintf(copy, sizeof copy, "/tmp/csan-bench-%d-copy.csan", (int)getpid());
    for (int round = 0; round < ROUNDS; round++) {
        without = least(without, play(sample, path, passes, NULL, NULL));
        with = least(with, play(sample, path, passes, copy, &bytes));
    }
    play(sample, path, 2 * passes, copy, &twice);
    return (struct cost){.entries = (double)sample->count / (double)sample->launches,
                         .once = sample->file_bytes / (double)sample->launches,
                         .repeated = (double)(twice - bytes) / launches,
                         .host = (with.host - without.host) / launches,
                         .all = (with.all - without.all) / launches};
}

int main(void)
{
    static struct sample sample;
    char programs[] = SAMPLES, path[64];
    struct cost samples = {0}, all = {0};
    double count = 0, launches = 0;
    snprintf(path, sizeof path, "/tmp/csan-bench-%d.csan", (int)getpid());
    printf("| sample | launches | entries a launch | one run: bytes a launch | repeated: bytes | "
           "host | all |\n|---|---|---|---|---|---|---|\n");
    for (char *program = strtok(programs, " "); program; program = strtok(NULL, " ")) {
        record(program, path);
        sample_read(&sample, path);
        struct cost cost = measure(&sample, path);
        recording_reader_close(sample.reader);
        cost_print(strrchr(program, '/') + 1, (double)sample.launches, &cost, 1);
        cost_add(&samples, &cost, 1);
        cost_add(&all, &cost, (double)sample.launches);
        launches += (double)sample.launches;
        count++;
    }
    unlink(path);
    cost_print("average of samples", launches / count, &samples, count);
    cost_print("of all launches", launches, &all, launches);
    return 0;
}
