/* Access sets of launches: those of tests/data/ptx/ranges.cu as nvcc compiles it for three
 * architectures and of shapes that only hand-written PTX has; the cache; the budgets. */
#include "tests/unit/ptx/test_ptx.h"

#include <malloc.h>
#include <time.h>

#include "runtime/access/access_set.h"

enum { PARAMETERS = 8 };

/* What the kernels are launched with. Integers are little-endian, so that one word serves each
 * width; a pointer's value does not matter. */
struct launch {
    const char *kernel;
    uint32_t grid[2], block[2]; /* 0: 1 */
    uint64_t parameters[PARAMETERS];
    const char *expected; /* "0:w@0+400", see describe; alternatives by line */
};

#define POINTER(i) (0x7000000000u + 0x10000000u * (uint64_t)(i))

/* ---- Sets as text ---- */

static int compare_texts(const void *left, const void *right)
{
    return strcmp(left, right);
}

static size_t describe_base(const struct ptx_function *kernel, const struct access_base *base,
                            char *to, size_t room)
{
    if (base->kind == ACCESS_BASE_VARIABLE)
        return (size_t)snprintf(to, room, "%s", base->variable->name);
    if (base->kind == ACCESS_BASE_ADDRESS)
        return (size_t)snprintf(to, room, "*%llx", (unsigned long long)base->address);
    uint32_t inside = base->param_offset - kernel->params[base->param_index].offset;
    return (size_t)snprintf(to, room, inside ? "%u.%u" : "%u", base->param_index, inside);
}

/* "0:w@0+400": parameter, kind, offset from it and bytes; " x7/160" 7 times 160 bytes apart;
 * "a4" atomics of 4 bytes; "0.16" the pointer at byte 16 of the parameter; "?" and why when it is
 * not exact, and then "all" for anything of 4 GiB and more. */
static void describe_range(const struct ptx_function *kernel, const struct access_set *set,
                           const struct access_range *range, char *to, size_t room)
{
    static const char *const bounds[] = {"", "?direction", "?data", "?guard", "?shape", "?budget"};
    size_t at = describe_base(kernel, &set->bases[range->base], to, room);
    at += (size_t)snprintf(to + at, room - at, ":%c", " rwa"[range->kind]);
    if (range->width)
        at += (size_t)snprintf(to + at, room - at, "%u", range->width);
    if (range->bound && range->bytes >= UINT64_C(1) << 32)
        at += (size_t)snprintf(to + at, room - at, "@all");
    else
        at += (size_t)snprintf(to + at, room - at, "@%lld+%llu", (long long)range->offset,
                               (unsigned long long)range->bytes);
    for (uint32_t d = 0; d < range->dim_count; d++)
        at += (size_t)snprintf(to + at, room - at, "x%llu/%lld",
                               (unsigned long long)range->dims[d].count,
                               (long long)range->dims[d].stride);
    snprintf(to + at, room - at, "%s", bounds[range->bound]);
}

/* The ranges in the order of their texts, and "!reason" when they are not all. */
static void describe(const struct ptx_function *kernel, const struct access_set *set, char *to,
                     size_t room)
{
    char texts[96][96];
    size_t at = 0;
    assert_true(set->range_count <= 96);
    for (uint32_t i = 0; i < set->range_count; i++)
        describe_range(kernel, set, &set->ranges[i], texts[i], sizeof texts[i]);
    qsort(texts, set->range_count, sizeof texts[0], compare_texts);
    *to = 0;
    for (uint32_t i = 0; i < set->range_count; i++)
        at += (size_t)snprintf(to + at, room - at, "%s%s", i ? " " : "", texts[i]);
    if (!set->complete)
        snprintf(to + at, room - at, "%s!%s", at ? " " : "", set->reason);
}

/* What holds of every set. */
static void assert_consistent(const struct access_set *set)
{
    bool exact = set->complete;
    for (uint32_t i = 0; i < set->range_count; i++) {
        const struct access_range *range = &set->ranges[i];
        assert_true(range->base < set->base_count);
        exact &= range->bound == ACCESS_EXACT;
        if (range->bytes == ACCESS_WHOLE || range->bytes == ACCESS_TO_END)
            assert_true(range->bound != ACCESS_EXACT);
    }
    assert_int_equal(set->exact, exact);
    assert_int_equal(strlen(set->reason) > 0, !exact);
}

/* `expected` may be several alternatives, one a line. A reason needs only to start as expected. */
static bool matches(const char *found, const char *expected)
{
    if (!*found)
        return !*expected;
    while (*expected) {
        size_t length = strcspn(expected, "\n");
        bool prefix = memchr(expected, '!', length) != NULL;
        if (strncmp(found, expected, length) == 0 && (prefix || found[length] == 0))
            return true;
        expected += length + (expected[length] == '\n');
    }
    return false;
}

/* ---- Launches ---- */

struct call {
    const void *pointers[PARAMETERS];
    struct access_launch launch;
};

