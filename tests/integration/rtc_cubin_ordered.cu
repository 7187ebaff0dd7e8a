// verdict: none
// link: -lnvrtc -lcuda
// cuda: 13
// off: gpu
// The same, ordered by an event.
#include "rtc.h"

int main()
{
    struct rtc rtc = rtc_make(compile_cubin(SOURCE));
    rtc_fill(rtc, rtc.a);
    rtc_order(rtc);
    rtc_add(rtc, rtc.b);
    return rtc_check(rtc);
}
