/* Functions of the C library through which the kernel reads or writes the program's memory: see
 * lent_memory.h. fread and its kind call the kernel by internal names, so they are here, too. Code
 * that was compiled with _FORTIFY_SOURCE calls other names, which are here as well. */
#include "runtime/hook/host/lent_memory.h"
#include "runtime/hook/host/next_call.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

#undef fread_unlocked
#undef fwrite_unlocked

/* The C library's headers declare these with _FORTIFY_SOURCE only. */
ssize_t __read_chk(int file, void *memory, size_t bytes, size_t room);
ssize_t __pread_chk(int file, void *memory, size_t bytes, off_t at, size_t room);
ssize_t __pread64_chk(int file, void *memory, size_t bytes, off64_t at, size_t room);
ssize_t __recv_chk(int socket, void *memory, size_t bytes, size_t room, int flags);
ssize_t __recvfrom_chk(int socket, void *memory, size_t bytes, size_t room, int flags,
                       struct sockaddr *from, socklen_t *from_bytes);
size_t __fread_chk(void *memory, size_t room, size_t size, size_t count, FILE *file);
size_t __fread_unlocked_chk(void *memory, size_t room, size_t size, size_t count, FILE *file);
char *__fgets_chk(char *memory, size_t room, int count, FILE *file);

#define CALLS(call)                                                                                \
    call(read) call(write) call(pread) call(pread64) call(pwrite) call(pwrite64) call(readv)       \
        call(writev) call(preadv) call(preadv64) call(pwritev) call(pwritev64) call(preadv2)       \
            call(preadv64v2) call(pwritev2) call(pwritev64v2) call(getrandom) call(getentropy)     \
                call(process_vm_readv) call(process_vm_writev) call(vmsplice) call(fread)          \
                    call(fwrite) call(fread_unlocked) call(fwrite_unlocked) call(fgets)            \
                        call(setvbuf) call(recv) call(send) call(recvfrom) call(sendto)            \
                            call(recvmsg) call(sendmsg) call(recvmmsg) call(sendmmsg)              \
                                call(__read_chk) call(__pread_chk) call(__pread64_chk)             \
                                    call(__recv_chk) call(__recvfrom_chk) call(__fread_chk)        \
                                        call(__fread_unlocked_chk) call(__fgets_chk)
NEXT_CALLS(CALLS)

/* While no page may be guarded, a function here is a test and a jump. */
#define CALL_BEGINS(made)                                                                          \
    struct lent_memory call;                                                                       \
    if (__builtin_expect(!host_access_calls, 1))                                                   \
    return made
/* The call between, and what it returned: so many bytes. */
#define WRITES(memory, bytes, name, made)                                                          \
    CALL_BEGINS(made);                                                                             \
    lent_memory_begin(&call, memory, bytes, true);                                                 \
    return lent_memory_end(&call, made, name)
#define READS(memory, bytes, name, made)                                                           \
    CALL_BEGINS(made);                                                                             \
    lent_memory_begin(&call, memory, bytes, false);                                                \
    return lent_memory_end(&call, made, name)
#define WRITES_PARTS(parts, count, name, made)                                                     \
    CALL_BEGINS(made);                                                                             \
    lent_memory_begin_vector(&call, parts, (size_t)(count), true);                                 \
    return lent_memory_end(&call, made, name)
#define READS_PARTS(parts, count, name, made)                                                      \
    CALL_BEGINS(made);                                                                             \
    lent_memory_begin_vector(&call, parts, (size_t)(count), false);                                \
    return lent_memory_end(&call, made, name)
#define WRITES_MESSAGE(message, name, made)                                                        \
    CALL_BEGINS(made);                                                                             \
    lent_memory_begin_message(&call, message, true);                                               \
    return lent_memory_end(&call, made, name)
#define READS_MESSAGE(message, name, made)                                                         \
    CALL_BEGINS(made);                                                                             \
    lent_memory_begin_message(&call, message, false);                                              \
    return lent_memory_end(&call, made, name)

/* ---- Files ---- */

