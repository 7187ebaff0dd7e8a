// verdict: none
// options: host=guard
// What the kernel refuses is refused as without csan: csan reads no more of the arguments than it.
#include "host_memory.h"
#include <cerrno>
#include <dlfcn.h>
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

// The C library's own, past csan.
static void *mremap_without_csan(void *from, size_t bytes, int flags, void *to)
{
    typedef void *function(void *, size_t, size_t, int, ...);
    static function *own = (function *)dlsym(dlopen("libc.so.6", RTLD_NOW), "mremap");
    return own(from, bytes, bytes, flags, to);
}

// The program asks for an address, though it does not insist. C libraries differ in whether they
// pass it on, and kernels: one heeds that, one takes the gap with the highest address, one refuses.
// So the same is asked for twice in the same layout, once past csan.
enum outcome { THERE, ELSEWHERE, REFUSED };

static outcome move_to_lower_gap(void *(*move)(void *from, size_t bytes, int flags, void *to))
{
    enum { BYTES = 8192, GAPS = 1 << 20 };
    char *from =
        (char *)mmap(nullptr, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    char *gaps = (char *)mmap(nullptr, GAPS, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    char *lower = gaps + 4 * BYTES, *higher = gaps + 8 * BYTES;
    CHECK_CALL(from != MAP_FAILED && gaps != MAP_FAILED);
    CHECK_CALL(munmap(lower, BYTES) == 0 && munmap(higher, BYTES) == 0);
    void *to = move(from, BYTES, MREMAP_MAYMOVE | MREMAP_DONTUNMAP, lower);
    CHECK_CALL(munmap(gaps, GAPS) == 0 && munmap(from, BYTES) == 0);
    if (to == MAP_FAILED)
        return REFUSED;
    CHECK_CALL(munmap(to, BYTES) == 0);
    return to == lower ? THERE : ELSEWHERE;
}

static void *move_with_csan(void *from, size_t bytes, int flags, void *to)
{
    return mremap(from, bytes, bytes, flags, to);
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
    const outcome without_csan = move_to_lower_gap(mremap_without_csan);
    const outcome with_csan = move_to_lower_gap(move_with_csan);
    if (with_csan != without_csan) {
        fprintf(stderr, "mremap: %d without csan, %d with it\n", without_csan, with_csan);
        return 102;
    }
    CHECK(cudaStreamSynchronize(stream));
    return finish();
}
