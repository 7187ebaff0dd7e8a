/* Findings: what tools are given of a race, written as JSON and SARIF, and read again. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "csan/report/fingerprint.h"
#include "csan/base/json_text.h"
#include "csan/options.h"
#include "csan/report/report.h"
#include "csan/stack/symbolizer.h"
#include "runtime/cli/findings/finding_read.h"
#include "runtime/cli/findings/json_read.h"
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- symbols made up: return address N is row N; with what JSON and SARIF must escape */

static const struct symbol_frame symbols[] = {
    {NULL, NULL, 0, NULL, 0, 0},
    {"main", "/src/my app/main.cu", 14, "/build/app", 0x1100, 0},
    {"step<{lambda(int)#1}>(int[3])", "/start/model \"x\".cc", 99, "/build/app", 0x1400, 0},
    {NULL, NULL, 0, "/usr/lib/libnoisy.so.2", 0xdef, 0},
    {"main", "/src/my app/main.cu", 15, "/build/app", 0x1180, 0},
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
    snprintf(text, bytes, "%s", name);
}

static const char *no_trouble(struct symbolizer *face)
{
    (void)face;
    return NULL;
}

static void keep(struct symbolizer *face)
{
    (void)face;
}

static struct symbolizer fake = {fake_frames, fake_demangle, no_trouble, keep};

static const void *const launch[] = {(void *)2, (void *)1};
static const void *const other_launch[] = {(void *)2, (void *)4};
static const void *const noisy[] = {(void *)3, (void *)1};

static struct csan_race some_race(void)
{
    return (struct csan_race){
        .kind = CSAN_RACE_ATOMIC,
        .possible = 1,
        .address = 0x7f1200000080,
        .bytes = 256,
        .allocation = 0x7f1200000000,
        .allocation_bytes = 4096,
        .pointer = 0x7f1200000000,
        .current = {.stream = 0xffffffffffffffff,
                    .lane = "stream 1",
                    .name = "scale[\"\\\t\x01\xff\xe2\x82\xac]",
                    .arguments = "p, out\1",
                    .kind = CSAN_ATOMIC,
                    .bound = CSAN_BOUND_DATA,
                    .sequence = 9,
                    .frames = launch,
                    .frame_count = 2},
        .previous = {.host = 1,
                     .lane = "the host",
                     .name = "csan_host_reads",
                     .kind = CSAN_READ,
                     .sequence = 1,
                     .frames = noisy,
                     .frame_count = 2},
        .allocation_frames = noisy,
        .allocation_frame_count = 2,
        .number = 1,
    };
}

static const void *const device_call[] = {(void *)4};

/* A kernel that failed, as some_race otherwise. */
static struct csan_race some_error(struct csan_error *error)
{
    struct csan_race race = some_race();
    *error = (struct csan_error){.exception = "illegal memory access",
                                 .code = "CUDA_ERROR_ILLEGAL_ADDRESS",
                                 .detail = "It is said \"so\".",
                                 .function = "scatter(float*)",
                                 .place = "/start/scatter.cu:21",
                                 .where = CSAN_WHERE_BEHIND,
                                 .distance = 16,
                                 .neighbour = 0x7f1200002000,
                                 .neighbour_bytes = 64,
                                 .neighbour_frames = launch,
                                 .neighbour_frame_count = 2,
                                 .has_thread = 1,
                                 .device = 1,
                                 .grid = {4, 1, 1},
                                 .block_size = {64, 2, 1},
                                 .block = {3, 0, 0},
                                 .thread = {13, 1, 0},
                                 .threads = 32,
                                 .reported_by = "cuStreamSynchronize",
                                 .reported_frames = device_call,
                                 .reported_frame_count = 1,
                                 .launches_since = 12};
    race.kind = CSAN_RACE_DEVICE_EXCEPTION;
    race.possible = 0;
    race.current.name = "_Z7scatterPf";
    race.current.bound = CSAN_EXACT;
    race.previous = (struct csan_race_access){.lane = "the host", .name = "cuMemAlloc_v2"};
    race.error = error;
    return race;
}

/* ---- reports in files */

static char path[128], message[256];
static struct options options;

