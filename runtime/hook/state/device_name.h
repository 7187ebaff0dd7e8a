/* The names of the devices that the program made contexts on, for the line that says what was
 * checked. */
#ifndef RUNTIME_HOOK_STATE_DEVICE_NAME_H
#define RUNTIME_HOOK_STATE_DEVICE_NAME_H

#include "runtime/hook/interpose/driver.h"

/* A context was made on the device, by this ordinal. On any thread. */
void device_name_seen(CUdevice device);

enum { DEVICE_NAME_BYTES = 96 };
/* "the embedded device", "NVIDIA H100 PCIe", "2 GPUs (NVIDIA H100 PCIe)"; "a GPU" if the driver
 * gave no name. Calls no function of the driver. */
void device_name_describe(char text[DEVICE_NAME_BYTES]);

#endif
