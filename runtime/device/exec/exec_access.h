/* Resolves an instruction's address operand: shared by loads, stores, atomics and mbarriers. */
#ifndef RUNTIME_DEVICE_EXEC_EXEC_ACCESS_H
#define RUNTIME_DEVICE_EXEC_EXEC_ACCESS_H

#include "runtime/device/exec/exec_compiled.h"
#include "runtime/device/exec/exec_decoder.h"

struct access_place {
    uint32_t slot;
    int64_t imm;
    uint8_t space, width; /* width: bytes of the address in the slot */
};

void access_place(struct decoder *decoder, const struct ptx_operand *address, uint8_t space,
                  struct access_place *place);
void access_fill(struct micro *op, const struct access_place *place);
/* ld and st. */
micro_run access_run;
/* Runs an instruction for each lane of the mask by itself, in the order of lanes, until one does
 * not flow on. */
typedef int access_of_lane(struct warp *w, const struct micro *op, int lane);
int access_by_lanes(struct warp *w, const struct micro *op, access_of_lane *of_lane);
bool access_is_strong(const struct ptx_instruction *instruction);

#endif
