/* Stacks in reports: which frames are shown, and how. */
#include "tests/unit/report/report_case.h"

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
    /* Of nothing but run-time frames all are there: csan's own as those of a library. */
    race.current.frame_count = 2;
    race.current.frames = launch;
    expect_part(&race, "  ... 1 frame of csan (full_stacks=1 shows them)\n"
                       "  #1 cudaMalloc (/cuda/lib64/");
}

/* Each frame costs a question to another process. */
static void each_stack_is_resolved_once(void **state)
{
    (void)state;
    struct csan_race race = plain_race();
    static const void *const created[] = {(void *)STEP};
    race.current.created_frames = created;
    race.current.created_frame_count = 1;
    const size_t all = race.current.frame_count - 1 /* what called main */ +
                       race.previous.frame_count + race.allocation_frame_count +
                       race.current.created_frame_count;
    options_to_file();
    frames_asked = 0;
    text_of(&race);
    assert_int_equal(frames_asked, all);
    strcpy(options.format, "json");
    frames_asked = 0;
    text_of(&race);
    assert_int_equal(frames_asked, all);
}

/* What called main may be in a library whose debug information takes long to read. */
static void callers_of_main_are_not_asked_for(void **state)
{
    (void)state;
    struct csan_race race = plain_race();
    static const void *const frames[] = {(void *)STEP, (void *)INLINED, (void *)10, (void *)10};
    race.current.frames = race.previous.frames = frames;
    race.current.frame_count = 4;
    race.previous.frame_count = 1;
    race.allocation_frame_count = 0;
    options_to_file();
    frames_asked = 0;
    expect_in(text_of(&race), "  #2 main /src/app/main.cu:14\nPrevious access");
    assert_int_equal(frames_asked, 2 + 1);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stack_lines),
        cmocka_unit_test(each_stack_is_resolved_once),
        cmocka_unit_test(callers_of_main_are_not_asked_for),
        cmocka_unit_test(frames_of_libraries_are_folded),
        cmocka_unit_test(python_words),
        cmocka_unit_test(note_with_its_place),
    };
    return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}
