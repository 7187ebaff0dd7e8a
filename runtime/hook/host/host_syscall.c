/* syscall(2) and ioctl(2) of the program's. Who passes the C library's own functions by calls the
 * kernel in this way, and would meet guarded pages there. Of system calls that are not known here,
 * every argument that is the address of a guarded page has it opened. Who calls syscall sets only
 * the registers that his system call has: the rest hold what was in them, perhaps such an address.
 */
#include "runtime/hook/host/lent_memory.h"
#include "runtime/hook/host/host_arguments.h"
#include "runtime/hook/host/host_futex.h"
#include "runtime/hook/host/host_rings.h"
#include "runtime/hook/host/next_call.h"
#include "runtime/hook/host/page_guard.h"

#include <errno.h>
#include <linux/bsg.h>
#include <linux/io_uring.h>
#include <linux/nvme_ioctl.h>
#include <scsi/sg.h>
#include <stdarg.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#define CALLS(call) call(ioctl)
NEXT_CALLS(CALLS)

typedef long syscall_function(long number, ...);

/* Read by the entry below. NULL: not looked for yet. */
syscall_function *host_syscall_next;

static __attribute__((constructor(101))) void find(void)
{
    *(void **)&host_syscall_next = driver_dlsym(RTLD_NEXT, "syscall");
}

/* syscall itself: where no calls are looked at, and for the calls that return twice, it leaves
 * nothing on the stack and goes on to the next one. Numbers: clone 56, fork 57, vfork 58, clone3
 * 435. */
#if defined(__x86_64__)
__asm__(".text\n"
        ".globl syscall\n"
        ".type syscall, @function\n"
        "syscall:\n"
        ".cfi_startproc\n"
        "cmpb $0, host_access_calls(%rip)\n"
        "jne 2f\n"
        "cmpb $0, host_futex_follows(%rip)\n"
        "jne 2f\n"
        "1: movq host_syscall_next(%rip), %rax\n"
        "testq %rax, %rax\n"
        "je host_syscall_early\n"
        "jmp *%rax\n"
        "2: leaq -56(%rdi), %rax\n"
        "cmpq $2, %rax\n"
        "jbe 1b\n"
        "cmpq $435, %rdi\n"
        "je 1b\n"
        "jmp host_syscall\n"
        ".cfi_endproc\n"
        ".size syscall, . - syscall\n");
#else
/* On aarch64 clone is 220, and there is no fork. */
__asm__(".text\n"
        ".globl syscall\n"
        ".type syscall, %function\n"
        "syscall:\n"
        ".cfi_startproc\n"
        "adrp x16, host_access_calls\n"
        "ldrb w16, [x16, :lo12:host_access_calls]\n"
        "cbnz w16, 2f\n"
        "adrp x16, host_futex_follows\n"
        "ldrb w16, [x16, :lo12:host_futex_follows]\n"
        "cbnz w16, 2f\n"
        "1: adrp x16, host_syscall_next\n"
        "ldr x16, [x16, :lo12:host_syscall_next]\n"
        "cbnz x16, 3f\n"
        "b host_syscall_early\n"
        "3: br x16\n"
        "2: cmp x0, #220\n"
        "b.eq 1b\n"
        "cmp x0, #435\n"
        "b.eq 1b\n"
        "b host_syscall\n"
        ".cfi_endproc\n"
        ".size syscall, . - syscall\n");
#endif

/* With the registers and the stack as who called syscall left them. */
long host_syscall_early(long number, long a, long b, long c, long d, long e, long f);
long host_syscall(long number, long a, long b, long c, long d, long e, long f);

long host_syscall_early(long number, long a, long b, long c, long d, long e, long f)
{
    find();
    return host_syscall_next(number, a, b, c, d, e, f);
}

static void *pointer(long argument)
{
    return (void *)(uintptr_t)argument;
}

/* Calls that programs make in this way, and of which no argument is an address. */
static bool takes_addresses(long number)
{
    switch (number) {
    case SYS_futex: /* made again if it is refused, which has no effect */
    case SYS_membarrier:
    case SYS_getpid:
    case SYS_getppid:
    case SYS_gettid:
    case SYS_getuid:
    case SYS_geteuid:
    case SYS_getgid:
    case SYS_getegid:
    case SYS_kill:
    case SYS_tkill:
    case SYS_tgkill:
    case SYS_sched_yield:
    case SYS_sched_getscheduler:
    case SYS_getpriority:
    case SYS_setpriority:
    case SYS_close:
    case SYS_close_range:
    case SYS_dup:
    case SYS_dup3:
    case SYS_lseek:
    case SYS_fsync:
    case SYS_fdatasync:
    case SYS_ftruncate:
    case SYS_fallocate:
    case SYS_eventfd2:
    case SYS_epoll_create1:
    case SYS_timerfd_create:
    case SYS_pidfd_open:
    case SYS_pidfd_getfd:
    case SYS_userfaultfd:
    case SYS_socket:
    case SYS_listen:
    case SYS_shutdown:
    case SYS_exit:
    case SYS_exit_group:
        return false;
    default:
        return true;
    }
}

