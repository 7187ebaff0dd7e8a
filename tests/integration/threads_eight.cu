// verdict: none
// link: -lpthread
// Eight host threads at work at once, each with streams, events, memory and copies of its own.
#include "program.h"
#include <pthread.h>

static void *work(void *)
{
    cudaStream_t a = nonblocking_stream(), b = nonblocking_stream();
    cudaEvent_t e = event_create();
    int *host;
    CHECK(cudaMallocHost((void **)&host, BYTES));
    for (int i = 0; i < 20; i++) {
        int *p = device_array<int>(), *q;
        CHECK(cudaMallocAsync((void **)&q, BYTES, b));
        launch_fill(a, p, i);
        CHECK(cudaEventRecord(e, a));
        CHECK(cudaStreamWaitEvent(b, e, 0));
        launch_copy(b, q, p);
        CHECK(cudaMemcpyAsync(host, q, BYTES, cudaMemcpyDeviceToHost, b));
        CHECK(cudaFreeAsync(q, b));
        CHECK(cudaStreamSynchronize(b));
        csan_host_reads(host, BYTES);
        if (host[5] != i + 5)
            printf("wrong: %d\n", host[5]);
        CHECK(cudaFree(p));
    }
    CHECK(cudaStreamDestroy(a));
    CHECK(cudaStreamDestroy(b));
    CHECK(cudaEventDestroy(e));
    return nullptr;
}

int main()
{
    CHECK(cudaFree(nullptr));
    pthread_t threads[8];
    for (pthread_t &thread : threads)
        pthread_create(&thread, nullptr, work, nullptr);
    for (pthread_t &thread : threads)
        pthread_join(thread, nullptr);
    return finish();
}
