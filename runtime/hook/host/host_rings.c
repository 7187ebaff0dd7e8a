/* See host_rings.h. liburing makes its system calls itself, so its functions are here by their
 * names, beside those of libaio and of the C library. */
#include "runtime/hook/host/host_rings.h"
#include "csan/base/loaded_object.h"
#include "runtime/hook/host/lent_memory.h"
#include "runtime/hook/host/next_call.h"

#include <aio.h>
#include <errno.h>
#include <linux/aio_abi.h>
#include <linux/io_uring.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>

enum { RINGS_MOST = 64, PARTS_MOST = 1024 };

/* ---- What is given ---- */

static void give_parts(const struct iovec *parts, size_t count, bool writes, const char *name)
{
    for (size_t i = 0; parts && i < count && i < PARTS_MOST; i++)
        lent_memory_give(parts[i].iov_base, parts[i].iov_len, writes, name);
}

static void give_message(const struct msghdr *message, bool writes, const char *name)
{
    if (message)
        give_parts(message->msg_iov, message->msg_iovlen, writes, name);
}

static void give_entry(const struct io_uring_sqe *entry)
{
    void *memory = (void *)(uintptr_t)entry->addr;
    switch (entry->opcode) {
    case IORING_OP_READ:
    case IORING_OP_READ_FIXED:
        lent_memory_give(memory, entry->len, true, "io_uring's read");
        break;
    case IORING_OP_WRITE:
    case IORING_OP_WRITE_FIXED:
        lent_memory_give(memory, entry->len, false, "io_uring's write");
        break;
    case IORING_OP_SEND:
    case IORING_OP_SEND_ZC:
        lent_memory_give(memory, entry->len, false, "io_uring's send");
        break;
    case IORING_OP_READV:
        give_parts(memory, entry->len, true, "io_uring's read");
        break;
    case IORING_OP_WRITEV:
        give_parts(memory, entry->len, false, "io_uring's write");
        break;
    case IORING_OP_SENDMSG:
        give_message(memory, false, "io_uring's send");
        break;
    case IORING_OP_RECV:
        lent_memory_give(memory, entry->len, true, NULL);
        break;
    case IORING_OP_RECVMSG:
        give_message(memory, true, NULL);
        break;
    case IORING_OP_PROVIDE_BUFFERS: /* `fd` buffers of `len` bytes */
        lent_memory_give(memory, (size_t)entry->len * (size_t)entry->fd, true, NULL);
        break;
    default:
        break;
    }
}

/* ---- Rings that the program made by system calls ---- */

struct ring {
    int file; /* 0: free */
    uint32_t entries, flags;
    struct io_sqring_offsets offsets;
    char *queue; /* as it is mapped; NULL: not yet */
    char *entry;
};
static struct ring rings[RINGS_MOST];

static struct ring *ring_of(int file)
{
    for (size_t i = 0; file > 0 && i < RINGS_MOST; i++)
        if (rings[i].file == file)
            return &rings[i];
    return NULL;
}

void host_rings_made(int file, const struct io_uring_params *params)
{
    static unsigned turn;
    struct ring *ring = ring_of(file);
    if (file <= 0)
        return;
    if (!ring)
        ring = &rings[__atomic_fetch_add(&turn, 1, __ATOMIC_RELAXED) % RINGS_MOST];
    *ring = (struct ring){.file = file,
                          .entries = params->sq_entries,
                          .flags = params->flags,
                          .offsets = params->sq_off};
}

void host_rings_mapped(int file, off64_t at, void *memory)
{
    struct ring *ring = ring_of(file);
    if (ring && at == IORING_OFF_SQ_RING)
        ring->queue = memory;
    else if (ring && at == IORING_OFF_SQES)
        ring->entry = memory;
}

/* One of the queue's words. */
static uint32_t *word(const struct ring *ring, uint32_t offset)
{
    return (uint32_t *)(void *)(ring->queue + offset);
}

void host_rings_enter(int file, unsigned count)
{
    const struct ring *ring = ring_of(file);
    if (!host_access_calls || !ring || !ring->queue || !ring->entry)
        return;
    const uint32_t head = __atomic_load_n(word(ring, ring->offsets.head), __ATOMIC_ACQUIRE);
    const uint32_t mask = *word(ring, ring->offsets.ring_mask);
    const size_t bytes = sizeof(struct io_uring_sqe) << !!(ring->flags & IORING_SETUP_SQE128);
    for (uint32_t i = 0; i < count && i < ring->entries; i++) {
        const uint32_t index = word(ring, ring->offsets.array)[(head + i) & mask];
        if (index < ring->entries)
            give_entry((const void *)(ring->entry + index * bytes));
    }
}

