/* Damaged and hostile PTX: the parser answers with a module or an error, never with a crash, a hang
 * or memory without bound. Run under SANITIZE=1 to see the quiet ones. */
#include "tests/unit/ptx/test_ptx.h"

static const char *const files[] = {"cooperative.sm_90.ptx", "language.sm_100.ptx",
                                    "language.lines.ptx"};
enum { FILES = sizeof files / sizeof *files, STEP = 97 };

/* The last of its kernels by itself. */
static void parse_kernel(const char *text, size_t bytes)
{
    struct ptx_error error;
    struct outline *outline = outline_read(text, bytes);
    if (outline && outline->count)
        ptx_module_release(ptx_parse_kernel(text, bytes, outline, outline->count - 1, &error));
    free(outline);
}

/* Parses exactly these bytes from memory that ends with them. */
static bool parses(const char *text, size_t bytes)
{
    struct ptx_error error;
    char *copy = malloc(bytes ? bytes : 1);
    if (bytes)
        memcpy(copy, text, bytes);
    struct ptx_module *module = ptx_parse(copy, bytes, &error);
    parse_kernel(copy, bytes);
    free(copy);
    if (!module) {
        assert_true(error.message[0] != 0);
        assert_null(strchr(error.message, '\n'));
    }
    ptx_module_release(module);
    return module != NULL;
}

/* The corpus is long, and each cut parses all of it: cuts grow rarer towards the end. */
static void truncated(void **state)
{
    (void)state;
    for (int f = 0; f < FILES; f++) {
        size_t bytes;
        char *text = data_read(files[f], &bytes);
        for (size_t cut = 0; cut < bytes; cut += cut < 3000 ? 13 : STEP * 3)
            parses(text, cut);
        assert_true(parses(text, bytes));
        free(text);
    }
}

static void mutated(void **state)
{
    (void)state;
    static const char poison[] = "{}()[];,.<>@|%$\"+-*/!=:_0f9xUaz \n\t\\\x01\xff";
    uint32_t seed = 12345, failures = 0, tries = 0;
    for (int f = 0; f < FILES; f++) {
        size_t bytes;
        char *text = data_read(files[f], &bytes);
        for (size_t at = f; at < bytes; at += STEP * 2) {
            char saved = text[at];
            seed = seed * 1664525u + 1013904223u;
            text[at] = poison[(seed >> 8) % (sizeof poison - 1)];
            failures += !parses(text, bytes);
            tries++;
            text[at] = saved;
        }
        free(text);
    }
    assert_true(failures > tries / 10);
}

/* Whole tokens moved, doubled and dropped: damage that stays well-formed for longer. */
static void shuffled_lines(void **state)
{
    (void)state;
    size_t bytes;
    char *text = data_read("language.sm_100.ptx", &bytes);
    char *copy = malloc(2 * bytes + 1);
    uint32_t seed = 99;
    for (int round = 0; round < 150; round++) {
        size_t length = 0;
        for (size_t at = 0; at < bytes;) {
            size_t line = strcspn(text + at, "\n") + 1;
            if (at + line > bytes)
                line = bytes - at;
            seed = seed * 1664525u + 1013904223u;
            uint32_t choice = (seed >> 8) % 400;
            for (int times = choice == 0 ? 0 : choice == 1 ? 2 : 1; times > 0; times--) {
                memcpy(copy + length, text + at, line);
                length += line;
            }
            at += line;
            if (length > 2 * bytes - 500)
                break;
        }
        parses(copy, length);
    }
    free(copy);
    free(text);
}

/* `head`, then `unit` `count` times, then `tail` */
static void assert_survives(const char *head, const char *unit, size_t count, const char *tail)
{
    size_t bytes = strlen(HEAD) + strlen(head) + count * strlen(unit) + strlen(tail);
    char *text = malloc(bytes + 1), *end = text;
    end = stpcpy(stpcpy(end, HEAD), head);
    for (size_t i = 0; i < count; i++)
        end = stpcpy(end, unit);
    stpcpy(end, tail);
    parses(text, bytes);
    free(text);
}

