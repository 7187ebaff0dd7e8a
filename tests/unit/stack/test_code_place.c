/* Places of the program as numbers: the same wherever the loader puts things, and different where
 * the calls are. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "csan/stack/code_place.h"
#include "csan/stack/stack_source.h"
#include <execinfo.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- made up: an application and a library, mapped somewhere */

static struct module_map mapped(uint64_t application, uint64_t library, const char *library_path)
{
    struct module_map map = {0};
    struct module modules[] = {
        {.start = application,
         .bytes = 0x10000,
         .bias = application,
         .path = "/home/somebody/app",
         .build_id = {1, 2, 3, 4},
         .build_id_bytes = 4},
        {.start = library, .bytes = 0x10000, .bias = library, .path = (char *)library_path}};
    assert_true(module_map_add(&map, &modules[0]));
    assert_true(module_map_add(&map, &modules[1]));
    return map;
}

static const void *at(uint64_t address)
{
    return (const void *)(uintptr_t)address;
}

static void the_same_wherever_it_lies(void **state)
{
    (void)state;
    struct module_map one = mapped(0x10000000, 0x20000000, "/usr/lib/libx.so");
    struct module_map other = mapped(0x50000000, 0x30000000, "/opt/lib/libx.so");
    const void *in_one[] = {at(0x10000100), at(0x20000200)};
    const void *in_other[] = {at(0x50000100), at(0x30000200)};
    assert_true(code_place(&one, in_one, 2) != 0);
    assert_true(code_place(&one, in_one, 2) == code_place(&other, in_other, 2));
    module_map_clear(&one);
    module_map_clear(&other);
}

static void another_call_is_another_place(void **state)
{
    (void)state;
    struct module_map map = mapped(0x10000000, 0x20000000, "/usr/lib/libx.so");
    const void *call[] = {at(0x10000100), at(0x20000200)};
    const void *elsewhere[] = {at(0x10000108), at(0x20000200)};
    const void *from_elsewhere[] = {at(0x10000100), at(0x20000208)};
    const void *turned[] = {at(0x20000200), at(0x10000100)};
    const uint64_t place = code_place(&map, call, 2);
    assert_true(place != code_place(&map, elsewhere, 2));
    assert_true(place != code_place(&map, from_elsewhere, 2));
    assert_true(place != code_place(&map, turned, 2));
    assert_true(place != code_place(&map, call, 1));
    module_map_clear(&map);
}

static void code_in_no_object_counts_as_a_frame(void **state)
{
    (void)state;
    struct module_map map = mapped(0x10000000, 0x20000000, "/usr/lib/libx.so");
    const void *call[] = {at(0x70000100), at(0x10000100)};
    const void *again[] = {at(0x71000180), at(0x10000100)};
    const void *without[] = {at(0x10000100)};
    assert_true(code_place(&map, call, 2) == code_place(&map, again, 2));
    assert_true(code_place(&map, call, 2) != code_place(&map, without, 1));
    module_map_clear(&map);
}

static void a_stack_cut_off_is_the_same(void **state)
{
    const void *frames[64];
    (void)state;
    struct module_map map = mapped(0x10000000, 0x20000000, "/usr/lib/libx.so");
    for (int i = 0; i < 64; i++)
        frames[i] = at(0x10000100 + 8 * (uint64_t)i);
    const uint64_t place = code_place(&map, frames, 64);
    assert_true(place == code_place(&map, frames, CODE_PLACE_FRAMES));
    assert_true(place != code_place(&map, frames, CODE_PLACE_FRAMES - 1));
    assert_true(code_place(&map, frames, 0) == 0);
    module_map_clear(&map);
}

/* ---- of an interpreted language */

static unsigned line_of_frame = 7;

static size_t capture_nothing(const void **frames, size_t capacity, int locked)
{
    (void)frames;
    (void)capacity;
    (void)locked;
    return 0;
}

static int describe(const void *frame, struct csan_source_line *line)
{
    (void)frame;
    *line =
        (struct csan_source_line){.file = "train.py", .function = "step", .line = line_of_frame};
    return 1;
}

static void a_script_by_file_and_line(void **state)
{
    static const struct csan_stack_source source = {sizeof source, capture_nothing, describe, 0};
    const void *one[] = {at(UINT64_C(1) << 63 | 0x1000)};
    const void *other[] = {at(UINT64_C(1) << 63 | 0x2000)};
    (void)state;
    stack_source_set(&source);
    const uint64_t place = code_place(NULL, one, 1);
    assert_true(place == code_place(NULL, other, 1));
    line_of_frame = 8;
    assert_true(place != code_place(NULL, one, 1));
    stack_source_set(NULL);
}

/* ---- this program itself, run anew with its addresses randomised and not */

__attribute__((noinline)) static int print_place(void)
{
    void *frames[4];
    int count = backtrace(frames, 4);
    printf("%016llx\n", (unsigned long long)code_place(NULL, (const void *const *)frames,
                                                       count < 3 ? (size_t)count : 3));
    return 0;
}

static void run_self(int randomised, char *line, int bytes)
{
    char command[512], self[256];
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    assert_true(length > 0);
    self[length] = '\0';
    snprintf(command, sizeof command, "%s '%s' --place", randomised ? "" : "setarch -R", self);
    FILE *pipe = popen(command, "r");
    assert_non_null(pipe);
    assert_non_null(fgets(line, bytes, pipe));
    assert_int_equal(pclose(pipe), 0);
}

static void the_same_in_every_run(void **state)
{
    char fixed[32], randomised[32], again[32];
    (void)state;
    run_self(0, fixed, sizeof fixed);
    run_self(1, randomised, sizeof randomised);
    run_self(1, again, sizeof again);
    assert_string_equal(fixed, randomised);
    assert_string_equal(randomised, again);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_same_wherever_it_lies),
        cmocka_unit_test(another_call_is_another_place),
        cmocka_unit_test(code_in_no_object_counts_as_a_frame),
        cmocka_unit_test(a_stack_cut_off_is_the_same),
        cmocka_unit_test(a_script_by_file_and_line),
        cmocka_unit_test(the_same_in_every_run),
    };
    if (argc > 1 && strcmp(argv[1], "--place") == 0)
        return print_place();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
