/* The order of work on the embedded device, without kernels: streams, events, host functions,
 * copies of pageable memory; and that a seed decides what nothing orders. */
#include "runtime/device/schedule/schedule.h"
#include "tests/unit/device/test_device.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static bool is_lazy(void)
{
    return !strcmp(schedule, "lazy") || !strcmp(schedule, "reverse");
}
static bool is_eager(void)
{
    return !strcmp(schedule, "eager") || !strncmp(schedule, "hold", 4);
}

/* ---- Order --------------------------------------------------------------------------------- */

/* Two streams hand a buffer to and fro through events: the same result under every schedule. */
static void events_order_streams(void **state)
{
    (void)state;
    CUstream a, b;
    CUevent ready, back;
    CUdeviceptr memory;
    unsigned *seen;
    ok(cuStreamCreate(&a, CU_STREAM_NON_BLOCKING));
    ok(cuStreamCreate(&b, CU_STREAM_NON_BLOCKING));
    ok(cuEventCreate(&ready, CU_EVENT_DISABLE_TIMING));
    ok(cuEventCreate(&back, CU_EVENT_DISABLE_TIMING));
    ok(cuMemAlloc(&memory, 4));
    ok(cuMemHostAlloc((void **)&seen, 200 * sizeof *seen, 0));
    ok(cuStreamWaitEvent(a, back, 0)); /* never recorded: no order */
    for (unsigned i = 0; i < 200; i++) {
        ok(cuMemsetD32Async(memory, i, 1, a));
        ok(cuEventRecord(ready, a));
        ok(cuStreamWaitEvent(b, ready, 0));
        ok(cuMemcpyDtoHAsync(&seen[i], memory, 4, b));
        ok(cuEventRecord(back, b));
        ok(cuStreamWaitEvent(a, back, 0));
    }
    ok(cuEventSynchronize(back));
    for (unsigned i = 0; i < 200; i++)
        assert_int_equal(seen[i], i);
    ok(cuMemFreeHost(seen));
    ok(cuMemFree(memory));
    ok(cuEventDestroy(ready));
    ok(cuEventDestroy(back));
    ok(cuStreamDestroy(a));
    ok(cuStreamDestroy(b));
}

/* "The last record wins", and a wait keeps the record it saw. */
static void a_wait_keeps_its_record(void **state)
{
    (void)state;
    CUstream a, b;
    CUevent event;
    unsigned *values;
    ok(cuStreamCreate(&a, CU_STREAM_NON_BLOCKING));
    ok(cuStreamCreate(&b, CU_STREAM_NON_BLOCKING));
    ok(cuEventCreate(&event, 0));
    ok(cuMemAllocManaged((CUdeviceptr *)&values, 8, CU_MEM_ATTACH_GLOBAL));
    for (int i = 0; i < 50; i++) {
        ok(cuMemsetD32Async((CUdeviceptr)values, 1, 1, a));
        ok(cuEventRecord(event, a));
        ok(cuStreamWaitEvent(b, event, 0));
        ok(cuMemcpyDtoDAsync((CUdeviceptr)(values + 1), (CUdeviceptr)values, 4, b));
        ok(cuEventRecord(event, b));
        ok(cuEventDestroy(event)); /* the wait lives on */
        ok(cuEventCreate(&event, 0));
        ok(cuStreamSynchronize(b));
        assert_int_equal(values[1], 1);
        ok(cuStreamSynchronize(a));
        values[0] = values[1] = 0;
    }
    ok(cuEventDestroy(event));
    ok(cuMemFree((CUdeviceptr)values));
    ok(cuStreamDestroy(a));
    ok(cuStreamDestroy(b));
}

static void the_legacy_stream_orders_blocking_streams(void **state)
{
    (void)state;
    CUstream a, b;
    CUdeviceptr memory;
    unsigned *seen;
    ok(cuStreamCreate(&a, CU_STREAM_DEFAULT));
    ok(cuStreamCreate(&b, CU_STREAM_DEFAULT));
    ok(cuMemAlloc(&memory, 8));
    ok(cuMemHostAlloc((void **)&seen, 100 * sizeof *seen, 0));
    for (unsigned i = 0; i < 100; i++) {
        ok(cuMemsetD32Async(memory, i, 1, a));
        ok(cuMemcpyDtoDAsync(memory + 4, memory, 4, NULL)); /* after a, before b */
        ok(cuMemcpyDtoHAsync(&seen[i], memory + 4, 4, b));
        ok(cuMemcpyDtoDAsync(memory + 4, memory, 4, CU_STREAM_LEGACY));
    }
    ok(cuStreamSynchronize(NULL)); /* covers a and b */
    ok(cuStreamQuery(a));
    ok(cuStreamQuery(b));
    for (unsigned i = 0; i < 100; i++)
        assert_int_equal(seen[i], i);
    ok(cuMemFreeHost(seen));
    ok(cuMemFree(memory));
    ok(cuStreamDestroy(a));
    ok(cuStreamDestroy(b));
}

