/* See array.h. CUDA Driver API, "Memory Management": cuArrayCreate, cuArray3DCreate and
 * cuMipmappedArrayCreate. */
#include "runtime/device/memory/array.h"
#include "runtime/trace/array_layout.h"

#include <stdlib.h>

/* Rows begin where the widest access of a surface may. */
enum { ROW_ALIGNMENT = 16, BASE_ALIGNMENT = 512, FACES = 6 };
enum { WIDTH_LIMIT = 131072, HEIGHT_LIMIT = 65536, SIDE_LIMIT = 32768, DEPTH_LIMIT = 16384 };
enum { LAYER_LIMIT = 2048, LAYER_LIMIT_CUBE = 2046 };

#define FLAGS                                                                                      \
    (CUDA_ARRAY3D_LAYERED | CUDA_ARRAY3D_SURFACE_LDST | CUDA_ARRAY3D_CUBEMAP |                     \
     CUDA_ARRAY3D_TEXTURE_GATHER | CUDA_ARRAY3D_COLOR_ATTACHMENT)
#define FLAGS_LACKED                                                                               \
    (CUDA_ARRAY3D_DEPTH_TEXTURE | CUDA_ARRAY3D_SPARSE | CUDA_ARRAY3D_DEFERRED_MAPPING)

/* ---- Formats and shapes ---- */

static bool cube_is_valid(const CUDA_ARRAY3D_DESCRIPTOR *shape)
{
    const bool layered = shape->Flags & CUDA_ARRAY3D_LAYERED;
    return shape->Width == shape->Height && shape->Width <= SIDE_LIMIT &&
           (layered ? shape->Depth && shape->Depth % FACES == 0 && shape->Depth <= LAYER_LIMIT_CUBE
                    : shape->Depth == FACES);
}

/* "Width, Height, and Depth are the width, height, and depth of the CUDA array (in elements)", with
 * zeros for what there is not: cuArray3DCreate lists the combinations. */
static bool shape_is_valid(const CUDA_ARRAY3D_DESCRIPTOR *shape)
{
    if (!shape->Width || shape->Flags & ~(unsigned)FLAGS)
        return false;
    if (shape->Flags & CUDA_ARRAY3D_CUBEMAP)
        return cube_is_valid(shape);
    if (shape->Flags & CUDA_ARRAY3D_LAYERED)
        return shape->Depth && shape->Depth <= LAYER_LIMIT && shape->Width <= SIDE_LIMIT &&
               shape->Height <= SIDE_LIMIT;
    if (shape->Depth)
        return shape->Height && shape->Width <= DEPTH_LIMIT && shape->Height <= DEPTH_LIMIT &&
               shape->Depth <= DEPTH_LIMIT;
    return shape->Width <= WIDTH_LIMIT && shape->Height <= HEIGHT_LIMIT;
}

static uint64_t up(uint64_t value, uint64_t unit)
{
    return (value + unit - 1) / unit * unit;
}

static uint32_t at_least_one(uint64_t count)
{
    return count ? (uint32_t)count : 1;
}

/* Bytes of it. */
static uint64_t level_of(struct exec_level *level, const CUDA_ARRAY3D_DESCRIPTOR *shape,
                         uint64_t base)
{
    struct exec_texture texels = {0};
    array_format(shape->Format, shape->NumChannels, &texels);
    level->base = base;
    level->width = (uint32_t)shape->Width;
    level->height = at_least_one(shape->Height);
    level->depth = at_least_one(shape->Depth);
    level->pitch =
        up((uint64_t)level->width * texels.channels * texels.channel_bytes, ROW_ALIGNMENT);
    level->slice = level->pitch * level->height;
    return level->slice * level->depth;
}

static CUDA_ARRAY3D_DESCRIPTOR shape_of_level(const CUDA_ARRAY3D_DESCRIPTOR *shape, unsigned level)
{
    CUDA_ARRAY3D_DESCRIPTOR smaller = *shape;
    smaller.Width = shape->Width >> level ? shape->Width >> level : 1;
    if (shape->Height)
        smaller.Height = shape->Height >> level ? shape->Height >> level : 1;
    if (shape->Depth && !(shape->Flags & (CUDA_ARRAY3D_LAYERED | CUDA_ARRAY3D_CUBEMAP)))
        smaller.Depth = shape->Depth >> level ? shape->Depth >> level : 1;
    return smaller;
}

