/* Images among constants. See image_place.h. */
#include "runtime/hook/kernel/image_place.h"
#include "csan/base/hash.h"

#include <limits.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The segment of a loaded object that holds the address: as by dladdr, without the loader's lock,
 * which another thread may hold while its constructors wait for csan. */
struct holder {
    uintptr_t address;
    bool found, is_writable;
    uint64_t object;
    char *name; /* the caller's; asked for by `named` */
    bool named;
};

/* An object of another name, or with other segments, is another one. */
static uint64_t object_of(const struct dl_phdr_info *object)
{
    const uint64_t name =
        hash_mix_bytes(object->dlpi_addr, object->dlpi_name, strlen(object->dlpi_name));
    return hash_mix_bytes(name, object->dlpi_phdr, object->dlpi_phnum * sizeof *object->dlpi_phdr);
}

static int look_in_object(struct dl_phdr_info *object, size_t size, void *user)
{
    struct holder *holder = user;
    (void)size;
    for (unsigned i = 0; i < object->dlpi_phnum && !holder->found; i++) {
        const ElfW(Phdr) *segment = &object->dlpi_phdr[i];
        holder->found = segment->p_type == PT_LOAD &&
                        holder->address - (object->dlpi_addr + segment->p_vaddr) < segment->p_memsz;
        holder->is_writable = segment->p_flags & PF_W;
    }
    if (holder->found)
        holder->object = object_of(object);
    if (holder->found && holder->named)
        holder->name = strdup(object->dlpi_name);
    return holder->found;
}

/* The executable has no name there. */
static char *executable_name(void)
{
    char path[PATH_MAX];
    const ssize_t length = readlink("/proc/self/exe", path, sizeof path);
    return length > 0 ? strndup(path, (size_t)length) : NULL;
}

/* Whether constants of an object lie there, and of which. */
static bool is_constant(const void *address, uint64_t *object, char **file)
{
    struct holder holder = {.address = (uintptr_t)address, .named = file != NULL};
    dl_iterate_phdr(look_in_object, &holder);
    *object = holder.object;
    if (holder.name && !holder.name[0]) {
        free(holder.name);
        holder.name = executable_name();
    }
    if (file)
        *file = holder.name;
    return holder.found && !holder.is_writable;
}

bool image_place_find(struct image_place *place, const void *image, char **file)
{
    const bool is_wrapper = fatbin_classify(image) == FATBIN_IMAGE_WRAPPER;
    *place = (struct image_place){.image = is_wrapper ? NULL : image};
    if (is_wrapper)
        memcpy(&place->wrapper, image, sizeof place->wrapper);
    return is_constant(is_wrapper ? place->wrapper.data : image, &place->object, file);
}

const void *image_place_image(const struct image_place *place)
{
    uint64_t object;
    const void *lies_at = place->image ? place->image : place->wrapper.data;
    if (!is_constant(lies_at, &object, NULL) || object != place->object)
        return NULL;
    return place->image ? place->image : &place->wrapper;
}
