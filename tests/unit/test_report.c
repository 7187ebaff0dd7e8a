/* The text of reports, word by word, with symbols made up here; and where the text goes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "csan/finding_text.h"
#include "csan/options.h"
#include "csan/report.h"
#include "csan/stack_source.h"
#include "csan/symbolizer.h"
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- symbols made up: return address N is row N */

#define APP "/build/app"
static const struct symbol_frame symbols[] = {
    {NULL, NULL, 0, NULL, 0, 0},
    {"main", "/src/app/main.cu", 14, APP, 0x1100, 0},
    {"scale(float*, float, int)", "/src/app/main.cu", 5, APP, 0x1000, 0},
    {"__device_stub__Z5scalePffi(float*, float, int)", "/tmp/x.stub.c", 1, APP, 0x1010, 0},
    {"cudaLaunchKernel", NULL, 0, APP, 0x2000, 0},
    {NULL, NULL, 0, "/opt/csan/lib/libcsan.so.0", 0x30, 1},
    {"cudaError cudaLaunchKernel<char>(char const*)", "/cuda/include/cuda_runtime.h", 210, APP,
     0x2100, 0},
    {"cudaMalloc", NULL, 0, "/cuda/lib64/libcudart.so.13", 0x99, 0},
    {"helper::run(int)", NULL, 0, "/usr/lib/libhelper.so", 0xabc, 0},
    {NULL, NULL, 0, "/usr/lib/libstripped.so", 0xdef, 0},
    {"__libc_start_main", NULL, 0, "/lib/libc.so.6", 0x77, 0},
    {"main", "/src/app/main.cu", 37, APP, 0x1200, 0},
    {"main", "/src/app/main.cu", 31, APP, 0x1300, 0},
    {"cudaError cudaMalloc<float>(float**, unsigned long)", NULL, 0, APP, 0x2200, 0},
    {"launch_helper()", "/tmp/x.cudafe1.stub.c", 3, APP, 0x1020, 0},
    {"step(Model&)", "/elsewhere/model.cc", 99, APP, 0x1400, 0},
    {"void thrust::sort<thrust::less<int> >(int*)", "/cuda/include/thrust/sort.h", 7, APP, 0x1500,
     0},
    {"cub::Sort<int>::invoke()", "/cuda/include/cub/sort.cuh", 8, APP, 0x1510, 0},
    {"start_thread", NULL, 0, "/lib/libc.so.6", 0x88, 0},
};
enum {
    STEP = 15,
    THRUST = 16,
    CUB = 17,
    THREAD = 18,
    SYMBOLS = sizeof(symbols) / sizeof(symbols[0]),
    INLINED = 100
};

static size_t frames_asked;
static void fake_frames(struct symbolizer *face, const void *const *frames, size_t count,
                        symbolizer_visit *visit, void *user)
{
    (void)face;
    frames_asked += count;
    for (size_t i = 0; i < count; i++) {
        uintptr_t row = (uintptr_t)frames[i];
        if (row == INLINED) { /* step, inlined into main */
            visit(user, i, &symbols[STEP]);
            visit(user, i, &symbols[1]);
        } else if (row < SYMBOLS) {
            visit(user, i, &symbols[row]);
        }
    }
}

static void fake_demangle(struct symbolizer *face, const char *name, char *text, size_t bytes)
{
    static const char *const names[][2] = {
        {"_Z5scalePffi", "scale(float*, float, int)"},
        {"_Z10initializePfi", "initialize(float*, int)"},
        {"_Z4axpy", "void (anonymous namespace)::math::axpy<double, 4>(double*, int (*)(int))"},
    };
    (void)face;
    snprintf(text, bytes, "%s", name);
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (strcmp(name, names[i][0]) == 0)
            snprintf(text, bytes, "%s", names[i][1]);
}

static const char *trouble;
static const char *fake_trouble(struct symbolizer *face)
{
    (void)face;
    const char *news = trouble;
    trouble = NULL;
    return news;
}

static void fake_destroy(struct symbolizer *face)
{
    (void)face;
}

static struct symbolizer fake = {fake_frames, fake_demangle, fake_trouble, fake_destroy};

/* ---- a race, and what is printed of it */

