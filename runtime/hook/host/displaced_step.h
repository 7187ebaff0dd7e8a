/* One instruction of the host made elsewhere, for processors on which a process cannot step by
 * itself. On AArch64 a debugger alone can: the bit for it is in a register of the kernel's (Arm
 * Architecture Reference Manual, D2.12, MDSCR_EL1.SS).
 *
 * The instruction is copied into a slot of executable memory, with a breakpoint behind it, as
 * debuggers do. It must not depend on its own address. Safe in a signal handler. */
#ifndef RUNTIME_HOOK_HOST_DISPLACED_STEP_H
#define RUNTIME_HOOK_HOST_DISPLACED_STEP_H

#include <stdbool.h>
#include <stdint.h>

/* Once, before the others. Without executable memory no step begins. */
void displaced_step_start(void);

/* `pc` becomes that of the slot, where it is not in one already. False: there is none. */
bool displaced_step_begin(uint64_t *pc);

/* Whether `pc` is a slot's breakpoint. */
bool displaced_step_is_over(uint64_t pc);

/* `pc` becomes that of the program's next instruction, and the slot is free. */
void displaced_step_end(uint64_t *pc);

/* As if no step had begun: `pc`, of a slot, becomes that of the program's instruction. False: it is
 * of none. */
bool displaced_step_cancel(uint64_t *pc);

/* The program's own place of what is made in a slot; any other address is itself. */
uint64_t displaced_step_origin(uint64_t pc);

#endif
