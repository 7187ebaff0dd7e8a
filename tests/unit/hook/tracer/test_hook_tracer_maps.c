/* Launches that copy through tensor maps, which no patch sees: from the kernel's code and the maps'
 * bytes to the race, on the GPU that stands in (hook_gpu.h). */
#include "tests/unit/hook/tracer/hook_gpu.h"

#include <stdbool.h>
#include <string.h>

/* Copies through tensor maps are seen by no patch, so what is traced of such a launch lacks them.
 */
static void nothing_is_learned_through_tensor_maps(void **state)
{
    (void)state;
    CUdeviceptr p = device(512), q = device(512);
    CUstream s = non_blocking();
    touch(q, 4, 4, 16, FAKE_WRITE);
    copy_by_tensor_maps(1);
    CUfunction f = fresh();
    copy_by_tensor_maps(0);
    for (int i = 0; i < 4; i++) {
        assert_false(traced(f, p, q, s));
        OK(cuStreamSynchronize(s));
    }
}

static bool launch_traced(CUfunction f, uint8_t *maps, int bytes, CUstream stream)
{
    int before = changes().traced;
    structure(bytes);
    OK(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, stream, (void *[]){maps}, NULL));
    wait_reported();
    structure(0);
    return changes().traced > before;
}

static bool copier_traced(CUfunction f, uint8_t *maps, CUstream stream)
{
    return launch_traced(f, maps, 128, stream);
}

/* Bytes of the race that this makes, if it makes one. */
static uint64_t written_at(CUdeviceptr at, CUstream stream, bool *possible)
{
    enum { MOST = 16 };
    static struct csan_race found[MOST];
    size_t before = csan_races_since(hook_mark(), found, MOST);
    OK(cuMemsetD8Async(at, 0, 32, stream));
    size_t after = csan_races_since(hook_mark(), found, MOST);
    assert_in_range(after, before, MOST);
    OK(cuCtxSynchronize());
    *possible = after > before && found[before].possible;
    if (*possible)
        assert_int_equal(found[before].previous.bound, CSAN_BOUND_OBJECT);
    return after > before ? found[before].bytes : 0;
}

/* They need not touch all of the tensor, so what lies there is a bound, and nothing beside it. */
static void what_is_copied_through_tensor_maps_is_read_off_them(void **state)
{
    (void)state;
    uint8_t maps[128];
    bool possible;
    CUdeviceptr p = device(512), q = device(512), r = device(512);
    CUstream s = non_blocking(), t = non_blocking();
    CUfunction f = copier();
    touch(r, 4, 4, 8, FAKE_WRITE);
    map_rows(maps, p, 4, 128);
    map_rows(maps + 64, q + 64, 3, 128);
    assert_true(copier_traced(f, maps, s));
    assert_int_equal(written_at(p + 32, t, &possible), 0);
    assert_true(copier_traced(f, maps, s));
    assert_int_equal(written_at(p + 128, t, &possible), 32);
    assert_true(possible);
    assert_false(copier_traced(f, maps, s)); /* known */
    assert_int_equal(written_at(q + 96, t, &possible), 0);
    assert_true(copier_traced(f, maps, s)); /* the fourth, to confirm */
    assert_int_equal(written_at(q + 64 + 256, t, &possible), 32);
    assert_true(possible);
    map_rows(maps + 64, q, 3, 128); /* elsewhere, and known all the same */
    assert_false(copier_traced(f, maps, s));
    assert_int_equal(written_at(q + 256, t, &possible), 32);
    assert_false(copier_traced(f, maps, s));
    assert_int_equal(written_at(r + 16, t, &possible), 32 - 16);
}

/* Bytes of the race that this copy makes, which reads. */
static uint64_t read_by(CUdeviceptr at, CUstream stream)
{
    enum { MOST = 16 };
    static struct csan_race found[MOST];
    const size_t before = csan_races_since(hook_mark(), found, MOST);
    OK(cuMemcpyDtoDAsync_v2(device(32), at, 32, stream));
    const size_t after = csan_races_since(hook_mark(), found, MOST);
    assert_in_range(after, before, MOST);
    return after > before ? found[before].bytes : 0;
}

