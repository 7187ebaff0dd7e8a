// verdict: none
// link: -lcuda
// cuda: 13
// Products of warp groups (wgmma), of every type and sparse, from registers and shared memory, in
// all layouts.
#include "driver_check.h"
#include "wgmma.h"

static struct wgmma_test test;
static uint32_t got[WGMMA_THREADS * 128];

static bool multiplies(const struct wgmma_case *what)
{
    CUmodule module;
    CUfunction product;
    CUdeviceptr d, image, a, metadata;
    wgmma_prepare(&test, what);
    DRIVER_CHECK(cuModuleLoadData(&module, wgmma_text(&test)));
    DRIVER_CHECK(cuModuleGetFunction(&product, module, "product"));
    DRIVER_CHECK(
        cuFuncSetAttribute(product, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, WGMMA_IMAGE));
    DRIVER_CHECK(cuMemAlloc(&d, sizeof test.d_words));
    DRIVER_CHECK(cuMemAlloc(&image, sizeof test.image));
    DRIVER_CHECK(cuMemAlloc(&a, sizeof test.a_words));
    DRIVER_CHECK(cuMemcpyHtoD(d, test.d_words, sizeof test.d_words));
    DRIVER_CHECK(cuMemcpyHtoD(image, test.image, sizeof test.image));
    DRIVER_CHECK(cuMemcpyHtoD(a, test.a_words, sizeof test.a_words));
    DRIVER_CHECK(cuMemAlloc(&metadata, sizeof test.metadata));
    DRIVER_CHECK(cuMemcpyHtoD(metadata, test.metadata, sizeof test.metadata));
    void *arguments[] = {&d, &image, &a, &test.descriptor_a, &test.descriptor_b, &metadata};
    DRIVER_CHECK(cuLaunchKernel(product, 1, 1, 1, WGMMA_THREADS, 1, 1, WGMMA_IMAGE, nullptr,
                                arguments, nullptr));
    DRIVER_CHECK(cuMemcpyDtoH(got, d, sizeof got));
    DRIVER_CHECK(cuMemFree(d));
    DRIVER_CHECK(cuMemFree(image));
    DRIVER_CHECK(cuMemFree(a));
    DRIVER_CHECK(cuMemFree(metadata));
    DRIVER_CHECK(cuModuleUnload(module));
    const uint32_t wrong = wgmma_wrong(&test, got);
    if (wrong)
        fprintf(stderr, "m64n%uk%u%s.%s.%s.%s, swizzle %u: %u elements are wrong\n", what->n,
                what->k, what->sparse ? ", sparse" : "", what->d, what->a, what->b, what->swizzle,
                wrong);
    return !wrong;
}

int main()
{
    context_make_current();
    bool all = true;
    for (const struct wgmma_case &what : wgmma_cases)
        all &= multiplies(&what);
    if (all)
        printf("done\n");
    return !all;
}
