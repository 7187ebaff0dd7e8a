/* Machine code behind modules and libraries. See image_code.h. */
#include "runtime/hook/image_code.h"
#include "runtime/hook/image_place.h"
#include "runtime/ptx/cubin.h"
#include "runtime/ptx/fatbin.h"
#include "runtime/sass/machine_code.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct image_code {
    int references; /* atomic */
    pthread_mutex_t mutex;
    /* Until it is read: */
    struct image_place place; /* without a copy */
    void *copy;
    size_t bytes;          /* of the copy; 0: not known */
    uint32_t architecture; /* of the device that it was read for; 0: not yet */
    uint32_t best;         /* of what the image has for it, by `rank`; 0: nothing */
    size_t count;
    struct machine_code **cubins; /* as a rule one */
};

static size_t copied; /* bytes of all copies; atomic */

/* ---- Images ---- */

static struct image_code *create(void)
{
    struct image_code *code = calloc(1, sizeof *code);
    if (!code)
        return NULL;
    code->references = 1;
    pthread_mutex_init(&code->mutex, NULL);
    return code;
}

/* Of `copy`, which it takes; what is no machine code is not kept. */
static struct image_code *create_of_copy(void *copy, size_t bytes)
{
    const enum fatbin_image kind = copy ? fatbin_classify(copy) : FATBIN_IMAGE_UNKNOWN;
    const bool has_code = kind == FATBIN_IMAGE_CONTAINER || kind == FATBIN_IMAGE_ELF;
    struct image_code *code = has_code ? create() : NULL;
    if (!code) {
        free(copy);
        return NULL;
    }
    code->copy = copy;
    code->bytes = bytes;
    __atomic_fetch_add(&copied, bytes, __ATOMIC_RELAXED);
    return code;
}

/* Room for so many bytes and a NUL, which ends what may be a text; NULL: there is none. */
static void *copy_room(size_t bytes)
{
    const bool fits =
        bytes && bytes + __atomic_load_n(&copied, __ATOMIC_RELAXED) <= IMAGE_CODE_MOST;
    return fits ? calloc(bytes + 1, 1) : NULL;
}

static void copy_drop(struct image_code *code)
{
    if (code->copy)
        __atomic_fetch_sub(&copied, code->bytes, __ATOMIC_RELAXED);
    free(code->copy);
    code->copy = NULL;
}

/* Then the driver compiles PTX, and what is told of the machine code in the image may not be true
 * of that (CUDA C++ Programming Guide, "CUDA Environment Variables"). */
static bool is_compiled(void)
{
    const char *forced = getenv("CUDA_FORCE_PTX_JIT");
    return forced && strcmp(forced, "0") != 0;
}

struct image_code *image_code_of_data(const void *data)
{
    struct image_place place;
    if (!data || is_compiled())
        return NULL;
    if (image_place_find(&place, data)) {
        struct image_code *code = create();
        if (code)
            code->place = place;
        return code;
    }
    if (fatbin_classify(data) == FATBIN_IMAGE_WRAPPER)
        data = place.wrapper.data;
    const bool is_text = fatbin_classify(data) == FATBIN_IMAGE_PTX;
    const size_t bytes = is_text ? 0 : fatbin_image_bytes(data);
    void *copy = copy_room(bytes);
    return copy ? create_of_copy(memcpy(copy, data, bytes), bytes) : NULL;
}

struct image_code *image_code_of_file(const char *path)
{
    struct stat status;
    void *copy = NULL;
    const int file = path && !is_compiled() ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    if (file < 0)
        return NULL;
    if (fstat(file, &status) == 0 && status.st_size > 8)
        copy = copy_room((size_t)status.st_size);
    if (copy && read(file, copy, (size_t)status.st_size) != status.st_size) {
        free(copy);
        copy = NULL;
    }
    close(file);
    return create_of_copy(copy, copy ? (size_t)status.st_size : 0);
}

struct image_code *image_code_retain(struct image_code *code)
{
    if (code)
        __atomic_fetch_add(&code->references, 1, __ATOMIC_RELAXED);
    return code;
}

void image_code_release(struct image_code *code)
{
    if (!code || __atomic_sub_fetch(&code->references, 1, __ATOMIC_ACQ_REL) > 0)
        return;
    for (size_t i = 0; i < code->count; i++)
        machine_code_free(code->cubins[i]);
    free(code->cubins);
    copy_drop(code);
    pthread_mutex_destroy(&code->mutex);
    free(code);
}