static struct access_launch *call_make(struct call *call, const struct launch *launch)
{
    *call = (struct call){0};
    for (uint32_t i = 0; i < PARAMETERS; i++)
        call->pointers[i] = &launch->parameters[i];
    call->launch.parameters = call->pointers;
    for (uint32_t i = 0; i < 3; i++) {
        call->launch.grid[i] = i < 2 && launch->grid[i] ? launch->grid[i] : 1;
        call->launch.block[i] = i < 2 && launch->block[i] ? launch->block[i] : 1;
    }
    return &call->launch;
}

static const struct ptx_function *kernel_of(const struct ptx_module *m, const char *name)
{
    const struct ptx_function *kernel = ptx_module_function(m, name);
    if (!kernel)
        fail_msg("no kernel %s", name);
    return kernel;
}

static uint32_t wrong;

static void check_launch(const struct ptx_module *m, const struct launch *launch)
{
    char found[8192];
    struct call call;
    const struct ptx_function *function = kernel_of(m, launch->kernel);
    struct access_kernel *kernel = access_kernel_create(function);
    assert_non_null(kernel);
    const struct access_set *set = access_set_find(kernel, call_make(&call, launch));
    assert_consistent(set);
    describe(function, set, found, sizeof found);
    if (!matches(found, launch->expected)) {
        print_error("%s (sm_%u): %s\n  expected: %s\n", launch->kernel, m->target, found,
                    launch->expected);
        wrong++;
    }
    access_kernel_release(kernel);
}

