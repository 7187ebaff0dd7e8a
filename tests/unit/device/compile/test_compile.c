/* When kernels are compiled, and that they are interpreted where they cannot be. */
#include "runtime/device/compile/compile.h"
#include "tests/unit/device/exec/exec_harness.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

static const char text[] =
    ".version 8.0\n.target sm_90\n.address_size 64\n"
    ".visible .entry sums(.param .u64 out, .param .u32 rounds)\n{\n"
    ".reg .b32 %r<5>; .reg .b64 %d<3>; .reg .pred %p;\n"
    "ld.param.u64 %d0, [out]; ld.param.u32 %r1, [rounds]; mov.u32 %r0, %tid.x;\n"
    "mul.wide.u32 %d1, %r0, 4; add.s64 %d1, %d0, %d1; mov.u32 %r2, 0;\n"
    "loop: add.u32 %r2, %r2, %r1; xor.b32 %r2, %r2, %r0; sub.u32 %r1, %r1, 1;\n"
    "setp.ne.u32 %p, %r1, 0; @%p bra loop;\n"
    "st.global.u32 [%d1], %r2; ret;\n}\n";

static uint32_t expected(uint32_t thread, uint32_t rounds)
{
    uint32_t sum = 0;
    for (; rounds; rounds--)
        sum = (sum + rounds) ^ thread;
    return sum;
}

/* Launches until the kernel was compiled or could not be, at most `most` times. Checks the results.
 */
static struct compile_report launch(uint32_t rounds, int most)
{
    struct harness h;
    const struct timespec moment = {0, 5000000};
    harness_open_text(&h, text);
    uint64_t out = harness_allocate(&h, 4096);
    struct compile_report report = {0};
    for (int i = 0; i < most && !report.compiled && !report.cached && !report.failed; i++) {
        harness_run(&h, "sums", 1, 64, 0, ARGUMENTS(&out, &rounds));
        const uint32_t *values = harness_host(&h, out);
        for (uint32_t thread = 0; thread < 64; thread++)
            assert_int_equal(values[thread], expected(thread, rounds));
        report = compile_report();
        if (report.on && !report.trouble)
            nanosleep(&moment, NULL);
    }
    harness_close(&h);
    return report;
}

