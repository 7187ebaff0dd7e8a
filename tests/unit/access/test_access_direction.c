/* Directions of kernels: those of tests/data/ptx/directions.cu as nvcc compiles them for three
 * architectures, then shapes that only hand-written PTX has. */
#include "tests/unit/ptx/test_ptx.h"

#include <time.h>

#include "runtime/access/direction.h"

/* "0:rw 1+16:r? t2:r counter:a !reason": parameter[+offset in it]:kinds, ? when guessed; t, s or m
 * when it is a texture, surface or tensor map */
static void describe(const struct ptx_function *kernel, const struct access_directions *d, char *to,
                     size_t bytes)
{
    char *at = to, *end = to + bytes;
    *to = 0;
    for (uint32_t i = 0; i < d->count; i++) {
        const struct access_pointer *p = &d->pointers[i];
        at += snprintf(at, (size_t)(end - at), "%s", i ? " " : "");
        if (p->source == ACCESS_SOURCE_VARIABLE) {
            at += snprintf(at, (size_t)(end - at), "%s", p->variable->name);
        } else {
            uint32_t inside = p->param_offset - kernel->params[p->param_index].offset;
            static const char *const objects[] = {"", "t", "s", "m"};
            at += snprintf(at, (size_t)(end - at), inside ? "%s%u+%u" : "%s%u", objects[p->object],
                           p->param_index, inside);
        }
        at += snprintf(at, (size_t)(end - at), ":%s%s%s%s", p->reads ? "r" : "",
                       p->writes ? "w" : "", p->atomics ? "a" : "", p->guessed ? "?" : "");
    }
    if (!d->complete)
        snprintf(at, (size_t)(end - at), "%s!%s", d->count ? " " : "", d->reason);
}

/* `expected` may be several alternatives, one a line. A reason needs only to start as expected. */
static bool matches(const char *found, const char *expected)
{
    while (*expected) {
        size_t length = strcspn(expected, "\n");
        bool prefix = memchr(expected, '!', length) != NULL;
        if (strncmp(found, expected, length) == 0 && (prefix || found[length] == 0))
            return true;
        expected += length + (expected[length] == '\n');
    }
    return *found == 0;
}

static void assert_directions(const struct ptx_module *m, const char *name, const char *expected)
{
    char found[1024];
    const struct ptx_function *kernel = ptx_module_function(m, name);
    if (!kernel)
        fail_msg("no kernel %s", name);
    const struct access_directions *d = access_directions_find(kernel);
    assert_non_null(d);
    describe(kernel, d, found, sizeof found);
    if (!matches(found, expected))
        fail_msg("%s (sm_%u): %s\nexpected: %s", name, m->target, found, expected);
    assert_true(d->complete == (strchr(expected, '!') == NULL));
    if (!d->complete && strstr(d->reason, "PTX line"))
        assert_true(d->reason_line > 0);
    access_directions_release(d);
}

struct expectation {
    const char *kernel, *expected;
};