static const void *const launch[] = {(void *)5, (void *)7, (void *)4, (void *)6, (void *)14,
                                     (void *)3, (void *)2, (void *)1, (void *)10};
static const void *const first_launch[] = {(void *)5, (void *)11};
static const void *const birth[] = {(void *)7, (void *)13, (void *)12};

static struct csan_race plain_race(void)
{
    return (struct csan_race){
        .kind = CSAN_RACE_DATA,
        .address = 0x7f1200000000 + 128,
        .bytes = 256,
        .allocation = 0x7f1200000000,
        .allocation_bytes = 4096,
        .pointer = 139719969079296,
        .current = {.stream = 94646435460352,
                    .lane = "stream 94646435460352",
                    .name = "_Z5scalePffi",
                    .arguments = "p",
                    .kind = CSAN_WRITE,
                    .site = 1,
                    .sequence = 2,
                    .frames = launch,
                    .frame_count = 9},
        .previous = {.stream = 0,
                     .lane = "stream 0",
                     .name = "_Z10initializePfi",
                     .arguments = "p, n",
                     .kind = CSAN_READ,
                     .site = 2,
                     .sequence = 1,
                     .frames = first_launch,
                     .frame_count = 2},
        .allocation_frames = birth,
        .allocation_frame_count = 3,
        .number = 1,
        .group = 1,
        .time = CSAN_TIME_UNKNOWN,
    };
}

static char scratch[64], path[128], printed[64 << 10];
static struct options options;

static void options_to_file(void)
{
    options_default(&options);
    snprintf(path, sizeof(path), "%s/log.%d", scratch, (int)getpid());
    snprintf(options.log_path, sizeof(options.log_path), "%s/log", scratch);
    unlink(path);
}

static const char *read_file(const char *name)
{
    FILE *file = fopen(name, "r");
    size_t length = file ? fread(printed, 1, sizeof(printed) - 1, file) : 0;
    printed[length] = '\0';
    if (file)
        fclose(file);
    return printed;
}

/* The text of one race with the options as they are. */
static const char *text_of(const struct csan_race *race)
{
    struct report_sink *sink = report_open(&options, &fake);
    assert_non_null(sink);
    report_set_process(sink, &(struct finding_process){.process = "4711", .rank = "3"});
    free(report_race(sink, race, false));
    report_close(sink);
    return read_file(path);
}

static void expect_in(const char *text, const char *part)
{
    if (!strstr(text, part))
        fail_msg("no\n%s\nin\n%s", part, text);
}

static void expect_part(const struct csan_race *race, const char *part)
{
    options_to_file();
    expect_in(text_of(race), part);
}

static void what_hardware_orders_unpromised(void **state)
{
    (void)state;
    struct csan_race race = plain_race();
    race.unpromised = "cuMemHostRegister";
    expect_part(&race, "Note: hardware was seen to order the two, since cuMemHostRegister made the "
                       "host wait there, but nothing promises it.\n");
    race.unpromised = "an event query of a memory pool";
    expect_part(&race,
                "Note: hardware was seen to order the two: an event query of a memory pool came "
                "between and found the first done, but the program waits for nothing.\n");
    race.unpromised = NULL;
    options_to_file();
    assert_null(strstr(text_of(&race), "Note:"));
}

static void a_device_gets_no_file_beside_it(void **state)
{
    (void)state;
    struct csan_race race = plain_race();
    char beside[64], pipe[128];
    snprintf(beside, sizeof(beside), "/dev/null.%d", (int)getpid());
    unlink(beside); /* of an earlier process of this number */
    options_to_file();
    strcpy(options.log_path, "/dev/null");
    text_of(&race);
    assert_int_equal(access(beside, F_OK), -1);
    snprintf(pipe, sizeof(pipe), "%s/pipe", scratch);
    assert_int_equal(mkfifo(pipe, 0600), 0);
    int end = open(pipe, O_RDWR | O_NONBLOCK);
    strcpy(options.log_path, pipe);
    text_of(&race);
    char first[12] = "";
    assert_true(read(end, first, sizeof(first)) > 0);
    assert_memory_equal(first, "============", sizeof(first));
    close(end);
    unlink(pipe);
}

