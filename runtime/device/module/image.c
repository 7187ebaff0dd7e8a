/* Turns the image of cuModuleLoadData and its kin into IR: finds the PTX in it, chooses for every
 * unit the text that suits the device best, parses and links. Called by module.c and library.c,
 * without the device's lock: parsing takes time and touches no state. link.c, whose calls are few,
 * keeps it. */
#include "runtime/device/module/image.h"
#include "runtime/device/module/machine_code.h"
#include "runtime/device/module/text_source.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The PTX version is that of CUDA 13.5, as which the driver presents itself (DRIVER_VERSION). */
enum { DEVICE_ARCHITECTURE = 90, PTX_VERSION_MAJOR = 9, PTX_VERSION_MINOR = 5, MESSAGE = 512 };

void image_log_options(struct image_log *log, unsigned count, CUjit_option *options, void **values)
{
    *log = (struct image_log){0};
    for (unsigned i = 0; options && values && i < count; i++) {
        switch (options[i]) {
        case CU_JIT_ERROR_LOG_BUFFER:
            log->error = values[i];
            break;
        case CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES:
            log->error_bytes = (size_t)values[i];
            log->error_bytes_option = &values[i];
            break;
        case CU_JIT_INFO_LOG_BUFFER:
            log->info = values[i];
            break;
        case CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES:
            log->info_bytes = (size_t)values[i];
            log->info_bytes_option = &values[i];
            break;
        default: /* options for a compiler's optimizations: there is none */
            break;
        }
    }
}

/* "Amount of log buffer filled with messages" goes to the size option. */
static void log_finish(struct image_log *log, const char *error)
{
    size_t written = 0;
    if (log->error && log->error_bytes) {
        snprintf(log->error, log->error_bytes, "%s", error);
        written = strlen(log->error);
    }
    if (log->error_bytes_option)
        *log->error_bytes_option = (void *)(error[0] ? written + 1 : 0);
    if (log->info && log->info_bytes)
        log->info[0] = 0;
    if (log->info_bytes_option)
        *log->info_bytes_option = NULL;
}

static struct ptx_module *fail(struct image_log *log, CUresult *result, CUresult code,
                               const char *format, ...) __attribute__((format(printf, 4, 5)));

static struct ptx_module *fail(struct image_log *log, CUresult *result, CUresult code,
                               const char *format, ...)
{
    char message[MESSAGE];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    if (!log->error || !log->error_bytes)
        device_say("%s", message);
    log_finish(log, message);
    *result = code;
    return NULL;
}

/* ---- the texts of an image */

static device_text_source *text_source; /* atomic */

__attribute__((visibility("default"))) void device_text_source_set(device_text_source *source)
{
    __atomic_store_n(&text_source, source, __ATOMIC_RELEASE);
}

/* As fatbin_texts; of machine code without PTX the text that its compiler had. */
static int texts_of(const void *image, struct fatbin_text **texts, size_t *count, char *message,
                    size_t message_bytes)
{
    device_text_source *const source = __atomic_load_n(&text_source, __ATOMIC_ACQUIRE);
    size_t bytes;
    const int status = fatbin_texts(image, 0, texts, count, message, message_bytes);
    char *text = status == 0 && source && fatbin_classify(image) == FATBIN_IMAGE_ELF
                     ? source(image, &bytes)
                     : NULL;
    if (!text)
        return status;
    const int found = fatbin_texts(text, 0, texts, count, message, message_bytes);
    free(text);
    return found;
}

/* Texts come newest architecture first. The best is the newest the device is not older than, as the
 * driver chooses; where all are newer, the oldest: the device runs the instructions it knows. */
static const struct fatbin_text *best_text(const struct fatbin_text *texts, size_t count,
                                           uint32_t unit)
{
    const struct fatbin_text *oldest = NULL;
    for (size_t i = 0; i < count; i++) {
        if (texts[i].unit != unit)
            continue;
        if (texts[i].arch <= DEVICE_ARCHITECTURE)
            return &texts[i];
        oldest = &texts[i];
    }
    return oldest;
}

/* "CUDA_ERROR_UNSUPPORTED_PTX_VERSION: the provided PTX was compiled with an unsupported
 * toolchain." A driver says so of PTX text, which it must compile, of a newer minor version; of a
 * fat binary or a cubin it runs the machine code, which newer toolkits of its major version may
 * have made (CUDA Compatibility, "Minor Version Compatibility"). Here the PTX beside that is run.
 */
static bool is_too_new(const struct fatbin_text *text, bool alone)
{
    unsigned major, minor;
    const char *directive = strstr(text->text, ".version");
    return directive && sscanf(directive, ".version %u.%u", &major, &minor) == 2 &&
           (major > PTX_VERSION_MAJOR ||
            (alone && major == PTX_VERSION_MAJOR && minor > PTX_VERSION_MINOR));
}