/* Programs of random sets and copies, in which every two that touch the same word are ordered: by
 * their stream, by an event, or by the rules of the legacy stream. They end as if run one by one.
 */
enum { WORDS = 5, STREAMS = 5 };

struct random_program {
    CUdeviceptr memory;
    CUstream streams[STREAMS]; /* 0: legacy; the last two do not block */
    CUevent events[WORDS];     /* after the last use of each word */
    int user[WORDS];           /* stream of the last use, or -1 */
    unsigned expected[WORDS];
    uint64_t random;
};

static unsigned draw(struct random_program *program, unsigned below)
{
    program->random = program->random * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(program->random >> 33) % below;
}

static bool ordered_by_the_legacy_stream(int a, int b)
{
    return (a == 0 && b < STREAMS - 2) || (b == 0 && a < STREAMS - 2);
}

static void wait_for_word(struct random_program *program, unsigned word, int stream)
{
    int user = program->user[word];
    if (user >= 0 && user != stream && !ordered_by_the_legacy_stream(user, stream))
        ok(cuStreamWaitEvent(program->streams[stream], program->events[word], 0));
}

static void use_word(struct random_program *program, unsigned word, int stream)
{
    program->user[word] = stream;
    ok(cuEventRecord(program->events[word], program->streams[stream]));
}

static void random_step(struct random_program *program, unsigned value)
{
    int stream = (int)draw(program, STREAMS);
    unsigned to = draw(program, WORDS), from = draw(program, WORDS);
    bool is_copy = to != from && draw(program, 2);
    wait_for_word(program, to, stream);
    if (is_copy) {
        wait_for_word(program, from, stream);
        ok(cuMemcpyDtoDAsync(program->memory + 4 * to, program->memory + 4 * from, 4,
                             program->streams[stream]));
        use_word(program, from, stream);
    } else {
        ok(cuMemsetD32Async(program->memory + 4 * to, value, 1, program->streams[stream]));
    }
    use_word(program, to, stream);
    program->expected[to] = is_copy ? program->expected[from] : value;
}

static void ordered_programs_end_alike(void **state)
{
    (void)state;
    struct random_program program = {.random = 12345};
    unsigned seen[WORDS];
    ok(cuMemAlloc(&program.memory, 4 * WORDS));
    for (int i = 1; i < STREAMS; i++)
        ok(cuStreamCreate(&program.streams[i],
                          i < STREAMS - 2 ? CU_STREAM_DEFAULT : CU_STREAM_NON_BLOCKING));
    for (int i = 0; i < WORDS; i++)
        ok(cuEventCreate(&program.events[i], CU_EVENT_DISABLE_TIMING));
    for (int round = 0; round < 60; round++) {
        for (int i = 0; i < WORDS; i++)
            program.user[i] = -1;
        for (unsigned i = 0; i < WORDS; i++)
            ok(cuMemsetD32(program.memory + 4 * i, program.expected[i] = i, 1));
        ok(cuCtxSynchronize());
        for (unsigned step = 1; step < 40; step++)
            random_step(&program, 100 * step);
        ok(cuCtxSynchronize());
        ok(cuMemcpyDtoH(seen, program.memory, sizeof seen));
        assert_memory_equal(seen, program.expected, sizeof seen);
    }
    for (int i = 0; i < WORDS; i++)
        ok(cuEventDestroy(program.events[i]));
    for (int i = 1; i < STREAMS; i++)
        ok(cuStreamDestroy(program.streams[i]));
    ok(cuMemFree(program.memory));
}

/* Without order between two writers, both outcomes happen under random; eager and lazy have one
 * each, and they differ. */
static unsigned race_once(CUstream a, CUstream b, CUdeviceptr memory)
{
    unsigned value = 0;
    ok(cuMemsetD32Async(memory, 1, 1, a));
    ok(cuMemsetD32Async(memory, 2, 1, b));
    ok(cuCtxSynchronize());
    ok(cuMemcpyDtoH(&value, memory, 4));
    return value;
}

