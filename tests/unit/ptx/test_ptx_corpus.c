/* Real programs' PTX, compiled by the toolkit's nvcc for three architectures and in debug and
 * separate-compilation form: everything parses, everything is known, everything is resolved. */
#include "tests/unit/ptx/test_ptx_cfg.h"

static const char *const corpus[] = {
    "language.sm_75.ptx",    "language.sm_90.ptx",    "language.sm_100.ptx",
    "cooperative.sm_75.ptx", "cooperative.sm_90.ptx", "cooperative.sm_100.ptx",
    "library.sm_75.ptx",     "library.sm_90.ptx",     "library.sm_100.ptx",
    "language.debug.ptx",    "language.lines.ptx",
};
enum { CORPUS = sizeof corpus / sizeof *corpus };

static void assert_operand(const struct ptx_function *f, const struct ptx_instruction *in,
                           const struct ptx_operand *o)
{
    bool sound = o->kind != PTX_OPERAND_NONE;
    if (o->kind == PTX_OPERAND_REGISTER ||
        (o->kind == PTX_OPERAND_ADDRESS && o->base == PTX_OPERAND_REGISTER))
        sound = o->reg < f->register_count;
    if (o->kind == PTX_OPERAND_SPECIAL)
        sound = o->special != PTX_SREG_NONE;
    if (o->kind == PTX_OPERAND_SYMBOL ||
        (o->kind == PTX_OPERAND_ADDRESS && o->base == PTX_OPERAND_SYMBOL))
        sound = o->variable != NULL;
    if (o->kind == PTX_OPERAND_FUNCTION)
        sound = o->function != NULL;
    if (o->kind == PTX_OPERAND_LABEL)
        sound = o->target <= f->instruction_count;
    if (!sound)
        fail_msg("line %u: %s has an unresolved operand", in->line, in->mnemonic);
    for (uint32_t i = 0; i < o->count; i++)
        assert_operand(f, in, &o->elements[i]);
}

static void assert_instruction(const struct ptx_function *f, const struct ptx_instruction *in)
{
    if (in->opcode == PTX_OP_UNKNOWN || in->type == PTX_TYPE_OTHER || in->unknown_suffix)
        fail_msg("line %u: %s is not known", in->line, in->mnemonic);
    for (uint32_t i = 0; i < in->operand_count; i++)
        assert_operand(f, in, &in->operands[i]);
    if (in->guard != PTX_NO_REGISTER)
        assert_int_equal(f->registers[in->guard].type, PTX_PRED);
    if (in->opcode != PTX_OP_CALL)
        return;
    assert_operand(f, in, &in->call->callee);
    assert_true(in->call->callee.kind == PTX_OPERAND_FUNCTION || in->call->prototype);
    const struct ptx_function *shape =
        in->call->callee.function ? in->call->callee.function : in->call->prototype;
    assert_int_equal(in->call->argument_count, shape->param_count);
    assert_int_equal(in->call->return_count, shape->return_count);
    for (uint32_t i = 0; i < in->call->argument_count; i++)
        assert_operand(f, in, &in->call->arguments[i]);
}

static void everything_is_known(void **state)
{
    (void)state;
    for (int c = 0; c < CORPUS; c++) {
        size_t bytes, kernels = 0;
        char *text = data_read(corpus[c], &bytes);
        struct ptx_module *m = parse_text(text);
        for (uint32_t i = 0; i < m->function_count; i++) {
            const struct ptx_function *f = m->functions[i];
            kernels += f->is_entry && !f->is_prototype;
            for (uint32_t k = 0; k < f->instruction_count; k++)
                assert_instruction(f, &f->instructions[k]);
            assert_graph(f, f->block_count < 60);
            assert_ptr_equal(ptx_module_function(m, f->name), f);
        }
        assert_true(kernels >= 5);
        for (uint32_t i = 0; i < m->variable_count; i++)
            for (uint32_t k = 0; k < m->variables[i]->relocation_count; k++)
                assert_true(m->variables[i]->relocations[k].variable ||
                            m->variables[i]->relocations[k].function);
        ptx_module_release(m);
        free(text);
    }
}

/* A count that a plain text search gives too. */
static size_t count_text(const char *text, const char *what)
{
    size_t found = 0;
    for (const char *at = strstr(text, what); at; at = strstr(at + 1, what))
        found++;
    return found;
}

static void nothing_is_lost(void **state)
{
    (void)state;
    for (int c = 0; c < CORPUS; c++) {
        size_t bytes, loads = 0, barriers = 0, calls = 0;
        char *text = data_read(corpus[c], &bytes);
        struct ptx_module *m = parse_text(text);
        for (uint32_t i = 0; i < m->function_count; i++) {
            for (uint32_t k = 0; k < m->functions[i]->instruction_count; k++) {
                const struct ptx_instruction *in = &m->functions[i]->instructions[k];
                loads += in->opcode == PTX_OP_LD && in->space == PTX_SPACE_GLOBAL;
                barriers += in->opcode == PTX_OP_BAR && in->form == PTX_FORM_BAR_SYNC;
                calls += in->opcode == PTX_OP_CALL;
            }
        }
        assert_int_equal(barriers, count_text(text, "bar.sync"));
        assert_int_equal(calls, count_text(text, "\tcall"));
        assert_int_equal(loads,
                         count_text(text, "ld.global.") + count_text(text, "ld.volatile.global"));
        ptx_module_release(m);
        free(text);
    }
}

/* Each alone and with itself under other names is what the linker sees of real programs. */
static void linking_keeps_everything(void **state)
{
    (void)state;
    for (int c = 0; c < CORPUS; c++) {
        size_t bytes;
        char *text = data_read(corpus[c], &bytes);
        struct ptx_module *m = parse_text(text);
        struct ptx_error error;
        struct ptx_module *linked = ptx_link((const struct ptx_module *const[]){m}, 1, &error);
        if (!linked)
            fail_msg("%s", error.message);
        assert_int_equal(linked->function_count, m->function_count);
        assert_int_equal(linked->variable_count, m->variable_count);
        assert_int_equal(linked->global_bytes, m->global_bytes);
        ptx_module_release(m);
        for (uint32_t i = 0; i < linked->function_count; i++) {
            const struct ptx_function *f = linked->functions[i];
            for (uint32_t k = 0; k < f->instruction_count; k++)
                assert_instruction(f, &f->instructions[k]);
            assert_graph(f, false);
        }
        ptx_module_release(linked);
        free(text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(everything_is_known),
        cmocka_unit_test(nothing_is_lost),
        cmocka_unit_test(linking_keeps_everything),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