/* `alone`: the image is this text. */
static struct ptx_module *parse_text(const struct fatbin_text *text, bool alone,
                                     struct image_log *log, CUresult *result)
{
    struct ptx_error error = {0};
    if (is_too_new(text, alone))
        return fail(log, result, CUDA_ERROR_UNSUPPORTED_PTX_VERSION,
                    "the PTX is of a version newer than %d.%d: compile with an older toolkit",
                    PTX_VERSION_MAJOR, PTX_VERSION_MINOR);
    struct ptx_module *module = ptx_parse(text->text, text->bytes, &error);
    if (!module)
        return fail(log, result, CUDA_ERROR_INVALID_PTX, "PTX line %u: %s", error.line,
                    error.message);
    return module;
}

static struct ptx_module *link_units(struct ptx_module **units, size_t count, struct image_log *log,
                                     CUresult *result)
{
    struct ptx_error error = {0};
    if (count == 1)
        return units[0];
    struct ptx_module *linked = ptx_link_taking(units, count, &error);
    if (!linked)
        return fail(log, result, CUDA_ERROR_INVALID_PTX, "cannot link the PTX of %zu units: %s",
                    count, error.message);
    return linked;
}

static struct ptx_module *load_texts(const struct fatbin_text *texts, size_t count, bool alone,
                                     struct image_log *log, CUresult *result)
{
    struct ptx_module **units = calloc(count, sizeof *units);
    size_t unit_count = 0;
    if (!units)
        return fail(log, result, CUDA_ERROR_OUT_OF_MEMORY, "out of memory for %zu units", count);
    for (uint32_t unit = 0; unit < count; unit++) {
        const struct fatbin_text *text = best_text(texts, count, unit);
        if (!text)
            continue;
        units[unit_count] = parse_text(text, alone, log, result);
        if (!units[unit_count]) {
            while (unit_count)
                ptx_module_release(units[--unit_count]);
            free(units);
            return NULL;
        }
        unit_count++;
    }
    struct ptx_module *module =
        unit_count ? link_units(units, unit_count, log, result)
                   : fail(log, result, CUDA_ERROR_INVALID_IMAGE, "the image names no PTX unit");
    free(units);
    return module;
}

/* An image without PTX, as the program's run wants it taken. */
static struct ptx_module *load_machine_code(const void *image, struct image_log *log,
                                            CUresult *result)
{
    static bool said;
    char message[MESSAGE];
    size_t bytes;
    if (!machine_code_is_skipped())
        return fail(log, result, CUDA_ERROR_NO_BINARY_FOR_GPU,
                    "the image has machine code only; the embedded device runs PTX: compile with "
                    "-gencode arch=compute_90,code=compute_90, -arch=sm_90 or -lineinfo, or set "
                    "CSAN_MACHINE_CODE=skip to let such kernels do nothing");
    if (!__atomic_exchange_n(&said, true, __ATOMIC_RELAXED))
        device_say("CSAN_MACHINE_CODE=skip: kernels without PTX do nothing, so what they would "
                   "write stays as it was");
    char *text = machine_code_shell(image, &bytes, message, sizeof message);
    if (!text)
        return fail(log, result, CUDA_ERROR_INVALID_IMAGE, "%s", message);
    const struct fatbin_text shell = {.text = text, .bytes = bytes, .arch = DEVICE_ARCHITECTURE};
    struct ptx_module *module = parse_text(&shell, false, log, result);
    free(text);
    return module;
}

struct ptx_module *image_load(const void *image, struct image_log *log, bool *shell,
                              CUresult *result)
{
    struct fatbin_text *texts = NULL;
    size_t count = 0;
    char message[MESSAGE] = "";
    *result = CUDA_SUCCESS;
    *shell = false;
    if (!image)
        return fail(log, result, CUDA_ERROR_INVALID_VALUE, "the image is NULL");
    enum fatbin_image kind = fatbin_classify(image);
    if (kind == FATBIN_IMAGE_UNKNOWN)
        return fail(log, result, CUDA_ERROR_INVALID_IMAGE,
                    "the image is no fat binary, no cubin and no PTX text");
    int status = texts_of(image, &texts, &count, message, sizeof message);
    struct ptx_module *module = NULL;
    if (count)
        module = load_texts(texts, count, kind == FATBIN_IMAGE_PTX, log, result);
    else if (status < 0)
        fail(log, result, CUDA_ERROR_INVALID_IMAGE, "%s", message);
    else
        *shell = (module = load_machine_code(image, log, result)) != NULL;
    fatbin_texts_release(texts, count);
    if (module)
        log_finish(log, "");
    return module;
}

CUresult image_units(const void *image, struct image_log *log,
                     bool (*take)(void *user, const struct fatbin_text *text), void *user)
{
    bool shell;
    CUresult result;
    struct ptx_module *module = image_load(image, log, &shell, &result);
    if (!module)
        return result;
    ptx_module_release(module);
    if (shell) {
        fail(log, &result, CUDA_ERROR_NO_BINARY_FOR_GPU, "machine code cannot be linked here");
        return result;
    }
    struct fatbin_text *texts = NULL;
    size_t count = 0;
    char message[MESSAGE];
    texts_of(image, &texts, &count, message, sizeof message);
    for (uint32_t unit = 0; result == CUDA_SUCCESS && unit < count; unit++) {
        const struct fatbin_text *text = best_text(texts, count, unit);
        if (text && !take(user, text))
            result = CUDA_ERROR_OUT_OF_MEMORY;
    }
    fatbin_texts_release(texts, count);
    return result;
}
