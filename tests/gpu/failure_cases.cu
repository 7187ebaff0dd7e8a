// Kernels that fail where they are hard to identify, and programs with settings of their own: what
// calls return is printed, to be compared with and without csan.
//   failure_cases CASE [FATBIN]     FATBIN: of failure.cu, for the case `module`
// clang-format off
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda.h>
#include <cuda_runtime.h>
#include <thread>
#include <unistd.h>
#include <vector>

enum { N = 256 };

__global__ void good(int *p) { p[blockIdx.x * blockDim.x + threadIdx.x] = 1; }
__global__ void misaligned(char *p) { if (threadIdx.x == 3) *(int *)(p + 2) = 1; }
__global__ void trapped(int *p) { if (threadIdx.x == 4) __trap(); p[threadIdx.x] = 1; }
__global__ void reads(int *p, long at) { if (threadIdx.x == 5) p[0] = p[at]; }
#ifdef CHILD
__global__ void child(char *p) { if (threadIdx.x == 6) *(int *)(p + 2) = 1; }
__global__ void parent(char *p) { if (threadIdx.x == 0) child<<<1, 32>>>(p); }
#endif

static void say(const char *what, int code) { printf("%s %d\n", what, code); }

static void ends(cudaStream_t s, int *p)
{
    int host[4];
    say("stream", cudaStreamSynchronize(s));
    say("device", cudaDeviceSynchronize());
    say("copy", cudaMemcpy(host, p, sizeof host, cudaMemcpyDeviceToHost));
    good<<<1, 32, 0, s>>>(p); say("launch", cudaGetLastError());
}

static int *memory(cudaStream_t *s)
{
    int *p;
    cudaStreamCreateWithFlags(s, cudaStreamNonBlocking);
    cudaMalloc(&p, N * sizeof *p);
    for (int i = 0; i < 5; i++) good<<<N / 64, 64, 0, *s>>>(p);
    cudaStreamSynchronize(*s);
    return p;
}

// The second node of three fails, in the second launch of two graphs that are alike but for their memory.
static void node()
{
    cudaStream_t s; cudaGraph_t graph; cudaGraphExec_t exec;
    int *p = memory(&s);
    cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal);
    good<<<4, 64, 0, s>>>(p);
    reads<<<2, 32, 0, s>>>(p, 1l << 40); // node
    good<<<4, 64, 0, s>>>(p);
    cudaStreamEndCapture(s, &graph);
    cudaGraphInstantiate(&exec, graph, 0);
    cudaGraphDestroy(graph);
    say("graph", cudaGraphLaunch(exec, s)); // graph
    ends(s, p);
}

// The module goes while its kernel runs, or right behind it.
static void module(const char *path)
{
    cudaStream_t s; CUmodule module; CUfunction function;
    int *p = memory(&s); long at = 1l << 40;
    static char image[1 << 22];
    FILE *file = fopen(path, "rb");
    if (!file || !fread(image, 1, sizeof image, file)) exit(2);
    say("load", cuModuleLoadData(&module, image));
    say("function", cuModuleGetFunction(&function, module, "_Z10misalignedPc"));
    void *arguments[] = {&p, &at};
    say("module launch", cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, s, arguments, NULL)); // module
    say("unload", cuModuleUnload(module));
    ends(s, p);
}

static void on_device(int device, int *codes)
{
    cudaSetDevice(device);
    cudaStream_t s; int *p = memory(&s), host[4];
    static volatile int ready;
    __atomic_add_fetch(&ready, 1, __ATOMIC_SEQ_CST);
    while (__atomic_load_n(&ready, __ATOMIC_SEQ_CST) < 2) ;
    if (device == 0) misaligned<<<1, 32, 0, s>>>((char *)p); // device 0
    else trapped<<<1, 32, 0, s>>>(p);                        // device 1
    codes[0] = cudaStreamSynchronize(s);
    codes[1] = cudaDeviceSynchronize();
    codes[2] = cudaMemcpy(host, p, sizeof host, cudaMemcpyDeviceToHost);
}

static void two_devices()
{
    int codes[2][3];
    std::thread other(on_device, 1, codes[1]);
    on_device(0, codes[0]);
    other.join();
    for (int device = 0; device < 2; device++)
        printf("device %d: %d %d %d\n", device, codes[device][0], codes[device][1], codes[device][2]);
}

// A failure on one device leaves the other as it is.
static void one_of_two()
{
    cudaStream_t s, t; int host[4];
    cudaSetDevice(1); int *q = memory(&t);
    cudaSetDevice(0); int *p = memory(&s);
    misaligned<<<1, 32, 0, s>>>((char *)p); // one
    ends(s, p);
    cudaSetDevice(1);
    good<<<4, 64, 0, t>>>(q);
    say("other stream", cudaStreamSynchronize(t));
    say("other copy", cudaMemcpy(host, q, sizeof host, cudaMemcpyDeviceToHost));
}

static void aborted(int)
{
    static const char line[] = "the program's own handler\n";
    if (write(1, line, sizeof line - 1)) _exit(7);
}

static void plain()
{
    cudaStream_t s; int *p = memory(&s);
    misaligned<<<1, 32, 0, s>>>((char *)p); // plain
    ends(s, p);
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    setvbuf(stdout, NULL, _IOLBF, 0);
    if (!strcmp(what, "node")) node();
    if (!strcmp(what, "module")) module(argv[2]);
    if (!strcmp(what, "two_devices")) two_devices();
    if (!strcmp(what, "one_of_two")) one_of_two();
    if (!strcmp(what, "plain")) plain();
    if (!strcmp(what, "handler")) { signal(SIGABRT, aborted); plain(); }
#ifdef CHILD
    if (!strcmp(what, "child")) { cudaStream_t s; int *p = memory(&s); parent<<<1, 32, 0, s>>>((char *)p); ends(s, p); } // parent
#endif
    return 0;
}