static const struct expectation kernels[] = {
    {"saxpy", "0:rw 1:r"},
    {"write_only", "0:w"},
    {"untouched", "2:w"},
    {"by_value", "0:w 0+16:r"},
    {"struct_behind", "1+16:r 3:w"},
    /* 8 bytes from 32 on hold a count and padding, or are never read as 8 bytes */
    {"indexed", "0:w? 0+8:w? 0+16:w? 0+24:w? 0+32:w?\n0:w? 0+8:w? 0+16:w? 0+24:w?"},
    {"indexed_in_place", "0:w? 0+8:w? 0+16:w? 0+24:w? 0+32:w?"},
    {"variables", "0:w counter:rw weights:r table:rw flag:w"},
    {"through_calls", "0:w 1:r"},
    {"struct_to_call", "0:w 0+16:r 0+24:r"},
    {"struct_from_call", "0:w 1:r"},
    {"recursion", "0:r 1:w"},
    {"function_pointer", "0:w writers:r"},
    {"function_select", "0:w"},
    {"generic_shared", "0:w"},
    {"generic_either", "0:w"},
    {"pointer_select", "0:w 1:w"},
    {"pointer_bump", "0:w 1:r"},
    {"byte_offset", "0:w 2:r"},
    {"size_stride", "0:w 2:r"},
    {"as_integer", "0:w? 1:w?"},
    {"as_integer_alone", "0:w"},
    {"data_index", "0:r 1:r 2:w"},
    {"byte_data_index", "0:w 1:r"},
    {"atomics", "0:a 1:wa 2:a"},
    {"block_atomics", "0:rw 1:a"},
    {"volatiles", "0:a 1:w"},
    {"scoped", "0:a 1:rw 2:w"},
    {"async_copy", "0:w 1:r"},
    {"bulk_copy", "0:w 1:r"},
    {"matrix", "0:w 1:r 2:r"},
    {"prefetches", "1:w"},
    {"loaded_pointer", "0:r 1:w !a pointer loaded from memory: PTX line "},
    {"pointer_in_variable", "0:w stored_pointer:r !a pointer loaded from memory: PTX line "},
    {"pointers_in_shared", "0:w 1:w"},
    {"local_array", "0:w? 1:w? 2:r\n0:w 1:w 2:r"},
    {"split_pointer", "0:w 1:r"},
    {"difference", "0:w? 1:w\n0:w 1:w"}, /* really 0 alone, by way of 1 */
    {"printing", "0:r"},
    {"heap", "0:w"},
    {"textures", "0:w t1:r"},
    {"returned_pointer", "0:w"},
    {"empty", ""},
    {"virtual_call", "0:rw _ZTV4base:r _ZTV7derived:r\n0:rw"},
};

static void assert_file(const char *file, const struct expectation *expected, size_t count)
{
    size_t bytes;
    char *text = data_read(file, &bytes);
    struct ptx_module *m = parse_text(text);
    for (size_t i = 0; i < count; i++)
        assert_directions(m, expected[i].kernel, expected[i].expected);
    uint32_t entries = 0;
    for (uint32_t i = 0; i < m->function_count; i++)
        entries += m->functions[i]->is_entry;
    assert_int_equal(entries, count);
    ptx_module_release(m);
    free(text);
}

static void compiled_kernels(void **state)
{
    (void)state;
    static const char *const files[] = {"directions.sm_75.ptx", "directions.sm_90.ptx",
                                        "directions.sm_100.ptx"};
    for (size_t f = 0; f < sizeof files / sizeof *files; f++)
        assert_file(files[f], kernels, sizeof kernels / sizeof *kernels);
}

/* tests/data/ptx/objects.cu: textures and surfaces, and from sm_90 on tensor maps, last. */
static const struct expectation objects[] = {
    {"fetch", "t0:r 1:w"},
    {"image", "t0:r 1:w"},
    {"gather", "t0:r 1:w"},
    {"level", "t0:r 1:w"},
    {"surface_write", "s0:w"},
    {"surface_read", "s0:r 1:w"},
    {"surface_reduce", "s0:a"},
    {"texture_of_struct", "t0+16:r 0+32:w"},
    {"texture_by_index", "t0+8:r? t0+16:r? t0+24:r? 0+32:w t0+32:r?\n"
                         "t0:r? t0+8:r? t0+16:r? t0+24:r? 0+32:w t0+32:r?"},
    {"texture_select", "t0:r t1:r 2:w"},
    {"texture_to_call", "t0:r 1:w"},
    {"texture_loaded", "0:r 1:w !a texture object that is no parameter: PTX line "},
    {"texture_constant", "0:w handle:r !a texture object that is no parameter: PTX line "},
    {"tensor_load", "m0:r"},
    {"tensor_store", "m0:w"},
    {"tensor_reduce", "m0:a"},
    {"tensor_prefetch", ""},
    {"tensor_policy", "m0:w"},
    {"tensor_of_struct", "m0+256:w"},
    /* sm_100 picks the offset, not the address */
    {"tensor_select", "m0+128:w m0+256:w\nm0:w? m0+64:w? m0+128:w? m0+192:w? m0+256:w?"},
    {"tensor_by_index", "m0:w? m0+64:w? m0+128:w?"},
    {"tensor_pointer", "!a tensor map that is no parameter: PTX line "},
    {"tensor_constant", "!a tensor map that is no parameter: PTX line "},
};

