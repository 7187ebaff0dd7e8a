/* Fields of tensor maps that a kernel replaces (PTX ISA, "tensormap.replace"): each lies where the
 * device reads it, in shared and in global memory; and which fields, axes and values there are not.
 * What is loaded by such maps: tests/integration/tensor_made_numbers.cu. */
#include "tests/unit/device/exec/exec_harness.h"

#include "runtime/device/exec/tensor/tensor_map.h"
#include "runtime/ptx/ir.h"

static struct harness h;

static void open_kernel(const char *body)
{
    char text[4096];
    snprintf(
        text, sizeof text,
        ".version 8.6\n.target sm_90a\n.address_size 64\n"
        ".visible .entry k(.param .u64 p)\n{\n.reg .b64 %%x<4>; .reg .b32 %%t<8>; .reg .pred %%p;\n"
        ".shared .align 128 .b8 map[128];\nld.param.u64 %%x0, [p]; mov.u32 %%t0, %%tid.x;\n"
        "mov.u32 %%t1, map; mov.u64 %%x1, 0x123456789abcde0; mov.u32 %%t2, 77; mov.u32 %%t4, 3;\n"
        "%s\nret;\n}\n",
        body);
    harness_open_text(&h, text);
}

/* The map that one thread makes at `memory`, which is zero before. */
static struct tensor_map made(const char *body, uint64_t *memory)
{
    struct tensor_map map;
    open_kernel(body);
    *memory = harness_allocate(&h, TENSOR_MAP_BYTES);
    memset(harness_host(&h, *memory), 0, TENSOR_MAP_BYTES);
    h.touches = true;
    harness_run(&h, "k", 1, 1, 0, ARGUMENTS(memory));
    memcpy(&map, harness_host(&h, *memory), sizeof map);
    return map;
}

#define SET(field, rest) "tensormap.replace.tile." field " [%x0], " rest ";\n"

static void fields_are_replaced(void **unused)
{
    (void)unused;
    uint64_t memory;
    const struct tensor_map map =
        made(SET("rank.global.b1024.b32", "2") SET("global_address.global.b1024.b64", "%x1")
                 SET("global_dim.global.b1024.b32", "2, %t2") SET("box_dim.b1024.b32", "1, %t4")
                     SET("global_stride.global.b1024.b64", "1, %x1")
                         SET("element_stride.global.b1024.b32", "2, %t4")
                             SET("elemtype.global.b1024.b32", "0xA")
                                 SET("swizzle_mode.global.b1024.b32", "2")
                                     SET("fill_mode.global.b1024.b32", "1")
                                         SET("interleave_layout.global.b1024.b32", "2"),
             &memory);
    assert_int_equal(map.rank, 3);
    assert_int_equal(map.base, 0x123456789abcde0);
    assert_int_equal(map.sizes[2], 77);
    assert_int_equal(map.box[1], 3);
    assert_int_equal(map.strides[2], 0x123456789abcde0);
    assert_int_equal(map.steps[2], 3);
    assert_int_equal(map.type, PTX_BF16);
    assert_int_equal(map.element_bytes, 2);
    assert_int_equal(map.strides[0], 2);
    assert_int_equal(map.swizzle, TENSOR_SWIZZLE_64);
    assert_int_equal(map.nan, 1);
    assert_int_equal(map.interleave, TENSOR_SLICES_32);
    /* "a weak memory operation on the entire tensormap object" */
    assert_int_equal(h.range_count, 1);
    assert_int_equal(h.ranges[0].kind, DEVICE_TRACE_WRITE);
    assert_int_equal(h.ranges[0].address, memory);
    assert_int_equal(h.ranges[0].bytes * (h.ranges[0].dims ? h.ranges[0].count[0] : 1),
                     TENSOR_MAP_BYTES);
    harness_close(&h);
}

