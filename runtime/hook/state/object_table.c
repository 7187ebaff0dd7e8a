/* See object_table.h. */
#include "runtime/hook/state/object_table.h"
#include "csan/base/hash.h"
#include "runtime/hook/state/array_table.h"
#include "runtime/hook/state/tensor_map.h"
#include "csan/base/lock_order.h"
#include "runtime/trace/object_address.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define HASH_NONFATAL_OOM 1
#define HASH_FUNCTION(key, key_bytes, hash)                                                        \
    ((hash) = (unsigned)hash_mix_bytes(0, (key), (key_bytes)))
#include <uthash.h>

/* Tensor maps are never destroyed: beyond so many, one that was not asked for lately goes. */
enum { TENSOR_MAP_LIMIT = 16384 };

struct handle_key {
    uint64_t kind,
        handle; /* enum instruction_access_object: textures and surfaces may share numbers */
};

/* A texture or surface. */
struct object_view {
    struct handle_key key;
    bool array;
    struct object_memory memory;
    UT_hash_handle hh;
};

struct tensor_map {
    uint8_t name[OBJECT_TENSOR_MAP_BYTES];
    bool asked; /* since it was last looked at for eviction */
    struct object_memory memory;
    UT_hash_handle hh;
};

static struct {
    pthread_mutex_t mutex;
    struct object_view *views;
    struct tensor_map *tensor_maps; /* in uthash's order of addition: the oldest first */
    bool has_tensor_maps;
    int layouts[2]; /* enum tensor_map_layout: of the driver's tiled maps, of its im2col ones;
                       atomic */
} table = {.mutex = PTHREAD_MUTEX_INITIALIZER};

_Static_assert(sizeof(CUtensorMap) == OBJECT_TENSOR_MAP_BYTES, "a tensor map is 128 bytes");
_Static_assert(sizeof(struct handle_key) == 16, "a key has no padding");

/* ---- Looking up ---- */

uint32_t object_name_bytes(uint8_t kind)
{
    switch (kind) {
    case INSTRUCTION_ACCESS_OBJECT_TEXTURE:
    case INSTRUCTION_ACCESS_OBJECT_SURFACE:
        return OBJECT_HANDLE_BYTES;
    case INSTRUCTION_ACCESS_OBJECT_TENSOR_MAP:
        return OBJECT_TENSOR_MAP_BYTES;
    default:
        return 0;
    }
}

static struct object_view *view_find(uint8_t kind, uint64_t handle)
{
    struct handle_key key = {kind, handle};
    struct object_view *view = NULL;
    HASH_FIND(hh, table.views, &key, sizeof key, view);
    return view;
}

static struct tensor_map *tensor_map_find(const void *name)
{
    struct tensor_map *map = NULL;
    HASH_FIND(hh, table.tensor_maps, name, OBJECT_TENSOR_MAP_BYTES, map);
    return map;
}

static enum object_answer find_view(uint8_t kind, const void *name, struct object_memory *memory)
{
    uint64_t handle;
    memcpy(&handle, name, sizeof handle);
    struct object_view *view = view_find(kind, handle);
    if (!view)
        return handle ? OBJECT_UNKNOWN : OBJECT_NONE;
    *memory = view->memory;
    return view->array ? OBJECT_ARRAY : OBJECT_MEMORY;
}

static enum object_answer find_tensor_map(const void *name, struct object_memory *memory)
{
    static const uint8_t zeros[OBJECT_TENSOR_MAP_BYTES];
    struct tensor_map *map = tensor_map_find(name);
    if (!map)
        return memcmp(name, zeros, sizeof zeros) == 0 ? OBJECT_NONE : OBJECT_UNKNOWN;
    map->asked = true;
    *memory = map->memory;
    return OBJECT_MEMORY;
}

bool object_has_tensor_maps(void)
{
    return __atomic_load_n(&table.has_tensor_maps, __ATOMIC_RELAXED);
}

enum object_answer object_find(uint8_t kind, const void *name, struct object_memory *memory)
{
    if (object_name_bytes(kind) == 0)
        return OBJECT_UNKNOWN;
    lock_order_take(LOCK_OBJECTS, &table.mutex);
    enum object_answer answer = kind == INSTRUCTION_ACCESS_OBJECT_TENSOR_MAP
                                    ? find_tensor_map(name, memory)
                                    : find_view(kind, name, memory);
    lock_order_give(LOCK_OBJECTS, &table.mutex);
    return answer;
}

/* ---- Shapes ---- */

/* What is outside of the rows so far, repeated. Rows that adjoin are one row. */
static void memory_repeat(struct object_memory *memory, uint64_t stride, uint64_t count)
{
    const uint64_t joined_limit = UINT64_C(1) << 48;
    if (count <= 1)
        return;
    if (memory->dim_count == 0 && stride == memory->bytes && memory->bytes < joined_limit / count)
        memory->bytes *= count;
    else if (memory->dim_count < OBJECT_MAX_DIMS)
        memory->dims[memory->dim_count++] = (struct csan_dim){(int64_t)stride, count};
}