static void words(void **state)
{
    (void)state;
    struct csan_race race = plain_race();
    options_to_file();
    strcpy(options.strip_path_prefix, "/src/app/");
    assert_string_equal(
        text_of(&race),
        "============================\n"
        "CSAN: data race: scale (main.cu:14) does not wait for initialize (main.cu:37) on memory "
        "allocated at main.cu:31\n"
        "Cause: nothing orders the two accesses.\n"
        "Fix: record an event on stream 0 after initialize (main.cu:37), make stream "
        "94646435460352 wait for it before scale (main.cu:14).\n"
        "Access by stream 94646435460352 during kernel:\n"
        "scale(float*, float, int)\n"
        "writing to argument(s) p\n"
        "With stack trace:\n"
        "  #0 main main.cu:14\n"
        "Previous access by stream 0 during kernel:\n"
        "initialize(float*, int)\n"
        "reading from argument(s) p, n\n"
        "With stack trace:\n"
        "  #0 main main.cu:37\n"
        "The memory was allocated with stack trace:\n"
        "  #0 main main.cu:31\n"
        "Race 1 is certain: both accesses are exact.\n"
        "Overlap: 256 bytes, 128 to 383 of the 4096 allocated at 0x7f1200000000 (the first run "
        "that both touch).\n"
        "In process 4711 (rank 3).\n");
}

/* In a program of PyTorch's the first lines are those of PyTorch's own sanitizer. */
static void words_of_a_framework(void **state)
{
    (void)state;
    struct csan_race race = plain_race();
    race.framework = 1;
    options_to_file();
    strcpy(options.strip_path_prefix, "/src/app/");
    assert_string_equal(
        text_of(&race),
        "============================\n"
        "CSAN detected a possible data race on tensor with data pointer 139719969079296\n"
        "Access by stream 94646435460352 during kernel:\n"
        "scale(float*, float, int)\n"
        "writing to argument(s) p\n"
        "With stack trace:\n"
        "  #0 main main.cu:14\n"
        "Previous access by stream 0 during kernel:\n"
        "initialize(float*, int)\n"
        "reading from argument(s) p, n\n"
        "With stack trace:\n"
        "  #0 main main.cu:37\n"
        "Tensor was allocated with stack trace:\n"
        "  #0 main main.cu:31\n"
        "Race 1 is certain: both accesses are exact.\n"
        "Overlap: 256 bytes, 128 to 383 of the 4096 allocated at 0x7f1200000000 (the first run "
        "that both touch).\n"
        "Cause: nothing orders the two accesses.\n"
        "Fix: record an event on stream 0 after initialize (main.cu:37), make stream "
        "94646435460352 wait for it before scale (main.cu:14).\n"
        "In process 4711 (rank 3).\n");
}

static void stack_lines(void **state)
{
    (void)state;
    struct csan_race race = plain_race();
    static const void *const frames[] = {(void *)8, (void *)9, (void *)0, (void *)INLINED,
                                         (void *)10};
    race.current.frames = frames;
    race.current.frame_count = 5;
    expect_part(&race, "With stack trace:\n"
                       "  #0 helper::run(int) (/usr/lib/libhelper.so+0xabc)\n"
                       "  #1 /usr/lib/libstripped.so+0xdef\n"
                       "  #2 ?? (0x0)\n"
                       "  #3 step(Model&) /elsewhere/model.cc:99\n"
                       "  #4 main /src/app/main.cu:14\n"
                       "Previous access");
    expect_in(printed, "before scale (/elsewhere/model.cc:99).\n");
    race.current.frame_count = 0;
    expect_part(&race, "With stack trace:\n  (not recorded)\nPrevious access");
    expect_in(printed, "before scale.\n");
    race.allocation_frame_count = 0;
    expect_part(&race, "The memory's allocation was not seen.\n");
    /* Of nothing but run-time frames all are shown. */
    race.current.frame_count = 2;
    race.current.frames = launch;
    expect_part(&race, "  #0 /opt/csan/lib/libcsan.so.0+0x30\n  #1 cudaMalloc (/cuda/lib64/");
}