/* Fields of sm_100 and later: values of few bits, atoms of a swizzle, and rows of 96 bytes. */
static void newer_fields_are_replaced(void **unused)
{
    (void)unused;
    uint64_t memory;
    struct tensor_map map =
        made(SET("elemtype.global.b1024.b32", "15") SET("global_dim.global.b1024.b32", "0, 256")
                 SET("box_dim.global.b1024.b32", "0, 128") SET("swizzle_mode.global.b1024.b32", "3")
                     SET("swizzle_atomicity.global.b1024.b32", "1"),
             &memory);
    assert_int_equal(map.packing, TENSOR_6_PADDED);
    assert_int_equal(map.element_bytes, 12);
    assert_int_equal(map.atom, TENSOR_ATOM_32);
    assert_true(tensor_map_is_valid(&map));
    assert_int_equal(tensor_map_box_bytes(&map), 128);
    /* the second line: "2 3 0 1 6 7 4 5" */
    assert_int_equal(tensor_map_shared_place(&map, 0, 128), 128 + 32);
    map.atom = TENSOR_ATOM_32_FLIPPED;
    assert_false(tensor_map_is_valid(&map));
    harness_close(&h);

    map = made(SET("box_dim.global.b1024.b32", "0, 96") SET("box_dim.global.b1024.b32", "1, 4")
                   SET("swizzle_mode.global.b1024.b32", "4"),
               &memory);
    assert_true(tensor_map_is_valid(&map));
    assert_int_equal(tensor_map_shared_place(&map, 0, 96), 96);
    assert_int_equal(tensor_map_shared_place(&map, 0, 128), 144);
    map.box[0] = 112;
    assert_false(tensor_map_is_valid(&map));
    harness_close(&h);
}

/* A value that has no room leaves a map that no copy takes. */
static void what_is_too_large_makes_no_valid_map(void **unused)
{
    (void)unused;
    static const char *const bodies[] = {
        SET("rank.global.b1024.b32", "5"), SET("box_dim.global.b1024.b32", "0, 257"),
        SET("global_dim.global.b1024.b32", "0, 0"), SET("element_stride.global.b1024.b32", "0, 9")};
    static const char right[] = SET("box_dim.global.b1024.b32", "0, 16");
    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++) {
        char body[512];
        uint64_t memory;
        struct tensor_map map = made(right, &memory);
        assert_true(tensor_map_is_valid(&map));
        harness_close(&h);
        snprintf(body, sizeof body, "%s%s", right, bodies[i]);
        map = made(body, &memory);
        assert_false(tensor_map_is_valid(&map));
        harness_close(&h);
    }
}

/* All lanes come together before the map is copied: the last one to come has set a field. */
static void a_copy_waits_for_all_lanes(void **unused)
{
    (void)unused;
    struct tensor_map map;
    open_kernel("setp.ne.u32 %p, %t0, 0;\n@%p bra L;\n"
                "st.shared.v4.b32 [%t1], {0, 0, 0, 0}; st.shared.v4.b32 [%t1+16], {0, 0, 0, 0};\n"
                "tensormap.replace.tile.global_address.shared::cta.b1024.b64 [%t1], %x1;\n"
                "L:\ntensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu."
                "sync.aligned [%x0], [%t1], 128;");
    uint64_t memory = harness_allocate(&h, TENSOR_MAP_BYTES);
    harness_run(&h, "k", 1, 32, 0, ARGUMENTS(&memory));
    memcpy(&map, harness_host(&h, memory), sizeof map);
    assert_int_equal(map.magic, TENSOR_MAP_MAGIC);
    assert_int_equal(map.base, 0x123456789abcde0);
    harness_close(&h);
}

static void other_forms_are_refused(void **unused)
{
    (void)unused;
    static const char *const forms[] = {
        SET("elemtype.global.b1024.b32", "16"),
        SET("elemtype.global.b1024.b32", "%t2"),
        SET("swizzle_mode.global.b1024.b32", "5"),
        SET("swizzle_atomicity.global.b1024.b32", "2"), /* 32 bytes, flipped */
        SET("swizzle_atomicity.global.b1024.b32", "4"),
        SET("interleave_layout.global.b1024.b32", "3"),
        SET("fill_mode.global.b1024.b32", "2"),
        SET("box_dim.global.b1024.b32", "5, %t2"),
        SET("global_stride.global.b1024.b64", "4, %x1"),
        SET("global_address.global.b1024.b64", "0, %x1"),
        "tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned "
        "[%x0], [%t1], 64;",
    };
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        char message[512];
        open_kernel(forms[i]);
        assert_false(exec_prepare(h.image, harness_kernel(&h, "k"), message, sizeof message));
        harness_close(&h);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fields_are_replaced),
        cmocka_unit_test(newer_fields_are_replaced),
        cmocka_unit_test(what_is_too_large_makes_no_valid_map),
        cmocka_unit_test(a_copy_waits_for_all_lanes),
        cmocka_unit_test(other_forms_are_refused),
    };
    return harness_run_tests(tests);
}
