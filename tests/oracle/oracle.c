/* The oracle: random host programs, played on the embedded device with csan's real hooks in front,
 * against brute force (world.h) and against each other under several schedules.
 *
 *   oracle [--programs=N] [--seed=S] [--jobs=N] [--schedules=N] [--traced=0|1] [--library=DIR]
 *          [--host-threads=0|1] [--waits=0|1|2] [--host=0|1|2]
 *
 * Programs have the numbers S to S + N - 1, and differ in nothing else. They are played by worker
 * processes of some thousand programs each, every second one with csan taking the device's word for
 * what kernels touch (option `trace`), unless --traced says which; likewise two of four with host
 * threads as lanes of their own (host_order=threads). --waits is option implicit_sync: observed,
 * promised or none, likewise by turns. --host, too, is how csan sees the host's accesses: they are
 * declared; or plain loads and stores, which option host=guard or host=content has to see. DIR
 * holds another libcsan.so.0. The first disagreement is made as small as can be, printed, and ends
 * the run with 1. */
#include "judge.h"
#include "shrink.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { CHUNK = 5000, JOBS_MAX = 64 };

static struct {
    uint64_t programs, seed;
    unsigned jobs, schedules;
    int traced;       /* -1: by turns */
    int host_threads; /* likewise */
    int waits;        /* likewise; enum waits */
    int host;         /* likewise; enum host_way */
    const char *library, *program;
    bool worker, print;
} settings = {.programs = 20000,
              .seed = 1,
              .schedules = 2,
              .traced = -1,
              .host_threads = -1,
              .waits = -1,
              .host = -1};

/* What a worker reports at its end. */
struct tally {
    uint64_t programs, ops, plays, reports, silent, confirmed, changes;
};

/* ---- One program ---- */

static struct {
    struct play plays[2]; /* the first, and one to compare with it */
    struct tally tally;
    char text[JUDGE_TEXT];
} bench;

static const char *schedule_of(const struct program *program, unsigned i)
{
    static const char *const others[] = {"lazy", "reverse"};
    static char text[32];
    if (i == 0)
        return "eager";
    if ((program->seed + i) % 4 < 2)
        return others[(program->seed + i) % 4];
    snprintf(text, sizeof text, "random:%d", (int)(program->seed * 7 + i) & 0x7fffffff);
    return text;
}

static bool same_outcome(const struct play *a, const struct play *b)
{
    return a->byte_count == b->byte_count && memcmp(a->bytes, b->bytes, a->byte_count) == 0;
}

/* Without a race. */
static bool may_differ(const struct program *program, const struct play *play)
{
    return program_is_loose(program) || play_uses_freed_memory(program, play);
}

/* True when csan is right in all that can be checked. */
static bool program_passes(const struct program *program)
{
    bool differs = false, left_out = false;
    struct play *first = &bench.plays[0], *other = &bench.plays[1];
    for (unsigned i = 0; i < settings.schedules; i++) {
        const char *schedule = schedule_of(program, i);
        struct play *play = i ? other : first;
        char said[JUDGE_TEXT];
        play_program(program, schedule, play);
        bench.tally.plays++;
        bench.tally.reports += play->race_count;
        if (!judge_play(program, play, settings.traced == 1, (enum waits)settings.waits, said)) {
            snprintf(bench.text, sizeof bench.text, "%s: %.400s", schedule, said);
            return false;
        }
        left_out |= judge_left_out();
        bench.tally.changes += judge_changes();
        if (i == 0 || same_outcome(first, other))
            continue;
        differs = true;
        if (first->race_count || other->race_count || left_out || may_differ(program, first))
            continue;
        snprintf(bench.text, sizeof bench.text,
                 "the outcomes under eager and %s differ, and csan reports nothing", schedule);
        return false;
    }
    bench.tally.silent += !first->race_count;
    bench.tally.confirmed += differs;
    return true;
}

/* Plays the program in a process of its own, so that what an earlier one left does not count. What
 * is wrong with it goes to bench.text. */
