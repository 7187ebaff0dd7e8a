/* The JIT linker: cuLink*. Units of PTX are gathered, and completing gives them out as a cubin that
 * has no machine code, only the texts, each in the section where ptxas -lineinfo keeps them. So
 * what reads cubins reads this one, a copy of it too, and linking by symbol is done where it is
 * loaded. */
#include "runtime/device/module/image.h"

#include "runtime/device/module/module.h"
#include "runtime/ptx/cubin_of_texts.h"

#include <stdlib.h>
#include <string.h>

struct unit {
    struct unit *next;
    size_t bytes;
    char text[];
};

struct CUlinkState_st {
    struct object object;
    struct image_log log; /* the program's: "accumulates until the CUlinkState is destroyed" */
    struct unit *units, **last;
    unsigned unit_count;
    void *cubin; /* once completed */
    size_t cubin_bytes;
};

CUresult CUDAAPI cuLinkCreate_v2(unsigned int numOptions, CUjit_option *options,
                                 void **optionValues, CUlinkState *stateOut)
{
    struct CUctx_st *context;
    CUresult result = device_enter_context(&context);
    if (result != CUDA_SUCCESS)
        return result;
    if (!stateOut)
        return device_leave(CUDA_ERROR_INVALID_VALUE);
    struct CUlinkState_st *state = calloc(1, sizeof *state);
    if (!state)
        return device_leave(CUDA_ERROR_OUT_OF_MEMORY);
    image_log_options(&state->log, numOptions, options, optionValues);
    state->last = &state->units;
    object_add(&state->object, OBJECT_LINK);
    *stateOut = state;
    return device_leave(CUDA_SUCCESS);
}

static CUresult enter(CUlinkState handle, struct CUlinkState_st **state)
{
    CUresult result = device_enter();
    if (result != CUDA_SUCCESS)
        return result;
    *state = object_find(handle, OBJECT_LINK);
    return *state ? CUDA_SUCCESS : device_leave(CUDA_ERROR_INVALID_HANDLE);
}

static bool take_unit(void *user, const struct fatbin_text *text)
{
    struct CUlinkState_st *state = user;
    if (state->unit_count == CUBIN_UNITS_MAX)
        return false;
    struct unit *unit = malloc(sizeof *unit + text->bytes);
    if (!unit)
        return false;
    *unit = (struct unit){.bytes = text->bytes};
    memcpy(unit->text, text->text, text->bytes);
    *state->last = unit;
    state->last = &unit->next;
    state->unit_count++;
    return true;
}

/* Device code in host objects: of the device's run-time library, which programs name as a matter of
 * course, nothing is needed. */
static CUresult skip_objects(const char *name)
{
    static bool said;
    if (!__atomic_exchange_n(&said, true, __ATOMIC_RELAXED))
        device_say("cuLink: the device code of host objects and archives is not read (%s)",
                   name ? name : "unnamed");
    return CUDA_SUCCESS;
}

static CUresult add(CUlinkState handle, CUjitInputType type, const void *data, const char *name)
{
    struct CUlinkState_st *state;
    CUresult result = enter(handle, &state);
    if (result != CUDA_SUCCESS)
        return result;
    if (!data || state->cubin)
        return device_leave(CUDA_ERROR_INVALID_VALUE);
    switch (type) {
    case CU_JIT_INPUT_CUBIN:
    case CU_JIT_INPUT_PTX:
    case CU_JIT_INPUT_FATBINARY:
        return device_leave(image_units(data, &state->log, take_unit, state));
    case CU_JIT_INPUT_OBJECT:
    case CU_JIT_INPUT_LIBRARY:
        return device_leave(skip_objects(name));
    default:
        return device_leave(CUDA_ERROR_INVALID_VALUE);
    }
}

CUresult CUDAAPI cuLinkAddData_v2(CUlinkState state, CUjitInputType type, void *data, size_t size,
                                  const char *name, unsigned int numOptions, CUjit_option *options,
                                  void **optionValues)
{
    (void)size, (void)numOptions, (void)options, (void)optionValues;
    return add(state, type, data, name);
}

CUresult CUDAAPI cuLinkAddFile_v2(CUlinkState state, CUjitInputType type, const char *path,
                                  unsigned int numOptions, CUjit_option *options,
                                  void **optionValues)
{
    (void)numOptions, (void)options, (void)optionValues;
    if (!path)
        return CUDA_ERROR_INVALID_VALUE;
    CUresult result;
    void *data = module_read_file(path, &result);
    if (data)
        result = add(state, type, data, path);
    free(data);
    return result;
}

static void *cubin_of(const struct CUlinkState_st *state, size_t *bytes)
{
    struct cubin_unit *units = calloc(state->unit_count, sizeof *units);
    size_t count = 0;
    for (const struct unit *unit = state->units; units && unit; unit = unit->next)
        units[count++] = (struct cubin_unit){unit->text, unit->bytes};
    void *cubin = units ? cubin_of_texts(units, count, bytes) : NULL;
    free(units);
    return cubin;
}

static CUresult complete(struct CUlinkState_st *state)
{
    if (!state->units)
        return CUDA_ERROR_INVALID_VALUE;
    size_t bytes;
    void *image = cubin_of(state, &bytes);
    if (!image)
        return CUDA_ERROR_OUT_OF_MEMORY;
    bool shell;
    CUresult result;
    struct ptx_module *linked = image_load(image, &state->log, &shell, &result);
    if (!linked) {
        free(image);
        return result;
    }
    ptx_module_release(linked);
    state->cubin = image;
    state->cubin_bytes = bytes;
    return CUDA_SUCCESS;
}

CUresult CUDAAPI cuLinkComplete(CUlinkState handle, void **cubinOut, size_t *sizeOut)
{
    struct CUlinkState_st *state;
    CUresult result = enter(handle, &state);
    if (result != CUDA_SUCCESS)
        return result;
    if (!cubinOut)
        return device_leave(CUDA_ERROR_INVALID_VALUE);
    if (!state->cubin)
        result = complete(state);
    if (result != CUDA_SUCCESS)
        return device_leave(result);
    *cubinOut = state->cubin;
    if (sizeOut)
        *sizeOut = state->cubin_bytes;
    return device_leave(CUDA_SUCCESS);
}

CUresult CUDAAPI cuLinkDestroy(CUlinkState handle)
{
    struct CUlinkState_st *state;
    CUresult result = enter(handle, &state);
    if (result != CUDA_SUCCESS)
        return result;
    object_remove(&state->object);
    while (state->units) {
        struct unit *unit = state->units;
        state->units = unit->next;
        free(unit);
    }
    free(state->cubin);
    free(state);
    return device_leave(CUDA_SUCCESS);
}
