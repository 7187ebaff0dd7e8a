// verdict: none
// options: host=guard
// What the kernel refuses is refused as without csan: csan reads no more of the arguments than it.
#include "host_memory.h"
#include <cerrno>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#define CHECK_CALL(what)                                                                           \
    if (!(what)) {                                                                                 \
        perror(#what);                                                                             \
        exit(102);                                                                                 \
    }
#define CHECK_ERROR(what, error)                                                                   \
    if ((what) != -1 || errno != (error)) {                                                        \
        perror(#what);                                                                             \
        exit(102);                                                                                 \
    }

// Where what lies behind one part cannot be read.
static iovec *last_part(void)
{
    char *pages =
        (char *)mmap(nullptr, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK_CALL(pages != MAP_FAILED && mprotect(pages + 4096, 4096, PROT_NONE) == 0);
    return (iovec *)(pages + 4096) - 1;
}

static void *mremap_without_csan(void *from, size_t bytes, int flags, void *to)
{
    register long r10 asm("r10") = flags;
    register long r8 asm("r8") = (long)to;
    long result = SYS_mremap;
    asm volatile("syscall"
                 : "+a"(result)
                 : "D"(from), "S"(bytes), "d"(bytes), "r"(r10), "r"(r8)
                 : "rcx", "r11", "memory");
    return result < 0 && result > -4096 ? MAP_FAILED : (void *)result;
}

// The program asks for an address, though it does not insist. A kernel may heed that or not, and
// by itself takes the gap with the highest address.
static void move_to_lower_gap()
{
    enum { FLAGS = MREMAP_MAYMOVE | MREMAP_DONTUNMAP };
    char *from =
        (char *)mmap(nullptr, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    char *gaps = (char *)mmap(nullptr, 1 << 20, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    char *lower = gaps + 4 * 8192, *higher = gaps + 8 * 8192, *first = gaps + 2 * 8192;
    CHECK_CALL(from != MAP_FAILED && gaps != MAP_FAILED);
    CHECK_CALL(munmap(first, 8192) == 0);
    const bool heeds = mremap_without_csan(from, 8192, FLAGS, first) == first;
    CHECK_CALL(munmap(lower, 8192) == 0 && munmap(higher, 8192) == 0);
    void *to = mremap(from, 8192, 8192, FLAGS, lower);
    CHECK_CALL(heeds ? to == lower : to != MAP_FAILED || errno == EINVAL);
}

int main()
{
    int *device = device_array<int>(HOST_N);
    cudaStream_t stream = nonblocking_stream();
    int ends[2];
    volatile int negative = -1;
    CHECK_CALL(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
    CHECK(cudaMemcpyAsync(device, pinned_memory(), HOST_BYTES, cudaMemcpyHostToDevice, stream));
    iovec *part = last_part();
    *part = {part, sizeof *part};
    CHECK_ERROR(recvmsg(ends[0], nullptr, 0), EFAULT);
    CHECK_ERROR(sendmsg(ends[0], nullptr, 0), EFAULT);
    CHECK_ERROR(syscall(SYS_recvmsg, ends[0], nullptr, 0), EFAULT);
    CHECK_ERROR(writev(ends[0], part, negative), EINVAL);
    CHECK_ERROR(writev(ends[0], part, 1025), EINVAL);
    CHECK_ERROR(syscall(SYS_readv, ends[0], part, negative), EINVAL);
    move_to_lower_gap();
    CHECK(cudaStreamSynchronize(stream));
    return finish();
}