static bool program_fails_alone(const struct program *program)
{
    char path[32], traced[32], schedules[32], waits[32], host[32];
    int status = 0, ends[2], file = memfd_create("program", 0);
    if (file < 0 || write(file, program, sizeof *program) != sizeof *program || pipe(ends) != 0)
        abort();
    snprintf(path, sizeof path, "--program=/dev/fd/%d", file);
    snprintf(traced, sizeof traced, "--traced=%d", settings.traced);
    snprintf(schedules, sizeof schedules, "--schedules=%u", settings.schedules);
    snprintf(waits, sizeof waits, "--waits=%d", settings.waits);
    snprintf(host, sizeof host, "--host=%d", settings.host);
    fflush(stdout);
    pid_t pid = fork();
    if (pid == 0) {
        dup2(ends[1], STDOUT_FILENO);
        execl("/proc/self/exe", "oracle", "--worker", path, traced, schedules, waits, host,
              (char *)NULL);
        _exit(2);
    }
    close(file);
    close(ends[1]);
    ssize_t length = read(ends[0], bench.text, sizeof bench.text - 1);
    bench.text[length > 0 ? length : 0] = '\0';
    close(ends[0]);
    waitpid(pid, &status, 0);
    return status != 0;
}

static void say_disagreement(struct program *program)
{
    printf("/* oracle --programs=1 --seed=%llu --traced=%d --host-threads=%d --waits=%d "
           "--host=%d --schedules=%u */\n",
           (unsigned long long)program->seed, settings.traced, settings.host_threads,
           settings.waits, settings.host, settings.schedules);
    printf("/* %s */\n", bench.text);
    if (program_fails_alone(program)) {
        shrink(program, program_fails_alone);
        program_fails_alone(program);
        printf("/* made small: %s */\n", bench.text);
    } else {
        printf("/* not seen when played again alone: it needs the programs before it */\n");
    }
    program_print(stdout, program);
    fflush(stdout);
}

static void say_tally(const struct tally *tally)
{
    printf("tally %llu %llu %llu %llu %llu %llu %llu\n", (unsigned long long)tally->programs,
           (unsigned long long)tally->ops, (unsigned long long)tally->plays,
           (unsigned long long)tally->reports, (unsigned long long)tally->silent,
           (unsigned long long)tally->confirmed, (unsigned long long)tally->changes);
    fflush(stdout);
}

/* A program that another process wrote. */
static int work_alone(void)
{
    static struct program program;
    FILE *file = fopen(settings.program, "rb");
    rewind(file ? file : stdin);
    if (!file || fread(&program, sizeof program, 1, file) != 1)
        return 2;
    fclose(file);
    play_start(ORACLE_KERNELS, (enum host_way)settings.host);
    if (program_passes(&program))
        return 0;
    fputs(bench.text, stdout);
    return 1;
}

static int work(void)
{
    static struct program program;
    play_start(ORACLE_KERNELS, (enum host_way)settings.host);
    for (uint64_t i = 0; i < settings.programs; i++) {
        program_make(&program, settings.seed + i, settings.host_threads == 1,
                     (enum host_way)settings.host);
        if (settings.print)
            program_print(stdout, &program);
        bench.tally.programs++;
        bench.tally.ops += program.count;
        if (program_passes(&program))
            continue;
        say_disagreement(&program);
        return 1;
    }
    say_tally(&bench.tally);
    return 0;
}

/* ---- Workers ---- */

/* build/tests/oracle/oracle -> build */
static void root_of(char path[PATH_MAX])
{
    ssize_t length = readlink("/proc/self/exe", path, PATH_MAX - 1);
    path[length > 0 ? length : 0] = '\0';
    for (int i = 0; i < 3; i++) {
        char *slash = strrchr(path, '/');
        if (slash)
            *slash = '\0';
    }
}

