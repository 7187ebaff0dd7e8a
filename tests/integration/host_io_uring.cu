// verdict: race
// expect: (io_uring's )?write .* does not wait for cudaMemcpyAsync
// options: host=guard
// A ring that is made by system calls: buffers are registered while copies use them, reads and
// writes through the ring succeed, and a write of what a copy has yet to bring is found. Where the
// system has no rings, write(2) is.
#include "host_memory.h"
#include <fcntl.h>
#include <linux/io_uring.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

static int ring;
static io_uring_params params;
static char *queue, *done;
static io_uring_sqe *entries;

static unsigned *word(char *base, unsigned offset)
{
    return (unsigned *)(base + offset);
}

static bool ring_open()
{
    ring = (int)syscall(SYS_io_uring_setup, 4, &params);
    if (ring < 0)
        return false;
    const int both = PROT_READ | PROT_WRITE;
    queue = (char *)mmap(nullptr, params.sq_off.array + params.sq_entries * sizeof(unsigned), both,
                         MAP_SHARED, ring, IORING_OFF_SQ_RING);
    done = (char *)mmap(nullptr, params.cq_off.cqes + params.cq_entries * sizeof(io_uring_cqe),
                        both, MAP_SHARED, ring, IORING_OFF_CQ_RING);
    entries = (io_uring_sqe *)mmap(nullptr, params.sq_entries * sizeof(io_uring_sqe), both,
                                   MAP_SHARED, ring, IORING_OFF_SQES);
    return queue != MAP_FAILED && done != MAP_FAILED && entries != MAP_FAILED;
}

static int submit(int opcode, int file, void *memory, unsigned bytes, int index = 0)
{
    unsigned *tail = word(queue, params.sq_off.tail);
    const unsigned at = *tail & *word(queue, params.sq_off.ring_mask);
    entries[at] = {};
    entries[at].opcode = (unsigned char)opcode;
    entries[at].fd = file;
    entries[at].addr = (unsigned long)memory;
    entries[at].len = bytes;
    entries[at].buf_index = (unsigned short)index;
    word(queue, params.sq_off.array)[at] = at;
    __atomic_store_n(tail, *tail + 1, __ATOMIC_RELEASE);
    if (syscall(SYS_io_uring_enter, ring, 1, 1, IORING_ENTER_GETEVENTS, nullptr, 0) != 1)
        exit(102);
    unsigned *head = word(done, params.cq_off.head);
    const io_uring_cqe *completion = (io_uring_cqe *)(done + params.cq_off.cqes) +
                                     (*head & *word(done, params.cq_off.ring_mask));
    __atomic_store_n(head, *head + 1, __ATOMIC_RELEASE);
    return completion->res;
}

int main()
{
    int *device = device_array<int>(HOST_N), *result = pinned_memory(),
        *registered = pinned_memory();
    const int zeros = open("/dev/zero", O_RDONLY), nothing = open("/dev/null", O_WRONLY);
    cudaStream_t stream = nonblocking_stream();
    const bool has = ring_open();
    CHECK(cudaMemcpyAsync(result, device, HOST_BYTES, cudaMemcpyDeviceToHost, stream));
    CHECK(cudaMemcpyAsync(registered, device, 64, cudaMemcpyDeviceToHost, stream));
    const iovec given = {registered, HOST_BYTES};
    if (has) {
        if (syscall(SYS_io_uring_register, ring, IORING_REGISTER_BUFFERS, &given, 1) != 0)
            return 103;
        // Beside what the copy writes.
        if (submit(IORING_OP_READ_FIXED, zeros, registered + 1024, 4096) != 4096)
            return 104;
        CHECK(cudaMemcpyAsync(registered, device, 64, cudaMemcpyDeviceToHost, stream));
        if (submit(IORING_OP_READ_FIXED, zeros, registered + 512, 2048) != 2048)
            return 105;
        if (submit(IORING_OP_WRITE, nothing, result, 4096) != 4096)
            return 106;
    } else if (write(nothing, result, 4096) != 4096) {
        return 107;
    }
    return finish();
}
