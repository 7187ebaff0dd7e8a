/* What a report costs the program that it is about: through the real hooks and the real helper for
 * symbols, with the driver that does nothing.
 *
 * Sets of memory from stacks of their own race two by two, so that each pair is a report. Timed is
 * each set on the program's thread. At once (deferred_limit=0) the report is printed within the
 * call that shows the race, as by a handler of races; beside, by csan's thread. The ratio is of the
 * racing call's time.
 *
 *   bench_reports [REPORTS] */
#include "hook_bench.h"

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

enum { REPORTS = 25, DEPTH_MAX = 25 /* frames that are kept of a stack, with room */ };

static CUstream streams[2], other;
static CUevent event;
static CUdeviceptr memory;

/* A stack of its own for each number. */
__attribute__((noinline)) static double set_below(unsigned depth, unsigned stream)
{
    if (depth) {
        const double taken = set_below(depth - 1, stream);
        __asm__ volatile("" ::: "memory");
        return taken;
    }
    const double before = nanoseconds();
    check(cuMemsetD8Async(memory, 0, 64, streams[stream]), "cuMemsetD8Async");
    check(cuEventRecord(event, other), "cuEventRecord"); /* deferred work is done */
    return nanoseconds() - before;
}

static int by_value(const void *a, const void *b)
{
    const double *left = a, *right = b;
    return *left < *right ? -1 : *left > *right;
}

/* Prints the median of the racing calls, in microseconds, and the sum in milliseconds. */
static int measure(unsigned reports)
{
    double *taken = calloc(reports, sizeof *taken), sum = 0;
    for (int i = 0; i < 2; i++)
        check(cuStreamCreate(&streams[i], CU_STREAM_NON_BLOCKING), "cuStreamCreate");
    check(cuStreamCreate(&other, CU_STREAM_NON_BLOCKING), "cuStreamCreate");
    check(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING), "cuEventCreate");
    check(cuMemAlloc_v2(&memory, 64), "cuMemAlloc");
    for (unsigned i = 0; taken && i < reports; i++) {
        set_below(i % DEPTH_MAX, 0);
        taken[i] = set_below(i % DEPTH_MAX, 1);
        sum += taken[i];
        check(cuCtxSynchronize(), "cuCtxSynchronize");
    }
    if (taken)
        qsort(taken, reports, sizeof *taken, by_value);
    printf("%.3f %.3f\n", taken ? taken[reports / 2] / 1e3 : 0, sum / 1e6);
    free(taken);
    return 0;
}

struct figures {
    double median_us, sum_ms;
};

static struct figures run(const char *program, unsigned reports, const char *options)
{
    struct figures figures = {0};
    char command[1024];
    snprintf(command, sizeof command,
             "HOOK_BENCH=1 LD_LIBRARY_PATH='" FAKE_DRIVER
             "' CSAN=1 CSAN_OPTIONS=log_path=/dev/null:exitcode=0:print_summary=0:%s '%s' --one %u",
             options, program, reports);
    FILE *output = popen(command, "r");
    if (!output || fscanf(output, "%lf %lf", &figures.median_us, &figures.sum_ms) != 2) {
        fprintf(stderr, "bench_reports: '%s' gave no figures\n", command);
        exit(1);
    }
    pclose(output);
    return figures;
}

int main(int argc, char **argv)
{
    const unsigned reports = argc > 1 && argv[1][0] != '-' ? (unsigned)atoi(argv[1]) : REPORTS;
    if (argc > 2 && strcmp(argv[1], "--one") == 0)
        return measure((unsigned)atoi(argv[2]));
    const struct figures at_once = run(argv[0], reports, "deferred_limit=0"),
                         beside = run(argv[0], reports, "deferred_limit=256"),
                         printed = run(argv[0], reports, "deferred_limit=256:symbolize=0");
    printf("%u reports; the call that shows a race, median and sum:\n", reports);
    printf("  printed within the call   %10.1f us %10.1f ms\n", at_once.median_us, at_once.sum_ms);
    printf("  printed by csan's thread  %10.1f us %10.1f ms\n", beside.median_us, beside.sum_ms);
    printf("  ... without symbols       %10.1f us %10.1f ms\n", printed.median_us, printed.sum_ms);
    printf("  the call takes 1/%.0f, all of them 1/%.0f of the time\n",
           at_once.median_us / beside.median_us, at_once.sum_ms / beside.sum_ms);
    return 0;
}
