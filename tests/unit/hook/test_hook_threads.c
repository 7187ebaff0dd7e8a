/* The hooks under eight host threads: every thread makes and ends streams, events and memory of its
 * own, launches on them and on streams that all share. Nothing may crash or hang, every op must be
 * counted, and (make SANITIZE=thread) the hooks themselves must have no data race. */
#include "tests/unit/hook/test_hook.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { THREADS = 8, ROUNDS = 300 };

#define OK(call) check((call) == CUDA_SUCCESS, #call)

static void check(int true_, const char *what)
{
    if (!true_) {
        fprintf(stderr, "failed: %s\n", what);
        abort();
    }
}

static const char module_text[] =
    ".version 8.0\n.target sm_90\n.address_size 64\n"
    ".visible .entry fill(.param .u64 fill_param_0)\n"
    "{\n.reg .b64 %rd<3>;\n.reg .f32 %f<2>;\n"
    "ld.param.u64 %rd1, [fill_param_0];\ncvta.to.global.u64 %rd2, %rd1;\n"
    "mov.f32 %f1, 0f00000000;\nst.global.f32 [%rd2], %f1;\nret;\n}\n";

static CUmodule module;
static CUstream shared_stream;
static CUevent shared_event;
static pthread_barrier_t barrier;
static CUdeviceptr signalled;

static void nothing(void *data)
{
    (void)data;
}

static void round_of(CUfunction f, CUdeviceptr own)
{
    CUstream stream;
    CUevent event;
    CUdeviceptr p, q;
    void *pinned;
    OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    OK(cuEventCreate(&event, 0));
    OK(cuMemAllocAsync(&p, 256, stream));
    OK(cuMemAlloc_v2(&q, 256));
    OK(cuMemHostAlloc(&pinned, 256, 0));
    OK(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, stream, (void *[]){&p}, NULL));
    OK(cuMemcpyDtoDAsync_v2(q, p, 256, stream));
    OK(cuMemcpyDtoHAsync_v2(pinned, q, 256, stream));
    OK(cuEventRecord(event, stream));
    OK(cuStreamWaitEvent(shared_stream, event, 0));
    OK(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, shared_stream, (void *[]){&own}, NULL));
    OK(cuEventRecord(shared_event, shared_stream));
    OK(cuStreamWaitEvent(stream, shared_event, 0));
    OK(cuMemsetD8Async_ptsz(own, 0, 16, CU_STREAM_PER_THREAD));
    OK(cuMemsetD8Async(own, 0, 16, NULL));
    OK(cuStreamQuery(stream));
    OK(cuLaunchHostFunc(stream, nothing, NULL));
    OK(cuEventSynchronize(event));
    OK(cuMemFreeAsync(p, stream));
    OK(cuMemcpyHtoD_v2(q, pinned, 256));
    OK(cuStreamSynchronize(stream));
    OK(cuMemFree_v2(q));
    OK(cuMemFreeHost(pinned));
    OK(cuEventDestroy_v2(event));
    OK(cuStreamDestroy_v2(stream));
}

static void *work(void *unused)
{
    CUfunction f;
    CUdeviceptr own;
    (void)unused;
    pthread_barrier_wait(&barrier);
    OK(cuModuleGetFunction(&f, module, "fill"));
    OK(cuMemAlloc_v2(&own, 256));
    for (int i = 0; i < ROUNDS; i++) {
        round_of(f, own);
        if (i % 50 == 0)
            csan_race_count();
    }
    OK(cuMemFree_v2(own));
    return NULL;
}

static void eight_threads(void **state)
{
    (void)state;
    pthread_t threads[THREADS];
    OK(cuModuleLoadData(&module, module_text));
    OK(cuStreamCreate(&shared_stream, CU_STREAM_DEFAULT));
    OK(cuEventCreate(&shared_event, 0));
    pthread_barrier_init(&barrier, NULL, THREADS);
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, work, NULL), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    fake_run_host_functions();
    OK(cuCtxSynchronize());
}

/* ---- A context that ends while a thread is ending its streams ---- */

static void *end_streams(void *stop)
{
    while (!__atomic_load_n((int *)stop, __ATOMIC_ACQUIRE)) {
        CUstream s = blocking();
        OK(cuMemsetD8Async(signalled, 0, 1, s));
        OK(cuStreamDestroy_v2(s));
    }
    return NULL;
}

static void context_ends_under_its_streams(void **state)
{
    (void)state;
    int stop = 0;
    pthread_t threads[2];
    signalled = device(64);
    fake_set_context((void *)0xc5);
    for (int i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, end_streams, &stop), 0);
    for (int i = 0; i < 20000; i++)
        OK(cuCtxDestroy_v2((CUcontext)0xc5));
    __atomic_store_n(&stop, 1, __ATOMIC_RELEASE);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    fake_set_context((void *)0xc0);
}

/* ---- A signal that arrives anywhere, inside csan too ---- */

static void on_signal(int number)
{
    (void)number;
    cuMemsetD8Async(signalled, 0, 1, shared_stream);
}

static void *send(void *target)
{
    for (int i = 0; i < 300; i++) {
        struct timespec pause = {0, 50000};
        pthread_kill(*(pthread_t *)target, SIGUSR1);
        nanosleep(&pause, NULL);
    }
    __atomic_store_n((int *)((pthread_t *)target + 1), 1, __ATOMIC_RELEASE);
    return NULL;
}

static void signals_inside_csan(void **state)
{
    (void)state;
    struct {
        pthread_t target;
        int done;
    } self = {pthread_self(), 0};
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
    pthread_t sender;
    CUdeviceptr p = device(64);
    signalled = device(64);
    sigaction(SIGUSR1, &action, NULL);
    assert_int_equal(pthread_create(&sender, NULL, send, &self), 0);
    while (!__atomic_load_n(&self.done, __ATOMIC_ACQUIRE))
        OK(cuMemsetD8Async(p, 0, 64, shared_stream));
    pthread_join(sender, NULL);
    assert_int_equal(races(), 0);
}

int main(int argc, char **argv)
{
    (void)argc;
    hook_test_start(argv);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(eight_threads),
        cmocka_unit_test_setup(context_ends_under_its_streams, hook_setup),
        cmocka_unit_test_setup(signals_inside_csan, hook_setup),
    };
    return hook_finish(cmocka_run_group_tests_name("hook_threads", tests, NULL, NULL));
}