static const struct launch launches[] = {
    {"guard", {4}, {256}, {POINTER(0), 1000}, "0:w@0+4000"},
    {"guard", {4}, {256}, {POINTER(0), 2000}, "0:w@0+4096"},
    {"guard", {4}, {256}, {POINTER(0), 0}, ""},
    {"guard", {4}, {256}, {POINTER(0), (uint32_t)-5}, ""},
    {"grid_stride", {4}, {64}, {POINTER(0), POINTER(1), 1000}, "0:w@0+4000 1:r@0+4000"},
    {"grid_stride", {4}, {64}, {POINTER(0), POINTER(1), 10007}, "0:w@0+40028 1:r@0+40028"},
    {"grid_stride", {4}, {64}, {POINTER(0), POINTER(1), 100}, "0:w@0+400 1:r@0+400"},
    {"early_return", {4}, {256}, {POINTER(0), 1000}, "0:r@0+3996 0:w@0+4000"},
    {"nested", {1}, {1}, {POINTER(0), 7, 0, 13}, ""},
    {"tile", {2, 2}, {8, 4}, {POINTER(0), 13, 7, 40}, "0:w@0+52x7/160"},
    {"tile", {2, 2}, {8, 4}, {POINTER(0), 100, 100, 40}, "0:w@0+64x8/160"},
    {"clamp", {4}, {256}, {POINTER(0), POINTER(1), 1000}, "0:w@0+4000 1:r@0+4000"},
    {"choose", {1}, {64}, {POINTER(0), POINTER(1), 50, 20}, "0:w@0+80 0:w@480+120"},
    {"modulo_constant", {4}, {256}, {POINTER(0), 1000}, "0:w@0+40"},
    {"modulo_constant", {4}, {256}, {POINTER(0), 6}, "0:w@0+24"},
    {"divide_constant", {4}, {256}, {POINTER(0), 1000}, "0:w@0+572"},
    {"unravel", {2}, {256}, {POINTER(0), 30, 64, 300}, "0:w@0+120x10/256"},
    {"unravel", {2}, {256}, {POINTER(0), 30, 64, 310}, "0:w@0+120x10/256 0:w@2560+40"},
    {"vector", {1}, {128}, {POINTER(0), POINTER(1), 100}, "0:w@0+1600 1:r@0+1600"},
    {"readonly", {1}, {64}, {POINTER(0), POINTER(1), 50}, "0:w@0+200 1:r@0+200"},
    {"data_index", {1}, {64}, {POINTER(0), POINTER(1), 50}, "0:w@all?data 1:r@0+200"},
    {"data_guard", {1}, {64}, {POINTER(0), POINTER(1), 50}, "0:w@0+200?guard 1:r@0+200"},
    {"atomics", {1}, {64}, {POINTER(0), POINTER(1), 50}, "0:a4@0+200 1:a8@0+400"},
    {"atomics_block", {1}, {32}, {POINTER(0)}, "0:r@0+128 0:w@0+128"},
    {"negative", {1}, {64}, {POINTER(0)}, "0:w@-256+256"},
    {"wrap",
     {1},
     {32},
     {POINTER(0), 0xfffffff0},
     "0:w@0+64x2/17179869120\n0:w@0+64 0:w@17179869120+64"},
    {"calls", {1}, {64}, {POINTER(0), 50}, "0:w@0+200"},
    {"recursive", {1}, {64}, {POINTER(0), 50}, "0:w@200+200 0:w@all?direction"},
    {"countdown", {1}, {64}, {POINTER(0), 100}, "0:w@0+400"},
    {"variable", {1}, {32}, {POINTER(0)}, "0:w@0+128 table:r@32+128"},
    {"shared_tile", {4}, {256}, {POINTER(0), POINTER(1), 1000}, "0:w@0+4000 1:r@0+4000"},
    {"offset_long", {1}, {128}, {POINTER(0), UINT64_C(1) << 33, 100}, "0:w@8589934592+100"},
    {"empty", {1}, {1}, {0}, ""},
    {"endless", {1}, {64}, {POINTER(0)}, "0:a4@0+256"},
    {"unbounded",
     {1},
     {64},
     {POINTER(0), POINTER(1)},
     "0:r@0+4 0:r@all?guard 1:w@all?shape\n0:r@0+4 0:r@all?guard 1:w@all?guard"},
    {"until_done", {1}, {64}, {POINTER(0), 50}, "0:w@0+1024?shape\n0:w@0+1024?data"},
    {"nested_plain", {1}, {1}, {POINTER(0), 7, 0, 100}, ""},
    {"triangle_plain",
     {1},
     {12},
     {POINTER(0), 10},
     "0:w@0+4x10/40 0:w@132+4x7/40 0:w@176+4x6/40 0:w@220+4x5/40 0:w@264+4x4/40 0:w@308+4x3/40 "
     "0:w@352+4x2/40 0:w@396+4 0:w@44+4x9/40 0:w@88+4x8/40"},
    {"unrolled", {1}, {1}, {POINTER(0), 101}, "0:w@0+404"},
    {"unrolled", {1}, {1}, {POINTER(0), 7}, "0:w@0+28"},
    {"unrolled", {1}, {1}, {POINTER(0), 3}, "0:w@0+12"},
    {"unrolled", {1}, {1}, {POINTER(0), 0}, ""},
    {"rounds_of_a_row", {2}, {1}, {POINTER(0), 13, 100}, "0:w@0+52x2/400"},
    {"unrolled_strides", {2}, {32}, {POINTER(0), 20}, "0:w@0+80"},
    {"unrolled_strides", {2}, {32}, {POINTER(0), 333}, "0:w@0+1332"},
    {"unrolled_strides", {2}, {32}, {POINTER(0), 0}, ""},
    {"after_loop",
     {1},
     {1},
     {POINTER(0), 10},
     "0:w@0+4x3/400x3/1600 0:w@0+52?shape 0:w@4800+4\n0:w@all?shape"},
    {"left_by_product",
     {1},
     {4},
     {POINTER(0), 15, 20, 20},
     "0:w@0+32?shape 0:w@240+16?shape\n0:w@0+32?guard 0:w@240+16?guard"},
    {"round_before", {1}, {1}, {POINTER(0), 10}, "0:w@0+4 0:w@4+16?shape"},
    {"difference_to_before", {1}, {1}, {POINTER(0), POINTER(1), 10}, "0:w@all?data 1:r@0+40"},
    {"left_by_data", {1}, {1}, {POINTER(0), POINTER(1), 10}, "0:w@0+640?data 1:r@0+40?guard"},
    {"wide_minimum", {1}, {64}, {POINTER(0), 10}, "0:w@0+216 0:w@400+4"},
    {"wide_maximum", {1}, {64}, {POINTER(0), 10}, "0:w@80+176"},
    {"left_at_once", {1}, {1}, {POINTER(0), 3}, "0:w@16+1 0:w@7+1x2/15"},
    {"clocks", {1}, {1}, {POINTER(0), 10}, "0:w@0+640?data 0:w@3997+22?shape"},
    {"bisection", {1}, {64}, {POINTER(0), 100}, "0:w@all?direction\n0:w@0+4096?data"},
    {"grouped_tiles", {40}, {1}, {POINTER(0), 8, 5}, "0:w@0+160"},
    {"grouped_tiles", {30}, {1}, {POINTER(0), 6, 5}, "0:w@0+120"},
    {"grouped_tiles", {35}, {1}, {POINTER(0), 7, 5}, "0:w@0+140"},
    {"grouped_tiles_persistent", {6}, {1}, {POINTER(0), 8, 5}, "0:w@0+160"},
    {"grouped_tiles_persistent", {7}, {1}, {POINTER(0), 6, 5}, "0:w@0+120"},
    {"grouped_tiles_persistent", {3}, {1}, {POINTER(0), 8, 2}, "0:w@0+64"},
    {"narrowed_counter", {1}, {32}, {POINTER(0), 100}, "0:w@0+400"},
    {"masked_copies", {1}, {64}, {POINTER(0), 100}, "0:r@0+1600"},
    {"masked_copies", {1}, {64}, {POINTER(0), 0}, ""},
    {"sign_field", {2}, {32}, {POINTER(0)}, "0:w@-16+32"},
};

static void compiled_kernels(void **state)
{
    (void)state;
    static const char *const files[] = {"ranges.sm_75.ptx", "ranges.sm_90.ptx",
                                        "ranges.sm_100.ptx"};
    wrong = 0;
    for (size_t f = 0; f < sizeof files / sizeof *files; f++) {
        size_t bytes;
        char *text = data_read(files[f], &bytes);
        struct ptx_module *m = parse_text(text);
        for (size_t i = 0; i < sizeof launches / sizeof *launches; i++)
            check_launch(m, &launches[i]);
        ptx_module_release(m);
        free(text);
    }
    assert_int_equal(wrong, 0);
}

/* ---- Structs of pointers ---- */

struct pointers {
    uint64_t at[4];
    uint32_t n;
};