static struct report_sink *open_sink(const char *format)
{
    options_default(&options);
    snprintf(path, sizeof path, "/tmp/csan-finding-%d", (int)getpid());
    snprintf(options.log_path, sizeof options.log_path, "/tmp/csan-finding-%%p");
    snprintf(options.format, sizeof options.format, "%s", format);
    unlink(path);
    struct report_sink *sink = report_open(&options, &fake);
    assert_non_null(sink);
    report_set_directory(sink, "/start");
    return sink;
}

/* What is in the file now; NULL where it is no JSON. */
static struct json_object *read_file(void)
{
    static char text[256 << 10];
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    size_t bytes = fread(text, 1, sizeof text, file);
    fclose(file);
    struct json_object *json = json_read(text, bytes, message, sizeof message);
    if (!json)
        fail_msg("%s", message);
    return json;
}

static struct finding *some_finding(const struct csan_race *race)
{
    struct report_sink *sink = open_sink("text");
    struct finding *finding = report_finding(sink, race);
    assert_non_null(finding);
    report_close(sink);
    return finding;
}

/* ---- tests */

static void strings_come_back(void **state)
{
    (void)state;
    static const char *const rows[][2] = {
        {"plain", "plain"},
        {"\"\\/\n\t\x01\x7f", "\"\\/\n\t\x01\x7f"},
        {"\xe2\x82\xac \xf0\x9f\x98\x80", "\xe2\x82\xac \xf0\x9f\x98\x80"},
        {"\xff\xe2\x82", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"},
        {"\xed\xa0\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"}, /* a surrogate */
        {"\xc0\xaf", "\xef\xbf\xbd\xef\xbf\xbd"},                 /* too long a form */
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct text text = {0};
        json_string_add(&text, rows[i][0]);
        struct json_object *json = json_read(text.data, text.length, message, sizeof message);
        assert_non_null(json);
        assert_true(json_object_is_type(json, json_type_string));
        assert_string_equal(json_object_get_string(json), rows[i][1]);
        json_object_put(json);
        text_free(&text);
    }
}

static struct json_object *item(struct json_object *array, size_t i)
{
    return json_object_array_get_idx(array, i);
}

static size_t count(struct json_object *object, const char *key)
{
    return json_object_array_length(json_member(object, key));
}

static const char *string(struct json_object *object, const char *key)
{
    return json_object_get_string(json_member(object, key));
}

static void json_is_read(void **state)
{
    (void)state;
    static const char good[] = " {\"a\" : [1, -2.5, 18446744073709551615, true, null], "
                               "\"b\": \"\\u20ac\\ud83d\\ude00\\/\\ud83d!\"} ";
    struct json_object *json = json_read(good, strlen(good), message, sizeof message);
    assert_non_null(json);
    struct json_object *list = json_member(json, "a");
    uint64_t number = 0;
    assert_int_equal(json_object_array_length(list), 5);
    assert_true(json_whole(item(list, 0), &number) && number == 1);
    assert_false(json_whole(item(list, 1), &number) || json_whole(item(list, 3), &number));
    assert_true(json_whole(item(list, 2), &number) && number == UINT64_MAX);
    assert_false(json_whole(item(list, 5), &number));
    assert_string_equal(string(json, "b"), "\xe2\x82\xac\xf0\x9f\x98\x80/\xef\xbf\xbd!");
    assert_null(json_member(json, "c"));
    assert_null(json_member(list, "a"));
    json_object_put(json);
    static const char *const bad[][2] = {
        {"", "line 1, byte 0: unexpected end of data"},
        {"{\"a\" 1}", "line 1, byte 5: object property name separator ':' expected"},
        {"{\"a\": 1,\n}", "line 2, byte 9: "},
        {"[1 2]", "line 1, byte 3: array value separator ',' expected"},
        {"\"abc", "byte 4: unexpected end of data"},
        {"\"\\x\"", "invalid string sequence"},
        {"\"\\u12g4\"", "invalid string sequence"},
        {"tru", "unexpected end of data"},
        {"1.2.3", "byte 3: unexpected character"},
        {"[-]", "byte 2: number expected"},
        {"['a']", "byte 1: unexpected character"},
        {"[1] // one", "byte 4: unexpected character"},
        {"[] []", "byte 3: unexpected character"},
        {"null", "it is null"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_null(json_read(bad[i][0], strlen(bad[i][0]), message, sizeof message));
        if (!strstr(message, bad[i][1]))
            fail_msg("%s: %s", bad[i][0], message);
    }
    static const char end[] = "[]\0[]"; /* with the zero: no end of the document */
    assert_null(json_read(end, sizeof end - 1, message, sizeof message));
    json = json_read("42", 2, message, sizeof message);
    assert_true(json_whole(json, &number) && number == 42);
    json_object_put(json);
    char deep[200];
    memset(deep, '[', sizeof deep);
    assert_null(json_read(deep, sizeof deep, message, sizeof message));
    assert_non_null(strstr(message, "nesting too deep"));
}

static void a_finding_has_what_a_report_says(void **state)
{
    (void)state;
    struct csan_race race = some_race();
    struct finding *finding = some_finding(&race);
    const struct finding_access *now = &finding->accesses[0];
    assert_string_equal(now->arguments, "p, out");
    assert_string_equal(now->deed, "atomically updating argument(s) p, out, and to the output");
    assert_string_equal(now->reason, "which bytes it touches depends on data in memory");
    assert_int_equal(now->stack.count, 2);
    assert_string_equal(now->stack.items[0].file, "model \"x\".cc");
    assert_string_equal(finding->accesses[1].stack.items[0].module, "/usr/lib/libnoisy.so.2");
    assert_null(finding->accesses[1].reason);
    assert_non_null(strstr(finding->text, "Race 1 is possible: "));
    assert_non_null(strstr(finding->text, finding->cause));
    assert_non_null(strstr(finding->text, finding->fix));
    finding_renumber(finding, 12);
    assert_int_equal(finding->number, 12);
    assert_non_null(strstr(finding->text, "\nRace 12 is possible: "));
    assert_null(strstr(finding->text, "Race 1 is"));
    finding_destroy(finding);
    race.previous.level = CSAN_LEVEL_LEARNED;
    finding = some_finding(&race);
    assert_string_equal(finding->accesses[1].reason,
                        "earlier launches of the kernel with such parameters touched this");
    finding_destroy(finding);
}

static void a_fingerprint_is_of_places(void **state)
{
    (void)state;
    struct csan_race race = some_race(), changed = some_race();
    struct finding *finding = some_finding(&race), *other;
    uint64_t fingerprint = finding->fingerprint;
    changed.current = race.previous;
    changed.previous = race.current;
    changed.previous.lane = "stream 7";
    changed.previous.stream = 7;
    changed.address = changed.pointer = 4096;
    changed.possible = 0;
    changed.previous.bound = CSAN_EXACT;
    other = some_finding(&changed);
    assert_true(other->fingerprint == fingerprint);
    finding_destroy(other);
    changed = race;
    changed.current.frames = other_launch; /* another line */
    other = some_finding(&changed);
    assert_true(other->fingerprint != fingerprint);
    finding_destroy(other);
    changed = race;
    changed.kind = CSAN_RACE_DATA;
    other = some_finding(&changed);
    assert_true(other->fingerprint != fingerprint);
    finding_destroy(other);
    finding_destroy(finding);
}

/* A side whose stack is given in frames alone. */
static uint64_t fingerprint_of(struct stack_frame *frames, size_t count)
{
    const struct stack_frames stack = {frames, count}, none = {0};
    const struct fingerprint_side sides[2] = {{"scale", &stack, &none}, {"copy", &none, &none}};
    return fingerprint_make(CSAN_RACE_DATA, sides);
}

static void a_fingerprint_outlives_the_machine(void **state)
{
    (void)state;
    struct stack_frame here[] = {
        {.function = "f", .file = "/home/me/app/f.cu", .line = 3},
        {.function = "start_thread", .module = "/lib/libc.so.6", .offset = 0x9caa4}};
    struct stack_frame there[] = {
        {.function = "f", .file = "f.cu", .line = 3}, /* started in the sources' folder */
        {.function = "start_thread", .module = "/usr/lib64/libc.so.6", .offset = 0x8b3c1}};
    assert_true(fingerprint_of(here, 2) == fingerprint_of(there, 2));
    there[0].line = 4;
    assert_true(fingerprint_of(here, 2) != fingerprint_of(there, 2));
    there[0] = here[0];
    there[0].function = "g";
    assert_true(fingerprint_of(here, 2) != fingerprint_of(there, 2));

    /* Without a line, the return address distinguishes two calls of one function. */
    struct stack_frame plain[] = {{.function = "main", .module = "/build/app", .offset = 0x1100}};
    struct stack_frame moved[] = {{.function = "main", .module = "/opt/app", .offset = 0x1100}};
    assert_true(fingerprint_of(plain, 1) == fingerprint_of(moved, 1));
    moved[0].offset = 0x1180;
    assert_true(fingerprint_of(plain, 1) != fingerprint_of(moved, 1));
}

static void a_fingerprint_is_the_races_own(void **state)
{
    (void)state;
    struct csan_race race = some_race();
    struct finding *finding = some_finding(&race);
    const struct stack_style here = {&fake, "", ""}, started = {&fake, "/src/", "/start"};
    assert_true(fingerprint_of_race(&race, &here) == finding->fingerprint);
    assert_true(fingerprint_of_race(&race, &started) == finding->fingerprint);
    finding_destroy(finding);
}

static void an_error_has_what_its_report_says(void **state)
{
    (void)state;
    struct csan_error error;
    struct csan_race race = some_error(&error);
    struct finding *finding = some_finding(&race);
    const struct finding_error *made = finding->error;
    char place[64];
    assert_false(finding_has_previous(finding));
    assert_string_equal(finding->accesses[1].name, "");
    assert_true(finding_error_place(made, place, sizeof place));
    assert_string_equal(place, "scatter.cu:21");
    assert_string_equal(made->instruction.items[0].file, "scatter.cu");
    assert_int_equal(made->instruction.items[0].line, 21);
    assert_string_equal(made->instruction.items[0].function, "scatter(float*)");
    assert_string_equal(made->reported_by, "cuStreamSynchronize");
    assert_int_equal(made->reported_stack.items[0].line, 15);
    assert_int_equal(made->neighbour_stack.count, 2);
    assert_int_equal(finding->proposal.kind, 0);
    finding_destroy(finding);

    race.previous = some_race().previous;
    race.previous.kind = CSAN_FREE;
    error = (struct csan_error){.exception = NULL};
    finding = some_finding(&race);
    assert_true(finding_has_previous(finding));
    assert_false(finding_error_place(finding->error, place, sizeof place));
    assert_null(finding->error->reported_by);
    finding_destroy(finding);
}

static void an_errors_fingerprint_is_of_its_places(void **state)
{
    (void)state;
    struct csan_error error, changed_error;
    const struct csan_race race = some_error(&error);
    struct csan_race changed = some_error(&changed_error);
    struct finding *finding = some_finding(&race), *other;
    const struct stack_style here = {&fake, "", ""};
    const uint64_t fingerprint = finding->fingerprint;
    assert_true(fingerprint_of_race(&race, &here) == fingerprint);
    finding_destroy(finding);

    /* Addresses, threads, nearby memory and the reporting call differ in another run. */
    changed_error.thread[0] = 1;
    changed_error.threads = 5;
    changed_error.distance = 4;
    changed_error.neighbour_bytes = 0;
    changed_error.reported_by = NULL;
    changed_error.place = "/elsewhere/scatter.cu:21";
    changed.address += 64;
    changed.allocation_bytes = 0;
    changed.current.lane = "stream 9";
    other = some_finding(&changed);
    assert_true(other->fingerprint == fingerprint);
    finding_destroy(other);

    changed_error.place = "/start/scatter.cu:22";
    assert_true(fingerprint_of_race(&changed, &here) != fingerprint);
    changed_error.place = error.place;
    assert_true(fingerprint_of_race(&changed, &here) == fingerprint);
    changed.kind = CSAN_RACE_OUT_OF_BOUNDS;
    assert_true(fingerprint_of_race(&changed, &here) != fingerprint);
    changed.kind = race.kind;
    changed.current.frames = other_launch;
    assert_true(fingerprint_of_race(&changed, &here) != fingerprint);
    changed.current.frames = launch;
    changed.current.name = "_Z6gatherPf";
    assert_true(fingerprint_of_race(&changed, &here) != fingerprint);
}

static void expect_same(const struct finding *a, const struct finding *b)
{
    struct text text_a = {0}, text_b = {0};
    finding_json_add(&text_a, a);
    finding_json_add(&text_b, b);
    assert_string_equal(text_a.data, text_b.data);
    text_free(&text_a);
    text_free(&text_b);
}

static void json_comes_back_of(struct csan_race race)
{
    struct finding *finding = some_finding(&race);
    struct text text = {0};
    const struct finding_process process = {.rank = "3", .process = "42", .machine = "m"};
    const char *const notes[] = {"a note"}, *const names[] = {"cuX"};
    const uint64_t known[] = {finding->fingerprint + 1, 7};
    const struct csan_stats stats = {.ops = 5, .races = 1};
    const struct finding_tail tail = {.stats = &stats,
                                      .device = "a device",
                                      .unmodelled = names,
                                      .unmodelled_count = 1,
                                      .withheld = 2,
                                      .known = known,
                                      .known_count = 2,
                                      .notes = notes,
                                      .note_count = 1};
    struct finding_report report;
    finding_head_add(&text, FINDING_JSON, &process, 1);
    finding_add(&text, FINDING_JSON, finding);
    finding_tail_add(&text, FINDING_JSON, &process, 1, &tail);
    if (!finding_report_read(&report, text.data, text.length, message, sizeof message))
        fail_msg("%s", message);
    assert_int_equal(report.finding_count, 1);
    expect_same(report.findings[0], finding);
    assert_string_equal(report.processes[0].rank, "3");
    assert_string_equal(report.processes[0].process, "42");
    assert_null(report.processes[0].command);
    assert_int_equal(report.stats.ops, 5);
    assert_string_equal(report.device, "a device");
    assert_int_equal(report.withheld, 2);
    assert_int_equal(report.known_count, 2);
    assert_true(report.known[0] == known[0] && report.known[1] == known[1]);
    assert_string_equal(report.notes[0], "a note");
    assert_string_equal(report.unmodelled[0], "cuX");
    finding_report_free(&report);

    /* Whatever is cut off or damaged is refused or read, and nothing else. */
    for (size_t bytes = 0; bytes + 2 < text.length; bytes += 7)
        assert_false(finding_report_read(&report, text.data, bytes, message, sizeof message));
    srand(1);
    for (int i = 0; i < 5000; i++) {
        char *damaged = malloc(text.length);
        memcpy(damaged, text.data, text.length);
        for (int k = rand() % 4; k >= 0; k--)
            damaged[(size_t)rand() % text.length] = (char)(rand() % 2 ? rand() : '"');
        if (finding_report_read(&report, damaged, text.length, message, sizeof message))
            finding_report_free(&report);
        free(damaged);
    }
    text_free(&text);
    finding_destroy(finding);
}

static void json_comes_back(void **state)
{
    (void)state;
    struct csan_error error;
    struct csan_race race = some_race();
    race.current.name = "scale";
    json_comes_back_of(race);
    race = some_error(&error);
    json_comes_back_of(race);
    race.previous = some_race().previous; /* freed before */
    race.previous.kind = CSAN_FREE;
    json_comes_back_of(race);
    error = (struct csan_error){.exception = NULL}; /* nothing is known */
    race.previous = (struct csan_race_access){.kind = 0};
    race.kind = CSAN_RACE_LEAK;
    json_comes_back_of(race);
    error.count = 3;
    error.total = UINT64_MAX;
    json_comes_back_of(race);
    struct csan_out_of_memory out_of_memory = {.asked = UINT64_MAX, .host = 1};
    race.kind = CSAN_RACE_OUT_OF_MEMORY;
    error = (struct csan_error){.out_of_memory = &out_of_memory};
    json_comes_back_of(race);
    out_of_memory = (struct csan_out_of_memory){.device = 1,
                                                .asked = 1 << 20,
                                                .free = 12,
                                                .total = 80,
                                                .own = 70,
                                                .own_count = 7,
                                                .others = 5,
                                                .unused = 4,
                                                .reserved = 3,
                                                .allocated = 2,
                                                .held_count = CSAN_HELD_MAX,
                                                .more = 6,
                                                .more_bytes = 1};
    for (size_t i = 0; i < CSAN_HELD_MAX; i++)
        out_of_memory.held[i] = (struct csan_held){.name = "cuMemAlloc",
                                                   .frames = launch,
                                                   .frame_count = 2,
                                                   .count = i + 1,
                                                   .bytes = 100 - i,
                                                   .oldest = i ? 2000 + i : 0,
                                                   .newest = i ? 1000 : 0};
    json_comes_back_of(race);
}

/* What has one access, but is a race, is not whole. */
static void a_race_has_two_accesses(void **state)
{
    (void)state;
    struct csan_error error;
    const struct csan_race race = some_error(&error);
    struct finding *finding = some_finding(&race);
    struct finding_report report;
    struct text text = {0};
    finding_head_add(&text, FINDING_JSON, NULL, 0);
    finding_add(&text, FINDING_JSON, finding);
    finding_tail_add(&text, FINDING_JSON, NULL, 0, &(struct finding_tail){.stats = NULL});
    char *key = strstr(text.data, "\"error\"");
    assert_non_null(key);
    key[1] = 'E';
    assert_false(finding_report_read(&report, text.data, text.length, message, sizeof message));
    assert_string_equal(message, "one of its races is not whole");
    text_free(&text);
    finding_destroy(finding);
}

static void sarif_has_rules_and_places(void **state)
{
    (void)state;
    struct csan_error error;
    struct text text = {0};
    for (int kind = 0; kind < CSAN_RACE_KINDS; kind++) {
        struct csan_race race = kind < CSAN_RACE_OUT_OF_BOUNDS ? some_race() : some_error(&error);
        race.kind = kind;
        race.current.name = "scale";
        if (kind == CSAN_RACE_WRONG_DEVICE) { /* its launch was not seen */
            race.current.frames = NULL;
            race.current.frame_count = 0;
        }
        struct finding *finding = some_finding(&race);
        if (!kind)
            finding_head_add(&text, FINDING_SARIF, NULL, 0);
        text_add(&text, "%s", kind ? "," : "");
        finding_add(&text, FINDING_SARIF, finding);
        finding_destroy(finding);
    }
    finding_tail_add(&text, FINDING_SARIF, NULL, 0, &(struct finding_tail){.stats = NULL});
    struct json_object *json = json_read(text.data, text.length, message, sizeof message);
    if (!json)
        fail_msg("%s", message);
    struct json_object *run = item(json_member(json, "runs"), 0);
    struct json_object *rules =
        json_member(json_member(json_member(run, "tool"), "driver"), "rules");
    struct json_object *results = json_member(run, "results");
    assert_int_equal((int)json_object_array_length(rules), CSAN_RACE_KINDS);
    for (int kind = 0; kind < CSAN_RACE_KINDS; kind++) {
        struct json_object *result = item(results, kind);
        uint64_t rule = UINT64_MAX;
        assert_true(json_whole(json_member(result, "ruleIndex"), &rule));
        assert_string_equal(string(item(rules, rule), "id"), string(result, "ruleId"));
        assert_int_equal(count(result, "locations"), 1);
    }
    struct json_object *failed = item(results, CSAN_RACE_DEVICE_EXCEPTION);
    assert_string_equal(string(failed, "level"), "error");
    assert_int_equal(count(failed, "relatedLocations"), 4);
    const char *said = string(json_member(failed, "message"), "text");
    assert_true(strncmp(said, "Illegal memory access in ", 25) == 0);
    text_free(&text);
    json_object_put(json);
}

static size_t races_in(struct json_object *json, bool sarif)
{
    return sarif ? count(item(json_member(json, "runs"), 0), "results") : count(json, "races");
}

static void a_file_is_whole_after_every_race(void **state)
{
    (void)state;
    for (int sarif = 0; sarif <= 1; sarif++) {
        struct report_sink *sink = open_sink(sarif ? "sarif" : "json");
        struct csan_race race = some_race();
        struct csan_stats stats = {.ops = 3};
        for (size_t i = 1; i <= 5; i++) {
            race.number = i;
            report_race(sink, &race, false);
            if (i == 3)
                report_note(sink, "a note of some length, so that the tail grows");
            struct json_object *json = read_file();
            assert_int_equal(races_in(json, sarif), i);
            if (!sarif)
                assert_null(json_member(json, "summary"));
            json_object_put(json);
        }
        report_summary(sink, &stats, NULL, 0);
        assert_int_equal(report_finish(sink), 0);
        struct json_object *json = read_file();
        assert_int_equal(races_in(json, sarif), 5);
        if (!sarif) {
            uint64_t ops = 0;
            assert_true(json_whole(json_member(json_member(json, "summary"), "ops"), &ops));
            assert_int_equal(ops, 3);
            assert_int_equal(count(json, "notes"), 1);
        }
        json_object_put(json);
        report_close(sink);
        unlink(path);
    }
}

/* Its end lands neither in nothing nor in the program's own file. */
static void a_pipe_that_the_program_closed(void **state)
{
    (void)state;
    static char text[256 << 10];
    struct csan_race race = some_race();
    options_default(&options);
    snprintf(path, sizeof path, "/tmp/csan-finding-%d", (int)getpid());
    snprintf(options.log_path, sizeof options.log_path, "%s", path);
    snprintf(options.format, sizeof options.format, "json");
    unlink(path);
    assert_int_equal(mkfifo(path, 0600), 0);
    const int end = open(path, O_RDWR | O_NONBLOCK);
    struct report_sink *sink = report_open(&options, &fake);
    report_race(sink, &race, false); /* the first that opens it */
    const int own = open("/dev/null", O_WRONLY);
    for (int i = end + 1; i < own; i++)
        dup2(own, i);
    assert_int_equal(report_finish(sink), 0);
    const ssize_t bytes = read(end, text, sizeof text);
    assert_true(bytes > 0);
    struct json_object *json = json_read(text, (size_t)bytes, message, sizeof message);
    assert_non_null(json);
    assert_int_equal(races_in(json, 0), 1);
    json_object_put(json);
    report_close(sink);
    for (int i = end; i <= own; i++)
        close(i);
    unlink(path);
}

static void sarif_escapes(void **state)
{
    (void)state;
    struct csan_race race = some_race();
    race.previous.name = "f<{lambda#1}>[2]";
    struct finding *finding = some_finding(&race);
    struct text text = {0};
    finding_sarif_add(&text, finding);
    /* A link's brackets and a placeholder's braces, in messages alone. */
    assert_non_null(strstr(text.data, "f<{{lambda#1}}>\\\\[2\\\\]"));
    assert_non_null(strstr(text.data, "\"fullyQualifiedName\": \"step<{lambda(int)#1}>(int[3])\""));
    assert_non_null(strstr(text.data, "\"uri\": \"file:///src/my%20app/main.cu\""));
    assert_non_null(
        strstr(text.data, "\"uri\": \"model%20%22x%22.cc\", \"uriBaseId\": \"SRCROOT\""));
    assert_non_null(strstr(text.data, "\"level\": \"warning\""));
    text_free(&text);
    finding_destroy(finding);
}

static void a_quiet_process_leaves_no_file(void **state)
{
    (void)state;
    struct report_sink *sink = open_sink("json");
    report_close(sink);
    assert_int_not_equal(access(path, F_OK), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(strings_come_back),
        cmocka_unit_test(json_is_read),
        cmocka_unit_test(a_finding_has_what_a_report_says),
        cmocka_unit_test(an_error_has_what_its_report_says),
        cmocka_unit_test(an_errors_fingerprint_is_of_its_places),
        cmocka_unit_test(a_race_has_two_accesses),
        cmocka_unit_test(sarif_has_rules_and_places),
        cmocka_unit_test(a_fingerprint_is_of_places),
        cmocka_unit_test(a_fingerprint_outlives_the_machine),
        cmocka_unit_test(a_fingerprint_is_the_races_own),
        cmocka_unit_test(json_comes_back),
        cmocka_unit_test(a_file_is_whole_after_every_race),
        cmocka_unit_test(a_pipe_that_the_program_closed),
        cmocka_unit_test(sarif_escapes),
        cmocka_unit_test(a_quiet_process_leaves_no_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