/* Each frame costs a question to another process. */
static void each_stack_is_resolved_once(void **state)
{
    (void)state;
    struct csan_race race = plain_race();
    static const void *const created[] = {(void *)STEP};
    race.current.created_frames = created;
    race.current.created_frame_count = 1;
    const size_t all = race.current.frame_count + race.previous.frame_count +
                       race.allocation_frame_count + race.current.created_frame_count;
    options_to_file();
    frames_asked = 0;
    text_of(&race);
    assert_int_equal(frames_asked, all);
    strcpy(options.format, "json");
    frames_asked = 0;
    text_of(&race);
    assert_int_equal(frames_asked, all);
}

static void frames_of_libraries_are_folded(void **state)
{
    (void)state;
    struct csan_race race = plain_race();
    static const void *const frames[] = {(void *)CUB,  (void *)CUB,    (void *)THRUST,
                                         (void *)STEP, (void *)THREAD, (void *)THREAD};
    race.current.frames = frames;
    race.current.frame_count = 6;
    expect_part(&race, "With stack trace:\n"
                       "  ... 3 frames of CUB and Thrust (full_stacks=1 shows them)\n"
                       "  #3 step(Model&) /elsewhere/model.cc:99\n"
                       "  ... 2 frames of the C library (full_stacks=1 shows them)\n"
                       "Previous access");
    expect_in(printed, "before scale (/elsewhere/model.cc:99).\n");
    expect_in(printed, "CSAN: data race: scale (/elsewhere/model.cc:99) does not wait");
    options_to_file();
    options.full_stacks = 1;
    expect_in(text_of(&race), "  #0 cub::Sort<int>::invoke() /cuda/include/cub/sort.cuh:8\n");
    assert_null(strstr(printed, "..."));
    expect_in(printed, "before scale (/elsewhere/model.cc:99).\n");
    struct report_sink *sink = report_open(&options, &fake);
    report_race_line(sink, &race); /* before any report */
    report_close(sink);
    expect_in(read_file(path), "at cub::Sort<int>::invoke() /cuda/include/cub/sort.cuh:8 < ");
    race.framework = 1;
    expect_part(&race, "  #0 cub::Sort<int>::invoke() /cuda/include/cub/sort.cuh:8\n");
    race.framework = 0;
    race.current.frame_count = 3; /* nothing is the program's own: all is better than nothing */
    expect_part(&race, "  #0 cub::Sort<int>::invoke() /cuda/include/cub/sort.cuh:8\n");
}

static void a_variable_is_named(void **state)
{
    (void)state;
    struct csan_race race = plain_race();
    race.variable = "__constant__ taps";
    race.variable_module = "/src/app/filter";
    race.allocation_frame_count = 0;
    race.allocation_bytes = 64;
    race.address = race.allocation;
    race.bytes = 64;
    options_to_file();
    strcpy(options.strip_path_prefix, "/src/app/");
    expect_in(text_of(&race), " on the __constant__ variable 'taps' (64 bytes, of filter)\n");
    expect_in(printed, "The memory is the __constant__ variable 'taps' of filter.\n");
    expect_in(printed, "Overlap: 64 bytes, 0 to 63 of the variable's 64 at 0x7f1200000000.\n");
    race.variable = "variable _INTERNAL_0a1b_6_app_cu::limits"; /* of one source file */
    race.variable_module = "";
    expect_part(&race, " on the variable 'limits' (64 bytes, of code loaded at run time)\n");
}

static void a_kernel_is_told_with_its_definition_and_a_copy_is_a_call(void **state)
{
    (void)state;
    struct csan_race race = plain_race();
    race.current.defined = "/src/app/kernels.cu:5";
    race.previous.level = CSAN_LEVEL_LIBRARY;
    options_to_file();
    strcpy(options.strip_path_prefix, "/src/app/");
    expect_in(text_of(&race), "during kernel:\n"
                              "scale(float*, float, int), defined at kernels.cu:5\n"
                              "writing");
    expect_in(printed, "Previous access by stream 0 during call:\n");
    race.framework = 1;
    expect_part(&race, "during kernel:\nscale(float*, float, int)\nwriting");
    expect_in(printed, "Previous access by stream 0 during kernel:\n");
}

/* ---- the stacks of an interpreted language */

#define SCRIPT(line) ((void *)(uintptr_t)(0x8000000000000000u | (line)))
enum { HEADING = 100, PACKAGE = 200, UNKNOWN = 300 };

