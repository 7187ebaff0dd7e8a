// verdict: none
// library: nccl
// own-errors: yes
// A group with an invalid call enqueues nothing.
#include "collectives.h"

int main()
{
    cudaStream_t a = nonblocking_stream(), b = nonblocking_stream();
    ncclComm_t comm = communicator();
    int *from = zeroed(), *to = zeroed();
    NCCL(ncclGroupStart());
    NCCL(ncclAllReduce(from, to, N, ncclInt32, ncclSum, comm, a));
    if (ncclAllReduce(from, to, N, (ncclDataType_t)99, ncclSum, comm, a) == ncclSuccess)
        printf("an invalid call succeeded\n");
    if (ncclGroupEnd() == ncclSuccess)
        printf("a group with an invalid call succeeded\n");
    launch_fill(b, to);
    return finish();
}
