/* The stack of a Python program as text: what of its native part is shown. And names of C++ without
 * what nobody reads. */
#include "csan/stack/script_text.h"
#include "csan/stack/stack_source.h"
#include "csan/stack/stack_frames.h"
#include "csan/stack/symbolizer.h"
#include "csan/base/text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <string.h>

#define SCRIPT(n) ((const void *)(uintptr_t)((uint64_t)1 << 63 | (n)))

/* By address; those of the driver and of what calls it for Python are there to be left out. */
static const struct symbol_frame symbols[] = {
    {.function = "cuLaunchKernel", .module = "/usr/lib/libcuda.so.1"},
    {.module = "/lib/site-packages/cuda/bindings/cydriver.so"},
    {.module = "/usr/lib/python3.11/lib-dynload/_ctypes.cpython-311.so"},
    {.function = "ffi_call", .module = "/usr/lib/libffi.so.8"},
    {.module = "/work/extension.so"},
    {.function = "step(int)", .file = "/work/step.cu", .line = 7, .module = "/work/extension.so"},
    {.module = "/work/other.so"},
    {.function = "run",
     .file = "run.c",
     .line = 3,
     .module = "/work/libffi-bench/cuda/bindings/train"},
    {.function = "jit", .file = "/build/jit.c", .line = 5, .module = "/lib/site-packages/jit.so"},
};
enum { DRIVER, BINDINGS, CTYPES, FFI, EXTENSION, STEP, OTHER, TRAIN, JIT };

static void symbol_frames(struct symbolizer *symbolizer, const void *const *frames, size_t count,
                          symbolizer_visit *visit, void *user)
{
    (void)symbolizer;
    for (size_t i = 0; i < count; i++)
        visit(user, i, &symbols[(uintptr_t)frames[i] - 1]);
}

static size_t capture(const void **frames, size_t capacity, int locked)
{
    (void)frames, (void)capacity, (void)locked;
    return 0;
}

enum { PACKAGE = 9 };

static int describe(const void *frame, struct csan_source_line *line)
{
    unsigned number = (unsigned)((uintptr_t)frame & 0xff);
    *line = (struct csan_source_line){
        number == PACKAGE ? "/lib/site-packages/jit.py" : "/nowhere/app.py", "main", number};
    return 1;
}

#define NATIVE(n) ((const void *)(uintptr_t)((n) + 1))

static void is_text(const void *const *frames, size_t count, const char *expected)
{
    static const struct csan_stack_source source = {sizeof source, capture, describe, 0};
    struct symbolizer symbolizer = {.frames = symbol_frames};
    struct stack_style style = {&symbolizer, "", ""};
    struct text text = {0};
    char place[64];
    stack_source_set(&source);
    script_text_add(&text, &style, frames, count);
    script_text_place(&style, frames, count, place, sizeof place);
    assert_string_equal(text.data, expected);
    assert_string_equal(place, "/nowhere/app.py:2");
    text_free(&text);
    stack_source_set(NULL);
}

static void what_only_hands_on_is_left_out(void **state)
{
    (void)state;
    const void *const frames[] = {NATIVE(DRIVER), NATIVE(BINDINGS), NATIVE(FFI),
                                  NATIVE(CTYPES), SCRIPT(2),        SCRIPT(1)};
    is_text(frames, 6,
            "  File \"/nowhere/app.py\", line 1, in main\n"
            "  File \"/nowhere/app.py\", line 2, in main\n");
}

static void a_program_of_such_a_name_is_shown(void **state)
{
    (void)state;
    const void *const frames[] = {NATIVE(TRAIN), SCRIPT(2)};
    is_text(frames, 2,
            "  File \"/nowhere/app.py\", line 2, in main\n"
            "  Native run (run.c:3)\n");
}

static void an_extension_is_shown_and_where_nothing_is_known_once(void **state)
{
    (void)state;
    const void *const frames[] = {NATIVE(DRIVER),    NATIVE(EXTENSION), NATIVE(EXTENSION),
                                  NATIVE(EXTENSION), NATIVE(STEP),      NATIVE(EXTENSION),
                                  NATIVE(OTHER),     SCRIPT(2)};
    is_text(frames, 8,
            "  File \"/nowhere/app.py\", line 2, in main\n"
            "  Native ?? (/work/other.so)\n"
            "  Native ?? (/work/extension.so)\n"
            "  Native step(int) (/work/step.cu:7)\n"
            "  Native ?? (/work/extension.so)\n");
}

static void is_top(const void *const *frames, size_t count, const char *expected)
{
    static const struct csan_stack_source source = {sizeof source, capture, describe, 0};
    struct symbolizer symbolizer = {.frames = symbol_frames};
    struct stack_style style = {&symbolizer, "", ""};
    struct stack_frames stack;
    char place[64];
    stack_source_set(&source);
    stack_frames_resolve(&stack, &style, frames, count, "");
    stack_frame_place(stack_frames_top(&stack), place, sizeof place);
    assert_string_equal(place, expected);
    stack_frames_free(&stack);
    stack_source_set(NULL);
}

static void tools_are_led_to_the_programs_own_line(void **state)
{
    (void)state;
    const void *const frames[] = {NATIVE(EXTENSION), NATIVE(STEP), SCRIPT(PACKAGE), SCRIPT(4),
                                  SCRIPT(5)};
    struct stack_frames none = {0};
    const void *const package[] = {NATIVE(JIT), NATIVE(EXTENSION), SCRIPT(PACKAGE), SCRIPT(4),
                                   SCRIPT(5)};
    is_top(frames, 5, "/work/step.cu:7");
    is_top(package, 5, "/nowhere/app.py:4");
    is_top(package, 3, "/lib/site-packages/jit.py:9");
    is_top(package, 2, "/build/jit.c:5");
    is_top(frames, 2, "/work/step.cu:7");
    is_top(frames, 1, "/work/extension.so+0x0");
    assert_null(stack_frames_top(&none));
}

static void names_lose_their_tags(void **state)
{
    (void)state;
    char numba[] = "__main__::twice[abi:v2][abi:cw51cXTL](Array<float, 1>)";
    char plain[] = "f<int [3]>(int [3])", broken[] = "f[abi:x";
    text_drop_tags(numba);
    assert_string_equal(numba, "__main__::twice(Array<float, 1>)");
    text_drop_tags(plain);
    assert_string_equal(plain, "f<int [3]>(int [3])");
    text_drop_tags(broken);
    assert_string_equal(broken, "f[abi:x");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_only_hands_on_is_left_out),
        cmocka_unit_test(a_program_of_such_a_name_is_shown),
        cmocka_unit_test(an_extension_is_shown_and_where_nothing_is_known_once),
        cmocka_unit_test(tools_are_led_to_the_programs_own_line),
        cmocka_unit_test(names_lose_their_tags),
    };
    return cmocka_run_group_tests_name("script_text", tests, NULL, NULL);
}
