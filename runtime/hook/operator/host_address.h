/* Whether a number is an address in memory that the process alone has: its code, stacks, heaps. In
 * a launch's parameters such a number was not set, or no kernel follows it. */
#ifndef RUNTIME_HOOK_OPERATOR_HOST_ADDRESS_H
#define RUNTIME_HOOK_OPERATOR_HOST_ADDRESS_H

#include <stdbool.h>
#include <stdint.h>

/* What was mapped lately may be missing. Any thread, no lock of csan's; now and then it reads
 * /proc/self/maps. */
bool host_address_is(uint64_t number);

#endif