NEXT_EXPORTED ssize_t read(int file, void *memory, size_t bytes)
{
    WRITES(memory, bytes, "read", NEXT(read)(file, memory, bytes));
}
NEXT_EXPORTED ssize_t __read_chk(int file, void *memory, size_t bytes, size_t room)
{
    WRITES(memory, bytes, "read", NEXT(__read_chk)(file, memory, bytes, room));
}
NEXT_EXPORTED ssize_t write(int file, const void *memory, size_t bytes)
{
    READS(memory, bytes, "write", NEXT(write)(file, memory, bytes));
}
NEXT_EXPORTED ssize_t pread(int file, void *memory, size_t bytes, off_t at)
{
    WRITES(memory, bytes, "pread", NEXT(pread)(file, memory, bytes, at));
}
NEXT_EXPORTED ssize_t __pread_chk(int file, void *memory, size_t bytes, off_t at, size_t room)
{
    WRITES(memory, bytes, "pread", NEXT(__pread_chk)(file, memory, bytes, at, room));
}
NEXT_EXPORTED ssize_t pread64(int file, void *memory, size_t bytes, off64_t at)
{
    WRITES(memory, bytes, "pread64", NEXT(pread64)(file, memory, bytes, at));
}
NEXT_EXPORTED ssize_t __pread64_chk(int file, void *memory, size_t bytes, off64_t at, size_t room)
{
    WRITES(memory, bytes, "pread64", NEXT(__pread64_chk)(file, memory, bytes, at, room));
}
NEXT_EXPORTED ssize_t pwrite(int file, const void *memory, size_t bytes, off_t at)
{
    READS(memory, bytes, "pwrite", NEXT(pwrite)(file, memory, bytes, at));
}
NEXT_EXPORTED ssize_t pwrite64(int file, const void *memory, size_t bytes, off64_t at)
{
    READS(memory, bytes, "pwrite64", NEXT(pwrite64)(file, memory, bytes, at));
}
NEXT_EXPORTED ssize_t readv(int file, const struct iovec *parts, int count)
{
    WRITES_PARTS(parts, count, "readv", NEXT(readv)(file, parts, count));
}
NEXT_EXPORTED ssize_t writev(int file, const struct iovec *parts, int count)
{
    READS_PARTS(parts, count, "writev", NEXT(writev)(file, parts, count));
}
NEXT_EXPORTED ssize_t preadv(int file, const struct iovec *parts, int count, off_t at)
{
    WRITES_PARTS(parts, count, "preadv", NEXT(preadv)(file, parts, count, at));
}
NEXT_EXPORTED ssize_t preadv64(int file, const struct iovec *parts, int count, off64_t at)
{
    WRITES_PARTS(parts, count, "preadv", NEXT(preadv64)(file, parts, count, at));
}
NEXT_EXPORTED ssize_t pwritev(int file, const struct iovec *parts, int count, off_t at)
{
    READS_PARTS(parts, count, "pwritev", NEXT(pwritev)(file, parts, count, at));
}
NEXT_EXPORTED ssize_t pwritev64(int file, const struct iovec *parts, int count, off64_t at)
{
    READS_PARTS(parts, count, "pwritev", NEXT(pwritev64)(file, parts, count, at));
}
NEXT_EXPORTED ssize_t preadv2(int file, const struct iovec *parts, int count, off_t at, int flags)
{
    WRITES_PARTS(parts, count, "preadv2", NEXT(preadv2)(file, parts, count, at, flags));
}
NEXT_EXPORTED ssize_t preadv64v2(int file, const struct iovec *parts, int count, off64_t at,
                                 int flags)
{
    WRITES_PARTS(parts, count, "preadv2", NEXT(preadv64v2)(file, parts, count, at, flags));
}
NEXT_EXPORTED ssize_t pwritev2(int file, const struct iovec *parts, int count, off_t at, int flags)
{
    READS_PARTS(parts, count, "pwritev2", NEXT(pwritev2)(file, parts, count, at, flags));
}
NEXT_EXPORTED ssize_t pwritev64v2(int file, const struct iovec *parts, int count, off64_t at,
                                  int flags)
{
    READS_PARTS(parts, count, "pwritev2", NEXT(pwritev64v2)(file, parts, count, at, flags));
}
NEXT_EXPORTED ssize_t vmsplice(int pipe, const struct iovec *parts, size_t count, unsigned flags)
{
    READS_PARTS(parts, count, "vmsplice", NEXT(vmsplice)(pipe, parts, count, flags));
}
NEXT_EXPORTED ssize_t getrandom(void *memory, size_t bytes, unsigned flags)
{
    WRITES(memory, bytes, "getrandom", NEXT(getrandom)(memory, bytes, flags));
}
NEXT_EXPORTED int getentropy(void *memory, size_t bytes)
{
    CALL_BEGINS(NEXT(getentropy)(memory, bytes));
    lent_memory_begin(&call, memory, bytes, true);
    const int result = NEXT(getentropy)(memory, bytes);
    lent_memory_end(&call, result == 0 ? (ssize_t)bytes : 0, "getentropy");
    return result;
}

