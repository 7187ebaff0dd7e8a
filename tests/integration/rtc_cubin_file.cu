// verdict: none
// link: -lnvrtc -lcuda
// cuda: 13
// off: gpu
// The cubin goes through a file and cuModuleLoad.
#include "rtc.h"

int main()
{
    const std::vector<char> cubin = compile_cubin(SOURCE);
    char path[] = "/tmp/csan-rtc-XXXXXX";
    const int descriptor = mkstemp(path);
    FILE *file = fdopen(descriptor, "wb");
    CUmodule module;
    fwrite(cubin.data(), 1, cubin.size(), file);
    fclose(file);
    CHECK(cudaFree(nullptr));
    CHECK_DRIVER(cuModuleLoad(&module, path));
    remove(path);
    struct rtc rtc = rtc_of(module);
    rtc_fill(rtc, rtc.a);
    rtc_order(rtc);
    rtc_add(rtc, rtc.b);
    return rtc_check(rtc);
}
