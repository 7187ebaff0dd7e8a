// verdict: race
// library: nccl
// expect: ncclAllReduce|cuGraphAddMemcpyNode|cu(da)?MemcpyAsync
// expect: writing to argument\(s\) (recvbuff|dst)
// Two calls of a captured group are one node, which writes the results of both: the first one's is
// read by another stream while the graph runs. (With a single rank NCCL itself makes a copy of each
// call, and a copy's node says what it touches.)
#include "collectives.h"

int main()
{
    cudaStream_t a = nonblocking_stream(), b = nonblocking_stream();
    ncclComm_t comm = communicator();
    int *from = zeroed(), *first = zeroed(), *second = zeroed(), *copy = zeroed();
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    CHECK(cudaStreamBeginCapture(a, cudaStreamCaptureModeThreadLocal));
    NCCL(ncclGroupStart());
    NCCL(ncclAllReduce(from, first, N, ncclInt32, ncclSum, comm, a));
    NCCL(ncclAllReduce(from, second, N, ncclInt32, ncclSum, comm, a));
    NCCL(ncclGroupEnd());
    CHECK(cudaStreamEndCapture(a, &graph));
    CHECK(cudaGraphInstantiate(&exec, graph, 0));
    CHECK(cudaGraphLaunch(exec, a));
    CHECK(cudaMemcpyAsync(copy, first, BYTES, cudaMemcpyDeviceToDevice, b));
    return finish();
}
