/* PTX in the place of machine code. See machine_code.h. */
#include "runtime/device/module/machine_code.h"
#include "csan/base/environment.h"
#include "runtime/device/driver/driver.h"
#include "runtime/ptx/cubin.h"
#include "runtime/ptx/fatbin.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ARCHITECTURE = 90, MAX_ALIGNMENT = 16 };

bool machine_code_is_skipped(void)
{
    const char *text = environment_get("CSAN_MACHINE_CODE");
    return text && strcmp(text, "skip") == 0;
}

/* ---- Choosing ---- */

/* The device's own architecture, else the newest older one, else any. */
struct choice {
    struct fatbin_entry entry;
    bool found;
};

static uint32_t rank(uint32_t architecture)
{
    return architecture <= ARCHITECTURE ? architecture + 1 : 0;
}

static bool choose(void *user, const struct fatbin_entry *entry)
{
    struct choice *choice = user;
    if (entry->kind == FATBIN_ELF &&
        (!choice->found || rank(entry->arch) > rank(choice->entry.arch))) {
        choice->entry = *entry;
        choice->found = true;
    }
    return true;
}

static void *unpack_best(const void *container, size_t *bytes, char *message, size_t message_bytes)
{
    struct choice choice = {.found = false};
    if (fatbin_entries(container, 0, choose, &choice, message, message_bytes) < 0)
        return NULL;
    if (choice.found)
        return fatbin_unpack(&choice.entry, bytes, message, message_bytes);
    snprintf(message, message_bytes, "the image holds no code at all");
    return NULL;
}

/* ---- Writing ---- */

/* Names as PTX has them (PTX ISA, "Identifiers"); machine code may have others, of the compiler's
 * own. */
static bool is_identifier(const char *name)
{
    for (const char *at = name; *at; at++)
        if (!isalnum((unsigned char)*at) && *at != '_' && *at != '$')
            return false;
    return *name && !isdigit((unsigned char)*name);
}

static void write_variable(void *user, const struct cubin_variable *variable)
{
    if (is_identifier(variable->name))
        fprintf(user, ".visible %s .align %d .b8 %s[%llu];\n",
                variable->is_constant ? ".const" : ".global", MAX_ALIGNMENT, variable->name,
                (unsigned long long)variable->bytes);
}

/* The alignment that puts a parameter where the machine code has it. */
static uint32_t alignment(uint32_t end, uint32_t offset)
{
    uint32_t align = MAX_ALIGNMENT;
    while (align > 1 && (end + align - 1) / align * align != offset)
        align /= 2;
    return align;
}

static void write_kernel(void *user, const struct cubin_kernel *kernel)
{
    uint32_t end = 0;
    if (!is_identifier(kernel->name))
        return;
    fprintf(user, ".visible .entry %s(", kernel->name);
    for (uint32_t i = 0; i < kernel->param_count; i++) {
        const struct cubin_param *param = &kernel->params[i];
        fprintf(user, "%s\n .param .align %u .b8 p%u[%u]", i ? "," : "",
                alignment(end, param->offset), i, param->bytes ? param->bytes : 1);
        end = param->offset + param->bytes;
    }
    fputs(")\n{ ret; }\n", user);
}

static char *write_shell(const void *cubin, size_t cubin_bytes, size_t *bytes, char *message,
                         size_t message_bytes)
{
    char *text = NULL;
    FILE *file = open_memstream(&text, bytes);
    if (!file) {
        snprintf(message, message_bytes, "memory is short");
        return NULL;
    }
    fprintf(file, ".version 8.0\n.target sm_%d\n.address_size 64\n", ARCHITECTURE);
    bool whole =
        cubin_variables(cubin, cubin_bytes, write_variable, file, message, message_bytes) >= 0 &&
        cubin_kernels(cubin, cubin_bytes, write_kernel, file, message, message_bytes) >= 0;
    if (fclose(file) != 0 || !whole) {
        free(text);
        return NULL;
    }
    return text;
}

char *machine_code_shell(const void *image, size_t *bytes, char *message, size_t message_bytes)
{
    enum fatbin_image kind = fatbin_classify(image);
    const struct fatbin_wrapper *wrapper = image;
    const size_t unsaid = SIZE_MAX / 2;
    size_t cubin_bytes = 0;
    if (kind == FATBIN_IMAGE_ELF) /* no caller says how long it is */
        return write_shell(image, unsaid, bytes, message, message_bytes);
    const void *container = kind == FATBIN_IMAGE_WRAPPER ? wrapper->data : image;
    void *cubin = unpack_best(container, &cubin_bytes, message, message_bytes);
    char *text = cubin ? write_shell(cubin, cubin_bytes, bytes, message, message_bytes) : NULL;
    free(cubin);
    return text;
}