/* ---- Other processes' memory: what is here of it ---- */

NEXT_EXPORTED ssize_t process_vm_readv(pid_t process, const struct iovec *parts,
                                       unsigned long count, const struct iovec *theirs,
                                       unsigned long their_count, unsigned long flags)
{
    WRITES_PARTS(parts, count, "process_vm_readv",
                 NEXT(process_vm_readv)(process, parts, count, theirs, their_count, flags));
}
NEXT_EXPORTED ssize_t process_vm_writev(pid_t process, const struct iovec *parts,
                                        unsigned long count, const struct iovec *theirs,
                                        unsigned long their_count, unsigned long flags)
{
    READS_PARTS(parts, count, "process_vm_writev",
                NEXT(process_vm_writev)(process, parts, count, theirs, their_count, flags));
}

/* ---- Streams of stdio ---- */

/* Of whole items; a part of one is not counted. */
static size_t items_end(struct lent_memory *call, size_t items, size_t size, const char *name)
{
    lent_memory_end(call, (ssize_t)(items * size), name);
    return items;
}

#define WRITES_ITEMS(memory, size, count, name, made)                                              \
    CALL_BEGINS(made);                                                                             \
    lent_memory_begin(&call, memory, (size) * (count), true);                                      \
    return items_end(&call, made, size, name)
#define READS_ITEMS(memory, size, count, name, made)                                               \
    CALL_BEGINS(made);                                                                             \
    lent_memory_begin(&call, memory, (size) * (count), false);                                     \
    return items_end(&call, made, size, name)

NEXT_EXPORTED size_t fread(void *restrict memory, size_t size, size_t count, FILE *restrict file)
{
    WRITES_ITEMS(memory, size, count, "fread", NEXT(fread)(memory, size, count, file));
}
NEXT_EXPORTED size_t fread_unlocked(void *restrict memory, size_t size, size_t count,
                                    FILE *restrict file)
{
    WRITES_ITEMS(memory, size, count, "fread", NEXT(fread_unlocked)(memory, size, count, file));
}
NEXT_EXPORTED size_t __fread_chk(void *memory, size_t room, size_t size, size_t count, FILE *file)
{
    WRITES_ITEMS(memory, size, count, "fread", NEXT(__fread_chk)(memory, room, size, count, file));
}
NEXT_EXPORTED size_t __fread_unlocked_chk(void *memory, size_t room, size_t size, size_t count,
                                          FILE *file)
{
    WRITES_ITEMS(memory, size, count, "fread",
                 NEXT(__fread_unlocked_chk)(memory, room, size, count, file));
}
NEXT_EXPORTED size_t fwrite(const void *restrict memory, size_t size, size_t count,
                            FILE *restrict file)
{
    READS_ITEMS(memory, size, count, "fwrite", NEXT(fwrite)(memory, size, count, file));
}
NEXT_EXPORTED size_t fwrite_unlocked(const void *restrict memory, size_t size, size_t count,
                                     FILE *restrict file)
{
    READS_ITEMS(memory, size, count, "fwrite", NEXT(fwrite_unlocked)(memory, size, count, file));
}

static char *line_end(struct lent_memory *call, char *line)
{
    lent_memory_end(call, line ? (ssize_t)strlen(line) + 1 : 0, "fgets");
    return line;
}
NEXT_EXPORTED char *fgets(char *restrict memory, int count, FILE *restrict file)
{
    CALL_BEGINS(NEXT(fgets)(memory, count, file));
    lent_memory_begin(&call, memory, count > 0 ? (size_t)count : 0, true);
    return line_end(&call, NEXT(fgets)(memory, count, file));
}
NEXT_EXPORTED char *__fgets_chk(char *memory, size_t room, int count, FILE *file)
{
    CALL_BEGINS(NEXT(__fgets_chk)(memory, room, count, file));
    lent_memory_begin(&call, memory, count > 0 ? (size_t)count : 0, true);
    return line_end(&call, NEXT(__fgets_chk)(memory, room, count, file));
}

