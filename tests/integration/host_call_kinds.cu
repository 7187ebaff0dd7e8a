// verdict: race
// expect: readv
// expect: writev
// expect: preadv2
// expect: pwritev
// expect: recvmsg
// expect: sendmsg
// expect: recvmmsg
// expect: process_vm_readv
// expect: vmsplice
// expect: getrandom
// expect: getentropy
// expect: fgets
// expect: fread
// expect: aio_write
// options: host=guard
// Each way to give the kernel a buffer, on memory that a copy may still read or write: none fails,
// and each is found.
#include "host_memory.h"
#include <aio.h>
#include <cerrno>
#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

enum { PART = 4096 };
#define CHECK_CALL(what)                                                                           \
    if (!(what)) {                                                                                 \
        perror(#what);                                                                             \
        exit(102);                                                                                 \
    }

static int *device;
static cudaStream_t stream;

// Memory that a copy may still read, and that it may still write.
static char *read_by_copy()
{
    int *p = pinned_memory();
    CHECK(cudaMemcpyAsync(device, p, HOST_BYTES, cudaMemcpyHostToDevice, stream));
    return (char *)p;
}
static char *written_by_copy()
{
    int *p = pinned_memory();
    CHECK(cudaMemcpyAsync(p, device, HOST_BYTES, cudaMemcpyDeviceToHost, stream));
    return (char *)p;
}

static iovec parts[2];
static const iovec *two(char *p)
{
    static char other[64];
    parts[0] = {other, sizeof other};
    parts[1] = {p, PART};
    return parts;
}
static msghdr *message(char *p)
{
    static msghdr made;
    made = {};
    made.msg_iov = const_cast<iovec *>(two(p));
    made.msg_iovlen = 2;
    return &made;
}

int main()
{
    char name[] = "/tmp/csan-host-XXXXXX";
    const int file = mkstemp(name), zeros = open("/dev/zero", O_RDONLY);
    int sockets[2], pipes[2];
    unlink(name);
    CHECK_CALL(file >= 0 && ftruncate(file, 1 << 20) == 0 && pipe(pipes) == 0 &&
               socketpair(AF_UNIX, SOCK_STREAM, 0, sockets) == 0);
    device = device_array<int>(HOST_N);
    stream = nonblocking_stream();
    const ssize_t all = 64 + PART;
    CHECK_CALL(readv(zeros, two(read_by_copy()), 2) == all);
    CHECK_CALL(writev(file, two(written_by_copy()), 2) == all);
    CHECK_CALL(preadv2(file, two(read_by_copy()), 2, 0, 0) == all);
    CHECK_CALL(pwritev(file, two(written_by_copy()), 2, 0) == all);
    CHECK_CALL(sendmsg(sockets[0], message(written_by_copy()), 0) == all);
    CHECK_CALL(recvmsg(sockets[1], message(read_by_copy()), 0) == all);
    CHECK_CALL(write(sockets[0], "line\n", 5) == 5);
    mmsghdr several = {};
    several.msg_hdr = *message(read_by_copy());
    several.msg_hdr.msg_iov++;
    several.msg_hdr.msg_iovlen = 1;
    CHECK_CALL(recvmmsg(sockets[1], &several, 1, 0, nullptr) == 1 && several.msg_len == 5);
    static char there[64 + PART];
    const iovec theirs = {there, sizeof there};
    CHECK_CALL(process_vm_readv(getpid(), two(read_by_copy()), 2, &theirs, 1, 0) == all ||
               errno == EPERM || errno == ENOSYS);
    const iovec given = {written_by_copy(), PART};
    CHECK_CALL(vmsplice(pipes[1], &given, 1, 0) == PART);
    CHECK_CALL(getrandom(read_by_copy(), PART, 0) == PART);
    CHECK_CALL(getentropy(read_by_copy(), 256) == 0);
    FILE *stream_of_lines = fdopen(sockets[1], "r"), *nothing = fopen("/dev/zero", "r");
    CHECK_CALL(write(sockets[0], "line\n", 5) == 5);
    CHECK_CALL(fgets(read_by_copy(), PART, stream_of_lines));
    CHECK_CALL(fread_unlocked(read_by_copy(), PART, 2, nothing) == 2);
    aiocb block = {};
    block.aio_fildes = file;
    block.aio_buf = written_by_copy();
    block.aio_nbytes = PART;
    CHECK_CALL(aio_write(&block) == 0);
    while (aio_error(&block) == EINPROGRESS)
        usleep(1000);
    CHECK_CALL(aio_return(&block) == PART);
    // A stream whose buffer is pinned memory goes on while copies use that.
    char *buffer = (char *)pinned_memory();
    CHECK_CALL(setvbuf(nothing, buffer, _IOFBF, PART) == 0);
    CHECK(cudaMemcpyAsync(device, buffer + PART, PART, cudaMemcpyHostToDevice, stream));
    for (int i = 0; i < 2 * PART; i++)
        CHECK_CALL(fgetc(nothing) == 0);
    return finish();
}
