/* CUDA arrays, which have no address: copies into them and out of them are checked all the same. */
#include "tests/unit/hook/test_hook.h"

#define OK(call) assert_int_equal((call), CUDA_SUCCESS)

enum { WIDTH = 16, HEIGHT = 8, ROW = WIDTH * 4 };

static CUarray array_2d(void)
{
    CUarray array = NULL;
    CUDA_ARRAY_DESCRIPTOR what = {
        .Width = WIDTH, .Height = HEIGHT, .Format = CU_AD_FORMAT_FLOAT, .NumChannels = 1};
    OK(cuArrayCreate_v2(&array, &what));
    return array;
}

/* Columns [x, x + width), in bytes, of rows [y, y + height), from device memory. */
static void write_box(CUarray array, size_t x, size_t y, size_t width, size_t height, CUstream s)
{
    CUDA_MEMCPY2D copy = {.srcMemoryType = CU_MEMORYTYPE_DEVICE,
                          .srcDevice = device(4096),
                          .srcPitch = 256,
                          .dstMemoryType = CU_MEMORYTYPE_ARRAY,
                          .dstArray = array,
                          .dstXInBytes = x,
                          .dstY = y,
                          .WidthInBytes = width,
                          .Height = height};
    OK(cuMemcpy2DAsync_v2(&copy, s));
}

static void two_streams_write_one_array(void **state)
{
    (void)state;
    CUarray array = array_2d();
    struct csan_race race;
    write_box(array, 0, 0, ROW, HEIGHT, non_blocking());
    write_box(array, 0, 0, ROW, HEIGHT, non_blocking());
    assert_int_equal(csan_races_since(hook_mark(), &race, 1), 1);
    assert_int_equal(race.allocation_bytes, ROW * HEIGHT);
    assert_int_equal(race.bytes, ROW * HEIGHT);
    OK(cuArrayDestroy(array));
}

static void boxes_that_do_not_overlap(void **state)
{
    (void)state;
    CUarray array = array_2d();
    write_box(array, 0, 0, ROW / 2, HEIGHT, non_blocking());
    write_box(array, ROW / 2, 0, ROW / 2, HEIGHT, non_blocking());
    assert_int_equal(races(), 0);
    write_box(array, ROW / 2 - 4, 3, 4, 1, non_blocking());
    assert_int_equal(races(), 1);
    OK(cuArrayDestroy(array));
}

static void two_arrays_are_two(void **state)
{
    (void)state;
    CUarray a = array_2d(), b = array_2d();
    write_box(a, 0, 0, ROW, HEIGHT, non_blocking());
    write_box(b, 0, 0, ROW, HEIGHT, non_blocking());
    assert_int_equal(races(), 0);
}

static void linear_copies_overlap_boxes(void **state)
{
    (void)state;
    CUarray array = array_2d();
    char host[ROW];
    CUstream s = non_blocking();
    OK(cuMemcpyHtoAAsync_v2(array, 2 * ROW, host, ROW, s));
    write_box(array, 0, 0, ROW, 2, non_blocking());
    assert_int_equal(races(), 0);
    write_box(array, 0, 2, ROW, 1, non_blocking());
    assert_int_equal(races(), 1);
}

static void layers_lie_behind_each_other(void **state)
{
    (void)state;
    CUarray array = NULL;
    CUDA_ARRAY3D_DESCRIPTOR what = {.Width = WIDTH,
                                    .Height = HEIGHT,
                                    .Depth = 4,
                                    .Format = CU_AD_FORMAT_UNSIGNED_INT8,
                                    .NumChannels = 4};
    OK(cuArray3DCreate_v2(&array, &what));
    CUDA_MEMCPY3D copy = {.srcMemoryType = CU_MEMORYTYPE_DEVICE,
                          .srcDevice = device(4096),
                          .srcPitch = 64,
                          .srcHeight = HEIGHT,
                          .dstMemoryType = CU_MEMORYTYPE_ARRAY,
                          .dstArray = array,
                          .WidthInBytes = ROW,
                          .Height = HEIGHT,
                          .Depth = 2};
    OK(cuMemcpy3DAsync_v2(&copy, non_blocking()));
    copy.dstZ = 2;
    copy.srcDevice = device(4096);
    OK(cuMemcpy3DAsync_v2(&copy, non_blocking()));
    assert_int_equal(races(), 0);
    copy.dstZ = 1;
    copy.srcDevice = device(4096);
    OK(cuMemcpy3DAsync_v2(&copy, non_blocking()));
    assert_true(races() >= 1);
}

static void destroying_waits(void **state)
{
    (void)state;
    CUarray array = array_2d();
    CUdeviceptr p = device(64);
    CUstream s = non_blocking();
    write_box(array, 0, 0, ROW, HEIGHT, s);
    OK(cuMemsetD8Async(p, 0, 64, s));
    fake_fail_next(CUDA_ERROR_INVALID_HANDLE);
    assert_int_equal(cuArrayDestroy(array), CUDA_ERROR_INVALID_HANDLE);
    write_box(array, 0, 0, ROW, HEIGHT, non_blocking());
    assert_int_equal(races(), 1); /* it is still there */
    OK(cuArrayDestroy(array));
    OK(cuMemsetD8Async(p, 0, 64, non_blocking()));
    assert_int_equal(races(), 1);
}

static void a_handle_that_is_used_again_is_a_new_array(void **state)
{
    (void)state;
    CUarray array = array_2d();
    write_box(array, 0, 0, ROW, HEIGHT, non_blocking());
    fake_reuse_handle(array);
    CUarray again = array_2d();
    assert_ptr_equal(again, array);
    write_box(again, 0, 0, ROW, HEIGHT, non_blocking());
    assert_int_equal(races(), 0);
}

int main(int argc, char **argv)
{
    (void)argc;
    hook_test_start(argv);
#define TEST(name) cmocka_unit_test_setup(name, hook_setup)
    const struct CMUnitTest tests[] = {
        TEST(two_streams_write_one_array),
        TEST(boxes_that_do_not_overlap),
        TEST(two_arrays_are_two),
        TEST(linear_copies_overlap_boxes),
        TEST(layers_lie_behind_each_other),
        TEST(destroying_waits),
        TEST(a_handle_that_is_used_again_is_a_new_array),
    };
    return hook_finish(cmocka_run_group_tests_name("hook_array", tests, NULL, NULL));
}