static struct object_memory memory_of_rows(const CUDA_RESOURCE_DESC *resource)
{
    uint64_t texel =
        array_channel_bytes(resource->res.pitch2D.format) * resource->res.pitch2D.numChannels;
    uint64_t pitch = resource->res.pitch2D.pitchInBytes, row = resource->res.pitch2D.width * texel;
    struct object_memory memory = {.base = resource->res.pitch2D.devPtr,
                                   .bytes = row && row <= pitch ? row : pitch};
    memory_repeat(&memory, pitch, resource->res.pitch2D.height);
    return memory;
}

static bool memory_of_array(const void *handle, struct object_memory *memory)
{
    struct array_range range;
    if (!array_find(handle, &range))
        return false;
    memory->base = range.base;
    memory->bytes = range.bytes;
    return true;
}

/* False: there is no memory that csan knows (CUDA Driver API, cuTexObjectCreate). */
static bool memory_of_resource(const CUDA_RESOURCE_DESC *resource, struct object_memory *memory)
{
    *memory = (struct object_memory){0};
    switch (resource->resType) {
    case CU_RESOURCE_TYPE_LINEAR:
        memory->base = resource->res.linear.devPtr;
        memory->bytes = resource->res.linear.sizeInBytes;
        break;
    case CU_RESOURCE_TYPE_PITCH2D:
        *memory = memory_of_rows(resource);
        break;
    case CU_RESOURCE_TYPE_ARRAY:
        if (!memory_of_array(resource->res.array.hArray, memory))
            return false;
        break;
    case CU_RESOURCE_TYPE_MIPMAPPED_ARRAY:
        if (!memory_of_array(resource->res.mipmap.hMipmappedArray, memory))
            return false;
        break;
    default:
        return false;
    }
    if (memory->bytes == 0)
        memory->bytes = CSAN_TO_END;
    return true;
}

/* Elements of fewer than 8 bits are "packed contiguously in the global memory" (PTX ISA 5.5.1.1.1).
 * Of interleaved ones a pixel has 16 or 32 bytes, and the strides are those of rows and slices: so
 * an H200 read them (driver 580, CUDA 13.0; test_device_tensor.c). */
static struct object_memory memory_of_tensor(const struct tensor *tensor)
{
    struct object_memory memory = {.base = tensor->base,
                                   .element_bytes = tensor_element_bytes(tensor->type)};
    memory.bytes = CSAN_TO_END;
    if ((unsigned)tensor->interleave > CU_TENSOR_MAP_INTERLEAVE_32B || !tensor->sizes ||
        !tensor->sizes[0] || tensor->sizes[0] > UINT64_MAX / 128 || tensor->rank == 0 ||
        tensor->rank > OBJECT_MAX_DIMS + 1 || (tensor->rank > 1 && !tensor->strides))
        return memory;
    memory.bytes = tensor->interleave == CU_TENSOR_MAP_INTERLEAVE_NONE
                       ? (tensor->sizes[0] * tensor_element_bits(tensor->type) + 7) / 8
                       : tensor->sizes[0] * 16 * (uint64_t)tensor->interleave;
    for (uint32_t i = 1; i < tensor->rank; i++)
        memory_repeat(&memory, tensor->strides[i - 1], tensor->sizes[i]);
    return memory;
}

/* Threads that ask at once get the same answer. */
static bool layout_is_known(bool im2col)
{
    static void *encode[2];
    int *known = &table.layouts[im2col], answer = __atomic_load_n(known, __ATOMIC_RELAXED);
    if (answer == TENSOR_MAP_LAYOUT_NOT_ASKED) {
        answer =
            im2col
                ? tensor_map_layout_ask_im2col(
                      (PFN_cuTensorMapEncodeIm2col_v12000)driver_function_cached(
                          &encode[1], "cuTensorMapEncodeIm2col"))
                : tensor_map_layout_ask((PFN_cuTensorMapEncodeTiled_v12000)driver_function_cached(
                      &encode[0], "cuTensorMapEncodeTiled"));
        __atomic_store_n(known, answer, __ATOMIC_RELAXED);
    }
    return answer == TENSOR_MAP_LAYOUT_KNOWN;
}

bool object_reads_tensor_maps(void)
{
    return layout_is_known(false) && layout_is_known(true);
}

bool object_read_tensor_map(const void *bytes, struct object_memory *memory)
{
    struct tensor_map_read map;
    if (!layout_is_known(false) || !tensor_map_read(&map, bytes) ||
        (map.is_im2col && !layout_is_known(true)))
        return false;
    *memory = memory_of_tensor(&(struct tensor){.type = map.type,
                                                .rank = map.rank,
                                                .base = map.base,
                                                .sizes = map.sizes,
                                                .strides = map.strides,
                                                .interleave = map.interleave});
    memory->identity = map.identity;
    return true;
}