/* ---- Reading ---- */

/* How soon the driver takes it for that device; 0: it does not run there. */
static uint32_t rank(uint32_t device, uint32_t architecture, enum fatbin_scope scope)
{
    const bool runs = scope == FATBIN_ALONE
                          ? architecture == device
                          : architecture / 10 == device / 10 && architecture <= device;
    return runs ? architecture * 4 + (uint32_t)scope + 1 : 0;
}

static void cubin_add(struct image_code *code, const void *cubin, size_t bytes)
{
    struct machine_code **cubins = realloc(code->cubins, (code->count + 1) * sizeof *code->cubins);
    struct machine_code *read = cubins ? machine_code_read(cubin, bytes) : NULL;
    if (cubins)
        code->cubins = cubins;
    if (read)
        code->cubins[code->count++] = read;
}

static bool entry_note(void *user, const struct fatbin_entry *entry)
{
    struct image_code *code = user;
    const uint32_t own = rank(code->architecture, entry->arch, entry->scope);
    if (entry->kind == FATBIN_ELF && own > code->best)
        code->best = own;
    return true;
}

static bool entry_add(void *user, const struct fatbin_entry *entry)
{
    struct image_code *code = user;
    size_t bytes;
    char message[128];
    const uint32_t own = rank(code->architecture, entry->arch, entry->scope);
    void *cubin = entry->kind == FATBIN_ELF && own && own == code->best
                      ? fatbin_unpack(entry, &bytes, message, sizeof message)
                      : NULL;
    if (cubin)
        cubin_add(code, cubin, bytes);
    free(cubin);
    return true;
}

/* What is readable of a damaged one. */
static void container_read(struct image_code *code, const void *container)
{
    char message[128];
    fatbin_entries(container, code->bytes, entry_note, code, message, sizeof message);
    fatbin_entries(container, code->bytes, entry_add, code, message, sizeof message);
}

/* Of -rdc=true, the code is linked in the wrapper's container; its list has the parts. */
static void image_read(struct image_code *code, const void *image)
{
    const struct fatbin_wrapper *wrapper = image;
    size_t bytes = code->bytes;
    switch (fatbin_classify(image)) {
    case FATBIN_IMAGE_WRAPPER:
        container_read(code, wrapper->data);
        break;
    case FATBIN_IMAGE_CONTAINER:
        container_read(code, image);
        break;
    case FATBIN_IMAGE_ELF:
        if (!bytes)
            bytes = fatbin_image_bytes(image);
        if (rank(code->architecture, cubin_architecture(image, bytes), FATBIN_LATER))
            cubin_add(code, image, bytes);
        break;
    default:
        break;
    }
}

/* The only one that has the kernel; the mutex is held. */
static struct machine_code *cubin_of(struct image_code *code, uint32_t architecture,
                                     const char *kernel)
{
    struct machine_code *found = NULL;
    if (!code->architecture) {
        code->architecture = architecture;
        const void *image = code->copy ? code->copy : image_place_image(&code->place);
        if (image)
            image_read(code, image);
        copy_drop(code);
    }
    for (size_t i = 0; i < code->count && code->architecture == architecture; i++) {
        if (!machine_code_has(code->cubins[i], kernel))
            continue;
        if (found)
            return NULL;
        found = code->cubins[i];
    }
    return found;
}

struct reads *image_code_reads(struct image_code *code, uint32_t architecture, const char *kernel,
                               uint32_t words)
{
    pthread_mutex_lock(&code->mutex);
    struct reads *reads = machine_code_reads(cubin_of(code, architecture, kernel), kernel, words);
    pthread_mutex_unlock(&code->mutex);
    return reads;
}

uint32_t image_code_maps(struct image_code *code, uint32_t architecture, const char *kernel,
                         struct map_use *maps)
{
    pthread_mutex_lock(&code->mutex);
    const struct map_uses *found = machine_code_maps(cubin_of(code, architecture, kernel), kernel);
    const uint32_t count = found ? found->count : 0;
    if (count)
        memcpy(maps, found->uses, count * sizeof *maps);
    pthread_mutex_unlock(&code->mutex);
    return count;
}
