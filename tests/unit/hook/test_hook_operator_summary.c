/* Operators from summaries: when they rest and when they are followed again, and that launches of
 * resting operators are checked as with them. The same in a second process, in which launches are
 * deferred. */
#include "tests/unit/hook/test_hook.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define OK(call) assert_int_equal((call), CUDA_SUCCESS)

static bool deferred; /* launches are */

enum { BYTES = 512, ENOUGH = 100000, SPAN = 40000, AT_ONCE = 256 };

static const char machine_code[64] = "\177ELF\2\1\1";

static const char *const names_of_copy[] = {"self", "out" CSAN_ARGUMENT_RETURNED};
static const struct csan_operator copy = {"test::copy(Tensor self, Tensor(a!) out)", names_of_copy,
                                          2, CSAN_NO_ARGUMENT};

/* ---- The source ---- */

static struct {
    bool follows, asked;
    int follow_calls, at_once_calls, rest_calls;
} source;

static void source_follow(int now)
{
    source.follow_calls++;
    source.at_once_calls += now;
    source.asked = true;
    if (now)
        source.follows = true;
}
static void source_rest(void)
{
    source.rest_calls++;
    source.follows = source.asked = false;
}
static const struct csan_operator_source functions = {sizeof functions, source_follow, source_rest};

/* What was deferred is done. */
static void settle(void)
{
    races();
}

/* Between two operators: the source does what it was asked for. */
static void between(void)
{
    static unsigned calls;
    if (++calls % 7 == 0) /* several launches are in a batch */
        settle();
    source.follows = source.follows || source.asked;
}

/* ---- Launches ---- */

static CUfunction fresh(void)
{
    static int number;
    char name[32];
    CUmodule module;
    CUfunction f;
    snprintf(name, sizeof name, "kernel%d", ++number);
    OK(cuModuleLoadData(&module, machine_code));
    OK(cuModuleGetFunction(&f, module, name));
    fake_set_parameters(3);
    return f;
}

static void launch_one(CUfunction f, CUdeviceptr from, CUdeviceptr to, uint64_t number,
                       CUstream stream)
{
    OK(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, stream, (void *[]){&from, &to, &number}, NULL));
}

static void launch(CUfunction f, CUdeviceptr from, CUdeviceptr to, uint64_t number, CUstream stream)
{
    launch_one(f, from, to, number, stream);
    settle();
}

static void declare(const struct csan_operator *what, const struct csan_access *accesses,
                    size_t count)
{
    if (source.follows)
        csan_operator_begin(what,
                            &(struct csan_operator_call){.accesses = accesses, .count = count});
}
static void ends(bool followed)
{
    if (followed)
        csan_operator_end();
}

/* It reads `bytes` of one and writes as many of the other. */
static void copies(CUfunction f, CUdeviceptr from, CUdeviceptr to, uint64_t bytes, CUstream stream)
{
    const struct csan_access accesses[] = {
        {.base = from, .bytes = bytes, .kind = CSAN_READ, .argument = 0},
        {.base = to, .bytes = bytes, .kind = CSAN_WRITE, .argument = 1}};
    between();
    const bool followed = source.follows;
    declare(&copy, accesses, 2);
    launch_one(f, from, to, bytes, stream);
    ends(followed);
}

static void copies_until_rest(CUfunction f, CUdeviceptr from, CUdeviceptr to, uint64_t bytes,
                              CUstream stream)
{
    for (int i = 0; i < 100000 && (i < 20 || source.follows); i++)
        copies(f, from, to, bytes, stream);
    assert_false(source.follows);
}

/* Each test begins with operators that are followed, and a kernel of its own. */
static int setup(void **state)
{
    CUdeviceptr memory = device(BYTES);
    if (hook_setup(state) != 0)
        return -1;
    for (int i = 0; i < AT_ONCE + 1 && !source.follows; i++)
        launch(fresh(), memory, memory, 0, non_blocking());
    copies(fresh(), memory, device(BYTES), 8, non_blocking());
    memset(&source, 0, sizeof source);
    source.follows = true;
    return 0;
}

