/* The embedded device's texture objects: which descriptions it takes, and how they end. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <cuda.h>

#define ok(call) assert_int_equal((call), CUDA_SUCCESS)

static CUdeviceptr memory;

static int start(void **state)
{
    (void)state;
    CUcontext context;
    return cuInit(0) || cuDevicePrimaryCtxRetain(&context, 0) || cuCtxSetCurrent(context) ||
           cuMemAlloc(&memory, 4096);
}

static int finish(void **state)
{
    (void)state;
    return cuMemFree(memory) || cuDevicePrimaryCtxRelease(0);
}

static CUDA_RESOURCE_DESC linear(void)
{
    return (CUDA_RESOURCE_DESC){
        .resType = CU_RESOURCE_TYPE_LINEAR,
        .res.linear = {
            .devPtr = memory, .format = CU_AD_FORMAT_FLOAT, .numChannels = 1, .sizeInBytes = 4096}};
}

static CUDA_RESOURCE_DESC pitched(void)
{
    return (CUDA_RESOURCE_DESC){.resType = CU_RESOURCE_TYPE_PITCH2D,
                                .res.pitch2D = {.devPtr = memory,
                                                .format = CU_AD_FORMAT_UNSIGNED_INT8,
                                                .numChannels = 4,
                                                .width = 16,
                                                .height = 8,
                                                .pitchInBytes = 64}};
}

/* What creating it returns; what was created is destroyed. */
static CUresult attempt(const CUDA_RESOURCE_DESC *resource, const CUDA_TEXTURE_DESC *how)
{
    CUtexObject texture = 0;
    CUresult result = cuTexObjectCreate(&texture, resource, how, NULL);
    if (result == CUDA_SUCCESS) {
        assert_int_not_equal(texture, 0);
        ok(cuTexObjectDestroy(texture));
    }
    return result;
}