/* The same with a launch. */
static uint64_t read_at(CUfunction f, uint8_t *maps, CUdeviceptr at)
{
    copier_traced(f, maps, non_blocking());
    const uint64_t bytes = read_by(at, non_blocking());
    all_done();
    return bytes;
}

static void what_is_loaded_is_read_and_what_is_stored_written(void **state)
{
    (void)state;
    uint8_t maps[128];
    CUdeviceptr p = device(512), q = device(512);
    CUfunction f = copier();
    touch(q + 384, 4, 4, 8, FAKE_WRITE);
    map_rows(maps, p, 4, 128);
    map_rows(maps + 64, q, 3, 128);
    for (int i = 0; i < 3; i++) {
        copier_traced(f, maps, non_blocking());
        all_done();
    }
    assert_int_equal(read_at(f, maps, p + 128), 0);
    assert_int_equal(read_at(f, maps, q + 128), 32);
}

/* The first 64 bytes of a map of elements of 32 bytes in that many dimensions, of which none goes
 * on where another ends. */
static void map_dims(uint8_t *out, CUdeviceptr at, uint32_t dims)
{
    static const cuuint32_t ones[] = {8, 1, 1, 1, 1}, steps[] = {1, 1, 1, 1, 1};
    CUtensorMap map;
    OK(cuTensorMapEncodeTiled(&map, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, dims + 1,
                              (void *)(uintptr_t)at, (cuuint64_t[]){8, 3, 2, 4, 2},
                              (cuuint64_t[]){64, 224, 480, 2048}, ones, steps,
                              CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE,
                              CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE));
    memcpy(out, &map, 64);
}

/* Each element and nothing between them; of more dimensions nothing is known. */
static void tensors_of_three_dimensions_are_known_to_the_byte(void **state)
{
    (void)state;
    uint8_t maps[128];
    bool possible;
    CUdeviceptr p = device(512), q = device(4096);
    CUfunction f = copier();
    touch(q + 4000, 4, 4, 8, FAKE_WRITE);
    map_rows(maps, p, 4, 128);
    map_dims(maps + 64, q, 3);
    for (int i = 0; i < 3; i++) {
        copier_traced(f, maps, non_blocking());
        all_done();
    }
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 2; k++)
            for (int n = 0; n < 4; n++) {
                const CUdeviceptr at = q + (unsigned)(i * 64 + k * 224 + n * 480);
                copier_traced(f, maps, non_blocking());
                assert_int_equal(written_at(at, non_blocking(), &possible), 32);
                all_done();
                copier_traced(f, maps, non_blocking());
                assert_int_equal(written_at(at + 32, non_blocking(), &possible), 0);
                all_done();
            }
    map_dims(maps + 64, q, 4);
    const int before = changes().traced;
    for (int i = 0; i < 3; i++)
        copier_traced(f, maps, non_blocking());
    assert_int_equal(changes().traced, before);
}

static void touch_nothing(void)
{
    touch(0, 4, 4, 0, FAKE_WRITE);
}

/* They need not touch anything else. */
static void what_only_copies_is_traced(void **state)
{
    (void)state;
    uint8_t maps[128];
    bool possible;
    CUdeviceptr p = device(512), q = device(512);
    CUstream s = non_blocking();
    CUfunction f = copier();
    touch_nothing();
    map_rows(maps, p, 4, 128);
    map_rows(maps + 64, q, 3, 128);
    const int before = changes().traced;
    for (int i = 0; i < 4 && changes().traced < before + 2; i++) {
        copier_traced(f, maps, s);
        all_done();
    }
    assert_int_equal(changes().traced, before + 2);
    copier_traced(f, maps, s); /* known, and may be looked at again */
    assert_int_equal(written_at(q + 128, non_blocking(), &possible), 32);
}

