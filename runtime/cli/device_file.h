/* The file by which a machine shows that it has NVIDIA's kernel driver. */
#ifndef RUNTIME_CLI_DEVICE_FILE_H
#define RUNTIME_CLI_DEVICE_FILE_H

/* NULL: there is none. */
const char *device_file(void);

#endif
