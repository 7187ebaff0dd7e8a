/* Reports as text: golden ones without symbols, real ones with the helper process. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "csan/options.h"
#include "csan/report.h"
#include "csan/symbolizer.h"
#include <fcntl.h>
#include <stdbool.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char directory[] = "/tmp/csan-report-XXXXXX";
static char output[1 << 16];

static struct options options_of(const char *text)
{
    struct options options;
    char message[256];
    options_default(&options);
    if (options_parse(&options, text, message, sizeof(message)) != 0)
        fail_msg("%s", message);
    return options;
}

static const char *read_file(const char *path)
{
    int file = open(path, O_RDONLY);
    ssize_t length = file < 0 ? 0 : read(file, output, sizeof(output) - 1);
    output[length > 0 ? length : 0] = '\0';
    if (file >= 0)
        close(file);
    return output;
}

/* A report into a file of its own, and its text. */
static const char *print(const struct csan_race *race, const char *more)
{
    char path[PATH_MAX], text[PATH_MAX + 300], expected[PATH_MAX + 20];
    snprintf(path, sizeof(path), "%s/log", directory);
    snprintf(text, sizeof(text), "log_path='%s':%s", path, more);
    struct options options = options_of(text);
    struct report_sink *report = report_open(&options, NULL);
    report_race(report, race);
    report_close(report);
    snprintf(expected, sizeof(expected), "%s.%d", path, (int)getpid());
    return read_file(expected);
}

static const void *const frames_a[] = {(void *)0x1001, (void *)0x1002};
static const void *const frames_b[] = {(void *)0x2001};

static struct csan_race example(void)
{
    return (struct csan_race){
        .kind = CSAN_RACE_DATA,
        .address = 0x7f1200000040,
        .bytes = 64,
        .allocation = 0x7f1200000000,
        .allocation_bytes = 256,
        .pointer = 0x7f1200000000,
        .current = {.stream = 94646435460352,
                    .lane = "stream 94646435460352",
                    .name = "scale(float*, float, int)",
                    .arguments = "p",
                    .kind = CSAN_WRITE,
                    .frames = frames_a,
                    .frame_count = 2},
        .previous = {.stream = 0,
                     .lane = "stream 0",
                     .name = "fill(float*, int)",
                     .arguments = "out, in",
                     .kind = CSAN_READ,
                     .frames = frames_b,
                     .frame_count = 1},
        .allocation_frames = frames_b,
        .allocation_frame_count = 1,
        .number = 1,
    };
}

static void a_race_in_pytorchs_words(void **state)
{
    (void)state;
    struct csan_race race = example();
    assert_string_equal(
        print(&race, "symbolize=0"),
        "============================\n"
        "CSAN detected a possible data race on tensor with data pointer 139715286138880\n"
        "Access by stream 94646435460352 during kernel:\n"
        "scale(float*, float, int)\n"
        "writing to argument(s) p\n"
        "With stack trace:\n"
        "  #0 ?? (?+0x1000)\n"
        "  #1 ?? (?+0x1001)\n"
        "Previous access by stream 0 during kernel:\n"
        "fill(float*, int)\n"
        "reading from argument(s) out, in\n"
        "With stack trace:\n"
        "  #0 ?? (?+0x2000)\n"
        "Tensor was allocated with stack trace:\n"
        "  #0 ?? (?+0x2000)\n"
        "Certainty: a race. Both accesses are exact.\n"
        "Overlap: 64 bytes from 0x7f1200000040, bytes [64, 128) of an allocation of 256 bytes at "
        "0x7f1200000000.\n"
        "Fix: record an event on stream 0 after fill(float*, int), and make stream 94646435460352 "
        "wait for it (cudaStreamWaitEvent) before scale(float*, float, int).\n");
}

static void other_kinds_say_what_they_are(void **state)
{
    (void)state;
    struct csan_race race = example();
    race.possible = 1;
    race.previous.bound = CSAN_BOUND_DIRECTION;
    const char *text = print(&race, "symbolize=0");
    assert_non_null(strstr(text,
                           "Certainty: a possible race.\n  fill(float*, int) is bounded: only "
                           "whether it reads or writes"));
    race = example();
    race.kind = CSAN_RACE_REUSE;
    text = print(&race, "symbolize=0");
    assert_non_null(strstr(text, "memory reused while stream 0 still uses it"));
    assert_non_null(strstr(text, "record_stream"));
    race.kind = CSAN_RACE_FREE;
    race.previous.kind = CSAN_FREE; /* the free came first: it should wait for the use */
    text = print(&race, "symbolize=0");
    assert_non_null(strstr(text, "Fix: record an event on stream 94646435460352 after scale"));
    race.kind = CSAN_RACE_USE_AFTER_FREE;
    assert_non_null(strstr(print(&race, "symbolize=0"), "used after it was freed on a stream"));
    race = example();
    race.current.host = 1;
    race.allocation_bytes = 0;
    race.current.arguments = "";
    text = print(&race, "symbolize=0");
    assert_non_null(strstr(text, "Access by the host during call:\n"));
    assert_non_null(strstr(text, "writing to memory\n"));
    assert_non_null(strstr(text, "Trace for tensor's allocation not found."));
    assert_non_null(strstr(text, "make the host wait for stream 0"));
}

