// verdict: none
// A thousand streams, each with its own array and event; one stream waits for all and reads all.
#include "program.h"

enum { STREAMS = 1000, SMALL = 32 };

int main()
{
    static int *arrays[STREAMS];
    int *sum = device_array<int>(SMALL);
    cudaStream_t reader = nonblocking_stream();
    for (int i = 0; i < STREAMS; i++) {
        arrays[i] = device_array<int>(SMALL);
        cudaStream_t stream = nonblocking_stream();
        cudaEvent_t event = event_create();
        launch_fill(stream, arrays[i], i, SMALL);
        CHECK(cudaEventRecord(event, stream));
        CHECK(cudaStreamWaitEvent(reader, event, 0));
        CHECK(cudaEventDestroy(event));
    }
    for (int i = 0; i < STREAMS; i++)
        launch_copy(reader, sum, arrays[i], SMALL);
    return finish();
}
