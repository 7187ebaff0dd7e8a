/* See stage.h. */
#include "runtime/mpi/stage.h"
#include "csan/base/environment.h"

#include <cuda.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct stage {
    struct stage *next;
    uint64_t low, high; /* on the device */
    char *host;
    struct access_list accesses;
};

/* The driver's functions that copies need. */
static struct {
    pthread_once_t once;
    bool wanted;
    CUresult (*attribute)(void *value, CUpointer_attribute attribute, CUdeviceptr address);
    CUresult (*to_host)(void *to, CUdeviceptr from, size_t bytes, CUstream stream);
    CUresult (*to_device)(CUdeviceptr to, const void *from, size_t bytes, CUstream stream);
    CUresult (*stream_create)(CUstream *stream, unsigned flags);
    CUresult (*stream_wait)(CUstream stream);
    CUresult (*stream_destroy)(CUstream stream);
} driver = {.once = PTHREAD_ONCE_INIT};

/* ---- Whether ---- */

/* MPIX_Query_cuda_support is an extension of both families. */
static bool mpi_knows_cuda(void)
{
    int (*query)(void);
    *(void **)&query = abi_function_maybe("MPIX_Query_cuda_support");
    return query && query() == 1;
}

static bool functions_find(void *library)
{
    *(void **)&driver.attribute = dlsym(library, "cuPointerGetAttribute");
    *(void **)&driver.to_host = dlsym(library, "cuMemcpyDtoHAsync_v2");
    *(void **)&driver.to_device = dlsym(library, "cuMemcpyHtoDAsync_v2");
    *(void **)&driver.stream_create = dlsym(library, "cuStreamCreate");
    *(void **)&driver.stream_wait = dlsym(library, "cuStreamSynchronize");
    *(void **)&driver.stream_destroy = dlsym(library, "cuStreamDestroy_v2");
    return driver.attribute && driver.to_host && driver.to_device && driver.stream_create &&
           driver.stream_wait && driver.stream_destroy;
}

static void decide(void)
{
    const char *how = environment_get("CSAN_MPI_STAGE");
    void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
    const bool forced = how && strcmp(how, "copy") == 0; /* for tests, on the embedded device */
    if (library && !forced && (dlsym(library, "device_memory_view") || mpi_knows_cuda()))
        return;
    driver.wanted = library && functions_find(library);
}

/* Memory that the host cannot reach. */
static bool is_of_device(const void *address)
{
    unsigned type = 0, managed = 0;
    const CUdeviceptr at = (uintptr_t)address;
    return driver.attribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, at) == CUDA_SUCCESS &&
           type == CU_MEMORYTYPE_DEVICE &&
           (driver.attribute(&managed, CU_POINTER_ATTRIBUTE_IS_MANAGED, at) != CUDA_SUCCESS ||
            !managed);
}

bool stage_needs(const void *address)
{
    pthread_once(&driver.once, decide);
    return driver.wanted && address && is_of_device(address);
}

/* ---- Copies ---- */

/* In a stream of their own, which waits for nothing of the program's. */
static CUstream copies_begin(void)
{
    CUstream stream = NULL;
    return driver.stream_create(&stream, CU_STREAM_NON_BLOCKING) == CUDA_SUCCESS ? stream : NULL;
}

static void copies_end(CUstream stream)
{
    driver.stream_wait(stream);
    driver.stream_destroy(stream);
}

void stage_in(struct stage *stages)
{
    CUstream stream = stages ? copies_begin() : NULL;
    for (const struct stage *stage = stages; stage && stream; stage = stage->next)
        driver.to_host(stage->host, stage->low, stage->high - stage->low, stream);
    if (stream)
        copies_end(stream);
}

/* Every contiguous run of the access, from its dimension `dim` on. */
static void runs_out(const struct stage *stage, const struct csan_access *access, uint8_t dim,
                     uint64_t at, CUstream stream)
{
    if (dim == access->dim_count) {
        driver.to_device(at, stage->host + (at - stage->low), access->bytes, stream);
        return;
    }
    for (uint64_t i = 0; i < access->dims[dim].count; i++)
        runs_out(stage, access, dim + 1, at + i * (uint64_t)access->dims[dim].stride, stream);
}

void stage_out(struct stage *stages)
{
    CUstream stream = stages ? copies_begin() : NULL;
    for (const struct stage *stage = stages; stage && stream; stage = stage->next)
        for (size_t i = 0; i < stage->accesses.count; i++)
            if (stage->accesses.items[i].kind == CSAN_WRITE)
                runs_out(stage, &stage->accesses.items[i], 0, stage->accesses.items[i].base,
                         stream);
    if (stream)
        copies_end(stream);
}

/* ---- Life ---- */

static void span_grow(struct stage *stage, const struct csan_access *access)
{
    uint64_t low = access->base, high = access->base + access->bytes;
    for (uint8_t k = 0; k < access->dim_count; k++) {
        const int64_t reach = access->dims[k].stride * (int64_t)(access->dims[k].count - 1);
        if (reach < 0)
            low += (uint64_t)reach;
        else
            high += (uint64_t)reach;
    }
    stage->low = low < stage->low ? low : stage->low;
    stage->high = high > stage->high ? high : stage->high;
}

struct stage *stage_make(struct stage *next, const void *address, struct access_list *accesses,
                         void **usable)
{
    struct stage *stage = accesses->count ? calloc(1, sizeof *stage) : NULL;
    *usable = (void *)(uintptr_t)address;
    if (stage) {
        *stage = (struct stage){.low = UINT64_MAX, .accesses = *accesses};
        for (size_t i = 0; i < accesses->count; i++)
            span_grow(stage, &accesses->items[i]);
        stage->host = malloc(stage->high - stage->low);
    }
    if (!stage || !stage->host) {
        free(stage);
        access_list_free(accesses);
        return next;
    }
    stage_in(stage);
    stage->next = next;
    *usable = stage->host + ((uintptr_t)address - stage->low);
    return stage;
}

void stage_free(struct stage *stages)
{
    while (stages) {
        struct stage *next = stages->next;
        access_list_free(&stages->accesses);
        free(stages->host);
        free(stages);
        stages = next;
    }
}
