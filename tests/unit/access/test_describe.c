/* Accesses in words: kernels of tests/data/ptx/describe.cu as nvcc compiles them for three
 * architectures, shapes that only hand-written PTX has, and what must hold of every kernel. */
#include "tests/unit/ptx/test_ptx.h"

#include "runtime/access/describe/describe.h"
#include "runtime/access/direction.h"
#include "runtime/access/instruction_accesses.h"

/* The lines of a kernel, one below the other, each with " !" when bounded, " ?" when unknown. */
static void lines_of(const struct ptx_function *kernel, char *to, size_t bytes)
{
    struct description *description = describe_create(kernel);
    assert_non_null(description);
    char *at = to, *end = to + bytes;
    *to = 0;
    for (uint32_t i = 0; i < description->count && at < end; i++) {
        const struct describe_access *access = &description->accesses[i];
        char *line = describe_line(access);
        static const char *const marks[] = {"", " !", " ?"};
        at += snprintf(at, (size_t)(end - at), "%s%s%s", i ? "\n" : "", line, marks[access->known]);
        assert_true(access->line > 0);
        assert_int_equal(access->known == DESCRIBE_EXACT, access->reason[0] == 0);
        free(line);
    }
    if (description->has_calls && at < end)
        at += snprintf(at, (size_t)(end - at), "%scalls", description->count ? "\n" : "");
    if (description->failure && at < end)
        snprintf(at, (size_t)(end - at), "failure: %s", description->failure);
    describe_release(description);
}

static void assert_lines(const struct ptx_module *module, const char *name, const char *expected)
{
    char found[8192];
    const struct ptx_function *kernel = ptx_module_function(module, name);
    if (!kernel)
        fail_msg("no kernel %s", name);
    lines_of(kernel, found, sizeof found);
    if (strcmp(found, expected) != 0)
        fail_msg("%s (sm_%u):\n%s\nexpected:\n%s", name, module->target, found, expected);
}

#define I "blockIdx.x*blockDim.x + threadIdx.x"

static const struct {
    const char *kernel, *expected;
} kernels[] = {
    {"one_element", "write arg0[4*(" I ")] if " I " < arg2"},
    {"early_return", "read arg1[4*(arg2 - blockIdx.x*blockDim.x - threadIdx.x) - 4] if " I
                     " < arg2\nwrite arg0[4*(" I ")] if " I " < arg2"},
    {"tile", "write arg0[4*((16*blockIdx.y + threadIdx.y)*arg1 + 16*blockIdx.x + threadIdx.x)] if "
             "16*blockIdx.x + threadIdx.x < arg1 && 16*blockIdx.y + threadIdx.y < arg2"},
    {"grid_stride",
     "write arg0[4*(" I " + blockDim.x*gridDim.x*i)] for i in 0..ceil((arg1 - "
     "blockIdx.x*blockDim.x - threadIdx.x) / (blockDim.x*gridDim.x)) if " I " < arg1"},
    {"rows", "write arg0[4*(threadIdx.x + 100*i)] for i in 0..arg1 if arg1 > 0"},
    {"downwards",
     "write arg0[4*(threadIdx.x - 32*i + 32*arg1) - 128] for i in 0..arg1 if arg1 > 0"},
    {"triangle", "write arg0[4*(64*i + j)] for i in 0..arg1, for j in 0..i if arg1 > 0 && i != 0"},
    {"gather", "read arg2[4*threadIdx.x]\nread arg1[4*<loaded>] !\nwrite arg0[4*threadIdx.x]"},
    {"guarded_by_data", "read arg1[4*threadIdx.x]\nwrite arg0[4*threadIdx.x] if <loaded> > 0 !"},
    {"pointer_from_memory", "read arg0[8*threadIdx.x]\nwrite *arg0[28] ?"},
    {"in_struct", "write arg0+8[4*(threadIdx.x + arg1*{arg0+16})]"},
    {"count", "atomic counter[0]\natomic arg0[((4*threadIdx.x) & 28)]"},
    {"either_buffer", "write either(arg1, arg0)[4*threadIdx.x]"},
    {"either_place", "write arg0[4*((threadIdx.x < 16 ? 0 : arg1) + threadIdx.x)]"},
    {"either_side", "write arg0[4*threadIdx.x] if (arg1 < 10 || arg2 > 20)"},
    {"vectors", "read arg1[16*threadIdx.x]\nwrite arg0[16*threadIdx.x]"},
    {"until_found", "read arg0[4*i] for i in 0.. !\nwrite arg1[4*last(i)] !"},
    {"by_function", "write arg0[4*threadIdx.x + 4] if arg1 > 5"},
    {"shared_only", ""},
};

