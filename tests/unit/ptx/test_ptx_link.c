/* The PTX linker: real units of -rdc=true, and the rules of precedence. */
#include "tests/unit/ptx/test_ptx.h"

#include "runtime/ptx/fatbin.h"

static struct ptx_module *link_texts(const char *const *texts, size_t count,
                                     struct ptx_error *error)
{
    struct ptx_module *units[4] = {NULL};
    for (size_t i = 0; i < count; i++)
        units[i] = parse_text(texts[i]);
    struct ptx_module *first = ptx_link((const struct ptx_module *const *)units, count, error);
    struct ptx_module *linked = ptx_link_taking(units, count, error);
    assert_int_equal(first != NULL, linked != NULL);
    if (first)
        ptx_module_release(first);
    for (size_t i = 0; i < count; i++)
        assert_null(units[i]); /* the linked module must need none of it */
    return linked;
}

/* Every pointer of the module leads to something the module itself lists. */
static void assert_closed(const struct ptx_module *m)
{
    for (uint32_t i = 0; i < m->function_count; i++) {
        const struct ptx_function *f = m->functions[i];
        assert_ptr_equal(f->module, m);
        for (uint32_t k = 0; k < f->instruction_count; k++) {
            const struct ptx_instruction *in = &f->instructions[k];
            if (in->call && in->call->callee.kind == PTX_OPERAND_FUNCTION)
                assert_ptr_equal(in->call->callee.function->module, m);
            for (uint32_t o = 0; o < in->operand_count; o++) {
                const struct ptx_variable *v = in->operands[o].variable;
                if (v && v->owner)
                    assert_ptr_equal(v->owner->module, m);
                else if (v && v->linkage != PTX_LINK_NONE)
                    assert_ptr_equal(ptx_module_variable(m, v->name), v);
            }
        }
    }
}

static void real_units(void **state)
{
    (void)state;
    static const char *const files[] = {"unit_a.relfatbin", "unit_b.relfatbin"};
    struct fatbin_text *texts[2];
    size_t bytes, count;
    char message[256];
    const char *sources[2];
    for (int i = 0; i < 2; i++) {
        char *data = data_read(files[i], &bytes);
        assert_int_equal(fatbin_texts(data, bytes, &texts[i], &count, message, sizeof message), 1);
        sources[i] = texts[i]->text;
        free(data);
    }
    struct ptx_error error;
    struct ptx_module *m = link_texts(sources, 2, &error);
    if (!m)
        fail_msg("%s", error.message);
    fatbin_texts_release(texts[0], 1);
    fatbin_texts_release(texts[1], 1);
    assert_closed(m);
    const struct ptx_function *kernel = ptx_module_function(m, "_Z6from_aPi");
    const struct ptx_function *other = ptx_module_function(m, "_Z5otheri");
    assert_non_null(kernel);
    assert_false(other->is_prototype);
    assert_true(other->instruction_count > 0);
    bool calls_other = false;
    for (uint32_t i = 0; i < kernel->instruction_count; i++)
        calls_other |=
            kernel->instructions[i].call && kernel->instructions[i].call->callee.function == other;
    assert_true(calls_other);
    const struct ptx_variable *head = ptx_module_variable(m, "head");
    assert_ptr_equal(head->relocations[0].variable, ptx_module_variable(m, "tail"));
    assert_int_equal(ptx_module_variable(m, "tail")->linkage, PTX_LINK_VISIBLE);
    assert_int_equal(ptx_module_variable(m, "tail")->init[8], 9);
    unsigned weak = 0, kernels = 0, private_variables = 0;
    for (uint32_t i = 0; i < m->function_count; i++) {
        weak += m->functions[i]->linkage == PTX_LINK_WEAK;
        kernels += m->functions[i]->is_entry;
    }
    for (uint32_t i = 0; i < m->variable_count; i++)
        private_variables += strstr(m->variables[i]->name, "calls") != NULL;
    assert_int_equal(weak, 1);    /* the template both units instantiate */
    assert_int_equal(kernels, 2); /* the static kernel of unit b, renamed, is there */
    assert_int_equal(private_variables, 2);
    ptx_module_release(m);
}