/* Where they once did, and the record is empty, its patch may be gone. */
static void an_empty_trace_after_others_is_lost(void **state)
{
    (void)state;
    uint8_t maps[128];
    bool possible;
    CUdeviceptr p = device(512), q = device(512);
    CUstream s = non_blocking();
    CUfunction f = copier();
    map_rows(maps, p, 4, 128);
    map_rows(maps + 64, q, 3, 128);
    for (int i = 0; i < 4; i++) { /* the fourth is looked at again */
        touch(q + 384, 4, 4, 8, FAKE_WRITE);
        if (i == 1)
            touch_nothing();
        assert_true(copier_traced(f, maps, s));
        all_done();
    }
    assert_false(copier_traced(f, maps, s)); /* all that were reported agree */
    assert_int_equal(written_at(q + 448, non_blocking(), &possible), 0);
}

/* A tensor that is more than its memory may be meant to be cut by the kernel, whose bounds nobody
 * knows; what is no map is none. Such launches are unknown, and others are known as before. */
static void launches_whose_tensor_maps_cannot_be_read_are_not_traced(void **state)
{
    (void)state;
    uint8_t maps[128], none[128];
    CUdeviceptr p = device(512), q = device(512);
    CUstream s = non_blocking();
    CUfunction f = copier();
    touch(q, 4, 4, 8, FAKE_WRITE);
    map_rows(maps, p, 4, 128);
    map_rows(maps + 64, q, 1000, 128);
    assert_false(copier_traced(f, maps, s));
    memset(none, 0x55, sizeof none);
    assert_false(copier_traced(f, none, s));
    memset(maps + 64, 0, 64); /* of zeros: for other launches */
    bool seen = copier_traced(f, maps, s);
    for (int i = 0; i < 4 && !seen; i++) {
        OK(cuCtxSynchronize());
        seen = copier_traced(f, maps, s);
    }
    assert_true(seen);
    OK(cuCtxSynchronize());
}

/* Each element may be it, from the first that the code can mean; what lies between and behind them
 * is no map. */
static void any_map_of_an_array_is_copied_through(void **state)
{
    (void)state;
    enum { FIRST = 48 /* where maps may be: the parameters begin at 16 */, BYTES = FIRST + 320 };
    uint8_t parameters[BYTES], *maps = parameters + FIRST;
    bool possible;
    CUdeviceptr p = device(512), q = device(512), r = device(512);
    CUstream s = non_blocking(), t = non_blocking();
    CUfunction f = copier_like(3, BYTES);
    touch(r, 4, 4, 8, FAKE_WRITE);
    memset(parameters, 0x55, sizeof parameters);
    memset(maps + 64, 0, 128);
    map_rows(maps, p, 4, 128);
    map_rows(maps + 192, q, 3, 128);
    for (int i = 0; i < 2; i++)
        assert_true(launch_traced(f, parameters, BYTES, s));
    assert_false(launch_traced(f, parameters, BYTES, s)); /* known */
    assert_int_equal(written_at(p + 128, t, &possible), 32);
    assert_true(possible);
    assert_int_equal(written_at(p + 160, t, &possible), 0);
    launch_traced(f, parameters, BYTES, s);
    assert_int_equal(read_by(p + 128, t), 0);
    assert_int_equal(read_by(q + 128, t), 32);
    assert_int_equal(read_by(q + 160, t), 0);
    memset(maps + 128, 0x55, 64); /* the first that it may store through is none */
    assert_false(launch_traced(copier_like(3, BYTES), parameters, BYTES, s));
}

static CUgraphExec copier_graph(CUfunction f, uint8_t *maps)
{
    CUgraph graph = graph_make();
    CUgraphNode node;
    CUgraphExec exec;
    const CUDA_KERNEL_NODE_PARAMS_v2 params = {.func = f,
                                               .gridDimX = 1,
                                               .gridDimY = 1,
                                               .gridDimZ = 1,
                                               .blockDimX = 1,
                                               .blockDimY = 1,
                                               .blockDimZ = 1,
                                               .kernelParams = (void *[]){maps}};
    structure(128);
    OK(cuGraphAddKernelNode_v2(&node, graph, NULL, 0, &params));
    OK(cuGraphInstantiateWithFlags(&exec, graph, 0));
    structure(0);
    return exec;
}