static void remembers_its_descriptions(void **state)
{
    (void)state;
    CUDA_RESOURCE_DESC resource = pitched(), same;
    CUDA_TEXTURE_DESC how = {.addressMode = {CU_TR_ADDRESS_MODE_CLAMP, CU_TR_ADDRESS_MODE_BORDER},
                             .flags = CU_TRSF_READ_AS_INTEGER},
                      same_how;
    CUtexObject first, second;
    ok(cuTexObjectCreate(&first, &resource, &how, NULL));
    ok(cuTexObjectCreate(&second, &resource, &how, NULL));
    assert_int_not_equal(first, second);
    ok(cuTexObjectGetResourceDesc(&same, first));
    assert_memory_equal(&same, &resource, sizeof same);
    ok(cuTexObjectGetTextureDesc(&same_how, first));
    assert_memory_equal(&same_how, &how, sizeof how);
    ok(cuTexObjectDestroy(first));
    assert_int_equal(cuTexObjectDestroy(first), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(cuTexObjectGetResourceDesc(&same, first), CUDA_ERROR_INVALID_VALUE);
    ok(cuTexObjectDestroy(second));
    assert_int_equal(cuTexObjectDestroy(0), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(cuTexObjectDestroy(memory), CUDA_ERROR_INVALID_VALUE);
}

static void refuses_what_is_wrong(void **state)
{
    (void)state;
    const CUDA_TEXTURE_DESC how = {0};
    CUDA_RESOURCE_DESC resource = linear();
    CUtexObject texture;
    ok(attempt(&resource, &how));
    resource.res.linear.numChannels = 3;
    assert_int_equal(attempt(&resource, &how), CUDA_ERROR_INVALID_VALUE);
    resource = linear();
    resource.res.linear.devPtr += 4; /* "must be aligned" */
    assert_int_equal(attempt(&resource, &how), CUDA_ERROR_INVALID_VALUE);
    resource = linear();
    resource.res.linear.sizeInBytes = 3;
    assert_int_equal(attempt(&resource, &how), CUDA_ERROR_INVALID_VALUE);
    resource = linear();
    resource.res.linear.format = CU_AD_FORMAT_NV12;
    assert_int_equal(attempt(&resource, &how), CUDA_ERROR_INVALID_VALUE);
    resource = pitched();
    ok(attempt(&resource, &how));
    resource.res.pitch2D.pitchInBytes = 60;
    assert_int_equal(attempt(&resource, &how), CUDA_ERROR_INVALID_VALUE);
    resource = pitched(); /* beyond the device's limits: rows would go round all addresses */
    resource.res.pitch2D.pitchInBytes = (size_t)1 << 56;
    assert_int_equal(attempt(&resource, &how), CUDA_ERROR_INVALID_VALUE);
    resource = pitched();
    resource.res.pitch2D.height = 65001;
    assert_int_equal(attempt(&resource, &how), CUDA_ERROR_INVALID_VALUE);
    resource = linear();
    resource.res.linear.sizeInBytes = ((size_t)268435456 + 1) * 4;
    assert_int_equal(attempt(&resource, &how), CUDA_ERROR_INVALID_VALUE);
    resource = linear();
    assert_int_equal(cuTexObjectCreate(NULL, &resource, &how, NULL), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(cuTexObjectCreate(&texture, NULL, &how, NULL), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(cuTexObjectCreate(&texture, &resource, NULL, NULL), CUDA_ERROR_INVALID_VALUE);
}

static void says_what_it_lacks(void **state)
{
    (void)state;
    CUDA_TEXTURE_DESC how = {.filterMode = CU_TR_FILTER_MODE_LINEAR,
                             .mipmapFilterMode = CU_TR_FILTER_MODE_LINEAR,
                             .maxAnisotropy = 4};
    const CUDA_ARRAY3D_DESCRIPTOR shape = {
        .Width = 8, .Height = 8, .Format = CU_AD_FORMAT_FLOAT, .NumChannels = 1};
    CUDA_RESOURCE_DESC resource = linear();
    CUmipmappedArray levels;
    ok(attempt(&resource, &how)); /* linear memory is not filtered: that is ignored */
    ok(cuMipmappedArrayCreate(&levels, &shape, 4));
    resource = (CUDA_RESOURCE_DESC){.resType = CU_RESOURCE_TYPE_MIPMAPPED_ARRAY,
                                    .res.mipmap.hMipmappedArray = levels};
    assert_int_equal(attempt(&resource, &how), CUDA_ERROR_NOT_SUPPORTED);
    how.maxAnisotropy = 1;
    ok(attempt(&resource, &how));
    ok(cuMipmappedArrayDestroy(levels));
    assert_int_equal(attempt(&resource, &how), CUDA_ERROR_INVALID_VALUE);
}

/* Only numbers are interpolated. */
static void filters_what_is_a_number(void **state)
{
    (void)state;
    CUDA_TEXTURE_DESC how = {.filterMode = CU_TR_FILTER_MODE_LINEAR};
    CUDA_RESOURCE_DESC resource = pitched();
    ok(attempt(&resource, &how));
    how.flags = CU_TRSF_READ_AS_INTEGER;
    assert_int_equal(attempt(&resource, &how), CUDA_ERROR_INVALID_VALUE);
    how.filterMode = 7;
    assert_int_equal(attempt(&resource, &how), CUDA_ERROR_INVALID_VALUE);
    how = (CUDA_TEXTURE_DESC){.addressMode = {0, 9}};
    assert_int_equal(attempt(&resource, &how), CUDA_ERROR_INVALID_VALUE);
}

static void ends_with_its_context(void **state)
{
    (void)state;
    const CUDA_TEXTURE_DESC how = {0};
    CUDA_RESOURCE_DESC resource = linear();
    CUcontext context;
    CUtexObject kept, gone;
    ok(cuTexObjectCreate(&kept, &resource, &how, NULL));
    ok(cuCtxCreate(&context, NULL, 0, 0));
    ok(cuMemAlloc(&resource.res.linear.devPtr, 4096));
    ok(cuTexObjectCreate(&gone, &resource, &how, NULL));
    ok(cuCtxDestroy(context));
    assert_int_equal(cuTexObjectDestroy(gone), CUDA_ERROR_INVALID_VALUE);
    ok(cuTexObjectDestroy(kept));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(remembers_its_descriptions), cmocka_unit_test(refuses_what_is_wrong),
        cmocka_unit_test(says_what_it_lacks),         cmocka_unit_test(filters_what_is_a_number),
        cmocka_unit_test(ends_with_its_context),
    };
    return cmocka_run_group_tests(tests, start, finish);
}
