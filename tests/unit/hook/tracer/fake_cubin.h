/* Cubins for tests: functions of machine code, as far as runtime/ptx/cubin.c reads them. */
#ifndef TESTS_UNIT_HOOK_TRACER_FAKE_CUBIN_H
#define TESTS_UNIT_HOOK_TRACER_FAKE_CUBIN_H

#include "runtime/sass/instruction.h"

#include <elf.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum {
    FAKE_CUBIN_BYTES = 8192,
    FAKE_FUNCTIONS = 12, /* at most */
    FAKE_PARAMS_AT = 0x210,
    FAKE_LDG = 0x7981,
    FAKE_UTMALDG = 0x75b4
};

struct fake_function {
    const char *name;
    int is_kernel;
    uint16_t param_bytes; /* at FAKE_PARAMS_AT in constant bank 0 */
    const struct instruction *code;
    uint32_t count; /* instructions */
};

/* LDC of four or eight bytes from that offset of constant bank 0. */
#define FAKE_LDC(at)                                                                               \
    {                                                                                              \
        UINT64_C(0xff007b82) | (uint64_t)(at) << 38, 4 << 9                                        \
    }
#define FAKE_LDC64(at)                                                                             \
    {                                                                                              \
        UINT64_C(0xff007b82) | (uint64_t)(at) << 38, 5 << 9                                        \
    }

static inline uint64_t fake_append(uint8_t *out, uint64_t *end, const void *data, uint64_t bytes)
{
    uint64_t at = *end;
    memcpy(out + at, data, bytes);
    *end += (bytes + 7) / 8 * 8;
    return at;
}

static inline uint32_t fake_name(char *names, uint32_t *end, const char *prefix, const char *name)
{
    uint32_t at = *end;
    *end += (uint32_t)snprintf(names + at, 1024 - at, "%s%s", prefix, name) + 1;
    return at;
}

/* The file's bytes, for sm_90. Sections: nothing, code and attributes of each function, symbols,
 * names. */
static inline size_t fake_cubin(uint8_t *out, const struct fake_function *functions, uint16_t count)
{
    Elf64_Shdr headers[2 * FAKE_FUNCTIONS + 3] = {{0}};
    Elf64_Sym symbols[FAKE_FUNCTIONS + 1] = {{0}};
    char names[1024] = "";
    uint32_t names_end = 1;
    uint64_t end = sizeof(Elf64_Ehdr);
    memset(out, 0, FAKE_CUBIN_BYTES);
    for (uint16_t i = 0; i < count; i++) {
        const struct fake_function *function = &functions[i];
        const uint16_t attribute[] = {0x0a04, 8, 0, 0, FAKE_PARAMS_AT, function->param_bytes};
        const uint64_t bytes = function->count * sizeof *function->code;
        headers[1 + 2 * i] =
            (Elf64_Shdr){.sh_type = SHT_PROGBITS,
                         .sh_name = fake_name(names, &names_end, ".text.", function->name),
                         .sh_offset = fake_append(out, &end, function->code, bytes),
                         .sh_size = bytes};
        headers[2 + 2 * i] =
            (Elf64_Shdr){.sh_type = SHT_LOPROC,
                         .sh_info = 1 + 2 * i,
                         .sh_name = fake_name(names, &names_end, ".nv.info.", function->name),
                         .sh_offset = fake_append(out, &end, attribute, sizeof attribute),
                         .sh_size = sizeof attribute};
        symbols[1 + i] = (Elf64_Sym){.st_name = headers[1 + 2 * i].sh_name + 6, /* without .text. */
                                     .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC),
                                     .st_other = function->is_kernel ? 0x10 : 0,
                                     .st_shndx = 1 + 2 * i};
    }
    const uint16_t last = 1 + 2 * count;
    headers[last] = (Elf64_Shdr){.sh_type = SHT_SYMTAB,
                                 .sh_name = fake_name(names, &names_end, ".symtab", ""),
                                 .sh_link = last + 1u,
                                 .sh_size = (count + 1) * sizeof *symbols,
                                 .sh_entsize = sizeof *symbols};
    headers[last].sh_offset = fake_append(out, &end, symbols, headers[last].sh_size);
    headers[last + 1] = (Elf64_Shdr){.sh_type = SHT_STRTAB, .sh_size = names_end};
    headers[last + 1].sh_offset = fake_append(out, &end, names, names_end);
    Elf64_Ehdr header = {.e_ident = ELFMAG,
                         .e_machine = 190,
                         .e_flags = 90,
                         .e_shoff = end,
                         .e_shentsize = sizeof(Elf64_Shdr),
                         .e_shnum = last + 2,
                         .e_shstrndx = last + 1};
    header.e_ident[EI_CLASS] = ELFCLASS64;
    header.e_ident[EI_DATA] = ELFDATA2LSB;
    memcpy(out, &header, sizeof header);
    fake_append(out, &end, headers, (last + 2u) * sizeof *headers);
    return end;
}

#endif