static struct ptx_module *ranges_module(void)
{
    size_t bytes;
    char *text = data_read("ranges.sm_90.ptx", &bytes);
    struct ptx_module *m = parse_text(text);
    free(text);
    return m;
}

static void assert_set(const struct ptx_module *m, const char *name, const struct access_set *set,
                       const char *expected)
{
    char found[8192];
    describe(kernel_of(m, name), set, found, sizeof found);
    assert_consistent(set);
    if (!matches(found, expected))
        fail_msg("%s: %s\nexpected: %s", name, found, expected);
}

static void pointers_in_a_struct(void **state)
{
    (void)state;
    const struct pointers argument = {{POINTER(0), POINTER(1), POINTER(2), POINTER(3)}, 50};
    const void *parameters[] = {&argument};
    struct access_launch launch = {
        .grid = {3, 1, 1}, .block = {64, 1, 1}, .parameters = parameters};
    struct ptx_module *m = ranges_module();
    struct access_kernel *kernel = access_kernel_create(kernel_of(m, "member_pointer"));
    assert_set(m, "member_pointer", access_set_find(kernel, &launch), "0.16:w@0+200 0:r@0+200");
    access_kernel_release(kernel);
    kernel = access_kernel_create(kernel_of(m, "array_of_pointers"));
    assert_set(m, "array_of_pointers", access_set_find(kernel, &launch),
               "0.16:w@0+200 0.8:w@0+200 0:w@0+200");
    access_kernel_release(kernel);
    ptx_module_release(m);
}

/* A struct of a pointer and an integer that a kernel without optimization keeps in local memory and
 * reads by index; what it adds the integer to is a pointer from memory. */
static const char integer_beside_pointer[] =
    ".version 8.0\n.target sm_75\n.address_size 64\n"
    ".visible .entry k(.param .align 8 .b8 s[16], .param .u64 t)\n{\n"
    ".local .align 8 .b8 copy[16];\n.reg .b64 %a<12>;\n.reg .b32 %r<4>;\n"
    "ld.param.u64 %a1, [s];\nld.param.u64 %a2, [s+8];\nld.param.u64 %a3, [t];\n"
    "mov.u64 %a4, copy;\nst.local.u64 [%a4], %a1;\nst.local.u64 [%a4+8], %a2;\n"
    "mov.u32 %r1, %tid.x;\nshl.b32 %r2, %r1, 6;\nrem.u32 %r3, %r2, 2;\n"
    "mul.wide.u32 %a5, %r3, 8;\nadd.u64 %a6, %a4, %a5;\nld.local.u64 %a7, [%a6];\n"
    "st.u8 [%a7], %r1;\n"
    "ld.u64 %a8, [%a3];\nld.local.u64 %a9, [%a4+8];\nadd.u64 %a10, %a8, %a9;\n"
    "st.u8 [%a10], %r1;\nret;\n}\n";

static void integer_is_no_pointer(void **state)
{
    (void)state;
    const uint64_t pair[2] = {POINTER(0), 2}, table = POINTER(1);
    const void *parameters[] = {pair, &table};
    struct access_launch launch = {.grid = {1, 1, 1}, .block = {4, 1, 1}, .parameters = parameters};
    struct ptx_module *m = parse_text(integer_beside_pointer);
    struct access_kernel *kernel = access_kernel_create(kernel_of(m, "k"));
    const struct access_set *set = access_set_find(kernel, &launch);
    assert_consistent(set);
    assert_false(set->complete);
    assert_non_null(strstr(set->reason, "a pointer loaded from memory"));
    access_kernel_release(kernel);
    ptx_module_release(m);
}

/* ---- Through memory ---- */

struct device_memory {
    uint64_t word;
    uint32_t reads;
    bool unknown;
};

static bool read_word(void *user, const struct access_base *base, const void *const *parameters,
                      int64_t offset, uint32_t bytes, void *to)
{
    struct device_memory *memory = user;
    (void)parameters;
    memory->reads++;
    if (memory->unknown || base->kind != ACCESS_BASE_PARAM || offset != 8 || bytes != 8)
        return false;
    memcpy(to, &memory->word, 8);
    return true;
}

static const struct launch through_memory = {"through_memory", {1}, {64}, {POINTER(0), 50}, ""};

static void pointer_read_from_memory(void **state)
{
    (void)state;
    struct call call;
    struct device_memory memory = {.word = 0x20000000};
    struct ptx_module *m = ranges_module();
    struct access_launch *launch = call_make(&call, &through_memory);
    struct access_kernel *kernel = access_kernel_create(kernel_of(m, "through_memory"));
    launch->read = read_word;
    launch->user = &memory;
    launch->memory_version = 1;
    const struct access_set *set = access_set_find(kernel, launch);
    assert_set(m, "through_memory", set, "*20000000:w@0+256 0:r@8+8");
    assert_true(set->reads_memory && set->exact);
    uint32_t reads = memory.reads;
    assert_true(reads > 0);
    access_set_find(kernel, launch);
    assert_int_equal(memory.reads, reads); /* nothing has changed */
    assert_int_equal(access_statistics_of(kernel).hits, 1);
    memory.word = 0x30000000;
    launch->memory_version = 2;
    set = access_set_find(kernel, launch);
    assert_set(m, "through_memory", set, "*30000000:w@0+256 0:r@8+8");
    assert_true(memory.reads > reads);
    access_kernel_release(kernel);
    ptx_module_release(m);
}

