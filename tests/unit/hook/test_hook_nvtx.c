/* NVTX: which library attaches, and what the names and ranges of a program do to reports. The test
 * stands in for a copy of NVTX in the program: it has the tables of functions. */
#include "tests/unit/hook/test_hook.h"

#include "runtime/hook/api/nvtx.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <wchar.h>

enum { MODULES = 7, FUNCTIONS = 16, CORE = 1, CUDA = 2, CUDART = 4, CORE2 = 5 };

typedef void any_function(void);
static any_function *functions[MODULES][FUNCTIONS];
static any_function **tables[MODULES][FUNCTIONS];

static int module_functions(int module, any_function ****table, unsigned *count)
{
    if (module == 3) /* OpenCL's */
        return 0;
    for (int i = 1; i < FUNCTIONS; i++)
        tables[module][i] = &functions[module][i];
    *table = tables[module];
    *count = FUNCTIONS;
    return 1;
}

static const void *export_table(unsigned table)
{
    static const struct {
        size_t bytes;
        int (*functions)(int module, any_function ****table, unsigned *count);
    } callbacks = {sizeof callbacks, module_functions};
    return table == 1 ? &callbacks : NULL;
}

static const void *no_table(unsigned table)
{
    (void)table;
    return NULL;
}

static int setup(void **state)
{
    hook_setup(state);
    return InitializeInjectionNvtx2(export_table) == 1 ? 0 : -1;
}

/* ---- NVTX's functions, as the program calls them */

static void name_stream(CUstream stream, const char *name)
{
    ((void (*)(CUstream, const char *))functions[CUDA][5])(stream, name);
}
static void name_stream_wide(CUstream stream, const wchar_t *name)
{
    ((void (*)(CUstream, const wchar_t *))functions[CUDART][4])(stream, name);
}
static void push(const char *name)
{
    assert_int_equal(((int (*)(const char *))functions[CORE][9])(name), -2);
}
static void pop(void)
{
    assert_int_equal(((int (*)(void))functions[CORE][11])(), -2);
}

/* ---- a race of two sets */

static struct csan_race race;

static void set(CUdeviceptr p, CUstream stream)
{
    assert_int_equal(cuMemsetD8Async(p, 0, 64, stream), CUDA_SUCCESS);
}

static void race_take(void)
{
    assert_int_equal(csan_races_since(hook_mark(), &race, 1), 1);
}

/* ---- tests */

static void library_is_csan_where_there_is_no_other(void **state)
{
    (void)state;
    const char *path = getenv("NVTX_INJECTION64_PATH");
    assert_non_null(path);
    assert_non_null(strstr(path, "libcsan.so"));
    for (char **at = environ; *at; at++)
        assert_null(strstr(*at, "NVTX_INJECTION64_PATH"));
    setenv("NVTX_INJECTION64_PATH", "/opt/profiler.so", 1);
    assert_string_equal(getenv("NVTX_INJECTION64_PATH"), "/opt/profiler.so");
    unsetenv("NVTX_INJECTION64_PATH");
    assert_null(getenv("NVTX_INJECTION64_PATHS"));
    assert_null(getenv("")); /* other names are the C library's affair */
    setenv("NVTX", "1", 1);
    assert_string_equal(getenv("NVTX"), "1");
    unsetenv("NVTX");
    assert_null(getenv("NVTX"));
    assert_non_null(getenv("PATH"));
}

