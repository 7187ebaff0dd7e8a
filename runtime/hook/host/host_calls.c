/* Functions of the C library through which the kernel reads or writes the program's memory. The
 * kernel refuses guarded pages (EFAULT). So the pages are opened before the call, and the call
 * counts as the host's access. fread and fwrite call the kernel by internal names, so they are
 * here, too. See host_access.h. */
#include "runtime/hook/host/host_access.h"
#include "runtime/hook/interpose/driver.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

#define EXPORTED __attribute__((visibility("default")))

#define CALLS(call)                                                                                \
    call(read) call(write) call(pread) call(pread64) call(pwrite) call(pwrite64) call(readv)       \
        call(writev) call(preadv) call(pwritev) call(getrandom) call(fread) call(fwrite)           \
            call(recv) call(send) call(recvfrom) call(sendto) call(recvmsg) call(sendmsg)

/* The next functions of these names, found before any constructor of libcsan's runs: a look-up
 * takes locks (see libc_next.h). */
static struct {
#define MEMBER(name) __typeof__(name) *name;
    CALLS(MEMBER)
    bool found;
} libc;

static __attribute__((constructor(101))) void calls_find(void)
{
#define FIND(name) *(void **)&libc.name = driver_dlsym(RTLD_NEXT, #name);
    CALLS(FIND)
    __atomic_store_n(&libc.found, true, __ATOMIC_RELEASE);
}

/* Another library's constructor may call first. */
#define NEXT(name)                                                                                 \
    (__builtin_expect(!__atomic_load_n(&libc.found, __ATOMIC_ACQUIRE), 0) ? calls_find()           \
                                                                          : (void)0,               \
     libc.name)

#define READS(memory, bytes, name)                                                                 \
    if (__builtin_expect(host_access_guards, 0))                                                   \
    host_access_call((uintptr_t)(memory), bytes, false, name)
#define WRITES(memory, bytes, name)                                                                \
    if (__builtin_expect(host_access_guards, 0))                                                   \
    host_access_call((uintptr_t)(memory), bytes, true, name)

/* Every part of a vector of buffers. */
static void vector(const struct iovec *parts, int count, bool writes, const char *name)
{
    for (int i = 0; host_access_guards && i < count; i++)
        host_access_call((uintptr_t)parts[i].iov_base, parts[i].iov_len, writes, name);
}

/* ---- Files ---- */

EXPORTED ssize_t read(int file, void *memory, size_t bytes)
{
    WRITES(memory, bytes, "read");
    return NEXT(read)(file, memory, bytes);
}
EXPORTED ssize_t write(int file, const void *memory, size_t bytes)
{
    READS(memory, bytes, "write");
    return NEXT(write)(file, memory, bytes);
}
EXPORTED ssize_t pread(int file, void *memory, size_t bytes, off_t at)
{
    WRITES(memory, bytes, "pread");
    return NEXT(pread)(file, memory, bytes, at);
}
EXPORTED ssize_t pread64(int file, void *memory, size_t bytes, off64_t at)
{
    WRITES(memory, bytes, "pread64");
    return NEXT(pread64)(file, memory, bytes, at);
}
EXPORTED ssize_t pwrite(int file, const void *memory, size_t bytes, off_t at)
{
    READS(memory, bytes, "pwrite");
    return NEXT(pwrite)(file, memory, bytes, at);
}
EXPORTED ssize_t pwrite64(int file, const void *memory, size_t bytes, off64_t at)
{
    READS(memory, bytes, "pwrite64");
    return NEXT(pwrite64)(file, memory, bytes, at);
}
EXPORTED ssize_t readv(int file, const struct iovec *parts, int count)
{
    vector(parts, count, true, "readv");
    return NEXT(readv)(file, parts, count);
}
EXPORTED ssize_t writev(int file, const struct iovec *parts, int count)
{
    vector(parts, count, false, "writev");
    return NEXT(writev)(file, parts, count);
}
EXPORTED ssize_t preadv(int file, const struct iovec *parts, int count, off_t at)
{
    vector(parts, count, true, "preadv");
    return NEXT(preadv)(file, parts, count, at);
}
EXPORTED ssize_t pwritev(int file, const struct iovec *parts, int count, off_t at)
{
    vector(parts, count, false, "pwritev");
    return NEXT(pwritev)(file, parts, count, at);
}
EXPORTED ssize_t getrandom(void *memory, size_t bytes, unsigned flags)
{
    WRITES(memory, bytes, "getrandom");
    return NEXT(getrandom)(memory, bytes, flags);
}

/* ---- Streams of stdio ---- */

EXPORTED size_t fread(void *restrict memory, size_t size, size_t count, FILE *restrict file)
{
    WRITES(memory, size * count, "fread");
    return NEXT(fread)(memory, size, count, file);
}
EXPORTED size_t fwrite(const void *restrict memory, size_t size, size_t count, FILE *restrict file)
{
    READS(memory, size * count, "fwrite");
    return NEXT(fwrite)(memory, size, count, file);
}

/* ---- Sockets ---- */

EXPORTED ssize_t recv(int socket, void *memory, size_t bytes, int flags)
{
    WRITES(memory, bytes, "recv");
    return NEXT(recv)(socket, memory, bytes, flags);
}
EXPORTED ssize_t send(int socket, const void *memory, size_t bytes, int flags)
{
    READS(memory, bytes, "send");
    return NEXT(send)(socket, memory, bytes, flags);
}
EXPORTED ssize_t recvfrom(int socket, void *restrict memory, size_t bytes, int flags,
                          struct sockaddr *restrict from, socklen_t *restrict from_bytes)
{
    WRITES(memory, bytes, "recvfrom");
    return NEXT(recvfrom)(socket, memory, bytes, flags, from, from_bytes);
}
EXPORTED ssize_t sendto(int socket, const void *memory, size_t bytes, int flags,
                        const struct sockaddr *to, socklen_t to_bytes)
{
    READS(memory, bytes, "sendto");
    return NEXT(sendto)(socket, memory, bytes, flags, to, to_bytes);
}
EXPORTED ssize_t recvmsg(int socket, struct msghdr *message, int flags)
{
    vector(message->msg_iov, (int)message->msg_iovlen, true, "recvmsg");
    return NEXT(recvmsg)(socket, message, flags);
}
EXPORTED ssize_t sendmsg(int socket, const struct msghdr *message, int flags)
{
    vector(message->msg_iov, (int)message->msg_iovlen, false, "sendmsg");
    return NEXT(sendmsg)(socket, message, flags);
}
