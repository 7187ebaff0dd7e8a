/* The hooks of textures, surfaces and tensor maps: which memory is under each. */
#include "runtime/hook/state/object_table.h"
#include "driver_hooks.h"
#include "runtime/hook/session/guard.h"
#include "runtime/hook/state/callsite.h"
#include "runtime/hook/state/tensor_map.h"
#include "runtime/hook/state/thread.h"
#include "runtime/hook/session/session.h"

/* ---- Textures and surfaces ----
 *
 * A kernel goes on with an object that was destroyed while it runs, until another object takes its
 * place. So creation and destruction are birth and free of the description's one byte, which
 * kernels read (CUDA Driver API, cuTexObjectDestroy). The destruction waits for nothing. */

static void view_made(const struct driver_entry *entry, uint8_t kind, uint64_t handle,
                      const CUDA_RESOURCE_DESC *resource)
{
    const uint64_t description = object_view_description(kind, handle);
    const char *const what =
        kind == INSTRUCTION_ACCESS_OBJECT_SURFACE ? "surface object" : "texture object";
    object_view_made(kind, handle, resource);
    if (description)
        csan_memory_create(session_context(), CSAN_MEMORY_DEVICE, description, 1, CSAN_HOST,
                           callsite_of(entry->name, &what, 1));
}

struct view_death {
    struct object_view *view;
    csan_free *token;
};

static struct view_death view_death_begin(const struct driver_entry *entry, uint8_t kind,
                                          uint64_t handle)
{
    struct view_death death = {.view = object_view_take_out(kind, handle)};
    if (death.view)
        death.token =
            csan_memory_free_begin(session_context(), object_view_description(kind, handle),
                                   thread_lane(), true, callsite_of(entry->name, NULL, 0));
    return death;
}

static void view_death_end(struct view_death *death, CUresult result)
{
    object_view_destroyed(death->view, result == CUDA_SUCCESS);
    if (death->token)
        csan_memory_free_end(session_context(), death->token, result != CUDA_SUCCESS,
                             CSAN_FREE_NO_WAIT);
}

CUresult hook_texture_create(const struct driver_entry *entry, CUtexObject *pTexObject,
                             const CUDA_RESOURCE_DESC *pResDesc, const CUDA_TEXTURE_DESC *pTexDesc,
                             const CUDA_RESOURCE_VIEW_DESC *pResViewDesc)
{
    CUresult result =
        DRIVER_REAL(entry, cuTexObjectCreate_v5000)(pTexObject, pResDesc, pTexDesc, pResViewDesc);
    if (result == CUDA_SUCCESS && guard_enter()) {
        view_made(entry, INSTRUCTION_ACCESS_OBJECT_TEXTURE, *pTexObject, pResDesc);
        guard_leave();
    }
    return result;
}

CUresult hook_surface_create(const struct driver_entry *entry, CUsurfObject *pSurfObject,
                             const CUDA_RESOURCE_DESC *pResDesc)
{
    CUresult result = DRIVER_REAL(entry, cuSurfObjectCreate_v5000)(pSurfObject, pResDesc);
    if (result == CUDA_SUCCESS && guard_enter()) {
        view_made(entry, INSTRUCTION_ACCESS_OBJECT_SURFACE, *pSurfObject, pResDesc);
        guard_leave();
    }
    return result;
}

CUresult hook_texture_destroy(const struct driver_entry *entry, CUtexObject texObject)
{
    struct view_death death = view_death_begin(entry, INSTRUCTION_ACCESS_OBJECT_TEXTURE, texObject);
    CUresult result = DRIVER_REAL(entry, cuTexObjectDestroy_v5000)(texObject);
    view_death_end(&death, result);
    return result;
}

CUresult hook_surface_destroy(const struct driver_entry *entry, CUsurfObject surfObject)
{
    struct view_death death =
        view_death_begin(entry, INSTRUCTION_ACCESS_OBJECT_SURFACE, surfObject);
    CUresult result = DRIVER_REAL(entry, cuSurfObjectDestroy_v5000)(surfObject);
    view_death_end(&death, result);
    return result;
}

/* ---- Tensor maps ---- */

static void tensor_map_encoded(CUresult result, const CUtensorMap *map, const struct tensor *tensor,
                               const struct object_box *box)
{
    if (result != CUDA_SUCCESS || !guard_enter())
        return;
    const struct object_memory memory = object_of_tensor(tensor, box);
    object_tensor_map_made(map, &memory);
    guard_leave();
}

CUresult hook_tensor_map_encode_tiled(const struct driver_entry *entry, CUtensorMap *tensorMap,
                                      CUtensorMapDataType tensorDataType, cuuint32_t tensorRank,
                                      void *globalAddress, const cuuint64_t *globalDim,
                                      const cuuint64_t *globalStrides, const cuuint32_t *boxDim,
                                      const cuuint32_t *elementStrides,
                                      CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle,
                                      CUtensorMapL2promotion l2Promotion,
                                      CUtensorMapFloatOOBfill oobFill)
{
    CUresult result = DRIVER_REAL(entry, cuTensorMapEncodeTiled_v12000)(
        tensorMap, tensorDataType, tensorRank, globalAddress, globalDim, globalStrides, boxDim,
        elementStrides, interleave, swizzle, l2Promotion, oobFill);
    tensor_map_encoded(result, tensorMap,
                       &(struct tensor){tensorDataType, tensorRank, (uintptr_t)globalAddress,
                                        globalDim, globalStrides, interleave},
                       &(struct object_box){.sizes = boxDim,
                                            .element_strides = elementStrides,
                                            .numbers = {0, swizzle, l2Promotion, oobFill}});
    return result;
}

