/* The PTX behind modules and libraries. See image.h. */
#include "runtime/hook/kernel/image.h"
#include "runtime/hook/kernel/compiled_ptx.h"
#include "runtime/hook/kernel/image_place.h"
#include "runtime/ptx/lexer.h"
#include "runtime/ptx/ptx.h"
#include "runtime/ptx/units.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PROBLEM_BYTES = 300 };

/* One kernel that was asked for, without the others. */
struct image_kernel {
    struct ptx_module *module;
    struct image_kernel *next;
};

struct image {
    int references;
    bool is_packed; /* at `place`; else texts are filled */
    struct image_place place;
    struct fatbin_text *texts;
    size_t text_count;
    bool is_choice; /* a fat binary: the driver chooses; a cubin or PTX is what runs */
    struct fatbin_machine_code code;
    uint32_t device; /* its architecture; 0: the newest text is read */
    bool foreign;
    bool opened;
    struct outline *outline; /* of the first text, where that is all there is to read; or NULL */
    struct image_kernel *kernels;
    size_t read;                 /* bytes, for those */
    bool parsed;                 /* as a whole */
    struct ptx_module *module;   /* all units linked; NULL: no usable PTX */
    char problem[PROBLEM_BYTES]; /* the first that reading it as a whole met; "" */
    char why[PROBLEM_BYTES];     /* the kernel that was asked for last cannot be read alone; "" */
};

/* Damaged images are the driver's to refuse; what is readable is used. */
static void texts_read(struct image *image, const void *data, size_t limit)
{
    char message[256];
    fatbin_texts(data, limit, &image->texts, &image->text_count, message, sizeof message);
    if (!image->text_count)
        image->texts = NULL;
}

/* Of a cubin that a compiler in this process made. */
static void read_compiled(struct image *image, const void *cubin)
{
    size_t bytes;
    char *text = compiled_ptx_find(cubin, &bytes);
    if (text)
        texts_read(image, text, 0);
    free(text);
}

static void image_read_texts(struct image *image, const void *data, size_t limit)
{
    texts_read(image, data, limit);
    const enum fatbin_image kind = fatbin_classify(data);
    if (!image->text_count && kind == FATBIN_IMAGE_ELF)
        read_compiled(image, data);
    image->is_choice = kind == FATBIN_IMAGE_WRAPPER || kind == FATBIN_IMAGE_CONTAINER;
    image->code = fatbin_machine_code(data, limit);
}

struct image *image_of_data(const void *data, const struct image_place *place)
{
    struct image *image = data ? calloc(1, sizeof *image) : NULL;
    if (!image)
        return NULL;
    image->references = 1;
    enum fatbin_image kind = fatbin_classify(data);
    image->is_packed = place && (kind == FATBIN_IMAGE_WRAPPER || kind == FATBIN_IMAGE_CONTAINER);
    if (image->is_packed)
        image->place = *place;
    if (!image->is_packed && kind != FATBIN_IMAGE_UNKNOWN)
        image_read_texts(image, data, 0);
    if (!image->is_packed && !image->text_count) {
        free(image);
        return NULL;
    }
    return image;
}

struct image *image_of_file(const char *path)
{
    struct stat status;
    struct image *image = NULL;
    int file = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    if (file < 0)
        return NULL;
    if (fstat(file, &status) == 0 && status.st_size > 8) {
        /* One byte more than the file, so that PTX text always ends in a NUL. */
        size_t bytes = (size_t)status.st_size;
        char *copy = malloc(bytes + 1);
        if (copy && read(file, copy, bytes) == (ssize_t)bytes &&
            fatbin_classify(copy) != FATBIN_IMAGE_WRAPPER) { /* which is for memory alone */
            copy[bytes] = '\0';
            image = calloc(1, sizeof *image);
            if (image)
                image_read_texts(image, copy, bytes);
            if (image && !image->text_count) {
                free(image);
                image = NULL;
            }
            if (image)
                image->references = 1;
        }
        free(copy);
    }
    close(file);
    return image;
}

struct image *image_of_text(const char *text, size_t bytes)
{
    struct image *image = calloc(1, sizeof *image);
    char *copy = malloc(bytes + 1);
    if (image && copy) {
        memcpy(copy, text, bytes);
        copy[bytes] = '\0';
        image->references = 1;
        if (fatbin_classify(copy) == FATBIN_IMAGE_PTX)
            image_read_texts(image, copy, 0);
    }
    free(copy);
    if (!image || image->text_count)
        return image;
    free(image);
    return NULL;
}