/* ---- Tests ---- */

static void they_rest_once_all_is_known(void **state)
{
    (void)state;
    CUfunction f = fresh();
    CUdeviceptr from = device(BYTES), to = device(BYTES);
    CUstream s = non_blocking();
    for (int i = 0; i < 999; i++)
        copies(f, from, to, 64, s);
    assert_int_equal(source.rest_calls, 0);
    copies_until_rest(f, from, to, 64, s);
    assert_int_equal(source.rest_calls, 1);
    assert_int_equal(source.follow_calls, 0);
}

static void what_rests_is_checked(void **state)
{
    (void)state;
    struct csan_race race;
    CUfunction f = fresh();
    CUdeviceptr from = device(BYTES), to = device(BYTES), other = device(BYTES);
    CUstream s = non_blocking(), t = non_blocking();
    copies_until_rest(f, from, to, 64, s);
    copies(f, from, other, 64, s);
    assert_false(source.asked);
    OK(cuMemsetD8Async(other + 64, 0, 64, t)); /* behind what it touches */
    assert_int_equal(races(), 0);
    OK(cuMemsetD8Async(other, 0, 64, t));
    assert_int_equal(csan_races_since(hook_mark(), &race, 1), 1);
    assert_false(race.possible);
    assert_string_equal(race.previous.name, copy.name);
    assert_string_equal(race.previous.arguments, names_of_copy[1]);
    assert_int_equal(race.previous.level, CSAN_LEVEL_OPERATOR);
    assert_int_equal(race.address, other);
    assert_int_equal(race.bytes, 64);
    OK(cuMemsetD8Async(from, 0, 64, t));
    assert_int_equal(races(), 2);
}

/* Rows of a matrix, from the middle of a block. */
static void rows_are_placed(void **state)
{
    (void)state;
    CUfunction f = fresh();
    CUstream s = non_blocking(), t = non_blocking();
    CUdeviceptr from = device(BYTES), to = 0;
    const struct csan_dim rows = {64, 4};
    for (int i = 0; i < 100000 && (i < 20 || source.follows); i++) {
        to = i % 8 ? to : device(BYTES);
        const struct csan_access accesses[] = {
            {.base = from, .bytes = 64, .kind = CSAN_READ, .argument = 0},
            {.base = to + 128,
             .bytes = 8,
             .dims = &rows,
             .dim_count = 1,
             .kind = CSAN_WRITE,
             .argument = 1}};
        between();
        const bool followed = source.follows;
        declare(&copy, accesses, 2);
        launch(f, from, to + 128, 0, s);
        ends(followed);
    }
    assert_false(source.follows);
    launch(f, from, to + 128, 0, s);
    for (int row = 0; row < 4; row++)
        OK(cuMemsetD8Async(to + 128 + 64 * (CUdeviceptr)row + 8, 0, 56, t));
    assert_int_equal(races(), 0);
    OK(cuMemsetD8Async(to + 128 + 192, 0, 8, t));
    assert_int_equal(races(), 1);
}

static void a_new_launch_wakes(void **state)
{
    (void)state;
    CUfunction f = fresh();
    CUdeviceptr from = device(BYTES), to = device(BYTES);
    CUstream s = non_blocking();
    copies_until_rest(f, from, to, 64, s);
    launch(f, from, to, 128, s); /* another number */
    assert_true(source.asked);
    assert_int_equal(source.follow_calls, 1);
    for (uint64_t i = 0; i < AT_ONCE - 1; i++) {
        assert_int_equal(source.at_once_calls, 0);
        launch(f, from, to, 1000 + i, s);
    }
    launch(f, from, to, 5000, s);
    assert_int_equal(source.at_once_calls, 1);
}

