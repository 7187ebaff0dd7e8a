// verdict: none
// link: -lcuda
// cuda: 13
// Products of sparse matrices (mma.sp), of every type and shape, and with each selector.
#include "driver_check.h"
#include "mma_sparse.h"

static struct sparse_test test;

static CUdeviceptr copied(const void *words, size_t bytes)
{
    CUdeviceptr memory;
    DRIVER_CHECK(cuMemAlloc(&memory, bytes));
    DRIVER_CHECK(cuMemcpyHtoD(memory, words, bytes));
    return memory;
}

static bool multiplies(const struct sparse_case *what)
{
    CUmodule module;
    CUfunction product;
    uint32_t got[4 * 32] = {};
    sparse_prepare(&test, what);
    DRIVER_CHECK(cuModuleLoadData(&module, sparse_text(&test)));
    DRIVER_CHECK(cuModuleGetFunction(&product, module, "product"));
    CUdeviceptr d = copied(got, sizeof got), a = copied(test.a_words, sizeof test.a_words),
                b = copied(test.b_words, sizeof test.b_words),
                c = copied(test.c_words, sizeof test.c_words),
                e = copied(test.metadata, sizeof test.metadata);
    void *arguments[] = {&d, &a, &b, &c, &e};
    DRIVER_CHECK(cuLaunchKernel(product, 1, 1, 1, 32, 1, 1, 0, nullptr, arguments, nullptr));
    DRIVER_CHECK(cuMemcpyDtoH(got, d, sizeof got));
    for (CUdeviceptr memory : {d, a, b, c, e})
        DRIVER_CHECK(cuMemFree(memory));
    DRIVER_CHECK(cuModuleUnload(module));
    const uint32_t wrong = sparse_wrong(&test, got);
    if (wrong)
        fprintf(stderr, "m16n8k%u.%s.%s.%s, selector %u: %u elements are wrong\n", what->k, what->c,
                what->a, what->b, what->selector, wrong);
    return !wrong;
}

int main()
{
    context_make_current();
    bool all = true;
    for (const struct sparse_case &what : sparse_cases)
        all &= multiplies(&what);
    if (all)
        printf("done\n");
    return !all;
}
