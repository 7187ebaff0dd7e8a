/* See cubin_of_texts.h. The file is the header, the sections' headers, their names, the texts. */
#include "runtime/ptx/cubin_of_texts.h"
#include "runtime/ptx/elf_file.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TEXT_SECTION ".nv_debug_ptx_txt."

enum { NAME_BYTES = sizeof TEXT_SECTION + 10, FIRST_TEXT = 2 };

static void write_header(Elf64_Ehdr *header, size_t sections)
{
    *header = (Elf64_Ehdr){
        .e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
        .e_type = ET_EXEC,
        .e_machine = ELF_MACHINE_CUDA,
        .e_version = EV_CURRENT,
        .e_shoff = sizeof *header,
        .e_ehsize = sizeof *header,
        .e_shentsize = sizeof(Elf64_Shdr),
        .e_shnum = (Elf64_Half)sections,
        .e_shstrndx = 1};
}

static void write_file(char *image, const struct cubin_unit *units, size_t count)
{
    const size_t sections = count + FIRST_TEXT;
    Elf64_Shdr *section = (Elf64_Shdr *)(image + sizeof(Elf64_Ehdr));
    char *names = (char *)(section + sections), *data = names + sections * NAME_BYTES;
    write_header((Elf64_Ehdr *)image, sections);
    section[1] = (Elf64_Shdr){.sh_name = NAME_BYTES,
                              .sh_type = SHT_STRTAB,
                              .sh_offset = (size_t)(names - image),
                              .sh_size = sections * NAME_BYTES};
    snprintf(names + NAME_BYTES, NAME_BYTES, ".shstrtab");
    for (size_t i = 0; i < count; i++) {
        char *name = names + (i + FIRST_TEXT) * NAME_BYTES;
        snprintf(name, NAME_BYTES, TEXT_SECTION "%u", (unsigned)i);
        section[i + FIRST_TEXT] = (Elf64_Shdr){.sh_name = (Elf64_Word)(name - names),
                                               .sh_type = SHT_PROGBITS,
                                               .sh_offset = (size_t)(data - image),
                                               .sh_size = units[i].bytes,
                                               .sh_addralign = 1};
        memcpy(data, units[i].text, units[i].bytes);
        data += units[i].bytes;
    }
}

void *cubin_of_texts(const struct cubin_unit *units, size_t count, size_t *bytes)
{
    if (count > CUBIN_UNITS_MAX)
        return NULL;
    size_t size = sizeof(Elf64_Ehdr) + (count + FIRST_TEXT) * (sizeof(Elf64_Shdr) + NAME_BYTES);
    for (size_t i = 0; i < count; i++)
        size += units[i].bytes;
    char *image = calloc(1, size);
    if (image) {
        write_file(image, units, count);
        *bytes = size;
    }
    return image;
}