/* Frame N is line N of a file whose lines are "  line N  ". */
static int script_describe(const void *frame, struct csan_source_line *line)
{
    static char file[80];
    unsigned number = (unsigned)((uintptr_t)frame & 0xffff);
    snprintf(file, sizeof(file), "%s/app.py", scratch);
    *line = (struct csan_source_line){.file = file, .function = "step", .line = number};
    if (number == HEADING)
        *line = (struct csan_source_line){.function = "It was made by the call at:"};
    if (number == PACKAGE)
        *line = (struct csan_source_line){
            .file = "/usr/lib/python3/dist-packages/torch/nn.py", .function = "forward", .line = 8};
    return number != UNKNOWN;
}

static size_t script_capture(const void **frames, size_t capacity, int locked)
{
    (void)frames, (void)capacity, (void)locked;
    return 0;
}

static const struct csan_stack_source scripts = {sizeof(scripts), script_capture, script_describe,
                                                 0};

static void python_words(void **state)
{
    (void)state;
    static const void *const current[] = {SCRIPT(PACKAGE), SCRIPT(UNKNOWN), SCRIPT(2), SCRIPT(1)};
    static const void *const previous[] = {SCRIPT(HEADING), SCRIPT(3)};
    static const void *const mixed[] = {(void *)15, SCRIPT(2)};
    char name[80], expected[4096];
    struct csan_race race = plain_race();
    race.framework = 1;
    snprintf(name, sizeof(name), "%s/app.py", scratch);
    FILE *file = fopen(name, "w");
    fputs("\tx = 1  \n    y = f(x)\n\nlast", file);
    fclose(file);
    race.current.name = "aten::mul.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)";
    race.current.arguments = "self, out" CSAN_ARGUMENT_RETURNED ", " CSAN_ARGUMENT_RETURNED;
    race.current.frames = current;
    race.current.frame_count = 4;
    race.previous.name = "aten::rand(int[] size) -> Tensor";
    race.previous.kind = CSAN_WRITE;
    race.previous.arguments = CSAN_ARGUMENT_RETURNED;
    race.previous.frames = previous;
    race.previous.frame_count = 2;
    race.allocation_frames = mixed;
    race.allocation_frame_count = 2;
    stack_source_set(&scripts);
    options_to_file();
    snprintf(expected, sizeof(expected),
             "Access by stream 94646435460352 during kernel:\n"
             "aten::mul.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)\n"
             "writing to argument(s) self, out, and to the output\n"
             "With stack trace:\n"
             "  File \"%s\", line 1, in step\n"
             "    x = 1\n"
             "  File \"%s\", line 2, in step\n"
             "    y = f(x)\n"
             "  File \"/usr/lib/python3/dist-packages/torch/nn.py\", line 8, in forward\n"
             "\n"
             "Previous access by stream 0 during kernel:\n"
             "aten::rand(int[] size) -> Tensor\n"
             "writing to the output\n"
             "With stack trace:\n"
             "It was made by the call at:\n"
             "  File \"%s\", line 3, in step\n"
             "\n"
             "Tensor was allocated with stack trace:\n"
             "  File \"%s\", line 2, in step\n"
             "    y = f(x)\n"
             "  Native step(Model&) (/elsewhere/model.cc:99)\n"
             "Race 1 is certain",
             name, name, name, name);
    expect_in(text_of(&race), expected);
    snprintf(expected, sizeof(expected), "after aten::rand (%s:3), make", name);
    expect_in(printed, expected);
    snprintf(expected, sizeof(expected), "before aten::mul.out (%s:2).", name);
    expect_in(printed, expected);
    stack_source_set(NULL);
    unlink(name);
}

/* For scripts: addresses and streams differ from run to run, and are left out. */
static void race_in_one_line(void **state)
{
    (void)state;
    struct csan_race race = plain_race();
    static const void *const frames[] = {(void *)8, (void *)9, (void *)INLINED, (void *)10};
    race.current.frames = frames;
    race.current.frame_count = 4;
    race.possible = 1;
    options_to_file();
    struct report_sink *sink = report_open(&options, &fake);
    report_race_line(sink, &race);
    race.possible = 0;
    race.current.frame_count = 0;
    race.current.arguments = "";
    report_race_line(sink, &race);
    report_close(sink);
    assert_string_equal(read_file(path),
                        "csan: race: possible, scale writing to argument(s) p at helper::run(int) "
                        "(/usr/lib/libhelper.so+0xabc) < /usr/lib/libstripped.so+0xdef < "
                        "step(Model&) /elsewhere/model.cc:99 < main /src/app/main.cu:14, not "
                        "ordered after initialize reading from argument(s) p, n at main "
                        "/src/app/main.cu:37\n"
                        "csan: race: scale writing to memory at (not recorded), not ordered after "
                        "initialize reading from argument(s) p, n at main /src/app/main.cu:37\n");
}

