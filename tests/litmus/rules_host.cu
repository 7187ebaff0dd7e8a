// Host functions and callbacks: work of a stream that the host does.
#include "litmus.h"

#include <atomic>
#include <chrono>
#include <thread>

static std::atomic<int> host_ran;

static void hold_on_host(const struct trial *trial)
{
    std::this_thread::sleep_for(std::chrono::microseconds(trial->hold_us));
}

// A on the host: what it stores is in pinned memory.
static void CUDART_CB store_late(void *data)
{
    struct trial *trial = (struct trial *)data;
    hold_on_host(trial);
    csan_host_writes(trial->pinned, sizeof *trial->pinned);
    *(volatile int *)trial->pinned = 1;
}

static void CUDART_CB store_late_in_callback(cudaStream_t, cudaError_t, void *data)
{
    store_late(data);
}

static void CUDART_CB host_runs(void *)
{
    host_ran.store(1);
}

static void CUDART_CB look_on_host(void *data)
{
    struct trial *trial = (struct trial *)data;
    second_on_host(*trial, trial->pinned);
}

static void wait_for_host_function()
{
    while (!host_ran.load())
        std::this_thread::yield();
    host_ran.store(0);
}

static const struct rule table[] = {
    {"host looks at managed memory that A stores into", NOTHING,
     "Programming Guide, Unified Memory, Coherency and Concurrency",
     [](struct trial &trial) {
         csan_host_writes(trial.managed, sizeof(int));
         *(volatile int *)trial.managed = 0;
         use_word(trial, trial.managed);
         first(trial, trial.a);
         second_on_host(trial, trial.managed);
     }},
    {"host looks at pinned memory that A stores into", NOTHING, "Programming Guide, Mapped Memory",
     [](struct trial &trial) {
         use_word(trial, trial.pinned);
         first(trial, trial.a);
         second_on_host(trial, trial.pinned);
     }},
    {"host looks at pinned memory after cudaEventSynchronize", PROMISED,
     "Programming Guide, Mapped Memory",
     [](struct trial &trial) {
         use_word(trial, trial.pinned);
         first(trial, trial.a);
         TRY(cudaEventRecord(trial.event, trial.a));
         TRY(cudaEventSynchronize(trial.event));
         second_on_host(trial, trial.pinned);
     }},
    {"host function after A, in A's stream; B there", PROMISED, "Driver API, cuLaunchHostFunc",
     [](struct trial &trial) {
         use_word(trial, trial.pinned);
         TRY(cudaLaunchHostFunc(trial.a, store_late, &trial));
         second(trial, trial.a);
     }},
    {"host function is A; B in another stream", NOTHING, "Driver API, cuLaunchHostFunc",
     [](struct trial &trial) {
         use_word(trial, trial.pinned);
         TRY(cudaLaunchHostFunc(trial.a, store_late, &trial));
         second(trial, trial.b);
     }},
    {"callback is A; B in its stream", PROMISED, "Driver API, cuStreamAddCallback",
     [](struct trial &trial) {
         use_word(trial, trial.pinned);
         TRY(cudaStreamAddCallback(trial.a, store_late_in_callback, &trial, 0));
         second(trial, trial.a);
     }},
    {"callback is A; B in another stream", NOTHING, "Driver API, cuStreamAddCallback",
     [](struct trial &trial) {
         use_word(trial, trial.pinned);
         TRY(cudaStreamAddCallback(trial.a, store_late_in_callback, &trial, 0));
         second(trial, trial.b);
     }},
    {"host function is B; A in its stream", PROMISED, "Driver API, cuLaunchHostFunc",
     [](struct trial &trial) {
         use_word(trial, trial.pinned);
         first(trial, trial.a);
         TRY(cudaLaunchHostFunc(trial.a, look_on_host, &trial));
     }},
    {"host function is B; A in another stream", NOTHING, "Driver API, cuLaunchHostFunc",
     [](struct trial &trial) {
         use_word(trial, trial.pinned);
         first(trial, trial.a);
         TRY(cudaLaunchHostFunc(trial.b, look_on_host, &trial));
     }},
    {"host function seen to run, B in another stream", PROMISED, "Driver API, cuLaunchHostFunc",
     [](struct trial &trial) {
         first(trial, trial.a);
         TRY(cudaLaunchHostFunc(trial.a, host_runs, nullptr));
         wait_for_host_function();
         second(trial, trial.b);
     }},
    {"host function of another stream seen to run", NOTHING, "Driver API, cuLaunchHostFunc",
     [](struct trial &trial) {
         first(trial, trial.a);
         TRY(cudaLaunchHostFunc(trial.b, host_runs, nullptr));
         wait_for_host_function();
         second(trial, trial.b);
     }},
    {"host function is A; synchronize its stream", PROMISED, "Driver API, cuLaunchHostFunc",
     [](struct trial &trial) {
         use_word(trial, trial.pinned);
         TRY(cudaLaunchHostFunc(trial.a, store_late, &trial));
         TRY(cudaStreamSynchronize(trial.a));
         second(trial, trial.b);
     }},
    {"host function is A; wait for its event", PROMISED, "Driver API, cuLaunchHostFunc",
     [](struct trial &trial) {
         use_word(trial, trial.pinned);
         TRY(cudaLaunchHostFunc(trial.a, store_late, &trial));
         TRY(cudaEventRecord(trial.event, trial.a));
         TRY(cudaStreamWaitEvent(trial.b, trial.event, 0));
         second(trial, trial.b);
     }},
};

struct rules host_rules()
{
    return {table, sizeof table / sizeof *table};
}
