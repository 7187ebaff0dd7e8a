/* nvJitLink: the PTX of what it links to machine code. A program takes the cubin and loads that, so
 * the PTX is kept beside it, as NVRTC's is (compiler.c).
 *
 *   PTX, cubins, fat binaries    their texts, as they were added; a unit of machine code alone is
 *                                left out, and so are host objects and libraries
 *   LTO IR (option -lto)         a second link beside the program's own gets the same input and
 *                                option -ptx, so it gives the PTX (nvJitLink documentation,
 * "Options")
 *
 * A link's record goes once its cubin was fetched, or once its handle is another link's. */
#include "csan/base/lock_order.h"
#include "runtime/hook/kernel/compiled_ptx.h"
#include "runtime/hook/library/touch.h"
#include "runtime/ptx/cubin_of_texts.h"
#include "runtime/ptx/fatbin.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define HASH_NONFATAL_OOM 1
#include <uthash.h>

enum { SUCCESS = 0, INPUT_PTX = 2, INPUT_LTOIR = 3, OPTIONS_MAX = 64, NEWEST = 0x7fffffff };

typedef int link_create(void **handle, uint32_t count, const char **options);
typedef int link_destroy(void **handle);
typedef int link_add_data(void *handle, int type, const void *data, size_t bytes, const char *name);
typedef int link_add_file(void *handle, int type, const char *name);
typedef int link_complete(void *handle);
typedef int link_get_size(void *handle, size_t *bytes);
typedef int link_get_text(void *handle, char *text);

struct link {
    void *handle;
    struct library_home *home;
    void *second;          /* the link that gives PTX; or NULL */
    uint32_t architecture; /* 90 of "-arch=sm_90a" */
    struct cubin_unit *units;
    size_t count;
    UT_hash_handle hh;
};

static struct {
    pthread_mutex_t mutex;
    struct link *links;
} linker = {.mutex = PTHREAD_MUTEX_INITIALIZER};

/* ---- Records ---- */

static void link_free(struct link *link)
{
    link_destroy *const destroy =
        link->second ? (link_destroy *)library_ask(link->home, LIBRARY_LINK_DESTROY) : NULL;
    if (destroy)
        destroy(&link->second);
    for (size_t i = 0; i < link->count; i++)
        free((char *)link->units[i].text);
    free(link->units);
    free(link);
}

/* Out of the table, so that no other thread has it. */
static struct link *link_take(void *handle)
{
    struct link *link = NULL;
    lock_order_take(LOCK_LINKER, &linker.mutex);
    HASH_FIND_PTR(linker.links, &handle, link);
    if (link)
        HASH_DEL(linker.links, link);
    lock_order_give(LOCK_LINKER, &linker.mutex);
    return link;
}

static void link_put(struct link *link)
{
    lock_order_take(LOCK_LINKER, &linker.mutex);
    HASH_ADD_PTR(linker.links, handle, link);
    const bool added = link->hh.tbl != NULL;
    lock_order_give(LOCK_LINKER, &linker.mutex);
    if (!added)
        link_free(link);
}

static bool unit_add(struct link *link, const char *text, size_t bytes)
{
    struct cubin_unit *units = realloc(link->units, (link->count + 1) * sizeof *units);
    if (!units)
        return false;
    link->units = units;
    char *copy = malloc(bytes + 1);
    if (!copy)
        return false;
    memcpy(copy, text, bytes);
    copy[bytes] = '\0';
    units[link->count].text = copy;
    units[link->count++].bytes = bytes;
    return true;
}

/* ---- Options ---- */

static bool option_is(const char *option, const char *name)
{
    option += strspn(option, "-");
    const size_t length = strlen(name);
    return strncmp(option, name, length) == 0 && (!option[length] || option[length] == '=');
}

static bool has_option(const char *const *options, uint32_t count, const char *name)
{
    for (uint32_t i = 0; i < count; i++)
        if (options[i] && option_is(options[i], name))
            return true;
    return false;
}

static uint32_t architecture_of(const char *const *options, uint32_t count)
{
    unsigned architecture = NEWEST;
    for (uint32_t i = 0; i < count; i++) {
        const char *value =
            options[i] && option_is(options[i], "arch") ? strchr(options[i], '_') : NULL;
        if (value)
            architecture = (unsigned)strtoul(value + 1, NULL, 10);
    }
    return architecture;
}

static void *second_link(struct library_home *home, const char *const *options, uint32_t count)
{
    const char *all[OPTIONS_MAX + 1];
    link_create *const create = (link_create *)library_ask(home, LIBRARY_LINK_CREATE);
    void *handle = NULL;
    if (!create || count > OPTIONS_MAX)
        return NULL;
    for (uint32_t i = 0; i < count; i++)
        all[i] = options[i];
    all[count] = "-ptx";
    return create(&handle, count + 1, all) == SUCCESS ? handle : NULL;
}

/* nvJitLinkCreate(handle, numOptions, options) */
void linker_created(struct touch *call, int result)
{
    void *const *const handle = (void *const *)touch_argument_pointer(call, 0);
    const uint32_t count = (uint32_t)touch_argument_integer(call, 1);
    const char *const *const options = (const char *const *)touch_argument_pointer(call, 2);
    if (result != SUCCESS || !handle || !*handle)
        return;
    struct link *former = link_take(*handle), *link = calloc(1, sizeof *link);
    if (former)
        link_free(former);
    if (!link)
        return;
    link->handle = *handle;
    link->home = call->home;
    link->architecture = architecture_of(options, count);
    if (has_option(options, count, "lto") && !has_option(options, count, "ptx"))
        link->second = second_link(call->home, options, count);
    link_put(link);
}

/* ---- Inputs ---- */