static void compiled_objects(void **state)
{
    (void)state;
    size_t count = sizeof objects / sizeof *objects, old = 0;
    while (old < count && strncmp(objects[old].kernel, "tensor", strlen("tensor")) != 0)
        old++;
    assert_file("objects.sm_75.ptx", objects, old);
    assert_file("objects.sm_90.ptx", objects, count);
    assert_file("objects.sm_100.ptx", objects, count);
}

/* The library's kernels: what CUB's documentation says they do to each parameter. */
static void cub_kernels(void **state)
{
    (void)state;
    static const struct {
        const char *part, *expected;
    } expectations[] = {
        {"DeviceReduceSingleTile", "0:r 1:w"},
        {"DeviceReduceKernel", "0:r 1:w"},
        {"DeviceScanInit", "0:w"},
        {"DeviceScanKernel", "0:r 1:w 2:a"}, /* the tile states, by strong loads and stores */
        {"RadixSortSingleTile", "0:r 1:w"},
        {"RadixSortHistogram", "0:a 1:r"},
        {"RadixSortExclusiveSum", "0:rw"},
        {"RadixSortOnesweep", "0:a 1:a 2:w 3:r 4:w 5:r"},
    };
    static const char *const files[] = {"library.sm_90.ptx", "library.sm_100.ptx"};
    for (size_t f = 0; f < 2; f++) {
        size_t bytes, checked = 0;
        char *text = data_read(files[f], &bytes);
        struct ptx_module *m = parse_text(text);
        for (uint32_t i = 0; i < m->function_count; i++) {
            for (size_t e = 0; e < sizeof expectations / sizeof *expectations; e++) {
                if (!strstr(m->functions[i]->name, expectations[e].part))
                    continue;
                assert_directions(m, m->functions[i]->name, expectations[e].expected);
                checked++;
            }
        }
        assert_true(checked >= 8);
        ptx_module_release(m);
        free(text);
    }
}

static void assert_body(const char *body, const char *expected)
{
    struct ptx_module *m = parse_body(body);
    assert_directions(m, "k", expected);
    ptx_module_release(m);
}

#define LOAD_P "ld.param.u64 %rd1, [p];\n"

