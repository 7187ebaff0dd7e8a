// verdict: none
// link: -lcuda
// cuda: 13
// skip: gpu
// Products with scales of blocks (mma.block_scale), of each kind, dense and sparse. Their PTX is
// for sm_120a, so GPUs of other architectures cannot run it.
#include "driver_check.h"
#include "mma_scaled.h"

static struct scaled_test test;

static CUdeviceptr copied(const void *words, size_t bytes)
{
    CUdeviceptr memory;
    DRIVER_CHECK(cuMemAlloc(&memory, bytes));
    DRIVER_CHECK(cuMemcpyHtoD(memory, words, bytes));
    return memory;
}

static bool multiplies(const struct scaled_case *what)
{
    CUmodule module;
    CUfunction product;
    float got[4 * SCALED_LANES] = {};
    scaled_prepare(&test, what);
    DRIVER_CHECK(cuModuleLoadData(&module, scaled_text(&test)));
    DRIVER_CHECK(cuModuleGetFunction(&product, module, "product"));
    CUdeviceptr d = copied(got, sizeof got), a = copied(test.a_words, sizeof test.a_words),
                b = copied(test.b_words, sizeof test.b_words),
                c = copied(test.c_words, sizeof test.c_words),
                s = copied(test.scales, sizeof test.scales),
                e = copied(test.metadata, sizeof test.metadata);
    void *arguments[] = {&d, &a, &b, &c, &s, &e};
    DRIVER_CHECK(cuLaunchKernel(product, 1, 1, 1, 32, 1, 1, 0, nullptr, arguments, nullptr));
    DRIVER_CHECK(cuMemcpyDtoH(got, d, sizeof got));
    for (CUdeviceptr memory : {d, a, b, c, s, e})
        DRIVER_CHECK(cuMemFree(memory));
    DRIVER_CHECK(cuModuleUnload(module));
    const uint32_t wrong = scaled_wrong(&test, got);
    if (wrong)
        fprintf(stderr, "%s, %s.%s.%s, %u parts: %u elements are wrong\n", what->kind, what->a,
                what->b, what->scale, what->parts, wrong);
    return !wrong;
}

int main()
{
    context_make_current();
    bool all = true;
    for (const struct scaled_case &what : scaled_cases)
        all &= multiplies(&what);
    if (all)
        printf("done\n");
    return !all;
}
