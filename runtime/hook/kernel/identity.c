/* Identities of images. See identity.h. */
#include "runtime/hook/kernel/identity.h"
#include "csan/base/hash.h"
#include "csan/stack/module_map.h"
#include "runtime/hook/kernel/image_place.h"
#include "runtime/ptx/fatbin.h"
#include "csan/base/lock_order.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* Larger images in constants of loaded objects are identified by build id. */
#define READ_LIMIT (UINT64_C(8) << 20)

static struct {
    pthread_mutex_t mutex;
    struct module_map modules;
} table = {.mutex = PTHREAD_MUTEX_INITIALIZER};

/* ---- Hashing ---- */

struct hashing {
    struct learn_image image;
    uint64_t bytes;
    bool counts; /* only sums up bytes */
};

static void hash_add(struct hashing *hashing, const void *bytes, size_t count)
{
    hashing->bytes += count;
    if (hashing->counts)
        return;
    hashing->image.words[0] = hash_mix_bytes(hashing->image.words[0], bytes, count);
    hashing->image.words[1] = hash_mix(hashing->image.words[1], hashing->image.words[0]);
}

static bool hash_entry(void *user, const struct fatbin_entry *entry)
{
    struct hashing *hashing = user;
    uint32_t form[2] = {(uint32_t)entry->kind, entry->arch};
    hash_add(hashing, form, sizeof form);
    hash_add(hashing, entry->payload, entry->payload_bytes);
    return true;
}

/* The image's own bytes. */
static void hash_image(struct hashing *hashing, const void *data, size_t limit)
{
    const struct fatbin_wrapper *wrapper = data;
    char message[128];
    switch (fatbin_classify(data)) {
    case FATBIN_IMAGE_WRAPPER:
        fatbin_entries(wrapper->data, 0, hash_entry, hashing, message, sizeof message);
        for (const void *const *part = wrapper->version == 2 ? wrapper->list : NULL; part && *part;
             part++)
            fatbin_entries(*part, 0, hash_entry, hashing, message, sizeof message);
        break;
    case FATBIN_IMAGE_CONTAINER:
        fatbin_entries(data, limit, hash_entry, hashing, message, sizeof message);
        break;
    case FATBIN_IMAGE_ELF:
        hash_add(hashing, data, limit ? limit : fatbin_image_bytes(data));
        break;
    case FATBIN_IMAGE_PTX:
        hash_add(hashing, data, limit ? strnlen(data, limit) : fatbin_image_bytes(data));
        break;
    default:
        break;
    }
}

/* ---- Loaded objects ---- */

/* The address of the bytes: a wrapper may be in another section, of the same object. */
static const void *bytes_of(const void *data)
{
    const struct fatbin_wrapper *wrapper = data;
    return fatbin_classify(data) == FATBIN_IMAGE_WRAPPER && wrapper->data ? wrapper->data : data;
}

static bool hash_build_id(struct hashing *hashing, const void *data)
{
    struct image_place constants;
    uint64_t address = (uintptr_t)bytes_of(data);
    lock_order_take(LOCK_IDENTITY, &table.mutex);
    module_map_update(&table.modules);
    const struct module *module = module_map_find(&table.modules, address);
    bool found =
        module && module->build_id_bytes && image_place_find(&constants, bytes_of(data), NULL);
    if (found) {
        uint64_t place = address - module->start;
        hash_add(hashing, module->build_id, module->build_id_bytes);
        hash_add(hashing, &place, sizeof place);
    }
    lock_order_give(LOCK_IDENTITY, &table.mutex);
    return found;
}

/* ---- Identities ---- */

struct learn_image identity_of_data(const void *data, size_t limit)
{
    struct hashing size = {.counts = true}, hashing = {0};
    if (!data)
        return hashing.image;
    hash_image(&size, data, limit);
    if (!size.bytes)
        return hashing.image;
    if (limit || size.bytes <= READ_LIMIT || !hash_build_id(&hashing, data))
        hash_image(&hashing, data, limit);
    return hashing.image;
}

struct learn_image identity_of_file(const char *path)
{
    struct learn_image image = {{0}};
    struct stat status;
    int file = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    if (file < 0)
        return image;
    if (fstat(file, &status) == 0 && status.st_size > 8) {
        void *data = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, file, 0);
        if (data != MAP_FAILED && fatbin_classify(data) == FATBIN_IMAGE_WRAPPER) {
            munmap(data, (size_t)status.st_size); /* which is for memory alone */
        } else if (data != MAP_FAILED) {
            image = identity_of_data(data, (size_t)status.st_size);
            munmap(data, (size_t)status.st_size);
        }
    }
    close(file);
    return image;
}

struct learn_image identity_on_device(struct learn_image image, const char *source, int major,
                                      int minor)
{
    if (!identity_is_known(image))
        return image;
    for (int i = 0; i < 2; i++)
        image.words[i] = hash_mix(hash_mix_bytes(image.words[i], source, strlen(source)),
                                  (uint64_t)(uint32_t)major << 32 | (uint32_t)minor);
    return image;
}
