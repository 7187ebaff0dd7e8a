// verdict: race
// link: -lnvJitLink -lnvrtc -lcuda
// cuda: 13
// off: gpu
// Two units of machine code that NVRTC made are linked by nvJitLink, and the program loads the
// cubin.
#include "jit_link.h"

int main()
{
    struct rtc rtc = rtc_make(link_cubin(UNIT_CUBIN));
    rtc_fill(rtc, rtc.a);
    rtc_add(rtc, rtc.b);
    CHECK(cudaDeviceSynchronize());
    return finish();
}
