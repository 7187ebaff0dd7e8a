/* Launches and blocks that are put off (runtime/hook/backlog.h): whatever else the program does
 * finds them told, in the order in which they came; csan's thread tells them where it does nothing;
 * and nothing is put off where it matters when they are told. Each launch here but a place's first
 * is one that can be. */
#include "test_hook.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define OK(call) assert_int_equal((call), CUDA_SUCCESS)

/* More than the backlog holds. */
enum { MANY = 3000 };

/* fill: writes a float. large: the same, with more parameters than are put off. */
static const char module_text[] =
    ".version 8.0\n.target sm_90\n.address_size 64\n"
    ".visible .entry fill(.param .u64 fill_param_0)\n"
    "{\n.reg .b64 %rd<3>;\n.reg .f32 %f<2>;\n"
    "ld.param.u64 %rd1, [fill_param_0];\ncvta.to.global.u64 %rd2, %rd1;\n"
    "st.global.f32 [%rd2], %f1;\nret;\n}\n"
    ".visible .entry large(.param .u64 large_param_0, .param .align 8 .b8 large_param_1[16384])\n"
    "{\n.reg .b64 %rd<3>;\n.reg .f32 %f<2>;\n"
    "ld.param.u64 %rd1, [large_param_0];\ncvta.to.global.u64 %rd2, %rd1;\n"
    "st.global.f32 [%rd2], %f1;\nret;\n}\n";

static CUmodule module_load(void)
{
    CUmodule module;
    OK(cuModuleLoadData(&module, module_text));
    return module;
}

static CUfunction function_of(CUmodule module, const char *name)
{
    CUfunction f;
    OK(cuModuleGetFunction(&f, module, name));
    return f;
}

static CUfunction filling(void)
{
    static CUfunction f;
    if (!f)
        f = function_of(module_load(), "fill");
    return f;
}

static void launch(CUfunction f, CUdeviceptr p, CUstream stream)
{
    static unsigned char bytes[16384];
    OK(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, stream, (void *[]){&p, bytes}, NULL));
}

static void fill(CUdeviceptr p, CUstream stream)
{
    launch(filling(), p, stream);
}

static __attribute__((noipa)) void set(CUdeviceptr p, CUstream stream)
{
    OK(cuMemsetD8Async(p, 0, 16, stream));
}

/* From one place, and that often. */
static __attribute__((noipa)) void fill_each(unsigned count, const CUdeviceptr *p,
                                             const CUstream *streams)
{
    for (unsigned i = 0; i < count; i++)
        fill(p[i], streams[i]);
}

static __attribute__((noipa)) void set_each(unsigned count, const CUdeviceptr *p,
                                            const CUstream *streams)
{
    for (unsigned i = 0; i < count; i++)
        set(p[i], streams[i]);
}

/* The program does something else of which csan knows. */
static void turn_to(CUstream stream)
{
    OK(cuStreamQuery(stream));
}

/* Threads of this process that are csan's own. */
static int own_threads(void)
{
    int count = 0;
    struct dirent *entry;
    DIR *tasks = opendir("/proc/self/task");
    assert_non_null(tasks);
    while ((entry = readdir(tasks)) != NULL) {
        char path[300], name[32] = "";
        snprintf(path, sizeof path, "/proc/self/task/%s/comm", entry->d_name);
        FILE *file = fopen(path, "r");
        if (file && fgets(name, sizeof name, file))
            count += strcmp(name, "csan\n") == 0;
        if (file)
            fclose(file);
    }
    closedir(tasks);
    return count;
}

/* ---- In this process ---- */

static void a_thread_of_csans_tells(void **state)
{
    (void)state;
    CUdeviceptr p = device(64);
    CUstream s = non_blocking();
    fill_each(4, (CUdeviceptr[]){p, p, p, p}, (CUstream[]){s, s, s, s});
    assert_int_equal(own_threads(), 1);
    assert_int_equal(races(), 0);
}

static void launches_race(void **state)
{
    (void)state;
    CUdeviceptr p = device(64);
    CUstream a = non_blocking(), b = non_blocking();
    fill_each(4, (CUdeviceptr[]){device(64), p, device(64), p}, (CUstream[]){a, a, b, b});
    assert_int_equal(races(), 1);
    assert_int_equal(first_kind(), CSAN_RACE_DATA);
}

