// verdict: none
// link: -lnvJitLink -lnvrtc -lcuda
// cuda: 13
// off: gpu
// As jit_link_ptx, behind an event.
#include "jit_link.h"

int main()
{
    struct rtc rtc = rtc_make(link_cubin(UNIT_PTX));
    rtc_fill(rtc, rtc.a);
    rtc_order(rtc);
    rtc_add(rtc, rtc.b);
    return rtc_check(rtc);
}
