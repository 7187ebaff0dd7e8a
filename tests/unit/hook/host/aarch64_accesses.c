/* Prints, for each line "FAULT CODE" in hexadecimal, what the AArch64 instruction accesses: "load",
 * "store" or "both", address, size, and "here" where it works in its own place alone; or "unknown".
 * Registers hold 0x100000 times their number plus one, the program counter 0x40000000. For
 * scripts/compare-aarch64-access. */
#include "runtime/hook/host/aarch64_instruction.h"

#include <inttypes.h>
#include <stdio.h>

int main(void)
{
    static const char *const directions[] = {"unknown", "load", "store", "both"};
    struct aarch64_registers registers = {.pc = 0x40000000, .zeroed = 64};
    uint64_t fault;
    uint32_t code;
    for (unsigned i = 0; i < 32; i++)
        registers.general[i] = 0x100000 * (uint64_t)(i + 1);
    while (scanf("%" SCNx64 " %" SCNx32, &fault, &code) == 2) {
        struct instruction_access access;
        if (aarch64_access_find(code, &registers, (struct instruction_fault){fault, false},
                                &access))
            printf("%s %" PRIx64 " %" PRIu64 " %s\n",
                   directions[aarch64_instruction_direction(code)], access.address, access.bytes,
                   access.no_step ? "here" : "anywhere");
        else
            printf("unknown\n");
    }
    return 0;
}