static void sets_race(void **state)
{
    (void)state;
    CUstream a = non_blocking(), b = non_blocking();
    for (size_t i = 0; i < 10; i++) {
        CUdeviceptr p = device(64);
        set(p, a);
        OK(cuMemsetD2D8Async(p + 16, 8, 0, 4, 2, a));
        fill(p + 20, b); /* between the rows */
        assert_int_equal(races(), 2 * i);
        fill(p + 24, b);
        assert_int_equal(races(), 2 * i + 1);
        set(p, b);
        assert_int_equal(races(), 2 * i + 2);
    }
}

/* Both sides of what orders: launches before an event, and after it. */
static void an_event_comes_between(void **state)
{
    (void)state;
    CUstream a = non_blocking(), b = non_blocking();
    CUevent e = event();
    for (int i = 0; i < 50; i++) {
        CUdeviceptr before = device(64), after = device(64);
        fill(before, a);
        OK(cuEventRecord(e, a));
        fill(after, a);
        OK(cuStreamWaitEvent(b, e, 0));
        fill(before, b);
        assert_int_equal(races(), (size_t)i);
        fill(after, b);
        assert_int_equal(races(), (size_t)i + 1);
    }
}

static void memory_is_freed_after_its_launches(void **state)
{
    (void)state;
    CUstream s = non_blocking();
    for (int i = 0; i < 50; i++) {
        CUdeviceptr p = device(64);
        fill(p, s);
        OK(cuStreamSynchronize(s));
        OK(cuMemFree_v2(p));
    }
    assert_int_equal(races(), 0);
    CUdeviceptr p = device(64);
    CUstream other = non_blocking();
    fill(p, s);
    OK(cuMemFreeAsync(p, other));
    assert_int_equal(races(), 1);
}

/* One block after the other at the same place, on two streams: each is what is used while it lives.
 */
static void blocks_keep_their_place(void **state)
{
    (void)state;
    CUdeviceptr segment = device(4096);
    CUstream streams[] = {non_blocking(), non_blocking()};
    csan_pool_alloc((void *)(uintptr_t)segment, 512, streams[0]);
    for (int i = 0; i < 10; i++) {
        fill(segment, streams[0]);
        csan_pool_free((void *)(uintptr_t)segment, streams[0]);
        csan_pool_alloc((void *)(uintptr_t)segment, 512, streams[0]);
    }
    assert_int_equal(races(), 0);
    csan_pool_free((void *)(uintptr_t)segment, streams[0]);
    csan_pool_alloc((void *)(uintptr_t)segment, 512, streams[1]);
    fill(segment, streams[1]); /* the stream of the block before has not ended */
    assert_int_equal(races(), 1);
}

/* The first of many is not lost, nor does the last pass it. */
static void more_than_there_is_room_for(void **state)
{
    (void)state;
    CUdeviceptr p = device(4 * MANY);
    CUstream s = non_blocking(), other = non_blocking();
    for (unsigned i = 0; i < MANY; i++)
        fill(p + 4 * i, s);
    assert_int_equal(races(), 0);
    for (unsigned i = 0; i < MANY; i += MANY - 1) {
        OK(cuMemsetD32Async(p + 4 * i, 0, 1, other));
        assert_int_equal(races(), i ? 2 : 1);
    }
}

static void large_parameters_keep_their_place(void **state)
{
    (void)state;
    CUmodule module = module_load();
    CUfunction large = function_of(module, "large");
    CUstream a = non_blocking(), b = non_blocking();
    CUdeviceptr scratch = device(64);
    launch(large, scratch, a);
    for (int i = 0; i < 10; i++) {
        CUdeviceptr p = device(64);
        fill(p, a);
        launch(large, p, a);
        fill(p, a);
    }
    assert_int_equal(races(), 0);
    struct csan_race found[20];
    for (size_t i = 0; i < 20; i++) {
        CUdeviceptr p = device(64);
        fill(p, a);
        launch(large, p, b);
        assert_int_equal(csan_races_since(hook_mark(), found, 20), i + 1);
        assert_string_equal(found[i].previous.name, "fill");
        assert_string_equal(found[i].current.name, "large");
    }
}

/* What names a kernel is told of before the kernel goes. */
static void a_module_goes_after_its_launches(void **state)
{
    (void)state;
    CUstream s = non_blocking();
    for (int i = 0; i < 20; i++) {
        CUdeviceptr p = device(64);
        CUmodule module = module_load();
        CUfunction f = function_of(module, "fill");
        for (int k = 0; k < 3; k++)
            launch(f, p, s);
        OK(cuModuleUnload(module));
        turn_to(s);
    }
    assert_int_equal(races(), 0);
}

struct worker {
    CUdeviceptr own, shared;
    unsigned launches;
};