/* It may do what the others did, and its races are possible ones. */
static void a_new_launch_is_bounded(void **state)
{
    (void)state;
    struct csan_race race;
    CUfunction f = fresh();
    CUdeviceptr from = device(BYTES), to = device(BYTES);
    CUstream s = non_blocking(), t = non_blocking();
    copies_until_rest(f, from, to, 64, s);
    OK(cuCtxSynchronize());
    launch(f, from, to, 128, s);
    OK(cuMemsetD8Async(to, 0, 64, t));
    assert_int_equal(csan_races_since(hook_mark(), &race, 1), 1);
    assert_true(race.possible);
    assert_string_equal(race.previous.name, copy.name);
}

/* The same numbers, but other blocks. */
static void a_pointer_that_lies_otherwise_wakes(void **state)
{
    (void)state;
    CUfunction f = fresh();
    CUdeviceptr from = device(BYTES), to = device(BYTES), larger = device(2 * BYTES);
    CUstream s = non_blocking();
    copies_until_rest(f, from, to, 64, s);
    launch(f, from, larger, 64, s);
    assert_true(source.asked);
}

static void another_kernel_wakes(void **state)
{
    (void)state;
    CUdeviceptr from = device(BYTES), to = device(BYTES);
    CUstream s = non_blocking();
    copies_until_rest(fresh(), from, to, 64, s);
    launch(fresh(), from, to, 64, s);
    assert_true(source.asked);
}

/* A number that changes with each launch and has no effect. */
static void numbers_without_effect(void **state)
{
    (void)state;
    CUfunction f = fresh();
    CUdeviceptr from = device(BYTES), to = device(BYTES);
    CUstream s = non_blocking();
    const struct csan_access accesses[] = {
        {.base = from, .bytes = 64, .kind = CSAN_READ, .argument = 0},
        {.base = to, .bytes = 64, .kind = CSAN_WRITE, .argument = 1}};
    for (uint64_t i = 0; i < 100000 && source.follows; i++) {
        declare(&copy, accesses, 2);
        launch(f, from, to, i, s);
        ends(true);
    }
    assert_false(source.follows);
    launch(f, from, to, 1000000, s);
    assert_false(source.asked);
}

/* What functions left on the stack where nobody set a parameter: addresses of the stack, which
 * functions for callbacks shift. */
static void addresses_of_the_stack_are_not_compared(void **state)
{
    (void)state;
    CUfunction f = fresh();
    CUdeviceptr from = device(BYTES), to = device(BYTES);
    CUstream s = non_blocking();
    char room[2048];
    const struct csan_access accesses[] = {
        {.base = from, .bytes = 64, .kind = CSAN_READ, .argument = 0},
        {.base = to, .bytes = 64, .kind = CSAN_WRITE, .argument = 1}};
    for (int i = 0; i < ENOUGH && source.follows; i++) {
        declare(&copy, accesses, 2);
        launch(f, from, to, (uintptr_t)room, s);
        ends(true);
    }
    assert_false(source.follows);
    launch(f, from, to, (uintptr_t)room + 1024, s);
    assert_false(source.asked);
    launch(f, from, to, 1024, s);
    assert_true(source.asked);
}

/* A number without effect that is an address in the block of the pointer behind it, by chance. */
static void a_number_that_leads_into_a_block(void **state)
{
    (void)state;
    CUfunction f = fresh();
    CUdeviceptr from = device(BYTES), to = device(BYTES);
    CUstream s = non_blocking();
    const struct csan_access accesses[] = {
        {.base = from, .bytes = 64, .kind = CSAN_READ, .argument = 0},
        {.base = to, .bytes = 64, .kind = CSAN_WRITE, .argument = 1}};
    for (uint64_t i = 1; i < ENOUGH && source.follows; i++) {
        declare(&copy, accesses, 2);
        launch(f, i << 32 | i, from, to, s);
        ends(true);
    }
    assert_false(source.follows);
    launch(f, from + 8, from, to, s);
    assert_false(source.asked);
    launch(f, device(BYTES), from, to, s); /* into another one */
    assert_false(source.asked);
    launch(f, 77, from, from, s); /* these are pointers, and lead into one block */
    assert_true(source.asked);
}

