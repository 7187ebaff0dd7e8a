/* See dump.h. */
#include "runtime/hook/failure/dump.h"
#include "csan/base/array.h"
#include "runtime/coredump/coredump.h"
#include "runtime/hook/failure/device_probe.h"
#include "runtime/hook/failure/failed_kernel.h"
#include "runtime/hook/failure/failure.h"
#include "runtime/hook/failure/unverified.h"
#include "runtime/hook/failure/user_dump.h"
#include "runtime/hook/interpose/driver.h"
#include "runtime/hook/interpose/driver_thread.h"
#include "runtime/hook/session/internal_thread.h"
#include "runtime/hook/session/session.h"
#include "runtime/hook/session/session_options.h"
#include "runtime/hook/state/context_device.h"
#include "runtime/hook/state/stream.h"
#include "runtime/hook/observe/trace.h"
#include "runtime/hook/observe/trace_source.h"
#include "csan/base/lock_order.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum {
    DUMP_BYTES_MOST = 1 << 30,
    STALL_MS = 10000, /* nothing came for so long: the rest is not waited for */
    BEGIN_MS = 1000,  /* a dump begins at most so long behind the error that it is of */
    HOLD_MS = 3000,   /* a call is held at most so long behind the end of the dump */
    SETTLE_MS = 500,  /* behind the end of the dump, before anything is asked */
    CONTEXTS = 16,
    PATH_BYTES = 64
};

/* A dump that the user asked for. */
enum users_dump { USERS_NONE, USERS_MAY_COME, USERS_IS_READ };

static struct {
    pthread_once_t once;
    uint32_t on;
    pid_t owner; /* of the FIFO; 0: there is none */
    char folder[PATH_BYTES / 2], path[PATH_BYTES];
    uint32_t begun, ended; /* dumps that the driver began to write, and that were read; atomic */
    uint32_t asserted;     /* a kernel's assertion failed; atomic */
    uint32_t led_astray;   /* a kernel jumped to where no code is; atomic */
    uint32_t first;        /* the first dump's exception, where it has one failure; atomic */
    uint32_t first_device; /* on which; written before it */
    uint64_t ended_at;     /* in milliseconds; atomic */
    uint32_t users;        /* enum users_dump; atomic */
} dump = {.once = PTHREAD_ONCE_INIT};

/* ---- Asking for it ---- */

static bool fifo_make(void)
{
    snprintf(dump.folder, sizeof dump.folder, "/tmp/csan-XXXXXX");
    if (!mkdtemp(dump.folder)) /* mode 0700 */
        return false;
    snprintf(dump.path, sizeof dump.path, "%s/dump", dump.folder);
    if (mkfifo(dump.path, 0600) == 0) {
        dump.owner = getpid();
        return true;
    }
    rmdir(dump.folder);
    return false;
}

static bool attribute_set(PFN_cuCoredumpSetAttributeGlobal_v12010 set, CUcoredumpSettings what,
                          void *value, size_t bytes)
{
    return set(what, value, &bytes) == CUDA_SUCCESS;
}

/* The driver may want to write another dump at its own end, and does not live without the file. */
static void dumps_disable(void)
{
    bool no = false;
    PFN_cuCoredumpSetAttributeGlobal_v12010 set =
        (PFN_cuCoredumpSetAttributeGlobal_v12010)driver_function("cuCoredumpSetAttributeGlobal");
    if (set)
        attribute_set(set, CU_COREDUMP_ENABLE_ON_EXCEPTION, &no, sizeof no);
}

void dump_finish(void)
{
    if (dump.owner != getpid())
        return;
    if (dump_came())
        dumps_disable();
    unlink(dump.path);
    rmdir(dump.folder);
    dump.owner = 0;
}