static void handwritten(void **state)
{
    (void)state;
    assert_body("st.global.u32 [4096], 1;", "!an address of unknown origin: PTX line");
    assert_body("st.global.u32 [%rd7], 1;", "!an address of unknown origin");
    assert_body("shl.b64 %rd2, %rd1, 3; st.global.u32 [%rd2], 1;", "!an address of unknown origin");
    assert_body("mov.u64 %rd1, %clock64; st.u32 [%rd1], 1;", "!an address of unknown origin");
    assert_body("ld.local.u32 %r1, [%rd5];", "!a local address of unknown origin");
    assert_body(LOAD_P "frob.global.u32 [%rd1], 3;",
                "!an instruction that is not modelled: PTX line 9, frob");
    assert_body(LOAD_P "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r1], 32;\n"
                       "tcgen05.mma.cta_group::1.kind::f16 [%r1], %rd2, %rd3, %r2, %p1;\n"
                       "tcgen05.ld.sync.aligned.32x32b.x2.b32 {%r3, %r4}, [%r1];\n"
                       "st.global.u32 [%rd1], %r3;",
                "0:w");
    assert_body(LOAD_P "frob.u64 %rd1, %rd2; st.u32 [%rd1], 1;",
                "0:w !a pointer loaded from memory");
    assert_body(LOAD_P "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx"
                       "::bytes [%r1], [%rd1, {%r2, %r3}], [%r4];",
                "!a tensor map that is no parameter: PTX line ");
    assert_body("sust.b.1d.b32.trap [%rd1, {%r1}], {%r2};",
                "!a surface object that is no parameter: PTX line ");
    assert_body(LOAD_P "add.s64 %rd2, %rd1, %rd3; tex.1d.v4.f32.s32 {%f1, %f2, %f3, %f4}, [%rd2, "
                       "{%r1}];",
                "t0:r");
    assert_body(LOAD_P "tex.1d.v4.f32.s32 {%f1, %f2, %f3, %f4}, [%rd1];",
                "!coordinates without an object: PTX line ");
    assert_body(LOAD_P "ld.global.u32 %r2, [%rd1]; suld.b.1d.b32.trap {%r3}, [%rd1, {%r2}];\n"
                       "sust.b.1d.b32.trap [%rd1, {%r2}], {%r3};",
                "0:r s0:rw");
    /* masks, tags, halves with carry, bytes put together */
    assert_body(LOAD_P "and.b64 %rd1, %rd1, -16; or.b64 %rd1, %rd1, 1; st.u32 [%rd1], 1;", "0:w");
    assert_body(LOAD_P "mov.b64 {%r1, %r2}, %rd1; add.cc.u32 %r1, %r1, 8; addc.u32 %r2, %r2, 0;\n"
                       "mov.b64 %rd2, {%r1, %r2}; st.u32 [%rd2], 1;",
                "0:w");
    assert_body("ld.param.v2.u32 {%r1, %r2}, [p]; cvt.u64.u32 %rd1, %r1; cvt.u64.u32 %rd2, %r2;\n"
                "shl.b64 %rd2, %rd2, 32; or.b64 %rd3, %rd1, %rd2; ld.u32 %r3, [%rd3];",
                "0:r");
    assert_body("ld.param.u32 %r1, [p]; ld.param.u32 %r2, [p+4];\n"
                "cvt.u64.u32 %rd1, %r1; cvt.u64.u32 %rd2, %r2; bfi.b64 %rd3, %rd2, %rd1, 32, 32;\n"
                "ld.u32 %r3, [%rd3];",
                "0:r");
    assert_body(".local .align 8 .b8 frame[16]; ld.param.u32 %r1, [p]; ld.param.u32 %r2, [p+4];\n"
                "st.local.u32 [frame+8], %r1; st.local.u32 [frame+12], %r2;\n"
                "ld.local.u64 %rd1, [frame+8]; st.u8 [%rd1], 1;",
                "0:w");
}

/* An instruction of a kernel whose one parameter is a tensor map, at %rd1; "t" is a texture of the
 * module. */
static void assert_object(const char *instruction, const char *expected)
{
    char text[2048];
    snprintf(text, sizeof text,
             HEAD ".global .texref t;\n.global .samplerref s;\n"
                  ".visible .entry k(.param .align 128 .b8 m[128])\n{\n"
                  ".reg .pred %%p<9>; .reg .b32 %%r<9>; .reg .b64 %%rd<9>; .reg .f32 %%f<9>;\n"
                  ".reg .b16 %%rs<9>;\nmov.b64 %%rd2, m; cvta.param.u64 %%rd1, %%rd2;\n%s\n}\n",
             instruction);
    struct ptx_module *m = parse_text(text);
    assert_directions(m, "k", expected);
    ptx_module_release(m);
}

#define COMPLETE ".mbarrier::complete_tx::bytes"

/* PTX ISA, "cp.async.bulk.tensor", "cp.reduce.async.bulk.tensor", "tex" */
static void object_forms(void **state)
{
    (void)state;
    assert_object("cp.async.bulk.tensor.5d.shared::cluster.global.im2col" COMPLETE
                  ".multicast::cluster.L2::cache_hint [%r1], [%rd1, {%r1, %r2, %r3, %r4, %r5}], "
                  "[%r6], {%rs1, %rs2, %rs3}, %rs4, %rd3;",
                  "m0:r");
    assert_object("cp.async.bulk.tensor.2d.shared::cta.global.tile::gather4" COMPLETE
                  ".cta_group::2 [%r1], [%rd1, {%r1, %r2, %r3, %r4, %r5}], [%r6];",
                  "m0:r");
    assert_object("cp.async.bulk.tensor.2d.global.shared::cta.tile::scatter4.bulk_group "
                  "[%rd1, {%r1, %r2, %r3, %r4, %r5}], [%r6];",
                  "m0:w");
    assert_object("cp.async.bulk.tensor.1d.global.shared::cta.bulk_group [%rd1, {%r1}], [%r6];",
                  "m0:w");
    assert_object("cp.reduce.async.bulk.tensor.3d.global.shared::cta.or.im2col_no_offs.bulk_group"
                  ".L2::cache_hint [%rd1, {%r1, %r2, %r3}], [%r6], %rd3;",
                  "m0:a");
    assert_object("@%p1 cp.async.bulk.tensor.1d.global.shared::cta.bulk_group [m, {%r1}], [%r6];",
                  "m0:w");
    assert_object("cp.async.bulk.prefetch.tensor.3d.L2.global.im2col [%rd1, {%r1, %r2, %r3}], "
                  "{%rs1};",
                  "");
    assert_object("add.s64 %rd4, %rd1, 64; cp.async.bulk.tensor.1d.global.shared::cta.bulk_group "
                  "[%rd4, {%r1}], [%r6];",
                  "!a tensor map that is no parameter"); /* it would end behind the parameter */
    assert_object("tex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [t, {%f5, %f6}];",
                  "!a texture object that is no parameter");
    assert_object("tex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [t, s, {%f5, %f6}];",
                  "!a texture object that is no parameter");
    assert_object("txq.width.b32 %r1, [t];", "");
}

