/* Reports off the program's threads: what a program meets while csan's helper for symbols is slow.
 * The helper is a script that answers once a file is there, which the program makes when it has
 * gone on; the program starts itself again in a mode of its own. */
#include "tests/unit/hook/test_hook.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static char directory[] = "/tmp/csan-delivery-XXXXXX";
static char output[65536];

/* The file's name is the helper's, with ".go" behind. Without the helper's own the test is over. */
static const char helper_text[] =
    "#!/bin/sh\n"
    "[ \"$1\" = symbolize ] || exit 2\n"
    "exec 3<&0\n"
    "{ echo csan-symbolize 1\n"
    "  while read what; do\n"
    "    while [ ! -e \"$0.go\" ]; do [ -e \"$0\" ] || exit; sleep 0.01; done\n"
    "    case $what in frame*) printf 'resolved_late\\tlate.cu\\t7\\n\\n' ;; *) echo late ;; esac\n"
    "  done; } <&3 &\n";

/* Answers once, after six seconds. */
static const char slow_text[] =
    "#!/bin/sh\n"
    "[ \"$1\" = symbolize ] || exit 2\n"
    "exec 3<&0\n"
    "{ echo csan-symbolize 1; read what; sleep 6; printf 'resolved_late\\tlate.cu\\t7\\n\\n'\n"
    "  exec sleep 60 >/dev/null; } <&3 &\n";

static void path_of(char *path, size_t bytes, const char *name)
{
    snprintf(path, bytes, "%s/%s", directory, name);
}

