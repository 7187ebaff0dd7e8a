/* Races of operators that rest: reports that wait for the operators, and deferred launches. The
 * same with deferred launches. */
#include "tests/unit/hook/hook_operators.h"

#include <pthread.h>
#include <unistd.h>

static struct {
    int count;
    bool leads; /* it is the one that stands for its missing order */
    pthread_t thread;
    const void *allocated_at; /* the innermost frame */
    char previous[128], current[128];
} reported;

static int race_reported(void *user, const struct csan_race *race, const char *text)
{
    (void)user;
    (void)text;
    snprintf(reported.previous, sizeof reported.previous, "%s", race->previous.name);
    snprintf(reported.current, sizeof reported.current, "%s", race->current.name);
    reported.allocated_at = race->allocation_frame_count ? race->allocation_frames[0] : NULL;
    reported.leads = race->group == race->number;
    reported.thread = pthread_self();
    __atomic_add_fetch(&reported.count, 1, __ATOMIC_RELEASE);
    return 1;
}

static const char *const names_of_zero[] = {"self" CSAN_ARGUMENT_RETURNED};
static const struct csan_operator zero = {"aten::zero_(Tensor(a!) self)", names_of_zero, 1,
                                          CSAN_NO_ARGUMENT};

static bool no_turn; /* the source has no occasion to follow */

/* An operator that needs no summary, for it makes no launch. */
static void zeros(CUdeviceptr memory, CUstream stream)
{
    const struct csan_access access = {.base = memory, .bytes = 64, .kind = CSAN_WRITE};
    if (!no_turn)
        between();
    const volatile bool followed = source.follows; /* or there would be two places of the call */
    declare(&zero, &access, 1);
    OK(cuMemsetD8Async(memory, 0, 64, stream));
    ends(followed);
}

/* The race is between two operators without launches. Both streams have work in order before. */
static void zeros_race(CUdeviceptr memory, CUstream one, CUstream other)
{
    zeros(memory, one);
    zeros(memory, other);
    OK(cuCtxSynchronize());
}

static void begin_reports(void)
{
    memset(&reported, 0, sizeof reported);
    csan_on_race(race_reported, NULL);
}

static void a_report_waits_for_its_operators(void **state)
{
    (void)state;
    CUfunction f = fresh();
    CUdeviceptr from = device(BYTES), to = device(BYTES), memory = device(BYTES);
    CUstream s = non_blocking(), t = non_blocking();
    copies_until_rest(f, from, to, 64, s);
    begin_reports();
    for (int i = 0; i < 3; i++) {
        zeros_race(memory, s, t);
        assert_int_equal(reported.count, i > 0);
        assert_true(i > 0 || source.asked);
    }
    assert_string_equal(reported.previous, zero.name);
    assert_string_equal(reported.current, zero.name);
    assert_int_equal(races(), 1); /* the one without operators never was */
    copies_until_rest(f, from, to, 64, s);
    csan_on_race(NULL, NULL);
}

/* That it came again and again before the source followed says nothing of its operators. */
static void a_race_that_comes_often_waits_as_well(void **state)
{
    (void)state;
    CUfunction f = fresh();
    CUdeviceptr from = device(BYTES), to = device(BYTES), memory = device(BYTES);
    CUstream s = non_blocking(), t = non_blocking();
    copies_until_rest(f, from, to, 64, s);
    begin_reports();
    for (volatile int i = 0; i < 7; i++) {
        no_turn = i < 4;
        zeros_race(memory, s, t);
        settle();
        assert_true(i > 3 || !reported.count);
    }
    assert_int_equal(reported.count, 1);
    assert_string_equal(reported.previous, zero.name);
    assert_string_equal(reported.current, zero.name);
    copies_until_rest(f, from, to, 64, s);
    csan_on_race(NULL, NULL);
}

static __attribute__((noipa)) void zeros_once(CUdeviceptr memory, CUstream stream)
{
    zeros(memory, stream);
}
static __attribute__((noipa)) void zeros_afterwards(CUdeviceptr memory, CUstream stream)
{
    zeros(memory, stream);
}

/* From one place, whether operators are followed or not. */
static __attribute__((noipa)) void copies_there(CUfunction f, CUdeviceptr from, CUdeviceptr to,
                                                CUstream stream)
{
    const struct csan_access accesses[] = {
        {.base = from, .bytes = 64, .kind = CSAN_READ, .argument = 0},
        {.base = to, .bytes = 64, .kind = CSAN_WRITE, .argument = 1}};
    between();
    const volatile bool followed = source.follows;
    declare(&copy, accesses, 2);
    launch_one(f, from, to, 64, stream);
    ends(followed);
}

