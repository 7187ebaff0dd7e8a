/* Mnemonics: "ld.global.nc.v4.f32" to the fields of an instruction. Table-driven; see suffix.c. */
#ifndef RUNTIME_PTX_SUFFIX_H
#define RUNTIME_PTX_SUFFIX_H

#include "runtime/ptx/ir.h"

/* Fills every field of *instruction that the mnemonic decides; the rest is zero, `vector` 1 and
 * `guard` PTX_NO_REGISTER. `mnemonic` is NUL-terminated and kept by reference. */
void ptx_mnemonic_decode(const char *mnemonic, struct ptx_instruction *instruction);

/* The type a suffix names ("f32", without the dot), PTX_TYPE_OTHER for one the IR has no name for,
 * PTX_TYPE_NONE when it names no type. */
enum ptx_type ptx_suffix_type(const char *text, size_t length);

/* The special register of that name ("%tid.x"), or PTX_SREG_NONE. */
enum ptx_special_register ptx_special_register_find(const char *text, size_t length);

/* The type an operand's immediate has: `position` counts the operands from 0. */
enum ptx_type ptx_operand_type(const struct ptx_instruction *instruction, uint32_t position);

#endif