/* It may end before what it launched is told. */
static void *thread_launches(void *argument)
{
    const struct worker *worker = argument;
    CUstream s = non_blocking();
    for (unsigned i = 0; i < worker->launches; i++)
        fill(worker->own, s);
    fill(worker->shared, s);
    return NULL;
}

static void threads_launch(void **state)
{
    enum { THREADS = 4 };
    (void)state;
    pthread_t threads[THREADS];
    struct worker workers[THREADS];
    CUdeviceptr shared = device(64);
    filling();
    for (unsigned i = 0; i < THREADS; i++) {
        workers[i] = (struct worker){device(64), shared, 500};
        assert_int_equal(pthread_create(&threads[i], NULL, thread_launches, &workers[i]), 0);
    }
    for (unsigned i = 0; i < THREADS; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    assert_in_range(races(), 1, THREADS - 1); /* of the shared one */
    for (unsigned i = 0; i < THREADS; i++) {
        size_t before = races();
        fill(workers[i].own, non_blocking());
        assert_int_equal(races(), before + 1);
    }
}

/* What one thread launched is not another's, which does something else first: neither its
 * operator's, nor what it wants ignored. */
struct meeting {
    pthread_barrier_t launched, done;
    CUdeviceptr p;
};

static void *thread_races(void *argument)
{
    struct meeting *meeting = argument;
    CUstream a = non_blocking(), b = non_blocking();
    CUdeviceptr scratch = device(64);
    fill_each(1, &scratch, &a);
    pthread_barrier_wait(&meeting->launched);
    fill_each(3, (CUdeviceptr[]){scratch, meeting->p, meeting->p}, (CUstream[]){a, a, b});
    pthread_barrier_wait(&meeting->launched);
    pthread_barrier_wait(&meeting->done);
    return NULL;
}

/* One thread waits for a stream while another launches what races with its work, and then returns:
 * the host did not know of the work when the launch was made. */
struct waiter {
    void (*wait)(const struct waiter *waiter);
    CUstream stream;
    CUevent event;
    CUdeviceptr memory;
    int gate;
};

static void wait_for_stream(const struct waiter *waiter)
{
    OK(cuStreamSynchronize(waiter->stream));
}
static void find_stream_done(const struct waiter *waiter)
{
    OK(cuStreamQuery(waiter->stream));
}
static void wait_for_context(const struct waiter *waiter)
{
    (void)waiter;
    OK(cuCtxSynchronize());
}
static void wait_for_event(const struct waiter *waiter)
{
    OK(cuEventSynchronize(waiter->event));
}
static void copy_to_host(const struct waiter *waiter)
{
    unsigned to;
    OK(cuMemcpyDtoH_v2(&to, waiter->memory, sizeof to));
}
static void free_memory(const struct waiter *waiter)
{
    OK(cuMemFree_v2(waiter->memory));
}

static void *thread_waits(void *argument)
{
    struct waiter *waiter = argument;
    fake_gate(&waiter->gate);
    waiter->wait(waiter);
    return NULL;
}

static void what_is_launched_while_another_waits_races(void **state)
{
    enum { TIMES = 10 };
    static const struct {
        void (*wait)(const struct waiter *waiter);
        bool legacy; /* what it waits for */
    } kinds[] = {{wait_for_stream, false}, {find_stream_done, false}, {wait_for_context, false},
                 {wait_for_event, false},  {copy_to_host, true},      {free_memory, false}};
    (void)state;
    CUstream s = non_blocking(), other = non_blocking();
    CUdeviceptr scratch = device(64);
    CUevent event;
    OK(cuEventCreate(&event, 0));
    fill_each(3, (CUdeviceptr[]){scratch, scratch, scratch}, (CUstream[]){s, s, s});
    size_t expected = races();
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds * TIMES; i++) {
        struct waiter waiter = {.wait = kinds[i / TIMES].wait,
                                .stream = kinds[i / TIMES].legacy ? NULL : s,
                                .event = event,
                                .memory = device(64)};
        pthread_t thread;
        CUdeviceptr p = device(64);
        fill(p, waiter.stream);
        OK(cuEventRecord(event, waiter.stream));
        assert_int_equal(pthread_create(&thread, NULL, thread_waits, &waiter), 0);
        while (__atomic_load_n(&waiter.gate, __ATOMIC_ACQUIRE) != 1)
            ;
        fill_each(1, &p, &other);
        __atomic_store_n(&waiter.gate, 2, __ATOMIC_RELEASE);
        assert_int_equal(pthread_join(thread, NULL), 0);
        assert_int_equal(races(), ++expected);
    }
}

