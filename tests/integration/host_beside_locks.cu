// verdict: none
// options: host=guard
// Locks of every kind lie in the page that a copy may still write, beside its bytes. Threads wait
// for them while copies are enqueued: the kernel looks at a lock itself, and must not find its page
// closed.
#include "host_memory.h"
#include <atomic>
#include <condition_variable>
#include <linux/futex.h>
#include <mutex>
#include <new>
#include <pthread.h>
#include <semaphore.h>
#include <sys/syscall.h>
#include <thread>
#include <unistd.h>

enum { TURNS = 50, LOCKED = 2000 };

struct beside {
    int result[64];
    std::mutex mutex;
    std::condition_variable ready;
    sem_t semaphore;
    pthread_barrier_t barrier;
    pthread_rwlock_t readers;
    std::atomic<int> word;
    int turn, count;
};

static cudaStream_t stream;
static int *device;
static beside *page;

static void copy()
{
    CHECK(
        cudaMemcpyAsync(page->result, device, sizeof page->result, cudaMemcpyDeviceToHost, stream));
}

static void wait_for_word(int value)
{
    while (page->word.load() != value)
        syscall(SYS_futex, &page->word, FUTEX_WAIT_PRIVATE, value - 1, nullptr, nullptr, 0);
}

static void other_thread()
{
    for (int i = 1; i <= TURNS; i++) {
        sem_wait(&page->semaphore);
        pthread_barrier_wait(&page->barrier);
        {
            std::unique_lock<std::mutex> lock(page->mutex);
            page->ready.wait(lock, [i] { return page->turn == i; });
        }
        pthread_rwlock_rdlock(&page->readers);
        pthread_rwlock_unlock(&page->readers);
        wait_for_word(i);
    }
    for (int i = 0; i < LOCKED; i++) {
        std::lock_guard<std::mutex> lock(page->mutex);
        page->count++;
    }
}

int main()
{
    device = device_array<int>(HOST_N);
    page = new (pinned_memory()) beside;
    stream = nonblocking_stream();
    sem_init(&page->semaphore, 0, 0);
    pthread_barrier_init(&page->barrier, nullptr, 2);
    pthread_rwlock_init(&page->readers, nullptr);
    std::thread other(other_thread);
    for (int i = 1; i <= TURNS; i++) {
        usleep(200);
        copy();
        sem_post(&page->semaphore);
        copy();
        pthread_barrier_wait(&page->barrier);
        pthread_rwlock_wrlock(&page->readers);
        usleep(200);
        copy();
        {
            std::lock_guard<std::mutex> lock(page->mutex);
            page->turn = i;
        }
        page->ready.notify_one();
        copy();
        usleep(200);
        pthread_rwlock_unlock(&page->readers);
        usleep(200);
        copy();
        page->word = i;
        syscall(SYS_futex, &page->word, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
    }
    for (int i = 0; i < LOCKED; i++) {
        if (i % 20 == 0)
            copy();
        std::lock_guard<std::mutex> lock(page->mutex);
        page->count++;
    }
    other.join();
    CHECK(cudaStreamSynchronize(stream));
    return page->count == 2 * LOCKED ? finish() : 103;
}
