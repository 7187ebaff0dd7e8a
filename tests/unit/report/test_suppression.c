/* Suppressions: templates, files, and what they match, with symbols made up here. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "csan/detector/context.h"
#include "csan/report/suppression.h"
#include "csan/stack/symbolizer.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- symbols made up: return address N is row N */

static const struct symbol_frame symbols[] = {
    {NULL, NULL, 0, NULL, 0, 0},
    {"main", "/src/app/main.cu", 14, "/build/app", 0x1100, 0},
    {"step(Model&)", "/src/app/model.cc", 99, "/build/app", 0x1400, 0},
    {"cudaLaunchKernel", NULL, 0, "/cuda/lib64/libcudart.so.13", 0x99, 0},
    {"recorded_in", "/src/csan/x.c", 1, "/opt/lib/libcsan.so.0", 0x30, 1},
    {NULL, NULL, 0, "/usr/lib/libnoisy.so.2", 0xdef, 0},
    {"call_back", NULL, 0, "/usr/lib/libouter.so.1", 0xabc, 0},
};

static void fake_frames(struct symbolizer *face, const void *const *frames, size_t count,
                        symbolizer_visit *visit, void *user)
{
    (void)face;
    for (size_t i = 0; i < count; i++)
        visit(user, i, &symbols[(uintptr_t)frames[i]]);
}

static void fake_demangle(struct symbolizer *face, const char *name, char *text, size_t bytes)
{
    (void)face;
    const char *readable = strcmp(name, "_Z5scalePff") == 0 ? "scale(float*, float)"
                           : strcmp(name, "_Z4copy") == 0   ? "cuMemcpyAsync"
                                                            : name;
    snprintf(text, bytes, "%s", readable);
}

static struct symbolizer fake = {.frames = fake_frames, .demangle = fake_demangle};

static const void *const launch[] = {(void *)4, (void *)3, (void *)2, (void *)1};
static const void *const noisy[] = {(void *)5, (void *)6, (void *)1};
static const uint64_t FINGERPRINT = 0x0123456789abcdef;
static const struct csan_race race = {
    .current = {.name = "_Z5scalePff", .frames = launch, .frame_count = 4},
    .previous = {.name = "cuMemcpyAsync", .frames = noisy, .frame_count = 3}};

/* ---- files */

static char path[] = "/tmp/csan-suppressions-XXXXXX", message[512];

static struct suppressions *load(const char *text)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
    return suppressions_load(path, message, sizeof message);
}

static bool matches_race(const char *text, const struct csan_race *found)
{
    struct suppressions *set = load(text);
    assert_non_null(set);
    assert_string_equal(message, "");
    bool matched = suppressions_match(set, &fake, found, FINGERPRINT);
    suppressions_free(set);
    return matched;
}

static bool matches(const char *text)
{
    return matches_race(text, &race);
}

static int make_file(void **state)
{
    (void)state;
    int file = mkstemp(path);
    return file < 0 ? -1 : close(file);
}

static int remove_file(void **state)
{
    (void)state;
    return unlink(path);
}

/* ---- tests */

