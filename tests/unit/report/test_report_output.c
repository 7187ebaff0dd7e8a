/* Where reports go, how many, and what is printed beside them. */
#include "tests/unit/report/report_case.h"

static void trouble_is_said(void **state)
{
    (void)state;
    struct csan_race race = plain_race();
    trouble = "stacks are not resolved";
    expect_part(&race, ".\ncsan: stacks are not resolved\n");
}

static void colours(void **state)
{
    (void)state;
    struct csan_race race = plain_race();
    options_to_file();
    strcpy(options.color, "always");
    expect_in(text_of(&race),
              "\033[1;31mCSAN: data race: scale (/src/app/main.cu:14) does not wait "
              "for initialize (/src/app/main.cu:37) on memory allocated at "
              "/src/app/main.cu:31\033[0m\n");
    race.possible = 1;
    unlink(path);
    expect_in(text_of(&race), "\033[1;33mCSAN: possible data race: ");
    unlink(path);
    strcpy(options.color, "auto"); /* a file is no terminal */
    assert_null(strchr(text_of(&race), '\033'));
}

static void the_limit(void **state)
{
    (void)state;
    struct csan_race race = plain_race();
    options_to_file();
    options.report_limit = 2;
    struct report_sink *sink = report_open(&options, &fake);
    for (int i = 0; i < 5; i++)
        free(report_race(sink, &race, false));
    report_summary(sink, &(struct csan_stats){.races = 1}, NULL, 0);
    report_close(sink);
    assert_int_equal(occurrences(read_file(path), "CSAN: data race: "), 2);
    expect_in(
        printed,
        ", 1 race, 0 possible races, 3 reports withheld (report_limit); checked 0 of 0 ops\n");
    assert_int_equal(occurrences(printed, "csan: report_limit=2 is reached"), 1);
}

/* They belong to a report, and are shown if it is. */
static void lines_below_a_report_use_up_no_limit(void **state)
{
    (void)state;
    struct csan_race race = plain_race();
    options_to_file();
    options.report_limit = 2;
    struct report_sink *sink = report_open(&options, &fake);
    for (race.number = 1; race.number <= 9; race.number++) {
        race.group = race.number < 4 ? 1 : race.number < 8 ? 4 : 8;
        free(report_race(sink, &race, false));
    }
    race.group = 1; /* of the first report, behind the limit */
    free(report_race(sink, &race, false));
    report_close(sink);
    assert_int_equal(occurrences(read_file(path), "CSAN: data race: "), 2);
    assert_int_equal(occurrences(printed, "by the same missing order as race 1:"), 3);
    assert_int_equal(occurrences(printed, "by the same missing order as race 4:"), 3);
    assert_int_equal(occurrences(printed, "by the same missing order as race 8:"), 0);
    assert_int_equal(occurrences(printed, "csan: report_limit=2 is reached"), 1);
}

/* ---- the summary */

static const char *device; /* for summaries */

static const char *summary_of(const struct csan_stats *stats, const char *const *names,
                              size_t count)
{
    options_to_file();
    struct report_sink *sink = report_open(&options, &fake);
    report_set_device(sink, device);
    report_summary(sink, stats, names, count);
    report_close(sink);
    return read_file(path);
}

static void summary(void **state)
{
    (void)state;
    struct csan_stats stats = {.ops = 24, .races = 1, .possible = 2};
    stats.launches[CSAN_LEVEL_TRACED] = 3;
    stats.launches[CSAN_LEVEL_LIBRARY] = 21;
    assert_string_equal(
        summary_of(&stats, NULL, 0),
        "csan: 24 ops (21 copies, sets and libraries, 3 traced), 1 race, 2 possible races; "
        "checked 24 of 24 ops\n");
    stats = (struct csan_stats){.possible = 1, .pending_timeouts = 1, .unknown_frees = 2};
    static const char *const names[] = {"cuGraphLaunch", "cuStreamWaitValue32"};
    assert_string_equal(summary_of(&stats, names, 2),
                        "csan: 0 ops, 0 races, 1 possible race, 1 access sets that came too late "
                        "(pending_timeout_ms), 2 frees of unknown pool blocks; checked 0 of 0 "
                        "ops; not modelled: cuGraphLaunch, cuStreamWaitValue32\n");
    stats = (struct csan_stats){.ops = 1};
    stats.launches[CSAN_LEVEL_UNKNOWN] = 1;
    device = "NVIDIA H100 PCIe";
    assert_string_equal(summary_of(&stats, NULL, 0),
                        "csan: 1 op (1 unknown), 0 races, 0 possible races; checked 0 of 1 op "
                        "(1 unknown) on NVIDIA H100 PCIe\n");
    device = NULL;
}

/* ---- where it goes */