/* Of csan's thread, how often it gave up its processor. */
static unsigned long naps_taken(void)
{
    unsigned long total = 0;
    struct dirent *entry;
    DIR *tasks = opendir("/proc/self/task");
    assert_non_null(tasks);
    while ((entry = readdir(tasks)) != NULL) {
        char path[300], line[128];
        bool own = false;
        unsigned long naps;
        snprintf(path, sizeof path, "/proc/self/task/%s/status", entry->d_name);
        FILE *file = fopen(path, "r");
        while (file && fgets(line, sizeof line, file)) {
            own |= strcmp(line, "Name:\tcsan\n") == 0;
            if (own && sscanf(line, "voluntary_ctxt_switches: %lu", &naps) == 1)
                total += naps;
        }
        if (file)
            fclose(file);
    }
    closedir(tasks);
    return total;
}

/* Also where the program does itself what it was woken for. */
static void a_thread_with_nothing_to_do_sleeps(void **state)
{
    (void)state;
    CUdeviceptr p = device(64);
    CUstream s = non_blocking();
    fill_each(3, (CUdeviceptr[]){p, p, p}, (CUstream[]){s, s, s});
    for (int round = 0; round < 10; round++) {
        bool sleeps = false;
        for (int i = 0; i < 50 && !sleeps; i++) {
            const unsigned long before = naps_taken();
            nanosleep(&(struct timespec){.tv_nsec = 50 * 1000 * 1000}, NULL);
            sleeps = naps_taken() == before;
        }
        assert_true(sleeps);
        fill_each(1, &p, &s);
        turn_to(s);
    }
}

static void CUDA_CB nothing(void *unused)
{
    (void)unused;
}

/* What the host learns by it was not known when the launch before it was made. */
static void a_host_function_runs_after_a_launch(void **state)
{
    (void)state;
    CUstream a = non_blocking(), b = non_blocking();
    for (size_t i = 0; i < 20; i++) {
        CUdeviceptr p = device(64);
        fill_each(1, &p, &a);
        OK(cuLaunchHostFunc(a, nothing, NULL));
        fill_each(1, &p, &b);
        fake_run_host_functions();
        assert_int_equal(races(), i + 1);
        fill_each(1, &p, &b);
        assert_int_equal(races(), i + 1);
    }
}

static void *touch_from_a_thread(void *p)
{
    const CUdeviceptr same[] = {(uintptr_t)p, (uintptr_t)p, (uintptr_t)p};
    const CUstream own[] = {CU_STREAM_PER_THREAD, CU_STREAM_PER_THREAD, CU_STREAM_PER_THREAD};
    fill_each(3, same, own);
    nanosleep(&(struct timespec){.tv_nsec = 20 * 1000 * 1000}, NULL); /* csan's thread looks */
    set_each(3, same, own);
    nanosleep(&(struct timespec){.tv_nsec = 20 * 1000 * 1000}, NULL);
    return NULL;
}

/* Which is of the thread that calls, whoever tells. */
static void a_thread_has_a_stream_of_its_own(void **state)
{
    (void)state;
    void *p = (void *)(uintptr_t)device(64), *q = (void *)(uintptr_t)device(64);
    touch_from_a_thread(p);
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, touch_from_a_thread, q), 0);
    pthread_join(thread, NULL);
    assert_int_equal(races(), 0);
    touch_from_a_thread(q);
    assert_int_equal(races(), 2); /* the float, and what else is set */
}

static void a_default_stream_is_of_the_context_that_was_current(void **state)
{
    (void)state;
    CUdeviceptr p = device(64), q = device(64), scratch = device(64);
    CUstream b = non_blocking();
    fake_context_is_of_this_thread(true);
    fill_each(3, (CUdeviceptr[]){scratch, scratch, p}, (CUstream[]){NULL, NULL, NULL});
    nanosleep(&(struct timespec){.tv_nsec = 20 * 1000 * 1000}, NULL); /* csan's thread looks */
    set_each(3, (CUdeviceptr[]){scratch, scratch, q}, (CUstream[]){NULL, NULL, NULL});
    nanosleep(&(struct timespec){.tv_nsec = 20 * 1000 * 1000}, NULL);
    fill(p, b);
    fill(q, b);
    const size_t found = races();
    fake_context_is_of_this_thread(false);
    assert_int_equal(found, 2);
}

