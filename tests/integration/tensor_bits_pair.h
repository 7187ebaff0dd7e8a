// A kernel stores six-bit values to four lines of a tensor; another stream clears one line, FIRST
// lines behind those that are stored, behind an event or at once.
#include "tensor_bits.h"

int main()
{
    const int bytes = line_bytes(six_bits);
    unsigned char *tensor = device_array<unsigned char>(bytes * LINES);
    unsigned char *box = device_array<unsigned char>(HELD);
    cudaStream_t first = nonblocking_stream(), second = nonblocking_stream();
    CHECK(cudaMemset(box, 0x2a, HELD));
    CHECK(cudaDeviceSynchronize());
    store_bits<<<1, 32, 0, first>>>(bits_map(six_bits, tensor), 0, 1, box);
    if (ORDERED) {
        cudaEvent_t event = event_create();
        CHECK(cudaEventRecord(event, first));
        CHECK(cudaStreamWaitEvent(second, event));
    }
    CHECK(cudaMemsetAsync(tensor + (1 + FIRST) * bytes, 0, (size_t)bytes, second));
    return finish();
}
