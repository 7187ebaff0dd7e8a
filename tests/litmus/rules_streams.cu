// Which streams order each other: in one stream, between streams of all kinds, through the default
// streams, and what the host waits for.
#include "litmus.h"

#include <thread>

static void query_until_done(struct trial &trial, cudaStream_t stream)
{
    cudaError_t result;
    do
        result = cudaStreamQuery(stream);
    while (result == cudaErrorNotReady);
    cudaGetLastError();
    check(trial, result, "cudaStreamQuery");
}

static const struct rule table[] = {
    {"same stream", PROMISED, "Programming Guide, Streams",
     [](struct trial &trial) { first(trial, trial.a), second(trial, trial.a); }},
    {"two non-blocking streams", NOTHING, "Programming Guide, Streams",
     [](struct trial &trial) { first(trial, trial.a), second(trial, trial.b); }},
    {"two blocking streams", NOTHING, "Programming Guide, Streams",
     [](struct trial &trial) { first(trial, trial.blocking), second(trial, trial.blocking_too); }},
    {"blocking, then legacy stream", PROMISED, "Driver API, Stream synchronization behavior",
     [](struct trial &trial) { first(trial, trial.blocking), second(trial, cudaStreamLegacy); }},
    {"legacy stream, then blocking", PROMISED, "Driver API, Stream synchronization behavior",
     [](struct trial &trial) { first(trial, cudaStreamLegacy), second(trial, trial.blocking); }},
    {"blocking, legacy launch, other blocking", PROMISED,
     "Driver API, Stream synchronization behavior",
     [](struct trial &trial) {
         first(trial, trial.blocking);
         hold(trial, cudaStreamLegacy);
         second(trial, trial.blocking_too);
     }},
    {"non-blocking, then legacy stream", NOTHING, "Driver API, Stream synchronization behavior",
     [](struct trial &trial) { first(trial, trial.a), second(trial, cudaStreamLegacy); }},
    {"legacy stream, then non-blocking", NOTHING, "Driver API, Stream synchronization behavior",
     [](struct trial &trial) { first(trial, cudaStreamLegacy), second(trial, trial.a); }},
    {"non-blocking, legacy launch, other non-blocking", NOTHING,
     "Driver API, Stream synchronization behavior",
     [](struct trial &trial) {
         first(trial, trial.a);
         hold(trial, cudaStreamLegacy);
         second(trial, trial.b);
     }},
    {"per-thread stream, then legacy stream", PROMISED,
     "Driver API, Stream synchronization behavior",
     [](struct trial &trial) {
         first(trial, cudaStreamPerThread), second(trial, cudaStreamLegacy);
     }},
    {"legacy stream, then per-thread stream", PROMISED,
     "Driver API, Stream synchronization behavior",
     [](struct trial &trial) {
         first(trial, cudaStreamLegacy), second(trial, cudaStreamPerThread);
     }},
    {"per-thread stream, then blocking", NOTHING, "Driver API, Stream synchronization behavior",
     [](struct trial &trial) { first(trial, cudaStreamPerThread), second(trial, trial.blocking); }},
    {"per-thread streams of two threads", NOTHING, "Driver API, Stream synchronization behavior",
     [](struct trial &trial) {
         std::thread([&] { first(trial, cudaStreamPerThread); }).join();
         second(trial, cudaStreamPerThread);
     }},
    {"cudaStreamSynchronize of A's stream", PROMISED, "Runtime API, cudaStreamSynchronize",
     [](struct trial &trial) {
         first(trial, trial.a);
         TRY(cudaStreamSynchronize(trial.a));
         second(trial, trial.b);
     }},
    {"cudaStreamSynchronize in another thread, joined", PROMISED,
     "Runtime API, cudaStreamSynchronize",
     [](struct trial &trial) {
         first(trial, trial.a);
         std::thread([&] { check(trial, cudaStreamSynchronize(trial.a), "synchronize"); }).join();
         second(trial, trial.b);
     }},
    {"A enqueued by another thread, joined", NOTHING, "Programming Guide, Streams",
     [](struct trial &trial) {
         std::thread([&] { first(trial, trial.a); }).join();
         second(trial, trial.b);
     }},
    {"cudaStreamSynchronize of another stream", NOTHING, "Runtime API, cudaStreamSynchronize",
     [](struct trial &trial) {
         first(trial, trial.a);
         TRY(cudaStreamSynchronize(trial.blocking));
         second(trial, trial.b);
     }},
    {"cudaStreamSynchronize(legacy), A blocking", PROMISED,
     "Driver API, Stream synchronization behavior",
     [](struct trial &trial) {
         first(trial, trial.blocking);
         TRY(cudaStreamSynchronize(cudaStreamLegacy));
         second(trial, trial.b);
     }},
    {"cudaStreamSynchronize(legacy), A non-blocking", NOTHING,
     "Driver API, Stream synchronization behavior",
     [](struct trial &trial) {
         first(trial, trial.a);
         TRY(cudaStreamSynchronize(cudaStreamLegacy));
         second(trial, trial.b);
     }},
    {"cudaStreamSynchronize(per-thread), A blocking", NOTHING,
     "Driver API, Stream synchronization behavior",
     [](struct trial &trial) {
         first(trial, trial.blocking);
         TRY(cudaStreamSynchronize(cudaStreamPerThread));
         second(trial, trial.b);
     }},
    {"cudaStreamQuery until success", PROMISED, "Runtime API, cudaStreamQuery",
     [](struct trial &trial) {
         first(trial, trial.a);
         query_until_done(trial, trial.a);
         second(trial, trial.b);
     }},
    {"cudaStreamQuery(legacy) until success, A blocking", PROMISED,
     "Driver API, Stream synchronization behavior",
     [](struct trial &trial) {
         first(trial, trial.blocking);
         query_until_done(trial, cudaStreamLegacy);
         second(trial, trial.b);
     }},
    {"cudaStreamQuery of another stream", NOTHING, "Runtime API, cudaStreamQuery",
     [](struct trial &trial) {
         first(trial, trial.a);
         TRY(cudaStreamQuery(trial.blocking));
         second(trial, trial.b);
     }},
    {"cudaDeviceSynchronize", PROMISED, "Runtime API, cudaDeviceSynchronize",
     [](struct trial &trial) {
         first(trial, trial.a);
         TRY(cudaDeviceSynchronize());
         second(trial, trial.b);
     }},
    {"create a stream, B in it", NOTHING, "Runtime API, cudaStreamCreateWithFlags",
     [](struct trial &trial) {
         cudaStream_t stream;
         first(trial, trial.a);
         TRY(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
         second(trial, stream);
         TRY(cudaStreamDestroy(stream));
     }},
    {"destroy A's stream", NOTHING, "Runtime API, cudaStreamDestroy",
     [](struct trial &trial) {
         cudaStream_t stream;
         TRY(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
         first(trial, stream);
         TRY(cudaStreamDestroy(stream));
         second(trial, trial.b);
     }},
    {"destroy A's stream, a blocking one; B legacy", PROMISED, "Runtime API, cudaStreamDestroy",
     [](struct trial &trial) {
         cudaStream_t stream;
         TRY(cudaStreamCreate(&stream));
         first(trial, stream);
         TRY(cudaStreamDestroy(stream));
         second(trial, cudaStreamLegacy);
     }},
    {"B's stream of higher priority", NOTHING, "Programming Guide, Stream Priorities",
     [](struct trial &trial) {
         int low = 0, high = 0;
         cudaStream_t stream;
         TRY(cudaDeviceGetStreamPriorityRange(&low, &high));
         TRY(cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking, high));
         first(trial, trial.a);
         second(trial, stream);
         TRY(cudaStreamDestroy(stream));
     }},
};

struct rules stream_rules()
{
    return {table, sizeof table / sizeof *table};
}
