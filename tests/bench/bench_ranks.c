/* What csan merge --order takes for many ranks: bench_ranks [RANKS [STEPS]]. Makes the recordings
 * of 64 ranks, of a million entries in all, and runs the command on them, without --order and with
 * it.
 *
 * A step of a rank is a kernel of three ranges of its own memory and one of memory that all share,
 * a wait for its stream, and a message to the next rank. After 16 steps all ranks meet in a
 * collective call. Nothing races. The table has seconds of CPU time, and the memory that the
 * command had at most. */
#include "csan/detector/context.h"
#include "csan/recording/recording_write.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { RANKS_MAX = 1024, PER_CALL = 16, SHARED_BYTES = 1 << 20, PART = 1024, KERNELS = 16 };

struct rank {
    csan_context *context;
    struct recording *recording;
    csan_lane stream;
    csan_site sites[KERNELS];
    uint64_t base, receives;
};

static struct {
    char folder[64];
    uint64_t ranks, steps;
    struct rank all[RANKS_MAX];
} bench = {.ranks = 64, .steps = 3800};

static void complain(const char *line)
{
    fprintf(stderr, "bench_ranks: %s\n", line);
    exit(1);
}

static void ignore(void *user, const struct csan_race *race)
{
    (void)user, (void)race;
}

static void path_of(uint64_t rank, char path[96])
{
    snprintf(path, 96, "%s/app.%" PRIu64 ".csan", bench.folder, rank);
}

/* ---- The recordings ---- */

static void link_of(const struct rank *rank, const struct csan_link *link)
{
    static uint64_t time;
    struct csan_link timed = *link;
    timed.time = ++time;
    context_link(rank->context, CSAN_HOST, &timed);
}

static void rank_start(uint64_t number)
{
    char path[96], message[256], name[32];
    const void *frames[] = {(void *)0x1000, (void *)0x2000};
    struct rank *rank = &bench.all[number];
    path_of(number, path);
    rank->context = csan_context_create(NULL, ignore, NULL, message, sizeof message);
    rank->recording = recording_create(path, 0, "check 0\nlinks 1\n", complain);
    if (!rank->context || !rank->recording)
        complain("out of memory");
    context_record(rank->context, rank->recording, 0);
    rank->base = UINT64_C(0x7f0000000000) + (number << 32);
    rank->stream = csan_lane_create(rank->context, 1, "stream");
    csan_lane_describe(rank->context, rank->stream, CSAN_LANE_NON_BLOCKING, 0);
    for (int i = 0; i < KERNELS; i++) {
        snprintf(name, sizeof name, "kernel_%d", i);
        rank->sites[i] = csan_site_intern(rank->context, name, NULL, 0, frames, 2);
    }
    csan_memory_create(rank->context, CSAN_MEMORY_DEVICE, rank->base + SHARED_BYTES, SHARED_BYTES,
                       CSAN_HOST, 0);
    if (number == 0)
        csan_memory_create(rank->context, CSAN_MEMORY_DEVICE, rank->base, SHARED_BYTES, CSAN_HOST,
                           0);
    link_of(rank, &(struct csan_link){.kind = number ? CSAN_LINK_OPEN : CSAN_LINK_SHARE,
                                      .key = 1,
                                      .address = rank->base,
                                      .bytes = SHARED_BYTES});
}

static void launch(const struct rank *rank, uint64_t number, uint64_t step)
{
    struct csan_access accesses[4];
    for (uint64_t i = 0; i < 4; i++)
        accesses[i] = (struct csan_access){.base = rank->base + SHARED_BYTES + i * PART,
                                           .bytes = PART,
                                           .kind = i ? CSAN_READ : CSAN_WRITE,
                                           .argument = CSAN_NO_ARGUMENT};
    accesses[3].base = rank->base + number * PART;
    accesses[3].kind = CSAN_WRITE;
    csan_op(rank->context, rank->stream, rank->sites[step % KERNELS], CSAN_LEVEL_RANGES, accesses,
            4);
    csan_lane_waits(rank->context, CSAN_HOST, rank->stream);
}

