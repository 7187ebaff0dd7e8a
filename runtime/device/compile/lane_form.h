/* Which loads and stores have addresses that are an affine function of the lane, in a full warp
 * whose threads are consecutive. The engine then has two lanes to look at, and no others. */
#ifndef RUNTIME_DEVICE_COMPILE_LANE_FORM_H
#define RUNTIME_DEVICE_COMPILE_LANE_FORM_H

#include "runtime/device/compile/plan.h"

enum access_form {
    ACCESS_FORM_UNKNOWN,
    ACCESS_FORM_ROW,    /* one element behind the other, but that a 32-bit part may have wrapped */
    ACCESS_FORM_UNIFORM /* all lanes have one address */
};

/* By pc: an enum access_form. To be freed; NULL: memory is short, or it would take too much. */
uint8_t *lane_form_accesses(const struct plan *plan);

#endif
