/* From the image a program hands to the driver to a module's IR. */
#ifndef RUNTIME_DEVICE_MODULE_IMAGE_H
#define RUNTIME_DEVICE_MODULE_IMAGE_H

#include "runtime/device/driver/driver.h"
#include "runtime/ptx/fatbin.h"
#include "runtime/ptx/ptx.h"

/* Where messages for the program go: CU_JIT_*_LOG_BUFFER. */
struct image_log {
    char *error;
    size_t error_bytes;
    void **error_bytes_option; /* how much was written goes back into the option's value */
    char *info;
    size_t info_bytes;
    void **info_bytes_option;
};

void image_log_options(struct image_log *log, unsigned count, CUjit_option *options, void **values);

/* Fat binary (wrapper or container), or PTX text: parsed, and linked when it has several units. The
 * caller releases the module. NULL with *result saying why; the log says more, and where there is
 * no log for it standard error does. *shell: it is machine code, see machine_code.h. */
struct ptx_module *image_load(const void *image, struct image_log *log, bool *shell,
                              CUresult *result);

/* Check an image that is to be linked with others and give `take` the text of each of its units;
 * `take` returns false when it cannot. The rest as image_load. */
CUresult image_units(const void *image, struct image_log *log,
                     bool (*take)(void *user, const struct fatbin_text *text), void *user);

#endif
