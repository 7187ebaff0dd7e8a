// verdict: none
// cuda: 13
// skip: gpu
// link: -lcuda
// The same copies behind what they overwrite, and a source on the stack that is read within the
// call. The target holds what the source held.
#include "driver_newer.h"

// Each holds `value`, and `step` more than the one before.
static void expect(const int *p, int value, int step)
{
    static int here[N];
    CHECK(cudaMemcpy(here, p, BYTES, cudaMemcpyDeviceToHost));
    for (int i = 0; i < N; i++)
        if (here[i] != value + i * step) {
            fprintf(stderr, "%d is %d\n", i, here[i]);
            exit(101);
        }
}

int main()
{
    int *p = device_array<int>(), *q = device_array<int>();
    cudaStream_t a = nonblocking_stream();
    int value = 7;
    for (auto copy : {copy_box_newer, copy_fabric_newer}) {
        fill<<<GRID, BLOCK, 0, a>>>(p, 1, N);
        fill<<<GRID, BLOCK, 0, a>>>(q, ++value, N);
        copy(p, q, a, false);
        CHECK(cudaStreamSynchronize(a));
        expect(p, value, 1);
    }
    static int from[N];
    for (int &word : from)
        word = 5;
    csan_host_writes(from, sizeof from);
    copy_linear_newer(p, from, a, false, CU_MEMCPY_SRC_ACCESS_ORDER_DURING_API_CALL);
    csan_host_writes(from, sizeof from);
    from[0] = 1;
    CHECK(cudaStreamSynchronize(a));
    expect(p, 5, 0);
    return finish();
}