static CUresult check(const CUDA_ARRAY3D_DESCRIPTOR *shape)
{
    struct exec_texture texels;
    if (!shape)
        return CUDA_ERROR_INVALID_VALUE;
    if (shape->Flags & FLAGS_LACKED)
        return device_lacks("a sparse, deferred or depth CUDA array");
    if (shape->NumChannels != 1 && shape->NumChannels != 2 && shape->NumChannels != 4)
        return CUDA_ERROR_INVALID_VALUE;
    if (!array_format(shape->Format, shape->NumChannels, &texels))
        return shape->Format > CU_AD_FORMAT_FLOAT
                   ? device_lacks("a CUDA array of a compressed, planar or packed format")
                   : CUDA_ERROR_INVALID_VALUE;
    return shape_is_valid(shape) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

/* ---- Memory ---- */

static uint64_t allocate(struct CUctx_st *context, uint64_t bytes)
{
    const uint32_t tag = memory_tag(context, OWNER_ARRAY);
    uint64_t address = arena_allocate(&device.device_memory, bytes, tag, 0);
    if (!address && pool_release_idle(bytes))
        address = arena_allocate(&device.device_memory, bytes, tag, 0);
    if (address)
        outcome_born(address, bytes);
    return address;
}

static void release(uint64_t address)
{
    outcome_freed_at(&device.device_memory, address);
    arena_free(&device.device_memory, address);
}

/* ---- Arrays ---- */

struct CUarray_st *array_of(CUarray handle)
{
    return object_find(handle, OBJECT_ARRAY);
}

size_t array_element_bytes(const struct CUarray_st *array)
{
    struct exec_texture texels;
    return array && array_format(array->shape.Format, array->shape.NumChannels, &texels)
               ? (size_t)texels.channels * texels.channel_bytes
               : 0;
}

static CUresult create(CUarray *handle, const CUDA_ARRAY3D_DESCRIPTOR *shape)
{
    struct CUctx_st *context;
    CUresult result = memory_enter_unsafe(&context);
    if (result != CUDA_SUCCESS)
        return result;
    if ((result = handle ? check(shape) : CUDA_ERROR_INVALID_VALUE) != CUDA_SUCCESS)
        return device_leave(result);
    struct CUarray_st *array = calloc(1, sizeof *array);
    if (!array)
        return device_leave(CUDA_ERROR_OUT_OF_MEMORY);
    array->bytes = level_of(&array->level, shape, 0);
    array->level.base = allocate(context, array->bytes);
    if (!array->level.base) {
        free(array);
        return device_leave(CUDA_ERROR_OUT_OF_MEMORY);
    }
    array->context = context_home(context);
    array->shape = *shape;
    object_add(&array->object, OBJECT_ARRAY);
    *handle = array;
    return device_leave(CUDA_SUCCESS);
}

CUresult CUDAAPI cuArray3DCreate_v2(CUarray *pHandle, const CUDA_ARRAY3D_DESCRIPTOR *pAllocateArray)
{
    return create(pHandle, pAllocateArray);
}

CUresult CUDAAPI cuArrayCreate_v2(CUarray *pHandle, const CUDA_ARRAY_DESCRIPTOR *pAllocateArray)
{
    if (!pAllocateArray)
        return create(pHandle, NULL);
    const CUDA_ARRAY3D_DESCRIPTOR shape = {.Width = pAllocateArray->Width,
                                           .Height = pAllocateArray->Height,
                                           .Format = pAllocateArray->Format,
                                           .NumChannels = pAllocateArray->NumChannels};
    return create(pHandle, &shape);
}

static void array_release(struct CUarray_st *array)
{
    object_remove(&array->object);
    free(array);
}

/* Waits for all work, as freeing other memory does. */
CUresult CUDAAPI cuArrayDestroy(CUarray hArray)
{
    struct CUctx_st *context;
    CUresult result = memory_enter_unsafe(&context);
    if (result != CUDA_SUCCESS)
        return result;
    const struct CUarray_st *array = array_of(hArray);
    if (!array || array->levels)
        return device_leave(array ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_INVALID_HANDLE);
    if ((result = memory_settle(context)) != CUDA_SUCCESS)
        return device_leave(result);
    struct CUarray_st *found = array_of(hArray); /* the lock was free meanwhile */
    if (found) {
        release(found->level.base);
        array_release(found);
    }
    return device_leave(found ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE);
}

CUresult CUDAAPI cuArray3DGetDescriptor_v2(CUDA_ARRAY3D_DESCRIPTOR *pArrayDescriptor,
                                           CUarray hArray)
{
    struct CUctx_st *context;
    CUresult result = device_enter_context(&context);
    if (result != CUDA_SUCCESS)
        return result;
    const struct CUarray_st *array = array_of(hArray);
    if (!array || !pArrayDescriptor)
        return device_leave(array ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_INVALID_HANDLE);
    *pArrayDescriptor = array->shape;
    return device_leave(CUDA_SUCCESS);
}

CUresult CUDAAPI cuArrayGetDescriptor_v2(CUDA_ARRAY_DESCRIPTOR *pArrayDescriptor, CUarray hArray)
{
    CUDA_ARRAY3D_DESCRIPTOR shape;
    CUresult result = cuArray3DGetDescriptor_v2(pArrayDescriptor ? &shape : NULL, hArray);
    if (result == CUDA_SUCCESS && pArrayDescriptor)
        *pArrayDescriptor = (CUDA_ARRAY_DESCRIPTOR){.Width = shape.Width,
                                                    .Height = shape.Height,
                                                    .Format = shape.Format,
                                                    .NumChannels = shape.NumChannels};
    return result;
}

/* ---- Mipmapped arrays ---- */

struct CUmipmappedArray_st *array_of_levels(CUmipmappedArray handle)
{
    return object_find(handle, OBJECT_MIPMAPPED_ARRAY);
}

static void levels_release(struct CUmipmappedArray_st *mipmap)
{
    for (unsigned i = 0; i < mipmap->count; i++)
        array_release(mipmap->levels[i]);
    object_remove(&mipmap->object);
    free(mipmap);
}

/* "range [1, 1 + floor(log2(max(width, height, depth)))]"; more are cut off. */
static unsigned levels_most(const CUDA_ARRAY3D_DESCRIPTOR *shape)
{
    const bool layers = shape->Flags & (CUDA_ARRAY3D_LAYERED | CUDA_ARRAY3D_CUBEMAP);
    size_t most = shape->Width > shape->Height ? shape->Width : shape->Height;
    unsigned count = 1;
    if (!layers && shape->Depth > most)
        most = shape->Depth;
    while (most >>= 1)
        count++;
    return count < EXEC_LEVELS ? count : EXEC_LEVELS;
}

/* Makes its levels, one behind the other. False: memory is short; nothing is left. */
static bool levels_create(struct CUmipmappedArray_st *mipmap, unsigned count)
{
    uint64_t offset = 0;
    for (unsigned i = 0; i < count; i++) {
        struct CUarray_st *array = calloc(1, sizeof *array);
        if (!array)
            return false;
        array->shape = shape_of_level(&mipmap->shape, i);
        array->context = mipmap->context;
        array->levels = mipmap;
        array->bytes = level_of(&array->level, &array->shape, offset);
        offset = up(offset + array->bytes, BASE_ALIGNMENT);
        object_add(&array->object, OBJECT_ARRAY);
        mipmap->levels[mipmap->count++] = array;
    }
    mipmap->bytes = offset;
    return true;
}

CUresult CUDAAPI cuMipmappedArrayCreate(CUmipmappedArray *pHandle,
                                        const CUDA_ARRAY3D_DESCRIPTOR *pMipmappedArrayDesc,
                                        unsigned int numMipmapLevels)
{
    struct CUctx_st *context;
    CUresult result = memory_enter_unsafe(&context);
    if (result != CUDA_SUCCESS)
        return result;
    result = pHandle && numMipmapLevels ? check(pMipmappedArrayDesc) : CUDA_ERROR_INVALID_VALUE;
    if (result != CUDA_SUCCESS)
        return device_leave(result);
    struct CUmipmappedArray_st *mipmap = calloc(1, sizeof *mipmap);
    if (!mipmap)
        return device_leave(CUDA_ERROR_OUT_OF_MEMORY);
    unsigned most = levels_most(pMipmappedArrayDesc);
    mipmap->shape = *pMipmappedArrayDesc;
    mipmap->context = context_home(context);
    object_add(&mipmap->object, OBJECT_MIPMAPPED_ARRAY);
    if (!levels_create(mipmap, numMipmapLevels < most ? numMipmapLevels : most) ||
        !(mipmap->base = allocate(context, mipmap->bytes))) {
        levels_release(mipmap);
        return device_leave(CUDA_ERROR_OUT_OF_MEMORY);
    }
    for (unsigned i = 0; i < mipmap->count; i++)
        mipmap->levels[i]->level.base += mipmap->base;
    *pHandle = mipmap;
    return device_leave(CUDA_SUCCESS);
}

CUresult CUDAAPI cuMipmappedArrayGetLevel(CUarray *pLevelArray, CUmipmappedArray hMipmappedArray,
                                          unsigned int level)
{
    struct CUctx_st *context;
    CUresult result = device_enter_context(&context);
    if (result != CUDA_SUCCESS)
        return result;
    const struct CUmipmappedArray_st *mipmap = array_of_levels(hMipmappedArray);
    if (!mipmap)
        return device_leave(CUDA_ERROR_INVALID_HANDLE);
    if (!pLevelArray || level >= mipmap->count)
        return device_leave(CUDA_ERROR_INVALID_VALUE);
    *pLevelArray = mipmap->levels[level];
    return device_leave(CUDA_SUCCESS);
}

CUresult CUDAAPI cuMipmappedArrayDestroy(CUmipmappedArray hMipmappedArray)
{
    struct CUctx_st *context;
    CUresult result = memory_enter_unsafe(&context);
    if (result != CUDA_SUCCESS)
        return result;
    if (!array_of_levels(hMipmappedArray))
        return device_leave(CUDA_ERROR_INVALID_HANDLE);
    if ((result = memory_settle(context)) != CUDA_SUCCESS)
        return device_leave(result);
    struct CUmipmappedArray_st *found = array_of_levels(hMipmappedArray);
    if (found) {
        release(found->base);
        levels_release(found);
    }
    return device_leave(found ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE);
}

/* ---- For the device itself, and for observers ---- */

void array_forget(const struct CUctx_st *context)
{
    struct object *object, *next;
    HASH_ITER(hh, device.objects, object, next)
    {
        const struct CUctx_st *of = object->kind == OBJECT_ARRAY
                                        ? ((struct CUarray_st *)object)->context
                                    : object->kind == OBJECT_MIPMAPPED_ARRAY
                                        ? ((struct CUmipmappedArray_st *)object)->context
                                        : NULL;
        if (of && of == context) {
            object_remove(object);
            free(object);
        }
    }
}

static bool layout_of(const void *handle, struct device_array_layout *layout)
{
    const struct CUarray_st *array = object_find(handle, OBJECT_ARRAY);
    const struct CUmipmappedArray_st *mipmap = object_find(handle, OBJECT_MIPMAPPED_ARRAY);
    if (array)
        *layout = (struct device_array_layout){array->level.base, array->level.pitch,
                                               array->level.slice, array->bytes};
    else if (mipmap)
        *layout = (struct device_array_layout){.base = mipmap->base, .bytes = mipmap->bytes};
    return array || mipmap;
}

__attribute__((visibility("default"))) bool device_array_layout(const void *array,
                                                                struct device_array_layout *layout)
{
    device_lock();
    bool found = layout_of(array, layout);
    device_unlock();
    return found;
}
