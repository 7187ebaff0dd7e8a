// Memory that is never freed, and memory that is: what is listed when the program ends?
//   leaks none|some|reset|abort|_exit|exec|pool|library
// clang-format off
#include <csan/csan.h>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda_runtime.h>
#include <dlfcn.h>
#include <unistd.h>

__device__ int variable[1000];
static int *global;

struct at_exit { ~at_exit() { cudaFree(global); } } freed_later;

static int *make(size_t bytes)
{
    int *p = 0;
    cudaMalloc(&p, bytes); // make
    return p;
}

// A pool that never gives its memory back: of two blocks one is freed.
static void use_pool(cudaStream_t s)
{
    char *pool = 0;
    cudaMalloc(&pool, 1 << 20);
    csan_pool_alloc(pool, 1000, s);
    csan_pool_alloc(pool + 4096, 2000, s); // block
    csan_pool_free(pool, s);
}

// What a well-known library allocates for itself.
static void use_library()
{
    void (*create)() = (void (*)())dlsym(dlopen("./libcublas.so", RTLD_NOW), "create");
    create();
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "some";
    const bool some = !strcmp(what, "some");
    static char registered[8192];
    cudaStream_t s;
    int *p[8], *q;
    void *managed, *host, *address;
    cudaStreamCreate(&s);
    for (int i = 0; i < 8; i++) p[i] = make(10000);
    cudaMalloc(&global, 500);
    cudaMallocAsync(&q, 3000, s);
    cudaHostRegister(registered, sizeof registered, 0);
    cudaMallocManaged(&managed, 4000);
    cudaMallocHost(&host, 70000); // host
    cudaGetSymbolAddress(&address, variable);
    cudaMemset(address, 0, sizeof variable);
    cudaStreamSynchronize(s);
    if (!strcmp(what, "pool")) use_pool(s);
    if (!strcmp(what, "library")) use_library();
    if (!strcmp(what, "abort")) abort();
    if (!strcmp(what, "_exit")) _exit(0);
    if (!strcmp(what, "exec")) execl("/bin/true", "true", (char *)0);
    if (!strcmp(what, "reset")) return cudaDeviceReset();
    for (int i = 0; i < 8; i++)
        if (!some || i < 5) cudaFree(p[i]);
    if (!some) { cudaFreeAsync(q, s); cudaFree(managed); cudaFreeHost(host); }
    cudaStreamSynchronize(s);
    puts("done");
    return 0;
}