static void open_arguments(const long *arguments, size_t count)
{
    for (size_t i = 0; i < count; i++)
        lent_memory_open(pointer(arguments[i]), 1);
}

/* The kernel may look at a lock again at any time while a thread waits for it. */
static long made_open(long number, const long *a)
{
    struct host_arguments arguments;
    if (number == SYS_futex)
        lent_memory_give(pointer(a[0]), sizeof(int), true, NULL);
    host_arguments_begin(&arguments, a);
    const long result = host_syscall_next(number, a[0], a[1], a[2], a[3], a[4], a[5]);
    host_arguments_end(&arguments);
    return result;
}

static long other(long number, const long *a)
{
    if (number == SYS_io_uring_enter)
        host_rings_enter((int)a[0], (unsigned)a[1]);
    else if (number == SYS_io_uring_register)
        host_rings_register((unsigned)a[1], pointer(a[2]), (unsigned)a[3]);
    else if (number == SYS_io_submit)
        host_rings_submit(a[1], pointer(a[2]));
    if (takes_addresses(number))
        open_arguments(a, 6);
    long result = host_syscall_next(number, a[0], a[1], a[2], a[3], a[4], a[5]);
    if (result == -1 && errno == EFAULT)
        result = made_open(number, a);
    if (number == SYS_io_uring_setup)
        host_rings_made((int)result, pointer(a[1]));
    return result;
}

static long futex_followed(const long *a, const void *caller)
{
    host_futex_before(a, caller);
    const long result = host_access_calls
                            ? other(SYS_futex, a)
                            : host_syscall_next(SYS_futex, a[0], a[1], a[2], a[3], a[4], a[5]);
    host_futex_after(a, caller, result);
    return result;
}

static long mapping(long number, const long *a)
{
    host_mapping_before(number, a);
    const long result = host_syscall_next(number, a[0], a[1], a[2], a[3], a[4], a[5]);
    host_mapping_after(number, a, result);
    return result;
}

/* Those with a buffer: which argument is its address, and which its size, the number of its parts,
 * that of its messages, or none (a message). They are made as such: a library that stands in front
 * of the C library's function of that name may make its system call in this way. */
struct buffer_call {
    long number;
    enum { PLAIN, PARTS, MESSAGE, MESSAGES } kind;
    uint8_t memory, count;
    bool writes;
    const char *name;
};
static const struct buffer_call buffer_calls[] = {
    {SYS_read, PLAIN, 1, 2, true, "read"},
    {SYS_write, PLAIN, 1, 2, false, "write"},
    {SYS_pread64, PLAIN, 1, 2, true, "pread64"},
    {SYS_pwrite64, PLAIN, 1, 2, false, "pwrite64"},
    {SYS_readv, PARTS, 1, 2, true, "readv"},
    {SYS_writev, PARTS, 1, 2, false, "writev"},
    {SYS_preadv, PARTS, 1, 2, true, "preadv"},
    {SYS_pwritev, PARTS, 1, 2, false, "pwritev"},
    {SYS_preadv2, PARTS, 1, 2, true, "preadv2"},
    {SYS_pwritev2, PARTS, 1, 2, false, "pwritev2"},
    {SYS_recvfrom, PLAIN, 1, 2, true, "recvfrom"},
    {SYS_sendto, PLAIN, 1, 2, false, "sendto"},
    {SYS_recvmsg, MESSAGE, 1, 0, true, "recvmsg"},
    {SYS_sendmsg, MESSAGE, 1, 0, false, "sendmsg"},
    {SYS_recvmmsg, MESSAGES, 1, 2, true, "recvmmsg"},
    {SYS_sendmmsg, MESSAGES, 1, 2, false, "sendmmsg"},
    {SYS_getrandom, PLAIN, 0, 1, true, "getrandom"},
    {SYS_vmsplice, PARTS, 1, 2, false, "vmsplice"},
    {SYS_process_vm_readv, PARTS, 1, 2, true, "process_vm_readv"},
    {SYS_process_vm_writev, PARTS, 1, 2, false, "process_vm_writev"}};

static long with_messages(const struct buffer_call *of, const long *a)
{
    struct lent_messages call;
    lent_messages_begin(&call, pointer(a[of->memory]), (unsigned)a[of->count], of->writes);
    return lent_messages_end(
        &call, (int)host_syscall_next(of->number, a[0], a[1], a[2], a[3], a[4], a[5]), of->name);
}

static long with_buffer(const struct buffer_call *of, const long *a)
{
    struct lent_memory call;
    if (of->number == SYS_recvfrom || of->number == SYS_sendto)
        open_arguments(a + 4, 2); /* a socket's address */
    if (of->kind == PLAIN)
        lent_memory_begin(&call, pointer(a[of->memory]), (size_t)a[of->count], of->writes);
    else if (of->kind == PARTS)
        lent_memory_begin_vector(&call, pointer(a[of->memory]), (size_t)a[of->count], of->writes);
    else
        lent_memory_begin_message(&call, pointer(a[of->memory]), of->writes);
    return lent_memory_end(&call, host_syscall_next(of->number, a[0], a[1], a[2], a[3], a[4], a[5]),
                           of->name);
}