static void another_threads_launches_are_its_own(void **state)
{
    static const char *const arguments[] = {"self"};
    static const struct csan_operator what = {
        .name = "mine", .arguments = arguments, .argument_count = 1};
    (void)state;
    filling();
    for (int i = 0; i < 20; i++) {
        struct meeting meeting = {.p = device(64)};
        pthread_t thread;
        pthread_barrier_init(&meeting.launched, NULL, 2);
        pthread_barrier_init(&meeting.done, NULL, 2);
        assert_int_equal(pthread_create(&thread, NULL, thread_races, &meeting), 0);
        csan_operator_begin(&what, &(struct csan_operator_call){0});
        csan_ignore_begin();
        pthread_barrier_wait(&meeting.launched);
        pthread_barrier_wait(&meeting.launched);
        turn_to(NULL);
        csan_ignore_end();
        csan_operator_end();
        pthread_barrier_wait(&meeting.done);
        pthread_join(thread, NULL);
        struct csan_race found[20];
        assert_int_equal(csan_races_since(hook_mark(), found, 20), i + 1);
        assert_string_equal(found[i].previous.name, "fill");
        assert_string_equal(found[i].previous.arguments, "0");
        assert_string_equal(found[i].current.arguments, "0");
        pthread_barrier_destroy(&meeting.launched);
        pthread_barrier_destroy(&meeting.done);
    }
}

/* What is to be ignored is, though it could be put off. */
static void what_is_ignored_is(void **state)
{
    (void)state;
    CUdeviceptr p = device(64);
    CUstream a = non_blocking(), b = non_blocking();
    for (int i = 0; i < 2; i++) {
        csan_ignore_begin();
        fill_each(4, (CUdeviceptr[]){p, p, p, p}, (CUstream[]){a, a, b, b});
        csan_ignore_end();
    }
    assert_int_equal(races(), 0);
}

/* ---- In processes of their own ---- */

static char output[65536];

