// verdict: none
// libraries: cufft
// skip: gpu
// output: -
// Plans of sizes that no memory has are refused, and none of them counts as small. NVIDIA's library
// makes one of them (an H200, CUDA 13.0), which nobody can execute.
#include "program.h"

#include <cufft.h>

static int wrong;

static void refused(const char *what, cufftResult status)
{
    if (status != CUFFT_SUCCESS)
        return;
    fprintf(stderr, "%s: there is such a plan\n", what);
    wrong++;
}

static cufftHandle fresh()
{
    cufftHandle plan;
    if (cufftCreate(&plan) != CUFFT_SUCCESS)
        exit(101);
    return plan;
}

int main()
{
    const long long many = 1LL << 32;
    long long sizes[] = {many, many}, small[] = {16, 16};
    size_t bytes;
    int *p = device_array<int>(1);
    CHECK(cudaMemset(p, 0, sizeof *p));
    refused("2^64 elements", cufftMakePlanMany64(fresh(), 2, sizes, nullptr, 1, 0, nullptr, 1, 0,
                                                 CUFFT_C2C, 1, &bytes));
    refused("2^64 batches of bytes", cufftMakePlanMany64(fresh(), 2, small, nullptr, 1, 0, nullptr,
                                                         1, 0, CUFFT_Z2Z, 1LL << 56, &bytes));
    printf("%s\n", wrong ? "wrong" : "done");
    return wrong;
}