struct image *image_retain(struct image *image)
{
    if (image)
        __atomic_fetch_add(&image->references, 1, __ATOMIC_RELAXED);
    return image;
}

static void texts_drop(struct image *image)
{
    if (image->texts)
        fatbin_texts_release(image->texts, image->text_count);
    image->texts = NULL;
    image->text_count = 0;
    free(image->outline);
    image->outline = NULL;
}

void image_release(struct image *image)
{
    if (!image || __atomic_sub_fetch(&image->references, 1, __ATOMIC_ACQ_REL) > 0)
        return;
    texts_drop(image);
    while (image->kernels) {
        struct image_kernel *kernel = image->kernels;
        image->kernels = kernel->next;
        ptx_module_release(kernel->module);
        free(kernel);
    }
    ptx_module_release(image->module);
    free(image);
}

/* The object may have been closed since: the driver keeps a copy of its own. */
static void image_unpack(struct image *image)
{
    const void *data = image->is_packed ? image_place_image(&image->place) : NULL;
    if (data)
        image_read_texts(image, data, 0);
    image->is_packed = false;
}

static void unit_failed(void *user, const struct fatbin_text *text, const struct ptx_error *error)
{
    struct image *image = user;
    if (image->problem[0])
        return;
    snprintf(image->problem, sizeof image->problem, "%s%s",
             text ? "" : "its units cannot be linked: ", error->message);
}

static bool is_one_unit(const struct image *image)
{
    for (size_t i = 1; i < image->text_count; i++)
        if (units_reads(image->texts, i))
            return false;
    return image->text_count > 0;
}

static void image_open(struct image *image)
{
    image->opened = true;
    image_unpack(image);
    if (image->device && image->is_choice)
        image->foreign =
            !units_choose(image->texts, image->text_count, &image->code, image->device);
    if (!image->texts || !is_one_unit(image))
        return;
    image->outline = outline_read(image->texts[0].text, image->texts[0].bytes);
    if (!image->outline)
        return;
    for (size_t i = 1; i < image->text_count; i++) /* for other architectures */
        free(image->texts[i].text);
    image->text_count = 1;
}

/* The texts stay where that fails, for kernels by themselves. */
static void image_parse(struct image *image)
{
    image->parsed = true;
    if (image->text_count)
        image->module = units_link(image->texts, image->text_count, unit_failed, image);
    if (image->module || !image->outline)
        texts_drop(image);
}

static const struct ptx_function *defined_kernel(const struct ptx_module *module, const char *name)
{
    const struct ptx_function *function = module ? ptx_module_function(module, name) : NULL;
    return function && function->is_entry && !function->is_prototype ? function : NULL;
}

/* A library's module may have hundreds of kernels, of which a program launches a few. NULL: it
 * cannot be read without the others, or as much was read for kernels by now as all of them are. */
static const struct ptx_function *kernel_function(struct image *image, const char *name,
                                                  size_t index)
{
    const struct fatbin_text *text = &image->texts[0];
    const struct lexer_gap *own = &image->outline->kernels[index].text;
    struct ptx_error error;
    for (const struct image_kernel *kernel = image->kernels; kernel; kernel = kernel->next) {
        const struct ptx_function *function = defined_kernel(kernel->module, name);
        if (function)
            return function;
    }
    image->read += image->outline->outside + (size_t)(own->end - own->begin);
    if (image->read > text->bytes && !image->parsed)
        return NULL;
    struct image_kernel *kernel = malloc(sizeof *kernel);
    if (!kernel)
        return NULL;
    kernel->module = ptx_parse_kernel(text->text, text->bytes, image->outline, index, &error);
    if (!kernel->module) {
        snprintf(image->why, sizeof image->why, "%s", error.message);
        free(kernel);
        return NULL;
    }
    kernel->next = image->kernels;
    image->kernels = kernel;
    return defined_kernel(kernel->module, name);
}