/* What g + 4 * ((p - g) / 4) reaches is p. */
static void differences(void **state)
{
    (void)state;
    struct ptx_module *m = parse_text(
        HEAD ".global .u32 g[4];\n.visible .entry k(.param .u64 p, .param .u64 n) {\n"
             ".reg .b64 %rd<9>; ld.param.u64 %rd1, [p];\n"
             "cvta.to.global.u64 %rd2, %rd1; mov.u64 %rd3, g;\n"
             "sub.s64 %rd4, %rd2, %rd3; shr.s64 %rd4, %rd4, 2; mul.lo.s64 %rd4, %rd4, 4;\n"
             "add.s64 %rd5, %rd3, %rd4; st.global.u32 [%rd5], 1; ret; }\n"
             /* the difference of two numbers is none of pointers */
             ".visible .entry j(.param .u64 p, .param .u64 n, .param .u64 m) {\n"
             ".reg .b64 %rd<9>; ld.param.u64 %rd1, [p]; cvta.to.global.u64 %rd2, %rd1;\n"
             "ld.param.u64 %rd3, [n]; ld.param.u64 %rd4, [m]; sub.s64 %rd5, %rd3, %rd4;\n"
             "shl.b64 %rd5, %rd5, 2; add.s64 %rd6, %rd2, %rd5; st.global.u32 [%rd6], 1; ret; }\n");
    assert_directions(m, "k", "0:w g:w");
    assert_directions(m, "j", "0:w");
    ptx_module_release(m);
}

static void frames(void **state)
{
    (void)state;
    /* a loop that walks a frame, offsets without end */
    assert_body(".local .align 8 .b8 f[800]; " LOAD_P "mov.u64 %rd2, f;\n"
                "L: st.local.u64 [%rd2], %rd1; add.s64 %rd2, %rd2, 8; @%p1 bra L;\n"
                "ld.local.u64 %rd3, [f+40]; st.u32 [%rd3], 1;",
                "0:w");
    /* the use stands before the definition in the text */
    assert_body(".local .align 8 .b8 f[8]; bra B; A: ld.local.u64 %rd3, [%rd2]; st.u32 [%rd3], 1;\n"
                "ret; B: " LOAD_P "mov.u64 %rd2, f; st.local.u64 [%rd2], %rd1; bra A;",
                "0:w");
    assert_body(LOAD_P
                "cvt.u64.u32 %rd9, %r1; alloca.u64 %rd2, %rd9, 16;\n"
                "cvta.local.u64 %rd3, %rd2; st.u64 [%rd3+8], %rd1; ld.local.u64 %rd4, [%rd2];\n"
                "ld.u32 %r2, [%rd4];",
                "0:r?");
    /* more cells than are kept apart */
    char *body = malloc(1 << 16), *end = body;
    end += sprintf(end, "%s%s", ".local .align 8 .b8 f[2400]; ", LOAD_P);
    for (int i = 0; i < 300; i++)
        end += sprintf(end, "st.local.u64 [f+%d], %%rd1;\n", 8 * i);
    sprintf(end, "ld.local.u64 %%rd2, [f+1000]; st.u32 [%%rd2], 1;");
    assert_body(body, "0:w");
    free(body);
}

