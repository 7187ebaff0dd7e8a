// verdict: none
// The flag and an event: the event is an order.
#include "ad_hoc.h"

int main()
{
    struct words w = words_make();
    cudaEvent_t done;
    CHECK(cudaEventCreate(&done));
    produce<<<1, THREADS, 0, w.a>>>(w.data, w.flag);
    CHECK(cudaEventRecord(done, w.a));
    CHECK(cudaStreamWaitEvent(w.b, done, 0));
    consume<<<1, THREADS, 0, w.b>>>(w.data, w.flag, w.out);
    return words_check(w);
}