static const char *const architectures[] = {"75", "90", "100"};

static struct ptx_module *parse_file(const char *name)
{
    size_t bytes;
    char *text = data_read(name, &bytes);
    struct ptx_module *module = parse_text(text);
    free(text);
    return module;
}

static void compiled_kernels(void **state)
{
    (void)state;
    for (size_t a = 0; a < 3; a++) {
        char name[64];
        snprintf(name, sizeof name, "describe.sm_%s.ptx", architectures[a]);
        struct ptx_module *module = parse_file(name);
        for (size_t k = 0; k < sizeof kernels / sizeof *kernels; k++)
            assert_lines(module, kernels[k].kernel, kernels[k].expected);
        assert_lines(module, "divided",
                     module->target < 100
                         ? "write arg0[4*((threadIdx.x / 8)*arg1 - 8*(threadIdx.x / 8) + "
                           "threadIdx.x)]"
                         : "write arg0[4*((threadIdx.x & 7) + (threadIdx.x >> 3)*arg1)]");
        ptx_module_release(module);
    }
}

/* Objects are named by the parameter that their handle comes from. */
static const struct {
    const char *kernel, *expected;
    unsigned since;
} objects[] = {
    {"fetch", "read texture arg0 if " I " < arg2 !\nwrite arg1[4*(" I ")] if " I " < arg2", 0},
    {"surface_write", "write surface arg0 !", 0},
    {"surface_read", "read surface arg0 !\nwrite arg1[4*threadIdx.x]", 0},
    {"surface_reduce", "atomic surface arg0 !", 0},
    {"texture_of_struct", "read texture arg0+16 !\nwrite arg0+32[4*threadIdx.x]", 0},
    {"texture_select", "read texture either(arg0, arg1) !\nwrite arg2[4*threadIdx.x]", 0},
    {"texture_to_call", "read texture arg0 !\nwrite arg1[4*threadIdx.x]", 0},
    {"texture_loaded", "read arg0[8*blockIdx.x]\nread <texture> ?\nwrite arg1[4*threadIdx.x]", 0},
    {"texture_constant", "read handle[0]\nread <texture> ?\nwrite arg0[4*threadIdx.x]", 0},
    {"tensor_load", "read tensor map arg0 !", 90},
    {"tensor_store", "write tensor map arg0 !", 90},
    {"tensor_of_struct", "write tensor map arg0+256 !", 90},
    {"tensor_by_index", "write tensor map in arg0 !", 90},
    {"texture_by_index", "read texture in arg0 !\nwrite arg0+32[4*threadIdx.x]", 0},
};

static void objects_by_their_parameter(void **state)
{
    (void)state;
    for (size_t a = 0; a < 3; a++) {
        char name[64];
        snprintf(name, sizeof name, "objects.sm_%s.ptx", architectures[a]);
        struct ptx_module *module = parse_file(name);
        for (size_t k = 0; k < sizeof objects / sizeof *objects; k++)
            if (module->target >= objects[k].since)
                assert_lines(module, objects[k].kernel, objects[k].expected);
        ptx_module_release(module);
    }
}

/* Unrolled loops: a main one and a remainder, which starts where the main one ended. */
static void unrolled_loops(void **state)
{
    (void)state;
    static const char body[] = "ld.param.u64 %rd1, [p]; ld.param.u32 %r1, [n];\n"
                               "and.b32 %r2, %r1, 3; sub.s32 %r3, %r1, %r2; mov.u32 %r4, 0;\n"
                               "main: mul.wide.u32 %rd2, %r4, 4; add.s64 %rd3, %rd1, %rd2;\n"
                               "st.global.u32 [%rd3], 0; st.global.u32 [%rd3+4], 0;\n"
                               "add.s32 %r4, %r4, 4; setp.ne.s32 %p1, %r4, %r3; @%p1 bra main;\n"
                               "rest: mul.wide.u32 %rd4, %r4, 4; add.s64 %rd5, %rd1, %rd4;\n"
                               "st.global.u8 [%rd5], 1;\n"
                               "add.s32 %r4, %r4, 1; setp.lt.s32 %p2, %r4, %r1; @%p2 bra rest;\n"
                               "ret;";
    struct ptx_module *module = parse_body(body);
    assert_lines(module, "k",
                 "write arg0[16*i + 4*(0..1)] for i in 0..((arg1 - (arg1 & 3)) / 4)\n"
                 "write arg0[4*(j + arg1 - (arg1 & 3))] for j in 0..(arg1 & 3)");
    ptx_module_release(module);
}

