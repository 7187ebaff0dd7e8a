// One stream loads lines of pixels; another one sets the last pixel of a row of an image.
#include "tensor_wide.h"

static int set_beside(int row, bool ordered)
{
    const Batch batch = {4, 8, 4, 1, 2, 0, 0, 1, 16};
    const Line line = {0, 1, 0, 0, 0, 0}; // row 1 of both images
    enum { COUNT = CHANNELS * 8 * 4 * 2 };
    int *in = device_array<int>(COUNT), *out = device_array<int>(LINE_MOST * CHANNELS);
    const Line *at = on_device(&line, 1);
    cudaStream_t first = nonblocking_stream(), second = nonblocking_stream();
    const CUtensorMap map = wide_map(batch, in);
    CHECK(cudaDeviceSynchronize());
    load_lines<<<1, 32, 0, first>>>(map, 4, false, 16, at, out);
    CHECK(cudaGetLastError());
    if (ordered) {
        cudaEvent_t event = event_create();
        CHECK(cudaEventRecord(event, first));
        CHECK(cudaStreamWaitEvent(second, event));
    }
    CHECK(cudaMemsetAsync(in + ((4 + row) * 8 + 7) * CHANNELS, 0, PIXEL_BYTES, second));
    return finish();
}
