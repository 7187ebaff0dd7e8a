// verdict: race
// expect: host_call_messages.cu:{sends}
// expect: host_call_messages.cu:{receives}
// expect: sendmmsg .* does not wait for cudaMemcpyAsync
// expect: recvmmsg .* not ordered after cudaMemcpyAsync
// options: host=guard
// syscall(2) sends and receives several messages, whose buffers copies may still write and read:
// the kernel gets them open, and each access is found.
#include "host_memory.h"
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { MESSAGES = 2, PART = 4096 };

static mmsghdr messages[MESSAGES];
static iovec parts[MESSAGES];

static mmsghdr *messages_of(int *memory)
{
    for (int i = 0; i < MESSAGES; i++) {
        parts[i] = {(char *)memory + i * PART, PART};
        messages[i] = {};
        messages[i].msg_hdr.msg_iov = &parts[i];
        messages[i].msg_hdr.msg_iovlen = 1;
    }
    return messages;
}

int main()
{
    int *device = device_array<int>(HOST_N), *from = pinned_memory(), *to = pinned_memory();
    int sockets[2];
    cudaStream_t stream = nonblocking_stream();
    if (socketpair(AF_UNIX, SOCK_DGRAM, 0, sockets) != 0)
        return 102;
    CHECK(cudaMemcpyAsync(from, device, HOST_BYTES, cudaMemcpyDeviceToHost, stream));
    CHECK(cudaMemcpyAsync(device, to, HOST_BYTES, cudaMemcpyHostToDevice, stream));
    if (syscall(SYS_sendmmsg, sockets[0], messages_of(from), MESSAGES, 0) != MESSAGES) // at: sends
        return 103;
    if (syscall(SYS_recvmmsg, sockets[1], messages_of(to), MESSAGES, 0, nullptr) != // at: receives
        MESSAGES)
        return 104;
    return messages[1].msg_len == PART ? finish() : 105;
}