void host_rings_register(unsigned what, const void *argument, unsigned count)
{
    const struct io_uring_rsrc_register *registered = argument;
    const struct io_uring_rsrc_update2 *update = argument;
    if (!host_access_calls || !argument)
        return;
    if (what == IORING_REGISTER_BUFFERS)
        give_parts(argument, count, true, NULL);
    else if (what == IORING_REGISTER_BUFFERS2)
        give_parts((const void *)(uintptr_t)registered->data, registered->nr, true, NULL);
    else if (what == IORING_REGISTER_BUFFERS_UPDATE)
        give_parts((const void *)(uintptr_t)update->data, update->nr, true, NULL);
}

void host_rings_submit(long count, void *const *blocks)
{
    for (long i = 0; host_access_calls && i < count; i++) {
        const struct iocb *block = blocks[i];
        void *memory = (void *)(uintptr_t)block->aio_buf;
        if (block->aio_lio_opcode == IOCB_CMD_PREAD)
            lent_memory_give(memory, block->aio_nbytes, true, "io_submit");
        else if (block->aio_lio_opcode == IOCB_CMD_PWRITE)
            lent_memory_give(memory, block->aio_nbytes, false, "io_submit");
        else if (block->aio_lio_opcode == IOCB_CMD_PREADV)
            give_parts(memory, block->aio_nbytes, true, "io_submit");
        else if (block->aio_lio_opcode == IOCB_CMD_PWRITEV)
            give_parts(memory, block->aio_nbytes, false, "io_submit");
    }
}

/* ---- liburing's and libaio's functions ---- */

/* Such a library may have been opened by another, for itself alone: it is looked for among what the
 * caller needs, too. NULL: nowhere. */
static void *next_for(void **next, const char *name, const void *caller)
{
    void *found = __atomic_load_n(next, __ATOMIC_ACQUIRE);
    struct loaded_object object;
    if (!found)
        found = driver_dlsym(RTLD_NEXT, name);
    if (!found && loaded_object_at(caller, &object)) {
        void *library = dlopen(object.map->l_name, RTLD_LAZY | RTLD_NOLOAD);
        if (library)
            found = driver_dlsym(library, name);
    }
    __atomic_store_n(next, found, __ATOMIC_RELEASE);
    return found;
}