/* No launch has a pointer to `table`: it is touched only by who knows it from memory. */
static void launches_beside_an_argument(bool copies_from_host, uint8_t kind)
{
    CUfunction f = fresh();
    CUdeviceptr from = device(BYTES), to = device(BYTES), table = device(BYTES);
    CUstream s = non_blocking();
    static char host[64];
    const struct csan_access accesses[] = {
        {.base = from, .bytes = 64, .kind = CSAN_READ, .argument = 0},
        {.base = table, .bytes = 64, .kind = kind, .argument = 1}};
    for (int i = 0; i < ENOUGH && source.follows; i++) {
        declare(&copy, accesses, 2);
        if (copies_from_host)
            OK(cuMemcpyHtoDAsync_v2(to, host, 64, s));
        launch(f, from, to, 64, s);
        ends(true);
    }
}

static void an_argument_out_of_reach_is_not_touched(void **state)
{
    (void)state;
    launches_beside_an_argument(false, CSAN_READ);
    assert_int_equal(source.rest_calls, 1);
}

static void but_where_memory_may_lead_to_it(void **state)
{
    (void)state;
    launches_beside_an_argument(true, CSAN_READ);
    launches_beside_an_argument(false, CSAN_WRITE);
    assert_int_equal(source.rest_calls, 0);
}

/* One launch reaches the one, another the other. */
static void launches_share_the_arguments(void **state)
{
    (void)state;
    CUfunction f = fresh(), g = fresh();
    CUdeviceptr from = device(BYTES), to = device(BYTES), between_them = device(BYTES);
    CUstream s = non_blocking();
    const struct csan_access accesses[] = {
        {.base = from, .bytes = 64, .kind = CSAN_READ, .argument = 0},
        {.base = to, .bytes = 64, .kind = CSAN_WRITE, .argument = 1}};
    for (int i = 0; i < ENOUGH && source.follows; i++) {
        declare(&copy, accesses, 2);
        launch(f, from, between_them, 64, s);
        launch(g, between_them, to, 64, s);
        ends(true);
    }
    assert_false(source.follows);
}

static void an_operator_on_several_streams_is_followed(void **state)
{
    (void)state;
    CUfunction f = fresh();
    CUdeviceptr from = device(BYTES), to = device(BYTES);
    CUstream s = non_blocking(), t = non_blocking();
    const struct csan_access accesses[] = {
        {.base = from, .bytes = 64, .kind = CSAN_READ, .argument = 0},
        {.base = to, .bytes = 64, .kind = CSAN_WRITE, .argument = 1}};
    for (int i = 0; i < ENOUGH; i++) {
        declare(&copy, accesses, 2);
        launch(f, from, to, 64, s);
        launch(f, from, to, 64, t);
        ends(true);
        OK(cuCtxSynchronize());
    }
    assert_int_equal(source.rest_calls, 0);
}

/* An operator of the host may touch it next, and csan would not hear of it. */
static void memory_that_the_host_shares_wakes(void **state)
{
    (void)state;
    CUfunction f = fresh();
    CUdeviceptr from = device(BYTES), to = device(BYTES);
    CUstream s = non_blocking();
    void *pinned;
    OK(cuMemHostAlloc(&pinned, 64, 0));
    copies_until_rest(f, from, to, 64, s);
    OK(cuMemcpyDtoHAsync_v2(pinned, to, 64, s));
    assert_true(source.asked);
    for (int i = 0; i < 20; i++)
        copies(f, from, to, 64, s);
    assert_true(source.follows);
    OK(cuStreamSynchronize(s));
    copies(f, from, to, 64, s);
    assert_false(source.follows);
    OK(cuMemcpyDtoHAsync_v2(pinned, to, 64, s));
    assert_true(source.asked);
    OK(cuStreamSynchronize(s)); /* before an operator began */
    assert_false(source.asked);
    assert_int_equal(races(), 0);
    OK(cuMemFreeHost(pinned));
}

