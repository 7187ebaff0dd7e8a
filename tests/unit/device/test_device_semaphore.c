/* External semaphores of the embedded device: eventfds and memory files, of streams and of graphs.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <cuda.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>

#define ok(call) assert_int_equal((call), CUDA_SUCCESS)

static CUcontext context;
static CUstream stream;

static int start(void **state)
{
    (void)state;
    return cuInit(0) || cuDevicePrimaryCtxRetain(&context, 0) || cuCtxSetCurrent(context) ||
           cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING);
}

static CUresult import(CUexternalSemaphore *semaphore, CUexternalSemaphoreHandleType type,
                       int descriptor)
{
    const CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC desc = {.type = type, .handle.fd = descriptor};
    return cuImportExternalSemaphore(semaphore, &desc);
}

static volatile uint64_t *timeline(CUexternalSemaphore *semaphore)
{
    const int file = memfd_create("timeline", 0);
    assert_true(file >= 0 && ftruncate(file, 64) == 0);
    volatile uint64_t *value =
        mmap(NULL, sizeof *value, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    assert_true(value != MAP_FAILED);
    ok(import(semaphore, CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_TIMELINE_SEMAPHORE_FD, file));
    assert_int_equal(close(file), -1); /* the device has closed it */
    return value;
}

static void signal_to(CUexternalSemaphore semaphore, uint64_t value)
{
    CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS params = {.params.fence.value = value};
    ok(cuSignalExternalSemaphoresAsync(&semaphore, &params, 1, stream));
}

static void wait_for(CUexternalSemaphore semaphore, uint64_t value)
{
    CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS params = {.params.fence.value = value};
    ok(cuWaitExternalSemaphoresAsync(&semaphore, &params, 1, stream));
}

static void a_timeline_has_a_value(void **state)
{
    (void)state;
    CUexternalSemaphore semaphore;
    volatile uint64_t *value = timeline(&semaphore);
    signal_to(semaphore, 7);
    ok(cuStreamSynchronize(stream));
    assert_int_equal(*value, 7);
    wait_for(semaphore, 7);
    ok(cuStreamSynchronize(stream));
    wait_for(semaphore, 9);
    assert_int_equal(cuStreamQuery(stream), CUDA_ERROR_NOT_READY);
    *value = 10;
    ok(cuStreamSynchronize(stream));
    wait_for(semaphore, 11);
    ok(cuDestroyExternalSemaphore(semaphore)); /* what waits goes on */
    *value = 11;
    ok(cuStreamSynchronize(stream));
    assert_int_equal(cuDestroyExternalSemaphore(semaphore), CUDA_ERROR_INVALID_HANDLE);
}

static void a_wait_takes_the_signals_of_an_eventfd(void **state)
{
    (void)state;
    CUexternalSemaphore semaphore;
    const int event = eventfd(0, EFD_NONBLOCK), own = dup(event);
    uint64_t signals = 1;
    ok(import(&semaphore, CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD, event));
    wait_for(semaphore, 0);
    assert_int_equal(cuStreamQuery(stream), CUDA_ERROR_NOT_READY);
    assert_int_equal(write(own, &signals, sizeof signals), sizeof signals);
    ok(cuStreamSynchronize(stream));
    assert_int_equal(read(own, &signals, sizeof signals), -1); /* it was taken */
    signal_to(semaphore, 0);
    ok(cuStreamSynchronize(stream));
    assert_int_equal(read(own, &signals, sizeof signals), sizeof signals);
    assert_int_equal(signals, 1);
    ok(cuDestroyExternalSemaphore(semaphore));
    close(own);
}