static void hand_written_shapes(void **state)
{
    (void)state;
    static const struct {
        const char *body, *expected;
    } shapes[] = {
        /* a predicated store, and a predicate of two */
        {"ld.param.u64 %rd1, [p]; ld.param.u32 %r1, [n]; mov.u32 %r2, %tid.x;\n"
         "setp.lt.s32 %p1, %r2, %r1; setp.gt.u32 %p2, %r2, 7; and.pred %p3, %p1, %p2;\n"
         "@%p3 st.global.u32 [%rd1], 1;\n@!%p3 st.global.u32 [%rd1+8], 1; ret;",
         "write arg0[0] if threadIdx.x < arg1 && threadIdx.x > 7\n"
         "write arg0[8] if (threadIdx.x >= arg1 || threadIdx.x < 8)"},
        /* a loop whose length another exit may cut */
        {"ld.param.u64 %rd1, [p]; ld.param.u32 %r1, [n]; mov.u32 %r2, 0;\n"
         "top: setp.ge.s32 %p1, %r2, %r1; @%p1 bra end;\n"
         "mul.wide.s32 %rd2, %r2, 8; add.s64 %rd3, %rd1, %rd2; ld.global.u32 %r3, [%rd3];\n"
         "setp.eq.s32 %p2, %r3, 0; @%p2 bra end; add.s32 %r2, %r2, 2; bra top;\nend: ret;",
         "read arg0[16*i] for i in 0..ceil(arg1 / 2) or fewer !"},
        /* halved each round */
        {"ld.param.u64 %rd1, [p]; ld.param.u32 %r1, [n];\n"
         "top: mul.wide.u32 %rd2, %r1, 4; add.s64 %rd3, %rd1, %rd2; st.global.u32 [%rd3], 0;\n"
         "shr.u32 %r1, %r1, 1; setp.ne.s32 %p1, %r1, 0; @%p1 bra top; ret;",
         "write arg0[4*<varies in loop i from arg1>] for i in 0.. !"},
        /* nothing that is an address */
        {"ld.param.u32 %r1, [n]; cvt.u64.u32 %rd1, %r1; st.global.u32 [%rd1], 0; ret;",
         "write ?[arg1] ?"},
        /* described as one, even steps and others */
        {"ld.param.u64 %rd1, [p]; st.global.u32 [%rd1+4], 0; st.global.u32 [%rd1+-4], 0;\n"
         "st.global.u32 [%rd1+12], 0; st.global.u32 [%rd1+4], 0; ld.global.u64 %rd2, [%rd1+8];\n"
         "ld.global.u64 %rd3, [%rd1+24]; ld.global.u64 %rd4, [%rd1+16]; ret;",
         "write arg0[-4 + 8*(0..2)]\nread arg0[8 + 8*(0..2)]"},
        {"ld.param.u64 %rd1, [p]; st.global.u32 [%rd1+4], 0; st.global.u32 [%rd1], 0;\n"
         "st.global.u32 [%rd1+12], 0; ret;",
         "write arg0[{0, 4, 12}]"},
        /* divisions of what may be negative, by 8 and by 2, and the remainder */
        {"ld.param.u64 %rd1, [p]; ld.param.u32 %r1, [n];\n"
         "shr.s32 %r2, %r1, 31; shr.u32 %r3, %r2, 29; add.s32 %r4, %r1, %r3; shr.s32 %r5, %r4, 3;\n"
         "mul.wide.s32 %rd2, %r5, 4; add.s64 %rd3, %rd1, %rd2; st.global.u32 [%rd3], 0;\n"
         "shr.u32 %r6, %r1, 31; add.s32 %r7, %r1, %r6; shr.s32 %r8, %r7, 1;\n"
         "cvt.s64.s32 %rd4, %r8; add.s64 %rd5, %rd1, %rd4; st.global.u16 [%rd5], 0;\n"
         "and.b32 %r9, %r4, -8; sub.s32 %r10, %r1, %r9;\n"
         "cvt.s64.s32 %rd6, %r10; add.s64 %rd7, %rd1, %rd6; st.global.u8 [%rd7], 0; ret;",
         "write arg0[4*(arg1 / 8)]\nwrite arg0[(arg1 / 2)]\nwrite arg0[arg1 - 8*(arg1 / 8)]"},
        /* guarded end of the thread */
        {"ld.param.u64 %rd1, [p]; mov.u32 %r1, %ctaid.y; setp.ne.s32 %p1, %r1, 0; @%p1 exit;\n"
         "st.global.v2.f64 [%rd1+-16], {%fd1, %fd2}; ret;",
         "write arg0[-16] if blockIdx.y == 0"},
    };
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        struct ptx_module *module = parse_body(shapes[i].body);
        assert_lines(module, "k", shapes[i].expected);
        ptx_module_release(module);
    }
}