/* The second race's earlier access is elsewhere in the program; both lack an order at one place. */
static void so_does_one_of_the_same_missing_order(void **state)
{
    (void)state;
    CUfunction f = fresh();
    CUdeviceptr from = device(BYTES), to = device(BYTES), memory = device(BYTES);
    CUstream s = non_blocking(), t = non_blocking();
    copies_until_rest(f, from, to, 64, s);
    OK(cuCtxSynchronize());
    begin_reports();
    for (volatile int i = 0; i < 2; i++) { /* unrolled, the copies would have two places */
        (i ? zeros_afterwards : zeros_once)(memory, s);
        copies_there(f, memory, to, t);
        OK(cuCtxSynchronize());
        settle();
        assert_int_equal(reported.count, i);
    }
    assert_string_equal(reported.previous, zero.name);
    assert_string_equal(reported.current, copy.name);
    assert_true(reported.leads);
    assert_int_equal(races(), 1);
    csan_on_race(NULL, NULL);
}

static const char *const names_of_read[] = {"self"};
static const struct csan_operator read_on_host = {"aten::sum(Tensor self) -> Tensor", names_of_read,
                                                  1, CSAN_NO_ARGUMENT};
static const struct csan_operator copied = {"aten::copy_(Tensor(a!) self, Tensor src)",
                                            names_of_copy, 2, CSAN_NO_ARGUMENT};

/* As a program that copies a result to pinned memory, and reads it on the host. */
static __attribute__((noipa)) void result_read(CUdeviceptr from, void *to, CUstream stream,
                                               bool waits)
{
    const struct csan_access accesses[] = {
        {.base = (uintptr_t)to, .bytes = 64, .kind = CSAN_WRITE, .argument = 0},
        {.base = from, .bytes = 64, .kind = CSAN_READ, .argument = 1}};
    const struct csan_access host = {.base = (uintptr_t)to, .bytes = 64, .kind = CSAN_READ};
    between();
    volatile bool followed = source.follows;
    declare(&copied, accesses, 2);
    OK(cuMemcpyDtoHAsync_v2(to, from, 64, stream));
    ends(followed);
    if (waits)
        OK(cuStreamSynchronize(stream));
    between();
    followed = source.follows;
    if (followed)
        csan_operator_begin(&read_on_host,
                            &(struct csan_operator_call){.host_accesses = &host, .host_count = 1});
    ends(followed);
    OK(cuCtxSynchronize());
}

static void a_report_of_a_copy_to_the_host_waits(void **state)
{
    (void)state;
    CUfunction f = fresh();
    CUdeviceptr from = device(BYTES), to = device(BYTES);
    CUstream s = non_blocking();
    void *pinned;
    OK(cuMemHostAlloc(&pinned, 64, 0));
    copies_until_rest(f, from, to, 64, s);
    for (int i = 0; i < 3; i++)
        result_read(to, pinned, s, true);
    assert_int_equal(races(), 0);
    assert_false(source.follows);
    begin_reports();
    for (int i = 0; i < 3; i++) {
        result_read(to, pinned, s, false);
        assert_int_equal(reported.count, i > 0);
    }
    assert_string_equal(reported.previous, copied.name);
    assert_string_equal(reported.current, read_on_host.name);
    csan_on_race(NULL, NULL);
    OK(cuMemFreeHost(pinned));
}

static void a_report_does_not_wait_for_ever(void **state)
{
    (void)state;
    CUfunction f = fresh();
    CUdeviceptr from = device(BYTES), to = device(BYTES), memory = device(BYTES);
    CUstream s = non_blocking(), t = non_blocking();
    copies_until_rest(f, from, to, 64, s);
    begin_reports();
    zeros_race(memory, s, t);
    int launches = 0;
    for (; launches < SPAN && !reported.count; launches++)
        copies(f, from, to, 64, s);
    assert_int_equal(reported.count, 1);
    assert_true(launches > 10000);
    assert_string_not_equal(reported.current, zero.name);
    assert_int_equal(races(), 1);
    csan_on_race(NULL, NULL);
}

/* ---- Threads of the framework's own ---- */

/* What every thread's stack is: one frame, and behind it maybe a heading of the adapter's, behind
 * which another frame may be. */
static const void *const python_frame = (const void *)(UINT64_C(1) << 63 | 1 << 30);
static const void *const adapters_frame = (const void *)(UINT64_C(1) << 63 | 2);
static const void *frame_now;
static bool has_heading, has_forward;

static size_t frame_capture(const void **frames, size_t capacity, int locked)
{
    (void)capacity;
    (void)locked;
    frames[0] = frame_now;
    frames[1] = adapters_frame;
    frames[2] = python_frame;
    return frame_now ? 1U + has_heading + has_forward : 0;
}
static int frame_describe(const void *frame, struct csan_source_line *line)
{
    *line = (struct csan_source_line){NULL, frame == python_frame ? "python" : "thread", 0};
    return 1;
}
static const struct csan_stack_source frames_are_few = {sizeof frames_are_few, frame_capture,
                                                        frame_describe, 0};

/* Two streams that write the same memory. */
struct racing {
    CUfunction f;
    CUdeviceptr from, to;
    CUstream one, other;
};

static void copies_race(const struct racing *racing, CUdeviceptr to)
{
    frame_now = python_frame;
    copies(racing->f, racing->from, to, 64, racing->one);
    copies(racing->f, racing->from, to, 64, racing->other);
    settle();
    OK(cuCtxSynchronize());
}

