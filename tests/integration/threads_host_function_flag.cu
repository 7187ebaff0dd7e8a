// verdict: race
// expect: threads_host_function_flag.cu:{second}
// options: host_order=threads
// link: -lcsan_threads
// A host function that raises a flag orders no thread after it, though it ran.
#include "host_threads.h"

static void CUDART_CB raise_flag(void *)
{
    flag_raise();
}

static void *first(void *)
{
    cudaStream_t stream = nonblocking_stream();
    launch_increment(stream, p);
    CHECK(cudaLaunchHostFunc(stream, raise_flag, nullptr));
    return nullptr;
}

static void *second(void *)
{
    flag_wait();
    work(); // at: second
    return nullptr;
}

int main()
{
    run_both(first, second);
    return finish();
}
