// A kernel loads slice 1 of two images, or with STORES stores it; another stream clears slice
// CLEARED of the first image, behind an event or at once.
#include "tensor_interleave.h"

int main()
{
    unsigned short *tensor = device_array<unsigned short>(IMAGES * IMAGE);
    unsigned short *out = device_array<unsigned short>(HELD);
    cudaStream_t first = nonblocking_stream(), second = nonblocking_stream();
    CHECK(cudaMemset(tensor, 1, IMAGES * IMAGE * sizeof *tensor));
    CHECK(cudaDeviceSynchronize());
    const CUtensorMap map = interleaved_map(tensor, CU_TENSOR_MAP_SWIZZLE_NONE);
#ifdef STORES
    store_slice<<<1, 32, 0, first>>>(map, 0, 1, 0);
    (void)out;
#else
    load_slice<<<1, 32, 0, first>>>(map, 0, 1, 0, out);
#endif
    if (ORDERED) {
        cudaEvent_t event = event_create();
        CHECK(cudaEventRecord(event, first));
        CHECK(cudaStreamWaitEvent(second, event));
    }
    CHECK(cudaMemsetAsync(tensor + CLEARED * ROW, 0, ROW * sizeof *tensor, second));
    return finish();
}