static void set_environment(bool traced, bool host_threads, unsigned waits, enum host_way host)
{
    static const char *const values[] = {"observed", "promised", "none"};
    static const char *const hosts[] = {
        [HOST_DECLARED] = "off", [HOST_GUARDED] = "guard", [HOST_CONTENT] = "content"};
    char root[PATH_MAX], path[3 * PATH_MAX], options[256];
    root_of(root);
    snprintf(path, sizeof path, "%s%s%s/lib:%s/lib/csan/embedded",
             settings.library ? settings.library : "", settings.library ? ":" : "", root, root);
    snprintf(options, sizeof options,
             "dedup=0:stacks=0:symbolize=0:print_summary=0:report_limit=1:exitcode=0:"
             "log_path=/dev/null:trace=%d:host_order=%s:implicit_sync=%s:"
             "host=%s:host_guard_us=1000000:host_guard_mb=65536",
             traced, host_threads ? "threads" : "observed", values[waits], hosts[host]);
    setenv("LD_LIBRARY_PATH", path, 1);
    setenv("CSAN", "1", 1);
    setenv("CSAN_OPTIONS", options, 1);
    unsetenv("CSAN_SAVE_SCHEDULE");
    unsetenv("CSAN_SCHEDULE");
}

struct job {
    pid_t pid;
    int output;
    uint64_t seed, programs;
};

static bool job_start(struct job *job, uint64_t seed, uint64_t programs)
{
    int ends[2];
    bool traced = settings.traced < 0 ? seed / CHUNK % 2 != 0 : settings.traced != 0;
    bool host_threads =
        settings.host_threads < 0 ? seed / CHUNK % 4 >= 2 : settings.host_threads != 0;
    unsigned waits =
        settings.waits < 0 ? (unsigned)(seed / CHUNK / 4 % 3) : (unsigned)settings.waits;
    enum host_way host =
        (enum host_way)(settings.host < 0 ? (int)(seed / CHUNK % HOST_WAYS) : settings.host);
    if (pipe2(ends, O_CLOEXEC) != 0)
        return false;
    *job = (struct job){.output = ends[0], .seed = seed, .programs = programs};
    fflush(stdout);
    job->pid = fork();
    if (job->pid == 0) {
        char arguments[7][64];
        dup2(ends[1], STDOUT_FILENO);
        set_environment(traced, host_threads, waits, host);
        snprintf(arguments[0], 64, "--programs=%llu", (unsigned long long)programs);
        snprintf(arguments[1], 64, "--seed=%llu", (unsigned long long)seed);
        snprintf(arguments[2], 64, "--traced=%d", traced);
        snprintf(arguments[3], 64, "--schedules=%u", settings.schedules);
        snprintf(arguments[4], 64, "--host-threads=%d", host_threads);
        snprintf(arguments[5], 64, "--waits=%u", waits);
        snprintf(arguments[6], 64, "--host=%d", (int)host);
        execl("/proc/self/exe", "oracle", arguments[0], arguments[1], arguments[2], arguments[3],
              arguments[4], arguments[5], arguments[6], settings.print ? "--print" : "--worker",
              "--worker", (char *)NULL);
        perror("oracle: exec");
        _exit(2);
    }
    close(ends[1]);
    return job->pid > 0;
}

/* Its output is passed on, but for the tally. 0: all is well. */
static int job_end(struct job *job, struct tally *total)
{
    char line[4096];
    int status = 0;
    bool reported = false;
    FILE *output = fdopen(job->output, "r");
    while (output && fgets(line, sizeof line, output)) {
        unsigned long long numbers[7];
        if (sscanf(line, "tally %llu %llu %llu %llu %llu %llu %llu", &numbers[0], &numbers[1],
                   &numbers[2], &numbers[3], &numbers[4], &numbers[5], &numbers[6]) != 7) {
            fputs(line, stdout);
            continue;
        }
        reported = true;
        total->programs += numbers[0];
        total->ops += numbers[1];
        total->plays += numbers[2];
        total->reports += numbers[3];
        total->silent += numbers[4];
        total->confirmed += numbers[5];
        total->changes += numbers[6];
    }
    if (output)
        fclose(output);
    waitpid(job->pid, &status, 0);
    job->pid = 0;
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0 && reported)
        return 0;
    if (WIFEXITED(status) && WEXITSTATUS(status) == 1)
        return 1;
    printf("oracle: the worker of programs %llu to %llu ended with status %#x\n",
           (unsigned long long)job->seed, (unsigned long long)(job->seed + job->programs - 1),
           (unsigned)status);
    return 2;
}