/* What the operators at rest race on was allocated with that frame. */
static struct racing rest_begins(const void *allocated_at, bool heading)
{
    csan_stack_source_set(&frames_are_few);
    frame_now = allocated_at;
    const struct racing racing = {fresh(), device(BYTES), device(BYTES), non_blocking(),
                                  non_blocking()};
    frame_now = python_frame;
    has_heading = heading;
    copies_until_rest(racing.f, racing.from, racing.to, 64, racing.one);
    OK(cuCtxSynchronize());
    begin_reports();
    return racing;
}

/* A program without functions: its launches lack nothing, and its report need not wait. */
static void one_frame_of_the_program_is_a_stack(void **state)
{
    (void)state;
    const struct racing racing = rest_begins(python_frame, false);
    copies_race(&racing, racing.to);
    assert_int_equal(reported.count, 1);
    assert_string_equal(reported.current, copy.name);
    assert_false(source.asked);
    csan_on_race(NULL, NULL);
}

/* Memory that a thread of the framework's allocated at rest: where that was is known only of what
 * is allocated once operators are followed. */
static void a_report_waits_for_the_stack_of_its_memory(void **state)
{
    (void)state;
    const struct racing racing = rest_begins(adapters_frame, false);
    copies_race(&racing, racing.to);
    assert_int_equal(reported.count, 0);
    assert_true(source.asked);
    for (int i = 0; i < 3; i++)
        copies_race(&racing, device(BYTES));
    assert_int_equal(reported.count, 1);
    assert_ptr_equal(reported.allocated_at, python_frame);
    assert_int_equal(races(), 1);
    csan_on_race(NULL, NULL);
}

/* A backward function that runs Python: at rest nobody noted its forward call. */
static void a_report_waits_for_its_forward_call(void **state)
{
    (void)state;
    const struct racing racing = rest_begins(python_frame, true);
    copies_race(&racing, racing.to);
    assert_int_equal(reported.count, 0);
    assert_true(source.asked);
    has_forward = true;
    copies_race(&racing, racing.to);
    assert_int_equal(reported.count, 1);
    assert_string_equal(reported.current, copy.name);
    assert_string_equal(reported.previous, copy.name);
    assert_int_equal(races(), 1); /* the one without it never was */
    has_heading = has_forward = false;
    csan_on_race(NULL, NULL);
}

/* From one place, which is known then. */
static __attribute__((noipa)) void copies_to_each(CUfunction f, CUdeviceptr from,
                                                  const CUdeviceptr *to, int count, CUstream stream)
{
    for (int i = 0; i < count; i++)
        copies(f, from, to[i], 64, stream);
}

/* Although somebody waits for races: csan's thread finds it. */
static void launches_are_deferred_at_rest(void **state)
{
    (void)state;
    CUfunction f = fresh();
    CUdeviceptr from = device(BYTES), to = device(BYTES), raced = device(BYTES);
    CUstream s = non_blocking(), t = non_blocking();
    zeros(raced, t);
    copies_until_rest(f, from, to, 64, s);
    begin_reports();
    copies_to_each(f, from, (CUdeviceptr[]){to, to, to, raced}, 4, s);
    for (int i = 0; i < 5000 && !__atomic_load_n(&reported.count, __ATOMIC_ACQUIRE); i++)
        usleep(1000);
    assert_int_equal(reported.count, 1);
    assert_int_equal(!pthread_equal(reported.thread, pthread_self()), deferred);
    assert_string_equal(reported.current, copy.name);
    csan_on_race(NULL, NULL);
}

/* While operators are followed it is found at the operator. */
static void launches_of_operators_are_not(void **state)
{
    (void)state;
    CUfunction f = fresh();
    CUdeviceptr from = device(BYTES), to = device(BYTES), raced = device(BYTES);
    CUstream s = non_blocking(), t = non_blocking();
    zeros(raced, t);
    begin_reports();
    copies_to_each(f, from, (CUdeviceptr[]){to, to, to}, 3, s);
    assert_int_equal(reported.count, 0);
    copies(f, from, raced, 64, s);
    assert_int_equal(reported.count, 1);
    assert_true(pthread_equal(reported.thread, pthread_self()));
    csan_on_race(NULL, NULL);
}

int main(int argc, char **argv)
{
#define TEST(function) cmocka_unit_test_setup(function, setup)
    const struct CMUnitTest tests[] = {
        TEST(a_report_waits_for_its_operators),
        TEST(so_does_one_of_the_same_missing_order),
        TEST(a_race_that_comes_often_waits_as_well),
        TEST(a_report_of_a_copy_to_the_host_waits),
        TEST(a_report_does_not_wait_for_ever),
        TEST(launches_are_deferred_at_rest),
        TEST(launches_of_operators_are_not),
        /* last: from then on all stacks are of few frames */
        TEST(one_frame_of_the_program_is_a_stack),
        TEST(a_report_waits_for_the_stack_of_its_memory),
        TEST(a_report_waits_for_its_forward_call),
    };
    return operators_main(argc, argv, "", tests, sizeof tests / sizeof *tests);
}
