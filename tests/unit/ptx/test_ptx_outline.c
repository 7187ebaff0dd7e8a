/* Where kernels lie in a PTX text, and one of them read without the others. */
#include "tests/unit/ptx/test_ptx.h"

#include "runtime/ptx/outline.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

static struct outline *outlined(const char *text)
{
    struct outline *outline = outline_read(text, strlen(text));
    assert_non_null(outline);
    return outline;
}

static void assert_kernel(const struct outline *outline, size_t index, const char *name,
                          const char *text)
{
    const struct outline_kernel *kernel = &outline->kernels[index];
    assert_true(index < outline->count);
    assert_int_equal(kernel->name_length, strlen(name));
    assert_memory_equal(kernel->name, name, strlen(name));
    assert_int_equal(kernel->text.end - kernel->text.begin, strlen(text));
    assert_memory_equal(kernel->text.begin, text, strlen(text));
    uint32_t lines = 0;
    for (const char *at = text; *at; at++)
        lines += *at == '\n';
    assert_int_equal(kernel->text.lines, lines);
    assert_int_equal(outline_find(outline, name), index);
}

static void kernels_lie_where_they_are_defined(void **state)
{
    (void)state;
#define FIRST  ".visible .entry first(\n.param .u64 p\n)\n.maxntid 128, 1, 1\n{ { ret; } }"
#define SECOND ".entry second()\n{\nret;\n}"
#define THIRD  ".weak .entry .attribute(.unified(0x1, 0x2)) third () { ret; }"
    struct outline *outline =
        outlined(HEAD ".file 1 \"a.cu\"\n.global .align 4 .b8 words[4] = {1, 2, 3, 4};\n.func "
                      "helper(.param .b32 q)"
                      "\n{ ret; }\n.extern .entry outside();\n" FIRST "\n\n" SECOND
                      ".visible .func (.reg .b32 r) entry() { ret; }" THIRD
                      ".section .debug_info { .b8 1 }\n.global .u32 after;");
    assert_int_equal(outline->count, 3);
    assert_kernel(outline, 0, "first", FIRST);
    assert_kernel(outline, 1, "second", SECOND);
    assert_kernel(outline, 2, "third", THIRD);
    assert_int_equal(outline_find(outline, "outside"), 3);
    assert_int_equal(outline_find(outline, "secon"), 3);
    free(outline);
}

static void comments_and_strings_have_no_braces(void **state)
{
    (void)state;
#define FULL ".entry full()\n{ // }\n/* } \" */ .pragma \"}\\\"}\"; /**/ div.s32 %r1, %r2, %r3; / }"
    struct outline *outline =
        outlined(HEAD "// .entry no() {\n/* .entry no() { } */\n.pragma \".entry no() {\";\n" FULL
                      " .entry last() { ret; } // {");
    assert_int_equal(outline->count, 2);
    assert_kernel(outline, 0, "full", FULL);
    assert_kernel(outline, 1, "last", ".entry last() { ret; }");
    free(outline);
}

/* A declaration without its ';' is none of the next one's definition; a pragma's is not the head's.
 */
static void heads_end_where_the_next_begins(void **state)
{
    (void)state;
#define PRAGMA ".entry a()\n.pragma \"nounroll\";\n{ ret; }"
    struct outline *outline =
        outlined(HEAD ".extern .entry outside()\n.func helper() { ret; }\n"
                      ".extern .entry more()\n.global .u32 w[1] = {1};\n" PRAGMA
                      ".pragma \"x\"; .entry b() { ret; }");
    assert_int_equal(outline->count, 2);
    assert_kernel(outline, 0, "a", PRAGMA);
    assert_kernel(outline, 1, "b", ".entry b() { ret; }");
    free(outline);
}

static void bytes_outside_of_kernels_are_counted(void **state)
{
    (void)state;
    static const char text[] = ".global .u32 w;" FIRST SECOND;
    struct outline *outline = outline_read(text, sizeof text);
    assert_int_equal(outline->outside, strlen(".global .u32 w;"));
    free(outline);
}

static void nothing_is_known_where_braces_do_not_match(void **state)
{
    (void)state;
    static const char *const texts[] = {".entry k() {",      ".entry k() { { }",
                                        ".entry k() { /* }", ".entry k() { \" }",
                                        ".entry k() { // }", "{"};
    for (size_t i = 0; i < COUNT(texts); i++)
        assert_null(outline_read(texts[i], strlen(texts[i])));
    struct outline *outline = outlined("} .entry k() ; { }");
    assert_int_equal(outline->count, 0);
    free(outline);
    outline = outline_read(".entry a() { } \0 .entry b() { }", 32);
    assert_int_equal(outline->count, 1);
    free(outline);
    outline = outlined("");
    assert_int_equal(outline->count, 0);
    free(outline);
}

