/* Prints, for each line "FAULT BYTE BYTE ..." in hexadecimal, the address and size of what the
 * instruction accesses, or "unknown". Registers hold 0x100000 times their number plus one. For
 * scripts/compare-instruction-access. */
#include "runtime/hook/host/host_instruction.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

int main(void)
{
    struct instruction_registers registers = {.backwards = false};
    char line[256];
    for (unsigned i = 0; i < 16; i++)
        registers.general[i] = 0x100000 * (uint64_t)(i + 1);
    while (fgets(line, sizeof line, stdin)) {
        uint8_t code[16];
        size_t count = 0;
        struct instruction_access access;
        char *at;
        const uint64_t fault = strtoull(line, &at, 16);
        for (char *next = at; count < sizeof code; at = next) {
            const unsigned long byte = strtoul(at, &next, 16);
            if (next == at)
                break;
            code[count++] = (uint8_t)byte;
        }
        if (instruction_access_find(code, count, &registers,
                                    (struct instruction_fault){fault, false}, &access))
            printf("%" PRIx64 " %" PRIu64 "\n", access.address, access.bytes);
        else
            printf("unknown\n");
    }
    return 0;
}
