// verdict: race
// link: -lnvrtc -lcuda
// cuda: 13
// off: gpu
// The program finds NVRTC by dlopen, as frameworks do.
#include "rtc.h"
#include <dlfcn.h>

template <class function> static function found(void *library, const char *name)
{
    function address = (function)dlsym(library, name);
    if (!address) {
        printf("no %s\n", name);
        exit(101);
    }
    return address;
}
#define FOUND(name) found<decltype(&name)>(library, #name)

static std::vector<char> compile_by_dlopen()
{
    void *library = dlopen("libnvrtc.so.13", RTLD_NOW);
    nvrtcProgram program;
    cudaDeviceProp properties;
    char architecture[32];
    const char *options[] = {architecture};
    size_t bytes;
    CHECK(cudaGetDeviceProperties(&properties, 0));
    snprintf(architecture, sizeof architecture, "-arch=sm_%d%d", properties.major,
             properties.minor);
    CHECK_RTC(FOUND(nvrtcCreateProgram)(&program, SOURCE, "rtc.cu", 0, nullptr, nullptr));
    CHECK_RTC(FOUND(nvrtcCompileProgram)(program, 1, options));
    CHECK_RTC(FOUND(nvrtcGetCUBINSize)(program, &bytes));
    std::vector<char> cubin(bytes);
    CHECK_RTC(FOUND(nvrtcGetCUBIN)(program, cubin.data()));
    return cubin;
}

int main()
{
    struct rtc rtc = rtc_make(compile_by_dlopen());
    rtc_fill(rtc, rtc.a);
    rtc_add(rtc, rtc.b);
    CHECK(cudaDeviceSynchronize());
    return finish();
}