static void races_go_both_ways(void **state)
{
    (void)state;
    CUstream a, b;
    CUdeviceptr memory;
    unsigned outcomes[3] = {0};
    ok(cuStreamCreate(&a, CU_STREAM_NON_BLOCKING));
    ok(cuStreamCreate(&b, CU_STREAM_NON_BLOCKING));
    ok(cuMemAlloc(&memory, 4));
    for (int i = 0; i < 100; i++)
        outcomes[race_once(a, b, memory)]++;
    if (is_eager())
        assert_int_equal(outcomes[2], 100);
    else if (is_lazy())
        assert_int_equal(outcomes[1], 100);
    else
        assert_true(outcomes[1] >= 10 && outcomes[2] >= 10);
    ok(cuMemFree(memory));
    ok(cuStreamDestroy(a));
    ok(cuStreamDestroy(b));
}

static void a_schedule_is_chosen_between_programs(void **state)
{
    (void)state;
    static const struct {
        const char *schedule;
        unsigned outcome;
    } cases[] = {{"eager", 2},      {"lazy", 1},  {"reverse", 1}, {"hold:1-1:2", 1},
                 {"hold:1-1:9", 1}, {"eager", 2}, {"reverse", 1}};
    struct device_schedule_position position;
    CUstream a, b;
    CUdeviceptr memory;
    ok(cuStreamCreate(&a, CU_STREAM_NON_BLOCKING));
    ok(cuStreamCreate(&b, CU_STREAM_NON_BLOCKING));
    ok(cuMemAlloc(&memory, 4));
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(device_schedule_set(cases[i].schedule), 0);
        assert_int_equal(race_once(a, b, memory), cases[i].outcome);
        device_schedule_now(&position);
        assert_true(position.newest >= 2);
        assert_true(position.clock >= 2);
        const uint64_t before = position.clock;
        ok(cuMemsetD8Async(memory, 1, 4, a));
        ok(cuStreamSynchronize(a));
        device_schedule_now(&position);
        assert_true(position.entered >= before && position.entered <= position.clock);
        /* The others leave the step to the call that waits. */
        assert_int_equal(position.entered == position.clock,
                         strchr("eh", cases[i].schedule[0]) != NULL);
    }
    unsigned outcomes[2][100];
    for (int run = 0; run < 2; run++) {
        assert_int_equal(device_schedule_set("random:5"), 0);
        for (int i = 0; i < 100; i++)
            outcomes[run][i] = race_once(a, b, memory);
    }
    assert_memory_equal(outcomes[0], outcomes[1], sizeof outcomes[0]);
    static const char *const wrong[] = {"",         "eagre",    "random:", "random:x", "random:1x",
                                        "hold:1-2", "hold:1:2", "replay:", "lazy:1"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_int_equal(device_schedule_set(wrong[i]), -1);
    assert_int_equal(device_schedule_set(NULL), -1);
    assert_int_equal(device_schedule_set(schedule), 0);
    ok(cuMemFree(memory));
    ok(cuStreamDestroy(a));
    ok(cuStreamDestroy(b));
}

/* The device makes steps of its own once the program makes no call for 20 ms, as it does by
 * accident on a busy machine. */
static bool may_have_been_idle(const struct timespec *since)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (now.tv_sec - since->tv_sec) * 1000000000L + now.tv_nsec - since->tv_nsec >=
           20 * 1000000L;
}

/* Steps made while a thread makes calls, with work pending. idle: there may be some of the device's
 * own. */
