// One stream loads columns of pixels, another one writes the last image.
#include "tensor_im2col.h"

int main()
{
    const Images images = {4, {CHANNELS, 8, 6, 1, 2}, {0, 0, 0}, {0, 0, 0}, {1, 1, 1}, {0, 0, 0}};
    enum { COUNT = CHANNELS * 8 * 6 * 2, COLUMNS = 8 * 6 * 2 / PIXELS };
    int *in = device_array<int>(COUNT), *out = device_array<int>(COLUMNS * COLUMN);
    Start *at = device_array<Start>(COLUMNS), starts[COLUMNS];
    const std::vector<Start> pixels = im2col_pixels(images);
    for (int i = 0; i < COLUMNS; i++)
        starts[i] = im2col_start(images, pixels[i * PIXELS]);
    CHECK(cudaMemcpy(at, starts, sizeof starts, cudaMemcpyHostToDevice));
    cudaStream_t first = nonblocking_stream(), second = nonblocking_stream();
    CHECK(cudaDeviceSynchronize());
    load_columns<<<COLUMNS, 32, 0, first>>>(im2col_map(images, in), 4, at, 0, 0, 0, out);
    if (ORDERED) {
        cudaEvent_t event = event_create();
        CHECK(cudaEventRecord(event, first));
        CHECK(cudaStreamWaitEvent(second, event));
    }
    CHECK(cudaMemsetAsync(in + COUNT - CHANNELS, 0, CHANNELS * sizeof(int), second));
    return finish();
}