static void file_write(const char *name, const char *text, mode_t mode)
{
    char path[64];
    path_of(path, sizeof path, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
    assert_int_equal(chmod(path, mode), 0);
}

/* Runs this program in `mode`; the exit status, and standard output and error in `output`. */
static int run(const char *mode, const char *options)
{
    char command[512];
    snprintf(command, sizeof command,
             "timeout 60 env %s CSAN=1 GO='%s/helper.go' "
             "CSAN_OPTIONS='external_symbolizer_path=%s/helper:deferred_limit=256:%s' '%s' %s 2>&1",
             /* What a forked child lets go of, LeakSanitizer would count. */
             strcmp(mode, "fork") == 0 ? "ASAN_OPTIONS=detect_leaks=0" : "", directory, directory,
             options, program_invocation_name, mode);
    FILE *pipe = popen(command, "r");
    assert_non_null(pipe);
    size_t length = fread(output, 1, sizeof output - 1, pipe);
    output[length] = '\0';
    int status = pclose(pipe);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static int occurrences(const char *text)
{
    int count = 0;
    for (const char *at = output; (at = strstr(at, text)) != NULL; at++)
        count++;
    return count;
}

/* ---- Modes: all begin with a race ---- */

static CUstream streams[2];
static CUdeviceptr memory;

static void race_begin(void)
{
    for (int i = 0; i < 2; i++)
        cuStreamCreate(&streams[i], CU_STREAM_NON_BLOCKING);
    cuMemAlloc_v2(&memory, 64);
}

static void race(void)
{
    cuMemsetD8Async(memory, 0, 64, streams[0]);
    cuMemsetD8Async(memory, 0, 64, streams[1]);
    cuStreamQuery(streams[1]); /* deferred work is enqueued */
}

/* Takes the hooks' lock, and the detector's, in another thread, too. */
static void *work(void *unused)
{
    CUevent recorded;
    cuEventCreate(&recorded, 0);
    for (int i = 0; i < 1000; i++) {
        cuMemsetD8Async(memory + 8 * (CUdeviceptr)(i % 8), 0, 8, streams[0]);
        cuEventRecord(recorded, streams[0]);
        cuStreamWaitEvent(streams[1], recorded, 0);
    }
    return unused;
}

static void go(void)
{
    const char *path = getenv("GO");
    FILE *file = path ? fopen(path, "w") : NULL;
    if (file)
        fclose(file);
}

static void work_and_go(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, work, NULL);
    work(NULL);
    pthread_join(thread, NULL);
    printf("worked\n");
    fflush(stdout);
    go();
}

/* A child that was made while a report is under way; it may use CUDA no more. */
static void fork_meanwhile(void)
{
    pid_t child = fork();
    if (child == 0) {
        cuMemsetD8Async(memory, 0, 8, streams[0]);
        exit(5);
    }
    int status = 0;
    waitpid(child, &status, 0);
    printf("child %d\n", WEXITSTATUS(status));
    fflush(stdout);
    go();
}

/* The first fork may wait for the report that csan's thread is at, the others for nothing. */
static void fork_often(void)
{
    struct timespec began, ended;
    clock_gettime(CLOCK_MONOTONIC, &began);
    for (int i = 0; i < 8; i++) {
        const pid_t child = fork();
        if (child == 0)
            _exit(0);
        waitpid(child, NULL, 0);
    }
    clock_gettime(CLOCK_MONOTONIC, &ended);
    printf("forked within 4 seconds %d\n", ended.tv_sec - began.tv_sec < 4);
    fflush(stdout);
    go();
}

static void count_races(void)
{
    printf("races %zu\n", csan_race_count());
    fflush(stdout);
    go();
}

static void go_and_exit(int number)
{
    (void)number;
    exit(7);
}

static void exit_in_a_handler(void)
{
    signal(SIGUSR1, go_and_exit);
    go();
    raise(SIGUSR1);
}

static int keep_text(void *user, const struct csan_race *found, const char *report)
{
    (void)found;
    *(bool *)user = strstr(report, "resolved_late") != NULL;
    return 1;
}

static void handle(void)
{
    static bool resolved;
    csan_on_race(keep_text, &resolved);
    go();
    race();
    printf("handled %d\n", resolved);
}

static int mode_run(const char *mode)
{
    race_begin();
    if (strcmp(mode, "handle") != 0)
        race();
    if (strcmp(mode, "work") == 0)
        work_and_go();
    else if (strcmp(mode, "fork") == 0)
        fork_meanwhile();
    else if (strcmp(mode, "forks") == 0)
        fork_often();
    else if (strcmp(mode, "count") == 0)
        count_races();
    else if (strcmp(mode, "exit") == 0)
        exit_in_a_handler();
    else if (strcmp(mode, "handle") == 0)
        handle();
    else if (strcmp(mode, "leave") == 0)
        _exit(0);
    return 0;
}

/* ---- Tests ---- */

/* Would the program wait for the report, within a call or for a lock, the helper would never be let
 * go: it would be given up after ten seconds, and nothing be resolved. */
static void the_program_goes_on_while_a_report_is_made(void **state)
{
    (void)state;
    assert_int_equal(run("work", ""), 66);
    assert_int_equal(occurrences("worked"), 1);
    assert_true(occurrences("resolved_late") >= 2);
    assert_true(strstr(output, "worked") < strstr(output, "CSAN: data race"));
    assert_int_equal(occurrences("not resolved"), 0);
}

static void the_format_for_tools_has_it_too(void **state)
{
    (void)state;
    assert_int_equal(run("work", "format=json"), 66);
    assert_true(occurrences("\"resolved_late\"") >= 2);
}

static void a_fork_hangs_nothing(void **state)
{
    (void)state;
    assert_int_equal(run("fork", ""), 66);
    assert_int_equal(occurrences("child 5"), 1);
    assert_int_equal(occurrences("CSAN: data race"), 1);
}

static void a_report_holds_up_one_fork(void **state)
{
    (void)state;
    assert_int_equal(run("forks", ""), 66);
    assert_int_equal(occurrences("forked within 4 seconds 1"), 1);
    assert_true(occurrences("resolved_late") >= 2);
}

/* What is suppressed is known by its symbols alone: who asks how many there are waits. */
static void races_are_counted_once_it_is_known_which_are_suppressed(void **state)
{
    (void)state;
    char options[256];
    file_write("quiet", "race:resolved_late\n", 0600);
    snprintf(options, sizeof options, "suppressions=%s/quiet", directory);
    go(); /* it need not wait for the program */
    char path[64];
    path_of(path, sizeof path, "helper.go");
    file_write("helper.go", "", 0600);
    assert_int_equal(run("count", options), 0);
    assert_int_equal(occurrences("races 0"), 1);
    assert_int_equal(occurrences("CSAN: data race"), 0);
    unlink(path);
    assert_int_equal(run("count", ""), 66); /* nothing is waited for */
    assert_int_equal(occurrences("races 1"), 1);
}

static void exit_in_a_handler_of_signals_delivers(void **state)
{
    (void)state;
    assert_int_equal(run("exit", ""), 7);
    assert_int_equal(occurrences("CSAN: data race"), 1);
    assert_true(occurrences("resolved_late") >= 2);
}

static void a_handler_of_races_has_the_text_at_once(void **state)
{
    (void)state;
    assert_int_equal(run("handle", ""), 66);
    assert_int_equal(occurrences("handled 1"), 1);
}

/* Ten seconds are all that an answer is waited for. */
static void a_helper_that_never_answers_ends_with_a_line(void **state)
{
    (void)state;
    assert_int_equal(run("none", ""), 66);
    assert_int_equal(occurrences("CSAN: data race"), 1);
    assert_int_equal(occurrences("did not answer in 10 seconds"), 1);
}

/* Whichever end: this one is served by a thread of csan's, for which the caller waits. */
static void an_end_without_handlers_waits_as_long_as_exit(void **state)
{
    (void)state;
    file_write("helper", slow_text, 0700);
    const int code = run("leave", "");
    file_write("helper", helper_text, 0700);
    assert_int_equal(code, 66);
    assert_int_equal(occurrences("CSAN: data race"), 1);
    assert_int_equal(occurrences("csan: 2 ops"), 1);
    assert_int_equal(occurrences("there is no summary"), 0);
}

static int start(void **state)
{
    (void)state;
    if (!mkdtemp(directory))
        return -1;
    file_write("helper", helper_text, 0700);
    return 0;
}

static int each(void **state)
{
    (void)state;
    char path[64];
    path_of(path, sizeof path, "helper.go");
    unlink(path);
    return 0;
}

static int end(void **state)
{
    (void)state;
    static const char *const names[] = {"helper", "helper.go", "quiet"};
    char path[64];
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        path_of(path, sizeof path, names[i]);
        unlink(path);
    }
    return rmdir(directory);
}

#define TEST(name) cmocka_unit_test_setup(name, each)

int main(int argc, char **argv)
{
    hook_test_start(argv);
    if (argc > 1)
        return mode_run(argv[1]);
    const struct CMUnitTest tests[] = {
        TEST(the_program_goes_on_while_a_report_is_made),
        TEST(the_format_for_tools_has_it_too),
        TEST(a_fork_hangs_nothing),
        TEST(a_report_holds_up_one_fork),
        TEST(races_are_counted_once_it_is_known_which_are_suppressed),
        TEST(exit_in_a_handler_of_signals_delivers),
        TEST(a_handler_of_races_has_the_text_at_once),
        TEST(a_helper_that_never_answers_ends_with_a_line),
        TEST(an_end_without_handlers_waits_as_long_as_exit),
    };
    return cmocka_run_group_tests_name("hook_delivery", tests, start, end);
}
