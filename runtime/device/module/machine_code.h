/* Images that hold machine code only, as PTX whose kernels do nothing. With CSAN_MACHINE_CODE=skip
 * the device takes them: a program's calls, streams and events then run as they would, and what its
 * kernels without PTX would write stays as it was. Without, such an image is an error. */
#ifndef RUNTIME_DEVICE_MODULE_MACHINE_CODE_H
#define RUNTIME_DEVICE_MODULE_MACHINE_CODE_H

#include <stdbool.h>
#include <stddef.h>

/* Whether the program is run so. */
bool machine_code_is_skipped(void);

/* The kernels and variables of a fat binary's best cubin, or of a cubin, as PTX text:
 * NUL-terminated, *bytes without the NUL; free() it. NULL with `message`: there is none, or it is
 * damaged. */
char *machine_code_shell(const void *image, size_t *bytes, char *message, size_t message_bytes);

#endif