static void they_are_looked_at_again(void **state)
{
    (void)state;
    CUfunction f = fresh();
    CUdeviceptr from = device(BYTES), to = device(BYTES);
    CUstream s = non_blocking();
    copies_until_rest(f, from, to, 64, s);
    int launches = 0;
    for (; launches < SPAN && !source.asked; launches++)
        launch(f, from, to, 64, s);
    assert_true(source.asked);
    assert_true(launches > 30000);
    copies_until_rest(f, from, to, 64, s);
}

/* ---- Reports ---- */

static struct {
    int count;
    pthread_t thread;
    char previous[128], current[128];
} reported;

static int race_reported(void *user, const struct csan_race *race, const char *text)
{
    (void)user;
    (void)text;
    snprintf(reported.previous, sizeof reported.previous, "%s", race->previous.name);
    snprintf(reported.current, sizeof reported.current, "%s", race->current.name);
    reported.thread = pthread_self();
    __atomic_add_fetch(&reported.count, 1, __ATOMIC_RELEASE);
    return 1;
}

static const char *const names_of_zero[] = {"self" CSAN_ARGUMENT_RETURNED};
static const struct csan_operator zero = {"aten::zero_(Tensor(a!) self)", names_of_zero, 1,
                                          CSAN_NO_ARGUMENT};

/* An operator that needs no summary, for it makes no launch. */
static void zeros(CUdeviceptr memory, CUstream stream)
{
    const struct csan_access access = {.base = memory, .bytes = 64, .kind = CSAN_WRITE};
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

/* The same in another process, with an argument. */
static void with_deferred_launches(void **state)
{
    int status = -1;
    const pid_t child = fork();
    (void)state;
    if (child == 0) {
        unsetenv("LD_LIBRARY_PATH"); /* it starts from the beginning */
        execl("/proc/self/exe", "test_hook_operator_summary", "deferred", (char *)NULL);
        _exit(127);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
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
    static const char options[] =
        "symbolize=0:print_summary=0:log_path=/dev/null:access=ptx:learn_cache_mb=0:"
        "operator_summaries=1:deferred_limit=";
    char all[256];
    deferred = argc > 1;
    snprintf(all, sizeof all, "%s%d", options, deferred ? 1000 : 0);
    setenv("CSAN_OPTIONS", all, 1);
    hook_test_start(argv);
    if (csan_operator_source_set(&functions) !=
        (CSAN_OPERATORS_ARE_DECLARED | CSAN_OPERATORS_ARE_SUMMARIZED))
        return 1;
    source.follows = true;
#define TEST(function) cmocka_unit_test_setup(function, setup)
    const struct CMUnitTest tests[] = {
        TEST(they_rest_once_all_is_known),
        TEST(what_rests_is_checked),
        TEST(rows_are_placed),
        TEST(a_new_launch_wakes),
        TEST(a_new_launch_is_bounded),
        TEST(a_pointer_that_lies_otherwise_wakes),
        TEST(another_kernel_wakes),
        TEST(numbers_without_effect),
        TEST(addresses_of_the_stack_are_not_compared),
        TEST(a_number_that_leads_into_a_block),
        TEST(an_argument_out_of_reach_is_not_touched),
        TEST(but_where_memory_may_lead_to_it),
        TEST(launches_share_the_arguments),
        TEST(an_operator_on_several_streams_is_followed),
        TEST(memory_that_the_host_shares_wakes),
        TEST(they_are_looked_at_again),
        TEST(a_report_waits_for_its_operators),
        TEST(a_report_of_a_copy_to_the_host_waits),
        TEST(a_report_does_not_wait_for_ever),
        TEST(launches_are_deferred_at_rest),
        TEST(launches_of_operators_are_not),
    };
    static const struct CMUnitTest again[] = {cmocka_unit_test(with_deferred_launches)};
    int failed = cmocka_run_group_tests_name(
        deferred ? "hook_operator_summary, deferred" : "hook_operator_summary", tests, NULL, NULL);
    if (!deferred)
        failed += cmocka_run_group_tests_name("hook_operator_summary", again, NULL, NULL);
    return hook_finish(failed);
}
