/* What the embedded runtime lacks. unsupported.sh makes the functions themselves. */
#include "runtime/device/cudart/unsupported.h"
#include "runtime/device/cudart/runtime.h"

#include <stdio.h>

int unsupported(const char *function, uint8_t *said)
{
    if (!__atomic_exchange_n(said, 1, __ATOMIC_RELAXED))
        fprintf(stderr, "csan device: %s is not supported by the embedded device\n", function);
    return (int)error_record(cudaErrorNotSupported);
}
