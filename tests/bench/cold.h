/* What the benchmarks of single launches share. Before each call that is timed, its thread runs
 * code and walks memory that fill the processor's first two levels of cache, its branch predictor
 * and its translation buffers. So all that csan reads comes from farther away, as between the calls
 * of a framework. Also: a stack such as such a program has. */
#ifndef BENCH_COLD_H
#define BENCH_COLD_H

#include "hook_bench.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

enum {
    COLD_BYTES = 6 << 20,
    COLD_DATA_PAGES = 16384, /* more than any processor's translation buffers have */
    COLD_CODE_PAGES = 4096,
    COLD_PAGE = 4096,
    COLD_OUTER_FRAMES = 24,
    COLD_INNER_FRAMES = 12
};

/* ---- What falls out of the caches ---- */

/* 256 KiB of code: a branch taken every 32 bytes. */
static __attribute__((noinline, unused)) void cold_code(void)
{
#ifdef __x86_64__
    __asm__ volatile(".rept 8192\n"
                     "jmp 1f\n"
                     ".skip 30, 0x90\n"
                     "1:\n"
                     ".endr" ::
                         : "memory");
#endif
}

static inline unsigned char *cold_map(size_t pages, int protection)
{
    void *map = mmap(NULL, pages * COLD_PAGE, protection, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (map == MAP_FAILED || madvise(map, pages * COLD_PAGE, MADV_NOHUGEPAGE) != 0)
        exit(1);
    return map;
}

/* A line in each of many pages, of memory and of code. */
static inline void cold_pages(void)
{
    static unsigned char *data, *code;
    if (!data) {
        data = cold_map(COLD_DATA_PAGES, PROT_READ | PROT_WRITE);
        code = cold_map(COLD_CODE_PAGES, PROT_READ | PROT_WRITE | PROT_EXEC);
        for (size_t i = 0; i < COLD_CODE_PAGES; i++)
            code[i * COLD_PAGE + i % 64 * 64] = 0xc3; /* ret */
    }
    for (size_t i = 0; i < COLD_DATA_PAGES; i++)
        data[i * COLD_PAGE + i % 64 * 64]++;
#ifdef __x86_64__
    for (size_t i = 0; i < COLD_CODE_PAGES; i++)
        ((void (*)(void))(uintptr_t)(code + i * COLD_PAGE + i % 64 * 64))();
#endif
}

static inline void cold_clear(unsigned char *walked)
{
    cold_pages();
    cold_code();
    for (size_t i = 0; i < COLD_BYTES; i += 64)
        walked[i]++;
    cold_code();
}

/* ---- Timing ---- */

struct cold_samples {
    uint32_t *ticks;
    size_t count;
};

static inline uint64_t cold_ticks(void)
{
#ifdef __x86_64__
    uint32_t low, high;
    __asm__ volatile("lfence\nrdtsc\nlfence" : "=a"(low), "=d"(high)::"memory");
    return (uint64_t)high << 32 | low;
#else
    return (uint64_t)nanoseconds();
#endif
}

static inline void cold_sample(struct cold_samples *samples, uint64_t ticks)
{
    samples->ticks[samples->count++] = ticks < UINT32_MAX ? (uint32_t)ticks : UINT32_MAX;
}

static inline int cold_compare(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

/* Takes sums of so many samples each, divided by that number, in nanoseconds: deferred work is done
 * within one of many calls. */
static inline double cold_median_each(const struct cold_samples *samples, size_t each,
                                      double ticks_per_nanosecond)
{
    struct cold_samples sums = {calloc(samples->count / each + 1, sizeof(uint32_t)), 0};
    for (size_t i = 0; i + each <= samples->count; i += each) {
        uint64_t sum = 0;
        for (size_t k = 0; k < each; k++)
            sum += samples->ticks[i + k];
        cold_sample(&sums, sum);
    }
    qsort(sums.ticks, sums.count, sizeof(uint32_t), cold_compare);
    const double median = sums.ticks[sums.count / 2];
    free(sums.ticks);
    return median / (double)each / ticks_per_nanosecond;
}

/* In nanoseconds. */
static inline double cold_median(const struct cold_samples *samples, double ticks_per_nanosecond)
{
    qsort(samples->ticks, samples->count, sizeof(uint32_t), cold_compare);
    return samples->ticks[samples->count / 2] / ticks_per_nanosecond;
}

/* ---- The program around the calls ---- */

/* A driver's call takes about as long as a launch on an H200: what csan prefetches before the call
 * may have arrived after it. */
static inline void cold_driver(void)
{
    enum { TAKES = 2000 };
    void *driver = dlopen("libcuda.so.1", RTLD_NOW);
    void (*takes)(int nanoseconds) = driver ? (void (*)(int))dlsym(driver, "fake_takes") : NULL;
    if (takes)
        takes(TAKES);
}

static inline void *cold_nothing(void *unused)
{
    return unused;
}

/* Frameworks have more than one thread, which makes locks more expensive. */
static inline void cold_thread(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, cold_nothing, NULL);
    pthread_join(thread, NULL);
}

/* A bench's main, once bench_start has returned: NAME [cold|warm [STEPS]] prints the rows, which
 * run it again with STEPS to measure. */
static inline void cold_run(int argc, char **argv, bool *cold, void (*measure)(int steps),
                            void (*row)(const char *how))
{
    *cold = argc > 1 && strcmp(argv[1], "cold") == 0;
    if (argc == 3) {
        measure(atoi(argv[2]));
        return;
    }
    if (argc == 1 || *cold)
        row("cold");
    if (argc == 1 || !*cold)
        row("warm");
}

/* Data that a function has on the stack, with something left to do after its last call. */
static inline void cold_stays(const void *frame)
{
    __asm__ volatile("" ::"r"(frame) : "memory");
}

/* Each way has calls of its own, as deep as the others' calls, with frames of other sizes. */
static __attribute__((noinline, unused)) void cold_inner(void (*work)(unsigned number),
                                                         unsigned number, unsigned way, int depth)
{
    char frame[64 + 16 * (way & 7)];
    cold_stays(frame);
    if (depth == 0)
        work(number);
    else if (way >> depth % 6 & 1)
        cold_inner(work, number, way, depth - 1);
    else {
        cold_inner(work, number, way, depth - 1);
        cold_stays(frame);
    }
    cold_stays(frame);
}

/* Does work(0) to work(count - 1), so many times, in deep stacks. */
static __attribute__((noinline, unused)) void
cold_outer(void (*work)(unsigned number), unsigned count, unsigned ways, int steps, int depth)
{
    char frame[160];
    cold_stays(frame);
    if (depth)
        cold_outer(work, count, ways, steps, depth - 1);
    else
        for (int step = 0; step < steps; step++)
            for (unsigned i = 0; i < count; i++)
                cold_inner(work, i, i % ways, COLD_INNER_FRAMES);
    cold_stays(frame);
}

#endif