static void unreadable_pointer_is_incomplete(void **state)
{
    (void)state;
    struct call call;
    struct device_memory memory = {.unknown = true};
    struct ptx_module *m = ranges_module();
    struct access_launch *launch = call_make(&call, &through_memory);
    struct access_kernel *kernel = access_kernel_create(kernel_of(m, "through_memory"));
    assert_set(m, "through_memory", access_set_find(kernel, launch),
               "0:r@8+8 !a pointer loaded from memory");
    launch->read = read_word;
    launch->user = &memory;
    launch->memory_version = 1;
    const struct access_set *set = access_set_find(kernel, launch);
    assert_false(set->complete);
    access_kernel_release(kernel);
    ptx_module_release(m);
}

/* Without the parameters' bytes only directions are known. */
static void unknown_parameters(void **state)
{
    (void)state;
    struct call call;
    struct launch guard = {"guard", {4}, {256}, {POINTER(0), 1000}, ""};
    struct ptx_module *m = ranges_module();
    struct access_launch *launch = call_make(&call, &guard);
    launch->parameters = NULL;
    struct access_kernel *kernel = access_kernel_create(kernel_of(m, "guard"));
    const struct access_set *set = access_set_find(kernel, launch);
    assert_consistent(set);
    assert_false(set->exact);
    assert_int_equal(set->range_count, 1);
    assert_int_equal(set->ranges[0].kind, ACCESS_WRITE);
    access_kernel_release(kernel);
    ptx_module_release(m);
}

/* ---- Shapes of hand-written PTX ---- */

#define THREAD                                                                                     \
    "mov.u32 %r1, %tid.x;\nmul.wide.u32 %rd1, %r1, 4;\nld.param.u64 %rd2, [p];\n"                  \
    "add.u64 %rd3, %rd2, %rd1;\nld.param.u32 %r2, [n];\n"

struct body {
    const char *text;
    uint32_t threads, n;
    const char *expected;
};

static const struct body bodies[] = {
    {THREAD "setp.lt.u32 %p1, %r1, %r2;\n@%p1 st.global.u32 [%rd3], %r1;\nret;", 64, 50,
     "0:w@0+200"},
    {THREAD "setp.lt.u32 %p1, %r1, %r2;\n@!%p1 st.global.u32 [%rd3], %r1;\nret;", 64, 50,
     "0:w@200+56"},
    {THREAD "ld.global.nc.u32 %r3, [%rd3+16];\nret;", 64, 50, "0:r@16+256"},
    {THREAD "st.u32 [%rd3], %r1;\nret;", 64, 50, "0:w@0+256"},
    {THREAD "cvta.to.global.u64 %rd4, %rd3;\ncvta.global.u64 %rd5, %rd4;\nst.u32 [%rd5], %r1;\n"
            "ret;",
     64, 50, "0:w@0+256"},
    {THREAD "ld.global.v4.u32 {%r3, %r4, %r5, %r6}, [%rd2+32];\nret;", 1, 0, "0:r@32+16"},
    {THREAD "red.global.add.u32 [%rd3], %r1;\nret;", 32, 0, "0:a4@0+128"},
    {THREAD "red.relaxed.gpu.global.add.u64 [%rd2], %rd1;\nret;", 32, 0, "0:a8@0+8"},
    {THREAD "red.relaxed.cta.global.add.u32 [%rd3], %r1;\nret;", 32, 0, "0:r@0+128 0:w@0+128"},
    {THREAD "atom.cluster.global.cas.b32 %r3, [%rd3], %r1, %r2;\nret;", 32, 0,
     "0:r@0+128 0:w@0+128"},
    {".shared .align 16 .b8 s[512];\n" THREAD
     "mov.u32 %r3, s;\nshl.b32 %r4, %r1, 4;\nadd.u32 %r5, %r3, %r4;\nmul.wide.u32 %rd4, %r1, 16;\n"
     "add.u64 %rd5, %rd2, %rd4;\ncp.async.cg.shared.global [%r5], [%rd5], 16;\nret;",
     32, 0, "0:r@0+512"},
    {".shared .align 16 .b8 s[512];\n" THREAD
     "mov.u32 %r3, s;\ncp.async.ca.shared.global [%r3], [%rd2], 8, 4;\nret;",
     1, 0, "0:r@0+4"},
    {THREAD "selp.u64 %rd4, %rd3, %rd2, %p1;\nret;", 32, 0, ""},
    {THREAD "min.u32 %r3, %r1, %r2;\nmul.wide.u32 %rd4, %r3, 4;\nadd.u64 %rd5, %rd2, %rd4;\n"
            "st.global.u8 [%rd5], %r1;\nret;",
     64, 50, "0:w@0+1x51/4\n0:w@0+1x51/4 0:w@200+1"},
    {THREAD "setp.lt.u32 %p1, %r1, %r2;\nselp.b32 %r3, 0, 1000, %p1;\nadd.u32 %r3, %r3, %r1;\n"
            "cvt.u64.u32 %rd4, %r3;\nadd.u64 %rd5, %rd2, %rd4;\nst.global.u8 [%rd5], %r1;\nret;",
     64, 50, "0:w@0+50 0:w@1050+14"},
    {THREAD "rem.u32 %r3, %r1, %r2;\nmul.wide.u32 %rd4, %r3, 8;\nadd.u64 %rd5, %rd2, %rd4;\n"
            "st.global.u64 [%rd5], %rd1;\nret;",
     64, 20, "0:w@0+160"},
    {THREAD "div.u32 %r3, %r1, %r2;\nmul.wide.u32 %rd4, %r3, 8;\nadd.u64 %rd5, %rd2, %rd4;\n"
            "st.global.u64 [%rd5], %rd1;\nret;",
     64, 20, "0:w@0+32"},
    {THREAD "sub.u32 %r3, %r1, 4;\nmul.wide.u32 %rd4, %r3, 1;\nadd.u64 %rd5, %rd2, %rd4;\n"
            "st.global.u8 [%rd5], %r1;\nret;", /* wraps around below 0 */
     8, 0, "0:w@0+4x2/4294967292\n0:w@0+4 0:w@4294967292+4"},
    {THREAD "sub.s32 %r3, %r1, 4;\nmul.wide.s32 %rd4, %r3, 1;\nadd.u64 %rd5, %rd2, %rd4;\n"
            "st.global.u8 [%rd5], %r1;\nret;",
     8, 0, "0:w@-4+8"},
    {"ret;", 1, 0, ""},
    {"trap;", 1, 0, ""},
};

