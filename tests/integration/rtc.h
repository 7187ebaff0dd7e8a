/* Kernels that NVRTC compiles to machine code, of which the program keeps the cubin alone. */
#ifndef TESTS_INTEGRATION_RTC_H
#define TESTS_INTEGRATION_RTC_H

#include "program.h"

#include <cuda.h>
#include <nvrtc.h>
#include <vector>

enum { ELEMENTS = 256 };

static const char SOURCE[] =
    "extern \"C\" __global__ void fill(int *p) { p[blockIdx.x * blockDim.x + threadIdx.x] = 7; }\n"
    "extern \"C\" __global__ void add(const int *p, int *q)\n"
    "{\n"
    "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
    "    q[i] = p[i] + i;\n"
    "}\n";

#define CHECK_RTC(call)                                                                            \
    do {                                                                                           \
        nvrtcResult status_ = (call);                                                              \
        if (status_ != NVRTC_SUCCESS) {                                                            \
            printf("%s: %s\n", #call, nvrtcGetErrorString(status_));                               \
            exit(101);                                                                             \
        }                                                                                          \
    } while (0)
#define CHECK_DRIVER(call)                                                                         \
    do {                                                                                           \
        CUresult status_ = (call);                                                                 \
        if (status_ != CUDA_SUCCESS) {                                                             \
            printf("%s: %d\n", #call, (int)status_);                                               \
            exit(101);                                                                             \
        }                                                                                          \
    } while (0)

/* For the device that is there. */
static inline std::vector<char> compile_cubin(const char *source)
{
    nvrtcProgram program;
    cudaDeviceProp properties;
    char architecture[32];
    const char *options[] = {architecture};
    size_t bytes;
    CHECK(cudaGetDeviceProperties(&properties, 0));
    snprintf(architecture, sizeof architecture, "-arch=sm_%d%d", properties.major,
             properties.minor);
    CHECK_RTC(nvrtcCreateProgram(&program, source, "rtc.cu", 0, nullptr, nullptr));
    CHECK_RTC(nvrtcCompileProgram(program, 1, options));
    CHECK_RTC(nvrtcGetCUBINSize(program, &bytes));
    std::vector<char> cubin(bytes);
    CHECK_RTC(nvrtcGetCUBIN(program, cubin.data()));
    CHECK_RTC(nvrtcDestroyProgram(&program));
    return cubin;
}

struct rtc {
    int *p, *q;
    cudaStream_t a, b;
    CUfunction fill, add;
};

static struct rtc rtc_of(CUmodule module)
{
    struct rtc rtc;
    rtc.p = device_array<int>(ELEMENTS);
    rtc.q = device_array<int>(ELEMENTS);
    CHECK(cudaStreamCreateWithFlags(&rtc.a, cudaStreamNonBlocking));
    CHECK(cudaStreamCreateWithFlags(&rtc.b, cudaStreamNonBlocking));
    CHECK_DRIVER(cuModuleGetFunction(&rtc.fill, module, "fill"));
    CHECK_DRIVER(cuModuleGetFunction(&rtc.add, module, "add"));
    return rtc;
}

static inline struct rtc rtc_make(const std::vector<char> &cubin)
{
    CUmodule module;
    CHECK(cudaFree(nullptr));
    CHECK_DRIVER(cuModuleLoadData(&module, cubin.data()));
    return rtc_of(module);
}

static void rtc_fill(struct rtc rtc, cudaStream_t stream)
{
    void *arguments[] = {&rtc.p};
    CHECK_DRIVER(
        cuLaunchKernel(rtc.fill, ELEMENTS / 64, 1, 1, 64, 1, 1, 0, stream, arguments, nullptr));
}

static void rtc_add(struct rtc rtc, cudaStream_t stream)
{
    void *arguments[] = {&rtc.p, &rtc.q};
    CHECK_DRIVER(
        cuLaunchKernel(rtc.add, ELEMENTS / 64, 1, 1, 64, 1, 1, 0, stream, arguments, nullptr));
}

static inline void rtc_order(struct rtc rtc)
{
    cudaEvent_t filled;
    CHECK(cudaEventCreate(&filled));
    CHECK(cudaEventRecord(filled, rtc.a));
    CHECK(cudaStreamWaitEvent(rtc.b, filled, 0));
}

static inline int rtc_check(struct rtc rtc)
{
    int q[ELEMENTS];
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaMemcpy(q, rtc.q, sizeof q, cudaMemcpyDeviceToHost));
    for (int i = 0; i < ELEMENTS; i++)
        if (q[i] != 7 + i)
            printf("wrong: q[%d] is %d\n", i, q[i]);
    return finish();
}

#endif
