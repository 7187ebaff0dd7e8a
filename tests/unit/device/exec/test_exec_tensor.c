/* Where boxes of bulk tensor copies may lie in shared memory. What is copied, and how, is in
 * test_device_tensor.c. */
#include "tests/unit/device/exec/exec_harness.h"

#include "runtime/device/exec/tensor/tensor_map.h"
#include "runtime/ptx/ir.h"

static struct harness h;

enum { SHARED = 8192 };

/* k(map): the first block of a cluster of two loads a box to the begin of its shared memory, as
 * shared::cluster addresses say it. */
static void open_kernel(void)
{
    char text[2048];
    snprintf(text, sizeof text,
             ".version 8.6\n.target sm_90\n.address_size 64\n"
             ".visible .entry k(.param .u64 m)\n{\n.reg .b64 %%x<2>; .reg .b32 %%t<8>; .reg .pred "
             "%%p;\n.shared .align 1024 .b8 data[%d];\n"
             "ld.param.u64 %%x0, [m]; mov.u32 %%t0, data; mov.u32 %%t1, 0;\n"
             "mov.u32 %%t4, %%cluster_ctarank; setp.ne.u32 %%p, %%t4, 0; @%%p bra $E;\n"
             "mapa.shared::cluster.u32 %%t2, %%t0, %%t1;\nadd.u32 %%t3, %%t0, %d;\n"
             "mbarrier.init.shared.b64 [%%t3], 1;\n"
             "cp.async.bulk.tensor.4d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
             "[%%t2], [%%x0, {%%t1, %%t1, %%t1, %%t1}], [%%t3];\n"
             "$E:\nbarrier.cluster.arrive; barrier.cluster.wait;\nret;\n}\n",
             SHARED, SHARED - 8);
    harness_open_text(&h, text);
}

/* A map of numbers that are all outside of the tensor but the first four. */
static struct tensor_map map_of(uint64_t tensor, const uint16_t box[4])
{
    struct tensor_map map;
    tensor_map_begin(&map);
    map.base = tensor;
    map.rank = 4;
    map.type = PTX_U32;
    map.element_bytes = 4;
    map.strides[0] = 4;
    map.sizes[0] = 4;
    for (int i = 0; i < 4; i++)
        map.box[i] = box[i];
    for (int i = 1; i < 4; i++)
        map.strides[i] = 16;
    return map;
}

static enum exec_status load(const uint16_t box[4])
{
    open_kernel();
    h.cluster = 2;
    uint64_t tensor = harness_allocate(&h, 64), memory = harness_allocate(&h, TENSOR_MAP_BYTES);
    const struct tensor_map map = map_of(tensor, box);
    assert_true(tensor_map_is_valid(&map));
    memcpy(harness_host(&h, memory), &map, sizeof map);
    return harness_launch(&h, "k", 2, 1, 0, ARGUMENTS(&memory));
}

static void a_box_lies_in_one_block(void **unused)
{
    (void)unused;
    assert_int_equal(load((const uint16_t[]){4, 3, 5, 2}), EXEC_DONE);
    harness_close(&h);
    /* 4048 bytes more than a block's window: the last ones would be the next block's */
    assert_int_equal(load((const uint16_t[]){4, 129, 255, 2}), EXEC_FAULT);
    assert_int_equal(h.fault.kind, EXEC_FAULT_OUT_OF_RANGE);
    harness_close(&h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_box_lies_in_one_block)};
    return harness_run_tests(tests);
}