/* Two of its launches teach what the node copies, as those by itself would. */
static void nodes_know_what_they_copy(void **state)
{
    (void)state;
    uint8_t maps[128];
    bool possible;
    CUdeviceptr p = device(512), q = device(512);
    CUstream s = non_blocking(), t = non_blocking();
    map_rows(maps, p, 4, 128);
    map_rows(maps + 64, q, 3, 128);
    touch(q + 64, 4, 4, 8, FAKE_WRITE); /* an empty record of a node is nobody's */
    CUgraphExec exec = copier_graph(copier(), maps);
    const int before = changes().traced;
    for (int i = 0; i < 2; i++) {
        OK(cuGraphLaunch(exec, s));
        wait_reported();
        OK(cuCtxSynchronize());
    }
    assert_int_equal(changes().traced, before + 2);
    all_done();
    OK(cuGraphLaunch(exec, s));
    wait_reported();
    assert_int_equal(written_at(q + 32, t, &possible), 0);
    OK(cuGraphLaunch(exec, s));
    wait_reported();
    assert_int_equal(written_at(q + 128, t, &possible), 32);
    assert_true(possible);
}

/* What their nodes copy is what their maps were when they were made. If that memory is gone since,
 * it is unknown, until there is some again. */
static void nodes_copy_what_is_there(void **state)
{
    (void)state;
    uint8_t maps[128];
    bool possible;
    CUdeviceptr p = device(512), q = device(512);
    CUstream s = non_blocking(), t = non_blocking();
    CUfunction f = copier();
    map_rows(maps, p, 4, 128);
    map_rows(maps + 64, q, 3, 128);
    touch(q + 128 + 32, 4, 4, 8, FAKE_WRITE); /* an empty record of a node is nobody's */
    CUgraphExec exec = copier_graph(f, maps);
    structure(128);
    OK(cuMemFree_v2(q));
    const int before = changes().traced;
    for (int i = 0; i < 3; i++) {
        OK(cuGraphLaunch(exec, s));
        wait_reported();
        OK(cuCtxSynchronize());
    }
    assert_int_equal(changes().traced, before);
    CUdeviceptr again = device(512);
    map_rows(maps + 64, again, 3, 128);
    touch(again + 128 + 32, 4, 4, 8, FAKE_WRITE);
    for (int i = 0; i < 4 && changes().traced < before + 2; i++) {
        copier_traced(f, maps, s);
        OK(cuCtxSynchronize());
    }
    assert_int_equal(changes().traced, before + 2);
    assert_false(copier_traced(f, maps, s)); /* known */
    assert_int_equal(written_at(again + 128, t, &possible), 32);
    assert_true(possible);
    structure(0);
}

#define TEST(name) cmocka_unit_test_setup(name, tracer_setup)

int main(int argc, char **argv)
{
    (void)argc;
    gpu_test_start(argv);
    controls_find();
    const struct CMUnitTest tests[] = {
        TEST(what_is_copied_through_tensor_maps_is_read_off_them),
        TEST(what_is_loaded_is_read_and_what_is_stored_written),
        TEST(tensors_of_three_dimensions_are_known_to_the_byte),
        TEST(what_only_copies_is_traced),
        TEST(an_empty_trace_after_others_is_lost),
        TEST(launches_whose_tensor_maps_cannot_be_read_are_not_traced),
        TEST(any_map_of_an_array_is_copied_through),
        TEST(nodes_know_what_they_copy),
        TEST(nodes_copy_what_is_there),
        TEST(nothing_is_learned_through_tensor_maps),
    };
    return hook_finish(cmocka_run_group_tests_name("hook_tracer_maps", tests, NULL, NULL));
}