/* The file first: what is wrong with it leaves dumps off. */
static bool dumps_enable(void)
{
    bool yes = true;
    unsigned flags = CU_COREDUMP_LIGHTWEIGHT_FLAGS | CU_COREDUMP_SKIP_ABORT;
    PFN_cuCoredumpSetAttributeGlobal_v12010 set =
        (PFN_cuCoredumpSetAttributeGlobal_v12010)driver_function("cuCoredumpSetAttributeGlobal");
    return set && attribute_set(set, CU_COREDUMP_FILE, dump.path, strlen(dump.path) + 1) &&
           attribute_set(set, CU_COREDUMP_GENERATION_FLAGS, &flags, sizeof flags) &&
           attribute_set(set, CU_COREDUMP_ENABLE_ON_EXCEPTION, &yes, sizeof yes);
}

static uint64_t milliseconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static void nap(void)
{
    nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
}

/* ---- Reading it ---- */

struct bytes {
    uint8_t *data;
    size_t count, capacity;
};

static bool grow(struct bytes *bytes)
{
    return array_room(&bytes->data, bytes->count, &bytes->capacity, 1 << 20, DUMP_BYTES_MOST, 1);
}

/* What does not fit is read all the same, for the driver waits until it has written all. */
static bool read_some(int file, struct bytes *bytes, bool *whole)
{
    static uint8_t surplus[1 << 16];
    const bool room = *whole && grow(bytes);
    *whole = room;
    const ssize_t count =
        room ? read(file, bytes->data + bytes->count, bytes->capacity - bytes->count)
             : read(file, surplus, sizeof surplus);
    if (count < 0 && errno == EINTR)
        return true;
    if (room && count > 0)
        bytes->count += (size_t)count;
    return count > 0;
}

static void read_all(int file, struct bytes *bytes)
{
    struct pollfd ready = {.fd = file, .events = POLLIN};
    bool whole = true;
    for (;;) {
        const int count = poll(&ready, 1, STALL_MS);
        if (count < 0 && errno == EINTR)
            continue;
        if (count <= 0 || !read_some(file, bytes, &whole))
            return;
    }
}

static void understand(const struct bytes *bytes)
{
    struct coredump found;
    struct coredump_fault *faults = calloc(COREDUMP_FAULTS_MOST, sizeof *faults);
    char message[256];
    if (!faults || !bytes->data ||
        !coredump_open(&found, bytes->data, bytes->count, message, sizeof message)) {
        session_note("a kernel failed, and the GPU's dump of it cannot be read (%s)",
                     faults && bytes->data ? message : "it is empty");
        free(faults);
        return;
    }
    const size_t count = coredump_faults(&found, faults);
    if (__atomic_load_n(&dump.begun, __ATOMIC_ACQUIRE) == 1 && count == 1) {
        dump.first_device = faults[0].device;
        __atomic_store_n(&dump.first, faults[0].exception, __ATOMIC_RELEASE);
    }
    for (size_t i = 0; i < count; i++) {
        if (faults[i].exception == COREDUMP_ASSERT)
            __atomic_store_n(&dump.asserted, 1, __ATOMIC_RELEASE);
        if (coredump_is_astray(&found, &faults[i]))
            __atomic_store_n(&dump.led_astray, 1, __ATOMIC_RELEASE);
        failed_kernel_report(&found, &faults[i]);
    }
    free(faults);
}

/* Blocks until a kernel fails: while nothing is read no descriptor is open that the program might
 * close. */
static void *attend(void *unused)
{
    for (;;) {
        struct bytes bytes = {.data = NULL};
        const int file = open(dump.path, O_RDONLY | O_CLOEXEC);
        if (file < 0 && errno == ENOENT) /* the process ends */
            return unused;
        if (file < 0) { /* the program has no descriptor left: the driver would wait for a reader */
            nap();
            continue;
        }
        __atomic_add_fetch(&dump.begun, 1, __ATOMIC_ACQ_REL);
        __atomic_store_n(&failures_seen, 1, __ATOMIC_RELEASE);
        read_all(file, &bytes);
        close(file);
        understand(&bytes);
        free(bytes.data);
        __atomic_store_n(&dump.ended_at, milliseconds(), __ATOMIC_RELEASE);
        __atomic_add_fetch(&dump.ended, 1, __ATOMIC_ACQ_REL);
    }
}

/* Whether there is a whole one by now; then it is understood. It can be as large as the device's
 * memory, so it is mapped. */