/* Values of values of values: the text is cut, and the time is bounded. */
static void long_expressions_are_cut(void **state)
{
    (void)state;
    size_t room = 1 << 20;
    char *body = malloc(room), *at = body, found[8192];
    at += sprintf(at, "ld.param.u64 %%rd1, [p]; ld.param.u32 %%r1, [n]; mov.u32 %%r2, %%tid.x;\n");
    for (unsigned i = 0; i < 4000; i++)
        at += sprintf(at, "%s.%s %%r%u, %%r%u, %%r%u;\n", i % 3 ? "mul.lo" : "xor",
                      i % 3 ? "s32" : "b32", 1 + i % 2, 1 + i % 2, 2 - i % 2);
    sprintf(at, "mul.wide.s32 %%rd2, %%r1, 4; add.s64 %%rd3, %%rd1, %%rd2;\n"
                "st.global.u32 [%%rd3], 0; ret;");
    struct ptx_module *module = parse_body(body);
    lines_of(ptx_module_function(module, "k"), found, sizeof found);
    assert_non_null(strstr(found, "..."));
    assert_int_equal(strncmp(found, "write arg0[", 11), 0);
    assert_true(strlen(found) < 1000);
    ptx_module_release(module);
    free(body);
}

/* ---- Of every kernel ---- */

/* What the line says of an argument, the directions say too: they are another analysis. */
static void assert_directed(const struct ptx_function *kernel,
                            const struct access_directions *directions,
                            const struct describe_access *access)
{
    unsigned index, inside = 0;
    if (sscanf(access->base, "arg%u+%u", &index, &inside) < 1)
        return;
    assert_true(index < kernel->param_count);
    for (uint32_t i = 0; i < directions->count; i++) {
        const struct access_pointer *p = &directions->pointers[i];
        if (p->source == ACCESS_SOURCE_VARIABLE || p->param_index != index ||
            p->param_offset != kernel->params[index].offset + inside)
            continue;
        if ((!(access->kinds & VALUE_GRAPH_READ) || p->reads) &&
            (!(access->kinds & VALUE_GRAPH_WRITE) || p->writes) &&
            (!(access->kinds & VALUE_GRAPH_ATOMIC) || p->atomics))
            return;
    }
    fail_msg("%s: nothing is directed to %s[%s]", kernel->name, access->base, access->offset);
}

static unsigned check_file(const char *name)
{
    struct ptx_module *module = parse_file(name);
    unsigned accesses = 0;
    for (uint32_t f = 0; f < module->function_count; f++) {
        const struct ptx_function *kernel = module->functions[f];
        if (!kernel->is_entry)
            continue;
        struct description *description = describe_create(kernel);
        const struct access_directions *directions = access_directions_find(kernel);
        assert_non_null(description);
        for (uint32_t i = 0; i < description->count; i++) {
            assert_directed(kernel, directions, &description->accesses[i]);
            accesses++;
        }
        access_directions_release(directions);
        describe_release(description);
    }
    ptx_module_release(module);
    return accesses;
}

static void lines_agree_with_directions(void **state)
{
    (void)state;
    static const char *const names[] = {"language",   "cooperative", "library",
                                        "directions", "objects",     "describe"};
    unsigned accesses = 0;
    for (size_t n = 0; n < sizeof names / sizeof *names; n++)
        for (size_t a = 0; a < 3; a++) {
            char name[64];
            snprintf(name, sizeof name, "%s.sm_%s.ptx", names[n], architectures[a]);
            accesses += check_file(name);
        }
    assert_true(accesses > 500);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(compiled_kernels),         cmocka_unit_test(objects_by_their_parameter),
        cmocka_unit_test(unrolled_loops),           cmocka_unit_test(hand_written_shapes),
        cmocka_unit_test(long_expressions_are_cut), cmocka_unit_test(lines_agree_with_directions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
