/* What a runtime function does if there is no library to forward it to: it fails as a CUDA function
 * does, and never harms the program. Most return a cudaError_t; those that do not are listed. */
#include "runtime/hook/rt/resolve.h"

#include <stddef.h>
#include <string.h>

#include <driver_types.h>

static cudaError_t not_supported(void)
{
    return cudaErrorNotSupported;
}
static cudaError_t not_initialized(void)
{
    return cudaErrorInitializationError;
}

/* A handle to hand on to the other registration functions, which ignore it. */
static void **register_fat_binary(void)
{
    static void *none;
    return &none;
}
static char init_module(void)
{
    return 0;
}
static const char *error_name(cudaError_t error)
{
    return error == cudaSuccess ? "cudaSuccess" : "cudaErrorInitializationError";
}
static const char *error_string(cudaError_t error)
{
    return error == cudaSuccess ? "no error" : "no CUDA runtime library could be used";
}
static struct cudaChannelFormatDesc create_channel_desc(int x, int y, int z, int w,
                                                        enum cudaChannelFormatKind kind)
{
    return (struct cudaChannelFormatDesc){x, y, z, w, kind};
}

void *fallback_function(const char *symbol, bool no_target)
{
    static const struct {
        const char *symbol;
        void *function;
    } others[] = {
        {"__cudaRegisterFatBinary", (void *)register_fat_binary},
        {"__cudaInitModule", (void *)init_module},
        {"cudaGetErrorName", (void *)error_name},
        {"cudaGetErrorString", (void *)error_string},
        {"cudaCreateChannelDesc", (void *)create_channel_desc},
    };
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (strcmp(others[i].symbol, symbol) == 0)
            return others[i].function;
    return no_target ? (void *)not_initialized : (void *)not_supported;
}
