/* What the access set of a launch costs: the first of a kernel (its graph is made), one in a shape
 * not seen before, and one seen before; and the last against what the detector takes for the op it
 * makes of the set, in the same run.
 *
 *   bench_ranges [PTX]      by default kernels.ptx beside the program */
#include <csan/csan.h>
#include "runtime/access/access_set.h"
#include "runtime/ptx/ptx.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MISSES = 200, HITS = 200000, MAX_ACCESSES = 64 };

_Static_assert(sizeof(struct access_dim) == sizeof(struct csan_dim), "the same layout");

static double nanoseconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static char *read_file(const char *path, size_t *bytes)
{
    FILE *file = fopen(path, "rb");
    char *text = malloc(16 << 20);
    if (!file || !text) {
        fprintf(stderr, "bench_ranges: cannot read %s: give a .ptx file\n", path);
        exit(1);
    }
    *bytes = fread(text, 1, 16 << 20, file);
    fclose(file);
    return text;
}

/* Pointers get addresses of their own, scalars 1000. */
static void fill_parameters(const struct ptx_function *kernel, uint64_t *values,
                            const void **parameters)
{
    for (uint32_t i = 0; i < kernel->param_count; i++) {
        values[i] = kernel->params[i].size == 8 ? 0x100000000u * (i + 1) : 1000;
        parameters[i] = &values[i];
    }
}

static double time_misses(struct access_kernel *kernel, struct access_launch *launch)
{
    double start = nanoseconds();
    for (uint32_t i = 0; i < MISSES; i++) {
        launch->grid[0] = 100 + i;
        access_set_find(kernel, launch);
    }
    return (nanoseconds() - start) / MISSES;
}

static double time_hits(struct access_kernel *kernel, const struct access_launch *launch)
{
    double start = nanoseconds();
    for (uint32_t i = 0; i < HITS; i++)
        access_set_find(kernel, launch);
    return (nanoseconds() - start) / HITS;
}

/* The detector's part of the same launch, over and over on one stream. */
static double time_op(const struct access_set *set, const uint64_t *values)
{
    struct csan_access accesses[MAX_ACCESSES];
    uint32_t count = set->range_count < MAX_ACCESSES ? set->range_count : MAX_ACCESSES;
    csan_context *context = csan_context_create(NULL, NULL, NULL, NULL, 0);
    csan_lane lane = csan_lane_create(context, 1, "stream");
    for (uint32_t i = 0; i < count; i++) {
        const struct access_range *range = &set->ranges[i];
        uint64_t base = values[set->bases[range->base].param_index];
        accesses[i] = (struct csan_access){.base = base + (uint64_t)range->offset,
                                           .bytes = range->bytes,
                                           .dims = (const struct csan_dim *)range->dims,
                                           .dim_count = range->dim_count,
                                           .kind = range->kind};
    }
    double start = nanoseconds();
    for (uint32_t i = 0; i < HITS; i++)
        csan_op(context, lane, 0, CSAN_LEVEL_RANGES, accesses, count);
    double took = (nanoseconds() - start) / HITS;
    csan_context_destroy(context);
    return took;
}

static void bench(const struct ptx_function *function)
{
    uint64_t values[64];
    const void *parameters[64];
    struct access_launch launch = {
        .grid = {99, 63, 1}, .block = {16, 16, 1}, .parameters = parameters};
    if (function->param_count > 64)
        return;
    fill_parameters(function, values, parameters);
    struct access_kernel *kernel = access_kernel_create(function);
    double start = nanoseconds();
    const struct access_set *set = access_set_find(kernel, &launch);
    double first = nanoseconds() - start;
    double op = time_op(set, values);
    double miss = time_misses(kernel, &launch);
    double hit = time_hits(kernel, &launch);
    set = access_set_find(kernel, &launch);
    printf("%-12s %12u %7u %s %10.1f %9.1f %8.1f %8.1f %8.2f\n", function->name,
           function->instruction_count, set->range_count, set->exact ? "exact  " : "bounded",
           first / 1e3, miss / 1e3, hit, op, hit / op);
    access_kernel_release(kernel);
}

int main(int count, char **arguments)
{
    char path[4096];
    size_t bytes;
    struct ptx_error error;
    const char *slash = strrchr(arguments[0], '/');
    snprintf(path, sizeof path, "%.*skernels.ptx", (int)(slash ? slash - arguments[0] + 1 : 0),
             arguments[0]);
    char *text = read_file(count > 1 ? arguments[1] : path, &bytes);
    struct ptx_module *module = ptx_parse(text, bytes, &error);
    if (!module) {
        fprintf(stderr, "bench_ranges: %s\n", error.message);
        return 1;
    }
    printf("%-12s %12s %7s %-7s %10s %9s %8s %8s %8s\n", "kernel", "instructions", "ranges", "",
           "first us", "miss us", "hit ns", "op ns", "hit/op");
    for (uint32_t i = 0; i < module->function_count; i++)
        if (module->functions[i]->is_entry)
            bench(module->functions[i]);
    ptx_module_release(module);
    free(text);
    return 0;
}