static void nesting_without_end(void **state)
{
    (void)state;
    enum { DEEP = 1000000 };
    const char *k = ".entry k() { .reg .b32 %r<9>; .reg .pred %p<9>;";
    assert_survives(k, "{", DEEP, "");
    assert_survives(k, "{ L: bra M;", 200, "");
    assert_survives(".global .b8 x = ", "(", DEEP, "1");
    assert_survives(".global .b8 x = ", "-", DEEP, "1;");
    assert_survives(".global .b8 x = ", "1?", DEEP, "1;");
    assert_survives(".global .b8 x = ", "1?1:", DEEP, "1;");
    assert_survives(".global .b8 x = ", "1+", DEEP, "1;");
    assert_survives(".global .b8 x = ", "(.u64)", DEEP, "1;");
    assert_survives(".global .b8 x[] = ", "{", DEEP, "1");
    assert_survives(".global .b8 x", "[1]", DEEP, ";");
    assert_survives(".entry k() { .reg .b32 %r<9>; mov.b32 %r1, ", "{", DEEP, "");
    assert_survives(".entry k() { .reg .b32 %r<9>; mov.b32 %r1, ", "[", DEEP, "");
    assert_survives(".entry k() { .reg .b32 %r<9>; tex [%r1", ",[%r1", DEEP, "");
    assert_survives(".section .debug ", "{", DEEP, "");
    assert_survives(".global .attribute(", "(", DEEP, "");
    assert_survives("", "/*", DEEP, "");
    assert_survives("\"", "\\", DEEP, "");
}

static void long_lists(void **state)
{
    (void)state;
    enum { MANY = 200000 };
    assert_survives(".entry k() { .reg .b32 %r<9>; mov.b32 ", "%r1,", MANY, "%r1; ret; }");
    assert_survives(".entry k() { .reg .b32 %r<9>; mov.b32 %r1, {", "%r1,", MANY, "%r1}; }");
    assert_survives(".entry k(", ".param .u64 a,", MANY, ".param .u64 b) { ret; }");
    assert_survives(".entry k(", ".param .align 8 .b8 a[1000000],", 100, ".param .u64 b) { }");
    assert_survives(".entry k() { add", ".s32", MANY, "; }");
    assert_survives(".entry k() { .reg .b32 ", "%a<16777216>, ", 1, "%b<16777216>; }");
    assert_survives("", ".global .b8 x[1000000000000];", MANY / 10, "");
    assert_survives(".global .b8 x[268435456] = {", "1,", MANY, "1};");
    assert_survives(".global .b8 x[268435457] = {", "1,", 3, "1};");
    assert_survives(".entry k() {", "L:", MANY, "}");
    assert_survives(".entry k() { ts: .branchtargets ", "L,", MANY, "L; L: ret; }");
    assert_survives(".target ", "sm_90,", MANY, "debug");
    assert_survives(".entry k() { call (", "_,", MANY, "_), k; }");
    assert_survives(".func f", "", 0, " .noreturn");
    assert_survives(".alias f, g;", "", 0, "");
    assert_survives(".func f; .alias f, f;", "", 0, "");
    assert_survives(".entry k() { .loc 99999999999 1 1, function_name x+", "", 0, "");
}

static void no_text_at_all(void **state)
{
    (void)state;
    assert_false(parses("", 0));
    assert_false(parses("\0\0\0", 3));
    assert_false(parses(".", 1));
    assert_false(parses(".version", 8));
    assert_true(parses(".version 9.0\0.garbage", 22)); /* a NUL ends the text */
    assert_null(ptx_parse("x", 1, NULL));              /* no place for the error */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(truncated),      cmocka_unit_test(mutated),
        cmocka_unit_test(shuffled_lines), cmocka_unit_test(nesting_without_end),
        cmocka_unit_test(long_lists),     cmocka_unit_test(no_text_at_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