/* Texts of a unit come newest architecture first. */
static void add_texts(struct link *link, const struct fatbin_text *texts, size_t count)
{
    const struct fatbin_text *best = NULL;
    for (size_t i = 0; i < count; i++) {
        const bool last = i + 1 == count || texts[i + 1].unit != texts[i].unit;
        if (!best || best->unit != texts[i].unit || best->arch > link->architecture)
            best = &texts[i];
        if (last && best)
            unit_add(link, best->text, best->bytes);
    }
}

/* `data` ends in a NUL behind its `bytes`. */
static void add_image(struct link *link, const char *data, size_t bytes)
{
    struct fatbin_text *texts = NULL;
    size_t count = 0, text_bytes;
    char message[256];
    const enum fatbin_image kind = fatbin_classify(data);
    if (kind == FATBIN_IMAGE_UNKNOWN || kind == FATBIN_IMAGE_WRAPPER) /* which has pointers */
        return;
    fatbin_texts(data, kind == FATBIN_IMAGE_PTX ? 0 : bytes, &texts, &count, message,
                 sizeof message);
    char *compiled =
        !count && kind == FATBIN_IMAGE_ELF ? compiled_ptx_find(data, &text_bytes) : NULL;
    if (compiled)
        fatbin_texts(compiled, 0, &texts, &count, message, sizeof message);
    add_texts(link, texts, count);
    fatbin_texts_release(texts, count);
    free(compiled);
}

static void add_copy(struct link *link, const void *data, size_t bytes)
{
    char *copy = malloc(bytes + 8);
    if (copy) {
        memcpy(copy, data, bytes);
        memset(copy + bytes, 0, 8);
        add_image(link, copy, bytes);
    }
    free(copy);
}

/* nvJitLinkAddData(handle, inputType, data, size, name) */
void linker_added_data(struct touch *call, int result)
{
    struct link *link =
        result == SUCCESS ? link_take((void *)touch_argument_pointer(call, 0)) : NULL;
    const int type = (int)touch_argument_integer(call, 1);
    const void *const data = (const void *)touch_argument_pointer(call, 2);
    const size_t bytes = (size_t)touch_argument_long(call, 3);
    link_add_data *const add = link && link->second
                                   ? (link_add_data *)library_ask(call->home, LIBRARY_LINK_ADD_DATA)
                                   : NULL;
    if (!link)
        return;
    if (add)
        add(link->second, type, data, bytes, (const char *)touch_argument_pointer(call, 4));
    else if (data && type != INPUT_LTOIR)
        add_copy(link, data, bytes);
    link_put(link);
}

static void add_contents(struct link *link, const char *path)
{
    struct stat status;
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file >= 0 && fstat(file, &status) == 0 && status.st_size > 0) {
        char *data = malloc((size_t)status.st_size);
        if (data && read(file, data, (size_t)status.st_size) == status.st_size)
            add_copy(link, data, (size_t)status.st_size);
        free(data);
    }
    if (file >= 0)
        close(file);
}

/* nvJitLinkAddFile(handle, inputType, fileName) */
void linker_added_file(struct touch *call, int result)
{
    struct link *link =
        result == SUCCESS ? link_take((void *)touch_argument_pointer(call, 0)) : NULL;
    const int type = (int)touch_argument_integer(call, 1);
    const char *const path = (const char *)touch_argument_pointer(call, 2);
    link_add_file *const add = link && link->second
                                   ? (link_add_file *)library_ask(call->home, LIBRARY_LINK_ADD_FILE)
                                   : NULL;
    if (!link)
        return;
    if (add)
        add(link->second, type, path);
    else if (path && type != INPUT_LTOIR)
        add_contents(link, path);
    link_put(link);
}

/* ---- The result ---- */

static void keep_second(const struct link *link, const void *cubin, size_t cubin_bytes)
{
    link_complete *const complete = (link_complete *)library_ask(link->home, LIBRARY_LINK_COMPLETE);
    link_get_size *const size = (link_get_size *)library_ask(link->home, LIBRARY_LINK_PTX_BYTES);
    link_get_text *const ptx = (link_get_text *)library_ask(link->home, LIBRARY_LINK_PTX);
    size_t bytes = 0;
    if (!complete || !size || !ptx || complete(link->second) != SUCCESS ||
        size(link->second, &bytes) != SUCCESS || !bytes || bytes > COMPILED_PTX_BYTES)
        return;
    char *text = malloc(bytes + 1);
    if (text && ptx(link->second, text) == SUCCESS)
        compiled_ptx_keep(cubin, cubin_bytes, text, bytes);
    free(text);
}

static void keep_units(const struct link *link, const void *cubin, size_t cubin_bytes)
{
    size_t bytes;
    void *image = link->count > 1 ? cubin_of_texts(link->units, link->count, &bytes) : NULL;
    if (image)
        compiled_ptx_keep_image(cubin, cubin_bytes, image, bytes);
    else if (link->count == 1)
        compiled_ptx_keep(cubin, cubin_bytes, link->units[0].text, link->units[0].bytes);
    free(image);
}

/* nvJitLinkGetLinkedCubin(handle, cubin) */
void linker_cubin(struct touch *call, int result)
{
    void *const handle = (void *)touch_argument_pointer(call, 0);
    const void *const cubin = (const void *)touch_argument_pointer(call, 1);
    link_get_size *const size = (link_get_size *)library_ask(call->home, LIBRARY_LINK_CUBIN_BYTES);
    size_t bytes = 0;
    struct link *link = result == SUCCESS ? link_take(handle) : NULL;
    if (!link)
        return;
    if (size && size(handle, &bytes) == SUCCESS && bytes && link->second)
        keep_second(link, cubin, bytes);
    else if (bytes)
        keep_units(link, cubin, bytes);
    link_free(link);
}
