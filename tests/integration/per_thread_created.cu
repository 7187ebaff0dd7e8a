// verdict: race
// no-tsan: csan notes the creation of no thread beside it
// expect: ^Access by the per-thread default stream of the main thread during
// expect: ^Previous access by the per-thread default stream of thread 2 \('loader'\) \(created at .*per_thread_created.cu:{create}\)
// flags: --default-stream per-thread
// A thread's own stream is distinguished from the main thread's by the thread's name, and by where
// the thread was created.
#include "program.h"

#include <pthread.h>

static int *page;

static void *load(void *)
{
    pthread_setname_np(pthread_self(), "loader");
    fill<<<GRID, BLOCK>>>(page, 1, N);
    return nullptr;
}

int main()
{
    pthread_t loader;
    page = device_array<int>();
    pthread_create(&loader, nullptr, load, nullptr); // at: create
    pthread_join(loader, nullptr);
    increment<<<GRID, BLOCK>>>(page, N);
    CHECK(cudaDeviceSynchronize());
    puts("done");
}
