/* Calls of the C library through which the kernel reads or writes the program's memory: it refuses
 * guarded pages (EFAULT), so they are opened before, and the call counts as the host's access. What
 * fread and fwrite do inside goes past these names, so they are here, too. See host_access.h. */
#include "runtime/hook/host/host_access.h"
#include "runtime/hook/interpose/driver.h"

#include <dlfcn.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/uio.h>

#define EXPORTED __attribute__((visibility("default")))

/* The next function of that name; found at its first call. */
#define NEXT(name)                                                                                 \
    static __typeof__(name) *next;                                                                 \
    if (__builtin_expect(!__atomic_load_n(&next, __ATOMIC_ACQUIRE), 0)) {                          \
        __typeof__(name) *found;                                                                   \
        *(void **)&found = driver_dlsym(RTLD_NEXT, #name);                                         \
        __atomic_store_n(&next, found, __ATOMIC_RELEASE);                                          \
    }

#define READS(memory, bytes, name)                                                                 \
    if (__builtin_expect(host_access_guards, 0))                                                   \
    host_access_call(memory, bytes, false, name)
#define WRITES(memory, bytes, name)                                                                \
    if (__builtin_expect(host_access_guards, 0))                                                   \
    host_access_call(memory, bytes, true, name)

/* Every part of a vector of buffers. */
static void vector(const struct iovec *parts, int count, bool writes, const char *name)
{
    for (int i = 0; host_access_guards && i < count; i++)
        host_access_call(parts[i].iov_base, parts[i].iov_len, writes, name);
}

/* ---- Files ---- */

EXPORTED ssize_t read(int file, void *memory, size_t bytes)
{
    NEXT(read)
    WRITES(memory, bytes, "read");
    return next(file, memory, bytes);
}
EXPORTED ssize_t write(int file, const void *memory, size_t bytes)
{
    NEXT(write)
    READS(memory, bytes, "write");
    return next(file, memory, bytes);
}
EXPORTED ssize_t pread(int file, void *memory, size_t bytes, off_t at)
{
    NEXT(pread)
    WRITES(memory, bytes, "pread");
    return next(file, memory, bytes, at);
}
EXPORTED ssize_t pread64(int file, void *memory, size_t bytes, off64_t at)
{
    NEXT(pread64)
    WRITES(memory, bytes, "pread64");
    return next(file, memory, bytes, at);
}
EXPORTED ssize_t pwrite(int file, const void *memory, size_t bytes, off_t at)
{
    NEXT(pwrite)
    READS(memory, bytes, "pwrite");
    return next(file, memory, bytes, at);
}
EXPORTED ssize_t pwrite64(int file, const void *memory, size_t bytes, off64_t at)
{
    NEXT(pwrite64)
    READS(memory, bytes, "pwrite64");
    return next(file, memory, bytes, at);
}
EXPORTED ssize_t readv(int file, const struct iovec *parts, int count)
{
    NEXT(readv)
    vector(parts, count, true, "readv");
    return next(file, parts, count);
}
EXPORTED ssize_t writev(int file, const struct iovec *parts, int count)
{
    NEXT(writev)
    vector(parts, count, false, "writev");
    return next(file, parts, count);
}
EXPORTED ssize_t preadv(int file, const struct iovec *parts, int count, off_t at)
{
    NEXT(preadv)
    vector(parts, count, true, "preadv");
    return next(file, parts, count, at);
}
EXPORTED ssize_t pwritev(int file, const struct iovec *parts, int count, off_t at)
{
    NEXT(pwritev)
    vector(parts, count, false, "pwritev");
    return next(file, parts, count, at);
}
EXPORTED ssize_t getrandom(void *memory, size_t bytes, unsigned flags)
{
    ssize_t getrandom(void *, size_t, unsigned);
    NEXT(getrandom)
    WRITES(memory, bytes, "getrandom");
    return next(memory, bytes, flags);
}

/* ---- Streams of stdio ---- */

EXPORTED size_t fread(void *restrict memory, size_t size, size_t count, FILE *restrict file)
{
    NEXT(fread)
    WRITES(memory, size * count, "fread");
    return next(memory, size, count, file);
}
EXPORTED size_t fwrite(const void *restrict memory, size_t size, size_t count, FILE *restrict file)
{
    NEXT(fwrite)
    READS(memory, size * count, "fwrite");
    return next(memory, size, count, file);
}

/* ---- Sockets ---- */

EXPORTED ssize_t recv(int socket, void *memory, size_t bytes, int flags)
{
    NEXT(recv)
    WRITES(memory, bytes, "recv");
    return next(socket, memory, bytes, flags);
}
EXPORTED ssize_t send(int socket, const void *memory, size_t bytes, int flags)
{
    NEXT(send)
    READS(memory, bytes, "send");
    return next(socket, memory, bytes, flags);
}
EXPORTED ssize_t recvfrom(int socket, void *restrict memory, size_t bytes, int flags,
                          struct sockaddr *restrict from, socklen_t *restrict from_bytes)
{
    NEXT(recvfrom)
    WRITES(memory, bytes, "recvfrom");
    return next(socket, memory, bytes, flags, from, from_bytes);
}
EXPORTED ssize_t sendto(int socket, const void *memory, size_t bytes, int flags,
                        const struct sockaddr *to, socklen_t to_bytes)
{
    NEXT(sendto)
    READS(memory, bytes, "sendto");
    return next(socket, memory, bytes, flags, to, to_bytes);
}
EXPORTED ssize_t recvmsg(int socket, struct msghdr *message, int flags)
{
    NEXT(recvmsg)
    vector(message->msg_iov, (int)message->msg_iovlen, true, "recvmsg");
    return next(socket, message, flags);
}
EXPORTED ssize_t sendmsg(int socket, const struct msghdr *message, int flags)
{
    NEXT(sendmsg)
    vector(message->msg_iov, (int)message->msg_iovlen, false, "sendmsg");
    return next(socket, message, flags);
}
