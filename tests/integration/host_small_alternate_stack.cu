// verdict: race
// expect: host_small_alternate_stack.cu:{access}
// options: host=guard
// A thread with an alternate signal stack that holds little more than a signal's frame, as Rust's
// threads have: the check must not run beyond it.
#include "host_memory.h"
#include <csignal>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <thread>
#include <unistd.h>

enum { PAGE = 4096 };

static void alternate_stack()
{
    const size_t frame = getauxval(AT_MINSIGSTKSZ); // 0: an emulator that does not say it
    const size_t least = (frame ? frame : MINSIGSTKSZ) + 2048;
    const size_t bytes = (least + PAGE - 1) / PAGE * PAGE;
    char *room = (char *)mmap(nullptr, PAGE + bytes, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    mprotect(room, PAGE, PROT_NONE);
    stack_t stack = {};
    stack.ss_sp = room + PAGE;
    stack.ss_size = bytes;
    if (sigaltstack(&stack, nullptr) != 0)
        exit(102);
}

int main()
{
    int *device = device_array<int>(HOST_N), *host = pinned_memory();
    cudaStream_t stream = nonblocking_stream();
    launch_fill(stream, device, 1, HOST_N);
    CHECK(cudaMemcpyAsync(host, device, HOST_BYTES, cudaMemcpyDeviceToHost, stream));
    std::thread([&] {
        alternate_stack();
        // Again, for the device may be at work for a moment.
        for (int i = 0; i < HOST_N; i += 1024) {
            load(&host[i]); // at: access
            usleep(500);
        }
    }).join();
    return finish();
}