static void log_path_with_the_process(void **state)
{
    (void)state;
    options_default(&options);
    snprintf(options.log_path, sizeof(options.log_path), "%s/a.%%p.b%%%%c", scratch);
    struct report_sink *sink = report_open(&options, &fake);
    report_note(sink, "hello %d", 5);
    report_close(sink);
    char expected[160];
    snprintf(expected, sizeof(expected), "%s/a.%d.b%%c", scratch, (int)getpid());
    assert_string_equal(read_file(expected), "csan: hello 5\n");
}

static void no_message_no_file(void **state)
{
    (void)state;
    options_to_file();
    report_close(report_open(&options, &fake));
    assert_int_equal(access(path, F_OK), -1);
}

/* Run `body` with standard error in a file, and return what it wrote there. */
static const char *standard_error_of(void (*body)(void))
{
    char name[128];
    snprintf(name, sizeof(name), "%s/stderr", scratch);
    fflush(stderr);
    int saved = dup(2), file = open(name, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    dup2(file, 2);
    close(file);
    body();
    dup2(saved, 2);
    close(saved);
    return read_file(name);
}

static void two_notes(void)
{
    struct report_sink *sink = report_open(&options, &fake);
    errno = 1234;
    report_note(sink, "one");
    report_note(sink, "two");
    assert_int_equal(errno, 1234);
    report_close(sink);
}

static void a_path_that_cannot_be_opened(void **state)
{
    (void)state;
    char expected[256];
    options_default(&options);
    strcpy(options.log_path, "/no/such/directory/log");
    snprintf(
        expected, sizeof(expected),
        "csan: cannot open log_path file /no/such/directory/log.%d: No such file or directory; "
        "reports go to standard error\ncsan: one\ncsan: two\n",
        (int)getpid());
    assert_string_equal(standard_error_of(two_notes), expected);
}

static void a_full_disk(void **state)
{
    (void)state;
    options_to_file();
    if (access("/dev/full", W_OK) != 0)
        skip();
    assert_int_equal(symlink("/dev/full", path), 0);
    const char *said = standard_error_of(two_notes);
    expect_in(said, ": No space left on device; reports go to standard error\ncsan: one\n");
    expect_in(said, "\ncsan: two\n");
    assert_int_equal(occurrences(said, "No space"), 1);
}

static void a_closed_standard_error(void **state)
{
    (void)state;
    options_default(&options);
    int saved = dup(2);
    close(2);
    two_notes();
    dup2(saved, 2);
    close(saved);
}

static volatile sig_atomic_t signals_seen;
static void on_signal(int number)
{
    (void)number;
    signals_seen++;
}

static void a_note_too_long_for_the_file(void)
{
    struct rlimit before, small;
    struct report_sink *sink = report_open(&options, &fake);
    getrlimit(RLIMIT_FSIZE, &before);
    small = (struct rlimit){200, before.rlim_max};
    setrlimit(RLIMIT_FSIZE, &small);
    report_note(sink, "%0300d", 0);
    setrlimit(RLIMIT_FSIZE, &before);
    report_close(sink);
}

/* Neither a reader who went away nor a limit on file size may end the program. */
static void signals_of_a_failed_write(void **state)
{
    (void)state;
    int pipes[2], saved = dup(2);
    signal(SIGPIPE, on_signal);
    signal(SIGXFSZ, on_signal);
    assert_int_equal(pipe(pipes), 0);
    close(pipes[0]);
    dup2(pipes[1], 2);
    close(pipes[1]);
    options_default(&options);
    two_notes();
    dup2(saved, 2);
    close(saved);

    options_to_file();
    expect_in(standard_error_of(a_note_too_long_for_the_file), "File too large");
    signal(SIGPIPE, SIG_DFL);
    signal(SIGXFSZ, SIG_DFL);
    assert_int_equal(signals_seen, 0);
}

static void *note_many(void *sink)
{
    for (int i = 0; i < 200; i++)
        report_note(sink, "%s", "a line of its own");
    return NULL;
}

static void lines_of_threads_stay_whole(void **state)
{
    (void)state;
    pthread_t threads[8];
    options_to_file();
    struct report_sink *sink = report_open(&options, &fake);
    for (int i = 0; i < 8; i++)
        pthread_create(&threads[i], NULL, note_many, sink);
    for (int i = 0; i < 8; i++)
        pthread_join(threads[i], NULL);
    report_close(sink);
    assert_int_equal(occurrences(read_file(path), "csan: a line of its own\n"), 1600);
    assert_int_equal(strlen(printed), 1600 * strlen("csan: a line of its own\n"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(trouble_is_said),
        cmocka_unit_test(colours),
        cmocka_unit_test(the_limit),
        cmocka_unit_test(lines_below_a_report_use_up_no_limit),
        cmocka_unit_test(summary),
        cmocka_unit_test(log_path_with_the_process),
        cmocka_unit_test(no_message_no_file),
        cmocka_unit_test(a_path_that_cannot_be_opened),
        cmocka_unit_test(a_full_disk),
        cmocka_unit_test(a_closed_standard_error),
        cmocka_unit_test(signals_of_a_failed_write),
        cmocka_unit_test(lines_of_threads_stay_whole),
    };
    return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}
