/* External semaphores in graphs: what the nodes that signal them and wait for them need. The others
 * call the entry points alone (CUDA Driver API, "External Resource Interoperability"). */
#ifndef RUNTIME_DEVICE_DRIVER_EXTERNAL_SEMAPHORE_H
#define RUNTIME_DEVICE_DRIVER_EXTERNAL_SEMAPHORE_H

#include "runtime/device/driver/driver.h"

/* The items of such nodes, with the lock held. */
CUresult signal_of_node(const CUDA_EXT_SEM_SIGNAL_NODE_PARAMS_v1 *params, struct item **item);
CUresult wait_of_node(const CUDA_EXT_SEM_WAIT_NODE_PARAMS_v1 *params, struct item **item);
/* What the node of that item was given. The arrays stay the item's. */
void signal_describe(struct item *item, CUDA_EXT_SEM_SIGNAL_NODE_PARAMS_v1 *params);
void wait_describe(struct item *item, CUDA_EXT_SEM_WAIT_NODE_PARAMS_v1 *params);

#endif