/* ---- Keeping ---- */

static void view_drop(struct object_view *view)
{
    if (!view)
        return;
    HASH_DEL(table.views, view);
    free(view);
}

uint64_t object_view_description(uint8_t kind, uint64_t handle)
{
    return object_address(kind == INSTRUCTION_ACCESS_OBJECT_SURFACE, handle);
}

void object_view_made(uint8_t kind, uint64_t handle, const CUDA_RESOURCE_DESC *resource)
{
    struct object_view *view = resource ? calloc(1, sizeof *view) : NULL;
    lock_order_take(LOCK_OBJECTS, &table.mutex);
    view_drop(view_find(kind, handle)); /* one whose end was not seen */
    if (view) {
        view->key = (struct handle_key){kind, handle};
        view->array = !memory_of_resource(resource, &view->memory);
        view->memory.description = object_view_description(kind, handle);
        HASH_ADD(hh, table.views, key, sizeof view->key, view);
        if (!view_find(kind, handle))
            free(view);
    }
    lock_order_give(LOCK_OBJECTS, &table.mutex);
}

/* The one that was encoded first of those not asked for since the last round. */
static void tensor_map_evict(void)
{
    size_t passed = HASH_COUNT(table.tensor_maps);
    struct tensor_map *map = table.tensor_maps;
    for (; map && map->asked && passed; passed--) {
        map->asked = false;
        HASH_DEL(table.tensor_maps, map);
        HASH_ADD(hh, table.tensor_maps, name, OBJECT_TENSOR_MAP_BYTES, map);
        map = table.tensor_maps;
    }
    if (!map)
        return;
    HASH_DEL(table.tensor_maps, map);
    free(map);
}

void object_tensor_map_made(const CUtensorMap *name, const struct object_memory *memory)
{
    lock_order_take(LOCK_OBJECTS, &table.mutex);
    struct tensor_map *map = tensor_map_find(name);
    if (!map) {
        if (HASH_COUNT(table.tensor_maps) >= TENSOR_MAP_LIMIT)
            tensor_map_evict();
        map = calloc(1, sizeof *map);
        if (map) {
            memcpy(map->name, name, sizeof map->name);
            HASH_ADD(hh, table.tensor_maps, name, OBJECT_TENSOR_MAP_BYTES, map);
            __atomic_store_n(&table.has_tensor_maps, true, __ATOMIC_RELAXED);
            if (!tensor_map_find(name)) {
                free(map);
                map = NULL;
            }
        }
    }
    if (map)
        map->memory = *memory;
    lock_order_give(LOCK_OBJECTS, &table.mutex);
}

struct object_view *object_view_take_out(uint8_t kind, uint64_t handle)
{
    lock_order_take(LOCK_OBJECTS, &table.mutex);
    struct object_view *view = view_find(kind, handle);
    if (view)
        HASH_DEL(table.views, view);
    lock_order_give(LOCK_OBJECTS, &table.mutex);
    return view;
}

void object_view_destroyed(struct object_view *view, bool gone)
{
    if (!view)
        return;
    if (gone) {
        free(view);
        return;
    }
    lock_order_take(LOCK_OBJECTS, &table.mutex);
    HASH_ADD(hh, table.views, key, sizeof view->key, view);
    if (!view_find((uint8_t)view->key.kind, view->key.handle))
        free(view);
    lock_order_give(LOCK_OBJECTS, &table.mutex);
}

static uint64_t mix_numbers(uint64_t hash, const void *numbers, size_t bytes)
{
    return numbers ? hash_mix_bytes(hash, numbers, bytes) : hash_mix(hash, 0);
}

/* All that decides which bytes of the tensor a copy touches, but where the tensor lies. */
static uint64_t hash_of_encoding(const struct tensor *tensor, const struct object_box *box)
{
    size_t rank = tensor->rank <= OBJECT_MAX_DIMS + 1 ? tensor->rank : 0;
    size_t inner = rank > 2 ? rank - 2 : 0;
    uint64_t hash = hash_mix(hash_mix(tensor->type, tensor->rank), tensor->interleave);
    hash = mix_numbers(hash, tensor->sizes, rank * sizeof *tensor->sizes);
    hash = mix_numbers(hash, tensor->strides, rank ? (rank - 1) * sizeof *tensor->strides : 0);
    hash = mix_numbers(hash, box->sizes, rank * sizeof *box->sizes);
    hash = mix_numbers(hash, box->element_strides, rank * sizeof *box->element_strides);
    hash = mix_numbers(hash, box->lower, inner * sizeof *box->lower);
    hash = mix_numbers(hash, box->upper, inner * sizeof *box->upper);
    return mix_numbers(hash, box->numbers, sizeof box->numbers);
}

struct object_memory object_of_tensor(const struct tensor *tensor, const struct object_box *box)
{
    struct object_memory memory = memory_of_tensor(tensor);
    memory.identity = hash_of_encoding(tensor, box);
    return memory;
}