static void note_with_its_place(void **state)
{
    (void)state;
    static const void *const frames[] = {(void *)5, (void *)7, (void *)STEP, (void *)1, (void *)10};
    options_to_file();
    struct report_sink *sink = report_open(&options, &fake);
    report_note_stack(sink, frames, 5, "sync 3: event wait");
    report_note_stack(sink, NULL, 0, "sync 4: 100% sure");
    report_close(sink);
    assert_string_equal(read_file(path),
                        "csan: sync 3: event wait at step(Model&) /elsewhere/model.cc:99 < main "
                        "/src/app/main.cu:14\n"
                        "csan: sync 4: 100% sure at (not recorded)\n");
}

static void kinds_of_access(void **state)
{
    (void)state;
    struct csan_race race = plain_race();
    race.current.kind = CSAN_ATOMIC;
    race.kind = CSAN_RACE_ATOMIC;
    expect_part(&race, "atomically updating argument(s) p\n");
    expect_in(printed, "Cause: nothing orders the two accesses, and only one of them is atomic.\n");
    race.previous.kind = CSAN_ATOMIC;
    expect_part(&race, "they overlap only in part");
    race.previous.arguments = "";
    race.previous.name = "cuMemsetD8Async";
    expect_part(&race, "cuMemsetD8Async\natomically updating memory\n");
}

static void certain_and_possible(void **state)
{
    (void)state;
    struct csan_race race = plain_race();
    race.possible = 1;
    race.number = race.group = 7;
    race.previous.bound = CSAN_BOUND_DIRECTION;
    expect_part(&race,
                "Race 7 is possible: the access by stream 94646435460352 is exact; the "
                "previous access by stream 0 is bounded (known is only that the kernel uses");
    expect_in(printed, "every byte of its allocation that it may reach is taken).\n");
    race.previous.bound = CSAN_BOUND_OBJECT;
    expect_part(&race, "is bounded (it goes through a texture, surface or tensor map, and which "
                       "part of that one's memory it touches is not known, so all of it is "
                       "taken).\n");
    race.current.bound = CSAN_BOUND_DATA;
    race.previous.bound = CSAN_BOUND_GUARD;
    expect_part(&race,
                "is bounded (which bytes it touches depends on data in memory); the previous");
    expect_in(printed, "is bounded (whether it happens depends on data in memory).\n");
    race.current.bound = CSAN_BOUND_BUDGET;
    race.previous.bound = CSAN_BOUND_ANNOTATED;
    expect_part(&race, "too long to be analysed");
    expect_in(printed, "names what it touches at most");
    race.current.bound = race.previous.bound = CSAN_EXACT;
    expect_part(&race,
                "Race 7 is possible: both accesses are exact, but whether their strides meet "
                "is not decided.\n");
    race.current.level = CSAN_LEVEL_LEARNED;
    expect_part(&race, "Race 7 is possible: the access by stream 94646435460352 is learned (");
    expect_in(printed, "; the previous access by stream 0 is exact; whether their strides meet is "
                       "not decided.\n");
    race.previous.bound = CSAN_BOUND_DATA;
    expect_part(&race, "depends on data in memory).\n");
}

static void what_was_learned_is_not_exact(void **state)
{
    (void)state;
    struct csan_race race = plain_race();
    race.previous.level = CSAN_LEVEL_LEARNED;
    expect_part(&race,
                "Race 1 is certain, if what was learned holds: the access by stream 94646435460352 "
                "is exact; the previous access by stream 0 is learned (earlier launches of the "
                "kernel with such parameters touched this).\n");
    race.previous.level = CSAN_LEVEL_TRACED;
    expect_part(&race, "Race 1 is certain: both accesses are exact.\n");
}