/* The C library reads and writes through a stream's buffer at any time. */
NEXT_EXPORTED int setvbuf(FILE *restrict file, char *restrict memory, int mode, size_t bytes)
{
    lent_memory_give(memory, memory ? bytes : 0, true, NULL);
    return NEXT(setvbuf)(file, memory, mode, bytes);
}
NEXT_EXPORTED void setbuffer(FILE *file, char *memory, size_t bytes)
{
    setvbuf(file, memory, memory ? _IOFBF : _IONBF, bytes);
}
NEXT_EXPORTED void setbuf(FILE *restrict file, char *restrict memory)
{
    setbuffer(file, memory, BUFSIZ);
}

/* ---- Sockets ---- */

NEXT_EXPORTED ssize_t recv(int socket, void *memory, size_t bytes, int flags)
{
    WRITES(memory, bytes, "recv", NEXT(recv)(socket, memory, bytes, flags));
}
NEXT_EXPORTED ssize_t __recv_chk(int socket, void *memory, size_t bytes, size_t room, int flags)
{
    WRITES(memory, bytes, "recv", NEXT(__recv_chk)(socket, memory, bytes, room, flags));
}
NEXT_EXPORTED ssize_t send(int socket, const void *memory, size_t bytes, int flags)
{
    READS(memory, bytes, "send", NEXT(send)(socket, memory, bytes, flags));
}
/* A packet that is refused for its sender's address is lost. */
static void open_sender(const struct sockaddr *from, const socklen_t *from_bytes)
{
    lent_memory_open(from, from ? sizeof(struct sockaddr_storage) : 0);
    lent_memory_open(from_bytes, from_bytes ? sizeof *from_bytes : 0);
}
NEXT_EXPORTED ssize_t recvfrom(int socket, void *restrict memory, size_t bytes, int flags,
                               struct sockaddr *restrict from, socklen_t *restrict from_bytes)
{
    open_sender(from, from_bytes);
    WRITES(memory, bytes, "recvfrom",
           NEXT(recvfrom)(socket, memory, bytes, flags, from, from_bytes));
}
NEXT_EXPORTED ssize_t __recvfrom_chk(int socket, void *memory, size_t bytes, size_t room, int flags,
                                     struct sockaddr *from, socklen_t *from_bytes)
{
    open_sender(from, from_bytes);
    WRITES(memory, bytes, "recvfrom",
           NEXT(__recvfrom_chk)(socket, memory, bytes, room, flags, from, from_bytes));
}
NEXT_EXPORTED ssize_t sendto(int socket, const void *memory, size_t bytes, int flags,
                             const struct sockaddr *to, socklen_t to_bytes)
{
    lent_memory_open(to, to ? to_bytes : 0);
    READS(memory, bytes, "sendto", NEXT(sendto)(socket, memory, bytes, flags, to, to_bytes));
}
NEXT_EXPORTED ssize_t recvmsg(int socket, struct msghdr *message, int flags)
{
    WRITES_MESSAGE(message, "recvmsg", NEXT(recvmsg)(socket, message, flags));
}
NEXT_EXPORTED ssize_t sendmsg(int socket, const struct msghdr *message, int flags)
{
    READS_MESSAGE(message, "sendmsg", NEXT(sendmsg)(socket, message, flags));
}

NEXT_EXPORTED int recvmmsg(int socket, struct mmsghdr *messages, unsigned count, int flags,
                           struct timespec *limit)
{
    struct lent_messages call;
    if (!host_access_calls)
        return NEXT(recvmmsg)(socket, messages, count, flags, limit);
    lent_messages_begin(&call, messages, count, true);
    return lent_messages_end(&call, NEXT(recvmmsg)(socket, messages, count, flags, limit),
                             "recvmmsg");
}
NEXT_EXPORTED int sendmmsg(int socket, struct mmsghdr *messages, unsigned count, int flags)
{
    struct lent_messages call;
    if (!host_access_calls)
        return NEXT(sendmmsg)(socket, messages, count, flags);
    lent_messages_begin(&call, messages, count, false);
    return lent_messages_end(&call, NEXT(sendmmsg)(socket, messages, count, flags), "sendmmsg");
}
