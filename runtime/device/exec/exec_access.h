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
/* An access of so many bytes that is a part of the instruction: `op` is none of the program's own.
 */
void access_part(struct decoder *decoder, struct micro *op, const struct ptx_operand *address,
                 uint8_t space, uint8_t bytes);
/* ld and st: what runs them, and emits them. */
micro_run access_run;
void access_decode(struct decoder *decoder, const struct ptx_instruction *i, bool load);
/* Runs an instruction for each lane of the mask by itself, in the order of lanes, until one does
 * not flow on. */
typedef int access_of_lane(struct warp *w, const struct micro *op, int lane);
int access_by_lanes(struct warp *w, const struct micro *op, access_of_lane *of_lane);
bool access_is_strong(const struct ptx_instruction *instruction);

/* exec_atomic.c: emits atom or red of one element. */
void atomic_decode(struct decoder *decoder, const struct ptx_instruction *i);
/* What an atomic operation makes of the old value; NULL: there is none of that type
 * (enum ptx_atomic, enum ptx_type; the space is that of what is updated). */
typedef uint64_t atomic_update(uint64_t old, uint64_t b, uint64_t c);
atomic_update *atomic_update_of(uint8_t operation, uint8_t type, uint8_t space);
/* Updates 2, 4 or 8 bytes of memory; returns what was there. *progress grows if that changed. */
uint64_t atomic_apply(uint8_t *pointer, uint32_t bytes, atomic_update *run, uint64_t b, uint64_t c,
                      uint64_t *progress);

#endif