static void overlaps(void **state)
{
    (void)state;
    struct csan_race race = plain_race();
    race.address = race.allocation;
    race.bytes = race.allocation_bytes;
    expect_part(&race, "Overlap: 4096 bytes, 0 to 4095 of the 4096 allocated at 0x7f1200000000.\n");
    race.bytes = 1;
    expect_part(&race, "Overlap: 1 byte, 0 to 0 of");
    race.allocation = race.allocation_bytes = 0;
    expect_part(&race, "Overlap: 1 byte at 0x7f1200000000, in no allocation csan saw.\n");
}

static void kinds_of_race(void **state)
{
    (void)state;
    struct csan_race race = plain_race();
    race.kind = CSAN_RACE_REUSE;
    expect_part(&race,
                "Cause: memory reused while stream 0 still uses it: the pool gave it out "
                "again, to stream 94646435460352.\nFix: give the block back to the pool only "
                "when stream 0 is done with it (record an event on stream 0 after initialize "
                "(/src/app/main.cu:37) and let the pool's stream wait for it), or tell the "
                "pool that stream 0 uses it (record_stream in PyTorch).\n");

    race.kind = CSAN_RACE_BIRTH;
    race.previous.name = "cuMemAllocAsync";
    race.previous.kind = CSAN_ALLOCATE;
    race.previous.arguments = "";
    expect_part(&race, "cuMemAllocAsync\nallocating memory\n");
    expect_in(printed, "Cause: the use is not ordered after the memory's allocation on stream 0.\n"
                       "Fix: record an event on stream 0 after cuMemAllocAsync "
                       "(/src/app/main.cu:37), make stream 94646435460352 wait for it before scale "
                       "(/src/app/main.cu:14).\n");

    race.kind = CSAN_RACE_USE_AFTER_FREE;
    race.previous.name = "cuMemFreeAsync";
    race.previous.kind = CSAN_FREE;
    race.previous.arguments = "";
    expect_part(&race, "Cause: memory used after its stream-ordered free.\nFix: free it only after "
                       "the use: move cuMemFreeAsync (/src/app/main.cu:37) behind scale "
                       "(/src/app/main.cu:14).\n");

    race.kind = CSAN_RACE_FREE; /* the free was enqueued first */
    expect_part(&race,
                "Cause: memory freed by stream 0 while stream 94646435460352 still uses it.\n"
                "Fix: free it only after the use: move cuMemFreeAsync (/src/app/main.cu:37) behind "
                "scale (/src/app/main.cu:14), and make stream 0 wait for stream 94646435460352 "
                "before it.\n");
}

static void the_host_as_a_side(void **state)
{
    (void)state;
    struct csan_race race = plain_race();
    race.kind = CSAN_RACE_FREE;
    race.current.lane = "the host";
    race.current.host = 1;
    race.current.kind = CSAN_FREE;
    race.current.name = "cuMemFree_v2";
    race.current.arguments = "";
    expect_part(&race, "Access by the host during call:\ncuMemFree_v2\nfreeing memory\n");
    expect_in(printed, "Cause: memory freed by the host while stream 0 still uses it.\n"
                       "Fix: synchronize the host with stream 0 after initialize "
                       "(/src/app/main.cu:37), before cuMemFree_v2 (/src/app/main.cu:5).\n");

    race = plain_race();
    race.previous.lane = "the host";
    race.previous.host = 1;
    race.previous.name = "csan_host_writes";
    expect_part(&race, "Previous access by the host during call:\ncsan_host_writes\n");
    expect_in(printed, "Fix: let the host finish csan_host_writes (/src/app/main.cu:37) before "
                       "scale (/src/app/main.cu:14) is enqueued.\n");
}

static void long_kernel_names_are_cut_in_the_advice_only(void **state)
{
    (void)state;
    struct csan_race race = plain_race();
    race.current.name = "_Z4axpy";
    expect_part(&race,
                "\nvoid (anonymous namespace)::math::axpy<double, 4>(double*, int (*)(int))\n");
    expect_in(printed, "before (anonymous namespace)::math::axpy<...> (/src");
}