static void colour_only_when_asked(void **state)
{
    (void)state;
    struct csan_race race = example();
    assert_null(strstr(print(&race, "symbolize=0"), "\033["));
    assert_non_null(strstr(print(&race, "symbolize=0:color=always"), "\033["));
}

/* ---- where it goes */

/* Run `body` with standard error in a file; returns what was written. */
static const char *with_stderr(void (*body)(void *), void *user)
{
    char path[PATH_MAX];
    snprintf(path, sizeof(path), "%s/stderr", directory);
    int saved = dup(STDERR_FILENO), file = open(path, O_CREAT | O_TRUNC | O_WRONLY, 0600);
    dup2(file, STDERR_FILENO);
    close(file);
    body(user);
    dup2(saved, STDERR_FILENO);
    close(saved);
    return read_file(path);
}

static void report_once(void *options_text)
{
    struct options options = options_of(options_text);
    struct report_sink *report = report_open(&options, NULL);
    struct csan_race race = example();
    report_race(report, &race);
    report_race(report, &race);
    report_close(report);
}

static size_t occurrences(const char *text, const char *what)
{
    size_t count = 0;
    while ((text = strstr(text, what))) {
        count++;
        text += strlen(what);
    }
    return count;
}

static void unwritable_logs_fall_back(void **state)
{
    (void)state;
    static char log[] = "symbolize=0:log_path=/no/such/directory/log";
    const char *text = with_stderr(report_once, log);
    assert_int_equal(occurrences(text, "csan: cannot write to"), 1);
    assert_int_equal(occurrences(text, "CSAN detected"), 2);
}

/* /dev/full stands for a full disk; %p must not change its name. */
static void a_full_disk_falls_back(void **state)
{
    (void)state;
    char link[PATH_MAX], text[PATH_MAX + 64];
    snprintf(link, sizeof(link), "%s/full.%d", directory, (int)getpid());
    assert_int_equal(symlink("/dev/full", link), 0);
    snprintf(text, sizeof(text), "symbolize=0:log_path='%s/full'", directory);
    const char *said = with_stderr(report_once, text);
    assert_int_equal(occurrences(said, "No space left on device"), 1);
    assert_int_equal(occurrences(said, "CSAN detected"), 2);
}

static void process_id_in_the_path(void **state)
{
    (void)state;
    char text[PATH_MAX + 64], path[PATH_MAX];
    snprintf(text, sizeof(text), "symbolize=0:log_path='%s/%%p.log'", directory);
    report_once(text);
    snprintf(path, sizeof(path), "%s/%d.log", directory, (int)getpid());
    assert_int_equal(occurrences(read_file(path), "CSAN detected"), 2);
}

static void the_limit_withholds(void **state)
{
    (void)state;
    const char *text = with_stderr(report_once, "symbolize=0:report_limit=1");
    assert_int_equal(occurrences(text, "CSAN detected"), 1);
}

static void summarize(void *options_text)
{
    struct options options = options_of(options_text);
    struct report_sink *report = report_open(&options, NULL);
    struct csan_stats stats = {.ops = 12, .races = 1, .possible = 2};
    stats.launches[CSAN_LEVEL_TRACED] = 9;
    stats.launches[CSAN_LEVEL_LIBRARY] = 3;
    report_summary(report, &stats, (const char *[]){"cuGraphLaunch", "cuMemMap"}, 2);
    stats = (struct csan_stats){.promises_broken = 1};
    report_summary(report, &stats, NULL, 0);
    report_close(report);
}

static void the_summary_is_one_line(void **state)
{
    (void)state;
    assert_string_equal(with_stderr(summarize, ""),
                        "csan: 12 ops (3 copies and sets, 9 traced), 1 race, 2 possible races; not "
                        "modelled: cuGraphLaunch, cuMemMap\n"
                        "csan: 0 ops, 0 races, 0 possible races, 1 waits whose release was never "
                        "seen\n");
}