static double seconds(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

/* Jobs end in the order they were started, more or less: each waits for its turn. */
static int manage(void)
{
    static struct job jobs[JOBS_MAX];
    struct tally total = {0};
    uint64_t next = settings.seed, end = settings.seed + settings.programs;
    double start = seconds(), said = start;
    int failed = 0;
    for (unsigned turn = 0; !failed; turn = (turn + 1) % settings.jobs) {
        struct job *job = &jobs[turn];
        if (job->pid)
            failed = job_end(job, &total);
        if (failed || (next == end && total.programs == settings.programs))
            break;
        if (next < end) {
            uint64_t count = CHUNK - next % CHUNK;
            count = count < end - next ? count : end - next;
            if (!job_start(job, next, count))
                return 2;
            next += count;
        }
        if (seconds() - said > 60) {
            said = seconds();
            printf("oracle: %llu programs, %.0f a second\n", (unsigned long long)total.programs,
                   (double)total.programs / (said - start));
            fflush(stdout);
        }
    }
    for (unsigned i = 0; i < settings.jobs; i++)
        if (jobs[i].pid)
            job_end(&jobs[i], &total);
    printf("oracle: %llu programs from %llu on, %llu ops, %llu plays, %llu reports (%llu by "
           "content); %llu programs "
           "without a race, %llu whose outcomes differ; %s; %.0f programs a second\n",
           (unsigned long long)total.programs, (unsigned long long)settings.seed,
           (unsigned long long)total.ops, (unsigned long long)total.plays,
           (unsigned long long)total.reports, (unsigned long long)total.changes,
           (unsigned long long)total.silent, (unsigned long long)total.confirmed,
           failed ? "DISAGREEMENT" : "no disagreement",
           (double)total.programs / (seconds() - start));
    return failed;
}

static bool read_setting(const char *argument)
{
    unsigned long long number;
    if (sscanf(argument, "--programs=%llu", &number) == 1)
        settings.programs = number;
    else if (sscanf(argument, "--seed=%llu", &number) == 1)
        settings.seed = number;
    else if (sscanf(argument, "--jobs=%llu", &number) == 1 && number && number <= JOBS_MAX)
        settings.jobs = (unsigned)number;
    else if (sscanf(argument, "--schedules=%llu", &number) == 1 && number)
        settings.schedules = (unsigned)number;
    else if (sscanf(argument, "--traced=%llu", &number) == 1)
        settings.traced = number != 0;
    else if (sscanf(argument, "--host-threads=%llu", &number) == 1)
        settings.host_threads = number != 0;
    else if (sscanf(argument, "--host=%llu", &number) == 1 && number < HOST_WAYS)
        settings.host = (int)number;
    else if (sscanf(argument, "--waits=%llu", &number) == 1 && number <= WAITS_NONE)
        settings.waits = (int)number;
    else if (strncmp(argument, "--library=", 10) == 0)
        settings.library = argument + 10;
    else if (strncmp(argument, "--program=", 10) == 0)
        settings.program = argument + 10;
    else if (strcmp(argument, "--print") == 0)
        settings.print = true;
    else if (strcmp(argument, "--worker") == 0)
        settings.worker = true;
    else
        return false;
    return true;
}

int main(int argc, char **argv)
{
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    settings.jobs = cores > 0 && cores < JOBS_MAX ? (unsigned)cores : 1;
    for (int i = 1; i < argc; i++)
        if (!read_setting(argv[i])) {
            fprintf(stderr, "oracle: %s is no option; see the top of tests/oracle/oracle.c\n",
                    argv[i]);
            return 2;
        }
    if (settings.program)
        return work_alone();
    return settings.worker ? work() : manage();
}