static uint64_t steps_beside_once(void *(*run)(void *), bool *idle)
{
    struct device_schedule_position before, after;
    struct timespec start;
    CUstream stream;
    CUdeviceptr block;
    pthread_t thread;
    assert_int_equal(device_schedule_set("random:5"), 0);
    ok(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    ok(cuMemAlloc(&block, 64));
    clock_gettime(CLOCK_MONOTONIC, &start);
    for (int i = 0; i < 50; i++)
        ok(cuMemsetD8Async(block, (unsigned char)i, 64, stream));
    device_schedule_now(&before);
    assert_int_equal(pthread_create(&thread, NULL, run, NULL), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    device_schedule_now(&after);
    *idle = may_have_been_idle(&start);
    ok(cuStreamSynchronize(stream));
    ok(cuMemFree(block));
    ok(cuStreamDestroy(stream));
    assert_int_equal(device_schedule_set(schedule), 0);
    return after.clock - before.clock;
}

static uint64_t steps_beside(void *(*run)(void *))
{
    bool idle = true;
    uint64_t steps = 0;
    for (int i = 0; i < 1000 && idle; i++)
        steps = steps_beside_once(run, &idle);
    return steps;
}

static void *call_often(void *unused)
{
    CUcontext popped;
    for (int i = 0; i < 100; i++) {
        ok(cuCtxPushCurrent(context));
        ok(cuCtxPopCurrent(&popped));
    }
    return unused;
}

static void *call_often_aside(void *unused)
{
    assert_false(device_schedule_aside(true));
    return call_often(unused);
}

static void *call_often_as_before(void *unused)
{
    assert_false(device_schedule_aside(true));
    assert_true(device_schedule_aside(false));
    return call_often(unused);
}

static void an_observers_calls_make_no_steps(void **state)
{
    (void)state;
    assert_true(steps_beside(call_often) > 0);
    assert_int_equal(steps_beside(call_often_aside), 0);
    assert_true(steps_beside(call_often_as_before) > 0);
}

static void enqueues_return_before_the_work(void **state)
{
    (void)state;
    CUstream stream;
    CUevent event;
    CUdeviceptr memory;
    bool seen_pending = false;
    ok(cuStreamCreate(&stream, 0));
    ok(cuEventCreate(&event, 0));
    ok(cuMemAlloc(&memory, 4));
    for (int i = 0; i < 50; i++) {
        for (int k = 0; k < 10; k++)
            ok(cuMemsetD32Async(memory, 5, 1, stream));
        ok(cuEventRecord(event, stream));
        CUresult result = cuEventQuery(event);
        seen_pending |= result == CUDA_ERROR_NOT_READY;
        if (result != CUDA_ERROR_NOT_READY)
            assert_int_equal(result, CUDA_SUCCESS);
        while ((result = cuStreamQuery(stream)) == CUDA_ERROR_NOT_READY)
            ; /* progress is made by asking */
        assert_int_equal(result, CUDA_SUCCESS);
        ok(cuEventQuery(event));
    }
    if (strncmp(schedule, "hold", 4) != 0) /* it may hold these */
        assert_int_equal(seen_pending, !is_eager());
    ok(cuMemFree(memory));
    ok(cuEventDestroy(event));
    ok(cuStreamDestroy(stream));
}

static void times_events(void **state)
{
    (void)state;
    CUevent first, second, blind;
    float milliseconds = -1;
    ok(cuEventCreate(&first, 0));
    ok(cuEventCreate(&second, 0));
    ok(cuEventCreate(&blind, CU_EVENT_DISABLE_TIMING));
    assert_int_equal(cuEventElapsedTime(&milliseconds, first, second), CUDA_ERROR_INVALID_HANDLE);
    ok(cuEventRecord(first, NULL));
    ok(cuEventSynchronize(first));
    usleep(3000);
    ok(cuEventRecord(second, NULL));
    ok(cuEventRecord(blind, NULL));
    ok(cuEventSynchronize(second));
    ok(cuEventElapsedTime(&milliseconds, first, second));
    assert_true(milliseconds >= 3 && milliseconds < 10000);
    assert_int_equal(cuEventElapsedTime(&milliseconds, first, blind), CUDA_ERROR_INVALID_HANDLE);
    ok(cuEventDestroy(first));
    ok(cuEventDestroy(second));
    ok(cuEventDestroy(blind));
    assert_int_equal(cuEventRecord(first, NULL), CUDA_ERROR_INVALID_HANDLE);
}

static void stale_handles_are_errors(void **state)
{
    (void)state;
    CUstream stream;
    ok(cuStreamCreate(&stream, 0));
    ok(cuMemcpyDtoDAsync(0, 0, 0, stream));
    ok(cuStreamDestroy(stream));
    assert_int_equal(cuStreamSynchronize(stream), CUDA_ERROR_INVALID_HANDLE);
    assert_int_equal(cuStreamDestroy(stream), CUDA_ERROR_INVALID_HANDLE);
    assert_int_equal(cuStreamSynchronize((CUstream)context), CUDA_ERROR_INVALID_HANDLE);
    assert_int_equal(cuStreamDestroy(NULL), CUDA_ERROR_INVALID_HANDLE);
}

/* ---- Host functions ------------------------------------------------------------------------ */

struct note {
    int order[64], count;
    pthread_t thread;
    CUresult call;
};

static void CUDA_CB take_note(void *data)
{
    struct note *note = data;
    int count = 0;
    note->order[note->count] = note->count;
    note->count++;
    note->thread = pthread_self();
    note->call = cuDeviceGetCount(&count);
}

static void host_functions_run_in_order(void **state)
{
    (void)state;
    struct note note = {0};
    CUstream stream;
    ok(cuStreamCreate(&stream, 0));
    for (int i = 0; i < 20; i++)
        ok(cuLaunchHostFunc(stream, take_note, &note));
    ok(cuStreamSynchronize(stream));
    assert_int_equal(note.count, 20);
    assert_int_equal(note.call, CUDA_ERROR_NOT_PERMITTED);
    assert_false(pthread_equal(note.thread, pthread_self()));
    ok(cuStreamDestroy(stream));
}

static void CUDA_CB take_lock(void *lock)
{
    pthread_mutex_lock(lock);
    pthread_mutex_unlock(lock);
}

/* The program holds a lock during API calls that the host function needs: no deadlock. */
static void host_functions_may_wait_for_the_caller(void **state)
{
    (void)state;
    pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    CUstream stream, other;
    CUdeviceptr memory;
    ok(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    ok(cuStreamCreate(&other, CU_STREAM_NON_BLOCKING));
    ok(cuMemAlloc(&memory, 64));
    pthread_mutex_lock(&lock);
    ok(cuLaunchHostFunc(stream, take_lock, &lock));
    for (int i = 0; i < 20; i++)
        ok(cuMemsetD8Async(memory, 1, 64, other));
    ok(cuStreamSynchronize(other));
    pthread_mutex_unlock(&lock);
    ok(cuStreamSynchronize(stream));
    ok(cuMemFree(memory));
    ok(cuStreamDestroy(stream));
    ok(cuStreamDestroy(other));
}

static void CUDA_CB called_back(CUstream stream, CUresult status, void *data)
{
    if (status == CUDA_SUCCESS)
        *(CUstream *)data = stream;
}

static void callbacks_get_their_stream(void **state)
{
    (void)state;
    CUstream stream, seen = NULL;
    ok(cuStreamCreate(&stream, 0));
    ok(cuStreamAddCallback(stream, called_back, &seen, 0));
    ok(cuStreamSynchronize(stream));
    assert_ptr_equal(seen, stream);
    ok(cuStreamDestroy(stream));
}

/* ---- Pageable memory ------------------------------------------------------------------------- */

/* A buffer goes back and forth within one stream: each copy sees what the one before left. */
static void pageable_copies_stay_in_order(void **state)
{
    (void)state;
    int a[16] = {0}, b[16] = {0};
    CUdeviceptr first, second;
    CUstream stream;
    ok(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    ok(cuMemAlloc(&first, sizeof a));
    ok(cuMemAlloc(&second, sizeof a));
    for (int i = 1; i < 50; i++) {
        ok(cuMemsetD32Async(first, (unsigned)i, 16, stream));
        ok(cuMemcpyDtoHAsync(a, first, sizeof a, stream));
        ok(cuMemcpyHtoDAsync(second, a, sizeof a, stream));
        ok(cuMemcpyDtoHAsync(b, second, sizeof b, stream));
        ok(cuStreamSynchronize(stream));
        assert_int_equal(a[15], i);
        assert_int_equal(b[15], i);
    }
    ok(cuMemFree(first));
    ok(cuMemFree(second));
    ok(cuStreamDestroy(stream));
}

static void CUDA_CB sleep_a_while(void *unused)
{
    (void)unused;
    nanosleep(&(struct timespec){.tv_nsec = 50 * 1000 * 1000}, NULL);
}

/* "Might be synchronous" is all that is promised (API synchronization behavior, Memcpy). */
static void pageable_targets_are_there_as_on_devices(void **state)
{
    (void)state;
    unsigned value = 0;
    CUdeviceptr memory;
    CUstream stream;
    ok(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    ok(cuMemAlloc(&memory, 4));
    ok(cuLaunchHostFunc(stream, sleep_a_while, NULL));
    ok(cuMemsetD32Async(memory, 7, 1, stream));
    ok(cuMemcpyDtoHAsync(&value, memory, 4, stream));
    if (!strcmp(schedule, "eager"))
        assert_int_equal(value, 7);
    ok(cuStreamSynchronize(stream));
    assert_int_equal(value, 7);
    ok(cuMemFree(memory));
    ok(cuStreamDestroy(stream));
}

/* ---- Determinism: the same seed, the same run --------------------------------------------------
 */

static int print_outcomes(void)
{
    CUstream streams[4];
    CUdeviceptr memory;
    if (start(NULL) || cuMemAlloc(&memory, 64) != CUDA_SUCCESS)
        return 1;
    for (int i = 0; i < 4; i++)
        if (cuStreamCreate(&streams[i], CU_STREAM_NON_BLOCKING) != CUDA_SUCCESS)
            return 1;
    for (int round = 0; round < 40; round++) {
        unsigned value = 0;
        for (int i = 0; i < 4; i++)
            cuMemsetD32Async(memory, (unsigned)i, 1, streams[i]);
        cuCtxSynchronize();
        cuMemcpyDtoH(&value, memory, 4);
        putchar('0' + (int)value);
    }
    return 0;
}

static void outcomes_of(const char *program, int seed, char *text, size_t bytes)
{
    char command[600];
    const char *runner = getenv("TEST_RUNNER"); /* as in test_schedules.h */
    snprintf(command, sizeof command, "CSAN_SCHEDULE=random:%d '%s' outcomes", seed,
             runner ? runner : program);
    FILE *pipe = popen(command, "r");
    assert_non_null(pipe);
    memset(text, 0, bytes);
    assert_int_equal(fread(text, 1, bytes - 1, pipe), 40);
    assert_int_equal(pclose(pipe), 0);
}

static const char *self;

/* On a busy machine a program may call nothing for 20 ms, and the device then works by itself: such
 * runs say nothing. That two runs of 40 rounds are alike by chance does not happen. */
static void a_seed_decides(void **state)
{
    enum { TRIES = 5 };
    (void)state;
    char first[64], again[64], other[64];
    for (int i = 0; i == 0 || (i < TRIES && strcmp(first, again) != 0); i++) {
        outcomes_of(self, 7, first, sizeof first);
        outcomes_of(self, 7, again, sizeof again);
    }
    outcomes_of(self, 8, other, sizeof other);
    assert_string_equal(first, again);
    assert_string_not_equal(first, other);
}

static void CUDA_CB run_long(void *ran)
{
    usleep(60 * 1000);
    *(bool *)ran = true;
}

static void no_clock_makes_anything_happen(void **state)
{
    (void)state;
    struct device_schedule_position before, after;
    CUdeviceptr memory;
    bool ran = false;
    device_schedule_ignore_clock();
    ok(cuMemAlloc(&memory, 4));
    assert_int_equal(device_schedule_set("lazy"), 0);
    ok(cuMemsetD8Async(memory, 1, 4, NULL));
    device_schedule_now(&before);
    usleep(150 * 1000);
    device_schedule_now(&after);
    assert_int_equal(after.clock, before.clock);
    assert_int_equal(device_schedule_set("eager"), 0);
    ok(cuLaunchHostFunc(NULL, run_long, &ran));
    assert_true(ran);
    assert_int_equal(device_schedule_set(schedule), 0);
    ok(cuMemFree(memory));
}

int main(int count, char **arguments)
{
    self = arguments[0];
    if (count > 1 && !strcmp(arguments[1], "outcomes"))
        return print_outcomes();
    schedule = test_schedule();
    if (!schedule)
        return test_under_each_schedule(arguments);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(events_order_streams),
        cmocka_unit_test(a_wait_keeps_its_record),
        cmocka_unit_test(the_legacy_stream_orders_blocking_streams),
        cmocka_unit_test(ordered_programs_end_alike),
        cmocka_unit_test(races_go_both_ways),
        cmocka_unit_test(pageable_targets_are_there_as_on_devices),
        cmocka_unit_test(a_schedule_is_chosen_between_programs),
        cmocka_unit_test(an_observers_calls_make_no_steps),
        cmocka_unit_test(enqueues_return_before_the_work),
        cmocka_unit_test(times_events),
        cmocka_unit_test(stale_handles_are_errors),
        cmocka_unit_test(host_functions_run_in_order),
        cmocka_unit_test(host_functions_may_wait_for_the_caller),
        cmocka_unit_test(callbacks_get_their_stream),
        cmocka_unit_test(pageable_copies_stay_in_order),
        cmocka_unit_test(a_seed_decides),
        cmocka_unit_test(no_clock_makes_anything_happen), /* from here on */
    };
    return cmocka_run_group_tests(tests, start, finish);
}
