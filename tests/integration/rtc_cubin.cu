// verdict: race
// link: -lnvrtc -lcuda
// cuda: 13
// off: gpu
// NVRTC made the machine code; its PTX is kept beside it.
#include "rtc.h"

int main()
{
    struct rtc rtc = rtc_make(compile_cubin(SOURCE));
    rtc_fill(rtc, rtc.a);
    rtc_add(rtc, rtc.b);
    CHECK(cudaDeviceSynchronize());
    return finish();
}