/* Each in a process of its own, as a program is. Returns what it says of the report. */
static int in_child(const char *mode, const char *path, int (*says)(void))
{
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        setenv("CSAN_DEVICE_COMPILE", mode, 1);
        if (path)
            setenv("PATH", path, 1);
        _exit(says());
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static int says_off(void)
{
    const struct compile_report report = launch(100, 3);
    return !report.on && !report.compiled && !report.cached;
}

static int says_cold(void)
{
    const struct compile_report report = launch(100, 3);
    return report.on && !report.trouble && !report.compiled && !report.cached && !report.failed;
}

static atomic_int waiting, children, signals;

/* A program that waits for any of its children. */
static void *wait_for_any(void *unused)
{
    (void)unused;
    while (atomic_load(&waiting))
        if (wait(NULL) > 0)
            atomic_fetch_add(&children, 1);
    return NULL;
}

static void count_signal(int number)
{
    (void)number;
    atomic_fetch_add(&signals, 1);
}

static int says_compiled(void)
{
    pthread_t thread;
    atomic_store(&waiting, 1);
    signal(SIGCHLD, count_signal);
    assert_int_equal(pthread_create(&thread, NULL, wait_for_any, NULL), 0);
    const struct compile_report report = launch(300000, 400);
    atomic_store(&waiting, 0);
    pthread_join(thread, NULL);
    return report.on && report.compiled == 1 && !report.cached && !atomic_load(&children) &&
           !atomic_load(&signals);
}

static int says_cached(void)
{
    const struct compile_report report = launch(300000, 400);
    return report.cached == 1 && !report.compiled;
}

static int says_no_compiler(void)
{
    const struct compile_report report = launch(300000, 3);
    return report.trouble && strstr(report.trouble, "no C compiler") && !report.compiled;
}

static int says_failed(void)
{
    const struct compile_report report = launch(200000, 400);
    return report.failed == 1 && !report.compiled;
}

static void is_off_by_the_variable(void **unused)
{
    (void)unused;
    assert_true(in_child("0", NULL, says_off));
}

static void short_kernels_are_interpreted(void **unused)
{
    (void)unused;
    assert_true(in_child("1", NULL, says_cold));
}

static void long_kernels_are_compiled_once_for_all_processes(void **unused)
{
    (void)unused;
    assert_true(in_child("1", NULL, says_compiled));
    assert_true(in_child("1", NULL, says_cached));
    assert_true(in_child("always", NULL, says_cached));
}

/* What a compiler leaves would be its child. */
static int says_reaper(void)
{
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    const struct compile_report report = launch(300000, 400);
    return report.failed == 1 && !report.compiled && wait(NULL) < 0;
}

static void who_gets_orphans_starts_no_compiler(void **unused)
{
    (void)unused;
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/other", getenv("CSAN_CACHE"));
    setenv("CSAN_CACHE", path, 1);
    assert_true(in_child("1", NULL, says_reaper));
}

static void without_a_compiler_kernels_are_interpreted(void **unused)
{
    (void)unused;
    assert_true(in_child("1", "/nowhere:relative", says_no_compiler));
    assert_true(in_child("always", "/nowhere", says_no_compiler));
}

/* A compiler in a folder of its own, in front of the others on the path. It is another one, so the
 * cache has nothing of it. */
static void compiler_make(const char *folder, const char *script, char path[PATH_MAX])
{
    char directory[256];
    snprintf(directory, sizeof directory, "%s/%s", getenv("CSAN_CACHE"), folder);
    assert_int_equal(mkdir(directory, 0700), 0);
    snprintf(path, PATH_MAX, "%s/cc", directory);
    FILE *file = fopen(path, "w");
    fprintf(file, "#!/bin/sh\n%s\n", script);
    assert_int_equal(fchmod(fileno(file), 0700) | fclose(file), 0);
    snprintf(path, PATH_MAX, "%s:/usr/bin:/bin", directory);
}

static void a_compiler_that_fails_does_no_harm(void **unused)
{
    (void)unused;
    char path[PATH_MAX];
    compiler_make("tools", "exit 1", path);
    assert_true(in_child("1", path, says_failed));
}

static int held[2]; /* a pipe that the program holds open, as its output too */

static int says_started(void)
{
    char name[PATH_MAX];
    struct stat status;
    snprintf(name, sizeof name, "%s/started", getenv("CSAN_CACHE"));
    dup2(held[1], STDOUT_FILENO);
    for (int i = 0; i < 100 && stat(name, &status) != 0; i++)
        launch(300000, 2);
    return stat(name, &status) == 0;
}

/* Who reads a program's output to its end waits for the program, and for no compiler. */
static void a_compiler_holds_nothing_open(void **unused)
{
    (void)unused;
    char path[PATH_MAX], script[PATH_MAX];
    const char *cache = getenv("CSAN_CACHE");
    snprintf(script, sizeof script, ": > %s/started\nuntil [ -e %s/go ]; do sleep 0.1; done", cache,
             cache);
    compiler_make("slow", script, path);
    assert_int_equal(pipe(held), 0);
    assert_true(in_child("1", path, says_started));
    close(held[1]);
    struct pollfd end = {.fd = held[0], .events = POLLIN};
    const int ended = poll(&end, 1, 3000);
    snprintf(path, sizeof path, "%s/go", cache);
    fclose(fopen(path, "w"));
    assert_int_equal(ended, 1);
    assert_true(end.revents & POLLHUP);
    close(held[0]);
}

#if defined(__x86_64__)
/* Whether upper halves of vector registers hold something (XINUSE, if the processor can say it). */
static bool upper_halves_are_used(void)
{
    unsigned a, b, c, d, in_use = 0;
    __cpuid_count(13, 1, a, b, c, d);
    if (a & 4)
        __asm__ volatile("xgetbv" : "=a"(in_use), "=d"(d) : "c"(1));
    return in_use & (4 | 64); /* ymm, zmm */
}

/* The last thing that the kernel does is a loop over the lanes. */
static const char ends_with_lanes[] =
    ".version 8.0\n.target sm_90\n.address_size 64\n"
    ".visible .entry k(.param .u64 out)\n{\n"
    ".reg .b32 %r<5>; .reg .b64 %d<3>; .reg .pred %p;\n"
    "ld.param.u64 %d0, [out]; mov.u32 %r0, %tid.x; mul.wide.u32 %d1, %r0, 4;\n"
    "add.s64 %d1, %d0, %d1; mov.u32 %r2, 9;\n"
    "loop: st.global.u32 [%d1], %r2; add.u32 %r0, %r0, 3; mul.lo.u32 %r0, %r0, %r0;\n"
    "sub.u32 %r2, %r2, 1; setp.ne.u32 %p, %r2, 0; @%p bra loop;\nret;\n}\n";

/* The rest of the process has no AVX: registers that are not clean make it many times slower. */
static void compiled_code_leaves_vector_registers_clean(void **unused)
{
    struct harness h;
    char message[512];
    (void)unused;
    harness_open_text(&h, ends_with_lanes);
    const uint64_t out = harness_allocate(&h, 4096);
    compile_start(COMPILE_ALWAYS);
    const struct exec_launch launch = {.image = h.image,
                                       .kernel = harness_kernel(&h, "k"),
                                       .grid = {1, 1, 1},
                                       .block = {32, 1, 1},
                                       .params = &out,
                                       .memory = {harness_find, &h, h.window, NULL, NULL}};
    exec_state *state = exec_begin(&launch, message, sizeof message);
    assert_non_null(state);
    const enum exec_status status = exec_step(state, 1 << 20);
    const bool used = upper_halves_are_used();
    assert_int_equal(status, EXEC_DONE);
    assert_false(used);
    exec_end(state);
    harness_close(&h);
    compile_start(COMPILE_OFF);
}
#endif

int main(void)
{
    char root[] = "/tmp/csan-compile-XXXXXX", command[64];
    if (!mkdtemp(root))
        return 1;
    setenv("CSAN_CACHE", root, 1);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(is_off_by_the_variable),
        cmocka_unit_test(short_kernels_are_interpreted),
        cmocka_unit_test(long_kernels_are_compiled_once_for_all_processes),
        cmocka_unit_test(without_a_compiler_kernels_are_interpreted),
        cmocka_unit_test(a_compiler_that_fails_does_no_harm),
        cmocka_unit_test(a_compiler_holds_nothing_open),
        cmocka_unit_test(who_gets_orphans_starts_no_compiler),
#if defined(__x86_64__)
        cmocka_unit_test(compiled_code_leaves_vector_registers_clean),
#endif
    };
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    snprintf(command, sizeof command, "rm -r %s", root);
    return system(command) != 0 || failed;
}
