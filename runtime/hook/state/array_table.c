/* See array_table.h. */
#include "runtime/hook/state/array_table.h"
#include "runtime/hook/state/handle_table.h"
#include "csan/base/lock_order.h"

#include <pthread.h>
#include <stdlib.h>

struct array {
    const void *handle;
    struct array_range range;
    UT_hash_handle hh;
};

/* Addresses of the upper half: those of user space are below. Each range is used once. */
enum { PAGE = 4096 };
static struct {
    pthread_mutex_t mutex;
    struct array *arrays;
    uint64_t next;
} table = {.mutex = PTHREAD_MUTEX_INITIALIZER, .next = UINT64_C(1) << 63};

static struct array *find(const void *handle)
{
    struct array *array = NULL;
    HASH_FIND_PTR(table.arrays, &handle, array);
    return array;
}

bool array_find(const void *handle, struct array_range *range)
{
    lock_order_take(LOCK_ARRAYS, &table.mutex);
    const struct array *array = find(handle);
    if (array)
        *range = array->range;
    lock_order_give(LOCK_ARRAYS, &table.mutex);
    return array != NULL;
}

uint64_t array_channel_bytes(CUarray_format format)
{
    switch (format) {
    case CU_AD_FORMAT_UNSIGNED_INT8:
    case CU_AD_FORMAT_SIGNED_INT8:
        return 1;
    case CU_AD_FORMAT_UNSIGNED_INT16:
    case CU_AD_FORMAT_SIGNED_INT16:
    case CU_AD_FORMAT_HALF:
        return 2;
    case CU_AD_FORMAT_UNSIGNED_INT32:
    case CU_AD_FORMAT_SIGNED_INT32:
    case CU_AD_FORMAT_FLOAT:
        return 4;
    default:
        return 0;
    }
}

static void array_drop(struct array *array)
{
    if (!array)
        return;
    HASH_DEL(table.arrays, array);
    free(array);
}

bool array_made(const void *handle, struct array_range *range)
{
    struct array *array = calloc(1, sizeof *array);
    if (!array)
        return false;
    array->handle = handle;
    array->range = *range;
    lock_order_take(LOCK_ARRAYS, &table.mutex);
    array_drop(find(handle)); /* one whose end was not seen */
    if (!range->base) {
        range->base = array->range.base = table.next;
        table.next += (range->bytes + 2 * PAGE - 1) / PAGE * PAGE;
    }
    HASH_ADD_PTR(table.arrays, handle, array);
    lock_order_give(LOCK_ARRAYS, &table.mutex);
    return true;
}

void array_gone(const void *handle, uint64_t base)
{
    lock_order_take(LOCK_ARRAYS, &table.mutex);
    struct array *array = find(handle);
    if (array && array->range.base == base)
        array_drop(array);
    lock_order_give(LOCK_ARRAYS, &table.mutex);
}

void array_levels_gone(const struct array_range *range)
{
    struct array *array, *next;
    lock_order_take(LOCK_ARRAYS, &table.mutex);
    HASH_ITER(hh, table.arrays, array, next)
    {
        if (array->range.base - range->base < range->bytes)
            array_drop(array);
    }
    lock_order_give(LOCK_ARRAYS, &table.mutex);
}
