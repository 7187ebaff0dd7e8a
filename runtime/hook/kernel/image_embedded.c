/* Images in loaded objects. See image_embedded.h. */
#include "runtime/hook/kernel/image_embedded.h"
#include "runtime/hook/kernel/image.h"
#include "runtime/hook/kernel/image_place.h"
#include "runtime/ptx/elf_file.h"
#include "runtime/ptx/fatbin.h"

#include <fcntl.h>
#include <link.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

struct embedded {
    struct image *image;
    struct embedded *next;
};

/* An object with more units is a library of kernels, whose launches csan sees through the driver.
 */
enum { WRAPPER_LIMIT = 1024 };

static struct {
    struct embedded *embedded;
    uintptr_t *scanned; /* load addresses of the objects looked at */
    size_t scanned_count;
} table;

/* Where section .nvFatBinSegment lies in memory: section headers are not loaded, so they are read
 * from the object's file. */
static bool find_segment(const char *path, uintptr_t base, uintptr_t *begin, size_t *bytes)
{
    bool found = false;
    struct stat status;
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return false;
    if (fstat(file, &status) == 0 && status.st_size > 0) {
        size_t size = (size_t)status.st_size;
        void *map = mmap(NULL, size, PROT_READ, MAP_PRIVATE, file, 0);
        struct elf_file elf;
        struct elf_section section;
        if (map != MAP_FAILED) {
            if (elf_file_open(&elf, map, size, NULL, 0) &&
                elf_file_find(&elf, FATBIN_SEGMENT, 0, &section) && (section.flags & SHF_ALLOC)) {
                *begin = base + section.address;
                *bytes = section.bytes;
                found = true;
            }
            munmap(map, size);
        }
    }
    close(file);
    return found;
}

static bool already_scanned(uintptr_t address)
{
    for (size_t i = 0; i < table.scanned_count; i++)
        if (table.scanned[i] == address)
            return true;
    uintptr_t *more = realloc(table.scanned, (table.scanned_count + 1) * sizeof *more);
    if (!more)
        return true;
    table.scanned = more;
    table.scanned[table.scanned_count++] = address;
    return false;
}

static int scan_object(struct dl_phdr_info *object, size_t size, void *user)
{
    (void)size;
    (void)user;
    uintptr_t begin = 0;
    size_t bytes = 0;
    const char *path =
        object->dlpi_name && *object->dlpi_name ? object->dlpi_name : "/proc/self/exe";
    if (already_scanned(object->dlpi_addr) ||
        !find_segment(path, object->dlpi_addr, &begin, &bytes) ||
        bytes / sizeof(struct fatbin_wrapper) > WRAPPER_LIMIT)
        return 0;
    for (size_t i = 0; i + sizeof(struct fatbin_wrapper) <= bytes;
         i += sizeof(struct fatbin_wrapper)) {
        const struct fatbin_wrapper *wrapper = (const void *)(begin + i);
        if (wrapper->magic != FATBIN_WRAPPER_MAGIC)
            continue;
        struct embedded *embedded = malloc(sizeof *embedded);
        struct image_place place;
        const bool stays = image_place_find(&place, wrapper, NULL);
        struct image *image = embedded ? image_of_data(wrapper, stays ? &place : NULL) : NULL;
        if (!image) {
            free(embedded);
            continue;
        }
        *embedded = (struct embedded){image, table.embedded};
        table.embedded = embedded;
    }
    return 0;
}

static const struct ptx_function *function_of(struct image *image, const char *name,
                                              uint32_t architecture)
{
    if (!image_mentions(image, name))
        return NULL;
    image_set_device(image, architecture);
    return image_function(image, name);
}

const struct ptx_function *image_embedded_function(const char *name, uint32_t architecture,
                                                   bool *foreign)
{
    dl_iterate_phdr(scan_object, NULL);
    for (const struct embedded *each = table.embedded; each; each = each->next) {
        const struct ptx_function *function = function_of(each->image, name, architecture);
        if (!function)
            continue;
        *foreign = image_is_foreign(each->image);
        return function;
    }
    return NULL;
}
