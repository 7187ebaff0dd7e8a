/* Cubins for tests: sections of machine code, as far as runtime/tracer/machine_code.c reads them.
 */
#ifndef FAKE_CUBIN_H
#define FAKE_CUBIN_H

#include <elf.h>
#include <stdint.h>
#include <string.h>

enum { FAKE_CUBIN_BYTES = 4096, FAKE_LDG = 0x7981, FAKE_UTMALDG = 0x75b4 };

struct fake_section {
    const char *name;
    uint32_t instructions;
    uint32_t opcode; /* of the last; the others load */
};

/* The file's bytes. */
static inline size_t fake_cubin(uint8_t *out, const struct fake_section *sections, uint16_t count)
{
    Elf64_Shdr headers[16] = {{0}};
    size_t end = sizeof(Elf64_Ehdr), names = 1;
    memset(out, 0, FAKE_CUBIN_BYTES);
    for (uint16_t i = 0; i < count; i++) {
        headers[i + 1] = (Elf64_Shdr){
            .sh_type = SHT_PROGBITS, .sh_offset = end, .sh_size = sections[i].instructions * 16};
        for (uint32_t k = 0; k < sections[i].instructions; k++) {
            uint32_t word = k + 1 < sections[i].instructions ? FAKE_LDG : sections[i].opcode;
            memcpy(out + end + k * 16, &word, sizeof word);
        }
        end += sections[i].instructions * 16;
    }
    headers[count + 1].sh_type = SHT_STRTAB;
    headers[count + 1].sh_offset = end;
    for (uint16_t i = 0; i < count; i++) {
        headers[i + 1].sh_name = (uint32_t)names;
        strcpy((char *)out + end + names, sections[i].name);
        names += strlen(sections[i].name) + 1;
    }
    headers[count + 1].sh_size = names;
    end += (names + 7) / 8 * 8;
    Elf64_Ehdr header = {.e_ident = ELFMAG,
                         .e_shoff = end,
                         .e_shentsize = sizeof(Elf64_Shdr),
                         .e_shnum = (uint16_t)(count + 2),
                         .e_shstrndx = (uint16_t)(count + 1)};
    header.e_ident[EI_CLASS] = ELFCLASS64;
    memcpy(out, &header, sizeof header);
    memcpy(out + end, headers, (count + 2u) * sizeof *headers);
    return end + (count + 2u) * sizeof *headers;
}

#endif