static bool users_dump_read(void)
{
    char path[PATH_MAX], message[256];
    struct coredump whole;
    struct stat status;
    uint32_t may_come = USERS_MAY_COME;
    if (!user_dump_find(path, sizeof path))
        return false;
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    struct bytes bytes = {.data = MAP_FAILED};
    if (file >= 0 && fstat(file, &status) == 0 && status.st_size > 0) {
        bytes.count = (size_t)status.st_size;
        bytes.data = mmap(NULL, bytes.count, PROT_READ, MAP_PRIVATE, file, 0);
    }
    if (file >= 0)
        close(file);
    if (bytes.data == MAP_FAILED)
        return false;
    const bool is_whole = coredump_open(&whole, bytes.data, bytes.count, message, sizeof message);
    if (is_whole && __atomic_compare_exchange_n(&dump.users, &may_come, USERS_IS_READ, false,
                                                __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
        understand(&bytes);
    munmap(bytes.data, bytes.count);
    return is_whole;
}

static bool users_dump_may_come(void)
{
    return __atomic_load_n(&dump.users, __ATOMIC_ACQUIRE) == USERS_MAY_COME;
}

/* A call has returned the error: the driver has written the dump, or is about to. Once. */
static void users_dump_await(void)
{
    static uint32_t awaited;
    if (!users_dump_may_come() || __atomic_exchange_n(&awaited, 1, __ATOMIC_ACQ_REL))
        return;
    for (unsigned waited = 0; waited < BEGIN_MS && !users_dump_read(); waited++)
        nap();
}

void dump_look_for_users(void)
{
    if (users_dump_may_come())
        users_dump_read();
}

static void prepare(void)
{
    if (!session_options()->errors || driver_is_embedded() || trace_has_tools())
        return;
    if (user_dump_is_asked_for()) {
        __atomic_store_n(&dump.users, USERS_MAY_COME, __ATOMIC_RELEASE);
        return;
    }
    if (!fifo_make())
        return;
    if (dumps_enable() && internal_thread_start(attend, NULL, "csan dump"))
        __atomic_store_n(&dump.on, 1, __ATOMIC_RELEASE);
    else
        dump_finish();
}

void dump_prepare(void)
{
    pthread_once(&dump.once, prepare);
}

/* ---- Holding calls ---- */

bool dump_came(void)
{
    return __atomic_load_n(&dump.begun, __ATOMIC_ACQUIRE) != 0;
}

/* What the driver says of the current context by now. */
static CUresult ask(void)
{
    static void *function;
    PFN_cuStreamQuery_v2000 query =
        (PFN_cuStreamQuery_v2000)driver_function_cached(&function, "cuStreamQuery");
    const CUresult result = query ? query(NULL) : CUDA_SUCCESS;
    return failure_is_lasting(result) ? result : CUDA_SUCCESS;
}

/* The driver's own threads tidy up behind a dump, and do not bear that the process ends meanwhile
 * (580: a segmentation fault in libcudadebugger.so.1 after a jump astray or a stack overflow). */
static void let_settle(void)
{
    while (milliseconds() - __atomic_load_n(&dump.ended_at, __ATOMIC_ACQUIRE) < SETTLE_MS)
        nap();
}

/* Until the driver has its error, bounded. */
static CUresult hold(void)
{
    CUresult result = CUDA_SUCCESS;
    for (unsigned waited = 0; waited < STALL_MS; waited++) {
        if (__atomic_load_n(&dump.ended, __ATOMIC_ACQUIRE) ==
            __atomic_load_n(&dump.begun, __ATOMIC_ACQUIRE))
            break;
        nap();
    }
    let_settle();
    for (unsigned waited = 0; waited < HOLD_MS && (result = ask()) == CUDA_SUCCESS; waited++)
        nap();
    return result;
}

/* With a dump the driver (580) says of a failed assertion that the launch failed, and of a jump to
 * where no code is that an instruction is illegal, and no address. And a thread goes on behind its
 * assertion or trap: the driver then says what it ran into, such as the index that was asserted. */
static CUresult as_without(CUresult result)
{
    const uint32_t first = __atomic_load_n(&dump.first, __ATOMIC_ACQUIRE);
    const bool here = first && context_device(stream_current_context()) == (int)dump.first_device;
    if (here && first == COREDUMP_ASSERT)
        return CUDA_ERROR_ASSERT;
    if (here && first == COREDUMP_TRAP)
        return CUDA_ERROR_LAUNCH_FAILED;
    if (result == CUDA_ERROR_LAUNCH_FAILED && __atomic_load_n(&dump.asserted, __ATOMIC_ACQUIRE))
        return CUDA_ERROR_ASSERT;
    if (result == CUDA_ERROR_ILLEGAL_INSTRUCTION &&
        __atomic_load_n(&dump.led_astray, __ATOMIC_ACQUIRE))
        return CUDA_ERROR_ILLEGAL_ADDRESS;
    return result;
}

/* ---- Other devices ---- */

/* A failure on one device leaves the contexts of others as they are: a context that had no error
 * when it was asked behind the newest dump is not asked again. */
static struct {
    pthread_mutex_t mutex;
    CUcontext contexts[CONTEXTS];
    uint32_t dumps, count; /* dumps that had begun then */
} unharmed = {.mutex = PTHREAD_MUTEX_INITIALIZER};

void dump_context_ended(CUcontext context)
{
    device_probe_context_ended(context);
    lock_order_take(LOCK_DUMPS, &unharmed.mutex);
    unharmed.count = 0; /* another may get the handle */
    lock_order_give(LOCK_DUMPS, &unharmed.mutex);
}

bool dump_wants(csan_lane lane)
{
    return __atomic_load_n(&dump.on, __ATOMIC_RELAXED) && unverified_is_news(lane);
}

static bool is_unharmed(void)
{
    const CUcontext context = stream_current_context();
    bool found = false;
    lock_order_take(LOCK_DUMPS, &unharmed.mutex);
    if (unharmed.dumps == __atomic_load_n(&dump.begun, __ATOMIC_ACQUIRE))
        for (uint32_t i = 0; i < unharmed.count && !found; i++)
            found = unharmed.contexts[i] == context;
    lock_order_give(LOCK_DUMPS, &unharmed.mutex);
    return found;
}

static void note_unharmed(void)
{
    const uint32_t dumps = __atomic_load_n(&dump.begun, __ATOMIC_ACQUIRE);
    lock_order_take(LOCK_DUMPS, &unharmed.mutex);
    if (unharmed.dumps != dumps)
        unharmed.count = 0;
    unharmed.dumps = dumps;
    if (unharmed.count < CONTEXTS)
        unharmed.contexts[unharmed.count++] = stream_current_context();
    lock_order_give(LOCK_DUMPS, &unharmed.mutex);
}

/* The driver may come out with the error first: once. */
static void await_begin(void)
{
    static uint32_t awaited;
    if (!__atomic_load_n(&dump.on, __ATOMIC_ACQUIRE) ||
        __atomic_exchange_n(&awaited, 1, __ATOMIC_ACQ_REL))
        return;
    for (unsigned waited = 0; waited < BEGIN_MS && !dump_came(); waited++)
        nap();
}

CUresult dump_call_ended(CUresult result, enum dump_wait wait)
{
    if (wait != DUMP_NO_WAIT && result == CUDA_SUCCESS &&
        __atomic_load_n(&unverified_any, __ATOMIC_ACQUIRE)) {
        unverified_waited(session_context(), wait == DUMP_WAITED_FOR_ALL);
        device_probe_ask(); /* last: what other threads launch from here on is not forgotten */
    }
    if (failure_is_lasting(result)) {
        users_dump_await();
        await_begin();
    }
    if (!dump_came())
        return result;
    if (failure_is_lasting(result)) {
        hold(); /* until the dump is read: the report names this call */
        return as_without(result);
    }
    if (wait != DUMP_NO_WAIT && (result == CUDA_SUCCESS || result == CUDA_ERROR_NOT_READY) &&
        !is_unharmed()) {
        const CUresult error = hold();
        if (error != CUDA_SUCCESS)
            return as_without(error);
        note_unharmed();
    }
    return result;
}