static void broken_input(void **state)
{
    (void)state;
    struct csan_race race;
    memset(&race, 0, sizeof(race));
    race.kind = 1234;
    race.current.kind = race.previous.kind = 77;
    race.current.bound = -3;
    race.possible = 1;
    expect_part(&race, "Access by an unknown stream during kernel:\n(unknown)\nusing memory\n");
    expect_in(printed, "csan does not know exactly what it touches");
}

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

static size_t occurrences(const char *text, const char *part)
{
    size_t count = 0;
    for (; (text = strstr(text, part)); text++)
        count++;
    return count;
}

/* What the order explains that another race lacks is a line. */
static void a_race_of_another_ones_group(void **state)
{
    (void)state;
    struct csan_race race = plain_race();
    race.number = 2;
    race.previous.sequence = 3;
    race.current.sequence = 7;
    race.group_previous = 3;
    race.group_current = 5;
    options_to_file();
    assert_string_equal(text_of(&race),
                        "csan: race 2, by the same missing order as race 1: scale writing to "
                        "argument(s) p at main /src/app/main.cu:14, not ordered after initialize "
                        "reading from argument(s) p, n at main /src/app/main.cu:37\n");
    race.previous.sequence = 4; /* behind what the first race's event comes after */
    assert_non_null(strstr(text_of(&race), "at main /src/app/main.cu:37; so the event has to be "
                                           "recorded after initialize (/src/app/main.cu:37)\n"));
    race.previous.sequence = 6; /* and behind the wait */
    assert_non_null(strstr(text_of(&race), "at main /src/app/main.cu:37; it needs an event of "
                                           "its own, after initialize (/src/app/main.cu:37) and "
                                           "before scale (/src/app/main.cu:14)\n"));
    race.in_graph = 1;
    assert_non_null(strstr(text_of(&race), "; it needs a dependency of its own, from the node of "
                                           "initialize (/src/app/main.cu:37) to the node of scale "
                                           "(/src/app/main.cu:14)\n"));
}

/* Other streams that the same call enqueued on, with their own bytes. */
static void other_streams(void **state)
{
    (void)state;
    struct csan_race race = plain_race();
    const struct csan_race_also also[] = {
        {.lane = "stream 7", .address = 0x7f1200000000 + 1024, .bytes = 256}};
    race.also = also;
    race.also_count = 1;
    race.also_total = 3;
    expect_part(&race, "The same by stream 7: 256 bytes at 0x7f1200000400, 1024 to 1279 of the "
                       "allocation.\nThe same by 2 more.\n");
    expect_in(printed, "record an event on stream 0, stream 7 and 2 more after initialize");
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

static int scratch_make(void **state)
{
    (void)state;
    strcpy(scratch, "/tmp/csan-report-XXXXXX");
    return mkdtemp(scratch) ? 0 : -1;
}

static int scratch_remove(void **state)
{
    char command[128];
    (void)state;
    snprintf(command, sizeof(command), "rm -rf %s", scratch);
    return system(command);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words),
        cmocka_unit_test(words_of_a_framework),
        cmocka_unit_test(a_device_gets_no_file_beside_it),
        cmocka_unit_test(what_hardware_orders_unpromised),
        cmocka_unit_test(stack_lines),
        cmocka_unit_test(each_stack_is_resolved_once),
        cmocka_unit_test(frames_of_libraries_are_folded),
        cmocka_unit_test(a_variable_is_named),
        cmocka_unit_test(a_kernel_is_told_with_its_definition_and_a_copy_is_a_call),
        cmocka_unit_test(python_words),
        cmocka_unit_test(race_in_one_line),
        cmocka_unit_test(note_with_its_place),
        cmocka_unit_test(kinds_of_access),
        cmocka_unit_test(certain_and_possible),
        cmocka_unit_test(what_was_learned_is_not_exact),
        cmocka_unit_test(overlaps),
        cmocka_unit_test(kinds_of_race),
        cmocka_unit_test(the_host_as_a_side),
        cmocka_unit_test(long_kernel_names_are_cut_in_the_advice_only),
        cmocka_unit_test(broken_input),
        cmocka_unit_test(trouble_is_said),
        cmocka_unit_test(colours),
        cmocka_unit_test(the_limit),
        cmocka_unit_test(lines_below_a_report_use_up_no_limit),
        cmocka_unit_test(a_race_of_another_ones_group),
        cmocka_unit_test(other_streams),
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
