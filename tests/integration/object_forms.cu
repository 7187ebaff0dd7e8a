// skip: embedded
// flags: -arch=sm_90
// link: -lcuda
// ways: run
// options: dedup=0
// verdict: possible
// expect: , [45] possible races
// expect: surface_write
// Each way to make a tensor map, whose memory a kernel may write through it while another stream
// sets it (maps in wide im2col mode exist from sm_100 on); and a surface over an array that another
// stream copies to.
#include "driver_check.h"
#include "program.h"

static const cuuint64_t SIZES[3] = {16, 16, 4}, STRIDES[2] = {64, 1024};
static const cuuint32_t BOX[3] = {16, 16, 1}, STEPS[3] = {1, 1, 1};

__global__ void maybe_store(const __grid_constant__ CUtensorMap map, const int *wanted)
{
    __shared__ alignas(128) int tile[16][16];
    if (*wanted)
        asm volatile("cp.async.bulk.tensor.3d.global.shared::cta.tile.bulk_group "
                     "[%0, {%1, %1, %1}], [%2];\n"
                     "cp.async.bulk.commit_group;\n"
                     "cp.async.bulk.wait_group 0;" ::"l"(&map),
                     "r"(0), "r"((unsigned)__cvta_generic_to_shared(tile))
                     : "memory");
}

__global__ void surface_write(cudaSurfaceObject_t surface)
{
    surf2Dwrite(7, surface, (int)(threadIdx.x * sizeof(int)), 0);
}

static CUtensorMap tiled(void *p)
{
    CUtensorMap map;
    DRIVER_CHECK(cuTensorMapEncodeTiled(&map, CU_TENSOR_MAP_DATA_TYPE_INT32, 3, p, SIZES, STRIDES,
                                        BOX, STEPS, CU_TENSOR_MAP_INTERLEAVE_NONE,
                                        CU_TENSOR_MAP_SWIZZLE_NONE, CU_TENSOR_MAP_L2_PROMOTION_NONE,
                                        CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE));
    return map;
}

static CUtensorMap im2col(void *p)
{
    CUtensorMap map;
    const int corner[1] = {0};
    DRIVER_CHECK(cuTensorMapEncodeIm2col(
        &map, CU_TENSOR_MAP_DATA_TYPE_INT32, 3, p, SIZES, STRIDES, corner, corner, 16, 16, STEPS,
        CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE, CU_TENSOR_MAP_L2_PROMOTION_NONE,
        CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE));
    return map;
}

// False: not on this device.
static bool im2col_wide(CUtensorMap *map, void *p)
{
    return cuTensorMapEncodeIm2colWide(map, CU_TENSOR_MAP_DATA_TYPE_INT32, 3, p, SIZES, STRIDES, 0,
                                       0, 16, 16, STEPS, CU_TENSOR_MAP_INTERLEAVE_NONE,
                                       CU_TENSOR_MAP_IM2COL_WIDE_MODE_W, CU_TENSOR_MAP_SWIZZLE_128B,
                                       CU_TENSOR_MAP_L2_PROMOTION_NONE,
                                       CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE) == CUDA_SUCCESS;
}

static void set_and_store(const CUtensorMap &map, int *p)
{
    static const int *wanted = [] {
        int *flag = device_array<int>(1);
        CHECK(cudaMemset(flag, 0, sizeof(int)));
        return flag;
    }();
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaMemsetAsync(p, 1, BYTES, nonblocking_stream()));
    maybe_store<<<1, 1, 0, nonblocking_stream()>>>(map, wanted);
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());
}

static void surface(const int *p)
{
    cudaArray_t array;
    cudaSurfaceObject_t surface;
    cudaResourceDesc what = {};
    cudaChannelFormatDesc format = cudaCreateChannelDesc<int>();
    CHECK(cudaMallocArray(&array, &format, 64, 64, cudaArraySurfaceLoadStore));
    what.resType = cudaResourceTypeArray;
    what.res.array.array = array;
    CHECK(cudaCreateSurfaceObject(&surface, &what));
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaMemcpy2DToArrayAsync(array, 0, 0, p, 64 * sizeof(int), 64 * sizeof(int), 16,
                                   cudaMemcpyDeviceToDevice, nonblocking_stream()));
    surface_write<<<1, 64, 0, nonblocking_stream()>>>(surface);
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaDestroySurfaceObject(surface));
    CHECK(cudaFreeArray(array));
}

int main()
{
    int *p = device_array<int>(), *q = device_array<int>();
    CUtensorMap map = tiled(p);
    set_and_store(map, p);
    DRIVER_CHECK(cuTensorMapReplaceAddress(&map, q));
    set_and_store(map, q);
    set_and_store(im2col(p), p);
    if (im2col_wide(&map, p))
        set_and_store(map, p);
    surface(p);
    return finish();
}
