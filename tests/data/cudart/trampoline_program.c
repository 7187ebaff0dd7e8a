/* Calls runtime functions of every shape of result, several from eight threads at once, and prints
 * what came back: two errors, the same for all threads, and the size of the description. */
#include <cuda_runtime_api.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

extern void **__cudaRegisterFatBinary(void *binary);
extern void __cudaRegisterFatBinaryEnd(void **handle);
extern void __cudaUnregisterFatBinary(void **handle);

static void *one_thread(void *result)
{
    int count = 0;
    *(int *)result = (int)cudaGetDeviceCount(&count);
    return NULL;
}

int main(void)
{
    static struct {
        int magic, version;
        const void *data;
        void *rest;
    } binary = {0x466243B1, 1, NULL, NULL};
    void *memory = NULL, **handle = __cudaRegisterFatBinary(&binary);
    __cudaRegisterFatBinaryEnd(handle);
    pthread_t threads[8];
    int results[8] = {0}, same = 1;
    for (int i = 0; i < 8; i++)
        pthread_create(&threads[i], NULL, one_thread, &results[i]);
    for (int i = 0; i < 8; i++) {
        pthread_join(threads[i], NULL);
        same &= results[i] == results[0];
    }
    struct cudaChannelFormatDesc desc =
        cudaCreateChannelDesc(8, 0, 0, 0, cudaChannelFormatKindUnsigned);
    const char *text = cudaGetErrorString(cudaErrorInitializationError);
    printf("%d %d %d %d\n", (int)cudaMalloc(&memory, 4), (int)cudaDeviceSynchronize(),
           same ? results[0] : -1, text && *text ? desc.x : -1);
    __cudaUnregisterFatBinary(handle);
    return dlsym(NULL, "main") == (void *)main;
}
