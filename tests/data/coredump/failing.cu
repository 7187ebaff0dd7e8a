#include <cassert>
#include <cstdio>
#include <cstring>
#include <cuda_runtime.h>
#include <cuda.h>
#include <thread>
#include <fcntl.h>
#include <unistd.h>
#include <sys/stat.h>

__global__ void load(int *p, long at)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i == 77)
        p[0] = p[at];
}
__global__ void store(int *p, long at)
{
    if (threadIdx.x == 3)
        p[at] = 1;
}
__global__ void misaligned(char *p)
{
    if (threadIdx.x == 3)
        *(int *)(p + 2) = 1;
}
__global__ void trapped()
{
    if (blockIdx.x == 1 && threadIdx.x == 9)
        __trap();
}
__global__ void asserts(int n)
{
    if (threadIdx.x == 6)
        assert(n < 3);
}
int main(int, char **v)
{
    mkfifo("/tmp/app/fifo", 0600);
    cuInit(0);
    unsigned flags = CU_COREDUMP_LIGHTWEIGHT_FLAGS | CU_COREDUMP_SKIP_ABORT;
    bool yes = true;
    size_t n = 14;
    cuCoredumpSetAttributeGlobal(CU_COREDUMP_FILE, (void *)"/tmp/app/fifo", &n);
    n = sizeof flags;
    cuCoredumpSetAttributeGlobal(CU_COREDUMP_GENERATION_FLAGS, &flags, &n);
    n = sizeof yes;
    cuCoredumpSetAttributeGlobal(CU_COREDUMP_ENABLE_ON_EXCEPTION, &yes, &n);
    std::thread([v] {
        int f = open("/tmp/app/fifo", O_RDONLY), o = open(v[2], O_WRONLY | O_CREAT | O_TRUNC, 0644);
        static char b[1 << 20];
        ssize_t r;
        while ((r = read(f, b, sizeof b)) > 0)
            if (write(o, b, r) != r)
                break;
        close(o);
        usleep(100000);
        _exit(0);
    }).detach();
    int *p;
    cudaMalloc(&p, 4096);
    if (!strcmp(v[1], "load"))
        load<<<4, 64>>>(p, 1l << 40);
    if (!strcmp(v[1], "store"))
        store<<<1, 32>>>(p, 1l << 40);
    if (!strcmp(v[1], "misaligned"))
        misaligned<<<1, 32>>>((char *)p);
    if (!strcmp(v[1], "trap"))
        trapped<<<2, 32>>>();
    if (!strcmp(v[1], "assert"))
        asserts<<<1, 32>>>(5);
    printf("%p\n", p);
    fflush(stdout);
    cudaDeviceSynchronize();
    sleep(5);
}
