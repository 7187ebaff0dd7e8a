/* mbarrier objects: see exec_mbarrier.c. */
#ifndef RUNTIME_DEVICE_EXEC_EXEC_MBARRIER_H
#define RUNTIME_DEVICE_EXEC_EXEC_MBARRIER_H

#include <stdint.h>

/* `bytes` of the transactions that the mbarrier at `pointer` waits for are done. */
void mbarrier_complete(uint8_t *pointer, uint32_t bytes);

#endif