CUresult hook_tensor_map_encode_im2col(
    const struct driver_entry *entry, CUtensorMap *tensorMap, CUtensorMapDataType tensorDataType,
    cuuint32_t tensorRank, void *globalAddress, const cuuint64_t *globalDim,
    const cuuint64_t *globalStrides, const int *pixelBoxLowerCorner, const int *pixelBoxUpperCorner,
    cuuint32_t channelsPerPixel, cuuint32_t pixelsPerColumn, const cuuint32_t *elementStrides,
    CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle,
    CUtensorMapL2promotion l2Promotion, CUtensorMapFloatOOBfill oobFill)
{
    CUresult result = DRIVER_REAL(entry, cuTensorMapEncodeIm2col_v12000)(
        tensorMap, tensorDataType, tensorRank, globalAddress, globalDim, globalStrides,
        pixelBoxLowerCorner, pixelBoxUpperCorner, channelsPerPixel, pixelsPerColumn, elementStrides,
        interleave, swizzle, l2Promotion, oobFill);
    tensor_map_encoded(result, tensorMap,
                       &(struct tensor){tensorDataType, tensorRank, (uintptr_t)globalAddress,
                                        globalDim, globalStrides, interleave},
                       &(struct object_box){.element_strides = elementStrides,
                                            .lower = pixelBoxLowerCorner,
                                            .upper = pixelBoxUpperCorner,
                                            .numbers = {1, swizzle, l2Promotion, oobFill,
                                                        channelsPerPixel, pixelsPerColumn}});
    return result;
}

CUresult hook_tensor_map_encode_im2col_wide(
    const struct driver_entry *entry, CUtensorMap *tensorMap, CUtensorMapDataType tensorDataType,
    cuuint32_t tensorRank, void *globalAddress, const cuuint64_t *globalDim,
    const cuuint64_t *globalStrides, int pixelBoxLowerCornerWidth, int pixelBoxUpperCornerWidth,
    cuuint32_t channelsPerPixel, cuuint32_t pixelsPerColumn, const cuuint32_t *elementStrides,
    CUtensorMapInterleave interleave, CUtensorMapIm2ColWideMode mode, CUtensorMapSwizzle swizzle,
    CUtensorMapL2promotion l2Promotion, CUtensorMapFloatOOBfill oobFill)
{
    CUresult result = DRIVER_REAL(entry, cuTensorMapEncodeIm2colWide_v12080)(
        tensorMap, tensorDataType, tensorRank, globalAddress, globalDim, globalStrides,
        pixelBoxLowerCornerWidth, pixelBoxUpperCornerWidth, channelsPerPixel, pixelsPerColumn,
        elementStrides, interleave, mode, swizzle, l2Promotion, oobFill);
    tensor_map_encoded(result, tensorMap,
                       &(struct tensor){tensorDataType, tensorRank, (uintptr_t)globalAddress,
                                        globalDim, globalStrides, interleave},
                       &(struct object_box){.element_strides = elementStrides,
                                            .numbers = {2 + (uint32_t)mode, swizzle, l2Promotion,
                                                        oobFill, channelsPerPixel, pixelsPerColumn,
                                                        (uint32_t)pixelBoxLowerCornerWidth,
                                                        (uint32_t)pixelBoxUpperCornerWidth}});
    return result;
}

/* The same tensor elsewhere. One that csan did not see encoded stays unknown. */
CUresult hook_tensor_map_replace_address(const struct driver_entry *entry, CUtensorMap *tensorMap,
                                         void *globalAddress)
{
    struct object_memory memory;
    enum object_answer before = OBJECT_UNKNOWN;
    bool entered = guard_enter();
    if (entered && tensorMap)
        before = object_find(INSTRUCTION_ACCESS_OBJECT_TENSOR_MAP, tensorMap, &memory);
    CUresult result =
        DRIVER_REAL(entry, cuTensorMapReplaceAddress_v12000)(tensorMap, globalAddress);
    if (before == OBJECT_MEMORY && result == CUDA_SUCCESS) {
        memory.base = (uintptr_t)globalAddress;
        object_tensor_map_made(tensorMap, &memory);
    }
    if (entered)
        guard_leave();
    return result;
}

/* The same tensor: what lies outside of it is found otherwise. The descriptor's bits may differ. */
CUresult hook_tensor_map_set_allocation_class(const struct driver_entry *entry,
                                              CUtensorMap *tensorMap,
                                              CUtensorMapAllocClass allocClass,
                                              CUtensorMapAllocClass *outAllocClass)
{
    struct object_memory memory;
    enum object_answer before = OBJECT_UNKNOWN;
    bool entered = guard_enter();
    if (entered && tensorMap)
        before = object_find(INSTRUCTION_ACCESS_OBJECT_TENSOR_MAP, tensorMap, &memory);
    CUresult result = DRIVER_REAL(entry, cuTensorMapSetAllocationClass_v13050)(
        tensorMap, allocClass, outAllocClass);
    if (before == OBJECT_MEMORY && result == CUDA_SUCCESS)
        object_tensor_map_made(tensorMap, &memory);
    if (entered)
        guard_leave();
    return result;
}