static int run_off(const char *mode)
{
    char command[512];
    snprintf(command, sizeof command, "CSAN=0 '%s' %s", program_invocation_name, mode);
    const int status = system(command);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void nothing_is_attached_where_csan_is_off(void **state)
{
    (void)state;
    assert_int_equal(run_off("off"), 0);
}

static int is_off(void)
{
    return getenv("NVTX_INJECTION64_PATH") != NULL || InitializeInjectionNvtx2(export_table) != 0;
}

static void other_tables_are_refused(void **state)
{
    (void)state;
    assert_int_equal(InitializeInjectionNvtx2(no_table), 0);
    assert_int_equal(InitializeInjectionNvtx2(NULL), 0);
}

static void streams_have_the_programs_names(void **state)
{
    (void)state;
    CUstream a = non_blocking(), b = non_blocking();
    CUdeviceptr p = device(64);
    name_stream(a, "compute");
    name_stream_wide(b, L"K\u00f6ln");
    set(p, a);
    set(p, b);
    race_take();
    assert_string_equal(race.previous.lane, "stream 'compute'");
    assert_string_equal(race.current.lane, "stream 'K\xc3\xb6ln'");
    assert_true(race.current.created_frame_count > 0);
    name_stream((CUstream)(uintptr_t)0x1234, "of no stream");
    name_stream(a, NULL);
}

static void names_can_be_changed_and_taken_away(void **state)
{
    (void)state;
    CUstream a = non_blocking(), b = non_blocking();
    CUdeviceptr p = device(64);
    csan_name_stream(a, "first");
    csan_name_stream(a, "second");
    csan_name_stream(b, "third");
    csan_name_stream(b, "");
    set(p, a);
    set(p, b);
    race_take();
    assert_string_equal(race.previous.lane, "stream 'second'");
    assert_memory_equal(race.current.lane, "stream ", 7);
    assert_true(race.current.lane[7] >= 'A' && race.current.lane[7] <= 'Z');
}

static void a_new_stream_of_the_handle_has_no_name(void **state)
{
    (void)state;
    CUstream a = non_blocking(), b = non_blocking();
    CUdeviceptr p = device(64);
    csan_name_stream(b, "gone");
    cuStreamDestroy_v2(b);
    fake_reuse_handle(b);
    b = non_blocking();
    set(p, a);
    set(p, b);
    race_take();
    assert_null(strstr(race.current.lane, "gone"));
}

static void default_stream_keeps_what_it_is(void **state)
{
    (void)state;
    CUstream a = non_blocking();
    CUdeviceptr p = device(64);
    csan_name_stream(NULL, "main");
    set(p, a);
    set(p, NULL);
    race_take();
    assert_string_equal(race.current.lane, "the legacy default stream ('main')");
    csan_name_stream(NULL, NULL);
}

/* Sets are deferred, and enqueued by another thread. */
static void ops_are_in_the_ranges_of_their_calls(void **state)
{
    (void)state;
    CUstream a = non_blocking(), b = non_blocking();
    CUdeviceptr p = device(64);
    push("step");
    push("first");
    set(p, a);
    pop();
    push("second");
    set(p, b);
    pop();
    pop();
    race_take();
    assert_string_equal(race.previous.ranges, "'step' > 'first'");
    assert_string_equal(race.current.ranges, "'step' > 'second'");
}

/* A loop's ranges have numbers in them: the race is one all the same. */
static void ranges_make_no_sites(void **state)
{
    (void)state;
    CUstream a = non_blocking(), b = non_blocking();
    CUdeviceptr p = device(64);
    char name[32];
    for (int i = 0; i < 20; i++) {
        snprintf(name, sizeof name, "iteration %d", i);
        push(name);
        set(p, i % 2 ? b : a);
        pop();
    }
    assert_int_equal(csan_races_since(hook_mark(), &race, 1), 1);
    assert_string_equal(race.previous.ranges, "'iteration 0'");
    assert_string_equal(race.current.ranges, "'iteration 1'");
}

static void ops_without_ranges_have_none(void **state)
{
    (void)state;
    CUstream a = non_blocking(), b = non_blocking();
    CUdeviceptr p = device(64);
    set(p, a);
    push("late");
    set(p, b);
    pop();
    race_take();
    assert_string_equal(race.previous.ranges, "");
    assert_string_equal(race.current.ranges, "'late'");
}

static void events_have_names(void **state)
{
    (void)state;
    CUstream a = non_blocking(), b = non_blocking();
    CUdeviceptr p = device(64);
    CUevent e = event();
    ((void (*)(CUevent, const char *))functions[CUDA][7])(e, "ready");
    cuEventRecord(e, a);
    set(p, a);
    cuStreamWaitEvent(b, e, 0);
    set(p, b);
    race_take();
    assert_int_equal(race.order->cause, CSAN_CAUSE_RECORDED_BEFORE);
    assert_string_equal(race.order->wait.event, "ready");
    assert_string_equal(race.order->record.event, "ready");
}

static void a_new_event_of_the_handle_has_no_name(void **state)
{
    (void)state;
    CUstream a = non_blocking(), b = non_blocking();
    CUdeviceptr p = device(64);
    CUevent e = event();
    ((void (*)(CUevent, const char *))functions[CUDART][5])(e, "gone");
    cuEventDestroy_v2(e);
    fake_reuse_handle(e);
    e = event();
    cuEventRecord(e, a);
    set(p, a);
    cuStreamWaitEvent(b, e, 0);
    set(p, b);
    race_take();
    assert_int_equal(race.order->cause, CSAN_CAUSE_RECORDED_BEFORE);
    assert_null(race.order->wait.event);
}

/* nvtxDomainResourceCreate, with a registered string. */
static void resources_have_names(void **state)
{
    (void)state;
    struct {
        uint16_t version, bytes;
        int32_t type;
        const void *resource;
        int32_t message_type;
        const void *message;
    } is = {3, sizeof is, 4 << 16 | 3, NULL, 3, NULL};
    void *domain = ((void *(*)(const char *))functions[CORE2][12])("net");
    assert_non_null(domain);
    assert_ptr_equal(((void *(*)(const char *))functions[CORE2][12])("net"), domain);
    is.message = ((void *(*)(void *, const char *))functions[CORE2][10])(domain, "halo");
    CUstream a = non_blocking(), b = non_blocking();
    CUdeviceptr p = device(64);
    is.resource = a;
    ((void *(*)(void *, void *))functions[CORE2][6])(domain, &is);
    set(p, a);
    set(p, b);
    race_take();
    assert_string_equal(race.previous.lane, "stream 'halo'");
}

static CUdeviceptr shared;

static void *loader(void *unused)
{
    (void)unused;
    set(shared, CU_STREAM_PER_THREAD); /* before it has its name */
    ((void (*)(uint32_t, const char *))functions[CORE][14])((uint32_t)gettid(), "loader");
    return NULL;
}

static void threads_have_names(void **state)
{
    (void)state;
    pthread_t thread;
    shared = device(64);
    pthread_create(&thread, NULL, loader, NULL);
    pthread_join(thread, NULL);
    set(shared, CU_STREAM_PER_THREAD);
    race_take();
    assert_string_equal(race.current.lane, "the per-thread default stream of the main thread");
    assert_memory_equal(race.previous.lane, "the per-thread default stream of thread ", 40);
    assert_non_null(strstr(race.previous.lane, " ('loader')"));
}

/* ---- fork */

static bool over;

static void name_something(void)
{
    ((void *(*)(const char *))functions[CORE2][12])("net");
    ((void (*)(uint32_t, const char *))functions[CORE][14])((uint32_t)gettid(), "namer");
}

static void *name_on(void *unused)
{
    while (!__atomic_load_n(&over, __ATOMIC_RELAXED))
        name_something();
    return unused;
}

/* Before the first use of CUDA, so that each child is checked anew. */
static int fork_while_another_names(void)
{
    enum { FORKS = 200 };
    pthread_t thread;
    int hung = 0;
    InitializeInjectionNvtx2(export_table);
    pthread_create(&thread, NULL, name_on, NULL);
    for (int i = 0; i < FORKS; i++) {
        int status = 1;
        const pid_t child = fork();
        if (child == 0) {
            alarm(2);
            name_something();
            _exit(0);
        }
        waitpid(child, &status, 0);
        hung += status != 0;
    }
    __atomic_store_n(&over, true, __ATOMIC_RELAXED);
    pthread_join(thread, NULL);
    return hung;
}

static void what_another_thread_held_at_a_fork_is_free_in_the_child(void **state)
{
    (void)state;
    char command[512];
    snprintf(command, sizeof command, "CSAN=1 timeout 60 '%s' fork 2>/dev/null",
             program_invocation_name);
    assert_int_equal(system(command), 0);
}

int main(int argc, char **argv)
{
    hook_test_start(argv);
    if (argc > 1)
        return strcmp(argv[1], "fork") == 0 ? fork_while_another_names() : is_off();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(library_is_csan_where_there_is_no_other),
        cmocka_unit_test(nothing_is_attached_where_csan_is_off),
        cmocka_unit_test(other_tables_are_refused),
        cmocka_unit_test_setup(streams_have_the_programs_names, setup),
        cmocka_unit_test_setup(names_can_be_changed_and_taken_away, setup),
        cmocka_unit_test_setup(a_new_stream_of_the_handle_has_no_name, setup),
        cmocka_unit_test_setup(default_stream_keeps_what_it_is, setup),
        cmocka_unit_test_setup(ops_are_in_the_ranges_of_their_calls, setup),
        cmocka_unit_test_setup(ranges_make_no_sites, setup),
        cmocka_unit_test_setup(ops_without_ranges_have_none, setup),
        cmocka_unit_test_setup(events_have_names, setup),
        cmocka_unit_test_setup(a_new_event_of_the_handle_has_no_name, setup),
        cmocka_unit_test_setup(resources_have_names, setup),
        cmocka_unit_test_setup(threads_have_names, setup),
        cmocka_unit_test(what_another_thread_held_at_a_fork_is_free_in_the_child),
    };
    return hook_finish(cmocka_run_group_tests_name("hook_nvtx", tests, NULL, NULL));
}