static void assert_same(const struct ptx_function *a, const struct ptx_function *b)
{
    assert_string_equal(a->name, b->name);
    assert_int_equal(a->linkage, b->linkage);
    assert_true(a->is_entry && b->is_entry && !b->is_prototype);
    assert_int_equal(a->param_count, b->param_count);
    for (uint32_t i = 0; i < a->param_count; i++) {
        assert_int_equal(a->params[i].offset, b->params[i].offset);
        assert_int_equal(a->params[i].size, b->params[i].size);
    }
    assert_int_equal(a->register_count, b->register_count);
    assert_int_equal(a->block_count, b->block_count);
    assert_int_equal(a->instruction_count, b->instruction_count);
    for (uint32_t i = 0; i < a->instruction_count; i++) {
        assert_int_equal(a->instructions[i].line, b->instructions[i].line);
        assert_int_equal(a->instructions[i].opcode, b->instructions[i].opcode);
        assert_int_equal(a->instructions[i].guard, b->instructions[i].guard);
        assert_string_equal(a->instructions[i].mnemonic, b->instructions[i].mnemonic);
        assert_int_equal(a->instructions[i].operand_count, b->instructions[i].operand_count);
        for (uint32_t k = 0; k < a->instructions[i].operand_count; k++) {
            const struct ptx_operand *one = &a->instructions[i].operands[k],
                                     *other = &b->instructions[i].operands[k];
            assert_int_equal(one->kind, other->kind);
            assert_int_equal(one->reg, other->reg);
            assert_int_equal(!one->variable, !other->variable);
            if (one->variable && other->variable)
                assert_string_equal(one->variable->name, other->variable->name);
        }
    }
}

static void a_kernel_by_itself_is_as_among_others(void **state)
{
    (void)state;
    static const char *const corpus[] = {"language.sm_75.ptx", "cooperative.sm_90.ptx",
                                         "library.sm_100.ptx", "language.debug.ptx",
                                         "language.lines.ptx"};
    size_t kernels = 0;
    for (size_t c = 0; c < COUNT(corpus); c++) {
        size_t bytes;
        char *text = data_read(corpus[c], &bytes);
        struct ptx_module *whole = parse_text(text);
        struct outline *outline = outlined(text);
        size_t defined = 0;
        for (uint32_t i = 0; i < whole->function_count; i++)
            defined += whole->functions[i]->is_entry && !whole->functions[i]->is_prototype;
        assert_int_equal(outline->count, defined);
        for (size_t i = 0; i < outline->count; i++) {
            struct ptx_error error;
            struct ptx_module *one = ptx_parse_kernel(text, bytes, outline, i, &error);
            char name[1000];
            snprintf(name, sizeof name, "%.*s", (int)outline->kernels[i].name_length,
                     outline->kernels[i].name);
            if (!one) /* it launches another */
                continue;
            kernels++;
            assert_true(one->variable_count <= whole->variable_count);
            assert_true(one->function_count < whole->function_count);
            assert_same(ptx_module_function(whole, name), ptx_module_function(one, name));
            ptx_module_release(one);
        }
        free(outline);
        ptx_module_release(whole);
        free(text);
    }
    assert_true(kernels > 40);
}

static void errors_are_where_the_text_has_them(void **state)
{
    (void)state;
    static const char text[] = HEAD ".entry a()\n{\nret;\n}\n.entry b() {\n[;\n}\n\n"
                                    ".entry c()\n{ ret; }\n.entry d() { ret; ]\n}";
    struct outline *outline = outlined(text);
    static const uint32_t lines[] = {0, 9, 0, 14};
    assert_int_equal(outline->count, COUNT(lines));
    for (size_t i = 0; i < COUNT(lines); i++) {
        struct ptx_error error;
        struct ptx_module *module = ptx_parse_kernel(text, sizeof text - 1, outline, i, &error);
        assert_int_equal(!module, lines[i] != 0);
        if (!module)
            assert_int_equal(error.line, lines[i]);
        ptx_module_release(module);
    }
    free(outline);
}

static void a_kernel_that_names_another_is_not_read_by_itself(void **state)
{
    (void)state;
    static const char text[] =
        HEAD ".entry child() { ret; }\n.entry parent()\n{ .reg .b64 %rd<2>;\n"
             "mov.u64 %rd1, child;\nret; }";
    struct outline *outline = outlined(text);
    struct ptx_error error;
    assert_null(ptx_parse_kernel(text, sizeof text - 1, outline, 1, &error));
    struct ptx_module *child = ptx_parse_kernel(text, sizeof text - 1, outline, 0, &error);
    assert_non_null(child);
    assert_int_equal(child->function_count, 1);
    ptx_module_release(child);
    free(outline);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kernels_lie_where_they_are_defined),
        cmocka_unit_test(comments_and_strings_have_no_braces),
        cmocka_unit_test(heads_end_where_the_next_begins),
        cmocka_unit_test(bytes_outside_of_kernels_are_counted),
        cmocka_unit_test(nothing_is_known_where_braces_do_not_match),
        cmocka_unit_test(a_kernel_by_itself_is_as_among_others),
        cmocka_unit_test(errors_are_where_the_text_has_them),
        cmocka_unit_test(a_kernel_that_names_another_is_not_read_by_itself),
    };
    return cmocka_run_group_tests_name("ptx_outline", tests, NULL, NULL);
}