/* ---- the helper process */

static const char *helper_path(void)
{
    static char path[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", path, sizeof(path) - 32);
    assert_true(length > 0);
    path[length] = '\0';
    strcpy(strrchr(path, '/'), "/../../bin/csan");
    return path;
}

static struct symbolizer *open_helper(const char *path)
{
    char text[PATH_MAX + 64];
    snprintf(text, sizeof(text), "external_symbolizer_path='%s'", path);
    struct options options = options_of(text);
    return symbolizer_create(&options);
}

struct seen {
    char function[256], file[PATH_MAX], module[PATH_MAX];
    uint32_t line;
    int count;
};

static void see(void *user, size_t index, const struct symbol_frame *frame)
{
    struct seen *seen = user;
    assert_int_equal(index, 0);
    snprintf(seen->function, sizeof(seen->function), "%s", frame->function ? frame->function : "");
    snprintf(seen->file, sizeof(seen->file), "%s", frame->file ? frame->file : "");
    snprintf(seen->module, sizeof(seen->module), "%s", frame->module ? frame->module : "");
    seen->line = frame->line;
    seen->count++;
}

static __attribute__((noinline)) const void *where_called(int *line)
{
    *line = 0;
    return __builtin_return_address(0);
}

static void addresses_become_lines(void **state)
{
    (void)state;
    struct symbolizer *symbolizer = open_helper(helper_path());
    struct seen seen = {0};
    int unused, line = __LINE__ + 1;
    const void *address = where_called(&unused);
    symbolizer->frames(symbolizer, (const void *[]){address}, 1, see, &seen);
    assert_null(symbolizer->trouble(symbolizer));
    assert_string_equal(seen.function, "addresses_become_lines");
    assert_non_null(strstr(seen.file, "test_report.c"));
    assert_int_equal(seen.line, line);
    assert_non_null(strstr(seen.module, "test_report"));
    char name[64];
    symbolizer->demangle(symbolizer, "_Z5scalePffi", name, sizeof(name));
    assert_string_equal(name, "scale(float*, float, int)");
    symbolizer->demangle(symbolizer, "plain", name, sizeof(name));
    assert_string_equal(name, "plain");
    memset(&seen, 0, sizeof(seen));
    symbolizer->frames(symbolizer, (const void *[]){(const void *)0x10}, 1, see,
                       &seen); /* in no module */
    assert_int_equal(seen.count, 1);
    assert_string_equal(seen.function, "");
    symbolizer->destroy(symbolizer);
}

static void a_missing_or_dying_helper_is_said_once(void **state)
{
    (void)state;
    static const char *const helpers[] = {"/no/such/csan", "/bin/true"};
    for (int i = 0; i < 2; i++) {
        struct symbolizer *symbolizer = open_helper(helpers[i]);
        struct seen seen = {0};
        symbolizer->frames(symbolizer, (const void *[]){(const void *)((uintptr_t)see + 1)}, 1, see,
                           &seen);
        assert_int_equal(seen.count, 1);
        assert_string_equal(seen.function, "");
        assert_non_null(strstr(seen.module, "test_report"));
        const char *problem = symbolizer->trouble(symbolizer);
        assert_non_null(problem);
        assert_non_null(strstr(problem, helpers[i]));
        assert_null(symbolizer->trouble(symbolizer));
        symbolizer->frames(symbolizer, (const void *[]){(const void *)((uintptr_t)see + 1)}, 1, see,
                           &seen);
        assert_int_equal(seen.count, 2);
        symbolizer->destroy(symbolizer);
    }
}

static int make_directory(void **state)
{
    (void)state;
    return mkdtemp(directory) ? 0 : -1;
}

static int remove_directory(void **state)
{
    (void)state;
    char command[PATH_MAX + 16];
    snprintf(command, sizeof(command), "rm -rf '%s'", directory);
    return system(command);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_race_in_pytorchs_words),
        cmocka_unit_test(other_kinds_say_what_they_are),
        cmocka_unit_test(colour_only_when_asked),
        cmocka_unit_test(unwritable_logs_fall_back),
        cmocka_unit_test(a_full_disk_falls_back),
        cmocka_unit_test(process_id_in_the_path),
        cmocka_unit_test(the_limit_withholds),
        cmocka_unit_test(the_summary_is_one_line),
        cmocka_unit_test(addresses_become_lines),
        cmocka_unit_test(a_missing_or_dying_helper_is_said_once),
    };
    return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
