/* A function of the runtime API that the embedded device does not have. */
#ifndef RUNTIME_DEVICE_CUDART_UNSUPPORTED_H
#define RUNTIME_DEVICE_CUDART_UNSUPPORTED_H

#include <stdint.h>

/* Makes cudaErrorNotSupported the last error and returns it; names the function the first time. */
int unsupported(const char *function, uint8_t *said);

/* Arguments are not looked at, so none are declared. */
#define UNSUPPORTED(name)                                                                          \
    __attribute__((visibility("default"))) int name(void);                                         \
    int name(void)                                                                                 \
    {                                                                                              \
        static uint8_t said;                                                                       \
        return unsupported(#name, &said);                                                          \
    }

#endif
