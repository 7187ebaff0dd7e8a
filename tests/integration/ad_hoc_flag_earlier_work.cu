// verdict: possible
// The copy comes before the kernel that raises the flag, and the waiting kernel before both.
#include "ad_hoc.h"

int main()
{
    struct words w = words_make();
    int *host;
    CHECK(cudaMallocHost(&host, DATA_BYTES));
    for (int i = 0; i < THREADS; i++)
        host[i] = i + 1;
    CHECK(cudaMemcpyAsync(w.data, host, DATA_BYTES, cudaMemcpyHostToDevice, w.a));
    consume<<<1, THREADS, 0, w.b>>>(w.data, w.flag, w.out);
    raise_flag<<<1, 1, 0, w.a>>>(w.flag);
    return words_check(w);
}