static const struct access_set *find_body(struct access_kernel *kernel, struct call *call,
                                          uint32_t threads, uint32_t n)
{
    static struct launch launch;
    launch = (struct launch){"k", {1}, {threads}, {POINTER(0), n}, ""};
    return access_set_find(kernel, call_make(call, &launch));
}

static void hand_written_kernels(void **state)
{
    (void)state;
    wrong = 0;
    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++) {
        char found[8192];
        struct call call;
        struct ptx_module *m = parse_body(bodies[i].text);
        struct access_kernel *kernel = access_kernel_create(kernel_of(m, "k"));
        const struct access_set *set = find_body(kernel, &call, bodies[i].threads, bodies[i].n);
        assert_consistent(set);
        describe(kernel_of(m, "k"), set, found, sizeof found);
        if (!matches(found, bodies[i].expected)) {
            print_error("%s\n  is %s\n  expected %s\n", bodies[i].text, found, bodies[i].expected);
            wrong++;
        }
        access_kernel_release(kernel);
        ptx_module_release(m);
    }
    assert_int_equal(wrong, 0);
}

/* ---- Random launches against the same kernel in C ---- */

enum { MAP = 1 << 16 };
static uint8_t written[MAP], ranges_have[MAP];

struct thread {
    int64_t block, threads, id; /* of the x dimension */
    int64_t a, b, c;            /* the parameters behind p */
};

/* The index that a thread writes, or -1. */
typedef int64_t written_index(const struct thread *t);

static int64_t write_unravelled(const struct thread *t)
{
    int64_t i = t->block * t->threads + t->id;
    return i < t->c ? i / t->a * t->b + i % t->a : -1;
}

static int64_t write_divided(const struct thread *t)
{
    int64_t i = t->block * t->threads + t->id;
    return i < t->a ? i / 7 : -1;
}

static int64_t write_modulo(const struct thread *t)
{
    int64_t i = t->block * t->threads + t->id;
    return i < t->a ? i % 10 : -1;
}

static int64_t write_guarded(const struct thread *t)
{
    int64_t i = t->block * t->threads + t->id;
    return i < t->a ? i : -1;
}

static void mark_range(const struct access_range *range, uint32_t dims, int64_t offset)
{
    for (uint64_t i = 0; dims && i < range->dims[dims - 1].count; i++)
        mark_range(range, dims - 1, offset + (int64_t)i * range->dims[dims - 1].stride);
    if (dims)
        return;
    int64_t end = range->bytes > MAP ? MAP : offset + (int64_t)range->bytes;
    for (int64_t at = offset < 0 ? 0 : offset; at < end && at < MAP; at++)
        ranges_have[at] = 1;
}

static void compare_launch(struct access_kernel *kernel, const struct launch *launch,
                           written_index *index)
{
    struct call call;
    const struct access_set *set = access_set_find(kernel, call_make(&call, launch));
    assert_consistent(set);
    assert_true(set->complete);
    memset(written, 0, sizeof written);
    memset(ranges_have, 0, sizeof ranges_have);
    for (uint32_t i = 0; i < launch->grid[0] * launch->block[0]; i++) {
        struct thread t = {i / launch->block[0],           launch->block[0],
                           i % launch->block[0],           (int64_t)launch->parameters[1],
                           (int64_t)launch->parameters[2], (int64_t)launch->parameters[3]};
        int64_t at = index(&t);
        if (at >= 0)
            memset(written + 4 * at, 1, 4);
    }
    for (uint32_t i = 0; i < set->range_count; i++)
        if (set->ranges[i].kind == ACCESS_WRITE)
            mark_range(&set->ranges[i], set->ranges[i].dim_count, set->ranges[i].offset);
    for (uint32_t i = 0; i < MAP; i++)
        if (written[i] ? !ranges_have[i] : ranges_have[i] && set->exact)
            fail_msg("%s, grid %u block %u parameters %u %u %u: byte %u was %s", launch->kernel,
                     launch->grid[0], launch->block[0], (uint32_t)launch->parameters[1],
                     (uint32_t)launch->parameters[2], (uint32_t)launch->parameters[3], i,
                     written[i] ? "lost" : "added");
}