static void templates(void **state)
{
    (void)state;
    static const struct {
        const char *template, *name;
        bool matches;
    } rows[] = {
        {"scale", "scale(float*)", true},
        {"cal", "scale(float*)", true},
        {"^scale", "rescale", false},
        {"^re", "rescale", true},
        {"scale$", "rescale", true},
        {"scale$", "scaled", false},
        {"^scale$", "scale", true},
        {"^scale$", "scale2", false},
        {"a$", "abba", true}, /* not the first a: the last */
        {"s*e", "rescale", true},
        {"^s*e$", "scale", true},
        {"^s*e$", "scaled", false},
        {"^s*c*e$", "scale", true},
        {"x*", "scale", false},
        {"*", "scale", true},
        {"^*le$", "scale", true},
        {"^a*aa$", "aa", false}, /* no character twice */
        {"^a*a$", "aa", true},
        {"$x", "a$x", true}, /* only at the end is it one */
        {"scale", "", false},
        {"scale", NULL, false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (suppression_template_matches(rows[i].template, rows[i].name) != rows[i].matches)
            fail_msg("%s against %s", rows[i].template, rows[i].name ? rows[i].name : "NULL");
}

/* What launched a graph counts as what made its node does. */
static void launches(void **state)
{
    (void)state;
    struct csan_race of_graph = race;
    of_graph.current.launch_frames = noisy;
    of_graph.current.launch_frame_count = 3;
    of_graph.previous.frames = launch;
    of_graph.previous.frame_count = 4;
    assert_true(matches_race("race:call_back", &of_graph));
    assert_true(matches_race("lib:libouter", &of_graph));
    assert_true(matches_race("race_top:libnoisy", &of_graph));
    assert_true(matches_race("race_top:^step", &of_graph));
    assert_true(matches_race("called_from_lib:libnoisy", &of_graph));
    assert_false(matches_race("called_from_lib:libouter", &of_graph));
    assert_true(matches_race("pair:scale @ step @ call_back <-> cuMemcpy", &of_graph));
    assert_false(matches_race("pair:scale <-> cuMemcpy @ call_back", &of_graph));
}

static void types(void **state)
{
    (void)state;
    assert_true(matches("race:step\n"));
    assert_true(matches("race:^main$"));
    assert_true(matches("race:model.cc\r\n"));
    assert_true(matches("race:libnoisy"));
    assert_true(matches("race:^scale(float*, float)$\n"));
    assert_true(matches("race:MemcpyAsync\n"));
    assert_false(matches("race:recorded_in\n")); /* csan's own frame */
    assert_true(matches("race_top:^step\n"));
    assert_true(matches("race_top:libnoisy\n"));
    assert_false(matches("race_top:main\n"));
    assert_true(matches("kernel:scale\n"));
    assert_true(matches("kernel:^_Z5scale*\n"));
    assert_false(matches("kernel:step\n"));
    assert_true(matches("kernel:^_Z4copy$\n")); /* the name came demangled */
    assert_true(matches("lib:libnoisy.so*$\n"));
    assert_true(matches("called_from_lib:libnoisy.so\n"));
    assert_true(matches("lib:libouter\n"));
    assert_true(matches("called_from_lib:/build/app\n"));
    assert_false(matches("called_from_lib:libouter\n")); /* it called what called CUDA */
    assert_false(matches("called_from_lib:libcudart\n"));
    assert_false(matches("lib:model.cc\n"));
    assert_false(matches("lib:libcsan\n"));
    assert_false(matches("thread:main\nmutex:main\nsignal:main\ndeadlock:main\n"));
    assert_false(matches("# race:main\n\n   \n"));
    assert_true(matches("  \trace:main  \n"));
    assert_false(matches(""));
}

static void pairs(void **state)
{
    (void)state;
    assert_true(matches("pair:^scale(float*, float)$ <-> cuMemcpyAsync"));
    assert_true(matches("pair:cuMemcpyAsync <-> scale")); /* in either order */
    assert_true(matches("pair:* <-> *"));
    assert_true(matches("pair: scale @ step @ main.cu:14 <-> cuMemcpy* @ libnoisy @ ^main$"));
    assert_true(matches("pair:cuMemcpy @ libouter <-> scale @ ^/src/app/model.cc:99$"));
    assert_false(matches("pair:scale <-> scale"));
    assert_false(matches("pair:cuMemcpyAsync <-> cuMemcpyAsync"));
    assert_false(matches("pair:scale @ libnoisy <-> cuMemcpyAsync")); /* the other side's place */
    assert_false(matches("pair:scale @ main.cu:15 <-> cuMemcpyAsync"));
    assert_false(matches("pair:scale @ recorded_in <-> cuMemcpyAsync")); /* csan's own */
    assert_false(matches("pair:step <-> cuMemcpyAsync"));                /* a place, no name */
}

static void fingerprints(void **state)
{
    (void)state;
    assert_true(matches("fingerprint:0123456789abcdef"));
    assert_true(matches("fingerprint: 0123456789ABCDEF"));
    assert_false(matches("fingerprint:0123456789abcdee"));
    struct suppressions *set = load("fingerprint:0123456789abcdef\n");
    assert_true(suppressions_have_fingerprints(set));
    assert_true(suppressions_match(set, &fake, &race, FINGERPRINT));
    assert_false(suppressions_match(set, &fake, &race, FINGERPRINT + 1));
    suppressions_free(set);
    set = load("race:step\n");
    assert_false(suppressions_have_fingerprints(set));
    suppressions_free(set);
    assert_false(suppressions_have_fingerprints(NULL));
    assert_false(suppressions_match(NULL, &fake, &race, FINGERPRINT));
}

static void findings_that_are_no_races(void **state)
{
    (void)state;
    static const struct csan_error error = {.exception = "illegal memory access",
                                            .function = "_Z5scalePff",
                                            .place = "/src/app/kernels.cuh:7"};
    struct csan_race found = race;
    found.error = &error;
    found.kind = CSAN_RACE_DEVICE_EXCEPTION;
    static const struct {
        const char *line;
        bool matches;
    } rows[] = {
        {"error:device_exception", true},
        {"error:device_exception scale", true},
        {"error:device_exception ^scale(float*, float)$", true},
        {"error:device_exception   _Z5scalePff", true},
        {"error:device_exception model.cc", true},
        {"error:device_exception kernels.cuh", true},
        {"error:device_exception copy", false},
        {"error:out_of_bounds", false},
        {"error:out_of_bounds scale", false},
        {"kernel:scale", true},
        {"race:kernels.cuh", true},
        {"race:model.cc", true},
        {"race_top:model.cc", true},
        {"race_top:kernels.cuh", false},
        {"lib:/build/app", true},
        {"called_from_lib:/build/app", true},
        {"fingerprint:0123456789abcdef", true},
        /* the other access is none */
        {"kernel:cuMemcpyAsync", false},
        {"race:call_back", false},
        {"lib:libnoisy.so", false},
        {"pair:scale <-> cuMemcpyAsync", false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (matches_race(rows[i].line, &found) != rows[i].matches)
            fail_msg("%s", rows[i].line);
    found.previous.kind = CSAN_FREE;
    assert_true(matches_race("lib:libnoisy.so", &found));
    found.error = NULL; /* as the detector finds one by its order */
    found.kind = CSAN_RACE_USE_AFTER_FREE;
    assert_true(matches_race("error:use_after_free", &found));
    assert_false(matches_race("error:device_exception", &found));
    assert_false(matches("error:use_after_free"));
}

static void the_first_that_matches_is_counted(void **state)
{
    (void)state;
    struct suppressions *set = load("kernel:nothing\nrace:step\nrace:main\n");
    const char *line;
    uint64_t count;
    size_t index = 0;
    assert_true(suppressions_match(set, &fake, &race, 0));
    assert_true(suppressions_match(set, &fake, &race, 0));
    assert_true(suppressions_next_used(set, &index, &line, &count));
    assert_string_equal(line, "race:step");
    assert_int_equal(count, 2);
    assert_false(suppressions_next_used(set, &index, &line, &count));
    suppressions_free(set);
}

static void bad_lines_are_named_and_good_ones_kept(void **state)
{
    (void)state;
    static const struct {
        const char *text, *said;
    } rows[] = {
        {"race:a\n\nraec:x\nrace:step\n",
         "line 3: there is no such type (did you mean 'race'?) in 'raec:x'"},
        {"zzzzzz:x\nrace:step\n", "line 1: there is no such type in 'zzzzzz:x'"},
        {"pair:a\nrace:step\n", "line 1: there is no ' <-> ' between its two sides in 'pair:a'"},
        {"pair:a <-> b <-> c\nrace:step\n", "line 1: it has more than two sides"},
        {"pair:a @  <-> b\nrace:step\n", "line 1: a name or place is empty"},
        {"fingerprint:12\nrace:step\n", "line 1: there are not sixteen hexadecimal digits"},
        {"just words\nrace:step\n", "line 1: there is no ':'"},
        {"race:\nrace:step", "line 1: what is to be matched is missing"},
        {"race:^$\nrace:step", "line 1: what is to be matched is missing"},
        {"race:**\nrace:step", "line 1: what is to be matched is missing"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct suppressions *set = load(rows[i].text);
        assert_non_null(set);
        assert_non_null(strstr(message, rows[i].said));
        assert_non_null(strstr(message, path));
        assert_true(suppressions_match(set, &fake, &race, 0));
        suppressions_free(set);
        assert_false(suppressions_check(path, message, sizeof message));
    }
    char *text = malloc(20001);
    memset(text, '#', 20000);
    strcpy(text + 19990, "\nrace:step");
    suppressions_free(load(text));
    assert_string_equal(message, ""); /* a comment may be as long as it likes */
    memset(text, 'x', 20000);
    memcpy(text, "race:", 5);
    strcpy(text + 19990, "\nrace:step");
    struct suppressions *set = load(text);
    assert_non_null(strstr(message, "line 1: the line is too long"));
    assert_true(suppressions_match(set, &fake, &race, 0));
    suppressions_free(set);
    free(text);
    assert_null(suppressions_load("/no/such/file", message, sizeof message));
    assert_non_null(strstr(message, "/no/such/file: No such file"));
    assert_false(suppressions_check("/", message, sizeof message));
    assert_non_null(strstr(message, "file /: it is a directory"));
    assert_false(suppressions_check("/dev/zero", message, sizeof message));
    assert_non_null(strstr(message, "/dev/zero: it is no regular file"));
    char pipe[sizeof path + 8];
    snprintf(pipe, sizeof pipe, "%s.pipe", path);
    assert_int_equal(mkfifo(pipe, 0600), 0);
    assert_false(suppressions_check(pipe, message, sizeof message)); /* and does not wait */
    unlink(pipe);
    assert_true(suppressions_check("", message, sizeof message));
}

/* ---- in a context */

static size_t found_count;

static void count_found(void *user, const struct csan_race *found)
{
    (void)user;
    (void)found;
    found_count++;
}

static bool named_quiet(void *user, const struct csan_race *found)
{
    (void)user;
    return strcmp(found->current.name, "quiet") == 0;
}

static void write_by(csan_context *context, csan_lane lane, const char *name, uint64_t base)
{
    const struct csan_access access = {.base = base, .bytes = 8, .kind = CSAN_WRITE};
    csan_op(context, lane, csan_site_intern(context, name, NULL, 0, NULL, 0), CSAN_LEVEL_LIBRARY,
            &access, 1);
}

static void suppressed_races_count_apart(void **state)
{
    (void)state;
    csan_context *context = csan_context_create(NULL, count_found, NULL, message, sizeof message);
    context_set_filter(context, named_quiet, NULL);
    csan_lane a = csan_lane_create(context, 1, "a"), b = csan_lane_create(context, 2, "b");
    struct csan_race races[4];
    struct csan_stats stats;
    write_by(context, a, "first", 0x1000);
    write_by(context, b, "quiet", 0x1000);
    assert_int_equal(found_count, 0);
    uint64_t mark = csan_context_race_mark(context);
    write_by(context, a, "first", 0x2000);
    write_by(context, b, "loud", 0x2000);
    assert_int_equal(found_count, 1);
    assert_int_equal(csan_context_races_since(context, 0, races, 4), 1);
    assert_string_equal(races[0].current.name, "loud");
    assert_int_equal(csan_context_races_since(context, mark, races, 4), 1);
    csan_context_stats(context, &stats);
    assert_int_equal(stats.races, 1);
    assert_int_equal(stats.suppressed, 1);
    csan_context_destroy(context);
}

static void what_is_ignored_is_compared_with_nothing(void **state)
{
    (void)state;
    csan_context *context = csan_context_create(NULL, NULL, NULL, message, sizeof message);
    csan_lane a = csan_lane_create(context, 1, "a"), b = csan_lane_create(context, 2, "b");
    struct csan_stats stats;
    const struct csan_access access = {.base = 0x1000, .bytes = 8, .kind = CSAN_WRITE};
    context_ignore(true);
    write_by(context, a, "first", 0x1000);
    assert_int_equal(csan_op_pending(context, a, 0, CSAN_LEVEL_LIBRARY, &access, 1), 0);
    context_ignore(false);
    context_ignore(false); /* one too many is none */
    write_by(context, b, "second", 0x1000);
    csan_context_stats(context, &stats);
    assert_int_equal(stats.ops, 3);
    assert_int_equal(stats.races, 0);
    write_by(context, a, "third", 0x1000);
    csan_context_stats(context, &stats);
    assert_int_equal(stats.races, 1);
    csan_context_destroy(context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(templates),
        cmocka_unit_test(types),
        cmocka_unit_test(launches),
        cmocka_unit_test(pairs),
        cmocka_unit_test(fingerprints),
        cmocka_unit_test(findings_that_are_no_races),
        cmocka_unit_test(the_first_that_matches_is_counted),
        cmocka_unit_test(bad_lines_are_named_and_good_ones_kept),
        cmocka_unit_test(suppressed_races_count_apart),
        cmocka_unit_test(what_is_ignored_is_compared_with_nothing),
    };
    return cmocka_run_group_tests(tests, make_file, remove_file);
}
