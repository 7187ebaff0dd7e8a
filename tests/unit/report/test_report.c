/* The text of reports, word by word. */
#include "tests/unit/report/report_case.h"

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

static void an_object_is_destroyed_and_not_freed(void **state)
{
    (void)state;
    struct csan_race race = plain_race();
    race.kind = CSAN_RACE_FREE;
    race.current.kind = CSAN_FREE;
    race.object = "texture object";
    race.allocation_bytes = 1;
    options_to_file();
    expect_in(text_of(&race), " before the destruction of the texture object created at ");
    expect_in(printed, "Cause: texture object destroyed by ");
    expect_in(printed, "destroying the texture object\n");
    expect_in(printed, "using the texture object\n");
    expect_in(printed, "The texture object was created with stack trace:\n");
    assert_null(strstr(printed, "memory"));
    assert_null(strstr(printed, "Overlap"));
    race.kind = CSAN_RACE_USE_AFTER_FREE;
    race.current.kind = CSAN_READ;
    race.previous.kind = CSAN_FREE;
    expect_in(text_of(&race), " uses the texture object created at ");
    expect_in(printed, " destroyed it\n");
    expect_in(printed, "Cause: texture object used after it was destroyed");
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

static void a_kernel_is_named_with_its_definition_and_a_copy_is_a_call(void **state)
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
                "Race 7 is possible: both accesses are exact, but whether their strides overlap "
                "is not decided.\n");
    race.current.level = CSAN_LEVEL_LEARNED;
    expect_part(&race, "Race 7 is possible: the access by stream 94646435460352 is learned (");
    expect_in(printed,
              "; the previous access by stream 0 is exact; whether their strides overlap is "
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

/* What to do where the kernel is known, and where only the call is that returned its error. */
static void kernels_that_failed(void **state)
{
    (void)state;
    struct csan_error error = {.exception = "misaligned memory access", .detail = ""};
    struct csan_race race = plain_race();
    race.kind = CSAN_RACE_DEVICE_EXCEPTION;
    race.error = &error;
    race.previous = (struct csan_race_access){.lane = "the host", .name = ""};
    expect_part(&race, "CSAN: misaligned memory access in scale (");
    expect_in(printed, "Cause: the address is no multiple of 256, the size of the access.\n"
                       "Fix: use an address that is a multiple of the size of the access.\n");
    error.exception = "illegal memory access";
    race.bytes = 0;
    expect_part(&race, "Fix: look at what the kernel does in that line.\n");
    error.has_thread = 1;
    expect_part(&race, "Fix: look at what that thread does in that line.\n");
    error.has_thread = 0;
    race.current.level = CSAN_LEVEL_LIBRARY;
    expect_part(&race, "CSAN: illegal memory access in a kernel launched before ");
    expect_in(printed, "Cause: the call returned the error of a kernel that had failed before it.\n"
                       "Fix: find out which kernel it was: run the program again with "
                       "--options=access=ptx, or with --blocking.\n");
}

/* What is known of no memory is still known of the exception. */
static void exceptions_of_kernels(void **state)
{
    (void)state;
    static const struct {
        const char *words, *cause, *fix;
    } exceptions[] = {
        {"trap", "Cause: the kernel gave up on purpose", "Fix: find the check in that line"},
        {"failed assert", "Cause: the assertion does not hold", "Fix: find out where the values"},
        {"stack overflow: calls nest too deep", "Cause: the calls in that thread need more stack",
         "cudaLimitStackSize"},
        {"shared or local memory access out of range",
         "Cause: the address is outside of the block's", "what the launch asks for.\n"},
        {"deadlock: every thread waits for another at a barrier", "never come to the barrier",
         "Fix: call __syncthreads() where all threads"},
        {"illegal memory access", "Cause: the pointer is null, and the access lies 8 bytes behind",
         "Fix: find out why that pointer is not set"},
    };
    struct csan_error error = {.detail = "", .has_thread = 1};
    struct csan_race race = plain_race();
    race.kind = CSAN_RACE_DEVICE_EXCEPTION;
    race.error = &error;
    race.previous = (struct csan_race_access){.lane = "the host", .name = ""};
    race.address = 8;
    for (size_t i = 0; i < sizeof exceptions / sizeof *exceptions; i++) {
        error.exception = exceptions[i].words;
        expect_part(&race, exceptions[i].cause);
        expect_in(printed, exceptions[i].fix);
    }
    race.address = 0;
    expect_part(&race, "Cause: the pointer is null.\n");
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
    race.current.frames = race.previous.frames; /* without the runtime API's function */
    race.current.frame_count = race.previous.frame_count;
    expect_part(&race, "Access by the host during call:\ncuMemFree_v2\nfreeing memory\n");
    expect_in(printed, "Cause: memory freed by the host while stream 0 still uses it.\n"
                       "Fix: synchronize the host with stream 0 after initialize "
                       "(/src/app/main.cu:37), before cuMemFree_v2 (/src/app/main.cu:37).\n");

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words),
        cmocka_unit_test(words_of_a_framework),
        cmocka_unit_test(a_device_gets_no_file_beside_it),
        cmocka_unit_test(what_hardware_orders_unpromised),
        cmocka_unit_test(a_variable_is_named),
        cmocka_unit_test(an_object_is_destroyed_and_not_freed),
        cmocka_unit_test(a_kernel_is_named_with_its_definition_and_a_copy_is_a_call),
        cmocka_unit_test(race_in_one_line),
        cmocka_unit_test(kinds_of_access),
        cmocka_unit_test(certain_and_possible),
        cmocka_unit_test(what_was_learned_is_not_exact),
        cmocka_unit_test(overlaps),
        cmocka_unit_test(kernels_that_failed),
        cmocka_unit_test(exceptions_of_kernels),
        cmocka_unit_test(kinds_of_race),
        cmocka_unit_test(the_host_as_a_side),
        cmocka_unit_test(long_kernel_names_are_cut_in_the_advice_only),
        cmocka_unit_test(broken_input),
        cmocka_unit_test(a_race_of_another_ones_group),
        cmocka_unit_test(other_streams),
    };
    return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}
