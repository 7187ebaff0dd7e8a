// verdict: race
// library: nccl
// output: 1\ndone
// off-output: 0\ndone
// expect: ncclAllReduce
// expect: writing to argument\(s\) recvbuff
// A group is a thread's own: this thread's call is enqueued while another one's group is open.
#include "collectives.h"

#include <thread>

int main()
{
    cudaStream_t a = nonblocking_stream(), b = nonblocking_stream();
    ncclComm_t comm = communicator();
    int *from = zeroed(), *to = zeroed();
    NCCL(ncclGroupStart());
    std::thread([&] {
        NCCL(ncclAllReduce(from, to, N, ncclInt32, ncclSum, comm, a));
        launch_fill(b, to);
        printf("%d\n", csan_race_count() > 0);
    }).join();
    NCCL(ncclGroupEnd());
    return finish();
}
