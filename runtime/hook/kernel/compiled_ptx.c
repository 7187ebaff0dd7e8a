/* See compiled_ptx.h. */
#include "runtime/hook/kernel/compiled_ptx.h"
#include "csan/base/lock_order.h"
#include "runtime/hook/kernel/identity.h"
#include "runtime/ptx/fatbin.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define HASH_NONFATAL_OOM 1
#include <uthash.h>

struct compiled {
    struct learn_image cubin;
    size_t bytes; /* of the text, without its NUL */
    UT_hash_handle hh;
    char text[];
};

static struct {
    pthread_mutex_t mutex;
    struct compiled *all; /* in the order in which they came */
    size_t bytes;
} kept = {.mutex = PTHREAD_MUTEX_INITIALIZER};

static void drop(struct compiled *compiled)
{
    kept.bytes -= compiled->bytes;
    HASH_DEL(kept.all, compiled);
    free(compiled);
}

static struct compiled *find(const struct learn_image *cubin)
{
    struct compiled *found = NULL;
    HASH_FIND(hh, kept.all, cubin, sizeof *cubin, found);
    return found;
}

/* The head of a hash is the element that was added first. */
static void make_room(size_t bytes)
{
    while (kept.all &&
           (HASH_COUNT(kept.all) >= COMPILED_PTX_TEXTS || kept.bytes + bytes > COMPILED_PTX_BYTES))
        drop(kept.all);
}

static void add(struct compiled *compiled)
{
    struct compiled *former = find(&compiled->cubin);
    if (former)
        drop(former);
    make_room(compiled->bytes);
    HASH_ADD(hh, kept.all, cubin, sizeof compiled->cubin, compiled);
    if (compiled->hh.tbl)
        kept.bytes += compiled->bytes;
    else
        free(compiled);
}

void compiled_ptx_keep(const void *cubin, size_t bytes, const char *ptx, size_t ptx_bytes)
{
    compiled_ptx_keep_image(cubin, bytes, ptx, strnlen(ptx, ptx_bytes));
}

void compiled_ptx_keep_image(const void *cubin, size_t bytes, const void *image, size_t image_bytes)
{
    const struct learn_image identity = identity_of_data(cubin, bytes);
    if (!identity_is_known(identity) || image_bytes > COMPILED_PTX_BYTES)
        return;
    struct compiled *compiled = malloc(sizeof *compiled + image_bytes + 1);
    if (!compiled)
        return;
    memset(compiled, 0, sizeof *compiled);
    compiled->cubin = identity;
    compiled->bytes = image_bytes;
    memcpy(compiled->text, image, compiled->bytes);
    compiled->text[compiled->bytes] = '\0';
    lock_order_take(LOCK_COMPILED_PTX, &kept.mutex);
    add(compiled);
    lock_order_give(LOCK_COMPILED_PTX, &kept.mutex);
}

bool compiled_ptx_is_used(void)
{
    lock_order_take(LOCK_COMPILED_PTX, &kept.mutex);
    const bool used = kept.all != NULL;
    lock_order_give(LOCK_COMPILED_PTX, &kept.mutex);
    return used;
}

char *compiled_ptx_find(const void *cubin, size_t *bytes)
{
    if (!compiled_ptx_is_used() || fatbin_classify(cubin) != FATBIN_IMAGE_ELF)
        return NULL;
    const struct learn_image identity = identity_of_data(cubin, 0);
    char *copy = NULL;
    lock_order_take(LOCK_COMPILED_PTX, &kept.mutex);
    const struct compiled *found = find(&identity);
    if (found && (copy = malloc(found->bytes + 1))) {
        memcpy(copy, found->text, found->bytes + 1);
        *bytes = found->bytes;
    }
    lock_order_give(LOCK_COMPILED_PTX, &kept.mutex);
    return copy;
}
