/* Kernels that nvJitLink links to machine code, of which the program keeps the cubin alone. */
#ifndef TESTS_INTEGRATION_JIT_LINK_H
#define TESTS_INTEGRATION_JIT_LINK_H

#include "rtc.h"

#include <nvJitLink.h>

/* As rtc.h's SOURCE, but what is stored comes from the other unit. */
static const char KERNELS[] = "extern __device__ int seven();\n"
                              "extern \"C\" __global__ void fill(int *p)\n"
                              "{\n"
                              "    p[blockIdx.x * blockDim.x + threadIdx.x] = seven();\n"
                              "}\n"
                              "extern \"C\" __global__ void add(const int *p, int *q)\n"
                              "{\n"
                              "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                              "    q[i] = p[i] + i;\n"
                              "}\n";
static const char FUNCTIONS[] = "__device__ int seven() { return 7; }\n";

#define CHECK_LINK(call)                                                                           \
    do {                                                                                           \
        nvJitLinkResult status_ = (call);                                                          \
        if (status_ != NVJITLINK_SUCCESS) {                                                        \
            printf("%s: %d\n", #call, (int)status_);                                               \
            exit(101);                                                                             \
        }                                                                                          \
    } while (0)

enum unit_form { UNIT_PTX, UNIT_CUBIN, UNIT_LTO };

static inline std::vector<char> compile_unit(const char *source, const char *name, unit_form form,
                                             const char *architecture)
{
    nvrtcProgram program;
    const char *options[] = {architecture, form == UNIT_LTO ? "-dlto" : "-rdc=true"};
    size_t bytes;
    CHECK_RTC(nvrtcCreateProgram(&program, source, name, 0, nullptr, nullptr));
    CHECK_RTC(nvrtcCompileProgram(program, 2, options));
    CHECK_RTC(form == UNIT_PTX     ? nvrtcGetPTXSize(program, &bytes)
              : form == UNIT_CUBIN ? nvrtcGetCUBINSize(program, &bytes)
                                   : nvrtcGetLTOIRSize(program, &bytes));
    std::vector<char> code(bytes);
    CHECK_RTC(form == UNIT_PTX     ? nvrtcGetPTX(program, code.data())
              : form == UNIT_CUBIN ? nvrtcGetCUBIN(program, code.data())
                                   : nvrtcGetLTOIR(program, code.data()));
    CHECK_RTC(nvrtcDestroyProgram(&program));
    return code;
}

/* Both units in that form, linked for the device that is there. */
static inline std::vector<char> link_cubin(unit_form form)
{
    static const nvJitLinkInputType types[] = {NVJITLINK_INPUT_PTX, NVJITLINK_INPUT_CUBIN,
                                               NVJITLINK_INPUT_LTOIR};
    cudaDeviceProp properties;
    char architecture[32];
    const char *options[] = {architecture, "-lto"};
    nvJitLinkHandle link;
    size_t bytes;
    CHECK(cudaGetDeviceProperties(&properties, 0));
    snprintf(architecture, sizeof architecture, "-arch=sm_%d%d", properties.major,
             properties.minor);
    std::vector<char> kernels = compile_unit(KERNELS, "kernels.cu", form, architecture);
    std::vector<char> functions = compile_unit(FUNCTIONS, "functions.cu", form, architecture);
    CHECK_LINK(nvJitLinkCreate(&link, form == UNIT_LTO ? 2 : 1, options));
    CHECK_LINK(nvJitLinkAddData(link, types[form], kernels.data(), kernels.size(), "kernels"));
    CHECK_LINK(
        nvJitLinkAddData(link, types[form], functions.data(), functions.size(), "functions"));
    CHECK_LINK(nvJitLinkComplete(link));
    CHECK_LINK(nvJitLinkGetLinkedCubinSize(link, &bytes));
    std::vector<char> cubin(bytes);
    CHECK_LINK(nvJitLinkGetLinkedCubin(link, cubin.data()));
    CHECK_LINK(nvJitLinkDestroy(&link));
    return cubin;
}

#endif