static void strength(void **state)
{
    (void)state;
    static const struct {
        const char *text, *expected;
    } cases[] = {
        {"ld.relaxed.gpu.global.u32 %r1, [%rd1];", "0:a"},
        {"ld.acquire.sys.u32 %r1, [%rd1];", "0:a"},
        {"ld.relaxed.cta.global.u32 %r1, [%rd1];", "0:r"},
        {"ld.acquire.cluster.global.u32 %r1, [%rd1];", "0:r"},
        {"ld.weak.global.u32 %r1, [%rd1];", "0:r"},
        {"ld.volatile.u32 %r1, [%rd1];", "0:a"},
        {"ld.mmio.relaxed.sys.global.u32 %r1, [%rd1];", "0:a"},
        {"ld.global.nc.L2::128B.u32 %r1, [%rd1];", "0:r"},
        {"ldu.global.u32 %r1, [%rd1];", "0:r"},
        {"st.release.gpu.global.u32 [%rd1], %r1;", "0:a"},
        {"st.release.cta.global.u32 [%rd1], %r1;", "0:w"},
        {"st.volatile.global.u32 [%rd1], %r1;", "0:a"},
        {"atom.global.add.u32 %r1, [%rd1], 1;", "0:a"},
        {"atom.relaxed.cta.global.add.u32 %r1, [%rd1], 1;", "0:rw"},
        {"red.cluster.global.add.u32 [%rd1], 1;", "0:rw"},
        {"red.global.add.u32 [%rd1], 1;", "0:a"},
        {"atom.shared.add.u32 %r1, [%r2], 1;", ""},
        {"ld.volatile.shared.u32 %r1, [%r2];", ""},
        {"prefetch.global.L2 [%rd1];", ""},
        {"discard.global.L2 [%rd1], 128;", "0:w"},
        {"applypriority.global.L2::evict_normal [%rd1], 128;", ""},
        {"fence.sc.gpu;", ""},
        {"cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%rd1], [%r1], 64;", "0:a"},
        {"cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%r1], [%r2], 16, "
         "[%r3];",
         ""},
        {"multimem.red.relaxed.sys.global.add.f32 [%rd1], %f1;", "0:a"},
        {"multimem.ld_reduce.weak.global.add.f32 %f1, [%rd1];", "0:a"},
        {"wmma.store.d.sync.aligned.row.m16n16k16.f32 [%rd1], {%f1,%f1,%f1,%f1,%f1,%f1,%f1,%f1};",
         "0:w"},
        {"tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned "
         "[%rd1], [%r1], 128;",
         "0:w"},
        {"ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r1}, [%r2];", ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char body[512];
        snprintf(body, sizeof body, "%s%s", LOAD_P, cases[i].text);
        assert_body(body, cases[i].expected);
    }
}

static void calls(void **state)
{
    (void)state;
    struct ptx_module *m = parse_text(
        HEAD
        ".extern .func gone(.param .b64 a);\n"
        ".extern .func (.param .b64 r) gone_too();\n"
        ".func (.reg .b64 r) pass(.reg .b64 a) { add.s64 r, a, 8; ret; }\n"
        ".func target(.param .b64 a) { .reg .b64 %rd<3>; ld.param.u64 %rd1, [a];\n"
        "  st.u32 [%rd1], 1; ret; }\n"
        ".func other(.param .b64 a, .param .b64 b) { .reg .b64 %rd<3>; ld.param.u64 %rd1, [b];\n"
        "  st.u32 [%rd1], 1; ret; }\n"
        ".visible .entry unresolved(.param .u64 p) { .reg .b64 %rd<9>; ld.param.u64 %rd1, [p];\n"
        "  { .param .b64 x; st.param.b64 [x], %rd1; call gone, (x); } ret; }\n"
        ".visible .entry unresolved_result() { .reg .b64 %rd<9>;\n"
        "  { .param .b64 x; call (x), gone_too; ld.param.b64 %rd1, [x]; } st.u32 [%rd1], 1; ret; "
        "}\n"
        ".visible .entry registers(.param .u64 p) { .reg .b64 %rd<9>; ld.param.u64 %rd1, [p];\n"
        "  call (%rd2), pass, (%rd1); st.u32 [%rd2], 1; ret; }\n"
        ".visible .entry listed(.param .u64 p, .param .u64 f) { .reg .b64 %rd<9>;\n"
        "  ld.param.u64 %rd1, [p]; ld.param.u64 %rd2, [f];\n"
        "  { .param .b64 x; st.param.b64 [x], %rd1; t: .calltargets target;\n"
        "  call %rd2, (x), t; } ret; }\n"
        ".visible .entry any_pointer(.param .u64 p, .param .u64 f) { .reg .b64 %rd<9>;\n"
        "  ld.param.u64 %rd1, [p]; ld.param.u64 %rd2, [f];\n"
        "  { .param .b64 x; st.param.b64 [x], %rd1; t: .callprototype _ (.param .b64 _);\n"
        "  call %rd2, (x), t; } ret; }\n");
    assert_directions(m, "unresolved", "!call of 'gone', whose code is not there: PTX line ");
    /* the access through what it returned is found first */
    assert_directions(m, "unresolved_result", "!a pointer loaded from memory: PTX line ");
    assert_directions(m, "registers", "0:w");
    assert_directions(m, "listed", "0:w");
    assert_directions(m, "any_pointer", "!call through a pointer of unknown value: PTX line ");
    ptx_module_release(m);

    /* the same call when the module takes the address of a function of that signature */
    m = parse_text(
        HEAD
        ".func target(.param .b64 a) { .reg .b64 %rd<3>; ld.param.u64 %rd1, [a];\n"
        "  st.u32 [%rd1], 1; ret; }\n"
        ".func other(.param .b64 a, .param .b64 b) { .reg .b64 %rd<3>; ld.param.u64 %rd1, [b];\n"
        "  ld.u32 %rd2, [%rd1]; ret; }\n"
        ".global .u64 pointers[2] = {target, other};\n"
        ".visible .entry any_pointer(.param .u64 p, .param .u64 f) { .reg .b64 %rd<9>;\n"
        "  ld.param.u64 %rd1, [p]; ld.param.u64 %rd2, [f];\n"
        "  { .param .b64 x; st.param.b64 [x], %rd1; t: .callprototype _ (.param .b64 _);\n"
        "  call %rd2, (x), t; } ret; }\n");
    assert_directions(m, "any_pointer", "0:w");
    ptx_module_release(m);
}

/* Of the processor, which others may use meanwhile. */
static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* 100,000 instructions with every kind of step; the result must not cost the program a pause. */
static void large_kernels(void **state)
{
    (void)state;
    enum { STEPS = 14000 };
    char *body = malloc(STEPS * 400 + 4096), *end = body;
    end += sprintf(end,
                   ".reg .b64 %%q<%d>; .reg .b32 %%s<%d>; .local .align 8 .b8 f[1024];\n%s"
                   "cvta.to.global.u64 %%q0, %%rd1; mov.u32 %%s0, %%tid.x;\n",
                   STEPS * 4 + 8, STEPS + 2, LOAD_P);
    for (int i = 0; i < STEPS; i++)
        end += sprintf(end,
                       "L%d: ld.global.u32 %%s%d, [%%q%d];\nmul.wide.s32 %%q%d, %%s%d, 4;\n"
                       "add.s64 %%q%d, %%q%d, %%q%d;\nst.local.u64 [f+%d], %%q%d;\n"
                       "ld.local.u64 %%q%d, [f+%d];\nst.global.u32 [%%q%d], %%s%d;\n"
                       "@%%p1 bra L%d;\n",
                       i, i + 1, 4 * i, 4 * i + 1, i + 1, 4 * i + 2, 4 * i, 4 * i + 1, i % 128 * 8,
                       4 * i + 2, 4 * i + 4, i % 128 * 8, 4 * i + 4, i + 1, i / 2);
    struct ptx_module *m = parse_body(body);
    const struct ptx_function *kernel = m->functions[0];
    assert_true(kernel->instruction_count > 90000);
    double start = seconds();
    const struct access_directions *d = access_directions_find(kernel);
    double took = seconds() - start;
    if (!d->complete)
        fail_msg("%s", d->reason);
    assert_int_equal(d->count, 1);
    assert_true(d->pointers[0].reads && d->pointers[0].writes);
    print_message("%u instructions, %u visits, %.1f ms\n", kernel->instruction_count, d->visits,
                  took * 1000);
    assert_true(took < 1.0); /* with a sanitizer; plainly it is some 20 ms */
    access_directions_release(d);
    ptx_module_release(m);
    free(body);
}

/* A chain that the sweeps run against gives up at the budget and says so. */
static void budget(void **state)
{
    (void)state;
    enum { STEPS = 20000 };
    char *body = malloc(STEPS * 64 + 4096), *end = body;
    end += sprintf(end, ".reg .b64 %%q<%d>;\n", STEPS + 2);
    for (int i = 0; i < STEPS; i++)
        end += sprintf(end, "mov.u64 %%q%d, %%q%d;\n", i, i + 1);
    sprintf(end, "ld.param.u64 %%q%d, [p]; st.u32 [%%q0], 1;\n", STEPS);
    struct ptx_module *m = parse_body(body);
    double start = seconds();
    assert_directions(m, "k", "!the kernel is too large to analyse within the budget");
    assert_true(seconds() - start < 2.0);
    ptx_module_release(m);
    free(body);
}

/* A struct of 32,760 bytes read through an index: every 8 bytes of it may be a pointer. */
static void huge_parameters(void **state)
{
    (void)state;
    struct ptx_module *m =
        parse_text(HEAD ".visible .entry k(.param .align 8 .b8 s[32760], .param .u32 i) {\n"
                        ".reg .b64 %rd<9>; .reg .b32 %r<9>; ld.param.u32 %r1, [i];\n"
                        "mul.wide.u32 %rd1, %r1, 8; mov.b64 %rd2, s; add.s64 %rd3, %rd2, %rd1;\n"
                        "ld.param.u64 %rd4, [%rd3]; cvta.to.global.u64 %rd5, %rd4;\n"
                        "L: ld.global.u32 %r2, [%rd5]; st.global.u32 [%rd5+4], %r2; bra L; }\n");
    double start = seconds();
    const struct access_directions *d = access_directions_find(m->functions[0]);
    assert_true(seconds() - start < 1.0);
    assert_int_equal(d->count, 4095);
    assert_true(d->pointers[4094].guessed);
    assert_int_equal(d->pointers[4094].param_offset, 32752);
    access_directions_release(d);
    ptx_module_release(m);
}

/* Damaged programs that still parse must not upset the analysis either. */
static void mutated_programs(void **state)
{
    (void)state;
    size_t bytes, analysed = 0;
    char *text = data_read("directions.sm_90.ptx", &bytes);
    uint32_t seed = 4711;
    for (size_t at = 200; at < bytes; at += 211) {
        struct ptx_error error;
        char saved = text[at];
        seed = seed * 1664525u + 1013904223u;
        text[at] = "0123456789rpdf"[(seed >> 8) % 14];
        struct ptx_module *m = ptx_parse(text, bytes, &error);
        for (uint32_t i = 0; m && i < m->function_count; i += 5) {
            const struct access_directions *d = access_directions_find(m->functions[i]);
            assert_non_null(d);
            access_directions_release(d);
            analysed++;
        }
        ptx_module_release(m);
        text[at] = saved;
    }
    assert_true(analysed > 100);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(compiled_kernels),
        cmocka_unit_test(compiled_objects),
        cmocka_unit_test(cub_kernels),
        cmocka_unit_test(handwritten),
        cmocka_unit_test(object_forms),
        cmocka_unit_test(differences),
        cmocka_unit_test(frames),
        cmocka_unit_test(strength),
        cmocka_unit_test(calls),
        cmocka_unit_test(large_kernels),
        cmocka_unit_test(budget),
        cmocka_unit_test(huge_parameters),
        cmocka_unit_test(mutated_programs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
