/* What tests of graphs and of stream capture share: streams, memory, and a log that host functions
 * write. Each test runs once under each scheduling policy. */
#ifndef TESTS_UNIT_DEVICE_DEVICE_GRAPH_H
#define TESTS_UNIT_DEVICE_DEVICE_GRAPH_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <cuda.h>
#include "tests/unit/device/test_schedules.h"
#include "runtime/device/schedule/schedule.h"
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define ok(call) assert_int_equal((call), CUDA_SUCCESS)

enum { WORDS = 256, BYTES = WORDS * 4 };

static CUcontext context;
static CUstream a, b, c;
static CUdeviceptr p, q;

static inline int start(void **state)
{
    (void)state;
    return cuInit(0) || cuDevicePrimaryCtxRetain(&context, 0) || cuCtxSetCurrent(context);
}

static inline int set_up(void **state)
{
    (void)state;
    return cuStreamCreate(&a, CU_STREAM_NON_BLOCKING) ||
           cuStreamCreate(&b, CU_STREAM_NON_BLOCKING) || cuStreamCreate(&c, CU_STREAM_DEFAULT) ||
           cuMemAlloc(&p, BYTES) || cuMemAlloc(&q, BYTES) || cuMemsetD32(p, 0, WORDS) ||
           cuMemsetD32(q, 0, WORDS) || cuCtxSynchronize();
}

static inline int tear_down(void **state)
{
    (void)state;
    return cuCtxSynchronize() || cuStreamDestroy(a) || cuStreamDestroy(b) || cuStreamDestroy(c) ||
           cuMemFree(p) || cuMemFree(q);
}

static inline unsigned word(CUdeviceptr address)
{
    unsigned value = 0;
    ok(cuMemcpyDtoH(&value, address, sizeof value));
    return value;
}

static inline CUevent event(void)
{
    CUevent made;
    ok(cuEventCreate(&made, CU_EVENT_DISABLE_TIMING));
    return made;
}

static inline void begin(CUstream stream)
{
    ok(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
}

/* Each line: what was begun in `a` goes wrong, and the end says how. */
static inline void ends_invalidated(void)
{
    CUgraph graph = (CUgraph)1;
    CUstreamCaptureStatus status;
    ok(cuStreamIsCapturing(a, &status));
    assert_int_equal(status, CU_STREAM_CAPTURE_STATUS_INVALIDATED);
    assert_int_equal(cuMemsetD32Async(p, 1, 1, a), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    assert_int_equal(cuStreamEndCapture(a, &graph), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    assert_null(graph);
    ok(cuStreamIsCapturing(a, &status));
    assert_int_equal(status, CU_STREAM_CAPTURE_STATUS_NONE);
    ok(cuMemsetD32Async(p, 1, 1, a));
}

static inline CUgraphExec instantiate(CUgraph graph)
{
    CUgraphExec exec;
    ok(cuGraphInstantiate(&exec, graph, 0));
    return exec;
}

static inline CUgraphNode set_node(CUgraph graph, const CUgraphNode *after, size_t count,
                                   CUdeviceptr to, unsigned value)
{
    CUgraphNode node;
    CUDA_MEMSET_NODE_PARAMS params = {
        .dst = to, .value = value, .elementSize = 4, .width = WORDS, .height = 1};
    ok(cuGraphAddMemsetNode(&node, graph, after, count, &params, context));
    return node;
}

/* ---- A log that host functions write ---- */

static struct {
    pthread_mutex_t lock;
    char text[256];
    size_t length;
} reported = {.lock = PTHREAD_MUTEX_INITIALIZER};

static inline void CUDA_CB note(void *what)
{
    pthread_mutex_lock(&reported.lock);
    if (reported.length + 1 < sizeof reported.text)
        reported.text[reported.length++] = *(const char *)what;
    pthread_mutex_unlock(&reported.lock);
}

static inline CUgraphNode note_node(CUgraph graph, const CUgraphNode *after, size_t count,
                                    const char *what)
{
    CUgraphNode node;
    CUDA_HOST_NODE_PARAMS params = {note, (void *)what};
    ok(cuGraphAddHostNode(&node, graph, after, count, &params));
    return node;
}

static inline void reported_clear(void)
{
    memset(reported.text, 0, sizeof reported.text);
    reported.length = 0;
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

#endif