static int run(const char *mode, const char *options)
{
    char command[512];
    snprintf(command, sizeof command, "CSAN=1 CSAN_OPTIONS='symbolize=0:%s' '%s' %s 2>&1", options,
             program_invocation_name, mode);
    FILE *pipe = popen(command, "r");
    assert_non_null(pipe);
    size_t length = fread(output, 1, sizeof output - 1, pipe);
    output[length] = '\0';
    int status = pclose(pipe);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static void race(void)
{
    CUdeviceptr p = device(64);
    CUstream a = non_blocking(), b = non_blocking();
    fill_each(4, (CUdeviceptr[]){device(64), p, device(64), p}, (CUstream[]){a, a, b, b});
}

static int opening;

static void call_while_opening(void)
{
    CUdeviceptr p;
    __atomic_store_n(&opening, 1, __ATOMIC_RELEASE);
    while (__atomic_load_n(&opening, __ATOMIC_ACQUIRE) != 2)
        usleep(1000);
    usleep(50 * 1000); /* by then csan's thread is in the midst of its work */
    cuMemAlloc_v2(&p, 64);
}

static void *open_library(void *unused)
{
    (void)unused;
    dlopen(FAKE_DRIVER "/traced/libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    return NULL;
}

/* A launch is put off, for csan's thread to find its context, while another thread is opening a
 * library that calls the driver. */
static int launch_while_another_opens(void)
{
    CUstream s = non_blocking();
    CUdeviceptr p = device(64);
    pthread_t opener;
    char address[32];
    alarm(20);
    snprintf(address, sizeof address, "%p", (void *)call_while_opening);
    fake_context_is_of_this_thread(true);
    for (volatile int i = 0; i < 4; i++) {
        if (i == 3) {
            usleep(100 * 1000);
            setenv("FAKE_WHEN_OPENED", address, 1);
            pthread_create(&opener, NULL, open_library, NULL);
            while (__atomic_load_n(&opening, __ATOMIC_ACQUIRE) != 1)
                usleep(1000);
        }
        fill(p, s);
        if (i < 3)
            turn_to(s); /* works off here, while csan's thread is being made */
    }
    __atomic_store_n(&opening, 2, __ATOMIC_RELEASE);
    pthread_join(opener, NULL);
    return 0;
}

/* At most some seconds. */
static bool wait_for_report(const char *path)
{
    for (int i = 0; i < 2000; i++) {
        FILE *file = fopen(path, "r");
        char line[256];
        bool found = false;
        while (file && fgets(line, sizeof line, file))
            found |= strstr(line, "race") != NULL;
        if (file)
            fclose(file);
        if (found)
            return true;
        nanosleep(&(struct timespec){.tv_nsec = 10 * 1000 * 1000}, NULL);
    }
    return false;
}

/* ---- Who tells ---- */

/* A race at each of so many addresses, and calls that are put off, but for the first of each. */
static void race_each(size_t count, void (*touch)(size_t i, CUdeviceptr p, CUstream stream))
{
    CUstream a = non_blocking(), b = non_blocking();
    CUdeviceptr p = device(64 * count), scratch = device(64);
    for (size_t round = 0; round < 3; round++)
        for (size_t i = 0; i < count; i++) {
            touch(i, round ? p + 64 * i : scratch, round == 2 ? b : a);
            if (i % 64 == 63) /* csan's thread keeps up, wherever it runs */
                nanosleep(&(struct timespec){.tv_nsec = 100 * 1000 * 1000}, NULL);
        }
    nanosleep(&(struct timespec){.tv_nsec = 300 * 1000 * 1000}, NULL);
}

enum { KERNELS = 128, SETS = 8 };
static CUfunction kernels[KERNELS];

static __attribute__((noipa)) void launch_one(size_t i, CUdeviceptr p, CUstream stream)
{
    launch(kernels[i], p, stream);
}

static __attribute__((noipa)) void set_one(size_t i, CUdeviceptr p, CUstream stream)
{
    (void)i;
    set(p, stream);
}

/* ---- Random programs ---- */

enum { STREAMS = 3, BUFFERS = 6, STEPS = 400, FOUND = 2000 };

static uint32_t next_random(uint32_t *state, uint32_t count)
{
    *state = *state * 1664525 + 1013904223;
    return (*state >> 8) % count;
}

struct player {
    uint32_t random;
    CUstream streams[STREAMS];
    CUevent events[STREAMS];
    CUdeviceptr buffers[BUFFERS];
    CUdeviceptr segment; /* of the pool */
    bool given[BUFFERS];
};

static CUdeviceptr block_of(const struct player *player, uint32_t number)
{
    return player->segment + number * 512;
}

/* What comes between is at one place, whether it is within. */
static __attribute__((noipa)) void operator_begins(bool within, CUdeviceptr p)
{
    static const char *const arguments[] = {"self"};
    static const struct csan_operator what = {
        .name = "mine", .arguments = arguments, .argument_count = 1};
    static struct csan_access access;
    access = (struct csan_access){.base = p, .bytes = 64, .kind = CSAN_WRITE};
    if (within)
        csan_operator_begin(&what, &(struct csan_operator_call){.accesses = &access, .count = 1});
}

static __attribute__((noipa)) void operator_ends(bool within)
{
    if (within)
        csan_operator_end();
}

static void play_step(struct player *player)
{
    uint32_t *random = &player->random;
    CUstream stream = player->streams[next_random(random, STREAMS)];
    const uint32_t buffer = next_random(random, BUFFERS), other = next_random(random, STREAMS);
    const uint32_t chance = next_random(random, 100);
    const bool within = chance >= 97 && chance < 99; /* an operator */
    if (chance < 45 || within) {
        operator_begins(within, player->buffers[buffer]);
        if (other)
            fill(player->buffers[buffer] + 4 * next_random(random, 4), stream);
        else
            set(player->buffers[buffer], stream);
        operator_ends(within);
    } else if (chance < 60) {
        if (player->given[buffer])
            fill(block_of(player, buffer), stream);
    } else if (chance < 80) {
        void *block = (void *)(uintptr_t)block_of(player, buffer);
        if (player->given[buffer])
            csan_pool_free(block, stream);
        else
            csan_pool_alloc(block, 512, stream);
        player->given[buffer] = !player->given[buffer];
    } else if (chance < 85) {
        OK(cuEventRecord(player->events[other], stream));
    } else if (chance < 94) {
        OK(cuStreamWaitEvent(stream, player->events[other], 0));
    } else if (chance < 95) {
        OK(cuStreamSynchronize(stream));
    } else if (chance < 96) {
        OK(cuLaunchHostFunc(stream, nothing, NULL));
    } else if (chance < 97) {
        fake_run_host_functions();
    } else {
        csan_ignore_begin();
        fill(player->buffers[buffer], stream);
        csan_ignore_end();
    }
}

static void races_print(uint64_t since)
{
    static struct csan_race found[FOUND];
    const size_t count = csan_races_since(since, found, FOUND);
    printf("%zu races\n", count);
    for (size_t i = 0; i < count && i < FOUND; i++)
        printf("%d %d %" PRIx64 " %" PRIu64 " in %" PRIx64 " %" PRIu64 ": %s %s, %s %s\n",
               found[i].kind, found[i].possible, found[i].address, found[i].bytes,
               found[i].allocation, found[i].allocation_bytes, found[i].current.name,
               found[i].current.arguments, found[i].previous.name, found[i].previous.arguments);
}

static void play(uint32_t seed)
{
    struct player player = {.random = seed, .segment = device(512 * BUFFERS)};
    for (int i = 0; i < STREAMS; i++) {
        player.streams[i] = non_blocking();
        player.events[i] = event();
    }
    for (int i = 0; i < BUFFERS; i++)
        player.buffers[i] = device(64);
    const uint64_t mark = csan_race_mark();
    for (int i = 0; i < STEPS; i++)
        play_step(&player);
    races_print(mark);
}

static int mode_run(const char *mode)
{
    if (strncmp(mode, "play", 4) == 0) {
        play((uint32_t)atoi(mode + 4));
        return 0;
    }
    if (strcmp(mode, "kernels") == 0) {
        for (size_t i = 0; i < KERNELS; i++)
            kernels[i] = function_of(module_load(), "fill");
        race_each(KERNELS, launch_one);
        return 0;
    }
    if (strcmp(mode, "sets") == 0) {
        race_each(SETS, set_one);
        return 0;
    }
    if (strcmp(mode, "exit") == 0) {
        race();
        return 0;
    }
    if (strcmp(mode, "idle") == 0) {
        CUdeviceptr p = device(64);
        CUstream s = non_blocking();
        fill_each(3, (CUdeviceptr[]){p, p, p}, (CUstream[]){s, s, s});
        nanosleep(&(struct timespec){.tv_nsec = 100 * 1000 * 1000}, NULL); /* it sleeps now */
        race();
        char path[300];
        snprintf(path, sizeof path, "%s.%d", getenv("REPORT"), (int)getpid());
        printf("%s\n", wait_for_report(path) ? "told" : "nobody told");
        unlink(path);
        return 0;
    }
    if (strcmp(mode, "opening") == 0)
        return launch_while_another_opens();
    if (strcmp(mode, "fork") == 0) {
        race();
        pid_t child = fork();
        if (child == 0) {
            race();
            exit(7);
        }
        int status = 0;
        waitpid(child, &status, 0);
        printf("child %d\n", WEXITSTATUS(status));
        return 0;
    }
    race();
    printf("own threads %d\n", own_threads());
    return 0;
}

static void the_end_waits_for_what_was_put_off(void **state)
{
    (void)state;
    assert_int_equal(run("exit", "exitcode=66"), 66);
    assert_non_null(strstr(output, "1 race,"));
}

static void a_report_comes_without_another_call(void **state)
{
    (void)state;
    char path[] = "/tmp/csan_backlog_XXXXXX", options[128];
    int file = mkstemp(path);
    assert_true(file >= 0);
    close(file);
    setenv("REPORT", path, 1);
    snprintf(options, sizeof options, "exitcode=66:log_path=%s", path);
    assert_int_equal(run("idle", options), 66);
    unlink(path);
    assert_non_null(strstr(output, "told"));
    assert_null(strstr(output, "nobody"));
}

/* As many kernels as a framework has, by turns. */
static void all_are_put_off(void **state)
{
    (void)state;
    const char *options = "report_limit=1:exitcode=0:verbosity=1";
    const char *format = "%d launches and the like were checked beside the program, 0 within";
    char expected[128];
    assert_int_equal(run("kernels", options), 0);
    snprintf(expected, sizeof expected, format, 2 * KERNELS - 1); /* the place is new twice */
    assert_non_null(strstr(output, expected));
    assert_int_equal(run("sets", options), 0);
    snprintf(expected, sizeof expected, format, 3 * SETS - 1);
    assert_non_null(strstr(output, expected));
}

/* csan's thread needs nothing of the loader, whose lock the other thread has. */
static void a_library_that_is_opened_may_call_the_driver(void **state)
{
    (void)state;
    for (int i = 0; i < 3; i++)
        assert_int_equal(run("opening", "exitcode=0"), 0);
}

/* (LeakSanitizer's allocator may be locked by csan's thread when the child is made.) */
static void a_forked_child_waits_for_nothing(void **state)
{
    (void)state;
    setenv("ASAN_OPTIONS", "detect_leaks=0", 1);
    for (int i = 0; i < 20; i++) {
        assert_int_equal(run("fork", "exitcode=66"), 66);
        assert_non_null(strstr(output, "child 7"));
    }
    unsetenv("ASAN_OPTIONS");
}

/* No thread takes the program's one processor. */
static void one_processor_puts_nothing_off(void **state)
{
    (void)state;
    assert_int_equal(run("count", "exitcode=66"), 66);
    assert_non_null(strstr(output, "own threads 1"));
    cpu_set_t before, one;
    assert_int_equal(sched_getaffinity(0, sizeof before, &before), 0);
    CPU_ZERO(&one);
    CPU_SET(sched_getcpu(), &one);
    assert_int_equal(sched_setaffinity(0, sizeof one, &one), 0);
    const int code = run("count", "exitcode=66");
    assert_int_equal(sched_setaffinity(0, sizeof before, &before), 0);
    assert_int_equal(code, 66);
    assert_non_null(strstr(output, "own threads 0"));
}

/* halt_on_error=1 ends the program within the launch that races: it says no more. */
static void options_put_nothing_off(void **state)
{
    (void)state;
    assert_int_equal(run("count", "exitcode=66:backlog=0"), 66);
    assert_non_null(strstr(output, "own threads 0"));
    assert_int_equal(run("count", "exitcode=66:halt_on_error=1"), 66);
    assert_null(strstr(output, "own threads"));
    assert_int_equal(run("count", "exitcode=66:host_order=threads"), 66);
    assert_non_null(strstr(output, "own threads 0"));
}

/* The same races, in the same order, as where each launch is told of within its call. */
static void random_programs_are_told_in_order(void **state)
{
    enum { SEEDS = 60 };
    static char at_once[sizeof output];
    size_t all = 0;
    (void)state;
    for (int seed = 0; seed < SEEDS; seed++) {
        char mode[32];
        snprintf(mode, sizeof mode, "play%d", seed);
        const char *quiet = "print_summary=0:log_path=/dev/null:dedup=0:exitcode=0:backlog=";
        char options[128];
        snprintf(options, sizeof options, "%s0", quiet);
        assert_int_equal(run(mode, options), 0);
        memcpy(at_once, output, sizeof output);
        for (int room = 2; room <= 256; room *= 128) {
            snprintf(options, sizeof options, "%s%d", quiet, room);
            assert_int_equal(run(mode, options), 0);
            assert_string_equal(output, at_once);
        }
        all += (size_t)atoi(output);
    }
    assert_in_range(all, 10 * SEEDS, 1000 * SEEDS);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(a_thread_of_csans_tells, hook_setup),
        cmocka_unit_test_setup(launches_race, hook_setup),
        cmocka_unit_test_setup(sets_race, hook_setup),
        cmocka_unit_test_setup(an_event_comes_between, hook_setup),
        cmocka_unit_test_setup(memory_is_freed_after_its_launches, hook_setup),
        cmocka_unit_test_setup(blocks_keep_their_place, hook_setup),
        cmocka_unit_test_setup(more_than_there_is_room_for, hook_setup),
        cmocka_unit_test_setup(large_parameters_keep_their_place, hook_setup),
        cmocka_unit_test_setup(a_module_goes_after_its_launches, hook_setup),
        cmocka_unit_test_setup(threads_launch, hook_setup),
        cmocka_unit_test_setup(a_host_function_runs_after_a_launch, hook_setup),
        cmocka_unit_test_setup(a_thread_has_a_stream_of_its_own, hook_setup),
        cmocka_unit_test_setup(a_default_stream_is_of_the_context_that_was_current, hook_setup),
        cmocka_unit_test_setup(another_threads_launches_are_its_own, hook_setup),
        cmocka_unit_test_setup(what_is_launched_while_another_waits_races, hook_setup),
        cmocka_unit_test_setup(a_thread_with_nothing_to_do_sleeps, hook_setup),
        cmocka_unit_test_setup(what_is_ignored_is, hook_setup),
        cmocka_unit_test(the_end_waits_for_what_was_put_off),
        cmocka_unit_test(a_report_comes_without_another_call),
        cmocka_unit_test(all_are_put_off),
        cmocka_unit_test(a_library_that_is_opened_may_call_the_driver),
        cmocka_unit_test(a_forked_child_waits_for_nothing),
        cmocka_unit_test(one_processor_puts_nothing_off),
        cmocka_unit_test(options_put_nothing_off),
        cmocka_unit_test(random_programs_are_told_in_order),
    };
    setenv("CSAN_OPTIONS", "symbolize=0:print_summary=0:log_path=/dev/null:dedup=0", 0);
    hook_test_start(argv);
    if (argc > 1)
        return mode_run(argv[1]);
    return hook_finish(cmocka_run_group_tests(tests, NULL, NULL));
}
