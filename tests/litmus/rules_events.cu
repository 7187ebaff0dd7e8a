// Events: what a record holds, what a wait waits for.
#include "litmus.h"

static const struct rule table[] = {
    {"event recorded after A, waited for by B's stream", PROMISED, "Driver API, cuStreamWaitEvent",
     [](struct trial &trial) {
         first(trial, trial.a);
         TRY(cudaEventRecord(trial.event, trial.a));
         TRY(cudaStreamWaitEvent(trial.b, trial.event, 0));
         second(trial, trial.b);
     }},
    {"event recorded before A", NOTHING, "Driver API, cuEventRecord",
     [](struct trial &trial) {
         TRY(cudaEventRecord(trial.event, trial.a));
         first(trial, trial.a);
         TRY(cudaStreamWaitEvent(trial.b, trial.event, 0));
         second(trial, trial.b);
     }},
    {"event recorded again after the wait", NOTHING, "Driver API, cuStreamWaitEvent",
     [](struct trial &trial) {
         TRY(cudaEventRecord(trial.event, trial.a));
         TRY(cudaStreamWaitEvent(trial.b, trial.event, 0));
         first(trial, trial.a);
         TRY(cudaEventRecord(trial.event, trial.a));
         second(trial, trial.b);
     }},
    {"event recorded after A, then again in another stream", NOTHING, "Driver API, cuEventRecord",
     [](struct trial &trial) {
         first(trial, trial.a);
         TRY(cudaEventRecord(trial.event, trial.a));
         TRY(cudaEventRecord(trial.event, trial.blocking));
         TRY(cudaStreamWaitEvent(trial.b, trial.event, 0));
         second(trial, trial.b);
     }},
    {"wait for an event never recorded", NOTHING, "Driver API, cuStreamWaitEvent",
     [](struct trial &trial) {
         cudaEvent_t never;
         TRY(cudaEventCreateWithFlags(&never, cudaEventDisableTiming));
         first(trial, trial.a);
         TRY(cudaStreamWaitEvent(trial.b, never, 0));
         second(trial, trial.b);
         TRY(cudaEventDestroy(never));
     }},
    {"event destroyed between record and wait's work", PROMISED, "Driver API, cuEventDestroy",
     [](struct trial &trial) {
         cudaEvent_t event;
         TRY(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
         first(trial, trial.a);
         TRY(cudaEventRecord(event, trial.a));
         TRY(cudaStreamWaitEvent(trial.b, event, 0));
         TRY(cudaEventDestroy(event));
         second(trial, trial.b);
     }},
    {"create and destroy an event", NOTHING, "Driver API, cuEventDestroy",
     [](struct trial &trial) {
         cudaEvent_t event;
         first(trial, trial.a);
         TRY(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
         TRY(cudaEventRecord(event, trial.a));
         TRY(cudaEventDestroy(event));
         second(trial, trial.b);
     }},
    {"event of the legacy stream covers blocking ones", PROMISED,
     "Driver API, Stream synchronization behavior",
     [](struct trial &trial) {
         first(trial, trial.blocking);
         TRY(cudaEventRecord(trial.event, cudaStreamLegacy));
         TRY(cudaStreamWaitEvent(trial.b, trial.event, 0));
         second(trial, trial.b);
     }},
    {"event of the legacy stream, A non-blocking", NOTHING,
     "Driver API, Stream synchronization behavior",
     [](struct trial &trial) {
         first(trial, trial.a);
         TRY(cudaEventRecord(trial.event, cudaStreamLegacy));
         TRY(cudaStreamWaitEvent(trial.b, trial.event, 0));
         second(trial, trial.b);
     }},
    {"record in the legacy stream between two blocking", PROMISED,
     "Driver API, Stream synchronization behavior",
     [](struct trial &trial) {
         first(trial, trial.blocking);
         TRY(cudaEventRecord(trial.event, cudaStreamLegacy));
         second(trial, trial.blocking_too);
     }},
    {"legacy stream waits for A's event, B blocking", PROMISED,
     "Driver API, Stream synchronization behavior",
     [](struct trial &trial) {
         first(trial, trial.a);
         TRY(cudaEventRecord(trial.event, trial.a));
         TRY(cudaStreamWaitEvent(cudaStreamLegacy, trial.event, 0));
         second(trial, trial.blocking);
     }},
    {"per-thread stream's event, A blocking", NOTHING,
     "Driver API, Stream synchronization behavior",
     [](struct trial &trial) {
         first(trial, trial.blocking);
         TRY(cudaEventRecord(trial.event, cudaStreamPerThread));
         TRY(cudaStreamWaitEvent(trial.b, trial.event, 0));
         second(trial, trial.b);
     }},
    {"chain of two events", PROMISED, "Driver API, cuStreamWaitEvent",
     [](struct trial &trial) {
         first(trial, trial.a);
         TRY(cudaEventRecord(trial.event, trial.a));
         TRY(cudaStreamWaitEvent(trial.blocking, trial.event, 0));
         TRY(cudaEventRecord(trial.event_too, trial.blocking));
         TRY(cudaStreamWaitEvent(trial.b, trial.event_too, 0));
         second(trial, trial.b);
     }},
    {"cudaEventSynchronize", PROMISED, "Runtime API, cudaEventSynchronize",
     [](struct trial &trial) {
         first(trial, trial.a);
         TRY(cudaEventRecord(trial.event, trial.a));
         TRY(cudaEventSynchronize(trial.event));
         second(trial, trial.b);
     }},
    {"cudaEventSynchronize, recorded before A", NOTHING, "Runtime API, cudaEventSynchronize",
     [](struct trial &trial) {
         TRY(cudaEventRecord(trial.event, trial.a));
         first(trial, trial.a);
         TRY(cudaEventSynchronize(trial.event));
         second(trial, trial.b);
     }},
    {"cudaEventQuery until success", PROMISED, "Runtime API, cudaEventQuery",
     [](struct trial &trial) {
         cudaError_t result;
         first(trial, trial.a);
         TRY(cudaEventRecord(trial.event, trial.a));
         do
             result = cudaEventQuery(trial.event);
         while (result == cudaErrorNotReady);
         cudaGetLastError();
         TRY(result);
         second(trial, trial.b);
     }},
    {"cudaEventQuery of another stream's event", NOTHING, "Runtime API, cudaEventQuery",
     [](struct trial &trial) {
         cudaError_t result;
         first(trial, trial.a);
         TRY(cudaEventRecord(trial.event, trial.blocking));
         do
             result = cudaEventQuery(trial.event);
         while (result == cudaErrorNotReady);
         cudaGetLastError();
         TRY(result);
         second(trial, trial.b);
     }},
    {"cudaEventElapsedTime until success", PROMISED, "Runtime API, cudaEventElapsedTime",
     [](struct trial &trial) {
         cudaEvent_t begin, end;
         cudaError_t result;
         float milliseconds;
         TRY(cudaEventCreate(&begin));
         TRY(cudaEventCreate(&end));
         TRY(cudaEventRecord(begin, trial.a));
         first(trial, trial.a);
         TRY(cudaEventRecord(end, trial.a));
         do
             result = cudaEventElapsedTime(&milliseconds, begin, end);
         while (result == cudaErrorNotReady);
         cudaGetLastError();
         TRY(result);
         second(trial, trial.b);
         TRY(cudaEventDestroy(begin));
         TRY(cudaEventDestroy(end));
     }},
};

struct rules event_rules()
{
    return {table, sizeof table / sizeof *table};
}