static void precedence(void **state)
{
    (void)state;
    const char *units[] = {
        HEAD ".weak .global .u32 w = 1; .common .global .u32 c[2]; .extern .global .u32 e;\n"
             ".global .u32 mine = 1; .weak .func f { ret; } .extern .func lost;\n"
             ".global .u64 to_mine = mine; .global .u64 to_w = w;\n"
             ".visible .entry k() { .reg .b64 %r<4>; call f; call lost;\n"
             " mov.u64 %r1, w; mov.u64 %r2, e; mov.u64 %r3, mine; ret; }\n",
        HEAD
        ".visible .global .u32 w = 2; .common .global .u32 c[5]; .visible .global .u32 e = 3;\n"
        ".global .u32 mine = 2; .visible .func f { trap; }\n"
        ".global .u64 also_to_mine = mine;\n",
    };
    struct ptx_error error;
    struct ptx_module *m = link_texts(units, 2, &error);
    if (!m)
        fail_msg("%s", error.message);
    assert_closed(m);
    assert_int_equal(ptx_module_variable(m, "w")->init[0], 2);
    assert_int_equal(ptx_module_variable(m, "c")->size, 20);
    assert_int_equal(ptx_module_variable(m, "e")->linkage, PTX_LINK_VISIBLE);
    assert_int_equal(ptx_module_function(m, "f")->instructions[0].opcode, PTX_OP_TRAP);
    assert_true(ptx_module_function(m, "lost")->is_prototype);
    const struct ptx_instruction *k = ptx_module_function(m, "k")->instructions;
    assert_ptr_equal(k[0].call->callee.function, ptx_module_function(m, "f"));
    assert_ptr_equal(k[2].operands[1].variable, ptx_module_variable(m, "w"));
    assert_ptr_equal(k[3].operands[1].variable, ptx_module_variable(m, "e"));
    assert_int_equal(k[4].operands[1].variable->init[0], 1); /* its own unit's */
    const struct ptx_variable *to_mine = ptx_module_variable(m, "to_mine");
    const struct ptx_variable *also = ptx_module_variable(m, "also_to_mine");
    assert_int_equal(to_mine->relocations[0].variable->init[0], 1);
    assert_int_equal(also->relocations[0].variable->init[0], 2);
    assert_ptr_equal(ptx_module_variable(m, "to_w")->relocations[0].variable,
                     ptx_module_variable(m, "w"));
    ptx_module_release(m);
}

static void conflicts(void **state)
{
    (void)state;
    struct ptx_error error;
    const char *functions[] = {HEAD ".visible .func f { ret; }", HEAD ".visible .func f { ret; }"};
    assert_null(link_texts(functions, 2, &error));
    assert_non_null(strstr(error.message, "'f' is defined in unit 1 and again in unit 2"));
    const char *variables[] = {HEAD ".visible .global .u32 v;", HEAD ".visible .global .u32 v;"};
    assert_null(link_texts(variables, 2, &error));
    assert_non_null(strstr(error.message, "'v'"));
}

static void source_files_stay_apart(void **state)
{
    (void)state;
    const char *units[] = {
        HEAD ".file 1 \"a.cu\"\n.visible .entry a() {\n.loc 1 5 0\nret; }",
        HEAD ".file 1 \"b.cu\"\n.visible .entry b() {\n.loc 1 6 0\nret; }",
    };
    struct ptx_error error;
    struct ptx_module *m = link_texts(units, 2, &error);
    assert_non_null(m);
    const char *expected[] = {"a.cu", "b.cu"}, *kernels[] = {"a", "b"};
    for (int i = 0; i < 2; i++) {
        const struct ptx_function *kernel = ptx_module_function(m, kernels[i]);
        uint32_t index = kernel->instructions[0].source_file;
        assert_int_equal(kernel->source_file, index);
        assert_int_equal(kernel->source_line, 5 + i);
        const char *name = NULL;
        for (uint32_t k = 0; k < m->file_count; k++)
            if (m->files[k].index == index)
                name = m->files[k].name;
        assert_string_equal(name, expected[i]);
    }
    ptx_module_release(m);
}

/* A chain of pointers from variable to variable, far longer than any stack is deep. */
static void long_pointer_chains(void **state)
{
    (void)state;
    enum { LINKS = 200000 };
    char *text = malloc(LINKS * 64 + 256), *end = text;
    end += sprintf(end, HEAD ".visible .global .u64 v0 = 0;\n");
    for (int i = 1; i < LINKS; i++)
        end += sprintf(end, ".visible .global .u64 v%d = v%d;\n", i, i - 1);
    const char *units[] = {text};
    struct ptx_error error;
    struct ptx_module *m = link_texts(units, 1, &error);
    assert_non_null(m);
    assert_ptr_equal(ptx_module_variable(m, "v199999")->relocations[0].variable,
                     ptx_module_variable(m, "v199998"));
    ptx_module_release(m);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(real_units),          cmocka_unit_test(precedence),
        cmocka_unit_test(conflicts),           cmocka_unit_test(source_files_stay_apart),
        cmocka_unit_test(long_pointer_chains),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