/* The first place where it stands as a word of its own, for whatever reason; NULL: nowhere. */
static const char *word_find(const char *begin, const char *end, const char *name)
{
    const size_t length = strlen(name);
    const char *at = begin;
    while (length && (at = memmem(at, (size_t)(end - at), name, length))) {
        if ((at == begin || !lexer_is_word(at[-1])) &&
            (at + length == end || !lexer_is_word(at[length])))
            return at;
        at++;
    }
    return NULL;
}

static bool text_names(const struct fatbin_text *text, const char *name)
{
    return word_find(text->text, text->text + text->bytes, name) != NULL;
}

static const struct ptx_function *image_find(struct image *image, const char *name)
{
    image->why[0] = '\0';
    if (!image->opened)
        image_open(image);
    if (image->outline) {
        const size_t index = outline_find(image->outline, name);
        const bool is_there =
            index < image->outline->count || (image->texts && text_names(&image->texts[0], name));
        if (!is_there)
            return NULL;
        const struct ptx_function *function =
            index < image->outline->count ? kernel_function(image, name, index) : NULL;
        if (function)
            return function;
    }
    if (!image->parsed)
        image_parse(image);
    return defined_kernel(image->module, name);
}

void image_set_device(struct image *image, uint32_t architecture)
{
    if (image && !image->device && !image->opened)
        image->device = architecture;
}

bool image_is_foreign(const struct image *image)
{
    return image && image->foreign;
}

const struct ptx_function *image_function(struct image *image, const char *name)
{
    return image ? image_find(image, name) : NULL;
}

const char *image_problem(const struct image *image)
{
    return image->problem[0] && image->why[0] ? image->why : image->problem;
}

static bool says(const char *begin, const char *end, const char *word)
{
    const size_t length = strlen(word);
    return memmem(begin, (size_t)(end - begin), word, length) != NULL;
}

/* A variable is declared before it is used (PTX ISA, "State Spaces, Types, and Variables"), in a
 * statement of its own: ".visible .const .align 4 .b8 taps[64];". */
static enum image_variable stretch_variable(const char *from, const char *end, const char *name)
{
    const char *at = word_find(from, end, name), *begin = at;
    while (at && begin > from && !strchr(";{}", begin[-1]))
        begin--;
    if (at && says(begin, at, ".const"))
        return IMAGE_VARIABLE_CONSTANT;
    if (at && says(begin, at, ".global"))
        return says(begin, at, ".managed") ? IMAGE_VARIABLE_MANAGED : IMAGE_VARIABLE_DEVICE;
    return IMAGE_VARIABLE_UNKNOWN;
}

/* Outside of the kernels, which are most of a library's text. */
static enum image_variable outside_variable(const struct image *image, const char *name)
{
    const struct outline *outline = image->outline;
    const char *at = image->texts[0].text, *end = at + image->texts[0].bytes;
    enum image_variable found = IMAGE_VARIABLE_UNKNOWN;
    for (size_t i = 0; i < outline->count && !found; i++) {
        found = stretch_variable(at, outline->kernels[i].text.begin, name);
        at = outline->kernels[i].text.end;
    }
    return found ? found : stretch_variable(at, end, name);
}

static enum image_variable text_variable(const struct image *image, const char *name)
{
    enum image_variable found = IMAGE_VARIABLE_UNKNOWN;
    if (image->outline)
        return outside_variable(image, name);
    for (size_t i = 0; i < image->text_count && !found; i++)
        found = stretch_variable(image->texts[i].text, image->texts[i].text + image->texts[i].bytes,
                                 name);
    return found;
}

enum image_variable image_variable(struct image *image, const char *name)
{
    if (!image)
        return IMAGE_VARIABLE_UNKNOWN;
    if (!image->opened)
        image_open(image);
    const struct ptx_variable *variable =
        image->module ? ptx_module_variable(image->module, name) : NULL;
    if (variable && variable->space == PTX_SPACE_CONST)
        return IMAGE_VARIABLE_CONSTANT;
    if (variable)
        return variable->managed ? IMAGE_VARIABLE_MANAGED : IMAGE_VARIABLE_DEVICE;
    return text_variable(image, name);
}

bool image_mentions(struct image *image, const char *name)
{
    image_unpack(image);
    if (image->outline && outline_find(image->outline, name) < image->outline->count)
        return true;
    for (size_t i = 0; i < image->text_count; i++)
        if (text_names(&image->texts[i], name))
            return true;
    return image->module != NULL;
}