static void others_are_refused(void **state)
{
    (void)state;
    int ends[2];
    CUexternalSemaphore semaphore;
    CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS wait = {.flags = 1};
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(import(&semaphore, CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD, ends[0]),
                     CUDA_ERROR_NOT_SUPPORTED);
    assert_int_equal(
        import(&semaphore, CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_TIMELINE_SEMAPHORE_FD, ends[0]),
        CUDA_ERROR_NOT_SUPPORTED);
    assert_int_equal(import(&semaphore, CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_NVSCISYNC, -1),
                     CUDA_ERROR_NOT_SUPPORTED);
    assert_int_equal(close(ends[0]), 0); /* still the program's */
    close(ends[1]);
    assert_int_equal(cuImportExternalSemaphore(&semaphore, NULL), CUDA_ERROR_INVALID_VALUE);
    timeline(&semaphore);
    assert_int_equal(cuWaitExternalSemaphoresAsync(&semaphore, &wait, 1, stream),
                     CUDA_ERROR_INVALID_VALUE);
    ok(cuDestroyExternalSemaphore(semaphore));
    assert_int_equal(cuWaitExternalSemaphoresAsync(&semaphore, &wait, 1, stream),
                     CUDA_ERROR_INVALID_HANDLE);
}

static void nodes_signal_at_each_launch(void **state)
{
    (void)state;
    CUexternalSemaphore semaphore;
    volatile uint64_t *value = timeline(&semaphore);
    CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS three = {.params.fence.value = 3}, four = three;
    CUDA_EXT_SEM_SIGNAL_NODE_PARAMS params = {&semaphore, &three, 1}, given;
    CUgraph graph;
    CUgraphNode node;
    CUgraphExec exec;
    four.params.fence.value = 4;
    ok(cuGraphCreate(&graph, 0));
    ok(cuGraphAddExternalSemaphoresSignalNode(&node, graph, NULL, 0, &params));
    ok(cuGraphExternalSemaphoresSignalNodeGetParams(node, &given));
    assert_int_equal(given.numExtSems, 1);
    assert_ptr_equal(given.extSemArray[0], semaphore);
    assert_int_equal(given.paramsArray[0].params.fence.value, 3);
    ok(cuGraphInstantiate(&exec, graph, 0));
    for (int i = 0; i < 2; i++) {
        *value = 0;
        ok(cuGraphLaunch(exec, stream));
        ok(cuStreamSynchronize(stream));
        assert_int_equal(*value, 3);
    }
    params.paramsArray = &four;
    ok(cuGraphExecExternalSemaphoresSignalNodeSetParams(exec, node, &params));
    ok(cuGraphLaunch(exec, stream));
    ok(cuStreamSynchronize(stream));
    assert_int_equal(*value, 4);
    ok(cuGraphExecDestroy(exec));
    ok(cuGraphDestroy(graph));
    ok(cuDestroyExternalSemaphore(semaphore));
}

static void captured_calls_are_nodes(void **state)
{
    (void)state;
    CUexternalSemaphore semaphore;
    timeline(&semaphore);
    CUgraph graph;
    CUgraphNode nodes[2];
    CUgraphNodeType types[2];
    size_t count = 2;
    ok(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    signal_to(semaphore, 1);
    wait_for(semaphore, 1);
    ok(cuStreamEndCapture(stream, &graph));
    ok(cuGraphGetNodes(graph, nodes, &count));
    assert_int_equal(count, 2);
    ok(cuGraphNodeGetType(nodes[0], &types[0]));
    ok(cuGraphNodeGetType(nodes[1], &types[1]));
    assert_int_equal(types[0], CU_GRAPH_NODE_TYPE_EXT_SEMAS_SIGNAL);
    assert_int_equal(types[1], CU_GRAPH_NODE_TYPE_EXT_SEMAS_WAIT);
    ok(cuGraphDestroy(graph));
    ok(cuDestroyExternalSemaphore(semaphore));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_timeline_has_a_value),
        cmocka_unit_test(a_wait_takes_the_signals_of_an_eventfd),
        cmocka_unit_test(others_are_refused),
        cmocka_unit_test(nodes_signal_at_each_launch),
        cmocka_unit_test(captured_calls_are_nodes),
    };
    return cmocka_run_group_tests_name("device_semaphore", tests, start, NULL);
}