static void step_all(uint64_t step)
{
    for (uint64_t i = 0; i < bench.ranks; i++) {
        launch(&bench.all[i], i, step);
        link_of(&bench.all[i],
                &(struct csan_link){.kind = CSAN_LINK_NEXT, .key = 1000 + i, .bytes = PART});
    }
    for (uint64_t i = 0; i < bench.ranks; i++)
        link_of(&bench.all[i],
                &(struct csan_link){.kind = CSAN_LINK_TAKE,
                                    .key = 1000 + (i + bench.ranks - 1) % bench.ranks,
                                    .number = ++bench.all[i].receives});
    for (int leave = 0; leave < 2 && step % PER_CALL == 0; leave++)
        for (uint64_t i = 0; i < bench.ranks; i++)
            link_of(&bench.all[i],
                    &(struct csan_link){.kind = leave ? CSAN_LINK_LEAVE : CSAN_LINK_ENTER,
                                        .key = 1000000 + step,
                                        .number = bench.ranks,
                                        .peers = bench.ranks});
}

/* In a process of its own. */
static void record_all(void)
{
    for (uint64_t i = 0; i < bench.ranks; i++)
        rank_start(i);
    for (uint64_t step = 1; step <= bench.steps; step++)
        step_all(step);
    for (uint64_t i = 0; i < bench.ranks; i++) {
        recording_finish(bench.all[i].recording, "");
        csan_context_destroy(bench.all[i].context);
        recording_destroy(bench.all[i].recording);
    }
}

/* ---- The command ---- */

struct cost {
    double seconds, megabytes;
};

static double seconds_of(struct timeval time)
{
    return (double)time.tv_sec + (double)time.tv_usec * 1e-6;
}

static void command_become(const char *option)
{
    static char paths[RANKS_MAX][96];
    const char *arguments[RANKS_MAX + 5] = {CSAN, "merge", option};
    size_t count = option ? 3 : 2;
    for (uint64_t i = 0; i < bench.ranks; i++) {
        path_of(i, paths[i]);
        arguments[count++] = paths[i];
    }
    if (!freopen("/dev/null", "w", stdout))
        exit(1);
    execv(CSAN, (char *const *)(uintptr_t)arguments);
    exit(1);
}

static struct cost command_run(const char *option)
{
    struct rusage usage;
    int status = 0;
    const pid_t child = fork();
    if (child == 0)
        command_become(option);
    if (wait4(child, &status, 0, &usage) != child || status != 0)
        complain("csan merge failed");
    return (struct cost){seconds_of(usage.ru_utime) + seconds_of(usage.ru_stime),
                         (double)usage.ru_maxrss / 1024};
}

static void print(const char *what, struct cost cost)
{
    printf("%-28s %8.2f s %8.1f MB\n", what, cost.seconds, cost.megabytes);
}

int main(int count, char **arguments)
{
    char path[96];
    int status = 0;
    if (count > 1)
        bench.ranks = strtoull(arguments[1], NULL, 10);
    if (count > 2)
        bench.steps = strtoull(arguments[2], NULL, 10);
    if (bench.ranks < 2 || bench.ranks > RANKS_MAX)
        complain("2 to 1024 ranks");
    snprintf(bench.folder, sizeof bench.folder, "/tmp/csan-ranks-XXXXXX");
    if (!mkdtemp(bench.folder))
        complain("no folder");
    const pid_t child = fork();
    if (child == 0) {
        record_all();
        _exit(0);
    }
    waitpid(child, &status, 0);
    printf("%" PRIu64 " ranks, %" PRIu64 " steps each\n", bench.ranks, bench.steps);
    fflush(stdout);
    const struct cost alone = command_run(NULL), together = command_run("--order");
    print("csan merge", alone);
    print("csan merge --order", together);
    print("... of which --order", (struct cost){together.seconds - alone.seconds, 0});
    for (uint64_t i = 0; i < bench.ranks; i++) {
        path_of(i, path);
        unlink(path);
    }
    rmdir(bench.folder);
    return status != 0;
}
