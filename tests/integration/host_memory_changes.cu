// verdict: none
// options: host=guard:host_order=threads
// What the program does with the mappings of guarded memory works as without csan: it locks pages,
// prefaults them, protects them, moves them, gives them back, and has others in their place.
#include "host_memory.h"
#include <atomic>
#include <cerrno>
#include <csetjmp>
#include <csignal>
#include <sched.h>
#include <sys/mman.h>
#include <thread>

#define CHECK_CALL(what)                                                                           \
    if (!(what)) {                                                                                 \
        perror(#what);                                                                             \
        exit(102);                                                                                 \
    }

static int *device;
static cudaStream_t stream;
static sigjmp_buf before;

static char *mapped()
{
    void *p = mmap(nullptr, HOST_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK_CALL(p != MAP_FAILED);
    memset(p, 1, HOST_BYTES);
    CHECK(cudaHostRegister(p, HOST_BYTES, cudaHostRegisterDefault));
    return (char *)p;
}

static void to_host(void *p)
{
    CHECK(cudaMemcpyAsync(p, device, HOST_BYTES, cudaMemcpyDeviceToHost, stream));
}

// Another thread waits for the copy, and says so in a way that csan does not see.
static void wait_unseen()
{
    static std::atomic<bool> done;
    done = false;
    std::thread([] {
        CHECK(cudaStreamSynchronize(stream));
        done = true;
    }).detach();
    while (!done)
        sched_yield();
}

static void on_fault(int)
{
    siglongjmp(before, 1);
}

static bool can_write(char *p)
{
    signal(SIGSEGV, on_fault);
    if (sigsetjmp(before, 1) != 0)
        return false;
    store((int *)p, 7);
    return true;
}

int main()
{
    device = device_array<int>(HOST_N);
    stream = nonblocking_stream();
    char *p = mapped();
    to_host(p);
    CHECK_CALL(mlock(p, HOST_BYTES) == 0);
    CHECK_CALL(munlock(p, HOST_BYTES) == 0);
    to_host(p);
#ifdef MADV_POPULATE_WRITE
    CHECK_CALL(madvise(p, HOST_BYTES, MADV_POPULATE_WRITE) == 0 || errno == EINVAL);
#endif
    CHECK(cudaStreamSynchronize(stream));

    // The program's own protection outlives the copy, and copies that come later.
    CHECK(cudaMemcpyAsync(device, p, HOST_BYTES, cudaMemcpyHostToDevice, stream));
    CHECK_CALL(mprotect(p, 4096, PROT_READ) == 0);
    CHECK(cudaStreamSynchronize(stream));
    CHECK_CALL(!can_write(p));
    CHECK(cudaMemcpyAsync(device, p, HOST_BYTES, cudaMemcpyHostToDevice, stream));
    CHECK(cudaStreamSynchronize(stream));
    CHECK_CALL(!can_write(p) && can_write(p + 4096));
    CHECK_CALL(mprotect(p, 4096, PROT_READ | PROT_WRITE) == 0 && can_write(p));

    // Moved and given back when the copy is done, which this thread does not know. What comes to
    // lie in its place is no business of the copy's.
    CHECK(cudaHostUnregister(p));
    char *again = mapped();
    CHECK(cudaMemcpyAsync(device, again, HOST_BYTES, cudaMemcpyHostToDevice, stream));
    wait_unseen();
    char *elsewhere = (char *)mremap(again, HOST_BYTES, 2 * HOST_BYTES, MREMAP_MAYMOVE);
    CHECK_CALL(elsewhere != MAP_FAILED);
    CHECK_CALL(can_write(elsewhere) && can_write(elsewhere + 2 * HOST_BYTES - 4));
    CHECK(cudaStreamSynchronize(stream));
    CHECK(cudaHostUnregister(again));
    char *last = mapped();
    CHECK(cudaMemcpyAsync(device, last, HOST_BYTES, cudaMemcpyHostToDevice, stream));
    wait_unseen();
    CHECK_CALL(munmap(last, HOST_BYTES) == 0);
    CHECK_CALL(mmap(last, HOST_BYTES, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) ==
               last);
    CHECK(cudaStreamSynchronize(stream));
    CHECK_CALL(!can_write(last));
    return finish();
}