/* NEXT_OF(type, name)(...): a function that returns an error of the kernel where there is none. */
#define NEXT_OF(name)                                                                              \
    static void *next;                                                                             \
    __typeof__(name) *function;                                                                    \
    *(void **)&function = next_for(&next, #name, __builtin_return_address(0));                     \
    if (!function)                                                                                 \
    return -ENOSYS

/* A ring as liburing has it: the beginning of struct io_uring, which is part of its interface. */
struct liburing_ring {
    unsigned *head, *tail, *mask, *entries, *flags, *dropped, *array;
    struct io_uring_sqe *entry;
    unsigned entry_head, entry_tail;
    size_t queue_bytes;
    void *queue;
    unsigned reserved[4];
    void *completions[7];
    size_t completion_bytes;
    void *completion_queue;
    unsigned completions_reserved[4];
    unsigned setup_flags;
};

static void give_new(const struct liburing_ring *ring)
{
    const unsigned shift = !!(ring->setup_flags & IORING_SETUP_SQE128);
    const unsigned count = ring->entry_tail - ring->entry_head;
    for (unsigned i = 0; host_access_calls && i < count && i < *ring->entries; i++)
        give_entry(&ring->entry[((ring->entry_head + i) & (*ring->entries - 1)) << shift]);
}

int io_uring_submit(struct liburing_ring *ring);
int io_uring_submit_and_get_events(struct liburing_ring *ring);
int io_uring_submit_and_wait(struct liburing_ring *ring, unsigned count);
int io_uring_submit_and_wait_timeout(struct liburing_ring *ring, void **completion, unsigned count,
                                     void *limit, sigset_t *mask);
int io_uring_register_buffers(struct liburing_ring *ring, const struct iovec *parts,
                              unsigned count);
int io_uring_register_buffers_tags(struct liburing_ring *ring, const struct iovec *parts,
                                   const void *tags, unsigned count);
int io_uring_register_buffers_update_tag(struct liburing_ring *ring, unsigned at,
                                         const struct iovec *parts, const void *tags,
                                         unsigned count);
int io_uring_register(unsigned file, unsigned what, void *argument, unsigned count);
int io_uring_setup(unsigned entries, struct io_uring_params *params);
int io_uring_enter(unsigned file, unsigned submitted, unsigned wanted, unsigned flags, void *mask);
int io_submit(void *context, long count, void **blocks);

NEXT_EXPORTED int io_uring_submit(struct liburing_ring *ring)
{
    NEXT_OF(io_uring_submit);
    give_new(ring);
    return function(ring);
}
NEXT_EXPORTED int io_uring_submit_and_get_events(struct liburing_ring *ring)
{
    NEXT_OF(io_uring_submit_and_get_events);
    give_new(ring);
    return function(ring);
}
NEXT_EXPORTED int io_uring_submit_and_wait(struct liburing_ring *ring, unsigned count)
{
    NEXT_OF(io_uring_submit_and_wait);
    give_new(ring);
    return function(ring, count);
}
NEXT_EXPORTED int io_uring_submit_and_wait_timeout(struct liburing_ring *ring, void **completion,
                                                   unsigned count, void *limit, sigset_t *mask)
{
    NEXT_OF(io_uring_submit_and_wait_timeout);
    give_new(ring);
    return function(ring, completion, count, limit, mask);
}
NEXT_EXPORTED int io_uring_register_buffers(struct liburing_ring *ring, const struct iovec *parts,
                                            unsigned count)
{
    NEXT_OF(io_uring_register_buffers);
    host_rings_register(IORING_REGISTER_BUFFERS, parts, count);
    return function(ring, parts, count);
}
NEXT_EXPORTED int io_uring_register_buffers_tags(struct liburing_ring *ring,
                                                 const struct iovec *parts, const void *tags,
                                                 unsigned count)
{
    NEXT_OF(io_uring_register_buffers_tags);
    host_rings_register(IORING_REGISTER_BUFFERS, parts, count);
    return function(ring, parts, tags, count);
}
NEXT_EXPORTED int io_uring_register_buffers_update_tag(struct liburing_ring *ring, unsigned at,
                                                       const struct iovec *parts, const void *tags,
                                                       unsigned count)
{
    NEXT_OF(io_uring_register_buffers_update_tag);
    host_rings_register(IORING_REGISTER_BUFFERS, parts, count);
    return function(ring, at, parts, tags, count);
}
NEXT_EXPORTED int io_uring_register(unsigned file, unsigned what, void *argument, unsigned count)
{
    NEXT_OF(io_uring_register);
    host_rings_register(what, argument, count);
    return function(file, what, argument, count);
}
NEXT_EXPORTED int io_uring_setup(unsigned entries, struct io_uring_params *params)
{
    NEXT_OF(io_uring_setup);
    const int file = function(entries, params);
    if (host_access_calls)
        host_rings_made(file, params);
    return file;
}
NEXT_EXPORTED int io_uring_enter(unsigned file, unsigned submitted, unsigned wanted, unsigned flags,
                                 void *mask)
{
    NEXT_OF(io_uring_enter);
    host_rings_enter((int)file, submitted);
    return function(file, submitted, wanted, flags, mask);
}
NEXT_EXPORTED int io_submit(void *context, long count, void **blocks)
{
    NEXT_OF(io_submit);
    host_rings_submit(count, blocks);
    return function(context, count, blocks);
}

/* ---- POSIX's ---- */

#define CALLS(call)                                                                                \
    call(aio_read) call(aio_read64) call(aio_write) call(aio_write64) call(lio_listio)             \
        call(lio_listio64)
NEXT_CALLS(CALLS)

#define GIVE(block, writes, name)                                                                  \
    lent_memory_give((void *)(uintptr_t)(block)->aio_buf, (block)->aio_nbytes, writes, name)
#define GIVE_LIST(list, count)                                                                     \
    for (int i = 0; host_access_calls && i < (count); i++)                                         \
        if ((list)[i] && (list)[i]->aio_lio_opcode != LIO_NOP)                                     \
    GIVE((list)[i], (list)[i]->aio_lio_opcode == LIO_READ, "lio_listio")

NEXT_EXPORTED int aio_read(struct aiocb *block)
{
    GIVE(block, true, "aio_read");
    return NEXT(aio_read)(block);
}
NEXT_EXPORTED int aio_read64(struct aiocb64 *block)
{
    GIVE(block, true, "aio_read");
    return NEXT(aio_read64)(block);
}
NEXT_EXPORTED int aio_write(struct aiocb *block)
{
    GIVE(block, false, "aio_write");
    return NEXT(aio_write)(block);
}
NEXT_EXPORTED int aio_write64(struct aiocb64 *block)
{
    GIVE(block, false, "aio_write");
    return NEXT(aio_write64)(block);
}
NEXT_EXPORTED int lio_listio(int mode, struct aiocb *const *restrict list, int count,
                             struct sigevent *restrict event)
{
    GIVE_LIST(list, count);
    return NEXT(lio_listio)(mode, list, count, event);
}
NEXT_EXPORTED int lio_listio64(int mode, struct aiocb64 *const *restrict list, int count,
                               struct sigevent *restrict event)
{
    GIVE_LIST(list, count);
    return NEXT(lio_listio64)(mode, list, count, event);
}
