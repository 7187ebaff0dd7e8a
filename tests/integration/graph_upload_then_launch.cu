// verdict: race
// expect: graph_upload_then_launch.cu:{launch}
// An upload is behind what its stream did, but no launch in another stream is behind the upload.
#include "graph.h"

int main()
{
    int *p = device_array<int>();
    cudaStream_t a = nonblocking_stream(), b = nonblocking_stream();
    begin_capture(a);
    launch_fill(a, p); // at: launch
    cudaGraphExec_t exec = instantiate(end_capture(a));
    launch_increment(b, p);
    CHECK(cudaGraphUpload(exec, b));
    CHECK(cudaGraphLaunch(exec, a));
    return finish();
}
