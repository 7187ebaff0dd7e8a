// verdict: none
// devices: 2
// finding: stream of another context
// expect: CSAN: stream of another context: cudaEventRecord \(.*devices_wrong_stream.cu:{event}\)
// expect: The stream is of device 1, and device 0 is current.
// expect: created at .*program.h
// expect: The program gets CUDA_ERROR_INVALID_HANDLE|The program gets CUDA_ERROR_INVALID_CONTEXT
// An event of one device is recorded in a stream of another one.
#include "devices.h"
#include "expect.h"

int main()
{
    cudaStream_t theirs = stream_on(1);
    int *p = array_on(0);
    cudaEvent_t event = event_create();
    launch_fill(0, p);
    EXPECT(cudaEventRecord(event, theirs), cudaErrorInvalidResourceHandle); // at: event
    return finish();
}