static void random_launches(void **state)
{
    (void)state;
    static const struct {
        const char *kernel;
        written_index *index;
    } kernels[] = {{"unravel", write_unravelled},
                   {"divide_constant", write_divided},
                   {"modulo_constant", write_modulo},
                   {"guard", write_guarded}};
    struct ptx_module *m = ranges_module();
    srand(1);
    for (size_t k = 0; k < sizeof kernels / sizeof *kernels; k++) {
        struct access_kernel *kernel = access_kernel_create(kernel_of(m, kernels[k].kernel));
        bool unravels = kernels[k].index == write_unravelled;
        for (uint32_t round = 0; round < 200; round++) {
            uint32_t first = 1 + (uint32_t)rand() % (unravels ? 40 : 1200);
            struct launch launch = {
                kernels[k].kernel,
                {1 + (uint32_t)rand() % 6},
                {1 + (uint32_t)rand() % 128},
                {POINTER(0), first, 1 + (uint32_t)rand() % 20, (uint32_t)rand() % 800},
                ""};
            compare_launch(kernel, &launch, kernels[k].index);
        }
        access_kernel_release(kernel);
    }
    ptx_module_release(m);
}

/* ---- The cache ---- */

static void equal_launches_are_found(void **state)
{
    (void)state;
    struct launch guard = {"guard", {4}, {256}, {POINTER(0), 1000}, ""};
    struct call call;
    struct ptx_module *m = ranges_module();
    struct access_launch *launch = call_make(&call, &guard);
    struct access_kernel *kernel = access_kernel_create(kernel_of(m, "guard"));
    const struct access_set *first = access_set_find(kernel, launch);
    assert_int_equal(access_statistics_of(kernel).misses, 1);
    assert_ptr_equal(access_set_find(kernel, launch), first);
    guard.parameters[0] = POINTER(5); /* it is relative to the pointers */
    assert_ptr_equal(access_set_find(kernel, launch), first);
    assert_int_equal(access_statistics_of(kernel).hits, 2);
    assert_int_equal(access_statistics_of(kernel).misses, 1);
    guard.parameters[1] = 999;
    assert_set(m, "guard", access_set_find(kernel, launch), "0:w@0+3996");
    launch->grid[0] = 2;
    assert_set(m, "guard", access_set_find(kernel, launch), "0:w@0+2048");
    launch->block[0] = 64;
    assert_set(m, "guard", access_set_find(kernel, launch), "0:w@0+512");
    assert_int_equal(access_statistics_of(kernel).misses, 4);
    launch->block[0] = 256;
    launch->grid[0] = 4;
    guard.parameters[1] = 1000;
    assert_set(m, "guard", access_set_find(kernel, launch), "0:w@0+4000");
    assert_int_equal(access_statistics_of(kernel).hits, 3);
    access_kernel_release(kernel);
    ptx_module_release(m);
}

/* A path that reads a scalar for the first time: what was kept without it must not answer. */
static void later_dependence_is_noticed(void **state)
{
    (void)state;
    struct launch tile = {"tile", {2, 2}, {8, 4}, {POINTER(0), 0, 7, 40}, ""};
    struct call call;
    struct ptx_module *m = ranges_module();
    struct access_launch *launch = call_make(&call, &tile);
    struct access_kernel *kernel = access_kernel_create(kernel_of(m, "tile"));
    assert_set(m, "tile", access_set_find(kernel, launch), "");
    tile.parameters[1] = 13;
    assert_set(m, "tile", access_set_find(kernel, launch), "0:w@0+52x7/160");
    tile.parameters[3] = 50;
    assert_set(m, "tile", access_set_find(kernel, launch), "0:w@0+52x7/200");
    tile.parameters[2] = 3;
    assert_set(m, "tile", access_set_find(kernel, launch), "0:w@0+52x3/200");
    tile.parameters[1] = 0;
    assert_set(m, "tile", access_set_find(kernel, launch), "");
    access_kernel_release(kernel);
    ptx_module_release(m);
}

