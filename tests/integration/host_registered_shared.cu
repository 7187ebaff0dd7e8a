// verdict: race
// expect: host_registered_shared.cu:{access}
// reject: host_registered_shared.cu:{beside}
// options: host=guard
// A registered block that shares its first and last page with the program's other data, a lock
// among them: that is used meanwhile, by system calls, too. The block's own pages are guarded.
#include "host_memory.h"
#include <atomic>
#include <pthread.h>
#include <thread>
#include <unistd.h>

struct shared {
    pthread_mutex_t mutex;
    int count;
    int block[HOST_N];
    pthread_cond_t condition;
    int after;
};

int main()
{
    shared *p = new shared();
    pthread_mutex_init(&p->mutex, nullptr);
    pthread_cond_init(&p->condition, nullptr);
    CHECK(cudaHostRegister(p->block, HOST_BYTES, cudaHostRegisterDefault));
    int *device = device_array<int>(HOST_N);
    cudaStream_t stream = nonblocking_stream();
    CHECK(cudaMemcpyAsync(p->block, device, HOST_BYTES, cudaMemcpyDeviceToHost, stream));
    std::thread other([&] {
        for (int i = 0; i < 200; i++) {
            pthread_mutex_lock(&p->mutex); // at: beside
            p->count++;
            usleep(10);
            pthread_cond_signal(&p->condition);
            pthread_mutex_unlock(&p->mutex);
        }
    });
    pthread_mutex_lock(&p->mutex);
    while (p->count < 200)
        pthread_cond_wait(&p->condition, &p->mutex);
    pthread_mutex_unlock(&p->mutex);
    other.join();
    load(&p->block[HOST_N / 2]); // at: access
    CHECK(cudaStreamSynchronize(stream));
    CHECK(cudaHostUnregister(p->block));
    delete p;
    return finish();
}
