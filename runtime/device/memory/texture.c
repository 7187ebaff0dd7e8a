/* Texture and surface objects (CUDA Driver API, "Texture Object Management" and "Surface Object
 * Management"). Kernels find them by handle: texture_find, surface_find.
 *
 * A kernel goes on with an object that was destroyed after the kernel was enqueued, as on a GPU,
 * where nothing overwrites the description at once. So a destroyed object is kept until no work is
 * left that is older. */
#include "runtime/device/memory/texture_description.h"

#include <stdlib.h>

struct view {
    struct object object; /* OBJECT_TEXTURE or OBJECT_SURFACE */
    const struct CUctx_st *context;
    CUDA_RESOURCE_DESC resource;
    CUDA_TEXTURE_DESC how;
    CUDA_RESOURCE_VIEW_DESC part;
    bool has_part;
    struct exec_texture texels;
    /* destroyed */
    enum object_kind kind;
    uint64_t last; /* the newest work that may still use it */
    struct view *next;
};

static struct view *view_of(uint64_t handle, enum object_kind kind)
{
    return object_find((const void *)(uintptr_t)handle, kind);
}

/* ---- Ends ---- */

static bool is_idle(void)
{
    return !device.schedule.pending && !device.schedule.elsewhere;
}

static void free_destroyed(void)
{
    while (device.views_destroyed) {
        struct view *next = device.views_destroyed->next;
        free(device.views_destroyed);
        device.views_destroyed = next;
    }
}

static void retire(struct view *view)
{
    view->kind = view->object.kind;
    object_remove(&view->object);
    if (is_idle()) {
        free(view);
        free_destroyed();
        return;
    }
    view->last = device.schedule.sequence;
    view->next = device.views_destroyed;
    device.views_destroyed = view;
}

static CUresult destroy(uint64_t handle, enum object_kind kind)
{
    struct CUctx_st *context;
    CUresult result = device_enter_failed(&context);
    if (result != CUDA_SUCCESS)
        return result;
    struct view *view = view_of(handle, kind);
    if (!view)
        return device_leave(CUDA_ERROR_INVALID_VALUE);
    retire(view);
    return device_leave(CUDA_SUCCESS);
}

void texture_forget(const struct CUctx_st *context)
{
    struct object *object, *next;
    HASH_ITER(hh, device.objects, object, next)
    {
        if ((object->kind == OBJECT_TEXTURE || object->kind == OBJECT_SURFACE) &&
            ((struct view *)object)->context == context)
            retire((struct view *)object);
    }
}

/* ---- Births ---- */

/* Takes over *view. */
static CUresult keep(const struct view *view, enum object_kind kind, unsigned long long *handle)
{
    struct view *kept = calloc(1, sizeof *kept);
    if (!kept)
        return CUDA_ERROR_OUT_OF_MEMORY;
    if (is_idle())
        free_destroyed();
    *kept = *view;
    object_add(&kept->object, kind);
    *handle = (uintptr_t)kept;
    return CUDA_SUCCESS;
}

CUresult CUDAAPI cuTexObjectCreate(CUtexObject *pTexObject, const CUDA_RESOURCE_DESC *pResDesc,
                                   const CUDA_TEXTURE_DESC *pTexDesc,
                                   const CUDA_RESOURCE_VIEW_DESC *pResViewDesc)
{
    struct CUctx_st *context;
    CUresult result = device_enter_context(&context);
    if (result != CUDA_SUCCESS)
        return result;
    if (!pTexObject || !pResDesc || !pTexDesc)
        return device_leave(CUDA_ERROR_INVALID_VALUE);
    struct view view = {.context = context,
                        .resource = *pResDesc,
                        .how = *pTexDesc,
                        .has_part = pResViewDesc != NULL};
    if (pResViewDesc)
        view.part = *pResViewDesc;
    result = texture_describe(&view.texels, pResDesc, pTexDesc, pResViewDesc);
    return device_leave(result == CUDA_SUCCESS ? keep(&view, OBJECT_TEXTURE, pTexObject) : result);
}

CUresult CUDAAPI cuSurfObjectCreate(CUsurfObject *pSurfObject, const CUDA_RESOURCE_DESC *pResDesc)
{
    struct CUctx_st *context;
    CUresult result = device_enter_context(&context);
    if (result != CUDA_SUCCESS)
        return result;
    if (!pSurfObject || !pResDesc)
        return device_leave(CUDA_ERROR_INVALID_VALUE);
    struct view view = {.context = context, .resource = *pResDesc};
    result = surface_describe(&view.texels, pResDesc);
    return device_leave(result == CUDA_SUCCESS ? keep(&view, OBJECT_SURFACE, pSurfObject) : result);
}

CUresult CUDAAPI cuTexObjectDestroy(CUtexObject texObject)
{
    return destroy(texObject, OBJECT_TEXTURE);
}

CUresult CUDAAPI cuSurfObjectDestroy(CUsurfObject surfObject)
{
    return destroy(surfObject, OBJECT_SURFACE);
}

/* ---- What they are ---- */

#define ASK(name, handle_type, kind, description, member, there)                                   \
    CUresult CUDAAPI name(description *to, handle_type handle)                                     \
    {                                                                                              \
        struct CUctx_st *context;                                                                  \
        CUresult result = device_enter_context(&context);                                          \
        if (result != CUDA_SUCCESS)                                                                \
            return result;                                                                         \
        const struct view *view = view_of(handle, kind);                                           \
        if (!view || !to || !(there))                                                              \
            return device_leave(CUDA_ERROR_INVALID_VALUE);                                         \
        *to = view->member;                                                                        \
        return device_leave(CUDA_SUCCESS);                                                         \
    }
ASK(cuTexObjectGetResourceDesc, CUtexObject, OBJECT_TEXTURE, CUDA_RESOURCE_DESC, resource, true)
ASK(cuTexObjectGetTextureDesc, CUtexObject, OBJECT_TEXTURE, CUDA_TEXTURE_DESC, how, true)
ASK(cuTexObjectGetResourceViewDesc, CUtexObject, OBJECT_TEXTURE, CUDA_RESOURCE_VIEW_DESC, part,
    view->has_part)
ASK(cuSurfObjectGetResourceDesc, CUsurfObject, OBJECT_SURFACE, CUDA_RESOURCE_DESC, resource, true)

/* ---- For kernels ---- */

static const struct exec_texture *find(const struct item *kernel, uint64_t handle,
                                       enum object_kind kind)
{
    const struct view *view = view_of(handle, kind);
    for (const struct view *old = device.views_destroyed; !view && old; old = old->next)
        if ((uintptr_t)old == handle && old->kind == kind && kernel->sequence <= old->last)
            view = old;
    return view ? &view->texels : NULL;
}

const struct exec_texture *texture_find(void *user, uint64_t handle)
{
    return find(user, handle, OBJECT_TEXTURE);
}

const struct exec_texture *surface_find(void *user, uint64_t handle)
{
    return find(user, handle, OBJECT_SURFACE);
}