static void different_launches_are_bounded(void **state)
{
    (void)state;
    struct launch guard = {"guard", {64}, {256}, {POINTER(0), 0}, ""};
    struct call call;
    struct ptx_module *m = ranges_module();
    struct access_launch *launch = call_make(&call, &guard);
    struct access_kernel *kernel = access_kernel_create(kernel_of(m, "guard"));
    size_t full = 0;
    for (uint32_t i = 1; i <= 4000; i++) {
        char expected[32];
        guard.parameters[1] = i;
        snprintf(expected, sizeof expected, "0:w@0+%u", 4 * i);
        assert_set(m, "guard", access_set_find(kernel, launch), expected);
        if (i == 2000)
            full = mallinfo2().uordblks;
    }
    assert_true(mallinfo2().uordblks < full + (64 << 10));
    struct access_statistics statistics = access_statistics_of(kernel);
    assert_int_equal(statistics.misses, 4000);
    assert_int_equal(statistics.hits, 0);
    assert_true(statistics.evictions > 3000);
    access_set_find(kernel, launch); /* the last is there still */
    assert_int_equal(access_statistics_of(kernel).hits, 1);
    access_kernel_release(kernel);
    ptx_module_release(m);
}

/* ---- Budgets ---- */

static double milliseconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

/* A write through p that no set may leave out. */
static void assert_write_found(const struct access_set *set)
{
    bool found = !set->complete;
    assert_consistent(set);
    for (uint32_t i = 0; i < set->range_count; i++)
        found |= set->ranges[i].kind == ACCESS_WRITE;
    assert_true(found);
}

static void irreducible_control_flow(void **state)
{
    (void)state;
    struct call call;
    struct ptx_module *m =
        parse_body(THREAD "setp.lt.u32 %p1, %r1, %r2;\n@%p1 bra B;\n"
                          "A: st.global.u32 [%rd3], %r1;\nadd.u64 %rd3, %rd3, 4;\n"
                          "B: add.u32 %r1, %r1, 1;\nsetp.lt.u32 %p2, %r1, 100;\n@%p2 bra A;\nret;");
    struct access_kernel *kernel = access_kernel_create(kernel_of(m, "k"));
    const struct access_set *set = find_body(kernel, &call, 64, 50);
    assert_write_found(set);
    assert_false(set->exact);
    assert_non_null(strstr(set->reason, "irreducible"));
    access_kernel_release(kernel);
    ptx_module_release(m);
}

static void loops_without_an_end(void **state)
{
    (void)state;
    static const char *const texts[] = {
        THREAD "A: st.global.u32 [%rd3], %r1;\nadd.u64 %rd3, %rd3, 256;\nbra A;",
        THREAD "A: st.global.u32 [%rd3], %r1;\nadd.u64 %rd3, %rd3, 256;\n"
               "ld.global.u32 %r3, [%rd2];\nsetp.ne.u32 %p1, %r3, 0;\n@%p1 bra A;\nret;",
        THREAD "A: st.global.u32 [%rd3], %r1;\nmad.lo.u32 %r1, %r1, 5, 1;\n"
               "mul.wide.u32 %rd1, %r1, 4;\nadd.u64 %rd3, %rd2, %rd1;\n"
               "setp.ne.u32 %p1, %r1, %r2;\n@%p1 bra A;\nret;",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct call call;
        struct ptx_module *m = parse_body(texts[i]);
        struct access_kernel *kernel = access_kernel_create(kernel_of(m, "k"));
        const struct access_set *set = find_body(kernel, &call, 64, 50);
        assert_write_found(set);
        assert_false(set->exact);
        access_kernel_release(kernel);
        ptx_module_release(m);
    }
}

/* `count` times: add to the address, store. */
static void check_straight_kernel(uint32_t count, bool within_budget)
{
    static const char line[] = "add.u64 %rd3, %rd3, 8;\nst.global.u32 [%rd3], %r1;\n";
    char *text = malloc(count / 2 * (sizeof line - 1) + 1024), *at = text;
    struct call call;
    assert_non_null(text);
    at += sprintf(at, "%s", THREAD);
    for (uint32_t i = 0; i < count / 2; i++, at += sizeof line - 1)
        memcpy(at, line, sizeof line);
    sprintf(at, "ret;");
    struct ptx_module *m = parse_body(text);
    struct access_kernel *kernel = access_kernel_create(kernel_of(m, "k"));
    double start = milliseconds();
    const struct access_set *set = find_body(kernel, &call, 2, 50);
    print_message("%u instructions: %.1f ms, %u ranges, %s\n", count, milliseconds() - start,
                  set->range_count, set->exact ? "exact" : set->reason);
    assert_write_found(set);
    assert_int_equal(set->exact, within_budget);
    access_kernel_release(kernel);
    ptx_module_release(m);
    free(text);
}

static void long_straight_kernels(void **state)
{
    (void)state;
    check_straight_kernel(1000, true);
    check_straight_kernel(100000, false);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(compiled_kernels),
        cmocka_unit_test(pointers_in_a_struct),
        cmocka_unit_test(integer_is_no_pointer),
        cmocka_unit_test(pointer_read_from_memory),
        cmocka_unit_test(unreadable_pointer_is_incomplete),
        cmocka_unit_test(unknown_parameters),
        cmocka_unit_test(hand_written_kernels),
        cmocka_unit_test(random_launches),
        cmocka_unit_test(equal_launches_are_found),
        cmocka_unit_test(later_dependence_is_noticed),
        cmocka_unit_test(different_launches_are_bounded),
        cmocka_unit_test(irreducible_control_flow),
        cmocka_unit_test(loops_without_an_end),
        cmocka_unit_test(long_straight_kernels),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