static long ioctl_made(const long *a);

long host_syscall(long number, long a, long b, long c, long d, long e, long f)
{
    const long arguments[] = {a, b, c, d, e, f};
    if (number == SYS_futex && host_futex_follows)
        return futex_followed(arguments, __builtin_return_address(0));
    if (!host_access_calls)
        return host_syscall_next(number, a, b, c, d, e, f);
    for (size_t i = 0; i < sizeof buffer_calls / sizeof *buffer_calls; i++)
        if (buffer_calls[i].number == number)
            return (buffer_calls[i].kind == MESSAGES ? with_messages
                                                     : with_buffer)(&buffer_calls[i], arguments);
    switch (number) {
    case SYS_mmap:
    case SYS_munmap:
    case SYS_mremap:
    case SYS_mprotect:
    case SYS_madvise:
    case SYS_mlock:
    case SYS_mlock2:
        return mapping(number, arguments);
    case SYS_ioctl:
        return ioctl_made(arguments);
    default:
        return other(number, arguments);
    }
}

/* ---- ioctl ---- */

/* The buffer of a command for a disk. */
struct transfer {
    void *memory;
    size_t bytes;
    bool writes;
};

static struct transfer of_scsi(const struct sg_io_hdr *command)
{
    if (command->interface_id != 'S' || command->iovec_count)
        return (struct transfer){0};
    return (struct transfer){command->dxferp, command->dxfer_len,
                             command->dxfer_direction != SG_DXFER_TO_DEV};
}

static struct transfer of_bsg(const struct sg_io_v4 *command)
{
    if (command->din_xfer_len)
        return (struct transfer){(void *)(uintptr_t)command->din_xferp, command->din_xfer_len,
                                 true};
    return (struct transfer){(void *)(uintptr_t)command->dout_xferp, command->dout_xfer_len, false};
}

/* Bit 0 of an opcode: data go to the controller; bit 1: they come from it (NVM Express Base
 * Specification, "Opcode"). */
static struct transfer of_nvme(const struct nvme_passthru_cmd *command)
{
    return (struct transfer){(void *)(uintptr_t)command->addr, command->data_len,
                             (command->opcode & 2) != 0};
}

static struct transfer transfer_of(unsigned long request, const void *argument)
{
    if (!argument)
        return (struct transfer){0};
    if (request == SG_IO)
        return *(const int32_t *)argument == 'Q' ? of_bsg(argument) : of_scsi(argument);
    if (request == NVME_IOCTL_IO_CMD || request == NVME_IOCTL_ADMIN_CMD ||
        request == NVME_IOCTL_IO64_CMD || request == NVME_IOCTL_ADMIN64_CMD)
        return of_nvme(argument);
    return (struct transfer){0};
}

/* To register memory with a network adapter is to look up its pages, and its address is where that
 * adapter's driver expects it: all pages are open meanwhile. */
static bool is_rdma(unsigned long request)
{
    enum { RDMA = 0x1b };
    return _IOC_TYPE(request) == RDMA;
}

struct ioctl_call {
    struct lent_memory buffer;
    size_t bytes;
    bool pauses;
};

static void ioctl_begin(struct ioctl_call *call, unsigned long request, void *argument)
{
    const struct transfer transfer = transfer_of(request, argument);
    lent_memory_open(argument, 1);
    lent_memory_begin(&call->buffer, transfer.memory, transfer.bytes, transfer.writes);
    call->bytes = transfer.bytes;
    call->pauses = is_rdma(request);
    if (call->pauses)
        page_guard_pause();
}

static void ioctl_end(struct ioctl_call *call, long result)
{
    const int error = errno;
    if (call->pauses)
        page_guard_resume();
    errno = error;
    lent_memory_end(&call->buffer, result >= 0 ? (ssize_t)call->bytes : 0, "ioctl");
}

static long ioctl_made(const long *a)
{
    struct ioctl_call call;
    ioctl_begin(&call, (unsigned long)a[1], pointer(a[2]));
    const long result = host_syscall_next(SYS_ioctl, a[0], a[1], a[2]);
    ioctl_end(&call, result);
    return result;
}

NEXT_EXPORTED int ioctl(int file, unsigned long request, ...)
{
    struct ioctl_call call;
    va_list list;
    va_start(list, request);
    void *argument = va_arg(list, void *);
    va_end(list);
    if (__builtin_expect(!host_access_calls, 1))
        return NEXT(ioctl)(file, request, argument);
    ioctl_begin(&call, request, argument);
    const int result = NEXT(ioctl)(file, request, argument);
    ioctl_end(&call, result);
    return result;
}
