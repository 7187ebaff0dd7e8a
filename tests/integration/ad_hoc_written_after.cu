// verdict: race
// What is written behind the kernel that raises the flag is not published by it.
#include "ad_hoc.h"

int main()
{
    struct words w = words_make();
    CHECK(cudaMemset(w.data, 0, DATA_BYTES));
    raise_flag<<<1, 1, 0, w.a>>>(w.flag);
    produce<<<1, THREADS, 0, w.a>>>(w.data, w.other_flag);
    consume<<<1, THREADS, 0, w.b>>>(w.data, w.flag, w.out);
    CHECK(cudaDeviceSynchronize());
    return finish();
}
