/* For tests of reports: symbols made up, a race, and what is printed of it into a file. */
#ifndef TESTS_UNIT_REPORT_REPORT_CASE_H
#define TESTS_UNIT_REPORT_REPORT_CASE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "csan/report/finding_document.h"
#include "csan/options.h"
#include "csan/report/report.h"
#include "csan/stack/stack_source.h"
#include "csan/stack/symbolizer.h"
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- symbols made up: return address N is row N */

#define APP "/build/app"
static const struct symbol_frame symbols[] = {
    {NULL, NULL, 0, NULL, 0, 0},
    {"main", "/src/app/main.cu", 14, APP, 0x1100, 0},
    {"scale(float*, float, int)", "/src/app/main.cu", 5, APP, 0x1000, 0},
    {"__device_stub__Z5scalePffi(float*, float, int)", "/tmp/x.stub.c", 1, APP, 0x1010, 0},
    {"cudaLaunchKernel", NULL, 0, APP, 0x2000, 0},
    {NULL, NULL, 0, "/opt/csan/lib/libcsan.so.0", 0x30, 1},
    {"cudaError cudaLaunchKernel<char>(char const*)", "/cuda/include/cuda_runtime.h", 210, APP,
     0x2100, 0},
    {"cudaMalloc", NULL, 0, "/cuda/lib64/libcudart.so.13", 0x99, 0},
    {"helper::run(int)", NULL, 0, "/usr/lib/libhelper.so", 0xabc, 0},
    {NULL, NULL, 0, "/usr/lib/libstripped.so", 0xdef, 0},
    {"__libc_start_main", NULL, 0, "/lib/libc.so.6", 0x77, 0},
    {"main", "/src/app/main.cu", 37, APP, 0x1200, 0},
    {"main", "/src/app/main.cu", 31, APP, 0x1300, 0},
    {"cudaError cudaMalloc<float>(float**, unsigned long)", NULL, 0, APP, 0x2200, 0},
    {"launch_helper()", "/tmp/x.cudafe1.stub.c", 3, APP, 0x1020, 0},
    {"step(Model&)", "/elsewhere/model.cc", 99, APP, 0x1400, 0},
    {"void thrust::sort<thrust::less<int> >(int*)", "/cuda/include/thrust/sort.h", 7, APP, 0x1500,
     0},
    {"cub::Sort<int>::invoke()", "/cuda/include/cub/sort.cuh", 8, APP, 0x1510, 0},
    {"start_thread", NULL, 0, "/lib/libc.so.6", 0x88, 0},
};
enum {
    STEP = 15,
    THRUST = 16,
    CUB = 17,
    THREAD = 18,
    SYMBOLS = sizeof(symbols) / sizeof(symbols[0]),
    INLINED = 100
};

static size_t frames_asked;
static inline void fake_frames(struct symbolizer *face, const void *const *frames, size_t count,
                               symbolizer_visit *visit, void *user)
{
    (void)face;
    frames_asked += count;
    for (size_t i = 0; i < count; i++) {
        uintptr_t row = (uintptr_t)frames[i];
        if (row == INLINED) { /* step, inlined into main */
            visit(user, i, &symbols[STEP]);
            visit(user, i, &symbols[1]);
        } else if (row < SYMBOLS) {
            visit(user, i, &symbols[row]);
        }
    }
}

static inline void fake_demangle(struct symbolizer *face, const char *name, char *text,
                                 size_t bytes)
{
    static const char *const names[][2] = {
        {"_Z5scalePffi", "scale(float*, float, int)"},
        {"_Z10initializePfi", "initialize(float*, int)"},
        {"_Z4axpy", "void (anonymous namespace)::math::axpy<double, 4>(double*, int (*)(int))"},
    };
    (void)face;
    snprintf(text, bytes, "%s", name);
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (strcmp(name, names[i][0]) == 0)
            snprintf(text, bytes, "%s", names[i][1]);
}

static const char *trouble;
static inline const char *fake_trouble(struct symbolizer *face)
{
    (void)face;
    const char *news = trouble;
    trouble = NULL;
    return news;
}

static inline void fake_destroy(struct symbolizer *face)
{
    (void)face;
}

static struct symbolizer fake = {fake_frames, fake_demangle, fake_trouble, fake_destroy};

/* ---- a race, and what is printed of it */

static const void *const launch[] = {(void *)5, (void *)7, (void *)4, (void *)6, (void *)14,
                                     (void *)3, (void *)2, (void *)1, (void *)10};
static const void *const first_launch[] = {(void *)5, (void *)11};
static const void *const birth[] = {(void *)7, (void *)13, (void *)12};

static inline struct csan_race plain_race(void)
{
    return (struct csan_race){
        .kind = CSAN_RACE_DATA,
        .address = 0x7f1200000000 + 128,
        .bytes = 256,
        .allocation = 0x7f1200000000,
        .allocation_bytes = 4096,
        .pointer = 139719969079296,
        .current = {.stream = 94646435460352,
                    .lane = "stream 94646435460352",
                    .name = "_Z5scalePffi",
                    .arguments = "p",
                    .kind = CSAN_WRITE,
                    .site = 1,
                    .sequence = 2,
                    .frames = launch,
                    .frame_count = 9},
        .previous = {.stream = 0,
                     .lane = "stream 0",
                     .name = "_Z10initializePfi",
                     .arguments = "p, n",
                     .kind = CSAN_READ,
                     .site = 2,
                     .sequence = 1,
                     .frames = first_launch,
                     .frame_count = 2},
        .allocation_frames = birth,
        .allocation_frame_count = 3,
        .number = 1,
        .group = 1,
        .time = CSAN_TIME_UNKNOWN,
    };
}

static char scratch[64], path[128], printed[64 << 10];
static struct options options;

static inline void options_to_file(void)
{
    options_default(&options);
    snprintf(path, sizeof(path), "%s/log.%d", scratch, (int)getpid());
    snprintf(options.log_path, sizeof(options.log_path), "%s/log", scratch);
    unlink(path);
}

static inline const char *read_file(const char *name)
{
    FILE *file = fopen(name, "r");
    size_t length = file ? fread(printed, 1, sizeof(printed) - 1, file) : 0;
    printed[length] = '\0';
    if (file)
        fclose(file);
    return printed;
}

/* The text of one race with the options as they are. */
static inline const char *text_of(const struct csan_race *race)
{
    struct report_sink *sink = report_open(&options, &fake);
    assert_non_null(sink);
    report_set_process(sink, &(struct finding_process){.process = "4711", .rank = "3"});
    free(report_race(sink, race, false));
    report_close(sink);
    return read_file(path);
}

static inline void expect_in(const char *text, const char *part)
{
    if (!strstr(text, part))
        fail_msg("no\n%s\nin\n%s", part, text);
}

static inline void expect_part(const struct csan_race *race, const char *part)
{
    options_to_file();
    expect_in(text_of(race), part);
}

static inline size_t occurrences(const char *text, const char *part)
{
    size_t count = 0;
    for (; (text = strstr(text, part)); text++)
        count++;
    return count;
}

static inline int scratch_make(void **state)
{
    (void)state;
    strcpy(scratch, "/tmp/csan-report-XXXXXX");
    return mkdtemp(scratch) ? 0 : -1;
}

static inline int scratch_remove(void **state)
{
    char command[128];
    (void)state;
    snprintf(command, sizeof(command), "rm -rf %s", scratch);
    return system(command);
}

#endif
